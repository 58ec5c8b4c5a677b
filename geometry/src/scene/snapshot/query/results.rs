//! Results of proximity queries.

use crate::ids::GeometryId;
use nalgebra::Vector3;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Two overlapping geometries (Drake's `PenetrationAsPointPair`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.5)?, "ball")?;
/// scene.register_geometry(source, frame, ball.with_proximity(ProximityProperties::new()))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
/// scene.register_anchored_geometry(source, floor.with_proximity(ProximityProperties::new()))?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let mut ctx = b.build()?.default_context();
/// let poses = FramePoseVector::from_iter([(frame, Isometry3::translation(0.0, 0.0, 0.375))]);
/// ctx.fix(scene.source_pose_port(source)?, poses)?;
/// let query = ctx.eval(scene.query)?;
/// let pairs: Vec<PenetrationAsPointPair<f64>> = query.compute_point_pair_penetration()?;
/// assert_eq!((pairs[0].depth, pairs[0].nhat_ba_w.z), (0.125, 1.0)); // out of the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PenetrationAsPointPair<T: Scalar> {
    /// Geometry A, the one with the smaller id.
    pub id_a: GeometryId,
    /// Geometry B.
    pub id_b: GeometryId,
    /// Penetration depth (m), positive; minus the distance of a pair that is apart, which only
    /// queries with a reach find.
    pub depth: T,
    /// Unit normal in the world, out of B into A.
    pub nhat_ba_w: Vector3<T>,
    /// The point of A deepest inside B, or nearest to it, in the world (m).
    pub p_wca: Vector3<T>,
    /// The point of B deepest inside A, or nearest to it, in the world (m).
    pub p_wcb: Vector3<T>,
}

impl<T: Scalar> PenetrationAsPointPair<T> {
    /// Converts all numbers.
    #[inline]
    pub(super) fn map<S: Scalar>(&self, convert: impl Fn(T) -> S) -> PenetrationAsPointPair<S> {
        PenetrationAsPointPair {
            id_a: self.id_a,
            id_b: self.id_b,
            depth: convert(self.depth),
            nhat_ba_w: self.nhat_ba_w.map(&convert),
            p_wca: self.p_wca.map(&convert),
            p_wcb: self.p_wcb.map(&convert),
        }
    }

    /// Returns true if it certainly has no derivatives.
    fn is_constant(&self) -> bool {
        let vectors = [&self.nhat_ba_w, &self.p_wca, &self.p_wcb];
        let mut numbers = vectors.into_iter().flat_map(|x| x.iter());
        is_constant(&self.depth) && numbers.all(is_constant)
    }
}

/// Two overlapping geometries whose derivatives are left out where there certainly are none, which
/// saves time and space.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.5)?, "ball")?;
/// scene.register_geometry(source, frame, ball.with_proximity(ProximityProperties::new()))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
/// scene.register_anchored_geometry(source, floor.with_proximity(ProximityProperties::new()))?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let diagram = b.build()?.to_scalar::<AutoDiff>()?;
/// let mut ctx = diagram.default_context();
/// let pose = Isometry3::translation(0.0, 0.0, 0.375).cast();
/// let poses = FramePoseVector::from_iter([(frame, pose)]);
/// let ports = diagram.ports(&scene)?;
/// ctx.fix(ports.source_pose_port(source)?, poses)?;
/// let query = ctx.eval(ports.query)?;
/// let pairs = query.compute_point_pair_penetration_where(|_, _| true)?;
/// assert_eq!(pairs[0].real.depth, 0.125);
/// assert!(pairs[0].derived.is_none()); // the pose is a constant
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparsePenetration<T: Scalar> {
    /// The pair without derivatives.
    pub real: PenetrationAsPointPair<f64>,
    /// The pair with derivatives; `None` if it certainly has none.
    pub derived: Option<Box<PenetrationAsPointPair<T>>>,
}

impl<T: Scalar> SparsePenetration<T> {
    /// Creates a pair that has no derivatives.
    #[inline]
    pub(crate) fn constant(real: PenetrationAsPointPair<f64>) -> Self {
        Self {
            real,
            derived: None,
        }
    }

    /// Returns the pair in the scalar `T`.
    #[inline]
    pub fn to_pair(&self) -> PenetrationAsPointPair<T> {
        match &self.derived {
            Some(derived) => **derived,
            None => self.real.map(T::from),
        }
    }
}

