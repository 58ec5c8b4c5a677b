//! A point of a manifold.

use crate::proximity::PairDistance;
use nalgebra::Vector3;
use smallvec::SmallVec;
use tarragon_framework::Scalar;

/// A point where two shapes overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ManifoldPoint<T: Scalar> {
    pub(crate) depth: T,
    pub(crate) p_wca: Vector3<T>,
    pub(crate) p_wcb: Vector3<T>,
    /// Unit normal from B outward toward A.
    pub(crate) nhat_ba_w: Vector3<T>,
    /// Number that stays the same as long as the same features of the shapes meet.
    pub(crate) id: u32,
}

impl<T: Scalar> ManifoldPoint<T> {
    pub(super) fn new(distance: &PairDistance<T>, id: u32) -> Self {
        Self {
            depth: -distance.distance,
            p_wca: distance.p_wca,
            p_wcb: distance.p_wcb,
            nhat_ba_w: distance.nhat_ba_w,
            id,
        }
    }

    /// Returns the point as the nearest points of the pair.
    pub(super) fn distance(&self) -> PairDistance<T> {
        PairDistance {
            distance: -self.depth,
            nhat_ba_w: self.nhat_ba_w,
            p_wca: self.p_wca,
            p_wcb: self.p_wcb,
        }
    }

    /// Exchanges A and B.
    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.p_wca, &mut self.p_wcb);
        self.nhat_ba_w = -self.nhat_ba_w;
    }
}

pub(crate) type Manifold<T> = SmallVec<[ManifoldPoint<T>; 8]>;
