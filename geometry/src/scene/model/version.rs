//! Versions of a scene's geometry, one per role.

use crate::error::{Error, Result};
use crate::properties::Role;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells whether the geometry of a role may have changed (Drake's `GeometryVersion`).
///
/// Equal versions mean equal geometry. Different versions mean different histories, which may have
/// led to the same geometry.
///
/// | change | version |
/// |---|---|
/// | a role is given, replaced or removed, geometry with it is removed or changes its shape | of that role |
/// | the same, for perception | only if a renderer shows the geometry |
/// | a renderer is added or removed | of perception, if it shows anything |
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
    /// Differs from every other version.
    fn default() -> Self {
        Self {
            proximity: unique(),
            illustration: unique(),
            perception: unique(),
        }
    }
}

impl GeometryVersion {
    /// True if nothing with the role has changed between the two.
    ///
    /// # Errors
    /// For [`Role::Unassigned`], which has no version.
    pub fn is_same_as(&self, other: &Self, role: Role) -> Result<bool> {
        Ok(match role {
            Role::Proximity => self.proximity == other.proximity,
            Role::Illustration => self.illustration == other.illustration,
            Role::Perception => self.perception == other.perception,
            Role::Unassigned => {
                return Err(Error::invalid(
                    "geometry without roles has no version; ask for Proximity, Illustration or \
                     Perception",
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
