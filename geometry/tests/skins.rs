//! Skins: where their vertices are, who sees them, and what is wrong with them.

use crate::deformable::Plain;
use nalgebra::{DVector, Isometry3, Vector3};
use proptest::prelude::*;
use tarragon_framework::prelude::*;
use tarragon_framework::{AutoDiff, DiagramScalar, math, warnings};
use tarragon_geometry::render::{
    CameraInfo, DepthRenderCamera, ImageDepth32F, RenderEngineCpu, RenderEngineCpuParams,
};
use tarragon_geometry::*;

const SQUARE: &str = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n";

fn square() -> GeometryInstance {
    let mesh = Mesh::new(InMemoryMesh::new(MemoryFile::new(SQUARE, ".obj", "square")));
    let instance = GeometryInstance::new(Isometry3::identity(), mesh, "square").unwrap();
    instance
        .with_illustration(IllustrationProperties::new())
        .with_perception(PerceptionProperties::new().with_label(RenderLabel::new(3).unwrap()))
}

/// A scene with the frames `a` and `b`.
struct Scene {
    graph: SceneGraph,
    source: SourceId,
    frames: [FrameId; 2],
}

impl Scene {
    fn new() -> Self {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("toys").unwrap();
        let frame = |name| {
            graph
                .register_frame(source, GeometryFrame::new(name))
                .unwrap()
        };
        let frames = ["a", "b"].map(frame);
        Self {
            graph,
            source,
            frames,
        }
    }

    /// Bones with the given poses of binding and weights of all four vertices.
    fn bones(&self, x_wf: [Isometry3<f64>; 2], weights: [[f64; 4]; 2]) -> Vec<Bone> {
        let bone = |k: usize| Bone {
            frame: self.frames[k],
            x_wf: x_wf[k],
            weights: (0..4).zip(weights[k]).collect(),
        };
        vec![bone(0), bone(1)]
    }

    fn add(&mut self, skin: Skin) -> Result<GeometryId> {
        self.graph.register_skin(self.source, square(), skin)
    }

    /// Returns the vertices of a skin where the frames have the given poses.
    fn vertices<T: DiagramScalar>(&self, skin: GeometryId, poses: [Isometry3<T>; 2]) -> DVector<T> {
        let mut b = DiagramBuilder::new();
        let block = b.add("scene_graph", self.graph.clone());
        let diagram = b.build().unwrap().to_scalar::<T>().unwrap();
        let ports = diagram.ports(&block).unwrap();
        let mut ctx = diagram.default_context();
        let poses = FramePoseVector::from_iter(self.frames.into_iter().zip(poses));
        ctx.fix(ports.source_pose_port(self.source).unwrap(), poses)
            .unwrap();
        let query = ctx.eval(ports.query).unwrap();
        let found = query.driven_mesh_configurations_in_world(skin, Role::Perception);
        found.unwrap().remove(0)
    }
}

fn pose_of(x: [f64; 6]) -> Isometry3<f64> {
    math::pose(
        math::rotation_exp(&Vector3::new(x[0], x[1], x[2])),
        Vector3::new(x[3], x[4], x[5]),
    )
}

fn poses() -> impl Strategy<Value = [Isometry3<f64>; 2]> {
    let numbers = prop::array::uniform6(-2.0..2.0_f64);
    [numbers.clone(), numbers].prop_map(|x| x.map(pose_of))
}

