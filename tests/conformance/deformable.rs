//! Deformable geometry: reference meshes, embedded points, contact surfaces, images.

use crate::meshes::unequal;
use crate::proximity::shape;
use crate::support::{Family, difference, find, load, number, numbers, read_json};
use nalgebra::{DVector, Isometry3, Matrix3, UnitQuaternion, Vector3};
use serde_json::Value;
use std::path::Path;
use tarragon::prelude::*;
use tarragon_framework::math;
use tarragon_geometry::mesh::convert_volume_to_surface_mesh;
use tarragon_geometry::render::{CameraInfo, DepthRenderCamera, ImageDepth32F};
use tarragon_geometry::{
    DeformableContact, EmbeddedPoints, GeometryConfigurationVector, GeometryId,
    PerceptionProperties, ProximityProperties, Role, SourceId,
};

/// A scene with one source.
struct Builder {
    graph: SceneGraph,
    source: SourceId,
    configurations: GeometryConfigurationVector<f64>,
}

impl Builder {
    fn new() -> Self {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("recorded").unwrap();
        Self {
            graph,
            source,
            configurations: GeometryConfigurationVector::new(),
        }
    }

    /// Adds a deformable geometry in its reference configuration.
    fn add(&mut self, instance: GeometryInstance, hint: f64) -> Result<GeometryId, Error> {
        let world = self.graph.world_frame_id();
        let id = (self.graph).register_deformable_geometry(self.source, world, instance, hint)?;
        let mesh = self.graph.model_inspector().reference_mesh(id)?;
        let mut posed = (**mesh).clone();
        posed.transform_vertices(self.graph.model_inspector().pose_in_frame(id)?);
        let at_rest = posed.vertices().iter().flatten().copied().collect();
        self.configurations
            .set_value(id, DVector::from_vec(at_rest));
        Ok(id)
    }

    fn query(self) -> QueryObject<f64> {
        let mut b = DiagramBuilder::new();
        let ports = b.add("scene_graph", self.graph);
        let mut ctx = b.build().unwrap().default_context();
        let port = ports.source_configuration_port(self.source).unwrap();
        ctx.fix(port, self.configurations).unwrap();
        ctx.eval(ports.query).unwrap().clone()
    }
}

fn instance(spec: &Value, pose: Isometry3<f64>, name: &str) -> GeometryInstance {
    GeometryInstance::new(pose, shape(spec, "hydro"), name).unwrap()
}

fn pose(value: &Value) -> Isometry3<f64> {
    let [w, x, y, z, px, py, pz] = numbers(value);
    let q = math::quaternion_wxyz([w, x, y, z]).expect("recorded quaternions have a length");
    math::pose(q, Vector3::new(px, py, pz))
}

fn all_numbers(value: &Value) -> Vec<f64> {
    let items = value.as_array().expect("an array of numbers");
    items.iter().map(number).collect()
}

