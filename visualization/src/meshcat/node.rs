//! Handles of scene tree nodes that are set repeatedly.

use super::change::NodeId;
use super::object::Object;
use super::property::PropertyValue;
use super::scene::{Property, Scene};
use super::transform::Transform;
use nalgebra::Isometry3;
use std::sync::Arc;
use tarragon_geometry::mesh::RenderMesh;

/// A path of the scene tree, looked up once. If the node has been deleted since, it is created
/// again.
#[derive(Clone, Debug)]
pub(crate) struct NodeHandle {
    path: Arc<str>,
    id: NodeId,
}

impl NodeHandle {
    /// Returns a handle of a full path; creates the node if necessary.
    pub(crate) fn new(scene: &mut Scene, full_path: &str) -> Self {
        let id = scene.node_at(full_path);
        let path = full_path.into();
        Self { path, id }
    }
    /// Returns the full path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }
    /// Sets the pose in the parent's frame; does nothing if the pose is unchanged.
    pub(crate) fn set_pose(&mut self, scene: &mut Scene, pose: &Isometry3<f64>) {
        let pose = Transform::Pose(*pose);
        let node = scene.node(self.id);
        if node.is_some_and(|n| n.transform.as_ref().is_some_and(|t| t.value == pose)) {
            return;
        }
        if !scene.set_node_transform(self.id, pose) {
            self.id = scene.node_at(&self.path);
            scene.set_node_transform(self.id, pose);
        }
    }
    pub(crate) fn set_object(&self, scene: &mut Scene, object: Object) {
        scene.set_object(&self.path, object);
    }
    /// Moves the vertices of the object; see [`Scene::set_vertices`].
    pub(crate) fn set_vertices(
        &self,
        scene: &mut Scene,
        mesh: &Arc<RenderMesh>,
        positions: &[[f32; 3]],
    ) -> bool {
        scene.set_vertices(self.id, mesh, positions)
    }
    pub(crate) fn set_property(
        &self,
        scene: &mut Scene,
        name: &str,
        value: impl Into<PropertyValue>,
    ) {
        let value = value.into();
        let property = Property { value, asset: None };
        scene.set_property(&self.path, name, property);
    }
}