/// Rounding of a few products of coordinates of at most 10 m.
const ROUNDING: f64 = 1e-13;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn vertices_are_means_of_where_bones_take_them(
        bound in poses(),
        now in poses(),
        weights in prop::array::uniform2(prop::array::uniform4(0.1..5.0_f64)),
    ) {
        let mut scene = Scene::new();
        let skin = Skin::new(scene.bones(bound, weights));
        let skin = scene.add(skin).unwrap();
        let found = scene.vertices(skin, now);
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        for (v, [x, y]) in corners.into_iter().enumerate() {
            let taken = |k: usize| now[k] * bound[k].inverse() * nalgebra::Point3::new(x, y, 0.0);
            let [a, b] = [weights[0][v], weights[1][v]];
            let mean = (taken(0).coords * a + taken(1).coords * b) / (a + b);
            prop_assert!((mean - found.fixed_rows::<3>(3 * v)).norm() < ROUNDING);
        }
        // Where all frames are as they were bound, the surface is that of the file.
        let rest = scene.vertices(skin, bound);
        for (v, [x, y]) in corners.into_iter().enumerate() {
            let p = Vector3::new(x, y, 0.0);
            prop_assert!((p - rest.fixed_rows::<3>(3 * v)).norm() < ROUNDING);
        }
    }

    #[test]
    fn derivatives_are_those_of_differences(
        bound in poses(),
        now in poses(),
        rate in prop::array::uniform6(-1.0..1.0_f64),
        inflation in prop_oneof![Just(0.0), -0.5..0.5_f64],
    ) {
        let mut scene = Scene::new();
        let weights = [[1.0, 0.5, 0.3, 2.0], [0.2, 1.0, 2.0, 0.1]];
        let skin = Skin::new(scene.bones(bound, weights)).with_inflation(inflation).unwrap();
        let skin = scene.add(skin).unwrap();
        let moved = |t: f64| [now[0] * pose_of(rate.map(|x| x * t)), now[1]];
        let along: DVector<AutoDiff> = {
            let t = AutoDiff::variable(0.0, 0);
            let x = rate.map(|x| t * x);
            let turn = math::rotation_exp(&Vector3::new(x[0], x[1], x[2]));
            let step = math::pose(turn, Vector3::new(x[3], x[4], x[5]));
            let lifted = now.map(lift);
            scene.vertices(skin, [lifted[0] * step, lifted[1]])
        };
        let h = 1e-5;
        let [before, after] = [-h, h].map(|t| scene.vertices(skin, moved(t)));
        // A square with hardly any area turns fast when it is inflated: with a rate r, the mean is
        // off by about (r h)^2.
        let scale = 1.0 + (&after - &before).amax() / (2.0 * h);
        for k in 0..12 {
            let difference = (after[k] - before[k]) / (2.0 * h);
            let value = (before[k] + after[k]) / 2.0;
            prop_assert!((along[k].re - value).abs() < 1e-8 * scale * scale);
            prop_assert!((along[k].eps[0] - difference).abs() < 1e-5 * scale);
        }
    }
}

fn lift(x: Isometry3<f64>) -> Isometry3<AutoDiff> {
    let q = x.rotation.coords.map(AutoDiff::from);
    math::pose(
        nalgebra::UnitQuaternion::new_unchecked(q.into()),
        x.translation.vector.map(AutoDiff::from),
    )
}

#[test]
fn inflated_skins_are_moved_along_their_normals() {
    let mut scene = Scene::new();
    let turned = pose_of([0.3, -0.4, 0.5, 1.0, 2.0, 3.0]);
    let both = [Isometry3::identity(); 2];
    let skin = Skin::new(scene.bones(both, [[1.0; 4]; 2]));
    let skin = scene.add(skin.with_inflation(0.25).unwrap()).unwrap();
    let found = scene.vertices(skin, [turned; 2]);
    for (v, p) in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
        .into_iter()
        .enumerate()
    {
        let expected = turned * nalgebra::Point3::new(p[0], p[1], 0.25);
        assert!((expected.coords - found.fixed_rows::<3>(3 * v)).norm() < 1e-14);
    }
}

/// A camera 3 m above the square sees it where its bones are.
#[test]
fn images_and_bounds_show_the_current_skin() {
    let mut scene = Scene::new();
    let params = RenderEngineCpuParams::default();
    let engine = RenderEngineCpu::new(params).unwrap();
    scene.graph.add_renderer("r", engine).unwrap();
    let skin = Skin::new(scene.bones([Isometry3::identity(); 2], [[1.0; 4]; 2]));
    let skin = scene.add(skin).unwrap();
    let mut b = DiagramBuilder::new();
    let block = b.add("scene_graph", scene.graph.clone());
    let mut ctx = b.build().unwrap().default_context();
    let info = CameraInfo::from_fov_y(8, 8, 0.2).unwrap();
    let camera = DepthRenderCamera::new("r", info);
    let down = math::pose(
        math::rpy(std::f64::consts::PI, 0.0, 0.0),
        Vector3::z() * 3.0,
    );
    for z in [0.0, 1.0, -0.5] {
        let pose = Isometry3::translation(0.0, 0.0, z);
        let poses = FramePoseVector::from_iter(scene.frames.map(|frame| (frame, pose)));
        let port = block.source_pose_port(scene.source).unwrap();
        ctx.fix(port, poses).unwrap();
        let query = ctx.eval(block.query).unwrap();
        let mut image = ImageDepth32F::new(8, 8);
        let world = query.inspector().world_frame_id();
        query
            .render_depth_image(&camera, world, &down, &mut image)
            .unwrap();
        assert!((f64::from(image.at(4, 4)[0]) - (3.0 - z)).abs() < 1e-6);
        let aabb = query.compute_aabb_in_world(skin).unwrap().unwrap();
        assert_eq!(*aabb.center(), Vector3::new(0.0, 0.0, z));
        assert_eq!(*aabb.half_width(), Vector3::new(1.0, 1.0, 0.0));
        let obb = query.compute_obb_in_world(skin).unwrap().unwrap();
        assert!((obb.pose().translation.vector.z - z).abs() < 1e-15);
        let error = query.geometry_pose_in_world(skin).unwrap_err().to_string();
        assert!(error.contains("got a skin"), "{error}");
        let error = query.configurations_in_world(skin).unwrap_err().to_string();
        assert!(error.contains("must be deformable"), "{error}");
        let ray = Ray::new(Vector3::z() * 3.0, -Vector3::z());
        let hits = query.cast_rays(&[ray], &RayOptions::default()).unwrap();
        assert!(hits[0].is_none());
    }
    let inspector = scene.graph.model_inspector();
    assert!(inspector.is_driven(skin).unwrap() && !inspector.is_deformable(skin).unwrap());
    assert_eq!(
        inspector.all_driven_geometry_ids().collect::<Vec<_>>(),
        [skin]
    );
    assert_eq!(inspector.skin(skin).unwrap().unwrap().bones().len(), 2);
    assert_eq!(inspector.num_dynamic_geometries(), 1);
}

