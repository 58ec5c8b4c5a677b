//! Contexts share render engines, but each shows its own visuals.

use crate::warnings::warnings_of;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tarragon_framework::prelude::*;
use tarragon_geometry::mesh::read_source;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRenderCamera, ImageDepth32F, ImageLabel16I,
    ImageRgba8U, LightParameter, LightType, RenderCameraCore, RenderEngine, RenderEngineCpu,
    RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{
    BoxShape, ErrorKind, GeometryId, GeometryInstance, GeometryState, InMemoryMesh, MemoryFile,
    Mesh, PerceptionProperties, RenderLabel, Result, Rgba, Role, RoleAssign, SceneGraph,
    SceneGraphPorts, Shape, SourceId, Sphere,
};

/// A visual held by an engine and its copies; counted until it is dropped.
struct Held(Arc<AtomicUsize>);

impl Held {
    fn new(count: &Arc<AtomicUsize>) -> Arc<Self> {
        count.fetch_add(1, Ordering::SeqCst);
        Arc::new(Self(count.clone()))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Render engine that only records its visuals, which its copies share.
#[derive(Clone, Default)]
struct Ledger {
    visuals: BTreeMap<GeometryId, Arc<Held>>,
    held: Arc<AtomicUsize>,
}

impl Ledger {
    /// Number of visuals held by this engine or a copy of it.
    fn len(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }
}

impl RenderEngine for Ledger {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        _: &PerceptionProperties,
    ) -> Result<bool> {
        if let Shape::Mesh(mesh) = shape {
            read_source(mesh.source())?;
        }
        let is_new = self.visuals.insert(id, Held::new(&self.held)).is_none();
        assert!(is_new, "visual ids must be unique");
        Ok(true)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.visuals.remove(&id).is_some()
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.visuals.contains_key(&id)
    }
    fn render_color(
        &self,
        _: &RenderView<'_>,
        _: &ColorRenderCamera,
        _: &mut ImageRgba8U,
    ) -> Result<()> {
        Ok(())
    }
    fn render_depth(
        &self,
        _: &RenderView<'_>,
        _: &DepthRenderCamera,
        _: &mut ImageDepth32F,
    ) -> Result<()> {
        Ok(())
    }
    fn render_label(
        &self,
        _: &RenderView<'_>,
        _: &ColorRenderCamera,
        _: &mut ImageLabel16I,
    ) -> Result<()> {
        Ok(())
    }
    fn default_render_label(&self) -> RenderLabel {
        RenderLabel::DONT_CARE
    }
}

fn label(value: i16) -> PerceptionProperties {
    PerceptionProperties::phong(Rgba::WHITE).with_label(RenderLabel::new(value).unwrap())
}

/// A ball on the optical axis, 2 m away.
fn ball(name: &str) -> GeometryInstance {
    let at = Isometry3::translation(0.0, 0.0, 2.0);
    GeometryInstance::new(at, Sphere::new(0.5).unwrap(), name).unwrap()
}

fn add_cpu(state: &mut GeometryState) {
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    state.add_renderer("cpu", engine).unwrap();
}

struct World {
    diagram: Diagram<f64>,
    ports: SceneGraphPorts<f64>,
    source: SourceId,
    id: GeometryId,
}

/// A ball with label 1 in front of a camera.
fn world() -> World {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    add_cpu(scene.model_mut());
    let id = scene.register_anchored_geometry(source, ball("ball").with_perception(label(1)));
    let mut b = DiagramBuilder::new();
    let block = b.add("scene", scene);
    World {
        ports: block.ports().clone(),
        diagram: b.build().unwrap(),
        source,
        id: id.unwrap(),
    }
}

impl World {
    fn geometry<'c>(&self, ctx: &'c mut Context<f64>) -> &'c mut GeometryState {
        self.ports.geometry_mut(ctx).unwrap()
    }
    /// Labels in the image, and the number of pixels that are not empty.
    fn labels(&self, ctx: &Context<f64>) -> (BTreeSet<i16>, usize) {
        let info = CameraInfo::from_fov_y(32, 24, 1.0).unwrap();
        let clipping = ClippingRange::new(0.1, 10.0).unwrap();
        let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
        let mut image = ImageLabel16I::new(32, 24);
        let query = ctx.eval(self.ports.query).unwrap();
        query
            .render_label_image(
                &ColorRenderCamera::from_core(core),
                query.inspector().world_frame_id(),
                &Isometry3::identity(),
                &mut image,
            )
            .unwrap();
        let seen = image
            .data()
            .iter()
            .filter(|l| **l != RenderLabel::EMPTY.value());
        (seen.clone().copied().collect(), seen.count())
    }
}

