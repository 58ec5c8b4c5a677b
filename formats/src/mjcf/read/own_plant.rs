//! The bodies and joints of a document in a plant of their own, so that the work for a document
//! does not grow with the models before it.

use super::builder::MjcfBuilder;
use tarragon_multibody::{
    BodyIndex, JointIndex, ModelInstanceIndex, MultibodyPlant, MultibodyPlantBuilder,
};

/// Returns the index of a joint among those from `first` on.
pub(super) fn joint_after(joint: JointIndex, first: JointIndex) -> JointIndex {
    JointIndex::new(joint.index() - first.index())
}

impl MjcfBuilder<'_, '_, '_> {
    /// Returns the index in [`Self::own_plant`] of a body of the document or the world.
    pub(super) fn own_body(&self, body: BodyIndex) -> BodyIndex {
        match body {
            BodyIndex::WORLD => body,
            body => BodyIndex::new(body.index() - self.first_body.index() + 1),
        }
    }

    /// Returns the index in [`Self::own_plant`] of a joint of the document.
    pub(super) fn own_joint(&self, joint: JointIndex) -> JointIndex {
        joint_after(joint, self.first_joint)
    }

    /// Returns a plant of the bodies and joints that have been added for the document.
    pub(super) fn own_plant(&self) -> crate::Result<MultibodyPlant> {
        let (all, mut own) = (&self.target.plant, MultibodyPlantBuilder::new(0.0)?);
        for index in self.first_body.index()..all.num_bodies() {
            let body = BodyIndex::new(index);
            let inertia = *all.body(body)?.spatial_inertia();
            let name = index.to_string();
            let added = own.add_rigid_body(&name, ModelInstanceIndex::DEFAULT, inertia)?;
            own.set_default_free_body_pose(added, all.default_free_body_pose(body))?;
        }
        for (index, joint) in all.joints().skip(self.first_joint.index()) {
            let (x_pf, x_bm) = (*joint.pose_on_parent(), *joint.pose_on_child());
            let [parent, child] = [joint.parent_body(), joint.child_body()];
            let joint = joint.clone().with_pose_on_parent(x_pf);
            let joint = joint.with_pose_on_child(x_bm);
            let joint = joint.with_name(index.index().to_string());
            let joint = joint.with_model_instance(ModelInstanceIndex::DEFAULT);
            own.add_joint(joint.with_bodies(self.own_body(parent), self.own_body(child)))?;
        }
        own.build()
    }
}
