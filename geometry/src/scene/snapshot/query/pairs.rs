//! Distances and penetrations of pairs.

use super::query_object::{LEAST_PART, PairNumbers};
use super::{PenetrationAsPointPair, PenetrationManifold, QueryObject, SparsePenetration};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::proximity::{self, PairAnswer, PairDistance};
use crate::scene::snapshot::broadphase::{Candidates, DynamicTree, unpack};
use crate::values::values_of_pose;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

impl<T: Scalar> QueryObject<T> {
    /// Calls `f` with the candidates within `margin` (m; a negative margin counts as 0).
    pub(super) fn with_candidates<R>(
        &self,
        margin: f64,
        f: impl FnOnce(&Candidates<'_>) -> R,
    ) -> R {
        let tree = (self.kernels.tree)(self);
        let candidates = tree.candidates(&self.state, margin.max(0.0));
        let result = f(&candidates);
        tree.put_back(candidates);
        result
    }

    pub(super) fn find_tree(&self) -> &DynamicTree {
        self.kinematics.tree(&self.state)
    }

    /// Returns the results of `f` for the candidates; see [`QueryObject::collect`]. Threads take at
    /// least `least` pairs at a time.
    pub(super) fn collect_pairs<R: Send>(
        &self,
        candidates: &Candidates<'_>,
        least: usize,
        f: impl Fn(PairNumbers) -> Result<Option<R>> + Sync + Send,
    ) -> Result<Vec<R>> {
        let mut found = vec![];
        self.add_pairs(candidates, least, &mut found, f)?;
        Ok(found)
    }

    /// Adds the results of `f` for the candidates to `found`, like [`Self::collect_pairs`].
    fn add_pairs<R: Send>(
        &self,
        candidates: &Candidates<'_>,
        least: usize,
        found: &mut Vec<R>,
        f: impl Fn(PairNumbers) -> Result<Option<R>> + Sync + Send,
    ) -> Result<()> {
        self.collect_parts(candidates.pairs(), least, found, |pairs, found| {
            // Candidates are selected in blocks, so that the two loops do not disturb each other.
            let mut selected = [0; 256];
            for (i, block) in pairs.chunks(selected.len()).enumerate() {
                let room = pairs.len() - i * selected.len();
                for pair in candidates.select(block, &mut selected) {
                    if let Some(answer) = f(unpack(*pair))? {
                        if found.is_empty() {
                            found.reserve(room);
                        }
                        found.push(answer);
                    }
                }
            }
            Ok(())
        })
    }

    #[inline]
    pub(super) fn pair<A: PairAnswer<T>>(
        &self,
        pair: PairNumbers,
        max_distance: f64,
    ) -> Result<Option<A>> {
        if self.lacks_derivatives(pair) {
            Ok(self.real_pair(pair, max_distance)?.map(A::lift))
        } else {
            let x_wg = |i: usize| self.kinematics.x_wg(i);
            self.pair_at(pair, x_wg(pair.0), x_wg(pair.1), max_distance)
        }
    }

    /// Returns true if there can be derivatives, but a pair certainly has none.
    #[inline]
    pub(super) fn lacks_derivatives(&self, (a, b): PairNumbers) -> bool {
        self.kinematics.lacks_derivatives(a) && self.kinematics.lacks_derivatives(b)
    }

    pub(super) fn find_distance(
        &self,
        pair: PairNumbers,
        max_distance: f64,
    ) -> Result<Option<PairDistance<T>>> {
        self.pair(pair, max_distance)
    }

    pub(super) fn find_real_distance(
        &self,
        pair: PairNumbers,
        max_distance: f64,
    ) -> Result<Option<PairDistance<f64>>> {
        self.real_pair(pair, max_distance)
    }

    /// Does the same as [`Self::pair`] without derivatives.
    fn real_pair<A: PairAnswer<f64>>(
        &self,
        pair: PairNumbers,
        max_distance: f64,
    ) -> Result<Option<A>> {
        let x_wg = |i: usize| values_of_pose(self.kinematics.x_wg(i));
        self.pair_at(pair, &x_wg(pair.0), &x_wg(pair.1), max_distance)
    }

    #[inline]
    fn pair_at<S: Scalar, A: PairAnswer<S>>(
        &self,
        (a, b): PairNumbers,
        x_wa: &Isometry3<S>,
        x_wb: &Isometry3<S>,
        max_distance: f64,
    ) -> Result<Option<A>> {
        let (ga, gb) = (&self.state.geometries[a], &self.state.geometries[b]);
        let (a, b) = (ga.form.body(&ga.shape), gb.form.body(&gb.shape));
        let found = proximity::closest_of(a, x_wa, b, x_wb, max_distance);
        found.map_err(|e| e.at(format!("geometries '{}' and '{}'", ga.name, gb.name)))
    }

    /// Returns all candidate pairs that overlap, by (A, B). Pairs that only touch, at distance
    /// zero, are not included.
    ///
    /// # Errors
    /// Returns an error if a pair whose bounding boxes overlap has unsupported shapes.
    pub fn compute_point_pair_penetration(&self) -> Result<Vec<PenetrationAsPointPair<T>>> {
        (self.kernels.penetrations)(self)
    }

    pub(super) fn find_penetrations(&self) -> Result<Vec<PenetrationAsPointPair<T>>> {
        let lift = |pair: PenetrationAsPointPair<f64>| pair.map(T::from);
        let mut found = vec![];
        self.add_penetrations(0.0, &|_, _| Some(0.0), &mut found, lift, |pair| pair)?;
        Ok(found)
    }

    /// Does the same as [`Self::compute_point_pair_penetration`] for the pairs (A, B) that are
    /// `wanted`; others cost no more than the test of their bounding boxes. Pairs without
    /// derivatives take no space for them.
    ///
    /// # Errors
    /// Returns an error if a wanted pair whose bounding boxes overlap has unsupported shapes.
    pub fn compute_point_pair_penetration_where(
        &self,
        wanted: impl Fn(GeometryId, GeometryId) -> bool + Sync,
    ) -> Result<Vec<SparsePenetration<T>>> {
        let mut found = vec![];
        self.update_point_pair_penetration_where(wanted, &mut found)?;
        Ok(found)
    }

    /// Does the same as [`Self::compute_point_pair_penetration_where`], and replaces what `found`
    /// holds, whose memory is used again.
    ///
    /// # Errors
    /// Returns an error in the cases of that method; `found` is then incomplete.
    pub fn update_point_pair_penetration_where(
        &self,
        wanted: impl Fn(GeometryId, GeometryId) -> bool + Sync,
        found: &mut Vec<SparsePenetration<T>>,
    ) -> Result<()> {
        let reach = |a, b| wanted(a, b).then_some(0.0);
        self.update_point_pairs_within(0.0, reach, found)
    }

    /// Replaces what `found` holds by the pairs (A, B) whose signed distance is less than their
    /// `reach` (m), such as those that interact before they overlap. The depth of a pair that is
    /// apart is negative, and its points are the nearest ones. A negative reach selects overlaps of
    /// more than that depth; a pair without a reach costs no more than the test of its bounding
    /// boxes. With a reach of 0, this is [`Self::update_point_pair_penetration_where`].
    ///
    /// No reach may exceed `max_reach` (m): pairs farther apart may be missing.
    ///
    /// # Errors
    /// Returns an error if `max_reach` is NaN, or if a pair with a reach whose bounding boxes are
    /// within `max_reach` of each other has unsupported shapes; `found` is then incomplete.
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
    /// let poses = FramePoseVector::from_iter([(frame, Isometry3::translation(0.0, 0.0, 0.75))]);
    /// ctx.fix(scene.source_pose_port(source)?, poses)?;
    /// let query = ctx.eval(scene.query)?; // the ball is 0.25 m above the floor
    /// let mut pairs = vec![];
    /// query.update_point_pairs_within(0.5, |_, _| Some(0.5), &mut pairs)?;
    /// assert_eq!(pairs[0].real.depth, -0.25);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_point_pairs_within(
        &self,
        max_reach: f64,
        reach: impl Fn(GeometryId, GeometryId) -> Option<f64> + Sync,
        found: &mut Vec<SparsePenetration<T>>,
    ) -> Result<()> {
        check_max_distance("update_point_pairs_within", "max_reach", max_reach)?;
        found.clear();
        self.add_penetrations(
            max_reach,
            &reach,
            found,
            SparsePenetration::constant,
            SparsePenetration::from,
        )
    }