#[test]
fn a_change_in_one_context_is_visible_only_there() {
    let w = world();
    let one = |label: i16| BTreeSet::from([label]);
    let untouched = w.diagram.default_context();
    let first = w.labels(&untouched);
    assert_eq!(first.0, one(1));

    let mut relabelled = untouched.clone();
    let state = w.geometry(&mut relabelled);
    state
        .assign_role_with(w.source, w.id, label(2), RoleAssign::Replace)
        .unwrap();
    let mut grown = untouched.clone();
    let cube = BoxShape::new(2.0, 2.0, 0.5).unwrap();
    w.geometry(&mut grown)
        .change_shape(w.source, w.id, cube, None)
        .unwrap();
    let mut hidden = untouched.clone();
    assert!(
        w.geometry(&mut hidden)
            .remove_role(w.source, w.id, Role::Perception)
            .unwrap()
    );
    let mut removed = untouched.clone();
    w.geometry(&mut removed)
        .remove_geometry(w.source, w.id)
        .unwrap();
    let mut added = untouched.clone();
    let nearer = GeometryInstance::new(
        Isometry3::translation(0.0, 0.0, 1.0),
        Sphere::new(0.1).unwrap(),
        "nearer",
    )
    .unwrap();
    let nearer = nearer.with_perception(label(3));
    w.geometry(&mut added)
        .register_anchored_geometry(w.source, nearer)
        .unwrap();

    let relabelled_pixels = w.labels(&relabelled);
    assert_eq!(relabelled_pixels, (one(2), first.1));
    let big = w.labels(&grown);
    assert!(big.0 == one(1) && big.1 > first.1, "{big:?}");
    assert_eq!(w.labels(&hidden).1, 0);
    assert_eq!(w.labels(&removed).1, 0);
    assert_eq!(w.labels(&added), (BTreeSet::from([1, 3]), first.1));
    assert_eq!(w.labels(&untouched), first);
    assert_eq!(w.labels(&w.diagram.default_context()), first);

    // The contexts that hid or changed the ball can show it again or change it again.
    w.geometry(&mut hidden)
        .assign_role(w.source, w.id, label(4))
        .unwrap();
    assert_eq!(w.labels(&hidden), (one(4), first.1));
    let state = w.geometry(&mut relabelled);
    state
        .assign_role_with(w.source, w.id, label(5), RoleAssign::Replace)
        .unwrap();
    assert_eq!(w.labels(&relabelled), (one(5), first.1));
    drop((relabelled, grown, hidden, removed, added));
    assert_eq!(w.labels(&untouched), first);
}

#[test]
fn engines_hold_only_visuals_that_some_scene_shows() {
    let ledger = Ledger::default();
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let id = scene.register_anchored_geometry(source, ball("ball").with_perception(label(1)));
    let id = id.unwrap();
    scene.add_renderer("ledger", ledger.clone()).unwrap();
    assert_eq!(ledger.len(), 1);
    let mut other = scene.clone();
    other
        .assign_role_with(source, id, label(2), RoleAssign::Replace)
        .unwrap();
    assert_eq!(ledger.len(), 2, "both appearances");
    scene.remove_geometry(source, id).unwrap();
    assert_eq!(ledger.len(), 1, "no scene shows the first appearance");
    other.remove_role(source, id, Role::Perception).unwrap();
    assert_eq!(ledger.len(), 0);
    other.assign_role(source, id, label(3)).unwrap();
    drop(other);
    assert_eq!(ledger.len(), 0);
}

#[test]
fn failures_leave_no_visual_behind() {
    let (first, second) = (Ledger::default(), Ledger::default());
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    scene.add_renderer("first", first.clone()).unwrap();
    let id = scene.register_anchored_geometry(source, ball("ball").with_perception(label(1)));
    let id = id.unwrap();
    // The strict engine refuses the label, which the first engine ignores.
    let strict = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("strict", strict).unwrap();
    scene.add_renderer("last", second.clone()).unwrap();
    let bad = PerceptionProperties::new().with_label(RenderLabel::EMPTY);
    let version = scene.model_inspector().geometry_version().clone();
    let e = scene.register_anchored_geometry(source, ball("bad").with_perception(bad.clone()));
    assert!(
        e.unwrap_err()
            .to_string()
            .starts_with("geometry 'bad' on frame 'world'")
    );
    assert!(
        scene
            .assign_role_with(source, id, bad.clone(), RoleAssign::Replace)
            .is_err()
    );
    assert!(
        scene
            .change_shape(source, id, Mesh::new("no/such/file.obj"), None)
            .is_err()
    );
    assert_eq!((first.len(), second.len()), (1, 1));
    let inspector = scene.model_inspector();
    assert_eq!(inspector.num_geometries(), 1);
    assert!(
        inspector
            .geometry_version()
            .is_same_as(&version, Role::Perception)
            .unwrap()
    );
    assert_eq!(inspector.shape(id).unwrap().type_name(), "Sphere");
    // An engine that refuses an existing visual is not added.
    scene.remove_renderer("strict").unwrap();
    scene
        .assign_role_with(source, id, bad, RoleAssign::Replace)
        .unwrap();
    let strict = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    assert!(scene.add_renderer("strict", strict).is_err());
    assert_eq!(scene.renderer_count(), 2);
}

