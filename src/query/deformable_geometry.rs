//! Lines that describe one deformable geometry.

use super::Answered;
use super::fields::Fields;
use super::number::{Double, Number};
use super::scene::MeshFiles;
use nalgebra::{DVector, Isometry3, Vector3};
use serde::Serialize;
use serde_json::Value;
use tarragon::geometry::mesh::convert_volume_to_surface_mesh;
use tarragon::geometry::{EmbeddedPoints, GeometryConfigurationVector, QueryObject, Shape};
use tarragon::prelude::*;

/// Name of the field that a line has.
pub(super) const PLACE: &str = "deformable_geometry";

/// A deformable geometry and questions about it.
pub(super) struct GeometryRequest {
    shape: Shape,
    hint: f64,
    configuration: Option<Vec<Vector3<f64>>>,
    points: Option<Vec<Vector3<f64>>>,
}

#[derive(Serialize)]
struct GeometryJson {
    vertices: usize,
    elements: usize,
    surface_vertices: usize,
    surface_triangles: usize,
    volume: Double,
    #[serde(skip_serializing_if = "Option::is_none")]
    aabb: Option<[[Double; 3]; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    driven_points: Option<Vec<Double>>,
}

/// One line of the output.
#[derive(Serialize)]
struct DeformableAnswerJson {
    deformable_geometry: GeometryJson,
    error: Option<String>,
}

impl GeometryRequest {
    /// Parses the field of a line.
    pub(super) fn parse(value: Value, meshes: &MeshFiles) -> Result<Self, String> {
        let mut fields = Fields::new(value, PLACE, format!("{PLACE}."))?;
        let shape = fields.shape("shape", meshes)?;
        let hint = fields.optional_number("resolution_hint")?.unwrap_or(1.0);
        let configuration = fields.points("configuration")?;
        let points = fields.points("points")?;
        if points.is_some() && configuration.is_none() {
            return Err(format!(
                "{}: this field is missing; `points` need it",
                fields.path("configuration")
            ));
        }
        fields.finish()?;
        Ok(Self {
            shape,
            hint,
            configuration,
            points,
        })
    }

    /// Answers the line.
    pub(super) fn answer(self) -> Result<Answered, String> {
        let answer = DeformableAnswerJson {
            deformable_geometry: self.describe().map_err(|e| e.to_string())?,
            error: None,
        };
        Ok(Answered {
            json: serde_json::to_string(&answer).map_err(|e| e.to_string())?,
            failed: false,
        })
    }

    fn describe(self) -> Result<GeometryJson, Error> {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("line")?;
        let instance = GeometryInstance::new(Isometry3::identity(), self.shape, PLACE)?;
        let world = graph.world_frame_id();
        let id = graph.register_deformable_geometry(source, world, instance, self.hint)?;
        let mesh = graph.model_inspector().reference_mesh(id)?.clone();
        let surface = convert_volume_to_surface_mesh(&mesh)?;
        let mut answer = GeometryJson {
            vertices: mesh.num_vertices(),
            elements: mesh.num_elements(),
            surface_vertices: surface.num_vertices(),
            surface_triangles: surface.num_triangles(),
            volume: mesh.calc_volume().json(),
            aabb: None,
            driven_points: None,
        };
        let Some(configuration) = self.configuration else {
            return Ok(answer);
        };
        let mut builder = DiagramBuilder::new();
        let ports = builder.add("scene_graph", graph);
        let mut ctx = builder.build()?.default_context();
        let flat = configuration.iter().flat_map(|p| [p.x, p.y, p.z]);
        let flat = DVector::from_vec(flat.collect());
        let all = GeometryConfigurationVector::from_iter([(id, flat)]);
        ctx.fix(ports.source_configuration_port(source)?, all)?;
        let query: &QueryObject<f64> = ctx.eval(ports.query)?;
        let bounds = query.compute_aabb_in_world(id)?;
        answer.aabb = bounds.map(|b| [b.lower(), b.upper()].map(|p| f64::vector(&p)));
        if let Some(points) = self.points {
            let points = EmbeddedPoints::new(query.inspector().reference_mesh(id)?, &points)?;
            let driven = points.positions(query.configurations_in_world(id)?.as_slice())?;
            let driven = driven.iter().flatten().map(|x| x.json());
            answer.driven_points = Some(driven.collect());
        }
        Ok(answer)
    }
}
