//! Reports of elements that a format does not have.

use super::document::ModelDocument;
use super::format::OutputFormat;
use super::subjects;
use nalgebra::{Isometry3, Vector3};
use tarragon_multibody::{AffineControl, JointActuator, JointIndex};

/// Gravity of a plant to which nothing was set (m/s^2).
pub(crate) const STANDARD_GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

impl ModelDocument<'_> {
    /// Reports default positions other than zero of the joints that are written.
    pub(crate) fn report_default_positions(&mut self, written: impl Fn(JointIndex) -> bool) {
        let plant = self.plant;
        let is_moved = |j: &JointIndex| {
            let joint = &plant[*j];
            !joint.is_ephemeral() && joint.default_positions() != joint.kind().zero_positions()
        };
        let joints = (0..plant.num_joints()).map(JointIndex::new);
        let moved: Vec<&str> = joints
            .filter(|j| written(*j) && is_moved(j))
            .map(|j| plant[j].name())
            .collect();
        self.leave_each_out("default positions of joint", &moved);
    }

    /// Reports default poses of free bodies.
    pub(crate) fn report_default_poses(&mut self) {
        let plant = self.plant;
        let free = plant.free_bodies();
        let placed: Vec<&str> = free
            .into_iter()
            .filter(|b| plant.default_free_body_pose(*b) != Isometry3::identity())
            .map(|b| plant[b].name())
            .collect();
        self.leave_each_out("default pose of body", &placed);
    }

    pub(crate) fn report_cameras(&mut self) {
        let plant = self.plant;
        let names: Vec<&str> = plant.model_cameras().iter().map(|c| &*c.name).collect();
        self.leave_each_out("camera", &names);
    }

    /// Reports deformable bodies, skins, sites, keyframes and equalities.
    pub(crate) fn report_the_rest(&mut self) {
        let plant = self.plant;
        let names: Vec<&str> = plant.deformable_bodies().iter().map(|b| b.name()).collect();
        self.leave_each_out("deformable body", &names);
        let names = self
            .skins()
            .into_iter()
            .map(|(id, _)| self.geometry_name(id));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        self.leave_each_out("skin", &names);
        let names: Vec<&str> = plant.sites().iter().map(|s| s.name()).collect();
        self.leave_each_out("site", &names);
        let names: Vec<&str> = plant.keyframes().iter().map(|k| &*k.name).collect();
        self.leave_each_out("keyframe", &names);
        let names: Vec<&str> = plant.model_equalities().iter().map(|e| &*e.name).collect();
        self.leave_each_out("equality", &names);
        self.report_mujoco();
    }

    /// Reports what only MJCF has.
    fn report_mujoco(&mut self) {
        let (plant, format) = (self.plant, self.format.name());
        let joints = || plant.joints().map(|(_, joint)| joint);
        let actuators = || plant.actuators().iter();
        let own_inertia = joints().filter(|j| j.armature() != 0.0).map(|j| j.name());
        let dry = joints().filter(|j| j.dry_friction() != 0.0);
        let dry = dry.map(|j| j.name());
        // Those of spatial tendons are left out as a whole.
        let controlled = actuators().filter(|a| a.joint().is_some() && has_own_control(a));
        let controlled = controlled.map(|a| a.name());
        let coupled = actuators().filter(|a| !a.coupled_joints().is_empty());
        let coupled = coupled.map(|a| a.name());
        let lifted = plant.bodies().map(|(_, body)| body);
        let lifted = lifted.filter(|b| b.gravity_compensation() != 0.0);
        let sensors = plant.model_sensors().iter().map(|s| &*s.name);
        let named: [(&str, Vec<&str>); 6] = [
            ("armature of joint", own_inertia.collect()),
            ("dry friction of joint", dry.collect()),
            ("control of actuator", controlled.collect()),
            ("further joints of actuator", coupled.collect()),
            ("sensor", sensors.collect()),
            (
                "gravity compensation of body",
                lifted.map(|b| b.name()).collect(),
            ),
        ];
        for (what, names) in named {
            self.leave_each_out(what, &names);
        }
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let is_active = plant.is_default_constraint_active(number).unwrap_or(true);
            if !is_active && !self.lost_constraints.contains(&number) {
                let (what, names) = subjects::of_constraint(plant, constraint);
                let names = names.join("', '");
                self.warn(format!(
                    "{what} '{names}': it is off in the plant, and on where the file is read, \
                     because {format} has no element for it"
                ));
            }
        }
        let pairs = plant.contact_pairs().len();
        if pairs > 0 {
            self.warn(format!(
                "collision filters: {pairs} pairs of geometries that collide in any case are left \
                 out, because {format} has none"
            ));
        }
        if plant.masks_exclude_any() {
            self.warn(format!(
                "collision filters: masks of geometries are left out, because {format} has none"
            ));
        }
    }

    /// Reports gravity that a format without gravity loses.
    pub(crate) fn report_gravity(&mut self) {
        let (plant, format) = (self.plant, self.format.name());
        let gravity = plant.gravity();
        if gravity != STANDARD_GRAVITY {
            let g = gravity.as_slice();
            let cure = match self.format {
                OutputFormat::Sdf => "write it into the <world> that includes the model",
                _ => "set it where the file is loaded, or convert to MJCF",
            };
            self.warn(format!(
                "gravity: {g:?} m/s^2 is left out, because a model in {format} has no gravity; \
                 {cure}"
            ));
        }
        self.report_weightless();
    }

    /// Reports model instances without gravity.
    pub(crate) fn report_weightless(&mut self) {
        let plant = self.plant;
        let names: Vec<&str> = plant
            .weightless_instances()
            .filter_map(|i| plant.model_instance_name(i).ok())
            .collect();
        self.leave_each_out("absence of gravity on model instance", &names);
    }
}

/// Returns true if the input of an actuator is anything but an effort with one limit.
fn has_own_control(actuator: &JointActuator) -> bool {
    let limit = actuator.effort_limit();
    let motor = AffineControl::motor();
    actuator.affine_control().is_some_and(|control| {
        let force = AffineControl {
            effort_range: motor.effort_range,
            ..*control
        };
        force != motor || actuator.effort_range() != [-limit, limit]
    })
}