#[test]
fn the_registry_reports_names_and_types() {
    let mut scene = SceneGraph::new();
    add_cpu(scene.model_mut());
    let e = scene.add_renderer("cpu", Ledger::default()).unwrap_err();
    assert!(e.to_string().contains("'cpu' already exists"), "{e}");
    let name = scene.renderer_type_name("cpu").unwrap();
    assert!(name.ends_with("RenderEngineCpu"), "{name}");
    assert_eq!(scene.renderer_type_name("gpu"), None);
    assert!(scene.has_renderer("cpu") && !scene.has_renderer("gpu"));
    let e = scene.remove_renderer("gpu").unwrap_err().to_string();
    assert!(
        e.contains("there is no renderer 'gpu'; renderers of this scene: [cpu]"),
        "{e}"
    );
    let copy = scene.clone();
    scene.remove_renderer("cpu").unwrap();
    assert_eq!((scene.renderer_count(), copy.renderer_count()), (0, 1));
}

#[test]
fn renderers_can_be_chosen_per_geometry() {
    let (a, b) = (Ledger::default(), Ledger::default());
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    scene.add_renderer("a", a.clone()).unwrap();
    let choose = |names: &[&str]| {
        PerceptionProperties::new().with_accepting_renderers(names.iter().copied())
    };
    let mut version = scene.model_inspector().geometry_version().clone();
    // True if the perception version has changed since the last call.
    let mut changed = |scene: &SceneGraph| {
        let now = scene.model_inspector().geometry_version().clone();
        let same = now.is_same_as(&version, Role::Perception).unwrap();
        version = now;
        !same
    };
    let only_b = ball("only b").with_perception(choose(&["b"]));
    let only_b = scene.register_anchored_geometry(source, only_b).unwrap();
    assert!(!changed(&scene), "no engine shows it yet");
    let all = ball("all").with_perception(choose(&[]));
    scene.register_anchored_geometry(source, all).unwrap();
    assert!(changed(&scene));
    assert_eq!(a.len(), 1, "an empty set means all");
    scene.add_renderer("b", b.clone()).unwrap();
    assert!(changed(&scene));
    assert_eq!(b.len(), 2);
    scene
        .assign_role_with(source, only_b, choose(&["c"]), RoleAssign::Replace)
        .unwrap();
    assert!(changed(&scene), "it is no longer shown");
    assert_eq!((a.len(), b.len()), (1, 1));
    scene.remove_geometry(source, only_b).unwrap();
    assert!(!changed(&scene));
    scene.remove_renderer("a").unwrap();
    assert!(changed(&scene));
}

#[test]
fn a_snapshot_finds_its_engines_by_name() {
    let mut scene = SceneGraph::new();
    scene.add_renderer("a", Ledger::default()).unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let ctx = b.build().unwrap().default_context();
    let query = ctx.eval(scene.query).unwrap();
    assert!(query.render_engine_by_name("a").is_ok());
    let e = query.render_engine_by_name("b").err().unwrap().to_string();
    assert!(e.contains("'b'") && e.contains("[a]"), "{e}");
}

#[test]
fn show_window_is_warned_about_once() {
    let info = CameraInfo::from_fov_y(4, 3, 1.0).unwrap();
    let clipping = ClippingRange::new(0.1, 10.0).unwrap();
    let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
    let plain = ColorRenderCamera::from_core(core);
    let shown = plain.clone().with_show_window(true);
    let no_poses = |_| None;
    let view = RenderView::new(Isometry3::identity(), &no_poses);
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let draw = |camera: &ColorRenderCamera| {
        let mut image = ImageRgba8U::new(4, 3);
        engine.render_color(&view, camera, &mut image).unwrap();
        let mut image = ImageLabel16I::new(4, 3);
        engine.render_label(&view, camera, &mut image).unwrap();
    };
    assert_eq!(warnings_of(|| draw(&plain)).1, [""; 0]);
    let (_, warnings) = warnings_of(|| (0..3).for_each(|_| draw(&shown)));
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.starts_with("RenderEngineCpu: show_window"),
        "{warning}"
    );
}

