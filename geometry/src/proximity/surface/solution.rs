//! The features that decide the signed distance of two bodies, and its value in any scalar.

use super::point::{NearestFeature, at_pose};
use crate::proximity::convex::{ActiveFeatures, RelativePose};
use crate::proximity::core_distance::CoreDistance;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// The features that decide the distance of A and B.
pub(super) struct SurfaceSolution {
    pub(super) decides: DecidingFeature,
    /// True if the roles of A and B are exchanged in it.
    pub(super) exchanged: bool,
}

pub(super) enum DecidingFeature {
    /// Features of A and B.
    Features(ActiveFeatures),
    /// A feature of the surface of A, and a point fixed in B.
    Point(NearestFeature, Vector3<f64>),
    /// Two faces of A, and the point of B between them. The lesser of its depths below the two
    /// faces equals, also to first order, the mean of both, with this weight of the first.
    Between([NearestFeature; 2], f64, Vector3<f64>),
    /// Features of A and of a vertex fixed in B.
    Vertex(ActiveFeatures, Vector3<f64>),
}

impl SurfaceSolution {
    pub(super) fn new(decides: DecidingFeature) -> Self {
        Self {
            decides,
            exchanged: false,
        }
    }
    pub(super) fn exchanged(mut self) -> Self {
        self.exchanged = !self.exchanged;
        self
    }

    /// Returns the distance, normal and witnesses at the pose `x_ab` of B in A.
    pub(super) fn evaluate<T: Scalar>(&self, x_ab: &Isometry3<T>) -> CoreDistance<T> {
        if self.exchanged {
            let found = self.decides.evaluate(&x_ab.inverse());
            let in_a = |p: &Vector3<T>| x_ab.rotation * p + x_ab.translation.vector;
            return CoreDistance {
                distance: found.distance,
                n_ab: -(x_ab.rotation * found.n_ab),
                p_a: in_a(&found.p_b),
                p_b: in_a(&found.p_a),
            };
        }
        self.decides.evaluate(x_ab)
    }
}

impl DecidingFeature {
    fn evaluate<T: Scalar>(&self, x_ab: &Isometry3<T>) -> CoreDistance<T> {
        match self {
            Self::Features(active) => active.evaluate(&RelativePose::new(x_ab)),
            Self::Point(feature, p_b) => feature.evaluate(&at_pose(x_ab, p_b)),
            Self::Between([first, second], weight, p_b) => {
                let p = at_pose(x_ab, p_b);
                let (mut found, other) = (first.evaluate(&p), second.evaluate(&p));
                // Both have the same value, up to rounding.
                let rates = (other.distance - T::from(other.distance.re()))
                    - (found.distance - T::from(found.distance.re()));
                found.distance += rates * T::from(1.0 - weight);
                found
            }
            Self::Vertex(active, p_b) => {
                let mut x = Isometry3::identity();
                x.translation.vector = at_pose(x_ab, p_b);
                active.evaluate(&RelativePose::new(&x))
            }
        }
    }
}
