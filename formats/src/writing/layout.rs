//! Layout of bodies: their poses where all joints are at the identity.

use nalgebra::Isometry3;
use tarragon_multibody::{BodyIndex, Joint, JointIndex, JointKind, MultibodyPlant};

/// Pose of a body in the body that it is placed relative to.
#[derive(Clone, Copy)]
pub(crate) struct BodyPlacement {
    pub(crate) base: BodyIndex,
    pub(crate) x_base_body: Isometry3<f64>,
    /// Pose in the world.
    pub(crate) x_wb: Isometry3<f64>,
}

/// Bodies in the order of their placement, and how each is placed. Free bodies are placed in the
/// world at their default poses.
pub(crate) struct Layout {
    pub(crate) placements: Vec<Option<BodyPlacement>>,
    /// Bodies behind the world, bases before what is placed relative to them.
    pub(crate) order: Vec<BodyIndex>,
}

impl Layout {
    pub(crate) fn new(plant: &MultibodyPlant) -> Self {
        let mut joints_of: Vec<Vec<JointIndex>> = vec![vec![]; plant.num_bodies()];
        for (index, joint) in plant.joints().filter(|(_, j)| !j.is_ephemeral()) {
            joints_of[joint.parent_body().index()].push(index);
            joints_of[joint.child_body().index()].push(index);
        }
        let mut layout = Self {
            placements: vec![None; plant.num_bodies()],
            order: vec![],
        };
        layout.placements[0] = Some(BodyPlacement {
            base: BodyIndex::WORLD,
            x_base_body: Isometry3::identity(),
            x_wb: Isometry3::identity(),
        });
        layout.spread(plant, &joints_of, BodyIndex::WORLD);
        let all = (1..plant.num_bodies()).map(BodyIndex::new);
        for body in plant.free_bodies().into_iter().chain(all) {
            if layout.placements[body.index()].is_none() {
                let x_wb = plant.default_free_body_pose(body);
                layout.place(body, BodyIndex::WORLD, x_wb, Isometry3::identity());
                layout.spread(plant, &joints_of, body);
            }
        }
        layout
    }

    fn place(
        &mut self,
        body: BodyIndex,
        base: BodyIndex,
        x_base_body: Isometry3<f64>,
        x_w_base: Isometry3<f64>,
    ) {
        self.placements[body.index()] = Some(BodyPlacement {
            base,
            x_base_body,
            x_wb: x_w_base * x_base_body,
        });
        self.order.push(body);
    }

    /// Places everything that joints connect to a body.
    fn spread(&mut self, plant: &MultibodyPlant, joints_of: &[Vec<JointIndex>], from: BodyIndex) {
        let mut open = vec![from];
        while let Some(body) = open.pop() {
            let x_wb = self.x_wb(body);
            for joint in joints_of[body.index()].iter().map(|j| &plant[*j]) {
                let x_pc = across(joint);
                let (other, x) = if joint.parent_body() == body {
                    (joint.child_body(), x_pc)
                } else {
                    (joint.parent_body(), x_pc.inverse())
                };
                if self.placements[other.index()].is_none() {
                    self.place(other, body, x, x_wb);
                    open.push(other);
                }
            }
        }
    }

    /// Returns the pose of a body in the world.
    pub(crate) fn x_wb(&self, body: BodyIndex) -> Isometry3<f64> {
        self.placements[body.index()].map_or(Isometry3::identity(), |p| p.x_wb)
    }
}

/// Returns the pose of the child in the parent while M is at F, or where a weld has it.
fn across(joint: &Joint) -> Isometry3<f64> {
    let x_fm = match joint.kind() {
        JointKind::Weld { x_fm } => *x_fm,
        _ => Isometry3::identity(),
    };
    joint.pose_on_parent() * x_fm * joint.pose_on_child().inverse()
}
