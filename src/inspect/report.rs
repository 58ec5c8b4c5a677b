//! The parsed model as JSON, with the field names of the reference set's records.

use nalgebra::Isometry3;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use tarragon::documents::Diagnostic;
use tarragon::formats::MjcfSemantics;
use tarragon::multibody::{
    BodyIndex, FrameIndex, Joint, JointKind, ModelInstanceIndex, MultibodyPlant, TendonPart,
};
use tarragon::prelude::*;

/// A parsed model with everything derived from it.
pub(super) struct Inspected {
    pub(super) plant: MultibodyPlant,
    pub(super) scene: SceneGraph,
    pub(super) models: Vec<ModelInstanceIndex>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Reading of MJCF files, if any was read.
    pub(super) mjcf_semantics: Option<MjcfSemantics>,
}

/// A number as JSON. Numbers that JSON lacks become text: `inf`, `-inf`, `nan`.
pub(super) fn number(x: f64) -> Value {
    if x.is_nan() {
        "nan".into()
    } else if x.is_infinite() {
        if x > 0.0 { "inf" } else { "-inf" }.into()
    } else {
        x.into()
    }
}

pub(super) fn numbers<'a>(list: impl IntoIterator<Item = &'a f64>) -> Value {
    list.into_iter().map(|x| number(*x)).collect()
}

/// `[qw, qx, qy, qz, x, y, z]` with qw >= 0.
pub(super) fn pose(x: &Isometry3<f64>) -> Value {
    let (q, p) = (x.rotation, x.translation.vector);
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    let turned = [q.w, q.i, q.j, q.k].map(|c| sign * c);
    numbers(turned.iter().chain(p.iter()))
}

impl Inspected {
    pub(super) fn model_name(&self, instance: ModelInstanceIndex) -> String {
        let name = self.plant.model_instance_name(instance);
        name.map(str::to_string).unwrap_or_default()
    }
    /// `model::body`.
    pub(super) fn body_name(&self, body: BodyIndex) -> Result<String, Box<dyn Error>> {
        let body = self.plant.body(body)?;
        Ok(format!(
            "{}::{}",
            self.model_name(body.model_instance()),
            body.name()
        ))
    }

    fn deformable_bodies(&self) -> Vec<Value> {
        let bodies = self.plant.deformable_bodies().iter();
        let described = bodies.map(|body| {
            let config = body.config();
            json!({
                "name": body.name(),
                "model": self.model_name(body.model_instance()),
                "num_vertices": body.num_vertices(),
                "num_elements": body.num_elements(),
                "mass": number(body.mass()),
                "material_model": format!("{:?}", config.material_model),
                "youngs_modulus": number(config.youngs_modulus),
                "poissons_ratio": number(config.poissons_ratio),
                "mass_density": number(config.mass_density),
                "mass_damping": number(config.mass_damping_coefficient),
                "stiffness_damping": number(config.stiffness_damping_coefficient),
            })
        });
        described.collect()
    }

