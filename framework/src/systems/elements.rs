//! Handles of vectors, whose elements may have names.

use super::handles::{ContinuousState, DiscreteState, InputPort, OutputPort, Place};

/// A kind of vector that a system declares, with its index.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectorial {
    #[doc(hidden)]
    Input(u32),
    #[doc(hidden)]
    Output(u32),
    #[doc(hidden)]
    Continuous,
    #[doc(hidden)]
    Discrete(u32),
}

mod sealed {
    /// Seals the set of handles.
    pub trait Sealed {}
}

/// Handle of something with elements: a vector port or numeric state.
///
/// ```
/// use tarragon_framework::{Result, VectorHandle, prelude::*, primitives::Gain};
///
/// /// The names of the elements, or "unnamed" if there are none.
/// fn heading(diagram: &Diagram<f64>, vector: &impl VectorHandle) -> Result<String> {
///     let names = diagram.element_names(vector)?;
///     Ok(if names.is_empty() { "unnamed".into() } else { names.join(", ") })
/// }
///
/// let mut b = DiagramBuilder::new();
/// let gain = b.add("gain", Gain::new(1, 2.0));
/// let diagram = b.build()?;
/// assert_eq!(heading(&diagram, &gain.u)?, "unnamed"); // an input port
/// assert_eq!(heading(&diagram, &gain.y)?, "unnamed"); // an output port
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait VectorHandle: sealed::Sealed {
    #[doc(hidden)]
    fn vectorial(&self) -> Vectorial;
    #[doc(hidden)]
    fn place(&self) -> Place;
}

macro_rules! vector_handle {
    ($($handle:ident => $what:expr),*) => {$(
        impl<T> sealed::Sealed for $handle<Vec<T>> {}
        impl<T> VectorHandle for $handle<Vec<T>> {
            fn vectorial(&self) -> Vectorial {
                $what(self.place.index)
            }
            fn place(&self) -> Place {
                self.place
            }
        }
    )*};
}

vector_handle!(
    InputPort => Vectorial::Input,
    OutputPort => Vectorial::Output,
    ContinuousState => |_| Vectorial::Continuous,
    DiscreteState => Vectorial::Discrete
);
