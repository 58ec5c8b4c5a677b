//! A server, a client that posts forms, and scenes.

use nalgebra::{Isometry3, Matrix4, Translation3, Vector3, Vector4};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use tarragon_framework::math::rpy;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, EnvironmentMap,
    EquirectangularMap, ImageDepth32F, ImageLabel16I, ImageRgba8U, LightParameter,
    RenderCameraCore, RenderEngine, RenderEngineCpu, RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, GeometryId, HalfSpace, Mesh, PerceptionProperties,
    RenderLabel, Rgba, Shape, Sphere,
};
use tarragon_render_server::{RenderServer, RenderServerParams};
use tarragon_sensors::{ImageFileFormat, ImageIo, ImageRgb8U, save_image};

/// Reports a skipped test. Printing macros are not used, because their output is hidden for tests
/// that pass.
pub(crate) fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Starts a server on any free port.
pub(crate) fn server(params: RenderServerParams) -> RenderServer {
    server_with(params, RenderEngineCpuParams::default())
}

/// Starts a server whose engine has parameters, as `--params` gives them.
pub(crate) fn server_with(
    params: RenderServerParams,
    engine: RenderEngineCpuParams,
) -> RenderServer {
    let engine = RenderEngineCpu::new(engine).unwrap();
    let params = RenderServerParams { port: 0, ..params };
    RenderServer::start(params, Box::new(engine)).unwrap()
}

/// Returns the parameters of engines that the tests compare: the defaults, and an environment with
/// a lamp.
pub(crate) fn looks(assets: &Path) -> [RenderEngineCpuParams; 2] {
    let environment = EnvironmentMap {
        skybox: true,
        texture: EquirectangularMap {
            path: assets.join("sky.png"),
        }
        .into(),
        ..EnvironmentMap::default()
    };
    let lit = RenderEngineCpuParams {
        environment_map: Some(environment),
        lights: vec![LightParameter::default()],
        ..RenderEngineCpuParams::default()
    };
    [RenderEngineCpuParams::default(), lit]
}

/// Writes the mesh files of the scene: a smooth bowl, a wedge with texture and a glTF tile.
pub(crate) fn assets() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut checker = ImageRgb8U::new(8, 8);
    for (i, pixel) in checker.data_mut().chunks_exact_mut(3).enumerate() {
        let bright = (i % 8 + i / 8) % 2 == 0;
        pixel.copy_from_slice(if bright {
            &[250, 240, 60]
        } else {
            &[40, 60, 90]
        });
    }
    save_image(&checker, folder.path().join("checker.png")).unwrap();
    let mut sky = ImageRgb8U::new(64, 32);
    for (i, pixel) in sky.data_mut().chunks_exact_mut(3).enumerate() {
        let wave = (std::f64::consts::TAU * (i % 64) as f64 / 64.0).sin();
        pixel.copy_from_slice(&[(150.0 + 90.0 * wave) as u8, 160, 250 - 6 * (i / 64) as u8]);
    }
    save_image(&sky, folder.path().join("sky.png")).unwrap();
    std::fs::write(folder.path().join("bowl.obj"), bowl()).unwrap();
    // Drake's client clamps textures at their edges, which the engine repeats, so none is seen.
    let wedge = "mtllib wedge.mtl\nusemtl m\n\
        v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0.1 0.1\nvt 0.9 0.1\nvt 0.1 0.9\n\
        vn 0 0 -1\nvn 0 -1 0\nvn -1 0 0\nvn 0.57735 0.57735 0.57735\n\
        f 1/1/1 3/3/1 2/2/1\nf 1/1/2 2/2/2 4/3/2\nf 1/1/3 4/2/3 3/3/3\nf 2/1/4 3/2/4 4/3/4\n";
    std::fs::write(folder.path().join("wedge.obj"), wedge).unwrap();
    let material = "newmtl m\nKd 0.9 0.9 0.9\nmap_Kd checker.png\n";
    std::fs::write(folder.path().join("wedge.mtl"), material).unwrap();
    std::fs::write(folder.path().join("tile.gltf"), tile().to_string()).unwrap();
    folder
}

