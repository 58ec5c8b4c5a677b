//! Selection of vector elements.

use super::check;
use crate::Result;
use crate::counted::counted;
use crate::prelude::*;

/// Composition of outputs from single elements of its inputs (Drake's `Selector`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0`, `u1`, ... | vectors of the given sizes |
/// | output | `y0`, `y1`, ... | vectors of the lengths of their selections; direct feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Selector;
///
/// let mut b = DiagramBuilder::new();
/// // The second element of u1, then the only one of u0.
/// let pick = b.add("pick", Selector::new([1, 2], [vec![(1, 1), (0, 0)]])?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(pick.u[0], 1.0)?;
/// ctx.fix(pick.u[1], [2.0, 3.0])?;
/// assert_eq!(ctx.eval(pick.y[0])?, &[3.0, 1.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Selector {
    sizes: Vec<usize>,
    selections: Vec<Vec<(usize, usize)>>,
}

impl Selector {
    /// Creates a selector with one input for each of `sizes` and one output per selection. A
    /// selection is a list of (index of the input, index of the element in it).
    ///
    /// # Errors
    /// Returns an error if a selection names an input or an element that does not exist.
    pub fn new(
        sizes: impl Into<Vec<usize>>,
        selections: impl Into<Vec<Vec<(usize, usize)>>>,
    ) -> Result<Self> {
        let (sizes, selections) = (sizes.into(), selections.into());
        for (output, selection) in selections.iter().enumerate() {
            for (i, (input, element)) in selection.iter().enumerate() {
                let Some(size) = sizes.get(*input) else {
                    let n = sizes.len();
                    let what = format!(
                        "y{output}[{i}] selects input {input} of {inputs}",
                        inputs = counted(n, "input")
                    );
                    return check::fail("Selector", what);
                };
                if element >= size {
                    return check::fail(
                        "Selector",
                        format!(
                            "y{output}[{i}] selects element {element} of u{input}, which has {elements}",
                            elements = counted(*size, "element")
                        ),
                    );
                }
            }
        }
        Ok(Self { sizes, selections })
    }
}

/// Ports of [`Selector`].
#[derive(Clone, Debug)]
pub struct SelectorPorts<T> {
    /// Inputs.
    pub u: Vec<InputPort<Vec<T>>>,
    /// Outputs.
    pub y: Vec<OutputPort<Vec<T>>>,
}

impl<T: Scalar> LeafSystem<T> for Selector {
    type Ports = SelectorPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let named = self.sizes.iter().enumerate();
        let u: Vec<InputPort<Vec<T>>> = named
            .map(|(i, size)| d.vector_input(&format!("u{i}"), *size))
            .collect();
        let mut y = vec![];
        for (output, selection) in self.selections.iter().enumerate() {
            let sources: Vec<_> = selection.iter().map(|(i, k)| (u[*i], *k)).collect();
            let deps: Vec<_> = sources.iter().map(|s| s.0).collect();
            let (name, size) = (format!("y{output}"), sources.len());
            y.push(d.vector_output(&name, size, deps, move |_, ctx, y| {
                for (y, (input, element)) in y.iter_mut().zip(&sources) {
                    *y = ctx.eval(*input)?[*element];
                }
                Ok(())
            }));
        }
        SelectorPorts { u, y }
    }
}
