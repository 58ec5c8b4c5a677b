//! Constant vector.

use crate::counted::counted;
use crate::prelude::*;
use crate::{Error, IntoValue};

/// Source of a constant vector (Drake's `ConstantVectorSource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | vector of the value's length |
///
/// The value is a parameter.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ConstantVectorSource;
///
/// let mut b = DiagramBuilder::new();
/// let source = b.add("source", ConstantVectorSource::new([1.0, 2.0]));
/// let mut ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(source.y)?, &[1.0, 2.0]);
/// ctx.param_mut(source.value)?[1] = 7.0;
/// assert_eq!(ctx.eval(source.y)?, &[1.0, 7.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConstantVectorSource {
    value: Vec<f64>,
}

impl ConstantVectorSource {
    /// Creates a source of `value`.
    pub fn new(value: impl IntoValue<Vec<f64>>) -> Self {
        let value = value.into_value();
        Self { value }
    }
}

/// Ports of [`ConstantVectorSource`].
#[derive(Clone, Copy, Debug)]
pub struct ConstantVectorSourcePorts<T> {
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The value.
    pub value: Param<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for ConstantVectorSource {
    type Ports = ConstantVectorSourcePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let value: Vec<T> = self.value.iter().map(|x| T::from(*x)).collect();
        let size = value.len();
        let value = d.param(value);
        let y = d.vector_output("y0", size, value, move |_, ctx, y| {
            let value = ctx.param(value);
            if value.len() != y.len() {
                return Err(Error::invalid(format!(
                    "the value must have {}, got {}",
                    counted(y.len(), "element"),
                    value.len()
                )));
            }
            y.copy_from_slice(value);
            Ok(())
        });
        ConstantVectorSourcePorts { y, value }
    }
}
