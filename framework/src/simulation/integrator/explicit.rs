//! What all explicit Runge-Kutta methods share.

use super::Ode;
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
        x0.clear();
        x0.extend_from_slice(ode.state());
        let n = x0.len();
        k.resize(n * S, T::zero());
        for stage in 0..S {
            if stage > 0 {
                let x = ode.set_time_and_change_state(t0 + dt * T::from(tableau.c[stage]));
                advance(x0, dt, &tableau.a[stage], k, x);
            }
            ode.derivatives(&mut k[stage * n..(stage + 1) * n])?;
        }
        let x = ode.set_time_and_change_state(t0 + dt);
        advance(x0, dt, &tableau.b, k, x);
        if let Some(e) = &tableau.e {
            error.clear();
            error.extend((0..n).map(|i| dt * slope(e, &k[i..], n)));
        }
        Ok(true)
    }

    pub(super) fn error(&self) -> &[T] {
        &self.error
    }
}

/// Writes `x0 + dt * sum of weights[j] k[j]`.
#[inline(always)]
fn advance<T: Scalar, const S: usize>(x0: &[T], dt: T, weights: &[f64; S], k: &[T], x: &mut [T]) {
    let n = x0.len();
    for (i, (x, x0)) in x.iter_mut().zip(x0).enumerate() {
        *x = *x0 + dt * slope(weights, &k[i..], n);
    }
}

/// The weighted sum of one element of all stages, which are `n` apart.
#[inline(always)]
fn slope<T: Scalar, const S: usize>(weights: &[f64; S], k: &[T], n: usize) -> T {
    let mut slope = T::zero();
    for (j, w) in weights.iter().enumerate() {
        if *w != 0.0 {
            slope += k[j * n] * T::from(*w);
        }
    }
    slope
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