    /// The report without its samples.
    pub(super) fn report(&self) -> Result<Map<String, Value>, Box<dyn Error>> {
        let plant = &self.plant;
        let texts: Vec<String> = self.diagnostics.iter().map(|d| d.to_string()).collect();
        let returned = self.models.iter().map(|m| self.model_name(*m));
        let candidates = self.collision_candidates()?;
        let groups: BTreeMap<&str, Vec<String>> = plant
            .collision_filter_groups()
            .map(|(name, members)| {
                let names = members.iter().map(|b| self.body_name(*b));
                let mut names = names.collect::<Result<Vec<_>, _>>()?;
                names.sort();
                Ok((name, names))
            })
            .collect::<Result<_, Box<dyn Error>>>()?;
        let mut exclusions: Vec<[&str; 2]> = plant
            .collision_filter_exclusions()
            .map(|(a, b)| if a <= b { [a, b] } else { [b, a] })
            .collect();
        exclusions.sort_unstable();
        exclusions.dedup();
        let springs = plant.force_elements().iter().map(|f| f.type_name());
        let force_elements: Vec<&str> = ["UniformGravityFieldElement"]
            .into_iter()
            .chain(springs)
            .collect();
        let report = json!({
            "ok": true,
            "stage": "done",
            "model_instances_returned": returned.collect::<Vec<_>>(),
            "warnings": texts,
            "num_warnings": texts.len(),
            "num_model_instances": plant.num_model_instances(),
            "model_instances": plant.model_instance_names(),
            "num_bodies": plant.num_bodies(),
            "num_joints": plant.num_joints(),
            "num_frames": plant.num_frames(),
            "num_positions": plant.num_positions(),
            "num_velocities": plant.num_velocities(),
            "num_actuators": plant.actuators().len(),
            "num_actuated_dofs": plant.actuators().len(),
            "num_constraints": plant.constraints().len(),
            "constraints": self.constraints_as_json()?,
            "equalities": self.equalities_as_json()?,
            "inactive_constraints": self.inactive_constraints()?,
            "num_force_elements": force_elements.len(),
            "gravity": numbers(&plant.gravity()),
            "bodies": self.bodies()?,
            "deformable_bodies": self.deformable_bodies(),
            "world_body_name": plant.body(BodyIndex::WORLD)?.name(),
            "joints": self.joints()?,
            "actuators": self.actuators()?,
            "frames": self.frames()?,
            "force_elements": force_elements,
            "geometries": self.geometries()?,
            "num_geometries_by_role": self.num_geometries_by_role(),
            "num_collision_candidates": candidates.len(),
            "collision_candidates": candidates,
            "collision_filter_groups": groups,
            "collision_filter_exclusions": exclusions,
            "total_mass": number(plant.calc_total_mass()),
            "default_positions": numbers(&plant.default_positions()),
            "position_names": plant.position_names(),
            "velocity_names": plant.velocity_names(),
            "keyframes": self.keyframes()?,
            "cameras": self.cameras()?,
            "sites": self.sites()?,
        });
        match report {
            Value::Object(fields) => Ok(fields),
            _ => unreachable!("`json!` made an object"),
        }
    }

    /// Indices of the constraints that are off in a default context.
    pub(super) fn inactive_constraints(&self) -> Result<Vec<usize>, Box<dyn Error>> {
        let mut inactive = vec![];
        for k in 0..self.plant.constraints().len() {
            if !self.plant.is_default_constraint_active(k)? {
                inactive.push(k);
            }
        }
        Ok(inactive)
    }

    fn bodies(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let body = |(index, body): (BodyIndex, &tarragon::multibody::RigidBody)| {
            let mut found = json!({
                "name": body.name(),
                "model": self.model_name(body.model_instance()),
            });
            if index != BodyIndex::WORLD {
                let m = body.spatial_inertia();
                let i = m.rotational_inertia();
                found["mass"] = number(m.mass());
                found["com"] = numbers(&m.center_of_mass());
                found["I_BBo_B_moments"] = numbers(&[i[(0, 0)], i[(1, 1)], i[(2, 2)]]);
                found["I_BBo_B_products"] = numbers(&[i[(0, 1)], i[(0, 2)], i[(1, 2)]]);
                found["floating_base"] = self.plant.is_floating_base(index).into();
            }
            Ok(found)
        };
        self.plant.bodies().map(body).collect()
    }

    fn joints(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut joints = vec![];
        for (index, joint) in self.plant.joints() {
            let mut found = json!({
                "name": joint.name(),
                "model": self.model_name(joint.model_instance()),
                "type": joint.kind().type_name(),
                "parent": self.body_name(joint.parent_body())?,
                "child": self.body_name(joint.child_body())?,
                "X_PF": pose(joint.pose_on_parent()),
                "X_BM": pose(joint.pose_on_child()),
                "frame_on_parent": self.frame_name(joint.frame_on_parent()),
                "frame_on_child": self.frame_name(joint.frame_on_child()),
                "nq": joint.num_positions(),
                "nv": joint.num_velocities(),
                "q_start": self.plant.position_start(index)?,
                "v_start": self.plant.velocity_start(index)?,
                "lower": numbers(joint.position_lower_limits()),
                "upper": numbers(joint.position_upper_limits()),
                "v_lower": numbers(joint.velocity_lower_limits()),
                "v_upper": numbers(joint.velocity_upper_limits()),
                "a_lower": numbers(joint.acceleration_lower_limits()),
                "a_upper": numbers(joint.acceleration_upper_limits()),
                "damping": numbers(joint.damping()),
                "armature": number(joint.armature()),
                "dry_friction": number(joint.dry_friction()),
                "default_q": numbers(joint.default_positions()),
                "ephemeral": joint.is_ephemeral(),
            });
            if let Some(axis) = joint.kind().axis() {
                found["axis"] = numbers(axis.as_ref());
            }
            if let JointKind::Screw { pitch, .. } = joint.kind() {
                found["screw_pitch"] = number(*pitch);
            }
            joints.push(found);
        }
        Ok(joints)
    }

