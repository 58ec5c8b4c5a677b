//! Rigid partners of deformable geometry.

use crate::hydro::CompliantMesh;
use std::sync::Arc;

/// A rigid geometry that deformable geometry can touch.
#[derive(Clone)]
pub(in crate::scene) struct ContactPartner {
    /// Number of the geometry.
    pub(in crate::scene) geometry: usize,
    pub(in crate::scene) mesh: Arc<CompliantMesh>,
    /// Modulus (Pa).
    pub(in crate::scene) modulus: f64,
}
