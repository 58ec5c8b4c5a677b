//! Scenes as data, built here and in pydrake.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use serde::Serialize;
use tarragon_framework::prelude::*;
use tarragon_geometry::*;
use tarragon_lcm::Lcm;
use tarragon_visualization::{DrakeVisualizer, DrakeVisualizerParams};

/// Quaternion w, x, y, z and position.
pub(crate) type Pose = [f64; 7];

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Scene {
    pub(crate) sources: Vec<String>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) geometries: Vec<Geometry>,
    pub(crate) role: &'static str,
    pub(crate) show_hydroelastic: bool,
    pub(crate) use_role_channel_suffix: bool,
    pub(crate) default_color: [f64; 4],
    pub(crate) time: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Frame {
    pub(crate) source: usize,
    pub(crate) name: String,
    pub(crate) group: i32,
    pub(crate) parent: Option<usize>,
    pub(crate) pose: Pose,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Geometry {
    pub(crate) source: usize,
    pub(crate) frame: Option<usize>,
    pub(crate) name: String,
    pub(crate) shape: Form,
    pub(crate) pose: Pose,
    pub(crate) illustration: Option<Look>,
    pub(crate) proximity: Option<Touch>,
    pub(crate) perception: Option<Look>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) enum Form {
    Box([f64; 3]),
    Sphere(f64),
    Cylinder([f64; 2]),
    Capsule([f64; 2]),
    Ellipsoid([f64; 3]),
    HalfSpace,
    MeshAt { path: String, scale: [f64; 3] },
    MeshOf { obj: String, scale: [f64; 3] },
    ConvexOf { obj: String, scale: [f64; 3] },
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Look {
    pub(crate) diffuse: Option<[f64; 4]>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Touch {
    pub(crate) diffuse: Option<[f64; 4]>,
    /// Resolution hint of a rigid geometry.
    pub(crate) rigid: Option<f64>,
    /// Resolution hint of a compliant geometry.
    pub(crate) compliant: Option<f64>,
}

impl Form {
    fn shape(&self) -> Shape {
        let of = |obj: &str| InMemoryMesh::new(MemoryFile::new(obj, ".obj", "mesh.obj"));
        let scale = |s: &[f64; 3]| Vector3::from(*s);
        match self {
            Self::Box([x, y, z]) => BoxShape::new(*x, *y, *z).unwrap().into(),
            Self::Sphere(r) => Sphere::new(*r).unwrap().into(),
            Self::Cylinder([r, l]) => Cylinder::new(*r, *l).unwrap().into(),
            Self::Capsule([r, l]) => Capsule::new(*r, *l).unwrap().into(),
            Self::Ellipsoid([a, b, c]) => Ellipsoid::new(*a, *b, *c).unwrap().into(),
            Self::HalfSpace => HalfSpace.into(),
            Self::MeshAt { path, scale: s } => Mesh::with_scale(&**path, scale(s)).unwrap().into(),
            Self::MeshOf { obj, scale: s } => Mesh::with_scale(of(obj), scale(s)).unwrap().into(),
            Self::ConvexOf { obj, scale: s } => {
                Convex::with_scale(of(obj), scale(s)).unwrap().into()
            }
        }
    }
}

pub(crate) fn pose(p: &Pose) -> Isometry3<f64> {
    let [w, x, y, z, at @ ..] = *p;
    let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    Isometry3::from_parts(Vector3::from(at).into(), rotation)
}

pub(crate) fn rgba([r, g, b, a]: [f64; 4]) -> Rgba {
    Rgba::new(r, g, b, a).unwrap()
}

impl Scene {
    /// Returns a scene with only a box fixed in the world.
    pub(crate) fn anchored() -> Self {
        Self {
            sources: vec!["toys".into()],
            geometries: vec![Geometry::new(None, "box", Form::Box([1.0, 2.0, 3.0]))],
            role: "illustration",
            default_color: [0.9, 0.9, 0.9, 1.0],
            ..Self::default()
        }
    }

    pub(crate) fn params(&self) -> DrakeVisualizerParams {
        DrakeVisualizerParams {
            role: match self.role {
                "illustration" => Role::Illustration,
                "proximity" => Role::Proximity,
                _ => Role::Perception,
            },
            show_hydroelastic: self.show_hydroelastic,
            use_role_channel_suffix: self.use_role_channel_suffix,
            default_color: rgba(self.default_color),
            ..DrakeVisualizerParams::default()
        }
    }

    /// Builds the scene with its sources and frames.
    pub(crate) fn register(&self) -> (SceneGraph, Vec<SourceId>, Vec<FrameId>) {
        let mut graph = SceneGraph::new();
        let sources: Vec<SourceId> = self
            .sources
            .iter()
            .map(|name| graph.register_source(name).unwrap())
            .collect();
        let mut frames: Vec<FrameId> = Vec::new();
        for f in &self.frames {
            let frame = GeometryFrame::new(&*f.name)
                .with_frame_group(f.group)
                .unwrap();
            frames.push(match f.parent {
                Some(parent) => graph
                    .register_frame_on(sources[f.source], frames[parent], frame)
                    .unwrap(),
                None => graph.register_frame(sources[f.source], frame).unwrap(),
            });
        }
        for g in &self.geometries {
            let frame = g.frame.map_or(graph.world_frame_id(), |f| frames[f]);
            graph
                .register_geometry(sources[g.source], frame, g.instance())
                .unwrap();
        }
        (graph, sources, frames)
    }

    /// Returns the poses of the frames of a source.
    pub(crate) fn poses(&self, source: usize, frames: &[FrameId]) -> FramePoseVector<f64> {
        let all = self.frames.iter().zip(frames);
        let own = all.filter(|(f, _)| f.source == source);
        FramePoseVector::from_iter(own.map(|(f, id)| (*id, pose(&f.pose))))
    }

    /// Publishes the scene at its `time` on a bus.
    pub(crate) fn publish(&self, lcm: &Lcm) {
        let (graph, sources, frames) = self.register();
        let mut b = DiagramBuilder::new();
        let graph = b.add("scene_graph", graph);
        let lcm = Some(lcm.clone());
        DrakeVisualizer::add_to_builder(&mut b, graph.query, lcm, self.params()).unwrap();
        let mut ctx = b.build().unwrap().default_context();
        for (i, source) in sources.iter().enumerate() {
            if self.frames.iter().any(|f| f.source == i) {
                let port = graph.source_pose_port(*source).unwrap();
                ctx.fix(port, self.poses(i, &frames)).unwrap();
            }
        }
        ctx.set_time(self.time);
        ctx.force_publish().unwrap();
    }
}

impl Geometry {
    /// Returns a geometry at the origin of its frame, with the illustration role.
    pub(crate) fn new(frame: Option<usize>, name: &str, shape: Form) -> Self {
        Self {
            source: 0,
            frame,
            name: name.into(),
            shape,
            pose: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            illustration: Some(Look::default()),
            proximity: None,
            perception: None,
        }
    }

    pub(crate) fn instance(&self) -> GeometryInstance {
        let shape = self.shape.shape();
        let mut instance = GeometryInstance::new(pose(&self.pose), shape, &self.name).unwrap();
        if let Some(look) = &self.illustration {
            let mut properties = IllustrationProperties::new();
            if let Some(color) = look.diffuse {
                properties = properties.with_diffuse(rgba(color));
            }
            instance = instance.with_illustration(properties);
        }
        if let Some(look) = &self.perception {
            let mut properties = PerceptionProperties::new();
            if let Some(color) = look.diffuse {
                properties = properties.with_diffuse(rgba(color));
            }
            instance = instance.with_perception(properties);
        }
        if let Some(touch) = &self.proximity {
            let mut properties = ProximityProperties::new();
            if let Some(color) = touch.diffuse {
                properties.set_untyped("phong", "diffuse", rgba(color));
            }
            if let Some(hint) = touch.rigid {
                properties = properties.with_rigid_hydroelastic();
                properties = properties.with_resolution_hint(hint).unwrap();
            }
            if let Some(hint) = touch.compliant {
                properties = properties.with_compliant_hydroelastic(1e6).unwrap();
                properties = match self.shape {
                    Form::HalfSpace => properties.with_slab_thickness(hint),
                    _ => properties.with_resolution_hint(hint),
                }
                .unwrap();
            }
            instance = instance.with_proximity(properties);
        }
        instance
    }
}
