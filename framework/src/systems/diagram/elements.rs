//! Names of the elements of vectors, as a diagram knows them.

use super::Diagram;
use crate::systems::elements::VectorHandle;
use crate::{Result, Scalar};

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
