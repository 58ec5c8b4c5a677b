//! Names of the elements of vectors.

use super::Declare;
use crate::counted::counted;
use crate::systems::elements::VectorHandle;
use crate::{Error, Scalar};

impl<S: Send + Sync + 'static, T: Scalar> Declare<S, T> {
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
            let message = "the elements to name belong to another system; name your own";
            self.mistake(Error::foreign(message));
            return;
        }
        let what = vector.vectorial();
        let leaf = self.leaf_mut();
        if let Some(size) = leaf.size_of(what).filter(|size| *size != names.len()) {
            let message = format!(
                "{elements} were given {num_names}: {names:?}",
                elements = counted(size, "element"),
                num_names = counted(names.len(), "name")
            );
            self.mistake(Error::invalid(message));
            return;
        }
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        leaf.element_names.push((what, names));
    }
}