    /// Adds the candidate pairs within their reach, none above `max_reach`, each turned into an
    /// answer; `constant` takes those that certainly have no derivatives.
    fn add_penetrations<R: Send>(
        &self,
        max_reach: f64,
        reach: &(impl Fn(GeometryId, GeometryId) -> Option<f64> + Sync),
        found: &mut Vec<R>,
        constant: impl Fn(PenetrationAsPointPair<f64>) -> R + Sync + Send,
        answer: impl Fn(PenetrationAsPointPair<T>) -> R + Sync + Send,
    ) -> Result<()> {
        let near = |pair| match self.reach_of(pair, reach) {
            Some(reach) => self.near_as(pair, reach, &constant, &answer),
            None => Ok(None),
        };
        self.with_candidates(max_reach, |candidates| {
            self.add_pairs(candidates, LEAST_PART, found, near)
        })
    }

    /// Returns a pair that is within a reach (m), turned into an answer as in
    /// [`Self::add_penetrations`].
    #[inline(always)]
    pub(super) fn near_as<R>(
        &self,
        pair: PairNumbers,
        reach: f64,
        constant: impl Fn(PenetrationAsPointPair<f64>) -> R,
        answer: impl Fn(PenetrationAsPointPair<T>) -> R,
    ) -> Result<Option<R>> {
        if self.lacks_derivatives(pair) {
            let found = (self.kernels.real_distance)(self, pair, reach)?;
            let found = found.filter(|f| f.distance < reach);
            return Ok(found.map(|found| constant(self.penetration(pair, &found))));
        }
        let found = (self.kernels.distance)(self, pair, reach)?;
        let found = found.filter(|f| f.distance.re() < reach);
        Ok(found.map(|found| answer(self.penetration(pair, &found))))
    }

