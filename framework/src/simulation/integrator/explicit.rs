//! What all explicit Runge-Kutta methods share.

use super::Ode;
use crate::systems::value::copy;
use crate::{Result, Scalar};

/// An explicit Runge-Kutta method: stage `i` is evaluated at `c[i]` with weights `a[i]` of the
/// stages before it; `b` weights the result, and `e`, the difference of `b` and of the weights of an
/// embedded method, its error estimate.
pub(super) struct Tableau<const S: usize> {
    pub(super) a: [[f64; S]; S],
    pub(super) b: [f64; S],
    pub(super) c: [f64; S],
    pub(super) e: Option<[f64; S]>,
}

/// Work space of an explicit Runge-Kutta method.
pub(super) struct Explicit<T, const S: usize> {
    tableau: Tableau<S>,
    /// The slopes of one stage after the other.
    k: Vec<T>,
    x0: Vec<T>,
    error: Vec<T>,
}

impl<T: Scalar, const S: usize> Explicit<T, S> {
    pub(super) fn new(tableau: Tableau<S>) -> Self {
        Self {
            tableau,
            k: vec![],
            x0: vec![],
            error: vec![],
        }
    }

    pub(super) fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool> {
        let t0 = ode.time();
        let Self {
            tableau,
            k,
            x0,
            error,
        } = self;
        let n = ode.state().len();
        x0.resize(n, T::zero());
        copy(x0, ode.state());
        k.resize(n * S, T::zero());
        for stage in 0..S {
            if stage > 0 {
                let x = ode.set_time_and_change_state(t0 + dt * T::from(tableau.c[stage]));
                advance(x0, dt, &tableau.a[stage][..stage], k, x);
            }
            ode.derivatives(&mut k[stage * n..(stage + 1) * n])?;
        }
        let x = ode.set_time_and_change_state(t0 + dt);
        advance(x0, dt, &tableau.b, k, x);
        if let Some(e) = tableau.e.as_ref().filter(|_| ode.wants_error_estimate()) {
            error.resize(n, T::zero());
            weighted_sums(e, k, error, |_, error| dt * error);
        }
        Ok(true)
    }

    pub(super) fn error(&self) -> &[T] {
        &self.error
    }
}

/// Writes `x0 + dt * sum of weights[j] k[j]`.
#[inline(always)]
fn advance<T: Scalar>(x0: &[T], dt: T, weights: &[f64], k: &[T], x: &mut [T]) {
    weighted_sums(weights, k, x, |i, slope| x0[i] + dt * slope);
}

/// Elements whose sums are made side by side.
const BLOCK: usize = 4;

/// Writes `result(i, sum)` of the weighted sum of each element of the slopes of the stages, which lie
/// one after the other.
#[inline(always)]
fn weighted_sums<T: Scalar>(
    weights: &[f64],
    k: &[T],
    out: &mut [T],
    result: impl Fn(usize, T) -> T,
) {
    let n = out.len();
    let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
    let first = blocks.len() * BLOCK;
    for (i, block) in (0..).step_by(BLOCK).zip(blocks) {
        let mut sums = [T::zero(); BLOCK];
        for (j, w) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            let k = &k[j * n + i..][..BLOCK];
            sums.iter_mut()
                .zip(k)
                .for_each(|(sum, k)| *sum += *k * T::from(*w));
        }
        for (b, out) in block.iter_mut().enumerate() {
            *out = result(i + b, sums[b]);
        }
    }
    for (i, out) in (first..).zip(rest) {
        let mut sum = T::zero();
        for (j, w) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            sum += k[j * n + i] * T::from(*w);
        }
        *out = result(i, sum);
    }
}

/// An integrator that is nothing but its tableau, with its error control if it has an estimate.
macro_rules! explicit_integrator {
    ($(#[$doc:meta])* $name:ident, $drake_name:literal, $stages:literal, $control:expr, $tableau:expr) => {
        $(#[$doc])*
        pub struct $name<T>($crate::simulation::integrator::explicit::Explicit<T, $stages>);

        impl<T: $crate::Scalar> $name<T> {
            /// Ready to step any context.
            #[allow(clippy::new_without_default, reason = "integrators are configured, not defaulted")]
            pub fn new() -> Self {
                Self($crate::simulation::integrator::explicit::Explicit::new($tableau))
            }
        }
        impl<T: $crate::Scalar> $crate::integrator::Integrator<T> for $name<T> {
            fn name(&self) -> &'static str {
                $drake_name
            }
            fn step(&mut self, ode: &mut $crate::integrator::Ode<'_, T>, dt: T) -> $crate::Result<bool> {
                self.0.step(ode, dt)
            }
            fn error_control(&self) -> Option<$crate::integrator::ErrorControl> {
                $control
            }
            fn error_estimate(&self) -> &[T] {
                self.0.error()
            }
        }
    };
}
pub(super) use explicit_integrator;
