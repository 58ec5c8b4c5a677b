//! Concatenation of vectors.

use crate::prelude::*;

/// Concatenation of its inputs into one vector (Drake's `Multiplexer`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0`, `u1`, ... | vectors of the given sizes |
/// | output | `y0` | vector of the inputs, one after the other; direct feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Multiplexer;
///
/// let mut b = DiagramBuilder::new();
/// let mux = b.add("mux", Multiplexer::new([1, 2]));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(mux.u[0], 1.0)?;
/// ctx.fix(mux.u[1], [2.0, 3.0])?;
/// assert_eq!(ctx.eval(mux.y)?, &[1.0, 2.0, 3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Multiplexer {
    sizes: Vec<usize>,
}

impl Multiplexer {
    /// Creates a system with one input for each of `sizes`.
    pub fn new(sizes: impl Into<Vec<usize>>) -> Self {
        let sizes = sizes.into();
        Self { sizes }
    }
}

/// Ports of [`Multiplexer`].
#[derive(Clone, Debug)]
pub struct MultiplexerPorts<T> {
    /// Inputs.
    pub u: Vec<InputPort<Vec<T>>>,
    /// The stacked vector.
    pub y: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for Multiplexer {
    type Ports = MultiplexerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let named = self.sizes.iter().enumerate();
        let u: Vec<InputPort<Vec<T>>> = named
            .map(|(i, size)| d.vector_input(&format!("u{i}"), *size))
            .collect();
        let inputs = u.clone();
        let size = self.sizes.iter().sum();
        let y = d.vector_output("y0", size, &u, move |_, ctx, mut y| {
            for input in &inputs {
                let u = ctx.eval(*input)?;
                let (part, rest) = y.split_at_mut(u.len());
                part.copy_from_slice(u);
                y = rest;
            }
            Ok(())
        });
        MultiplexerPorts { u, y }
    }
}
