//! Meshes that equal shapes share, in all scenes of the process.

use super::hydroelastic_mesh::MeshKey;
use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Meshes in use, by what they depend on.
pub(super) struct SharedMeshes<M>(Mutex<BTreeMap<MeshKey, Weak<M>>>);

/// Number of meshes below which unused ones are not looked for.
const FEW: usize = 64;

impl<M> SharedMeshes<M> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the mesh of a key, or makes it; `None` if there is none. Two threads may make the
    /// same mesh at the same time, because no lock is held meanwhile; both get the first.
    ///
    /// # Errors
    /// Passes on the error of `make`.
    pub(super) fn get(
        &self,
        key: Option<MeshKey>,
        make: impl FnOnce() -> Result<Option<M>>,
    ) -> Result<Option<Arc<M>>> {
        let Some(key) = key else {
            return Ok(make()?.map(Arc::new));
        };
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).and_then(Weak::upgrade);
        if known.is_some() {
            return Ok(known);
        }
        let Some(made) = make()?.map(Arc::new) else {
            return Ok(None);
        };
        let mut meshes = lock();
        if let Some(first) = meshes.get(&key).and_then(Weak::upgrade) {
            return Ok(Some(first));
        }
        if meshes.len() >= FEW && meshes.len().is_power_of_two() {
            meshes.retain(|_, mesh| mesh.strong_count() > 0);
        }
        meshes.insert(key, Arc::downgrade(&made));
        Ok(Some(made))
    }
}
