//! The elements of a plant that were declared, for writers of model files: without what `finalize`
//! adds.

use crate::model::{
    BodyIndex, CollisionFilterGroup, FixedOffsetFrame, FrameIndex, JointKind, ModelInstanceIndex,
};
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;
use tarragon_geometry::SceneGraph;

impl MultibodyPlant {
    /// Returns the frames that `finalize` did not add, with those of the bodies.
    pub fn declared_frames(&self) -> impl Iterator<Item = (FrameIndex, &FixedOffsetFrame)> {
        let count = self.num_declared_frames.unwrap_or(usize::MAX);
        self.frames().take(count)
    }

    /// Returns the default pose `X_WB` of a body that no joint of the model connects towards the
    /// world; the identity if none was set.
    pub fn default_free_body_pose(&self, body: BodyIndex) -> Isometry3<f64> {
        let joint = self.inboard_joint(body);
        let joint = joint.map(|j| &self.joints[j.index()]);
        if let Some(joint) = joint.filter(|j| j.is_ephemeral())
            && joint.kind == JointKind::QuaternionFloating
            && let [w, x, y, z, px, py, pz] = *joint.default_positions
            && let Some(r) = math::quaternion_wxyz([w, x, y, z])
        {
            return math::pose(r, Vector3::new(px, py, pz));
        }
        self.default_free_poses[body.index()].unwrap_or_default()
    }

    /// Returns the bodies that no joint of the model connects towards the world.
    pub fn free_bodies(&self) -> Vec<BodyIndex> {
        if self.is_finalized() {
            let free = self.joints.iter().filter(|j| j.is_ephemeral());
            return free.map(|j| j.child).collect();
        }
        let bodies = (1..self.bodies.len()).map(BodyIndex::new);
        bodies.filter(|b| !self.is_child(*b)).collect()
    }

    /// Returns the collision filter groups of model files.
    pub fn filter_groups(&self) -> &[CollisionFilterGroup] {
        &self.filter_groups
    }
    /// Returns the pairs of [`Self::exclude_collisions_between`].
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
}
