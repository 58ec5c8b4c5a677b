//! A scene with deformable balls, whose vertices a test moves.

use nalgebra::{DVector, Isometry3, Vector3};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::{
    GeometryConfigurationVector, GeometryId, GeometryInstance, IllustrationProperties,
    InMemoryMesh, MemoryFile, Mesh, PerceptionProperties, ProximityProperties, Rgba, Role,
    SceneGraph, SourceId, Sphere,
};
use tarragon_visualization::{Meshcat, MeshcatVisualizer, MeshcatVisualizerParams};

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

/// Returns a green deformable plate of 0.3 m with `cells` cells along each side, which a visualizer
/// shows.
pub(crate) fn plate(meshcat: &Meshcat, cells: usize) -> Soft {
    let shape = Mesh::new(InMemoryMesh::new(MemoryFile::new(
        plate_file(cells),
        ".vtk",
        "plate",
    )));
    let plate = GeometryInstance::new(Isometry3::identity(), shape, "plate").unwrap();
    let green = Rgba::opaque(0.0, 1.0, 0.0).unwrap();
    let plate = plate.with_illustration(IllustrationProperties::new().with_diffuse(green));
    let mut scene = SoftScene::new([(plate, 1.0)]);
    let (builder, query) = (&mut scene.builder, scene.graph.query);
    let params = MeshcatVisualizerParams::default();
    MeshcatVisualizer::add_to_builder(builder, query, meshcat.clone(), params).unwrap();
    scene.build()
}

/// A VTK file of one layer of cubes, divided into six tetrahedra each (Kuhn 1960).
fn plate_file(cells: usize) -> String {
    let side = cells + 1;
    let point = |i: usize, j: usize, k: usize| i + side * (j + side * k);
    let mut points = String::new();
    for k in 0..2 {
        for (j, i) in (0..side).flat_map(|j| (0..side).map(move |i| (j, i))) {
            let [x, y] = [i, j].map(|n| 0.3 * n as f64 / cells as f64 - 0.15);
            points += &format!("{x} {y} {}\n", 0.006 * f64::from(k));
        }
    }
    let mut tets = String::new();
    for (j, i) in (0..cells).flat_map(|j| (0..cells).map(move |i| (j, i))) {
        // Each path along the axes from one corner to the opposite one; every other path turns the
        // other way.
        let paths = [
            [0, 1, 2],
            [1, 2, 0],
            [2, 0, 1],
            [0, 2, 1],
            [1, 0, 2],
            [2, 1, 0],
        ];
        for (n, path) in paths.into_iter().enumerate() {
            let mut at = [i, j, 0];
            let mut corners = vec![point(at[0], at[1], at[2])];
            for axis in path {
                at[axis] += 1;
                corners.push(point(at[0], at[1], at[2]));
            }
            if n >= 3 {
                corners.swap(0, 1);
            }
            let [a, b, c, d] = corners[..] else { panic!() };
            tets += &format!("4 {a} {b} {c} {d}\n");
        }
    }
    let (count, number) = (2 * side * side, 6 * cells * cells);
    format!(
        "# vtk DataFile Version 3.0\nplate\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {count} double\n\
         {points}CELLS {number} {}\n{tets}CELL_TYPES {number}\n{}",
        5 * number,
        "10\n".repeat(number)
    )
}

/// Moves a point of the plate to where it is at a time (s): it flies, turns and flutters.
pub(crate) fn waving(p: &Vector3<f64>, t: f64) -> Vector3<f64> {
    let wave = 0.02 * (25.0 * p.x + 30.0 * t).sin() * (18.0 * p.y - 11.0 * t).cos();
    let turned = math::rpy(0.9 * t, 0.4 * t, 1.7 * t);
    let flight = Vector3::new(0.3 * t, 0.1 * t.sin(), 1.0 + 0.2 * (2.0 * t).cos());
    turned * (p + wave * Vector3::z()) + flight
}
