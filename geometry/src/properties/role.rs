//! Roles: the purposes of geometry.

/// Purpose of a geometry.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryInstance, ProximityProperties, Role, SceneGraph, Sphere};
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?
///     .with_proximity(ProximityProperties::new());
/// scene.register_anchored_geometry(toys, ball)?;
/// let inspector = scene.model_inspector();
/// assert_eq!(inspector.num_geometries_with_role(Role::Proximity), 1);
/// assert_eq!(inspector.num_geometries_with_role(Role::Perception), 0);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// No purpose: the geometry takes part in nothing.
    Unassigned,
    /// Distance and contact queries.
    Proximity,
    /// Display in visualizers.
    Illustration,
    /// Rendering by simulated cameras.
    Perception,
}

/// Way to assign a role: for the first time or as a replacement (Drake's `RoleAssign`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// let ball = scene.register_anchored_geometry(toys, ball)?;
/// let role = ProximityProperties::new;
/// assert!(scene.assign_role_with(toys, ball, role(), RoleAssign::Replace).is_err());
/// scene.assign_role_with(toys, ball, role(), RoleAssign::New)?;
/// scene.assign_role_with(toys, ball, role(), RoleAssign::Replace)?;
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoleAssign {
    /// Assigns a role that the geometry does not have yet.
    #[default]
    New,
    /// Replaces all properties of a role that the geometry already has.
    Replace,
}
