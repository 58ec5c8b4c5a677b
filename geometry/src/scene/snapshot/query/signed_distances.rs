//! Signed distances of pairs.

use super::pairs::check_max_distance;
use super::query_object::LEAST_PART;
use super::query_object::PairNumbers;
use super::{QueryObject, SignedDistancePair};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::proximity::WitnessPair;
use crate::scene::snapshot::broadphase::Candidates;
use tarragon_framework::Scalar;

impl<T: Scalar> QueryObject<T> {
    /// Returns the signed distances of all candidates that are at most `max_distance` (m) apart, by
    /// (A, B); infinity selects all candidates. Pairs at exactly that distance, and pairs that
    /// touch, are included. A negative `max_distance` selects the pairs that overlap by at least
    /// that depth.
    ///
    /// # Errors
    /// Returns an error if `max_distance` is NaN, or if a pair to be tested has unsupported shapes.
    pub fn compute_signed_distance_pairwise_closest_points(
        &self,
        max_distance: f64,
    ) -> Result<Vec<SignedDistancePair<T>>> {
        check_max_distance(
            "compute_signed_distance_pairwise_closest_points",
            "max_distance",
            max_distance,
        )?;
        (self.kernels.signed_distances)(self, max_distance)
    }

    pub(super) fn find_signed_distances(
        &self,
        max_distance: f64,
    ) -> Result<Vec<SignedDistancePair<T>>> {
        self.with_candidates(max_distance, |candidates| {
            self.signed_distance_pairs(candidates, max_distance)
        })
    }

    /// Returns the signed distances between one geometry and all others that it may be tested with,
    /// if they are at most `max_distance` (m) apart; infinity selects all of them. The ids
    /// determine whether the geometry comes first or second in a pair. The results equal what
    /// [`QueryObject::compute_signed_distance_pairwise_closest_points`] returns.
    ///
    /// # Errors
    /// Returns an error if the geometry is unknown or has no proximity role, if `max_distance` is
    /// NaN, or if a pair to be tested has unsupported shapes.
    pub fn compute_signed_distance_geometry_closest_points(
        &self,
        geometry: GeometryId,
        max_distance: f64,
    ) -> Result<Vec<SignedDistancePair<T>>> {
        check_max_distance(
            "compute_signed_distance_geometry_closest_points",
            "max_distance",
            max_distance,
        )?;
        let number = self.proximity_number(geometry)?;
        if self.state.geometries[number].bound.is_none() {
            return Ok(vec![]);
        }
        (self.kernels.signed_distances_of)(self, number, max_distance)
    }

    pub(super) fn find_signed_distances_of(
        &self,
        number: usize,
        max_distance: f64,
    ) -> Result<Vec<SignedDistancePair<T>>> {
        let tree = self.kinematics.tree(&self.state);
        let candidates = tree.candidates_of(&self.state, number, max_distance.max(0.0));
        let result = self.signed_distance_pairs(&candidates, max_distance);
        tree.put_back(candidates);
        result
    }

    /// Returns the signed distance between two geometries, whether the pair is filtered or not.
    ///
    /// # Errors
    /// Returns an error if a geometry is unknown or has no proximity role, if both are the same, or
    /// if a shape is not supported, such as a `MeshcatCone`.
    pub fn compute_signed_distance_pair_closest_points(
        &self,
        a: GeometryId,
        b: GeometryId,
    ) -> Result<SignedDistancePair<T>> {
        let (a, b) = (self.proximity_number(a)?, self.proximity_number(b)?);
        if a == b {
            let name = &self.state.geometries[a].name;
            return Err(Error::invalid(format!(
                "the two geometries must be different, got '{name}' twice"
            )));
        }
        let pair = (a.min(b), a.max(b));
        let found = (self.kernels.signed_distance)(self, pair, f64::INFINITY)?;
        Ok(found.expect("nothing is farther than infinity"))
    }

    pub(super) fn find_signed_distance(
        &self,
        pair: PairNumbers,
        max_distance: f64,
    ) -> Result<Option<SignedDistancePair<T>>> {
        let found = self.pair(pair, max_distance)?;
        Ok(found.map(|found| self.signed_distance_pair(pair, &found)))
    }

    fn signed_distance_pair(
        &self,
        (a, b): PairNumbers,
        found: &WitnessPair<T>,
    ) -> SignedDistancePair<T> {
        SignedDistancePair {
            id_a: self.state.geometries[a].id,
            id_b: self.state.geometries[b].id,
            distance: found.distance,
            nhat_ba_w: found.nhat_ba_w,
            p_aca: found.p_aca,
            p_bcb: found.p_bcb,
        }
    }

    fn signed_distance_pairs(
        &self,
        candidates: &Candidates<'_>,
        max_distance: f64,
    ) -> Result<Vec<SignedDistancePair<T>>> {
        self.collect_pairs(candidates, LEAST_PART, |pair| {
            self.find_signed_distance(pair, max_distance)
        })
    }
}