/// Reference meshes have Drake's numbers of vertices and elements, the same sums over them, and the
/// same bounds in a configuration.
#[test]
fn reference_meshes_match_drake() {
    let Some(truth) = load("deformable/geometry.json.gz") else {
        return;
    };
    let mut family = Family::new("deformable reference meshes");
    for case in truth["geometry"].as_array().expect("an array of meshes") {
        let name = || format!("{} {}", case["shape"], case["resolution_hint"]);
        let mut scene = Builder::new();
        if case.get("embedded").is_some() {
            let id = scene
                .add(instance(&case["shape"], Isometry3::identity(), "g"), 1.0)
                .unwrap();
            let mesh = scene.graph.model_inspector().reference_mesh(id).unwrap();
            let points = all_numbers(&case["points"]);
            let points = points.chunks_exact(3).map(Vector3::from_column_slice);
            let points = EmbeddedPoints::new(mesh, &points.collect::<Vec<_>>()).unwrap();
            let found = points
                .positions(all_numbers(&case["configuration"]))
                .unwrap();
            let found: Vec<f64> = found.iter().flatten().copied().collect();
            let size = mesh.calc_bounding_box().1.norm();
            let error = difference(&found, &all_numbers(&case["driven_points"])) / size;
            family.case(name, &[("driven points", error, 1e-11)]);
            continue;
        }
        let at = Vector3::from(numbers::<3>(&case["pose_in_frame"]));
        let instance = instance(
            &case["shape"],
            Isometry3::from_parts(at.into(), Default::default()),
            "g",
        )
        .with_proximity(ProximityProperties::new());
        let id = scene
            .add(instance, number(&case["resolution_hint"]))
            .unwrap();
        let inspector = scene.graph.model_inspector();
        let mut errors = vec![
            (
                "dynamic",
                unequal(inspector.num_dynamic_geometries(), &case["num_dynamic"]),
                0.0,
            ),
            (
                "anchored",
                unequal(inspector.num_anchored_geometries(), &case["num_anchored"]),
                0.0,
            ),
            (
                "with proximity",
                unequal(
                    inspector.num_deformable_geometries_with_role(Role::Proximity),
                    &case["num_deformable_proximity"],
                ),
                0.0,
            ),
        ];
        let mesh = inspector.reference_mesh(id).unwrap();
        let surface = convert_volume_to_surface_mesh(mesh).unwrap();
        for (what, found) in [
            ("vertices", mesh.num_vertices()),
            ("elements", mesh.num_elements()),
            ("surface_vertices", surface.num_vertices()),
            ("surface_triangles", surface.num_triangles()),
        ] {
            errors.push((what, unequal(found, &case[what]), 0.0));
        }
        let size = mesh.calc_bounding_box().1.norm();
        let volumes = (0..mesh.num_elements()).map(|e| mesh.calc_tetrahedron_volume(e));
        let least = volumes.fold(f64::INFINITY, f64::min);
        let squares = mesh.vertices().iter().map(|p| p.component_mul(p));
        let n = mesh.num_vertices() as f64;
        let sums: Vector3<f64> = mesh.vertices().iter().sum();
        let squares: Vector3<f64> = squares.sum();
        for (what, found, unit) in [
            ("volume", vec![mesh.calc_volume()], size.powi(3)),
            ("min_tet_volume", vec![least], size.powi(3)),
            ("sum_vertices", sums.as_slice().to_vec(), n * size),
            ("sum_squares", squares.as_slice().to_vec(), n * size * size),
        ] {
            let expected = match &case[what] {
                Value::Array(_) => all_numbers(&case[what]),
                one => vec![number(one)],
            };
            errors.push((what, difference(&found, &expected) / unit, 1e-11));
        }
        if let Some(configuration) = case.get("configuration") {
            scene
                .configurations
                .set_value(id, DVector::from_vec(all_numbers(configuration)));
            let query = scene.query();
            let bounds = query.compute_aabb_in_world(id).unwrap().expect("a box");
            for (found, expected) in [bounds.lower(), bounds.upper()].iter().zip(0..) {
                let expected = Vector3::from(numbers::<3>(&case["aabb"][expected]));
                errors.push(("bounds", (found - expected).amax(), 1e-12));
            }
            let obb = query.compute_obb_in_world(id).unwrap().expect("a box");
            let excess = obb.volume() / number(&case["obb_volume"]) - 1.0;
            errors.push(("volume beyond Drake's oriented box", excess.max(0.0), 1e-9));
        }
        family.case(name, &errors);
    }
    family.finish();
}

/// Bodies have as many vertices and tetrahedra as in Drake.
#[test]
fn meshes_of_bodies_are_as_large_as_drakes() {
    let Some(truth) = load("deformable/scenes.json.gz") else {
        return;
    };
    let mut family = Family::new("sizes of deformable meshes");
    for case in truth["scenes"].as_array().expect("an array of scenes") {
        for body in case["scene"]["bodies"].as_array().expect("bodies") {
            let name = body["name"].as_str().expect("a name");
            let Some(recorded) = case["meshes"].get(name) else {
                continue;
            };
            let mut scene = Builder::new();
            let hint = number(&body["resolution_hint"]);
            let id = scene
                .add(instance(&body["shape"], pose(&body["pose"]), name), hint)
                .unwrap();
            let mesh = scene.graph.model_inspector().reference_mesh(id).unwrap();
            let found = [mesh.num_vertices() as f64, mesh.num_elements() as f64];
            let errors = [("counts", difference(&found, &flattened(recorded)), 0.0)];
            family.case(|| format!("{}", body["shape"]), &errors);
        }
    }
    family.finish();
}

