//! A scene with deformable balls, whose vertices a test moves.

use nalgebra::{DVector, Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::{
    GeometryConfigurationVector, GeometryId, GeometryInstance, IllustrationProperties,
    PerceptionProperties, ProximityProperties, Rgba, Role, SceneGraph, SourceId, Sphere,
};

/// A diagram with a scene graph, to which a test adds visualizers.
pub(crate) struct SoftScene {
    pub(crate) builder: DiagramBuilder,
    pub(crate) graph: Block<SceneGraph>,
    pub(crate) source: SourceId,
    pub(crate) balls: Vec<GeometryId>,
}

/// Returns a ball with all roles; the colour is that of illustration.
pub(crate) fn soft_ball(name: &str, radius: f64, color: Option<[f64; 4]>) -> GeometryInstance {
    let mut seen = IllustrationProperties::new();
    if let Some([r, g, b, a]) = color {
        seen = seen.with_diffuse(Rgba::new(r, g, b, a).unwrap());
    }
    let sphere = Sphere::new(radius).unwrap();
    let ball = GeometryInstance::new(Isometry3::identity(), sphere, name).unwrap();
    let ball = ball.with_perception(PerceptionProperties::new());
    ball.with_illustration(seen)
        .with_proximity(ProximityProperties::new())
}

impl SoftScene {
    /// Creates a scene of balls with resolution hints (m).
    pub(crate) fn new(balls: impl IntoIterator<Item = (GeometryInstance, f64)>) -> Self {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("toys").unwrap();
        let world = graph.world_frame_id();
        let register = |(ball, hint)| {
            let id = graph.register_deformable_geometry(source, world, ball, hint);
            id.unwrap()
        };
        let balls = balls.into_iter().map(register).collect();
        let mut builder = DiagramBuilder::new();
        let graph = builder.add("scene_graph", graph);
        Self {
            builder,
            graph,
            source,
            balls,
        }
    }

    /// Builds the diagram, and returns it with a context in which nothing is deformed.
    pub(crate) fn build(self) -> Soft {
        let diagram = self.builder.build().unwrap();
        let mut soft = Soft {
            context: diagram.default_context(),
            diagram,
            graph: self.graph,
            source: self.source,
            balls: self.balls,
            configurations: GeometryConfigurationVector::new(),
        };
        for k in 0..soft.balls.len() {
            soft.deform(k, |p| *p);
        }
        soft
    }
}

/// A scene of deformable balls with a context.
pub(crate) struct Soft {
    pub(crate) diagram: Diagram<f64>,
    pub(crate) context: Context<f64>,
    pub(crate) graph: Block<SceneGraph>,
    pub(crate) source: SourceId,
    pub(crate) balls: Vec<GeometryId>,
    pub(crate) configurations: GeometryConfigurationVector<f64>,
}

impl Soft {
    /// Moves the vertices of a ball, given in the reference configuration.
    pub(crate) fn deform(&mut self, ball: usize, f: impl Fn(&Vector3<f64>) -> Vector3<f64>) {
        let inspector = self.graph.system().model_inspector();
        let mesh = inspector.reference_mesh(self.balls[ball]).unwrap();
        let moved = mesh.vertices().iter().flat_map(|p| <[f64; 3]>::from(f(p)));
        self.set(ball, moved.collect());
    }
    /// Sets the coordinates of all vertices of a ball.
    pub(crate) fn set(&mut self, ball: usize, coordinates: Vec<f64>) {
        let coordinates = DVector::from_vec(coordinates);
        self.configurations.set_value(self.balls[ball], coordinates);
        let port = self.graph.source_configuration_port(self.source).unwrap();
        let all = self.configurations.clone();
        self.context.fix(port, all).unwrap();
    }
    /// Returns the boundary of a ball in its reference configuration.
    pub(crate) fn boundary(&self, ball: usize) -> std::sync::Arc<RenderMesh> {
        let inspector = self.graph.system().model_inspector();
        let meshes = inspector.driven_render_meshes(self.balls[ball], Role::Illustration);
        meshes.unwrap().remove(0)
    }
    /// Returns the current vertices of the boundary of a ball.
    pub(crate) fn vertices(&self, ball: usize) -> Vec<Vector3<f64>> {
        let query = self.context.eval(self.graph.query).unwrap();
        let role = Role::Illustration;
        let found = query.driven_mesh_configurations_in_world(self.balls[ball], role);
        let points = found.unwrap().remove(0);
        let points = points.as_slice().chunks_exact(3);
        points.map(Vector3::from_column_slice).collect()
    }
}
