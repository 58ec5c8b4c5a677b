//! Sizes of vectors and names of their elements, as a diagram knows them.

use super::{Diagram, DiagramBuilder};
use crate::systems::elements::VectorHandle;
use crate::systems::handles::OutputPort;
use crate::{Error, Result, Scalar};

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
        Ok(leaf.names_of(vector.vectorial()))
    }
}

impl DiagramBuilder {
    /// Returns the number of elements of an output port and their names, if they have any.
    ///
    /// A port without a fixed size is a mistake, and has no elements here. So has a port of another
    /// diagram, which connecting it will report.
    pub(crate) fn shape_of_output(&mut self, port: OutputPort<Vec<f64>>) -> (usize, Vec<String>) {
        let (what, place) = (port.vectorial(), port.place());
        let leaf = self.leaves.get(place.system as usize);
        let Some(leaf) = leaf.filter(|_| place.plan == self.id) else {
            return (0, vec![]);
        };
        if let Some(size) = leaf.size_of(what) {
            return (size, leaf.names_of(what).to_vec());
        }
        let port = self.name_of(place, |leaf, i| &leaf.entries[i].name);
        self.mistake(Error::invalid(format!(
            "output port '{port}' cannot be logged because it has no fixed size; declare it with \
             `vector_output`, or add a `VectorLogSink` of the right size and connect it"
        )));
        (0, vec![])
    }
}
