//! The snapshot that answers queries.

mod kernels;

use super::SignedDistancePair;
use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId};
use crate::properties::Role;
use crate::scene::bounds::LocalBound;
use crate::scene::model::GeometryState;
use crate::scene::model::SceneGraphInspector;
use crate::scene::snapshot::kinematics::Kinematics;
use crate::shape::Aabb;
use kernels::Kernels;
pub(super) use kernels::PairNumbers;
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tarragon_framework::Scalar;

/// A snapshot of a scene that answers queries (Drake's `QueryObject`).
///
/// It is owned: a clone costs two reference counts and stays valid, and unchanged, when the context
/// changes. Results have a fixed order: pairs by (A, B), where A has the smaller id, and points by
/// id.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{FramePoseVector, GeometryFrame, QueryObject, SceneGraph};
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("train"))?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let mut ctx = b.build()?.default_context();
/// let at = |x: f64| FramePoseVector::from_iter([(frame, Isometry3::translation(x, 0.0, 0.0))]);
/// ctx.fix(scene.source_pose_port(source)?, at(1.0))?;
/// let before: QueryObject<f64> = ctx.eval(scene.query)?.clone();
/// ctx.fix(scene.source_pose_port(source)?, at(2.0))?;
/// assert_eq!(before.pose_in_world(frame)?.translation.x, 1.0);
/// assert_eq!(ctx.eval(scene.query)?.pose_in_world(frame)?.translation.x, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct QueryObject<T: Scalar> {
    pub(in crate::scene) state: Arc<GeometryState>,
    pub(in crate::scene) kinematics: Arc<Kinematics<T>>,
    parallel: bool,
    pub(super) kernels: &'static Kernels<T>,
}

impl<T: Scalar> Clone for QueryObject<T> {
    fn clone(&self) -> Self {
        Self {
            state: self.state.clone(),
            kinematics: self.kinematics.clone(),
            parallel: self.parallel,
            kernels: self.kernels,
        }
    }
}

impl<T: Scalar> QueryObject<T> {
    /// Creates a snapshot without poses.
    pub(in crate::scene) fn new(state: Arc<GeometryState>) -> Self {
        Self {
            kinematics: Arc::new(Kinematics::new(&state)),
            state,
            parallel: false,
            kernels: Kernels::COMPILED,
        }
    }

    /// Returns the same snapshot with queries that use the threads of rayon's current pool
    /// (`true`), or only the calling thread (`false`, the default). The results are identical to
    /// the last bit.
    ///
    /// Threads pay off from a few hundred pairs, points or rays. These queries run in parallel:
    /// penetrations and signed distances of all pairs, distances to many points, and rays.
    #[must_use]
    pub fn with_parallel(&self, parallel: bool) -> Self {
        Self {
            parallel,
            ..self.clone()
        }
    }

