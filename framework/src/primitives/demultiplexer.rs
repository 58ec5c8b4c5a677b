//! Splitting of vectors.

use crate::prelude::*;

/// Splitter of its input into several vectors (Drake's `Demultiplexer`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector, the concatenation of the outputs |
/// | output | `y0`, `y1`, ... | vectors of the given sizes; direct feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Demultiplexer;
///
/// let mut b = DiagramBuilder::new();
/// let split = b.add("split", Demultiplexer::new([1, 2]));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(split.u, [1.0, 2.0, 3.0])?;
/// assert_eq!(ctx.eval(split.y[1])?, &[2.0, 3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Demultiplexer {
    sizes: Vec<usize>,
}

impl Demultiplexer {
    /// Creates a splitter with one output for each of `sizes`.
    pub fn new(sizes: impl Into<Vec<usize>>) -> Self {
        let sizes = sizes.into();
        Self { sizes }
    }
}

/// Ports of [`Demultiplexer`].
#[derive(Clone, Debug)]
pub struct DemultiplexerPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Parts of the input.
    pub y: Vec<OutputPort<Vec<T>>>,
}

impl<T: Scalar> LeafSystem<T> for Demultiplexer {
    type Ports = DemultiplexerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u0", self.sizes.iter().sum());
        let mut begin = 0;
        let mut y = vec![];
        for (i, size) in self.sizes.iter().enumerate() {
            let part = begin..begin + size;
            begin = part.end;
            let name = format!("y{i}");
            y.push(d.vector_output(&name, *size, u, move |_, ctx, y| {
                y.copy_from_slice(&ctx.eval(u)?[part.clone()]);
                Ok(())
            }));
        }
        DemultiplexerPorts { u, y }
    }
}
