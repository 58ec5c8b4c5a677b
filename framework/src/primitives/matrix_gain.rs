//! Multiplication by a matrix.

use super::affine_system::combine;
use super::check;
use crate::Result;
use crate::prelude::*;
use nalgebra::DMatrix;

/// Matrix gain `y = D u` (Drake's `MatrixGain`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector with one element per column of D |
/// | output | `y0` | vector with one element per row of D; direct feedthrough |
///
/// ```
/// use nalgebra::dmatrix;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::MatrixGain;
///
/// let mut b = DiagramBuilder::new();
/// let sum = b.add("sum", MatrixGain::new(dmatrix![1.0, 1.0])?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(sum.u, [2.0, 3.0])?;
/// assert_eq!(ctx.eval(sum.y)?, &[5.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixGain {
    d: DMatrix<f64>,
}

impl MatrixGain {
    /// Creates a system that multiplies by `d`.
    ///
    /// # Errors
    /// Returns an error if an element is not finite.
    pub fn new(d: DMatrix<f64>) -> Result<Self> {
        check::finite("MatrixGain", "D", d.iter())?;
        Ok(Self { d })
    }
    /// Returns the matrix D.
    pub fn d(&self) -> &DMatrix<f64> {
        &self.d
    }
}

/// Ports of [`MatrixGain`].
#[derive(Clone, Copy, Debug)]
pub struct MatrixGainPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for MatrixGain {
    type Ports = MatrixGainPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u0", self.d.ncols());
        let y = d.vector_output("y0", self.d.nrows(), u, move |s, ctx, y| {
            combine(y, |_| T::zero(), [(&s.d, ctx.eval(u)?)]);
            Ok(())
        });
        MatrixGainPorts { u, y }
    }
}
