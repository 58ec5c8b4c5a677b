//! Configurations of deformable geometry.

use crate::ids::GeometryId;
use nalgebra::DVector;
use tarragon_framework::Scalar;

/// Configurations of the deformable geometries of one source (Drake's
/// `GeometryConfigurationVector`): for each, the coordinates of all vertices in the world (m), x, y
/// and z of the first, then of the next, in the order of its
/// [reference mesh](crate::SceneGraphInspector::reference_mesh).
///
/// ```
/// use nalgebra::DVector;
/// use tarragon_geometry::{GeometryConfigurationVector, GeometryId};
/// let cloth = GeometryId::new();
/// let mut all = GeometryConfigurationVector::new();
/// all.set_value(cloth, DVector::from_vec(vec![0.0, 0.0, 1.0]));
/// assert_eq!((all.len(), all.value(cloth).map(|x| x[2])), (1, Some(1.0)));
/// ```
#[derive(Clone, Debug)]
pub struct GeometryConfigurationVector<T: Scalar> {
    configurations: Vec<(GeometryId, DVector<T>)>,
}

impl<T: Scalar> Default for GeometryConfigurationVector<T> {
    fn default() -> Self {
        Self {
            configurations: vec![],
        }
    }
}

impl<T: Scalar> GeometryConfigurationVector<T> {
    /// Creates a vector without configurations.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the configuration of a geometry, replacing an earlier value.
    pub fn set_value(&mut self, id: GeometryId, configuration: DVector<T>) {
        match self.value_mut(id) {
            Some(value) => *value = configuration,
            None => self.configurations.push((id, configuration)),
        }
    }
    /// Returns the configuration of a geometry, if it is set.
    pub fn value(&self, id: GeometryId) -> Option<&DVector<T>> {
        let found = self.configurations.iter().find(|(g, _)| *g == id);
        found.map(|(_, x)| x)
    }
    /// Returns the configuration of a geometry for modification, if it is set; this needs no new
    /// storage.
    pub fn value_mut(&mut self, id: GeometryId) -> Option<&mut DVector<T>> {
        let found = self.configurations.iter_mut().find(|(g, _)| *g == id);
        found.map(|(_, x)| x)
    }
    /// Returns the number of configurations.
    pub fn len(&self) -> usize {
        self.configurations.len()
    }
    /// Returns true if there are no configurations.
    pub fn is_empty(&self) -> bool {
        self.configurations.is_empty()
    }
    /// Removes all configurations.
    pub fn clear(&mut self) {
        self.configurations.clear();
    }
    /// Returns the geometries that have a configuration.
    pub fn ids(&self) -> impl Iterator<Item = GeometryId> + '_ {
        self.configurations.iter().map(|(g, _)| *g)
    }
}

impl<T: Scalar> FromIterator<(GeometryId, DVector<T>)> for GeometryConfigurationVector<T> {
    fn from_iter<I: IntoIterator<Item = (GeometryId, DVector<T>)>>(configurations: I) -> Self {
        Self {
            configurations: configurations.into_iter().collect(),
        }
    }
}