#[test]
fn a_spot_light_without_a_cone_angle_is_warned_about() {
    let engine = |light_type, cone_angle| {
        let light = LightParameter {
            light_type,
            cone_angle,
            ..LightParameter::default()
        };
        let params = RenderEngineCpuParams {
            lights: vec![LightParameter::default(), light],
            ..RenderEngineCpuParams::default()
        };
        let (engine, warnings) = warnings_of(|| RenderEngineCpu::new(params));
        engine.unwrap();
        warnings
    };
    let warnings = engine(LightType::Spot, 0.0);
    assert!(
        warnings.len() == 1 && warnings[0].contains("light 1: cone_angle"),
        "{warnings:?}"
    );
    assert_eq!(engine(LightType::Spot, 10.0), [""; 0]);
    assert_eq!(engine(LightType::Point, 0.0), [""; 0]);
}

#[test]
fn unread_gltf_extensions_are_warned_about_unless_quieted() {
    let json = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [0, 0, 0], "max": [1, 1, 0]}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
        "extensionsUsed": ["KHR_materials_sheen", "KHR_texture_basisu", "EXT_other"]}"#;
    let file = InMemoryMesh::new(MemoryFile::new(json, ".gltf", "sheen.gltf"));
    let warnings = |params| {
        let mut engine = RenderEngineCpu::new(params).unwrap();
        let mesh: Shape = Mesh::new(file.clone()).into();
        let properties = PerceptionProperties::new();
        let register = || engine.register_visual(GeometryId::new(), &mesh, &properties);
        let (registered, warnings) = warnings_of(register);
        assert!(registered.unwrap());
        warnings
    };
    // As in Drake, there is no warning about KTX2 textures by default.
    assert_eq!(
        warnings(RenderEngineCpuParams::default()),
        ["sheen.gltf: the glTF extensions KHR_materials_sheen, EXT_other are not read"]
    );
    let quiet = |names: &[&str]| RenderEngineCpuParams {
        quiet_gltf_extensions: names.iter().map(ToString::to_string).collect(),
        ..RenderEngineCpuParams::default()
    };
    assert_eq!(
        warnings(quiet(&["KHR_materials_sheen", "EXT_other"])),
        ["sheen.gltf: the glTF extensions KHR_texture_basisu are not read"]
    );
    let all = ["KHR_materials_sheen", "EXT_other", "KHR_texture_basisu"];
    assert_eq!(warnings(quiet(&all)), [""; 0]);
}

#[test]
fn meshes_in_memory_are_drawn_like_their_files() {
    let text = "v -1 -1 0\nv 1 -1 0.2\nv 0 1 0.4\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let file = InMemoryMesh::new(MemoryFile::new(text, ".obj", "tetrahedron"));
    let red = PerceptionProperties::phong(Rgba::opaque(0.8, 0.2, 0.1).unwrap());
    let red = red.with_label(RenderLabel::new(7).unwrap());
    let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let [from_file, from_memory] = [GeometryId::new(), GeometryId::new()];
    let shape = Mesh::new(file.clone());
    engine
        .register_visual(from_file, &shape.into(), &red)
        .unwrap();
    let mesh = read_source(&file.into()).unwrap();
    assert!(engine.register_mesh(from_memory, &mesh, &red).unwrap());
    let twice = engine.register_mesh(from_memory, &mesh, &red);
    assert_eq!(twice.unwrap_err().kind(), ErrorKind::AlreadyExists);

    let info = CameraInfo::from_fov_y(64, 48, 0.9).unwrap();
    let camera = ColorRenderCamera::new("cpu", info);
    let draw = |id| {
        let poses = |other| (other == id).then(|| Isometry3::translation(0.0, 0.0, 4.0));
        let view = RenderView::new(Isometry3::identity(), &poses);
        let mut color = ImageRgba8U::new(64, 48);
        let mut label = ImageLabel16I::new(64, 48);
        engine.render_color(&view, &camera, &mut color).unwrap();
        engine.render_label(&view, &camera, &mut label).unwrap();
        (color, label)
    };
    let drawn = draw(from_memory);
    assert!(drawn.1.data().contains(&7));
    assert_eq!(drawn, draw(from_file));
}
