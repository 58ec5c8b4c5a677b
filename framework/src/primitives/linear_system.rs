//! Linear state-space systems.

use super::affine_system::{AffineSystem, AffineSystemPorts};
use crate::prelude::*;
use crate::{IntoValue, Result};
use nalgebra::DMatrix;

/// Linear system `xdot = A x + B u` or, with a period, `x[n+1] = A x[n] + B u[n]`; in both cases `y
/// = C x + D u` (Drake's `LinearSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector with one element per column of B |
/// | output | `y0` | vector with one element per row of C; direct feedthrough if D is not zero |
///
/// ```
/// use nalgebra::dmatrix;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::LinearSystem;
///
/// let decay = LinearSystem::new(dmatrix![-1.0], dmatrix![1.0], dmatrix![1.0], dmatrix![0.0])?
///     .with_initial_state(1.0)?;
/// let mut b = DiagramBuilder::new();
/// let decay = b.add("decay", decay);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(decay.u, 0.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(1.0)?;
/// assert!((sim.context().eval(decay.y)?[0] - (-1.0_f64).exp()).abs() < 1e-4);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearSystem(AffineSystem);

impl LinearSystem {
    /// Creates a continuous system from its matrices.
    ///
    /// # Errors
    /// Returns an error if sizes do not agree or a number is not finite.
    pub fn new(a: DMatrix<f64>, b: DMatrix<f64>, c: DMatrix<f64>, d: DMatrix<f64>) -> Result<Self> {
        AffineSystem::named("LinearSystem", [a, b, c, d]).map(Self)
    }

    /// Makes the system discrete, with updates every `period` (s); 0 keeps it continuous.
    ///
    /// # Errors
    /// Returns an error if the period is negative or not finite.
    pub fn with_period(self, period: f64) -> Result<Self> {
        self.0.with_period(period).map(Self)
    }

    /// Sets the initial state, which is zero by default.
    ///
    /// # Errors
    /// Returns an error if `x0` does not have one finite element per state.
    pub fn with_initial_state(self, x0: impl IntoValue<Vec<f64>>) -> Result<Self> {
        self.0.with_initial_state(x0).map(Self)
    }

    /// Returns the same system as an affine one with zero offsets; gives access to the matrices.
    pub fn as_affine(&self) -> &AffineSystem {
        &self.0
    }
}

impl<T: Scalar> LeafSystem<T> for LinearSystem {
    type Ports = AffineSystemPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        self.0.declare_in(d, |s| &s.0)
    }
}