    fn frame_name(&self, frame: Option<FrameIndex>) -> Option<&str> {
        Some(self.plant.frame(frame?).ok()?.name())
    }

    fn actuators(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut actuators = vec![];
        for actuator in self.plant.actuators() {
            let joint = actuator.joint();
            let joint = joint.map(|joint| self.plant.joint(joint)).transpose()?;
            let mut found = json!({
                "name": actuator.name(),
                "model": self.model_name(actuator.model_instance()),
                "joint": joint.map(Joint::name),
                "effort_limit": number(actuator.effort_limit()),
                "default_rotor_inertia": number(actuator.default_rotor_inertia()),
                "default_gear_ratio": number(actuator.default_gear_ratio()),
                "has_controller": actuator.controller_gains().is_some(),
            });
            if let Some(path) = actuator.path() {
                let sites = path.iter().filter_map(|part| match part {
                    TendonPart::Site { body, position } => Some((*body, position)),
                    _ => None,
                });
                let sites = sites.map(|(body, position)| {
                    let name = self.plant.body(body)?.name();
                    let position: Vec<Value> = position.iter().copied().map(number).collect();
                    Ok(json!({ "body": name, "position": position }))
                });
                found["sites"] = sites.collect::<Result<Vec<_>, Box<dyn Error>>>()?.into();
            }
            if !actuator.coupled_joints().is_empty() {
                let coupled = actuator.coupled_joints().iter();
                let coupled = coupled.map(|(joint, ratio)| {
                    let name = self.plant.joint(*joint)?.name();
                    Ok(json!({ "joint": name, "ratio": number(*ratio) }))
                });
                let coupled = coupled.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
                found["coupled_joints"] = coupled.into();
            }
            if let Some(gains) = actuator.controller_gains() {
                (found["kp"], found["kd"]) = (number(gains.p), number(gains.d));
            }
            if let Some(control) = actuator.affine_control() {
                found["control"] = json!({
                    "gear": number(control.gear),
                    "gain": control.gain.map(number),
                    "bias": control.bias.map(number),
                    "range": control.control_range.map(number),
                    "effort_range": control.effort_range.map(number),
                });
            }
            actuators.push(found);
        }
        Ok(actuators)
    }

    fn frames(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut frames = vec![];
        for (_, frame) in self.plant.frames() {
            frames.push(json!([
                self.model_name(frame.model_instance()),
                frame.name(),
                self.body_name(frame.body())?,
                pose(frame.pose_in_body()),
            ]));
        }
        Ok(frames)
    }

    fn keyframes(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut keyframes = vec![];
        for keyframe in self.plant.keyframes() {
            let mut positions = Map::new();
            for (joint, q) in &keyframe.positions {
                let name = self.plant.joint(*joint)?.name();
                positions.insert(name.into(), numbers(q));
            }
            let mut free_poses = Map::new();
            for (body, x_wb) in &keyframe.free_poses {
                free_poses.insert(self.body_name(*body)?, pose(x_wb));
            }
            keyframes.push(json!({
                "name": keyframe.name,
                "model": self.model_name(keyframe.model_instance),
                "positions": positions,
                "free_poses": free_poses,
            }));
        }
        Ok(keyframes)
    }

    fn cameras(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut cameras = vec![];
        for camera in self.plant.model_cameras() {
            let frame = self.plant.frame(camera.frame)?;
            cameras.push(json!({
                "name": camera.name,
                "body": self.body_name(frame.body())?,
                "X_BC": pose(&(frame.pose_in_body() * camera.x_fc)),
                "width": camera.width,
                "height": camera.height,
                "fov_y": camera.fov_y,
                "near": camera.near,
                "far": camera.far,
            }));
        }
        Ok(cameras)
    }

    fn sites(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut sites = vec![];
        for site in self.plant.sites() {
            sites.push(json!([
                self.model_name(site.model_instance()),
                site.name(),
                self.body_name(site.body())?,
                pose(site.pose_in_body()),
            ]));
        }
        Ok(sites)
    }
}
