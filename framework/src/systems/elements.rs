//! Names of the elements of vectors.

use super::declare::Declare;
use super::diagram::Diagram;
use super::handles::{ContinuousState, DiscreteState, InputPort, OutputPort, Place};
use super::leaf::{Leaf, LeafSystem};
use crate::{Result, Scalar};

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
/// let gain = b.add("gain", Gain::new(2.0, 1));
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

/// Returns the number of elements, if the declaration fixes it.
fn size<T: Scalar>(leaf: &Leaf<T>, what: Vectorial) -> Option<usize> {
    match what {
        Vectorial::Input(i) => leaf.inputs[i as usize].size,
        Vectorial::Output(i) => leaf.entries[i as usize].size,
        Vectorial::Continuous => Some(leaf.xc0.len()),
        Vectorial::Discrete(i) => Some(leaf.xd0[i as usize].len()),
    }
}

/// Returns the names of the elements; empty if none were given.
pub(super) fn names_of<T: Scalar>(leaf: &Leaf<T>, what: Vectorial) -> &[String] {
    let mut named = leaf.element_names.iter();
    named.find(|n| n.0 == what).map_or(&[], |n| &n.1)
}

impl<S: LeafSystem<T>, T: Scalar> Declare<S, T> {
    /// Names the elements of a vector port or of numeric state, for display, logs and plots.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// struct Joystick;
    /// impl<T: Scalar> LeafSystem<T> for Joystick {
    ///     type Ports = InputPort<Vec<T>>;
    ///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
    ///         let u = d.vector_input("u", 2);
    ///         d.name_elements(&u, &["forward", "turn"]);
    ///         u
    ///     }
    /// }
    /// let mut b = DiagramBuilder::new();
    /// let stick = b.add("stick", Joystick);
    /// let diagram = b.build()?;
    /// assert_eq!(diagram.element_names(stick.ports())?, ["forward", "turn"]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn name_elements(&mut self, vector: &impl VectorHandle, names: &[&str]) {
        if !self.is_own(vector.place()) {
            self.mistake("the elements to name belong to another system; name your own".into());
            return;
        }
        let what = vector.vectorial();
        let leaf = self.leaf_mut();
        if let Some(size) = size(leaf, what).filter(|size| *size != names.len()) {
            let message = format!(
                "{size} elements were given {} names: {names:?}",
                names.len()
            );
            self.mistake(message);
            return;
        }
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        leaf.element_names.push((what, names));
    }
}

impl<T: Scalar> Diagram<T> {
    /// Returns the names of the elements of a vector port or of numeric state; empty if none were
    /// given.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn element_names(&self, vector: &impl VectorHandle) -> Result<&[String]> {
        let place = vector.place();
        self.owns_handle("vector", place)?;
        let leaf = &self.plan().leaves[place.system as usize];
        Ok(names_of(leaf, vector.vectorial()))
    }
}
