//! Deformable geometry in scenes.

mod contact;
mod registration;
mod snapshots;

pub(crate) use self::snapshots::Plain;

use nalgebra::{DVector, Isometry3, Matrix3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::mesh::VolumeMesh;
use tarragon_geometry::{
    BoxShape, GeometryConfigurationVector, GeometryId, GeometryInstance, ProximityProperties,
    QueryObject, SceneGraph, Shape, SourceId, Sphere,
};

/// A scene with one source, and the configurations of its deformable geometry.
struct Scene {
    graph: SceneGraph,
    source: SourceId,
    configurations: GeometryConfigurationVector<f64>,
}

fn instance(shape: impl Into<Shape>, name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), shape, name).unwrap()
}

fn ball(name: &str) -> GeometryInstance {
    instance(Sphere::new(0.1).unwrap(), name).with_proximity(ProximityProperties::new())
}

impl Scene {
    fn new() -> Self {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("toys").unwrap();
        Self {
            graph,
            source,
            configurations: GeometryConfigurationVector::new(),
        }
    }

    /// Adds a deformable geometry, undeformed.
    fn deformable(&mut self, instance: GeometryInstance, hint: f64) -> GeometryId {
        let world = self.graph.world_frame_id();
        let graph = &mut self.graph;
        let id = graph.register_deformable_geometry(self.source, world, instance, hint);
        let id = id.unwrap();
        self.move_vertices(id, |p| *p);
        id
    }

    /// Adds an anchored box that deformable geometry can touch.
    fn block(&mut self, size: f64, at: [f64; 3], name: &str) -> GeometryId {
        let hard = ProximityProperties::new().with_compliant_hydroelastic(1e6);
        let hard = hard.unwrap().with_resolution_hint(1.0).unwrap();
        let mut block = instance(BoxShape::new(size, size, size).unwrap(), name);
        block.set_pose(Isometry3::translation(at[0], at[1], at[2]));
        let block = block.with_proximity(hard);
        (self.graph)
            .register_anchored_geometry(self.source, block)
            .unwrap()
    }

    fn reference(&self, id: GeometryId) -> &VolumeMesh {
        self.graph.model_inspector().reference_mesh(id).unwrap()
    }

    /// Sets a configuration: the vertices of the reference mesh in the world, moved.
    fn move_vertices(&mut self, id: GeometryId, f: impl Fn(&Vector3<f64>) -> Vector3<f64>) {
        let mut posed = self.reference(id).clone();
        posed.transform_vertices(self.graph.model_inspector().pose_in_frame(id).unwrap());
        let vertices = posed.vertices().iter();
        let moved: Vec<f64> = vertices.flat_map(|p| <[f64; 3]>::from(f(p))).collect();
        self.configurations.set_value(id, DVector::from_vec(moved));
    }

    fn query(&self) -> QueryObject<f64> {
        self.try_query().unwrap()
    }

    fn try_query(&self) -> tarragon_framework::Result<QueryObject<f64>> {
        let mut b = DiagramBuilder::new();
        let ports = b.add("scene_graph", self.graph.clone());
        let mut ctx = b.build()?.default_context();
        let port = ports.source_configuration_port(self.source)?;
        ctx.fix(port, self.configurations.clone())?;
        Ok(ctx.eval(ports.query)?.clone())
    }
}

/// Vertices of a configuration.
fn points(configuration: &DVector<f64>) -> Vec<Vector3<f64>> {
    let points = configuration.as_slice().chunks_exact(3);
    points.map(Vector3::from_column_slice).collect()
}

/// A map near the identity, from nine numbers of magnitude below 1.
fn near_identity(numbers: [f64; 9]) -> Matrix3<f64> {
    Matrix3::identity() + 0.3 * Matrix3::from_row_slice(&numbers)
}
