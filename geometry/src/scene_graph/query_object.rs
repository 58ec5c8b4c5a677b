//! Asking a scene at one moment: poses, distances, contacts, images.

use super::broadphase::LocalBound;
use super::inspector::SceneGraphInspector;
use super::kinematics::Kinematics;
use super::renderers::Renderer;
use super::state::GeometryState;
use crate::aabb::Aabb;
use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId};
use crate::properties::Role;
use crate::proximity::{self, PairDistance};
use crate::render::{
    ColorRenderCamera, DepthRenderCamera, ImageDepth32F, ImageLabel16I, ImageRgba8U, RenderEngine,
    RenderView,
};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use std::sync::{Arc, PoisonError, RwLockReadGuard};
use tarragon_framework::{Scalar, math};

/// Two overlapping geometries (Drake's `PenetrationAsPointPair`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("ball"))?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.5)?, "ball");
/// scene.register_geometry(source, frame, ball.with_proximity(ProximityProperties::new()))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor");
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
    /// Penetration depth (m), positive.
    pub depth: T,
    /// Unit normal in the world, out of B into A.
    pub nhat_ba_w: Vector3<T>,
    /// Point of A deepest inside B, in the world (m).
    pub p_wca: Vector3<T>,
    /// Point of B deepest inside A, in the world (m).
    pub p_wcb: Vector3<T>,
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
///     let ball = GeometryInstance::new(Isometry3::translation(x, 0.0, 0.0), Sphere::new(1.0)?, name);
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
/// # let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(1.0)?, "ball");
/// # let ball = scene.register_anchored_geometry(source, ball.with_proximity(ProximityProperties::new()))?;
/// # let mut b = DiagramBuilder::new();
/// # let scene = b.add("scene_graph", scene);
/// # let ctx = b.build()?.default_context();
/// let query = ctx.eval(scene.query)?; // a ball of radius 1 at the origin
/// let point = Vector3::new(0.0, 0.0, 3.0);
/// let near: Vec<SignedDistanceToPoint<f64>> = query.compute_signed_distance_to_point(&point, 5.0)?;
/// assert_eq!((near[0].id_g, near[0].distance, near[0].grad_w.z), (ball, 2.0, 1.0));
/// assert!(query.compute_signed_distance_to_point(&point, 1.5)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SignedDistanceToPoint<T: Scalar> {
    /// The geometry.
    pub id_g: GeometryId,
    /// Nearest point on its surface, in its own frame (m).
    pub p_gn: Vector3<T>,
    /// Signed distance (m), negative inside.
    pub distance: T,
    /// Gradient of the distance with respect to the point, in the world.
    pub grad_w: Vector3<T>,
}

/// A snapshot of a scene that answers questions (Drake's `QueryObject`).
///
/// It is owned: a clone costs two reference counts and stays valid, and unchanged, after the context
/// has moved on. Results come in a fixed order: pairs by (A, B) with A's id the smaller one, points
/// by id.
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
    pub(crate) state: Arc<GeometryState>,
    pub(crate) kinematics: Arc<Kinematics<T>>,
}

impl<T: Scalar> Clone for QueryObject<T> {
    fn clone(&self) -> Self {
        Self {
            state: self.state.clone(),
            kinematics: self.kinematics.clone(),
        }
    }
}

