//! Appearance of visual geometry.

use tarragon_geometry::{IllustrationProperties, PerceptionProperties};

/// Appearance of a visual geometry, by role.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{PerceptionProperties, Role, SceneGraph, Sphere};
/// use tarragon_multibody::{BodyIndex, MultibodyPlantBuilder, VisualProperties};
/// let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
/// plant.register_as_source_for_scene_graph(&mut scene)?;
/// let for_cameras = VisualProperties {
///     perception: Some(PerceptionProperties::new()),
///     ..VisualProperties::default()
/// };
/// let (pose, shape) = (Isometry3::identity(), Sphere::new(0.1)?);
/// plant.register_visual_geometry(&mut scene, BodyIndex::WORLD, pose, shape, "lamp", for_cameras)?;
/// assert_eq!(scene.model_inspector().num_geometries_with_role(Role::Perception), 1);
/// assert_eq!(scene.model_inspector().num_geometries_with_role(Role::Illustration), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct VisualProperties {
    /// Appearance in visualizers; `None` hides the geometry from them.
    pub illustration: Option<IllustrationProperties>,
    /// Appearance in simulated cameras; `None` hides the geometry from them. If there is no label,
    /// the body's label is added.
    pub perception: Option<PerceptionProperties>,
}
