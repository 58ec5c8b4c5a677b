//! Fixed-step integrators.

use crate::{Context, Result, Scalar};

/// Advances continuous state by one step.
pub trait Integrator<T: Scalar>: Send {
    /// Name as Drake's configuration files spell it.
    fn name(&self) -> &'static str;
    /// Advances time and continuous state of `context` by `dt` (s). On an error the context is left
    /// somewhere inside the step; the simulator restores it.
    ///
    /// # Errors
    /// If the time derivatives can not be computed.
    fn step(&mut self, context: &mut Context<T>, dt: T) -> Result<()>;
}

/// An explicit Runge-Kutta method: stage `i` is evaluated at `c[i]` with weights `a[i]` of the
/// stages before it; `b` weights the result.
struct Tableau<const S: usize> {
    a: [[f64; S]; S],
    b: [f64; S],
    c: [f64; S],
}

/// Work space of an explicit Runge-Kutta method.
struct Explicit<T, const S: usize> {
    tableau: Tableau<S>,
    k: [Vec<T>; S],
    x0: Vec<T>,
    x: Vec<T>,
}

impl<T: Scalar, const S: usize> Explicit<T, S> {
    fn new(tableau: Tableau<S>) -> Self {
        Self {
            tableau,
            k: std::array::from_fn(|_| vec![]),
            x0: vec![],
            x: vec![],
        }
    }

    fn step(&mut self, context: &mut Context<T>, dt: T) -> Result<()> {
        let t0 = context.time();
        self.x0.clone_from(&context.data.xc);
        self.x.clone_from(&self.x0);
        for stage in 0..S {
            if stage > 0 {
                self.combine(&self.tableau.a[stage].clone(), stage, dt);
                let t = t0 + dt * T::from(self.tableau.c[stage]);
                context.set_time_and_xc(t, &self.x);
            }
            let k = &mut self.k[stage];
            k.resize(self.x0.len(), T::zero());
            context.time_derivatives(k)?;
        }
        self.combine(&self.tableau.b.clone(), S, dt);
        context.set_time_and_xc(t0 + dt, &self.x);
        Ok(())
    }

    /// `x = x0 + dt * sum of weights[j] * k[j]` over the first `stages` stages.
    fn combine(&mut self, weights: &[f64; S], stages: usize, dt: T) {
        for (i, x) in self.x.iter_mut().enumerate() {
            let mut slope = T::zero();
            for (k, w) in self.k[..stages].iter().zip(weights) {
                if *w != 0.0 {
                    slope += k[i] * T::from(*w);
                }
            }
            *x = self.x0[i] + dt * slope;
        }
    }
}

macro_rules! explicit_integrator {
    ($(#[$doc:meta])* $name:ident, $drake_name:literal, $stages:literal, $tableau:expr) => {
        $(#[$doc])*
        pub struct $name<T>(Explicit<T, $stages>);

        impl<T: Scalar> $name<T> {
            /// Ready to step any context.
            #[allow(clippy::new_without_default, reason = "integrators are configured, not defaulted")]
            pub fn new() -> Self {
                Self(Explicit::new($tableau))
            }
        }
        impl<T: Scalar> Integrator<T> for $name<T> {
            fn name(&self) -> &'static str {
                $drake_name
            }
            fn step(&mut self, context: &mut Context<T>, dt: T) -> Result<()> {
                self.0.step(context, dt)
            }
        }
    };
}

explicit_integrator!(
    /// Explicit Euler, first order.
    ExplicitEuler,
    "explicit_euler",
    1,
    Tableau {
        a: [[0.0]],
        b: [1.0],
        c: [0.0],
    }
);
explicit_integrator!(
    /// Kutta's third-order method, the propagated solution of Drake's `RungeKutta3Integrator`
    /// (Hairer, Nørsett, Wanner, *Solving ODEs I*, table II.1.1).
    RungeKutta3,
    "runge_kutta3",
    3,
    Tableau {
        a: [[0.0; 3], [0.5, 0.0, 0.0], [-1.0, 2.0, 0.0]],
        b: [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
        c: [0.0, 0.5, 1.0],
    }
);