#[test]
fn engines_without_moving_vertices_leave_skins_out_with_a_warning() {
    let mut scene = Scene::new();
    scene.graph.add_renderer("before", Plain).unwrap();
    let bones = scene.bones([Isometry3::identity(); 2], [[1.0; 4]; 2]);
    let (added, warnings) = warnings::collect(|| scene.add(Skin::new(bones)));
    let skin = added.unwrap();
    let (added, more) = warnings::collect(|| scene.graph.add_renderer("after", Plain));
    added.unwrap();
    for said in [warnings, more] {
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("a skin is left out of images"), "{said:?}");
    }
    scene.vertices(skin, [Isometry3::<f64>::identity(); 2]);
    let mut b = DiagramBuilder::new();
    let block = b.add("scene_graph", scene.graph.clone());
    let mut ctx = b.build().unwrap().default_context();
    let poses = scene.frames.map(|frame| (frame, Isometry3::identity()));
    let port = block.source_pose_port(scene.source).unwrap();
    ctx.fix(port, FramePoseVector::from_iter(poses)).unwrap();
    assert!(
        ctx.eval(block.query)
            .unwrap()
            .render_engine_by_name("before")
            .is_ok()
    );
}

#[test]
fn wrong_skins_change_nothing() {
    let mut scene = Scene::new();
    let at = Isometry3::identity();
    let other = scene.graph.register_source("other").unwrap();
    let foreign = scene
        .graph
        .register_frame(other, GeometryFrame::new("c"))
        .unwrap();
    let good = scene.bones([at; 2], [[1.0; 4]; 2]);
    let changed = |change: &dyn Fn(&mut Bone)| {
        let mut bones = good.clone();
        change(&mut bones[1]);
        Skin::new(bones)
    };
    for (skin, text) in [
        (Skin::new(vec![]), "vertex 0 of the skin must have"),
        (
            changed(&|b| b.frame = foreign),
            "'c' of a bone belongs to another source",
        ),
        (changed(&|b| b.frame = FrameId::new()), "geometry 'square'"),
        (
            changed(&|b| b.weights[0] = (4, 1.0)),
            "bone 1 must have vertices below 4",
        ),
        (
            changed(&|b| b.weights[0].1 = -1.0),
            "weights of at least 0, got -1.0 for vertex 0",
        ),
        (
            changed(&|b| b.weights[0].1 = f64::NAN),
            "got NaN for vertex 0",
        ),
        (
            changed(&|b| b.weights[0].1 = f64::INFINITY),
            "got inf for vertex 0",
        ),
        (
            changed(&|b| b.x_wf.translation.x = f64::NAN),
            "bone 1 must have a finite pose",
        ),
    ] {
        let error = scene.add(skin).unwrap_err().to_string();
        assert!(error.contains(text), "'{text}' is not in: {error}");
    }
    assert!(Skin::new(vec![]).with_inflation(f64::NAN).is_err());
    let (graph, source) = (&mut scene.graph, scene.source);
    let ball = GeometryInstance::new(at, Sphere::new(1.0).unwrap(), "ball").unwrap();
    let error = graph
        .register_skin(source, ball, Skin::new(good.clone()))
        .unwrap_err();
    assert!(
        error.to_string().contains("must be a Mesh, got Sphere"),
        "{error}"
    );
    let solid = square().with_proximity(ProximityProperties::new());
    let error = graph
        .register_skin(source, solid, Skin::new(good.clone()))
        .unwrap_err();
    assert!(error.to_string().contains("proximity role"), "{error}");
    assert_eq!(graph.model_inspector().num_geometries(), 0);
    let skin = graph
        .register_skin(source, square(), Skin::new(good))
        .unwrap();
    let error = graph
        .assign_role(source, skin, ProximityProperties::new())
        .unwrap_err();
    assert!(error.to_string().contains("proximity role"), "{error}");
    let error = graph
        .change_shape(source, skin, Sphere::new(1.0).unwrap(), None)
        .unwrap_err();
    assert!(error.to_string().contains("the shape of a skin"), "{error}");
    graph.remove_geometry(source, skin).unwrap();
    assert_eq!(graph.model_inspector().all_driven_geometry_ids().count(), 0);
}
