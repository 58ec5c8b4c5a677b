//! Jacobians of the time derivatives, for implicit integrators.

use super::Ode;
use crate::autodiff::try_jacobian;
use crate::{AutoDiff, Context, Diagram, Result, Scalar, Simulator};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// Method by which implicit integrators compute the Jacobian of the time derivatives (Drake's
/// `ImplicitIntegrator::JacobianComputationScheme`, whose default is forward differences).
///
/// ```
/// use tarragon_framework::SimulatorConfig;
/// use tarragon_framework::integrator::JacobianScheme;
/// assert_eq!(SimulatorConfig::default().jacobian_scheme, JacobianScheme::AutoDiff);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JacobianScheme {
    /// Dual numbers: exact, one evaluation per eight elements of the state. Where the diagram
    /// cannot be converted, [`JacobianScheme::CentralDifference`] is used instead.
    #[default]
    AutoDiff,
    /// One-sided differences: an error of about 1e-8 relative to the derivatives, one evaluation
    /// per element plus one.
    ForwardDifference,
    /// Two-sided differences: an error of about 1e-10, two evaluations per element.
    CentralDifference,
}

impl<T: Scalar> Simulator<T> {
    /// Chooses how implicit integrators compute Jacobians (Drake's
    /// `set_jacobian_computation_scheme`). Explicit integrators need none.
    pub fn set_jacobian_scheme(&mut self, scheme: JacobianScheme) {
        self.driver.jacobians.set_scheme(scheme);
    }

    /// Returns the Jacobian scheme in use: the chosen one, except that [`JacobianScheme::AutoDiff`]
    /// becomes [`JacobianScheme::CentralDifference`] at the first Jacobian if a system, a
    /// parameter, abstract state or a fixed input of the diagram cannot be converted to dual
    /// numbers. The reason is logged at level info.
    pub fn jacobian_scheme_in_use(&self) -> JacobianScheme {
        self.driver.jacobians.scheme
    }
}

/// Computation of Jacobians for a diagram.
pub(in crate::simulation) struct Jacobians<T: Scalar> {
    diagram: Diagram<T>,
    scheme: JacobianScheme,
    /// Context of the diagram over dual numbers, created when first needed.
    dual: Option<Context<AutoDiff>>,
    /// True if values of `dual` other than time and continuous state may be those of another step.
    outdated: bool,
}

impl<T: Scalar> Jacobians<T> {
    /// Returns the simulated diagram.
    pub(in crate::simulation) fn diagram(&self) -> &Diagram<T> {
        &self.diagram
    }

    pub(super) fn new(diagram: Diagram<T>) -> Self {
        Self {
            diagram,
            scheme: JacobianScheme::default(),
            dual: None,
            outdated: true,
        }
    }

    pub(in crate::simulation) fn set_scheme(&mut self, scheme: JacobianScheme) {
        self.scheme = scheme;
    }

    /// Marks the dual context as outdated. Must be called before each step, because events and
    /// users may have changed anything since the last one.
    pub(super) fn begin_step(&mut self) {
        self.outdated = true;
    }

    /// Returns the dual context with the values of `context`, or `None` if differences are to be
    /// used.
    fn dual(&mut self, context: &Context<T>) -> Option<&mut Context<AutoDiff>> {
        if self.scheme != JacobianScheme::AutoDiff {
            return None;
        }
        if self.outdated {
            if let Err(why) = self.synchronize(context) {
                tracing::info!(
                    "Jacobians are computed by central differences instead of dual numbers: {why}"
                );
                self.scheme = JacobianScheme::CentralDifference;
                return None;
            }
            self.outdated = false;
        }
        self.dual.as_mut()
    }

    fn synchronize(&mut self, context: &Context<T>) -> Result<()> {
        let dual = match &mut self.dual {
            Some(dual) => dual,
            none => none.insert(self.diagram.to_scalar::<AutoDiff>()?.default_context()),
        };
        dual.set_time_state_and_parameters_from(context)?;
        dual.fix_inputs_from(context)
    }
}

/// Rates of some elements of the state as a function of these elements.
pub(super) trait Rates {
    /// Writes the rates at `y`, by one evaluation of the time derivatives. Leaves time and state of
    /// the context unspecified.
    fn at<S: Scalar>(&self, context: &mut Context<S>, y: &[S], rates: &mut [S]) -> Result<()>;
}

/// All time derivatives as a function of all state.
struct Whole {
    time: f64,
}

impl Rates for Whole {
    fn at<S: Scalar>(&self, context: &mut Context<S>, y: &[S], rates: &mut [S]) -> Result<()> {
        context.set_time_and_xc(S::from(self.time), y);
        context.time_derivatives(rates)
    }
}

impl Ode<'_, f64> {
    /// Computes the Jacobian of the time derivatives with respect to all state, at the current time
    /// and state, by the [`JacobianScheme`] of the simulator.
    ///
    /// # Errors
    /// Returns an error if the time derivatives cannot be computed; in that case time and state are
    /// left somewhere nearby.
    pub fn jacobian(&mut self, out: &mut DMatrix<f64>) -> Result<()> {
        let (time, x) = (self.time(), self.state().to_vec());
        self.jacobian_of(&Whole { time }, &x, out)?;
        self.set(time, &x);
        Ok(())
    }

    /// Computes the Jacobian of `rates` at y. Leaves time and state unspecified.
    pub(super) fn jacobian_of(
        &mut self,
        rates: &impl Rates,
        y: &[f64],
        out: &mut DMatrix<f64>,
    ) -> Result<()> {
        let mut evaluations = 0;
        let done = match self.jacobians.dual(self.context) {
            Some(dual) => {
                let f = |y: &[AutoDiff]| {
                    evaluations += 1;
                    let mut result = vec![AutoDiff::constant(0.0); y.len()];
                    rates.at(dual, y, &mut result).map(|()| result)
                };
                try_jacobian(f, y).map(|(_, jacobian)| *out = jacobian)
            }
            None => {
                let central = self.jacobians.scheme == JacobianScheme::CentralDifference;
                let f = |y: &[f64], result: &mut [f64]| {
                    evaluations += 1;
                    rates.at(self.context, y, result)
                };
                differences(f, y, central, out)
            }
        };
        let s = &mut *self.statistics;
        s.jacobian_evaluations += 1;
        s.derivative_evaluations += evaluations;
        s.derivative_evaluations_for_jacobian += evaluations;
        done
    }
}

/// Computes the Jacobian of `f` at x by differences: two-sided if `central`, else one-sided.
fn differences(
    mut f: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
    x: &[f64],
    central: bool,
    out: &mut DMatrix<f64>,
) -> Result<()> {
    let n = x.len();
    // Drake's step. For central differences it lies between the roots that balance rounding against
    // the second and against the third derivatives.
    let relative = f64::EPSILON.powf(if central { 5.0 / 12.0 } else { 0.5 });
    let (mut above, mut below, mut at) = (vec![0.0; n], vec![0.0; n], x.to_vec());
    *out = DMatrix::zeros(n, n);
    if !central {
        f(x, &mut below)?;
    }
    for i in 0..n {
        let step = relative * x[i].abs().max(1.0);
        at[i] = x[i] + step;
        // The difference actually made, free of rounding.
        let mut dx = at[i] - x[i];
        f(&at, &mut above)?;
        if central {
            at[i] = x[i] - step;
            dx += x[i] - at[i];
            f(&at, &mut below)?;
        }
        for (k, (above, below)) in above.iter().zip(&below).enumerate() {
            out[(k, i)] = (above - below) / dx;
        }
        at[i] = x[i];
    }
    Ok(())
}