    /// Returns a read-only view of the scene of the snapshot.
    pub fn inspector(&self) -> SceneGraphInspector<'_> {
        self.state.inspector()
    }

    /// Returns `X_WF` of a frame.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn pose_in_world(&self, frame: FrameId) -> Result<&Isometry3<T>> {
        Ok(self.kinematics.x_wf(self.state.frame_number(frame)?))
    }
    /// Returns `X_WF` of all frames, in the order of [`SceneGraphInspector::frame_ids`].
    pub fn frame_poses_in_world(&self) -> impl ExactSizeIterator<Item = (FrameId, &Isometry3<T>)> {
        let frames = self.state.frames.iter().enumerate();
        frames.map(|(number, frame)| (frame.id, self.kinematics.x_wf(number)))
    }
    /// Returns `X_PF` of a frame in its parent frame, as it was given; it equals `X_WF` if the
    /// parent is the world.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn pose_in_parent(&self, frame: FrameId) -> Result<&Isometry3<T>> {
        Ok(self.kinematics.x_pf(self.state.frame_number(frame)?))
    }
    /// Returns `X_WG` of a geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, or if it is deformable or a skin.
    pub fn geometry_pose_in_world(&self, geometry: GeometryId) -> Result<&Isometry3<T>> {
        let number = self.state.geometry_number(geometry)?;
        let registered = &self.state.geometries[number];
        if registered.is_driven() {
            let vertices = match registered.skin {
                Some(_) => "driven_mesh_configurations_in_world",
                None => "configurations_in_world",
            };
            return Err(Error::invalid(format!(
                "geometry '{}' must be rigid to have a pose in the world, got {}; its vertices are \
                 `{vertices}`",
                registered.name,
                registered.driven_kind()
            )));
        }
        Ok(self.kinematics.x_wg(number))
    }
    /// Returns the witness points of a pair in the world (m): `p_WCa` on A and `p_WCb` on B.
    ///
    /// ```
    /// use nalgebra::{Isometry3, Vector3};
    /// use tarragon_framework::prelude::*;
    /// use tarragon_geometry::*;
    /// # let mut scene = SceneGraph::new();
    /// # let source = scene.register_source("toys")?;
    /// # let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
    /// # for (on_frame, name) in [(true, "ball"), (false, "anchor")] {
    /// #     let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(1.0)?, name)?;
    /// #     let ball = ball.with_proximity(ProximityProperties::new());
    /// #     match on_frame {
    /// #         true => scene.register_geometry(source, frame, ball)?,
    /// #         false => scene.register_anchored_geometry(source, ball)?,
    /// #     };
    /// # }
    /// # let mut b = DiagramBuilder::new();
    /// # let scene = b.add("scene_graph", scene);
    /// # let mut ctx = b.build()?.default_context();
    /// # let x_wf = Isometry3::new(Vector3::new(0.0, 0.0, 5.0), Vector3::new(0.3, 2.0, 0.0));
    /// # ctx.fix(scene.source_pose_port(source)?, FramePoseVector::from_iter([(frame, x_wf)]))?;
    /// let query = ctx.eval(scene.query)?; // a ball of radius 1 at z = 5, and one at the origin
    /// let pairs = query.compute_signed_distance_pairwise_closest_points(10.0)?;
    /// let [on_a, on_b] = query.witness_points_in_world(&pairs[0])?;
    /// assert!((on_a - Vector3::new(0.0, 0.0, 4.0)).norm() < 1e-12);
    /// assert!((on_b - Vector3::new(0.0, 0.0, 1.0)).norm() < 1e-12);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn witness_points_in_world(&self, pair: &SignedDistancePair<T>) -> Result<[Vector3<T>; 2]> {
        let x_wa = self.geometry_pose_in_world(pair.id_a)?;
        let x_wb = self.geometry_pose_in_world(pair.id_b)?;
        let in_world = |x_wg: &Isometry3<T>, p| (x_wg * Point3::from(p)).coords;
        Ok([in_world(x_wa, pair.p_aca), in_world(x_wb, pair.p_bcb)])
    }

    /// Returns the world-aligned bounding box of a geometry. The box is exact for spheres and
    /// capsules, and for the current vertices of deformable geometry and skins; for other shapes it
    /// bounds a box in the geometry's frame. Returns `None` for a half space.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, or if its mesh file cannot be read.
    pub fn compute_aabb_in_world(&self, geometry: GeometryId) -> Result<Option<Aabb>> {
        let number = self.state.geometry_number(geometry)?;
        if let Some(deformable) = self.kinematics.deformables().get(number) {
            return Ok(aabb(deformable.shape().vertices()));
        }
        if let Some(vertices) = (self.kernels.skin_vertices)(self, number) {
            return Ok(aabb(&vertices));
        }
        let geometry = &self.state.geometries[number];
        let bound = match geometry.bound {
            Some(bound) => bound,
            None => LocalBound::of(&geometry.shape)?,
        };
        let in_world = bound.in_world(self.kinematics.x_wg(number));
        Ok(in_world.map(|(center, half)| Aabb::new(center, half)))
    }

    /// Returns the world-aligned bounding box of all geometries with a role; `None` if none of them
    /// has a box.
    ///
    /// # Errors
    /// Returns an error if a mesh file cannot be read.
    pub fn compute_scene_aabb(&self, role: Role) -> Result<Option<Aabb>> {
        let mut bounds: Option<Aabb> = None;
        for id in self.inspector().geometry_ids_with_role(role) {
            if let Some(b) = self.compute_aabb_in_world(id)? {
                bounds = Some(bounds.map_or(b, |all| all.merged(&b)));
            }
        }
        Ok(bounds)
    }

    /// Returns the number of a geometry, which must have the proximity role.
    pub(super) fn proximity_number(&self, id: GeometryId) -> Result<usize> {
        let number = self.state.geometry_number(id)?;
        let geometry = &self.state.geometries[number];
        if geometry.proximity.is_none() {
            return Err(Error::state(format!(
                "geometry '{}' has no proximity role; give it one with `SceneGraph::assign_role`",
                geometry.name
            )));
        }
        Ok(number)
    }

    /// Returns the results of `f` for the items, in their order, without the empty ones. Stops at
    /// the first error in that order.
    pub(super) fn collect<I: Sync, R: Send>(
        &self,
        items: &[I],
        f: impl Fn(&I) -> Result<Option<R>> + Sync + Send,
    ) -> Result<Vec<R>> {
        let mut found = vec![];
        self.collect_parts(items, LEAST_PART, &mut found, |items, found| {
            for item in items {
                found.extend(f(item)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Adds the results for parts of the items to `found`, in their order. Stops at the first error
    /// in that order. Threads take at least `least` items at a time.
    pub(super) fn collect_parts<I: Sync, R: Send>(
        &self,
        items: &[I],
        least: usize,
        found: &mut Vec<R>,
        all: impl Fn(&[I], &mut Vec<R>) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        if !self.parallel {
            return all(items, found);
        }
        // Several parts per thread, because some take longer than others; an idle thread takes the
        // next part.
        let threads = rayon::current_num_threads();
        let part = (items.len() / (8 * threads)).max(least);
        let taken = AtomicUsize::new(0);
        let work = |_| {
            std::iter::from_fn(|| {
                let i = taken.fetch_add(1, Ordering::Relaxed);
                let first = i.checked_mul(part).filter(|first| *first < items.len())?;
                let end = items.len().min(first + part);
                let mut found = vec![];
                let done = all(&items[first..end], &mut found);
                Some((i, done.map(|()| found)))
            })
        };
        let workers = (0..threads).into_par_iter().with_max_len(1);
        let mut parts: Vec<(usize, Result<Vec<R>>)> = workers.flat_map_iter(work).collect();
        parts.sort_unstable_by_key(|(i, _)| *i);
        let lengths = parts
            .iter()
            .map(|(_, part)| part.as_ref().map_or(0, Vec::len));
        found.reserve(lengths.sum());
        for (_, part) in parts {
            found.append(&mut part?);
        }
        Ok(())
    }
}

/// Returns the box around points; `None` if there are none.
fn aabb(points: &[Vector3<f64>]) -> Option<Aabb> {
    let first = points.first()?;
    let (low, high) = points
        .iter()
        .fold((*first, *first), |(low, high), p| (low.inf(p), high.sup(p)));
    Some(Aabb::new((low + high) / 2.0, (high - low) / 2.0))
}

/// Number of items that are worth a part of their own, if each takes about a microsecond.
pub(super) const LEAST_PART: usize = 16;

/// Checks the maximum distance of a query (m).
pub(super) fn check_distance(query: &str, name: &str, value: f64) -> Result<()> {
    if value.is_nan() || value < 0.0 {
        return Err(Error::invalid(format!(
            "{query}: {name} must be at least 0 m, got {value:?} m"
        )));
    }
    Ok(())
}
