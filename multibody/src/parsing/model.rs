//! A model between file and plant: everything is read and checked before the plant is touched.

use super::input::Naming;
use super::target::{FilterGroup, Target};
use crate::body::FixedOffsetFrame;
use crate::collision_filters::CollisionFilterGroup;
use crate::constraint::CouplerConstraint;
use crate::error::{Error, Result};
use crate::geometry_registration::VisualProperties;
use crate::index::{BodyIndex, JointIndex, ModelInstanceIndex};
use crate::inertia::SpatialInertia;
use crate::joint::Joint;
use nalgebra::Isometry3;
use tarragon_geometry::{ProximityProperties, Shape};

/// One model. Bodies and joints refer to each other by their place in these lists; body 0 is the
/// world.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) bodies: Vec<Body>,
    pub(crate) frames: Vec<FixedOffsetFrame>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) actuators: Vec<Actuator>,
    pub(crate) couplers: Vec<CouplerConstraint>,
    /// Names are plain here.
    pub(crate) filter_groups: Vec<CollisionFilterGroup>,
}

#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) name: String,
    pub(crate) inertia: SpatialInertia,
    pub(crate) geometries: Vec<Geometry>,
}

#[derive(Debug)]
pub(crate) struct Geometry {
    pub(crate) name: String,
    pub(crate) x_bg: Isometry3<f64>,
    pub(crate) shape: Shape,
    pub(crate) role: Role,
    /// Line and column in the file.
    pub(crate) place: (u32, u32),
}

/// Why a model could not be added, and the line and column of what is to blame; zeros when that is
/// the model as a whole.
pub(crate) struct Failure {
    pub(crate) place: (u32, u32),
    pub(crate) error: Error,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            place: (0, 0),
            error,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Role {
    Visual(VisualProperties),
    Collision(ProximityProperties),
}

#[derive(Debug)]
pub(crate) struct Actuator {
    pub(crate) name: String,
    pub(crate) joint: JointIndex,
    pub(crate) effort_limit: f64,
    pub(crate) rotor_inertia: f64,
    pub(crate) gear_ratio: f64,
}

impl Model {
    /// A model with the world only.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            bodies: vec![Body {
                name: "world".into(),
                inertia: SpatialInertia::zero(),
                geometries: vec![],
            }],
            frames: vec![],
            joints: vec![],
            actuators: vec![],
            couplers: vec![],
            filter_groups: vec![],
        }
    }

    /// Adds the model to a plant, and its geometry to a scene.
    pub(crate) fn install(
        &self,
        naming: &Naming<'_>,
        target: &mut Target<'_>,
    ) -> Result<ModelInstanceIndex, Failure> {
        let name = naming.name.unwrap_or(&self.name);
        let instance = target.add_model_instance(naming.scope, name)?;
        let name = target.plant.model_instance_name(instance)?.to_string();
        let first = target.plant.num_bodies();
        let body = |local: BodyIndex| match local.index() {
            0 => BodyIndex::WORLD,
            i => BodyIndex::new(first + i - 1),
        };
        for b in &self.bodies[1..] {
            target.plant.add_rigid_body(&b.name, instance, b.inertia)?;
        }
        for (i, b) in self.bodies.iter().enumerate() {
            for g in &b.geometries {
                let registered = g.register(target, body(BodyIndex::new(i)));
                registered.map_err(|error| Failure {
                    place: g.place,
                    error,
                })?;
            }
        }
        let plant = &mut *target.plant;
        let first_joint = plant.num_joints();
        let joint = |local: JointIndex| JointIndex::new(first_joint + local.index());
        for mut j in self.joints.iter().cloned() {
            (j.parent, j.child) = (body(j.parent), body(j.child));
            plant.add_joint(j.with_model_instance(instance))?;
        }
        for mut frame in self.frames.iter().cloned() {
            frame.body = body(frame.body);
            plant.add_frame(frame.with_model_instance(instance))?;
        }
        for a in &self.actuators {
            let index = plant.add_joint_actuator(&a.name, joint(a.joint), a.effort_limit)?;
            plant.set_default_rotor(index, a.rotor_inertia, a.gear_ratio)?;
        }
        for mut c in self.couplers.iter().copied() {
            (c.joint0, c.joint1) = (joint(c.joint0), joint(c.joint1));
            plant.add_coupler_constraint(c)?;
        }
        for group in &self.filter_groups {
            let scoped = |group: &String| format!("{name}::{group}");
            target.add_collision_filter_group(FilterGroup {
                name: scoped(&group.name),
                members: group.members.iter().copied().map(body).collect(),
                member_groups: vec![],
                ignored: group.ignored.iter().map(scoped).collect(),
            });
        }
        Ok(instance)
    }
}

impl Geometry {
    fn register(&self, target: &mut Target<'_>, body: BodyIndex) -> Result<()> {
        let (x_bg, shape, name) = (self.x_bg, self.shape.clone(), &*self.name);
        match &self.role {
            Role::Visual(properties) => {
                target.register_visual(body, x_bg, shape, name, properties.clone())
            }
            Role::Collision(properties) => {
                target.register_collision(body, x_bg, shape, name, properties.clone())
            }
        }
    }
}
