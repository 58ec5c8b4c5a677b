//! A model at given positions: poses, masses, gravity and contacts.

use super::report::{Inspected, number, numbers, pose};
use nalgebra::DVector;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use tarragon::framework::counted;
use tarragon::geometry::{FramePoseVector, GeometryConfigurationVector, GeometryId, QueryObject};
use tarragon::multibody::{BodyIndex, PositionKinematics};
use tarragon::prelude::*;

/// Largest signed distance that is printed (m).
const MAX_DISTANCE: f64 = 0.05;

/// Positions by `model::joint`.
pub(super) type Positions = BTreeMap<String, Vec<f64>>;

/// Reads a file of positions.
pub(super) fn read(file: &Path) -> Result<Vec<Positions>, Box<dyn Error>> {
    let place = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let text = std::fs::read(file).map_err(|e| place(&e))?;
    let samples = serde_json::from_slice(&text).map_err(|e| {
        let expected =
            "the file must hold a JSON array of objects from `model::joint` to a list of positions";
        format!("{}; {expected}", place(&e))
    });
    Ok(samples?)
}

impl Inspected {
    /// One JSON object per set of positions.
    pub(super) fn samples(&self, positions: &[Positions]) -> Result<Vec<Value>, Box<dyn Error>> {
        let mut builder = DiagramBuilder::new();
        let ports = builder.add("scene_graph", self.scene.clone());
        let diagram = builder.build()?;
        let places = self.places();
        let mut samples = vec![];
        for (i, positions) in positions.iter().enumerate() {
            let q = self
                .positions(positions)
                .map_err(|e| format!("positions of --q, object {}: {e}", i + 1))?;
            let kinematics = self.plant.calc_position_kinematics(&q)?;
            let mut sample = self.kinematics(&q, &kinematics)?;
            let mut ctx = diagram.default_context();
            if let Some(source) = self.plant.source_id() {
                let frames = self.plant.bodies().map(|(body, _)| body).skip(1);
                let frames = frames.filter_map(|b| Some((self.plant.body_frame_id(b)?, b)));
                let poses = frames.map(|(frame, body)| (frame, *kinematics.x_wb(body)));
                let poses: FramePoseVector<f64> = poses.collect();
                ctx.fix(ports.source_pose_port(source)?, poses)?;
                let bodies = self.plant.deformable_bodies().iter();
                let at_rest = bodies.map(|body| {
                    let q = body.reference_positions().iter();
                    let q: Vec<f64> = q.flat_map(|p| [p.x, p.y, p.z]).collect();
                    (body.geometry_id(), DVector::from_vec(q))
                });
                let at_rest: GeometryConfigurationVector<f64> = at_rest.collect();
                if !at_rest.is_empty() {
                    ctx.fix(ports.source_configuration_port(source)?, at_rest)?;
                }
            }
            contacts(ctx.eval(ports.query)?, &places, &mut sample)?;
            samples.push(Value::Object(sample));
        }
        Ok(samples)
    }

    /// The default positions, overridden by the given ones.
    fn positions(&self, given: &Positions) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut q = self.plant.default_positions();
        for (name, positions) in given {
            let index = self.joint(name)?;
            let joint = self.plant.joint(index)?;
            if joint.num_positions() != positions.len() {
                return Err(format!(
                    "joint '{name}' must have {positions}, got {}",
                    positions.len(),
                    positions = counted(joint.num_positions(), "position")
                )
                .into());
            }
            let start = self.plant.position_start(index)?;
            q[start..start + positions.len()].copy_from_slice(positions);
        }
        Ok(q)
    }

    fn joint(&self, name: &str) -> Result<tarragon::multibody::JointIndex, Box<dyn Error>> {
        // Joint names may contain `::` themselves.
        let scoped = self.plant.joints().find(|(_, joint)| {
            let model = self.model_name(joint.model_instance());
            name.strip_prefix(&model).and_then(|n| n.strip_prefix("::")) == Some(joint.name())
        });
        match scoped {
            Some((index, _)) => Ok(index),
            None => Ok(self.plant.joint_by_name(name)?),
        }
    }

    fn kinematics(
        &self,
        q: &[f64],
        kinematics: &PositionKinematics<f64>,
    ) -> Result<Map<String, Value>, Box<dyn Error>> {
        let plant = &self.plant;
        let mut poses = Map::new();
        for (i, x_wb) in kinematics.body_poses().iter().enumerate() {
            let body = plant.bodies().nth(i).map_or(BodyIndex::WORLD, |(b, _)| b);
            poses.insert(self.body_name(body)?, pose(x_wb));
        }
        let com = if plant.calc_total_mass() > 0.0 {
            numbers(&plant.calc_center_of_mass_position_in_world(kinematics)?)
        } else {
            Value::Null
        };
        let mass_matrix = plant.calc_mass_matrix(kinematics)?;
        let gravity = plant.calc_gravity_generalized_forces(kinematics)?;
        let norm = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let fields = json!({
            "q": numbers(q),
            "X_WB": poses,
            "com_W": com,
            "mass_matrix_trace": number(mass_matrix.trace()),
            "mass_matrix_diag": numbers(&mass_matrix.diagonal()),
            "mass_matrix_fro": number(mass_matrix.norm()),
            "gravity_forces": numbers(&gravity),
            "gravity_norm": number(norm),
        });
        match fields {
            Value::Object(fields) => Ok(fields),
            _ => unreachable!("`json!` made an object"),
        }
    }
}

/// Adds penetrations and signed distances between geometries, given by index.
fn contacts(
    query: &QueryObject<f64>,
    places: &BTreeMap<GeometryId, usize>,
    sample: &mut Map<String, Value>,
) -> Result<(), Box<dyn Error>> {
    let place = |id| {
        places
            .get(&id)
            .copied()
            .ok_or("a contact refers to an unknown geometry")
    };
    match query.compute_point_pair_penetration() {
        Ok(found) => {
            let mut pairs = vec![];
            for p in found {
                let (a, b) = (place(p.id_a)?, place(p.id_b)?);
                let vectors = [&p.nhat_ba_w, &p.p_wca, &p.p_wcb].map(numbers);
                let [n, ca, cb] = vectors;
                pairs.push(json!([a, b, number(p.depth), n, ca, cb]));
            }
            sample.insert("num_penetration".into(), pairs.len().into());
            sample.insert("penetration".into(), pairs.into());
        }
        Err(error) => {
            sample.insert("penetration_error".into(), error.to_string().into());
        }
    }
    match query.compute_signed_distance_pairwise_closest_points(MAX_DISTANCE) {
        Ok(found) => {
            let mut pairs = vec![];
            for p in found {
                let (a, b) = (place(p.id_a)?, place(p.id_b)?);
                let vectors = [&p.nhat_ba_w, &p.p_aca, &p.p_bcb].map(numbers);
                let [n, ca, cb] = vectors;
                pairs.push(json!([a, b, number(p.distance), n, ca, cb]));
            }
            sample.insert("num_signed_distance".into(), pairs.len().into());
            sample.insert("signed_distance".into(), pairs.into());
        }
        Err(error) => {
            sample.insert("signed_distance_error".into(), error.to_string().into());
        }
    }
    Ok(())
}
