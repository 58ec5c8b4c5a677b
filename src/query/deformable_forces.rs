//! Lines that ask for the elastic forces of a deformable body.

use super::Answered;
use super::fields::Fields;
use super::number::{Double, Number};
use super::scene::MeshFiles;
use nalgebra::{Isometry3, Vector3};
use serde::Serialize;
use serde_json::Value;
use tarragon::fem::DeformableBodyConfig;
use tarragon::framework::counted;
use tarragon::geometry::Shape;
use tarragon::multibody::{MultibodyPlant, MultibodyPlantBuilder};
use tarragon::prelude::*;

/// Name of the field that a line has.
pub(super) const PLACE: &str = "deformable_forces";

/// Time step of the plant (s), which the forces do not depend on.
const TIME_STEP: f64 = 0.01;

/// A body in a configuration.
pub(super) struct ForcesRequest {
    shape: Shape,
    hint: f64,
    config: DeformableBodyConfig,
    previous: Option<Vec<Vector3<f64>>>,
    positions: Vec<Vector3<f64>>,
}

#[derive(Serialize)]
struct ForcesJson {
    energy: Double,
    force: Vec<Double>,
    mass: Double,
}

/// One line of the output.
#[derive(Serialize)]
struct ForcesAnswerJson {
    deformable_forces: ForcesJson,
    error: Option<String>,
}

impl ForcesRequest {
    /// Parses the field of a line.
    pub(super) fn parse(value: Value, meshes: &MeshFiles) -> Result<Self, String> {
        let mut fields = Fields::new(value, PLACE, format!("{PLACE}."))?;
        let request = Self {
            shape: fields.shape("shape", meshes)?,
            hint: fields.number_that("resolution_hint", 1.0, "positive (m)", |x| x > 0.0)?,
            config: fields.material("material")?,
            previous: fields.points("previous_positions")?,
            positions: fields
                .points("positions")?
                .ok_or_else(|| format!("{}: this field is missing", fields.path("positions")))?,
        };
        fields.finish()?;
        Ok(request)
    }

    /// Answers the line.
    pub(super) fn answer(self) -> Result<Answered, String> {
        let answer = ForcesAnswerJson {
            deformable_forces: self.forces()?,
            error: None,
        };
        Ok(Answered {
            json: serde_json::to_string(&answer).map_err(|e| e.to_string())?,
            failed: false,
        })
    }

    fn forces(self) -> Result<ForcesJson, String> {
        let (plant, body) = self.plant().map_err(|e| format!("{PLACE}: {e}"))?;
        let body = plant.deformable_body(body).map_err(|e| e.to_string())?;
        let previous = self.previous.as_ref().unwrap_or(&self.positions);
        for (name, list) in [
            ("positions", &self.positions),
            ("previous_positions", previous),
        ] {
            if list.len() != body.num_vertices() {
                return Err(format!(
                    "{PLACE}.{name} must have the coordinates of {vertices}, got {}",
                    list.len(),
                    vertices = counted(body.num_vertices(), "vertex")
                ));
            }
        }
        let found = body.calc_elastic_forces(previous, &self.positions);
        let (energy, forces) = found.map_err(|e| format!("{PLACE}: {e}"))?;
        Ok(ForcesJson {
            energy: energy.json(),
            force: forces.iter().flat_map(f64::vector).collect(),
            mass: body.mass().json(),
        })
    }

    fn plant(&self) -> Result<(MultibodyPlant, tarragon::multibody::DeformableBodyIndex)> {
        let (mut plant, mut scene) = (MultibodyPlantBuilder::new(TIME_STEP)?, SceneGraph::new());
        plant.register_as_source_for_scene_graph(&mut scene)?;
        let geometry = GeometryInstance::new(Isometry3::identity(), self.shape.clone(), "body")?
            .with_proximity(ProximityProperties::new());
        let config = &self.config;
        let body = plant.register_deformable_body(&mut scene, geometry, config, self.hint)?;
        Ok((plant.build()?, body))
    }
}