    /// Returns all candidate pairs that overlap, sorted by (A, B), each with one to eight points.
    ///
    /// Pairs that touch along a line or a face have several points: boxes on each other, and boxes,
    /// capsules and cylinders on half spaces. Boxes, capsules, cylinders and spheres also have
    /// several points on height fields and on true surfaces of meshes. The lowest face of a box or
    /// of an upright cylinder also touches the peaks of a height field. The points of a pair share
    /// the normal of the deepest
    /// overlap; on height fields and meshes, each point has its own normal. Other pairs have the
    /// single point of [`Self::compute_point_pair_penetration`].
    ///
    /// # Errors
    /// Returns an error in the cases of [`Self::compute_point_pair_penetration`].
    pub fn compute_penetration_manifolds(&self) -> Result<Vec<PenetrationManifold<T>>> {
        self.compute_penetration_manifolds_where(|_, _| true)
    }

    /// Does the same as [`Self::compute_penetration_manifolds`] for the pairs (A, B) that are
    /// `wanted`; others cost no more than the test of their bounding boxes.
    ///
    /// # Errors
    /// Returns an error if a wanted pair whose bounding boxes overlap has unsupported shapes.
    pub fn compute_penetration_manifolds_where(
        &self,
        wanted: impl Fn(GeometryId, GeometryId) -> bool + Sync,
    ) -> Result<Vec<PenetrationManifold<T>>> {
        self.compute_manifolds_within(0.0, |a, b| wanted(a, b).then_some(0.0))
    }