impl<T: Scalar> QueryObject<T> {
    /// The scene behind the snapshot.
    pub fn inspector(&self) -> SceneGraphInspector<'_> {
        self.state.inspector()
    }

    /// `X_WF` of a frame.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn pose_in_world(&self, frame: FrameId) -> Result<&Isometry3<T>> {
        Ok(&self.kinematics.x_wf[self.state.frame_number(frame)?])
    }
    /// `X_WG` of a geometry.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn geometry_pose_in_world(&self, geometry: GeometryId) -> Result<&Isometry3<T>> {
        Ok(&self.kinematics.x_wg[self.state.geometry_number(geometry)?])
    }

    /// Box in the world around a geometry, exact for spheres and capsules, else around a box in the
    /// geometry's frame; `None` for a half space.
    ///
    /// # Errors
    /// If there is no such geometry, or its mesh file can not be read.
    pub fn compute_aabb_in_world(&self, geometry: GeometryId) -> Result<Option<Aabb>> {
        let number = self.state.geometry_number(geometry)?;
        let geometry = &self.state.geometries[number];
        let bound = match geometry.bound {
            Some(bound) => bound,
            None => LocalBound::of(&geometry.shape)?,
        };
        Ok(bound.aabb(&self.kinematics.x_wg[number]).map(|b| {
            let (lower, upper) = (b.mins, b.maxs);
            let vector = |f: fn(f64, f64) -> f64| {
                Vector3::new(
                    f(lower.x, upper.x),
                    f(lower.y, upper.y),
                    f(lower.z, upper.z),
                )
            };
            Aabb::new(vector(|l, u| (l + u) / 2.0), vector(|l, u| (u - l) / 2.0))
        }))
    }

    /// Box in the world around everything with a role; `None` if nothing has a box.
    ///
    /// # Errors
    /// If a mesh file can not be read.
    pub fn compute_scene_aabb(&self, role: Role) -> Result<Option<Aabb>> {
        let mut bounds: Option<Aabb> = None;
        for id in self.inspector().geometry_ids_with_role(role) {
            if let Some(b) = self.compute_aabb_in_world(id)? {
                bounds = Some(bounds.map_or(b, |all| all.merged(&b)));
            }
        }
        Ok(bounds)
    }

    /// Numbers of the pairs to test within `max_distance`, sorted.
    fn near_pairs(&self, max_distance: f64) -> Vec<(usize, usize)> {
        let mut pairs = vec![];
        let state = &*self.state;
        self.kinematics
            .tree(state)
            .for_each_pair(state.static_tree(), max_distance, |a, b| {
                if state.is_candidate(a, b) {
                    pairs.push((a, b));
                }
            });
        pairs.sort_unstable();
        pairs
    }

    fn pair(&self, (a, b): (usize, usize), max_distance: f64) -> Result<Option<PairDistance<T>>> {
        let (ga, gb) = (&self.state.geometries[a], &self.state.geometries[b]);
        let (xa, xb) = (&self.kinematics.x_wg[a], &self.kinematics.x_wg[b]);
        let pair = || {
            let a_true = proximity::has_true_surface(&ga.shape, ga.proximity.as_ref())?;
            let b_true = proximity::has_true_surface(&gb.shape, gb.proximity.as_ref())?;
            let (a, b, limit) = (&ga.shape, &gb.shape, max_distance);
            if a_true || b_true {
                return proximity::signed_distance_true_surface(
                    a, a_true, xa, b, b_true, xb, limit,
                );
            }
            proximity::signed_distance_within(a, xa, b, xb, limit)
        };
        pair().map_err(|e| e.at(&format!("geometries '{}' and '{}'", ga.name, gb.name)))
    }

    fn signed_distance_pair(
        &self,
        (a, b): (usize, usize),
        found: &PairDistance<T>,
    ) -> SignedDistancePair<T> {
        let in_geometry = |i: usize, p_w: &Vector3<T>| {
            self.kinematics.x_wg[i]
                .inverse_transform_point(&(*p_w).into())
                .coords
        };
        SignedDistancePair {
            id_a: self.state.geometries[a].id,
            id_b: self.state.geometries[b].id,
            distance: found.distance,
            nhat_ba_w: found.nhat_ba_w,
            p_aca: in_geometry(a, &found.p_wca),
            p_bcb: in_geometry(b, &found.p_wcb),
        }
    }

    /// All pairs of candidates that overlap.
    ///
    /// # Errors
    /// If a pair whose bounding boxes overlap has shapes that are not supported yet.
    pub fn compute_point_pair_penetration(&self) -> Result<Vec<PenetrationAsPointPair<T>>> {
        let mut results = vec![];
        for (a, b) in self.near_pairs(0.0) {
            let found = self.pair((a, b), 0.0)?;
            if let Some(found) = found.filter(|f| f.distance.re() < 0.0) {
                results.push(PenetrationAsPointPair {
                    id_a: self.state.geometries[a].id,
                    id_b: self.state.geometries[b].id,
                    depth: -found.distance,
                    nhat_ba_w: found.nhat_ba_w,
                    p_wca: found.p_wca,
                    p_wcb: found.p_wcb,
                });
            }
        }
        Ok(results)
    }

    /// True if any two candidates overlap.
    ///
    /// # Errors
    /// As [`QueryObject::compute_point_pair_penetration`].
    pub fn has_collisions(&self) -> Result<bool> {
        for pair in self.near_pairs(0.0) {
            if self.pair(pair, 0.0)?.is_some_and(|f| f.distance.re() < 0.0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Candidates whose bounding boxes overlap.
    pub fn find_collision_candidates(&self) -> Vec<(GeometryId, GeometryId)> {
        let id = |i: usize| self.state.geometries[i].id;
        let pairs = self.near_pairs(0.0);
        pairs.into_iter().map(|(a, b)| (id(a), id(b))).collect()
    }

    /// Signed distances of all candidates that are at most `max_distance` (m) apart; infinity for
    /// all candidates.
    ///
    /// # Errors
    /// If `max_distance` is negative or NaN, or a pair to be tested has shapes that are not
    /// supported yet.
    pub fn compute_signed_distance_pairwise_closest_points(
        &self,
        max_distance: f64,
    ) -> Result<Vec<SignedDistancePair<T>>> {
        if max_distance.is_nan() || max_distance < 0.0 {
            return Err(Error::invalid(format!(
                "max_distance is {max_distance}, a distance of at least 0 m is expected"
            )));
        }
        let mut results = vec![];
        for pair in self.near_pairs(max_distance) {
            let found = self.pair(pair, max_distance)?;
            if let Some(found) = found.filter(|f| f.distance.re() <= max_distance) {
                results.push(self.signed_distance_pair(pair, &found));
            }
        }
        Ok(results)
    }

    /// Signed distance between two geometries, whether filtered or not.
    ///
    /// # Errors
    /// If a geometry is unknown or has no proximity role, both are the same, or the shapes are not
    /// supported yet.
    pub fn compute_signed_distance_pair_closest_points(
        &self,
        a: GeometryId,
        b: GeometryId,
    ) -> Result<SignedDistancePair<T>> {
        let mut pair = (
            self.state.geometry_number(a)?,
            self.state.geometry_number(b)?,
        );
        if pair.0 > pair.1 {
            pair = (pair.1, pair.0);
        }
        for i in [pair.0, pair.1] {
            let geometry = &self.state.geometries[i];
            if geometry.proximity.is_none() {
                let name = &geometry.name;
                return Err(Error::invalid(format!(
                    "geometry '{name}' has no proximity role"
                )));
            }
        }
        if pair.0 == pair.1 {
            let name = &self.state.geometries[pair.0].name;
            return Err(Error::invalid(format!(
                "the distance of geometry '{name}' to itself is not defined"
            )));
        }
        let found = self.pair(pair, f64::INFINITY)?;
        let found = found.expect("nothing is farther than infinity");
        Ok(self.signed_distance_pair(pair, &found))
    }

    /// Signed distances from the point `p_WQ` (m) to all geometries with the proximity role that
    /// are at most `threshold` (m) away.
    ///
    /// # Errors
    /// If the scene has a shape that is not supported yet.
    pub fn compute_signed_distance_to_point(
        &self,
        p_wq: &Vector3<T>,
        threshold: f64,
    ) -> Result<Vec<SignedDistanceToPoint<T>>> {
        let mut results = vec![];
        for (geometry, x_wg) in self.state.geometries.iter().zip(&self.kinematics.x_wg) {
            if geometry.bound.is_none() {
                continue;
            }
            let found = proximity::distance_to_point(&geometry.shape, x_wg, p_wq)
                .map_err(|e| e.at(&format!("geometry '{}'", geometry.name)))?;
            if found.distance.re() <= threshold {
                results.push(SignedDistanceToPoint {
                    id_g: geometry.id,
                    p_gn: found.p_gn,
                    distance: found.distance,
                    grad_w: found.grad_w,
                });
            }
        }
        Ok(results)
    }

    /// Draws a colour image from a camera at `X_PC` in the frame P; derivatives are not used.
    ///
    /// # Errors
    /// If the frame or the camera's renderer is unknown, or the image has the wrong size.
    pub fn render_color_image(
        &self,
        camera: &ColorRenderCamera,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        let renderer = camera.core().renderer_name();
        self.render(
            renderer,
            parent_frame,
            &(x_pc * camera.core().x_bs()),
            |engine, view| engine.render_color(view, camera, image),
        )
    }

    /// Draws a depth image; see [`QueryObject::render_color_image`].
    ///
    /// # Errors
    /// As [`QueryObject::render_color_image`].
    pub fn render_depth_image(
        &self,
        camera: &DepthRenderCamera,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        let renderer = camera.core().renderer_name();
        self.render(
            renderer,
            parent_frame,
            &(x_pc * camera.core().x_bs()),
            |engine, view| engine.render_depth(view, camera, image),
        )
    }

    /// Draws a label image; see [`QueryObject::render_color_image`].
    ///
    /// # Errors
    /// As [`QueryObject::render_color_image`].
    pub fn render_label_image(
        &self,
        camera: &ColorRenderCamera,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        let renderer = camera.core().renderer_name();
        self.render(
            renderer,
            parent_frame,
            &(x_pc * camera.core().x_bs()),
            |engine, view| engine.render_label(view, camera, image),
        )
    }

    fn render(
        &self,
        renderer: &str,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        draw: impl FnOnce(&dyn RenderEngine, &RenderView<'_>) -> Result<()>,
    ) -> Result<()> {
        let engine = read(self.state.renderer(renderer)?);
        let x_wc = values(self.pose_in_world(parent_frame)?) * x_pc;
        let poses = |id| Some(values(&self.kinematics.x_wg[self.state.visual_owner(id)?]));
        draw(&**engine, &RenderView::new(x_wc, &poses))
    }
}

fn read(renderer: &Renderer) -> RwLockReadGuard<'_, Box<dyn RenderEngine>> {
    renderer.read().unwrap_or_else(PoisonError::into_inner)
}

/// A pose without its derivatives.
fn values<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    let q = &x.rotation.coords;
    let q = Quaternion::new(q.w.re(), q.x.re(), q.y.re(), q.z.re());
    let p = x.translation.vector.map(|x| x.re());
    math::pose(UnitQuaternion::new_unchecked(q), p)
}