impl<T: Scalar> From<PenetrationAsPointPair<T>> for SparsePenetration<T> {
    #[inline]
    fn from(pair: PenetrationAsPointPair<T>) -> Self {
        let constant = T::NDERIV == 0 || pair.is_constant();
        Self {
            real: pair.map(|x| x.re()),
            derived: (!constant).then(|| Box::new(pair)),
        }
    }
}

/// Two overlapping geometries with all points where they touch along a line or a face.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("block"))?;
/// let cube = BoxShape::new(1.0, 1.0, 1.0)?;
/// let block = GeometryInstance::new(Isometry3::identity(), cube, "block")?;
/// scene.register_geometry(source, frame, block.with_proximity(ProximityProperties::new()))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
/// scene.register_anchored_geometry(source, floor.with_proximity(ProximityProperties::new()))?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let mut ctx = b.build()?.default_context();
/// let poses = FramePoseVector::from_iter([(frame, Isometry3::translation(0.0, 0.0, 0.25))]);
/// ctx.fix(scene.source_pose_port(source)?, poses)?;
/// let query = ctx.eval(scene.query)?;
/// let pairs: Vec<PenetrationManifold<f64>> = query.compute_penetration_manifolds()?;
/// assert_eq!(pairs[0].points.len(), 4); // the lower corners
/// assert!(pairs[0].points.iter().all(|(point, _)| point.depth == 0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PenetrationManifold<T: Scalar> {
    /// The points, at least one, each with a number that stays the same as long as the same
    /// features of the two shapes meet there.
    pub points: Vec<(PenetrationAsPointPair<T>, u32)>,
}

/// Signed distance between two geometries (Drake's `SignedDistancePair`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let mut add = |name: &str, x: f64| -> Result<GeometryId> {
///     let x_wg = Isometry3::translation(x, 0.0, 0.0);
///     let ball = GeometryInstance::new(x_wg, Sphere::new(1.0)?, name)?;
///     scene.register_anchored_geometry(source, ball.with_proximity(ProximityProperties::new()))
/// };
/// let (a, b) = (add("left", 0.0)?, add("right", 3.0)?);
/// # let mut builder = DiagramBuilder::new();
/// # let scene = builder.add("scene_graph", scene);
/// # let ctx = builder.build()?.default_context();
/// let query = ctx.eval(scene.query)?;
/// let pair: SignedDistancePair<f64> = query.compute_signed_distance_pair_closest_points(a, b)?;
/// assert_eq!((pair.id_a, pair.distance), (a, 1.0));
/// assert_eq!(pair.p_bcb.x, -1.0); // in the frame of B
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SignedDistancePair<T: Scalar> {
    /// Geometry A, the one with the smaller id.
    pub id_a: GeometryId,
    /// Geometry B.
    pub id_b: GeometryId,
    /// Signed distance (m), negative when they overlap.
    pub distance: T,
    /// Unit vector in the world, the gradient of the distance with respect to A's position.
    pub nhat_ba_w: Vector3<T>,
    /// Witness point on A, in A's geometry frame (m).
    pub p_aca: Vector3<T>,
    /// Witness point on B, in B's geometry frame (m).
    pub p_bcb: Vector3<T>,
}

/// Signed distance from a geometry to a point (Drake's `SignedDistanceToPoint`).
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// # let mut scene = SceneGraph::new();
/// # let source = scene.register_source("toys")?;
/// # let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(1.0)?, "ball")?;
/// # let ball = ball.with_proximity(ProximityProperties::new());
/// # let ball = scene.register_anchored_geometry(source, ball)?;
/// # let mut b = DiagramBuilder::new();
/// # let scene = b.add("scene_graph", scene);
/// # let ctx = b.build()?.default_context();
/// let query = ctx.eval(scene.query)?; // a ball of radius 1 at the origin
/// let point = Vector3::new(0.0, 0.0, 3.0);
/// let near: Vec<SignedDistanceToPoint<f64>> =
///     query.compute_signed_distance_to_point(&point, 5.0)?;
/// assert_eq!((near[0].id_g, near[0].distance, near[0].grad_w.z), (ball, 2.0, 1.0));
/// assert!(query.compute_signed_distance_to_point(&point, 1.5)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SignedDistanceToPoint<T: Scalar> {
    /// The geometry.
    pub id_g: GeometryId,
    /// The nearest point on the surface of the geometry, in the geometry's frame (m).
    pub p_gn: Vector3<T>,
    /// Signed distance (m), negative inside.
    pub distance: T,
    /// Gradient of the distance with respect to the position of the point, in the world.
    pub grad_w: Vector3<T>,
}
