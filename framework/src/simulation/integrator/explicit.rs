//! Common parts of all explicit Runge-Kutta methods.

use super::Ode;
use crate::systems::value::in_blocks_of_rows;
use crate::{Result, Scalar};

/// Butcher tableau of an explicit Runge-Kutta method. Stage `i` is evaluated at `c[i]` with weights
/// `a[i]` of the stages before it. `b` weights the result; `e`, the difference between `b` and the
/// weights of an embedded method, weights the error estimate.
pub(super) struct Tableau<const S: usize> {
    pub(super) a: [[f64; S]; S],
    pub(super) b: [f64; S],
    pub(super) c: [f64; S],
    pub(super) e: Option<[f64; S]>,
}

/// Work space of an explicit Runge-Kutta method.
pub(super) struct Explicit<T, const S: usize> {
    tableau: Tableau<S>,
    /// Slopes of the stages, one after the other.
    k: Vec<T>,
    error: Vec<T>,
}

impl<T: Scalar, const S: usize> Explicit<T, S> {
    pub(super) fn new(tableau: Tableau<S>) -> Self {
        Self {
            tableau,
            k: vec![],
            error: vec![],
        }
    }

    pub(super) fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool> {
        let t0 = ode.time();
        let Self { tableau, k, error } = self;
        let n = ode.state().len();
        k.resize(n * S, T::zero());
        for stage in 0..S {
            if stage > 0 {
                let time = t0 + dt * T::from(tableau.c[stage]);
                let (x0, x) = ode.set_time_and_change_state(time);
                advance(x0, dt, &tableau.a[stage][..stage], k, x);
            }
            ode.derivatives(&mut k[stage * n..(stage + 1) * n])?;
        }
        let (x0, x) = ode.set_time_and_change_state(t0 + dt);
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
    let x0 = &x0[..x.len()];
    weighted_sums(weights, k, x, |i, slope| x0[i] + dt * slope);
}

/// Writes `result(i, sum)` for each element i, where `sum` is the weighted sum of the element's
/// slopes over the stages, which lie one after the other.
#[inline(always)]
fn weighted_sums<T: Scalar>(
    weights: &[f64],
    k: &[T],
    out: &mut [T],
    result: impl Fn(usize, T) -> T,
) {
    in_blocks_of_rows!(out.len(), sums::<T>, weights, k, out, &result);
}

/// Same as [`weighted_sums`], for the elements `first..first + N`.
#[inline(always)]
fn sums<T: Scalar, const N: usize>(
    first: usize,
    weights: &[f64],
    k: &[T],
    out: &mut [T],
    result: &impl Fn(usize, T) -> T,
) {
    let mut sums = [T::zero(); N];
    let mut at = first;
    for w in weights {
        if *w != 0.0 {
            let (w, k) = (T::from(*w), &k[at..at + N]);
            for (sum, k) in sums.iter_mut().zip(k) {
                *sum += *k * w;
            }
        }
        at += out.len();
    }
    for (i, (out, sum)) in (first..).zip(out[first..first + N].iter_mut().zip(sums)) {
        *out = result(i, sum);
    }
}

/// Defines an integrator from its tableau, with error control if the tableau has an estimate.
macro_rules! explicit_integrator {
    ($(#[$doc:meta])* $name:ident, $drake_name:literal, $stages:literal, $control:expr, $tableau:expr) => {
        $(#[$doc])*
        pub struct $name<T>($crate::simulation::integrator::explicit::Explicit<T, $stages>);

        impl<T: $crate::Scalar> $name<T> {
            /// Creates an integrator that can step any context.
            #[allow(clippy::new_without_default, reason = "integrators are configured, not defaulted")]
            pub fn new() -> Self {
                Self($crate::simulation::integrator::explicit::Explicit::new($tableau))
            }
        }
        impl<T: $crate::Scalar> $crate::integrator::IntegrationScheme<T> for $name<T> {
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