/// The numbers of an array of numbers or of arrays.
fn flattened(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flattened).collect(),
        one => vec![number(one)],
    }
}

/// Registers a body in its recorded configuration.
fn add_body(scene: &mut Builder, body: &Value, positions: Option<&Value>) -> GeometryId {
    let name = body["name"].as_str().expect("a name");
    let instance = instance(&body["shape"], pose(&body["pose"]), name);
    let instance = instance.with_proximity(ProximityProperties::new());
    let id = scene
        .add(instance, number(&body["resolution_hint"]))
        .unwrap();
    if let Some(positions) = positions {
        scene
            .configurations
            .set_value(id, DVector::from_vec(all_numbers(positions)));
    }
    if let Some(gradient) = body.get("gradient") {
        let gradient = Matrix3::from_row_slice(&all_numbers(gradient));
        let wave = number(&body["wave"]);
        let mesh = scene.graph.model_inspector().reference_mesh(id).unwrap();
        let center = mesh.vertices().iter().sum::<Vector3<f64>>() / mesh.num_vertices() as f64;
        let moved = mesh.vertices().iter().flat_map(|p| {
            let q = gradient * (p - center) + center;
            let turned = Vector3::new(q.y, q.z, q.x);
            let r = q + turned.map(|x| wave * (7.0 * x + 1.0).sin());
            [r.x, r.y, r.z]
        });
        let moved = DVector::from_vec(moved.collect());
        scene.configurations.set_value(id, moved);
    }
    id
}

fn add_rigid(scene: &mut Builder, rigid: &Value, x_wg: Isometry3<f64>) -> GeometryId {
    let name = rigid["name"].as_str().expect("a name");
    let modulus = number(&rigid["hydro"]["modulus"]);
    let hint = rigid["hydro"].get("resolution_hint").map_or(1.0, number);
    let properties = ProximityProperties::new()
        .with_compliant_hydroelastic(modulus)
        .unwrap();
    let properties = properties.with_resolution_hint(hint).unwrap();
    let instance = instance(&rigid["shape"], x_wg, name).with_proximity(properties);
    scene
        .graph
        .register_anchored_geometry(scene.source, instance)
        .unwrap()
}

/// Returns true if a rigid geometry is a mesh from a file of tetrahedra.
fn is_volume(rigid: &Value) -> bool {
    let file = rigid["shape"]["file"].as_str().unwrap_or_default();
    rigid["shape"]["type"] == "Mesh" && file.ends_with(".vtk")
}

/// Contact surfaces have Drake's faces, area and centroid, except with geometries that have
/// tetrahedra with all vertices on the boundary, as meshes of files do: the field is zero in them.
/// Between two deformable geometries, rounding decides which part of them Drake counts. In rigid
/// geometries Drake counts all of it, without force, and we none.
#[test]
fn contact_surfaces_match_drake() {
    if find("hydro/meshes/hull.vtk").is_none() {
        return;
    }
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/deformable");
    let truth = read_json(&recorded.join("contact.json.gz"));
    let mut family = Family::new("deformable contact surfaces");
    for (i, case) in truth["contacts"]
        .as_array()
        .expect("an array")
        .iter()
        .enumerate()
    {
        let mut scene = Builder::new();
        let bodies = case["bodies"].as_array().expect("bodies");
        let is_file = |body: &Value| body["shape"]["type"] == "Mesh";
        let rigid = case["rigid"].as_array().expect("rigid bodies");
        if bodies.len() > 1 && bodies.iter().any(is_file) || rigid.iter().any(is_volume) {
            continue;
        }
        let mut names: Vec<(GeometryId, &str)> = vec![];
        for body in bodies {
            let id = add_body(&mut scene, body, None);
            names.push((id, body["name"].as_str().expect("a name")));
        }
        for rigid in rigid {
            let id = add_rigid(&mut scene, rigid, pose(&rigid["pose"]));
            names.push((id, rigid["name"].as_str().expect("a name")));
        }
        let found = scene.query().compute_deformable_contact().unwrap();
        let label = || format!("{i}: {} with {}", case["bodies"], case["rigid"]);
        compare(&mut family, label, &found, &names, &case["contacts"]);
    }
    family.finish();
}