/// Returns a paraboloid of 40 by 40 squares with the normals of its surface.
fn bowl() -> String {
    let mut text = String::new();
    let n = 40;
    for i in 0..=n {
        for j in 0..=n {
            let [x, y] = [i, j].map(|k| 2.0 * f64::from(k) / f64::from(n) - 1.0);
            let z = 0.5 * (x * x + y * y);
            let length = (x * x + y * y + 1.0).sqrt();
            let [nx, ny, nz] = [-x, -y, 1.0].map(|c| c / length);
            writeln!(text, "v {x} {y} {z}\nvn {nx} {ny} {nz}").unwrap();
        }
    }
    for i in 0..n {
        for j in 0..n {
            let a = i * (n + 1) + j + 1;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            writeln!(
                text,
                "f {a}//{a} {c}//{c} {d}//{d}\nf {a}//{a} {d}//{d} {b}//{b}"
            )
            .unwrap();
        }
    }
    text
}

/// Returns a square with all textures of a metallic-roughness material, one of them transformed,
/// and with two sets of texture coordinates, below nodes with poses and scales; one node shows it
/// unlit.
fn tile() -> serde_json::Value {
    use base64::Engine;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let corners = [[0.0f32, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let lists: [(&str, Vec<f32>); 5] = [
        (
            "VEC3",
            corners.iter().flat_map(|[x, y]| [*x, *y, 0.0]).collect(),
        ),
        ("VEC3", [0.0, 0.0, 1.0].repeat(4)),
        (
            "VEC2",
            corners.iter().flat_map(|[x, y]| [*x, 1.0 - y]).collect(),
        ),
        (
            "VEC2",
            corners
                .iter()
                .flat_map(|[x, y]| [0.5 * y, 0.5 * x])
                .collect(),
        ),
        ("VEC4", [1.0, 0.0, 0.0, 1.0].repeat(4)),
    ];
    let (mut bytes, mut views, mut accessors) = (Vec::<u8>::new(), Vec::new(), Vec::new());
    let mut add = |kind: &str, component: u32, count: usize, data: Vec<u8>| {
        views.push(serde_json::json!(
            {"buffer": 0, "byteOffset": bytes.len(), "byteLength": data.len()}
        ));
        bytes.extend(data);
        accessors.push(serde_json::json!({"bufferView": views.len() - 1,
            "componentType": component, "count": count, "type": kind}));
    };
    for (kind, floats) in lists {
        let data = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
        add(kind, 5126, 4, data);
    }
    let indices = [0u16, 1, 2, 0, 2, 3];
    let indices = indices.iter().flat_map(|i| i.to_le_bytes());
    add("SCALAR", 5123, 6, indices.collect());
    accessors[0]["min"] = serde_json::json!([0.0, 0.0, 0.0]);
    accessors[0]["max"] = serde_json::json!([1.0, 1.0, 0.0]);

    // Smooth waves, so that no edge falls between the pixels of two engines.
    let picture = |color: fn(f64, f64) -> [f64; 3]| {
        let side = 32;
        let wave = |k: usize| (std::f64::consts::TAU * (k as f64 + 0.5) / side as f64).sin();
        let pixels = (0..side * side).flat_map(|i| color(wave(i % side), wave(i / side)));
        let pixels = pixels.map(|x| (127.5 + 127.5 * x) as u8).collect();
        let image = ImageRgb8U::from_data(side, side, pixels).unwrap();
        let png = ImageIo::new().save_to_buffer(&image, ImageFileFormat::Png);
        let uri = format!("data:image/png;base64,{}", encode(&png.unwrap()));
        serde_json::json!({"uri": uri})
    };
    let images = [
        picture(|x, y| [0.5 + 0.3 * x, 0.2 * y, 0.1]),
        picture(|x, y| [0.4 * x, 0.4 * y, 0.8]),
        picture(|x, y| [0.5 + 0.4 * x, 0.2 + 0.4 * y, 0.3 * x]),
        picture(|x, y| [-0.5 + 0.4 * x * y, -0.6, -0.9]),
    ];
    let primitive = |material: usize| {
        serde_json::json!({"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1,
            "TEXCOORD_0": 2, "TEXCOORD_1": 3, "TANGENT": 4}, "indices": 5, "material": material}]})
    };
    let transform = serde_json::json!({"KHR_texture_transform":
        {"offset": [0.1, 0.2], "rotation": 0.3, "scale": [0.8, 0.6]}});
    serde_json::json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "extensionsUsed": ["KHR_materials_unlit", "KHR_texture_transform"],
        "nodes": [
            {"name": "top", "translation": [0.0, 0.1, 0.0], "scale": [0.5, 0.7, 0.5],
             "rotation": [0.0, 0.0, 0.6, 0.8], "children": [1], "mesh": 0},
            {"name": "below", "mesh": 1, "translation": [0.0, 0.3, 0.4]},
        ],
        "meshes": [primitive(0), primitive(1)],
        "materials": [{
            "normalTexture": {"index": 1, "scale": 0.8},
            "occlusionTexture": {"index": 2, "strength": 0.5, "texCoord": 1},
            "emissiveTexture": {"index": 3}, "emissiveFactor": [1.0, 0.8, 0.6],
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 0.6, 0.7, 1.0], "metallicFactor": 0.8,
                "roughnessFactor": 0.9, "metallicRoughnessTexture": {"index": 2, "texCoord": 1},
                "baseColorTexture": {"index": 0, "extensions": transform}},
        }, {
            "extensions": {"KHR_materials_unlit": {}},
            "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.6, 0.7, 1.0],
                "baseColorTexture": {"index": 0}},
        }],
        "textures": [{"source": 0}, {"source": 1}, {"source": 2}, {"source": 3}],
        "images": images, "accessors": accessors, "bufferViews": views,
        "buffers": [{"byteLength": bytes.len(),
            "uri": format!("data:application/octet-stream;base64,{}", encode(&bytes))}],
    })
}

