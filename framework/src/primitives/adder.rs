//! Addition.

use crate::prelude::*;

/// Sum of its inputs, `y = u0 + u1 + ...` (Drake's `Adder`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0`, `u1`, ... | vectors of `size` |
/// | output | `sum` | vector of `size`, direct feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Adder;
///
/// let mut b = DiagramBuilder::new();
/// let adder = b.add("adder", Adder::new(2, 3));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(adder.u[0], [1.0, 2.0, 3.0])?;
/// ctx.fix(adder.u[1], [10.0, 20.0, 30.0])?;
/// assert_eq!(ctx.eval(adder.sum)?, &[11.0, 22.0, 33.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adder {
    num_inputs: usize,
    size: usize,
}

impl Adder {
    /// Creates an adder of `num_inputs` vectors of `size` elements.
    pub fn new(num_inputs: usize, size: usize) -> Self {
        Self { num_inputs, size }
    }
}

/// Ports of [`Adder`].
#[derive(Clone, Debug)]
pub struct AdderPorts<T> {
    /// Inputs.
    pub u: Vec<InputPort<Vec<T>>>,
    /// Their sum.
    pub sum: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for Adder {
    type Ports = AdderPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let names = (0..self.num_inputs).map(|i| format!("u{i}"));
        let u: Vec<InputPort<Vec<T>>> = names.map(|n| d.vector_input(&n, self.size)).collect();
        let inputs = u.clone();
        let sum = d.vector_output("sum", self.size, &u, move |_, ctx, sum| {
            sum.fill(T::zero());
            // Four inputs at a time: storing and reloading the sum for each input costs more than
            // the additions.
            let (fours, rest) = inputs.as_chunks::<4>();
            for four in fours {
                let mut u: [&[T]; 4] = [&[]; 4];
                for (u, input) in u.iter_mut().zip(four) {
                    *u = ctx.eval(*input)?;
                }
                for (i, sum) in sum.iter_mut().enumerate() {
                    *sum = u.iter().fold(*sum, |sum, u| sum + u[i]);
                }
            }
            for input in rest {
                for (sum, u) in sum.iter_mut().zip(ctx.eval(*input)?) {
                    *sum += *u;
                }
            }
            Ok(())
        });
        AdderPorts { u, sum }
    }
}
