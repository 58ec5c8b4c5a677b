//! The elements of a plant that were declared, for writers of model files: without what building
//! the plant adds.

use crate::model::{
    BodyIndex, CollisionFilterGroup, FixedOffsetFrame, FrameIndex, JointKind, ModelInstanceIndex,
};
use crate::plant::multibody_model::MultibodyModel;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;
use tarragon_geometry::SceneGraph;

impl MultibodyModel {
    /// Returns the frames of all bodies and the frames that were added, without the internal frames
    /// of a built plant.
    pub fn declared_frames(&self) -> impl Iterator<Item = (FrameIndex, &FixedOffsetFrame)> {
        self.frames()
            .take(self.frames.len() - self.num_internal_frames)
    }

    /// Returns the bodies that no joint of the model connects towards the world.
    pub fn free_bodies(&self) -> Vec<BodyIndex> {
        // A plant has joints of free bodies, a builder has bodies without joints.
        let joined = self.joints.iter().filter(|j| j.is_ephemeral());
        let bodies = (1..self.bodies.len()).map(BodyIndex::new);
        let alone = bodies.filter(|b| !self.is_child(*b));
        joined.map(|j| j.child).chain(alone).collect()
    }

    /// Returns the collision filter groups of model files.
    pub fn filter_groups(&self) -> &[CollisionFilterGroup] {
        &self.filter_groups
    }
    /// Returns the pairs of
    /// [`exclude_collisions_between`](crate::MultibodyPlantBuilder::exclude_collisions_between).
    pub fn excluded_pairs(&self) -> &[(BodyIndex, BodyIndex)] {
        &self.excluded
    }
    /// Returns true if the bodies of joints are not tested against each other.
    pub fn filters_adjacent_bodies(&self) -> bool {
        self.adjacent_bodies_collision_filters
    }
    /// Returns the model instances on which gravity does not act.
    pub fn weightless_instances(&self) -> impl Iterator<Item = ModelInstanceIndex> {
        self.weightless.iter().copied()
    }
    /// Checks that the plant is registered with this scene.
    ///
    /// # Errors
    /// Returns an error if it is not.
    pub fn check_scene(&self, scene_graph: &SceneGraph) -> crate::error::Result<()> {
        self.registered()?.check_scene(scene_graph)
    }

    /// Returns the default pose `X_WB` of a body that no joint of the model connects towards the
    /// world; the identity if none was set.
    pub fn default_free_body_pose(&self, body: BodyIndex) -> Isometry3<f64> {
        let mut joints = self.joints.iter().rev().take_while(|j| j.is_ephemeral());
        if let Some(joint) = joints.find(|j| j.child == body)
            && joint.kind == JointKind::QuaternionFloating
            && let [w, x, y, z, px, py, pz] = *joint.default_positions
            && let Some(r) = math::quaternion_wxyz([w, x, y, z])
        {
            return math::pose(r, Vector3::new(px, py, pz));
        }
        self.default_free_poses[body.index()].unwrap_or_default()
    }
}
