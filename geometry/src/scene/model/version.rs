//! Versions of the geometry of a scene, one per role.

use crate::error::{Error, Result};
use crate::properties::Role;
use std::sync::atomic::{AtomicU64, Ordering};

/// Version of the geometry of each role, which shows whether it may have changed (Drake's
/// `GeometryVersion`).
///
/// Equal versions mean equal geometry. Different versions mean different histories, which may still
/// have led to the same geometry.
///
/// | change | version that changes |
/// |---|---|
/// | a role is assigned, replaced or removed | of that role |
/// | geometry with a role is removed or changes its shape | of that role |
/// | both of these, for perception | only if a renderer shows the geometry |
/// | a renderer is added or removed | of perception, if the renderer shows anything |
/// | defaults fill in properties of a context | of proximity |
/// | frames, names, collision filters, geometry without roles | none |
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let before: GeometryVersion = scene.model_inspector().geometry_version().clone();
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// scene.register_anchored_geometry(toys, ball.with_proximity(ProximityProperties::new()))?;
/// let after = scene.model_inspector().geometry_version().clone();
/// assert!(!after.is_same_as(&before, Role::Proximity)?);
/// assert!(after.is_same_as(&before, Role::Illustration)?);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GeometryVersion {
    proximity: u64,
    illustration: u64,
    perception: u64,
}

impl Default for GeometryVersion {
    /// Creates a version that differs from every other version.
    fn default() -> Self {
        Self {
            proximity: unique(),
            illustration: unique(),
            perception: unique(),
        }
    }
}

impl GeometryVersion {
    /// Returns true if no geometry with the role has changed between the two versions.
    ///
    /// # Errors
    /// Returns an error for [`Role::Unassigned`], which has no version.
    pub fn is_same_as(&self, other: &Self, role: Role) -> Result<bool> {
        Ok(match role {
            Role::Proximity => self.proximity == other.proximity,
            Role::Illustration => self.illustration == other.illustration,
            Role::Perception => self.perception == other.perception,
            Role::Unassigned => {
                return Err(Error::invalid(
                    "the role must be Proximity, Illustration or Perception, got Unassigned, \
                     which has no version",
                ));
            }
        })
    }

    pub(crate) fn change(&mut self, role: Role) {
        match role {
            Role::Proximity => self.proximity = unique(),
            Role::Illustration => self.illustration = unique(),
            Role::Perception => self.perception = unique(),
            Role::Unassigned => {}
        }
    }
}

fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
