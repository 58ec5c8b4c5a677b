//! Results of a pair query, with the witnesses in the frames that the caller needs.

use super::core_distance::CoreDistance;
use crate::values::lift;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// The signed distance of a pair (A, B), with its normal and witnesses (Drake's
/// `SignedDistancePair` and `PenetrationAsPointPair` in one).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{Sphere, proximity::{PairDistance, signed_distance}};
/// let ball = Sphere::new(0.5)?.into();
/// let x_wb = Isometry3::translation(2.0, 0.0, 0.0);
/// let ab: PairDistance<f64> = signed_distance(&ball, &Isometry3::identity(), &ball, &x_wb)?;
/// assert_eq!(ab.p_wca - ab.p_wcb, ab.nhat_ba_w * ab.distance);
/// assert_eq!(ab.swapped().nhat_ba_w.x, 1.0); // out of A into B
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PairDistance<T: Scalar> {
    /// Signed distance (m): positive when separated, minus the minimum translational penetration
    /// depth when overlapping.
    pub distance: T,
    /// Unit normal from B outward toward A, in W (Drake's `nhat_BA_W`): the gradient of the
    /// distance with respect to the position of A.
    pub nhat_ba_w: Vector3<T>,
    /// Witness Ca on the surface of A, in W (m).
    pub p_wca: Vector3<T>,
    /// Witness Cb on the surface of B, in W (m); `p_wca - p_wcb = distance * nhat_ba_w`.
    pub p_wcb: Vector3<T>,
}

impl<T: Scalar> PairDistance<T> {
    /// Returns the result for the pair (B, A).
    #[must_use]
    pub fn swapped(self) -> Self {
        Self {
            distance: self.distance,
            nhat_ba_w: -self.nhat_ba_w,
            p_wca: self.p_wcb,
            p_wcb: self.p_wca,
        }
    }
}

/// A [`PairDistance`], or the same result with its witnesses in other frames.
pub(crate) trait PairAnswer<T: Scalar>: Sized {
    /// The same without derivatives.
    type Real: PairAnswer<f64>;
    /// Creates the result from one without derivatives.
    fn lift(real: Self::Real) -> Self;
    /// Creates the result from the witnesses on the surfaces and the normal from A to B, all in A.
    /// `p_ab` is the position of B in A.
    fn in_a(
        surfaces: CoreDistance<T>,
        x_wa: &Isometry3<T>,
        x_wb: &Isometry3<T>,
        p_ab: &Vector3<T>,
    ) -> Self;
    /// Creates the result from one whose witnesses are in W.
    fn in_world(found: PairDistance<T>, x_wa: &Isometry3<T>, x_wb: &Isometry3<T>) -> Self;
    /// Returns the result for the pair (B, A).
    #[must_use]
    fn swapped(self) -> Self;
    /// Returns the signed distance (m).
    fn distance(&self) -> T;
}

impl<T: Scalar> PairAnswer<T> for PairDistance<T> {
    type Real = PairDistance<f64>;
    fn lift(real: PairDistance<f64>) -> Self {
        Self {
            distance: T::from(real.distance),
            nhat_ba_w: lift(&real.nhat_ba_w),
            p_wca: lift(&real.p_wca),
            p_wcb: lift(&real.p_wcb),
        }
    }
    #[inline]
    fn in_a(
        surfaces: CoreDistance<T>,
        x_wa: &Isometry3<T>,
        _: &Isometry3<T>,
        _: &Vector3<T>,
    ) -> Self {
        let in_world = |p: &Vector3<T>| x_wa.rotation * p + x_wa.translation.vector;
        Self {
            distance: surfaces.distance,
            nhat_ba_w: -(x_wa.rotation * surfaces.n_ab),
            p_wca: in_world(&surfaces.p_a),
            p_wcb: in_world(&surfaces.p_b),
        }
    }
    #[inline]
    fn in_world(found: Self, _: &Isometry3<T>, _: &Isometry3<T>) -> Self {
        found
    }
    #[inline]
    fn swapped(self) -> Self {
        Self::swapped(self)
    }
    #[inline]
    fn distance(&self) -> T {
        self.distance
    }
}

/// A [`PairDistance`] whose witnesses are in the frames of their bodies, where their rounding does
/// not grow with the distance of the bodies from the world origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WitnessPair<T: Scalar> {
    pub(crate) distance: T,
    pub(crate) nhat_ba_w: Vector3<T>,
    pub(crate) p_aca: Vector3<T>,
    pub(crate) p_bcb: Vector3<T>,
}

impl<T: Scalar> PairAnswer<T> for WitnessPair<T> {
    type Real = WitnessPair<f64>;
    fn lift(real: WitnessPair<f64>) -> Self {
        Self {
            distance: T::from(real.distance),
            nhat_ba_w: lift(&real.nhat_ba_w),
            p_aca: lift(&real.p_aca),
            p_bcb: lift(&real.p_bcb),
        }
    }
    #[inline]
    fn in_a(
        surfaces: CoreDistance<T>,
        x_wa: &Isometry3<T>,
        x_wb: &Isometry3<T>,
        p_ab: &Vector3<T>,
    ) -> Self {
        let from_bo_w = x_wa.rotation * (surfaces.p_b - p_ab);
        Self {
            distance: surfaces.distance,
            nhat_ba_w: -(x_wa.rotation * surfaces.n_ab),
            p_aca: surfaces.p_a,
            p_bcb: x_wb.rotation.inverse() * from_bo_w,
        }
    }
    #[inline]
    fn in_world(found: PairDistance<T>, x_wa: &Isometry3<T>, x_wb: &Isometry3<T>) -> Self {
        let in_body = |x_wg: &Isometry3<T>, p_w: &Vector3<T>| {
            x_wg.rotation.inverse() * (p_w - x_wg.translation.vector)
        };
        Self {
            distance: found.distance,
            nhat_ba_w: found.nhat_ba_w,
            p_aca: in_body(x_wa, &found.p_wca),
            p_bcb: in_body(x_wb, &found.p_wcb),
        }
    }
    #[inline]
    fn swapped(self) -> Self {
        Self {
            distance: self.distance,
            nhat_ba_w: -self.nhat_ba_w,
            p_aca: self.p_bcb,
            p_bcb: self.p_aca,
        }
    }
    #[inline]
    fn distance(&self) -> T {
        self.distance
    }
}
