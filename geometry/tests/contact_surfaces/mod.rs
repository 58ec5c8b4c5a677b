//! Properties of contact surfaces that hold for every pair of shapes: they are finite and within
//! both geometries, move with them, vary continuously and approach closed forms.

mod checks;
mod closed_forms;
mod derivatives;
mod faces_without_pressure;
mod invariance;
mod pairs;
mod paths;
mod solids;
mod threads;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_framework::random::{RandomDistribution, RandomGenerator};
use tarragon_geometry::{
    BoxShape, ContactSurface, FrameId, FramePoseVector, GeometryFrame, GeometryId,
    GeometryInstance, HydroelasticContactRepresentation, HydroelasticMesh, ProximityProperties,
    QueryObject, Result, SceneGraph, Shape, SourceId,
};

const POLYGON: HydroelasticContactRepresentation = HydroelasticContactRepresentation::Polygon;
const TRIANGLE: HydroelasticContactRepresentation = HydroelasticContactRepresentation::Triangle;

/// Random numbers for scenes.
struct Random(RandomGenerator);

impl Random {
    fn range(&mut self, low: f64, high: f64) -> f64 {
        self.0.uniform(low, high)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.range(0.0, n as f64) as usize).min(n - 1)
    }
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// Returns a number whose logarithm is uniformly distributed.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        self.range(low.ln(), high.ln()).exp()
    }
    fn cube(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.range(-1.0, 1.0))
    }
    fn direction(&mut self) -> Vector3<f64> {
        loop {
            let p = Vector3::from_fn(|_, _| self.0.sample(RandomDistribution::Gaussian));
            if let Some(n) = p.try_normalize(1e-3) {
                return n;
            }
        }
    }
    fn rotation(&mut self) -> UnitQuaternion<f64> {
        let q = self.direction() * std::f64::consts::PI;
        math::rotation_exp(&(q * self.range(0.0, 1.0)))
    }
    fn pose(&mut self, reach: f64) -> Isometry3<f64> {
        Isometry3::from_parts(Translation3::from(self.cube() * reach), self.rotation())
    }
}

/// A shape with its properties.
#[derive(Clone)]
struct Solid {
    shape: Shape,
    properties: ProximityProperties,
}

impl Solid {
    fn rigid(shape: impl Into<Shape>, hint: f64) -> Self {
        let properties = ProximityProperties::new().with_rigid_hydroelastic();
        Self {
            shape: shape.into(),
            properties: properties.with_resolution_hint(hint).unwrap(),
        }
    }
    fn compliant(shape: impl Into<Shape>, modulus: f64, hint: f64) -> Self {
        let properties = ProximityProperties::new().with_compliant_hydroelastic(modulus);
        let properties = properties.and_then(|p| p.with_resolution_hint(hint));
        Self {
            shape: shape.into(),
            properties: properties.unwrap(),
        }
    }
}

/// Two geometries that move.
struct PairScene {
    graph: SceneGraph,
    source: SourceId,
    context: Context<f64>,
    poses: InputPort<FramePoseVector<f64>>,
    query: OutputPort<QueryObject<f64>>,
    frames: [FrameId; 2],
    ids: [GeometryId; 2],
}

impl PairScene {
    /// Creates a scene in which the second geometry has the smaller id if `swapped` is true.
    fn new(solids: [&Solid; 2], swapped: bool) -> Result<Self> {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("pair")?;
        let mut add = |k: usize| -> Result<(FrameId, GeometryId)> {
            let name = ["a", "b"][k];
            let frame = graph.register_frame(source, GeometryFrame::new(name))?;
            let shape = solids[k].shape.clone();
            let instance = GeometryInstance::new(Isometry3::identity(), shape, name)?;
            let instance = instance.with_proximity(solids[k].properties.clone());
            Ok((frame, graph.register_geometry(source, frame, instance)?))
        };
        let [a, b] = if swapped {
            let b = add(1)?;
            [add(0)?, b]
        } else {
            [add(0)?, add(1)?]
        };
        let mut builder = DiagramBuilder::new();
        let model = graph.clone();
        let graph = builder.add("scene_graph", graph);
        Ok(Self {
            graph: model,
            source,
            context: builder.build()?.default_context(),
            poses: graph.source_pose_port(source)?,
            query: graph.query,
            frames: [a.0, b.0],
            ids: [a.1, b.1],
        })
    }

    fn query_at(&mut self, poses: [Isometry3<f64>; 2]) -> Result<&QueryObject<f64>> {
        let poses = FramePoseVector::from_iter(self.frames.into_iter().zip(poses));
        self.context.fix(self.poses, poses)?;
        self.context.eval(self.query)
    }

    /// Returns the surface of the pair at these poses; `None` if there is none.
    fn surface(
        &mut self,
        poses: [Isometry3<f64>; 2],
        representation: HydroelasticContactRepresentation,
    ) -> Result<Option<ContactSurface<f64>>> {
        let mut found = self
            .query_at(poses)?
            .compute_contact_surfaces(representation)?;
        assert!(found.len() <= 1);
        Ok(found.pop())
    }

    fn mesh(&mut self, k: usize) -> Option<HydroelasticMesh> {
        let id = self.ids[k];
        let query = self.query_at([Isometry3::identity(); 2]).unwrap();
        query.inspector().maybe_get_hydroelastic_mesh(id).unwrap()
    }
}

/// Integrals over a surface.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Force on M (N), and its torque about the world's origin (Nm).
    force: Vector3<f64>,
    torque: Vector3<f64>,
    area: f64,
    centroid: Vector3<f64>,
    /// Integral of the absolute pressure (N), to which rounding of the force is relative.
    size: f64,
}

impl Sums {
    fn of(surface: Option<&ContactSurface<f64>>) -> Self {
        let mut sums = Self::default();
        let Some(surface) = surface else {
            return sums;
        };
        for f in 0..surface.num_faces() {
            let size = surface.area(f) * surface.face_pressure(f);
            let force = surface.face_normal(f) * size;
            sums.force += force;
            sums.torque += surface.face_centroid(f).cross(&force);
            sums.size += size.abs();
        }
        sums.area = surface.total_area();
        sums.centroid = surface.centroid();
        sums
    }
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

fn cube(size: f64) -> BoxShape {
    BoxShape::new(size, size, size).unwrap()
}
