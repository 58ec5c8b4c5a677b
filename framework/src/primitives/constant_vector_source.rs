//! A constant.

use crate::Error;
use crate::prelude::*;

/// Outputs a constant vector (Drake's `ConstantVectorSource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | vector, as long as the value |
///
/// The value is a parameter.
#[derive(Clone, Debug)]
pub struct ConstantVectorSource {
    value: Vec<f64>,
}

impl ConstantVectorSource {
    /// Outputs `value`.
    pub fn new(value: impl Into<Vec<f64>>) -> Self {
        let value = value.into();
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
        let y = d.vector_output("y0", size, &[value.into()], move |_, ctx, y| {
            let value = ctx.param(value);
            if value.len() != y.len() {
                return Err(Error::custom(format!(
                    "the value has {} elements, {} are expected",
                    value.len(),
                    y.len()
                )));
            }
            y.copy_from_slice(value);
            Ok(())
        });
        ConstantVectorSourcePorts { y, value }
    }
}