fn compare(
    family: &mut Family,
    label: impl Fn() -> String,
    found: &DeformableContact,
    names: &[(GeometryId, &str)],
    recorded: &Value,
) {
    let name = |id: GeometryId| {
        names
            .iter()
            .find(|(other, _)| *other == id)
            .map(|(_, n)| *n)
    };
    let recorded = recorded.as_array().expect("contacts");
    let count = (found.surfaces().len() as f64 - recorded.len() as f64).abs();
    let mut errors = vec![("surfaces", count, 0.0)];
    for contact in recorded {
        let (a, b) = (contact["a"].as_str(), contact["b"].as_str());
        let is_same = |s: &&tarragon_geometry::DeformableContactSurface| {
            (name(s.id_a()), name(s.id_b())) == (a, b)
        };
        let Some(surface) = found.surfaces().iter().find(is_same) else {
            errors.push(("missing", f64::INFINITY, 0.0));
            continue;
        };
        let area = number(&contact["area"]);
        let faces = number(&contact["faces"]);
        let mesh = surface.mesh();
        errors.push(("faces", (surface.num_faces() as f64 - faces).abs(), 0.0));
        errors.push(("area", (mesh.total_area() / area - 1.0).abs(), 1e-8));
        let centroid = Vector3::from(numbers::<3>(&contact["centroid"]));
        errors.push(("centroid", (mesh.centroid() - centroid).norm(), 1e-9));
        if let Some(normals) = contact.get("normals") {
            let normals = Vector3::from(numbers::<3>(normals));
            let sum = (0..surface.num_faces()).map(|f| surface.normal(f) * surface.area(f));
            // Drake reports normals in a frame of its own.
            let error = (sum.sum::<Vector3<f64>>().norm() - normals.norm()).abs() / area;
            errors.push(("vector area", error, 1e-8));
        }
    }
    family.case(label, &errors);
}

/// The first step of recorded scenes starts where the bodies are registered.
#[test]
fn contact_of_the_first_step_matches_drake() {
    let Some(truth) = load("deformable/scenes.json.gz") else {
        return;
    };
    let mut family = Family::new("deformable contact of first steps");
    for case in truth["scenes"].as_array().expect("an array of scenes") {
        let state = &case["states"][0];
        let request = &case["scene"];
        if state["step"] != 1 || case["kind"] != "contact" {
            continue;
        }
        let mut scene = Builder::new();
        let mut names: Vec<(GeometryId, &str)> = vec![];
        for body in request["bodies"].as_array().expect("bodies") {
            let id = add_body(&mut scene, body, body.get("initial_positions"));
            names.push((id, body["name"].as_str().expect("a name")));
        }
        for rigid in request["rigid"].as_array().map_or(&[][..], Vec::as_slice) {
            let id = add_rigid(&mut scene, rigid, pose(&rigid["pose"]));
            names.push((id, rigid["name"].as_str().expect("a name")));
        }
        let found = scene.query().compute_deformable_contact().unwrap();
        compare(
            &mut family,
            || request.to_string(),
            &found,
            &names,
            &state["contacts"],
        );
    }
    family.finish();
}

