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
    k: [Vec<T>; S],
    x0: Vec<T>,
    x: Vec<T>,
    error: Vec<T>,
}

impl<T: Scalar, const S: usize> Explicit<T, S> {
    pub(super) fn new(tableau: Tableau<S>) -> Self {
        Self {
            tableau,
            k: std::array::from_fn(|_| vec![]),
            x0: vec![],
            x: vec![],
            error: vec![],
        }
    }

    pub(super) fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool> {
        let t0 = ode.time();
        let Self {
            tableau,
            k,
            x0,
            x,
            error,
        } = self;
        x0.clear();
        x0.extend_from_slice(ode.state());
        x.clone_from(x0);
        for stage in 0..S {
            if stage > 0 {
                for (i, x) in x.iter_mut().enumerate() {
                    *x = x0[i] + dt * slope(&tableau.a[stage], &k[..stage], i);
                }
                ode.set(t0 + dt * T::from(tableau.c[stage]), x);
            }
            k[stage].resize(x0.len(), T::zero());
            ode.derivatives(&mut k[stage])?;
        }
        for (i, x) in x.iter_mut().enumerate() {
            *x = x0[i] + dt * slope(&tableau.b, k, i);
        }
        ode.set(t0 + dt, x);
        if let Some(e) = &tableau.e {
            error.clear();
            error.extend((0..x0.len()).map(|i| dt * slope(e, k, i)));
        }
        Ok(true)
    }

    pub(super) fn error(&self) -> &[T] {
        &self.error
    }
}

/// Element `i` of the weighted sum of stages.
#[inline]
fn slope<T: Scalar>(weights: &[f64], k: &[Vec<T>], i: usize) -> T {
    let mut slope = T::zero();
    for (k, w) in k.iter().zip(weights) {
        if *w != 0.0 {
            slope += k[i] * T::from(*w);
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