/// A shape with its position, its angles, its label and its colour.
type Placed = (Shape, [f64; 3], [f64; 3], i16, Option<[f64; 3]>);

/// The scene of `pydrake_client.py`, drawn in process.
pub(crate) struct Mirror {
    engine: RenderEngineCpu,
    visuals: Vec<(GeometryId, Shape, PerceptionProperties)>,
    pub(crate) poses: BTreeMap<GeometryId, Isometry3<f64>>,
    core: RenderCameraCore,
}

impl Mirror {
    pub(crate) fn new(assets: &Path) -> Self {
        Self::with(assets, RenderEngineCpuParams::default())
    }
    /// Creates the scene in an engine with parameters.
    pub(crate) fn with(assets: &Path, params: RenderEngineCpuParams) -> Self {
        let intrinsics = CameraInfo::new(320, 240, 300.0, 310.0, 150.25, 121.5).unwrap();
        let clipping = ClippingRange::new(0.05, 20.0).unwrap();
        let mut mirror = Self {
            engine: RenderEngineCpu::new(params).unwrap(),
            visuals: Vec::new(),
            poses: BTreeMap::new(),
            core: RenderCameraCore::new("mirror", intrinsics, clipping, Isometry3::identity()),
        };
        let mesh = |name: &str, scale: f64| {
            let scale = Vector3::repeat(scale);
            Shape::from(Mesh::with_scale(assets.join(name), scale).unwrap())
        };
        let scene: [Placed; 10] = [
            (
                BoxShape::new(0.2, 0.3, 0.4).unwrap().into(),
                [0.0, 0.0, 2.0],
                [0.4, 0.5, 0.6],
                300,
                Some([0.1, 0.2, 0.8]),
            ),
            (
                Sphere::new(0.2).unwrap().into(),
                [0.5, 0.0, 2.0],
                [0.0; 3],
                7,
                Some([1.0, 0.0, 0.0]),
            ),
            (
                Cylinder::new(0.1, 0.3).unwrap().into(),
                [0.0, 0.5, 2.0],
                [0.9, 0.2, 0.1],
                8,
                Some([0.2, 0.7, 0.3]),
            ),
            (
                Capsule::new(0.1, 0.3).unwrap().into(),
                [-0.5, 0.0, 2.0],
                [1.2, 0.3, 0.0],
                9,
                Some([0.9, 0.8, 0.1]),
            ),
            (
                Ellipsoid::new(0.1, 0.2, 0.3).unwrap().into(),
                [-0.5, 0.5, 2.0],
                [0.1, 0.2, 0.3],
                10,
                Some([0.3, 0.3, 0.9]),
            ),
            (
                HalfSpace.into(),
                [0.0, 0.0, 5.0],
                [3.1, 0.2, 0.0],
                256,
                Some([0.6; 3]),
            ),
            (
                mesh("bowl.obj", 0.2),
                [0.5, 0.5, 2.0],
                [0.3, 0.2, 0.1],
                11,
                Some([0.8, 0.4, 0.2]),
            ),
            (
                mesh("wedge.obj", 0.3),
                [0.1, -0.5, 2.0],
                [0.8, 0.6, 0.1],
                12,
                None,
            ),
            (
                mesh("tile.gltf", 0.5),
                [-0.4, -0.5, 1.8],
                [0.1, 0.2, 0.3],
                13,
                None,
            ),
            // The CPU engine does not texture boxes, so neither test looks at its colours.
            (
                BoxShape::new(0.25, 0.2, 0.15).unwrap().into(),
                [0.6, -0.5, 2.0],
                [0.4, 0.5, 0.6],
                14,
                None,
            ),
        ];
        for (shape, xyz, [roll, pitch, yaw], label, diffuse) in scene {
            let mut properties = match diffuse {
                Some([r, g, b]) => PerceptionProperties::phong(Rgba::new(r, g, b, 1.0).unwrap()),
                None => PerceptionProperties::new(),
            };
            properties = properties.with_label(RenderLabel::new(label).unwrap());
            let id = GeometryId::new();
            let turn = rpy(roll, pitch, yaw);
            let pose = Isometry3::from_parts(Translation3::from(xyz), turn);
            mirror.poses.insert(id, pose);
            mirror.visuals.push((id, shape, properties));
        }
        let mut engine = mirror.engine.clone();
        mirror.register_with(&mut engine);
        mirror.engine = engine;
        mirror
    }
    /// Registers the same visuals with another engine.
    pub(crate) fn register_with(&self, engine: &mut dyn RenderEngine) {
        for (id, shape, properties) in &self.visuals {
            engine.register_visual(*id, shape, properties).unwrap();
        }
    }
    /// Returns the cameras of colours and labels, and of depths.
    pub(crate) fn cameras(&self) -> (ColorRenderCamera, DepthRenderCamera) {
        let range = DepthRange::new(0.1, 10.0).unwrap();
        let depth = DepthRenderCamera::from_core(self.core.clone(), range).unwrap();
        (ColorRenderCamera::from_core(self.core.clone()), depth)
    }
    pub(crate) fn pixels(&self) -> usize {
        self.core.intrinsics().width() * self.core.intrinsics().height()
    }