/// Registration is refused where Drake refuses it.
#[test]
fn errors_match_drake() {
    let Some(truth) = load("deformable/errors.json.gz") else {
        return;
    };
    let file = |name: &str| serde_json::json!({"type": "Mesh", "file": format!("meshes/{name}")});
    let cases = [
        (
            "sphere",
            serde_json::json!({"type": "Sphere", "radius": 0.1}),
            0.05,
        ),
        (
            "box is no deformable shape",
            serde_json::json!({"type": "Box", "size": [0.1, 0.1, 0.1]}),
            0.05,
        ),
        (
            "convex vtk is none",
            serde_json::json!({"type": "Convex", "file": "meshes/hull.vtk"}),
            0.05,
        ),
        ("obj mesh is none", file("hull.obj"), 0.05),
        (
            "plate without interior vertices is fine",
            file("plate.vtk"),
            0.05,
        ),
        (
            "hint zero",
            serde_json::json!({"type": "Sphere", "radius": 0.1}),
            0.0,
        ),
    ];
    let mut family = Family::new("errors of deformable geometry");
    let recorded = truth["errors"].as_array().expect("an array of errors");
    for (name, spec, hint) in cases {
        let expected = recorded
            .iter()
            .find(|e| e["name"] == name)
            .expect("a recorded error");
        let found = Builder::new().add(instance(&spec, Isometry3::identity(), "g"), hint);
        let agrees = Some(found.is_ok()) == expected["ok"].as_bool();
        family.case(
            || format!("{name}: {found:?}"),
            &[("outcome", f64::from(u8::from(!agrees)), 0.0)],
        );
    }
    family.finish();
}

/// A deformed sphere has the depth and the label of Drake's VTK engine, but for pixels on its
/// outline and on edges between triangles.
#[test]
fn depth_images_match_drake() {
    let Some(truth) = load("deformable/visual.json.gz") else {
        return;
    };
    let mut family = Family::new("depth images of deformable geometry");
    for case in truth["visual"].as_array().expect("an array of visuals") {
        let mut scene = Builder::new();
        let cpu = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
        scene.graph.add_renderer("cpu", cpu).unwrap();
        let at = Isometry3::identity();
        let shown =
            instance(&case["shape"], at, "shown").with_perception(PerceptionProperties::new());
        let id = scene.add(shown, number(&case["resolution_hint"])).unwrap();
        let positions = all_numbers(&case["configuration"]);
        scene
            .configurations
            .set_value(id, DVector::from_vec(positions));
        let query = scene.query();
        let camera = &case["render"]["camera"];
        let size = |key: &str| number(&camera[key]) as usize;
        let (width, height) = (size("width"), size("height"));
        let info = CameraInfo::from_fov_y(width, height, number(&camera["fov_y"])).unwrap();
        let range = number(&camera["near"])..number(&camera["far"]);
        let view = DepthRenderCamera::new("cpu", info)
            .with_depth_range(range)
            .unwrap();
        let rotation = Matrix3::from_row_slice(&all_numbers(&camera["X_WC_rotation"]));
        let rotation = UnitQuaternion::from_matrix(&rotation);
        let position = Vector3::from(numbers::<3>(&camera["X_WC_position"]));
        let x_wc = math::pose(rotation, position);
        let mut image = ImageDepth32F::new(width, height);
        let world = query.inspector().world_frame_id();
        query
            .render_depth_image(&view, world, &x_wc, &mut image)
            .unwrap();
        let recorded = flattened(&case["render"]["depth"]);
        let (mut differ, mut worst) = (0, 0.0_f64);
        for (i, expected) in recorded.iter().enumerate() {
            let found = f64::from(image.at(i % width, i / width)[0]);
            if found.is_finite() != expected.is_finite() {
                differ += 1;
            } else if found.is_finite() {
                worst = worst.max((found - expected).abs());
            }
        }
        let covered = recorded.iter().filter(|z| z.is_finite()).count();
        let errors = [
            (
                "pixels on the outline",
                f64::from(differ) / covered as f64,
                0.05,
            ),
            ("depth", worst, 2e-3),
        ];
        family.case(|| case["role"].to_string(), &errors);
    }
    family.finish();
}