    /// Returns the pairs (A, B) that [`Self::update_point_pairs_within`] finds, with several points
    /// as in [`Self::compute_penetration_manifolds`]: all that are within the `reach` (m) of their
    /// pair. The depth of a point that is apart is negative.
    ///
    /// # Errors
    /// Returns an error in the cases of [`Self::update_point_pairs_within`].
    pub fn compute_manifolds_within(
        &self,
        max_reach: f64,
        reach: impl Fn(GeometryId, GeometryId) -> Option<f64> + Sync,
    ) -> Result<Vec<PenetrationManifold<T>>> {
        check_max_distance("compute_manifolds_within", "max_reach", max_reach)?;
        let near = |pair| match self.reach_of(pair, &reach) {
            Some(reach) => (self.kernels.manifold)(self, pair, reach),
            None => Ok(None),
        };
        self.with_candidates(max_reach, |candidates| {
            self.collect_pairs(candidates, LEAST_PART, near)
        })
    }

    pub(super) fn find_manifold(
        &self,
        pair: PairNumbers,
        reach: f64,
    ) -> Result<Option<PenetrationManifold<T>>> {
        let body = |i: usize| {
            let geometry = &self.state.geometries[i];
            geometry.form.body(&geometry.shape)
        };
        let (a, b) = (body(pair.0), body(pair.1));
        let x_wg = |i: usize| self.kinematics.x_wg(i);
        let nearest = || self.near(pair, reach);
        let Some((found, points)) =
            proximity::contacts(a, x_wg(pair.0), b, x_wg(pair.1), reach, nearest)?
        else {
            return Ok(None);
        };
        let deepest = self.penetration(pair, &found);
        let points = points.into_iter().map(|point| {
            let pair = PenetrationAsPointPair {
                depth: point.depth,
                p_wca: point.p_wca,
                p_wcb: point.p_wcb,
                nhat_ba_w: point.nhat_ba_w,
                ..deepest
            };
            (pair, point.id)
        });
        let mut points: Vec<_> = points.collect();
        if points.is_empty() {
            points.push((deepest, 0));
        }
        Ok(Some(PenetrationManifold { points }))
    }

    #[inline]
    pub(super) fn reach_of(
        &self,
        (a, b): PairNumbers,
        reach: &impl Fn(GeometryId, GeometryId) -> Option<f64>,
    ) -> Option<f64> {
        let id = |i: usize| self.state.geometries[i].id;
        reach(id(a), id(b))
    }

    #[inline]
    fn near(&self, pair: PairNumbers, reach: f64) -> Result<Option<PairDistance<T>>> {
        let found: Option<PairDistance<T>> = self.pair(pair, reach)?;
        Ok(found.filter(|f| f.distance.re() < reach))
    }

    #[inline]
    pub(super) fn penetration<S: Scalar>(
        &self,
        (a, b): PairNumbers,
        found: &PairDistance<S>,
    ) -> PenetrationAsPointPair<S> {
        PenetrationAsPointPair {
            id_a: self.state.geometries[a].id,
            id_b: self.state.geometries[b].id,
            depth: -found.distance,
            nhat_ba_w: found.nhat_ba_w,
            p_wca: found.p_wca,
            p_wcb: found.p_wcb,
        }
    }

    /// Returns true if any two candidates overlap. Stops at the first pair that does.
    ///
    /// # Errors
    /// Returns an error in the cases of [`QueryObject::compute_point_pair_penetration`].
    pub fn has_collisions(&self) -> Result<bool> {
        self.with_candidates(0.0, |candidates| {
            for pair in candidates.iter() {
                let found = (self.kernels.distance)(self, pair, 0.0)?;
                if found.is_some_and(|f| f.distance.re() < 0.0) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Returns the pairs that no filter excludes and whose bounding boxes overlap, by (A, B). A
    /// half space is compared with the box of the other geometry.
    pub fn find_collision_candidates(&self) -> Vec<(GeometryId, GeometryId)> {
        let id = |i: usize| self.state.geometries[i].id;
        self.with_candidates(0.0, |candidates| {
            candidates.iter().map(|(a, b)| (id(a), id(b))).collect()
        })
    }
}

/// Checks the maximum distance of a query of pairs (m), which is negative for minimum depths.
pub(super) fn check_max_distance(query: &str, argument: &str, max_distance: f64) -> Result<()> {
    if max_distance.is_nan() {
        return Err(Error::invalid(format!(
            "{query}: {argument} must be a number of metres or infinity, got NaN"
        )));
    }
    Ok(())
}