    /// Compares images with those of the engine in process: labels are equal, depths within 1 um
    /// (Drake sends vertices in single precision), 99.9 % of the channels of colours within 2 of
    /// 255. Pixels whose centre is on an edge may belong to either side: at most one in a thousand.
    #[track_caller]
    pub(crate) fn compare(
        &self,
        view: &RenderView<'_>,
        color: &[u8],
        depth: &[f32],
        label: &[i16],
    ) {
        let (width, height) = (
            self.core.intrinsics().width(),
            self.core.intrinsics().height(),
        );
        let (camera, depth_camera) = self.cameras();
        let mut colors = ImageRgba8U::new(width, height);
        let mut depths = ImageDepth32F::new(width, height);
        let mut labels = ImageLabel16I::new(width, height);
        self.engine
            .render_color(view, &camera, &mut colors)
            .unwrap();
        self.engine
            .render_depth(view, &depth_camera, &mut depths)
            .unwrap();
        self.engine
            .render_label(view, &camera, &mut labels)
            .unwrap();
        let n = self.pixels();
        let most = n / 1000;
        let other_label = (0..n).filter(|i| labels.data()[*i] != label[*i]).count();
        assert!(other_label <= most, "{other_label} labels differ");
        let far = |i: &usize| {
            let (a, b) = (depths.data()[*i], depth[*i]);
            let is_near = (a - b).abs() < 1e-6 * a.max(1.0);
            a != b && !is_near
        };
        let other_depth = (0..n).filter(far).count();
        assert!(other_depth <= most, "{other_depth} depths differ");
        let textured = |i: &usize| labels.data()[*i] == 14;
        let channels = |i: usize| 4 * i..4 * i + 4;
        let other_color: usize = (0..n)
            .filter(|i| !textured(i))
            .flat_map(channels)
            .filter(|c| colors.data()[*c].abs_diff(color[*c]) > 2)
            .count();
        assert!(other_color <= 4 * n / 1000, "{other_color} channels differ");
    }
}

/// A document with a camera at the origin that looks along z, and one cube or sphere of triangles.
pub(crate) struct Document {
    /// Matrix of the mesh's node.
    pub(crate) x_wg: Matrix4<f64>,
    /// Number of nodes that show the mesh, each a little farther to the right.
    pub(crate) instances: usize,
    pub(crate) color: [f64; 4],
    /// Side of the cube (m).
    pub(crate) size: f64,
    /// Factors of the vertices.
    pub(crate) stretch: Vector3<f64>,
    /// Number of squares along each edge.
    pub(crate) detail: usize,
    /// True if the nodes are below one with the name of Drake's.
    pub(crate) is_named: bool,
    /// True for a sphere in Drake's tessellation.
    pub(crate) is_round: bool,
}

