//! Identity.

use crate::prelude::*;
use crate::systems::value::Value;

/// Identity `y = u` (Drake's `PassThrough`); gives a signal a port of its own.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, direct feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::PassThrough;
///
/// let mut b = DiagramBuilder::new();
/// let pass = b.add("pass", PassThrough::new(1));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(pass.u, 3.0)?;
/// assert_eq!(ctx.eval(pass.y)?, &[3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PassThrough {
    size: usize,
}

impl PassThrough {
    /// Creates a pass-through of vectors of `size` elements.
    pub fn new(size: usize) -> Self {
        Self { size }
    }
}

/// Same as [`PassThrough`], for values of any type: `u` and `y` carry a `V`.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ValuePassThrough;
///
/// let mut b = DiagramBuilder::new();
/// let pass = b.add("pass", ValuePassThrough::new(String::new()));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(pass.u, "hello".to_string())?;
/// assert_eq!(ctx.eval(pass.y)?, "hello");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValuePassThrough<V> {
    model: V,
}

impl<V: Value + Clone> ValuePassThrough<V> {
    /// Creates a pass-through of values like `model`, which is the storage of the output before its
    /// first evaluation.
    pub fn new(model: V) -> Self {
        Self { model }
    }
}

/// Ports of [`PassThrough`], with `Vec<T>` for `V`, and of [`ValuePassThrough`].
#[derive(Debug)]
pub struct PassThroughPorts<V> {
    /// Input.
    pub u: InputPort<V>,
    /// Output.
    pub y: OutputPort<V>,
}

impl<V> Clone for PassThroughPorts<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for PassThroughPorts<V> {}

impl<T: Scalar> LeafSystem<T> for PassThrough {
    type Ports = PassThroughPorts<Vec<T>>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", self.size);
        let y = d.vector_output("y", self.size, u, move |_, ctx, y| {
            y.copy_from_slice(ctx.eval(u)?);
            Ok(())
        });
        PassThroughPorts { u, y }
    }
}

impl<T: Scalar, V: Value + Clone> LeafSystem<T> for ValuePassThrough<V> {
    type Ports = PassThroughPorts<V>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.input("u");
        let model = self.model.clone();
        let y = d.output("y", model, u, move |_, ctx, y: &mut V| {
            y.clone_from(ctx.eval(u)?);
            Ok(())
        });
        PassThroughPorts { u, y }
    }
}
