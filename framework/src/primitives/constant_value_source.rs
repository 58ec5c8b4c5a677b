//! Constant of any type.

use crate::prelude::*;
use crate::systems::value::Value;

/// Source of a constant value of any type (Drake's `ConstantValueSource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | the type of the value |
///
/// The value is a parameter.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ConstantValueSource;
///
/// let mut b = DiagramBuilder::new();
/// let name = b.add("name", ConstantValueSource::new("arm".to_string()));
/// let ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(name.y)?, "arm");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConstantValueSource<V> {
    value: V,
}

impl<V: Value + Clone> ConstantValueSource<V> {
    /// Creates a source of `value`.
    pub fn new(value: V) -> Self {
        Self { value }
    }
}

/// Ports of [`ConstantValueSource`].
#[derive(Debug)]
pub struct ConstantValueSourcePorts<V> {
    /// Output.
    pub y: OutputPort<V>,
    /// The value.
    pub value: Param<V>,
}

impl<V> Clone for ConstantValueSourcePorts<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for ConstantValueSourcePorts<V> {}

impl<T: Scalar, V: Value + Clone> LeafSystem<T> for ConstantValueSource<V> {
    type Ports = ConstantValueSourcePorts<V>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let value = d.param(self.value.clone());
        let model = self.value.clone();
        let y = d.output("y0", model, value, move |_, ctx, y: &mut V| {
            y.clone_from(ctx.param(value));
            Ok(())
        });
        ConstantValueSourcePorts { y, value }
    }
}