impl Document {
    /// A sphere of 2601 vertices, 51 along each meridian and parallel, as Drake sends it.
    pub(crate) fn sphere() -> Self {
        Self {
            is_round: true,
            ..Self::cube()
        }
    }
    pub(crate) fn cube() -> Self {
        Self {
            x_wg: Isometry3::translation(0.0, 0.0, 2.0).to_homogeneous(),
            instances: 1,
            color: [0.2, 0.6, 0.3, 1.0],
            size: 0.5,
            stretch: Vector3::repeat(1.0),
            detail: 1,
            is_named: true,
            is_round: false,
        }
    }
}

impl std::fmt::Display for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use base64::Engine;
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        let n = if self.is_round { 50 } else { self.detail };
        if self.is_round {
            for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
                let [theta, phi] = [(2, j), (1, i)].map(|(k, i)| PI * (k * i) as f64 / n as f64);
                let p = Vector3::new(phi.sin() * theta.cos(), phi.sin() * theta.sin(), phi.cos());
                vertices.push(0.5 * self.size * p);
            }
            for square in 0..n * n {
                let a = (square / n * (n + 1) + square % n) as u32;
                let [b, c, d] = [a + 1, a + n as u32 + 1, a + n as u32 + 2];
                indices.extend([a, c, d, a, d, b]);
            }
        }
        for axis in 0..if self.is_round { 0 } else { 3 } {
            for side in [-0.5, 0.5] {
                let first = vertices.len() as u32;
                for i in 0..=n {
                    for j in 0..=n {
                        let mut p = Vector3::repeat(side);
                        p[(axis + 1) % 3] = i as f64 / n as f64 - 0.5;
                        p[(axis + 2) % 3] = j as f64 / n as f64 - 0.5;
                        vertices.push((self.size * p).component_mul(&self.stretch));
                    }
                }
                for square in 0..n * n {
                    let a = first + (square / n * (n + 1) + square % n) as u32;
                    let [b, c, d] = [a + 1, a + n as u32 + 1, a + n as u32 + 2];
                    let [b, c] = if side > 0.0 { [b, c] } else { [c, b] };
                    indices.extend([a, c, d, a, d, b]);
                }
            }
        }
        let coordinates = vertices.iter().flat_map(|p| [p.x, p.y, p.z]);
        let mut bytes: Vec<u8> = coordinates.flat_map(|x| (x as f32).to_le_bytes()).collect();
        let split = bytes.len();
        bytes.extend(indices.iter().flat_map(|i| i.to_le_bytes()));
        let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
        let nodes = (0..self.instances).map(|i| {
            let shift = Isometry3::translation(0.05 * i as f64, 0.0, 0.0).to_homogeneous();
            serde_json::json!({"mesh": 0, "matrix": (shift * self.x_wg).as_slice()})
        });
        let camera = Matrix4::from_diagonal(&Vector4::new(1.0, -1.0, -1.0, 1.0));
        let mut nodes: Vec<_> = nodes.collect();
        nodes.push(serde_json::json!({
            "camera": 0, "name": "Camera Node", "matrix": camera.as_slice()}));
        let children: Vec<usize> = (0..nodes.len()).collect();
        let name = if self.is_named {
            "Renderer Node"
        } else {
            "Other"
        };
        nodes.push(serde_json::json!({"name": name, "children": children}));
        let document = serde_json::json!({
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [nodes.len() - 1]}],
            "cameras": [{"type": "perspective", "perspective": {"yfov": 0.9, "znear": 0.05}}],
            "nodes": nodes,
            "meshes": [{"primitives": [
                {"attributes": {"POSITION": 0}, "indices": 1, "material": 0, "mode": 4}]}],
            "materials": [{"pbrMetallicRoughness": {
                "baseColorFactor": self.color, "metallicFactor": 0.0, "roughnessFactor": 1.0}}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": vertices.len(), "type": "VEC3"},
                {"bufferView": 1, "componentType": 5125, "count": indices.len(), "type": "SCALAR"}],
            "bufferViews": [
                {"buffer": 0, "byteLength": split},
                {"buffer": 0, "byteOffset": split, "byteLength": bytes.len() - split}],
            "buffers": [{"byteLength": bytes.len(),
                "uri": format!("data:application/octet-stream;base64,{data}")}],
        });
        write!(f, "{document}")
    }
}
