//! Proportional, integral and derivative control.

use super::affine_system::combine;
use super::check;
use crate::prelude::*;
use crate::{IntoValue, Result};
use nalgebra::DMatrix;

/// PID controller `control = P (kp e + ki integral(e) + kd edot)` with `(e, edot) = desired_state -
/// S estimated_state` (Drake's `PidController`). The gains act element by element.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `estimated_state` | one element per column of S: positions, then velocities |
/// | input | `desired_state` | vector of twice the number of gains |
/// | output | `control` | vector with one element per row of P; direct feedthrough |
///
/// Both projections are the identity unless set.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::PidController;
///
/// let mut b = DiagramBuilder::new();
/// let pid = b.add("pid", PidController::new(10.0, 0.0, 2.0)?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(pid.estimated_state, [0.5, 1.0])?;
/// ctx.fix(pid.desired_state, [1.0, 0.0])?;
/// assert_eq!(ctx.eval(pid.control)?, &[3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PidController {
    kp: Vec<f64>,
    ki: Vec<f64>,
    kd: Vec<f64>,
    /// Negative of S.
    minus_projection: DMatrix<f64>,
    output_projection: DMatrix<f64>,
}

const NAME: &str = "PidController";

impl PidController {
    /// Creates a controller from proportional, integral and derivative gains, one of each per
    /// controlled position.
    ///
    /// # Errors
    /// Returns an error if their numbers differ or one is not finite.
    pub fn new(
        kp: impl IntoValue<Vec<f64>>,
        ki: impl IntoValue<Vec<f64>>,
        kd: impl IntoValue<Vec<f64>>,
    ) -> Result<Self> {
        let (kp, ki, kd) = (kp.into_value(), ki.into_value(), kd.into_value());
        let n = kp.len();
        for (what, gains) in [("kp", &kp), ("ki", &ki), ("kd", &kd)] {
            check::length(NAME, what, gains.len(), n)?;
            check::finite(NAME, what, gains)?;
        }
        Ok(Self {
            kp,
            ki,
            kd,
            minus_projection: -DMatrix::identity(2 * n, 2 * n),
            output_projection: DMatrix::identity(n, n),
        })
    }

    /// Sets the state projection S, which selects the controlled positions and velocities, in this
    /// order, from a longer state.
    ///
    /// # Errors
    /// Returns an error if the matrix does not have two rows per gain, or if an element is not
    /// finite.
    pub fn with_state_projection(mut self, s: DMatrix<f64>) -> Result<Self> {
        let rows = 2 * self.kp.len();
        check::matrix(NAME, "the state projection", &s, rows, s.ncols())?;
        self.minus_projection = -s;
        Ok(self)
    }

    /// Sets the output projection P, which distributes the control of each gain to the outputs.
    ///
    /// # Errors
    /// Returns an error if the matrix does not have one column per gain, or if an element is not
    /// finite.
    pub fn with_output_projection(mut self, p: DMatrix<f64>) -> Result<Self> {
        let columns = self.kp.len();
        check::matrix(NAME, "the output projection", &p, p.nrows(), columns)?;
        self.output_projection = p;
        Ok(self)
    }
}

/// Ports of [`PidController`].
#[derive(Clone, Copy, Debug)]
pub struct PidControllerPorts<T> {
    /// Measured positions and velocities.
    pub estimated_state: InputPort<Vec<T>>,
    /// Desired positions and velocities.
    pub desired_state: InputPort<Vec<T>>,
    /// Output.
    pub control: OutputPort<Vec<T>>,
    /// Integral of the position error.
    pub integral: ContinuousState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for PidController {
    type Ports = PidControllerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let n = self.kp.len();
        let estimated = d.vector_input("estimated_state", self.minus_projection.ncols());
        let desired = d.vector_input("desired_state", 2 * n);
        let deps = (estimated, desired);
        let model = vec![T::zero(); 2 * n];
        let error = d.cache_entry("error", model, deps, move |s, ctx, e: &mut Vec<T>| {
            let (desired, estimated) = (ctx.eval(desired)?, ctx.eval(estimated)?);
            combine(e, |i| desired[i], [(&s.minus_projection, estimated)]);
            Ok(())
        });
        let zero = vec![T::zero(); n];
        let integral = d.continuous_state((0, 0, n), &zero, error, move |_, ctx, xdot| {
            xdot.copy_from_slice(&ctx.cached(error)?[..n]);
            Ok(())
        });
        let outputs = self.output_projection.nrows();
        let control = d.vector_output("control", outputs, (Dep::Z, error), move |s, ctx, y| {
            y.fill(T::zero());
            let (e, x) = (ctx.cached(error)?, ctx.xc());
            let columns = s.output_projection.as_slice().chunks_exact(y.len().max(1));
            for (i, column) in columns.enumerate() {
                let control =
                    e[i] * T::from(s.kp[i]) + x[i] * T::from(s.ki[i]) + e[n + i] * T::from(s.kd[i]);
                for (y, p) in y.iter_mut().zip(column) {
                    *y += control * T::from(*p);
                }
            }
            Ok(())
        });
        PidControllerPorts {
            estimated_state: estimated,
            desired_state: desired,
            control,
            integral,
        }
    }
}
