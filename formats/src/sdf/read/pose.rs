//! Poses as SDFormat composes them.
//!
//! A joint gets a frame of its own on its parent unless its pose, composed along several frames, is
//! exactly the identity. Poses are therefore composed in the order of operations of the format's
//! own library (unit quaternions, no fused operations), so that poses that cancel there also cancel
//! here.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};

/// A pose: position (m) and quaternion `[w, x, y, z]`, close to unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub(super) p: [f64; 3],
    pub(super) q: [f64; 4],
}

impl Pose {
    pub(super) const IDENTITY: Self = Self {
        p: [0.0; 3],
        q: [1.0, 0.0, 0.0, 0.0],
    };

    /// Creates a pose from a position and roll, pitch and yaw (rad).
    pub(super) fn from_rpy(p: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Self {
        let (sr, cr) = (roll / 2.0).sin_cos();
        let (sp, cp) = (pitch / 2.0).sin_cos();
        let (sy, cy) = (yaw / 2.0).sin_cos();
        Self {
            p,
            q: normalized([
                cr * cp * cy + sr * sp * sy,
                sr * cp * cy - cr * sp * sy,
                cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy,
            ]),
        }
    }

    /// Creates a pose from the type used in the rest of the crate.
    pub(super) fn from_isometry(x: &Isometry3<f64>) -> Self {
        let (q, t) = (x.rotation, x.translation);
        Self {
            p: [t.x, t.y, t.z],
            q: [q.w, q.i, q.j, q.k],
        }
    }

    /// Returns `X_AC` from `X_AB` and `X_BC`.
    pub(super) fn then(&self, other: &Self) -> Self {
        let [x, y, z] = other.p;
        let [_, moved @ ..] = product(self.q, product([0.0, x, y, z], inverse(self.q)));
        Self {
            p: std::array::from_fn(|i| self.p[i] + moved[i]),
            q: product(self.q, other.q),
        }
    }

    /// Returns `X_BA` from `X_AB`.
    pub(super) fn inverse(&self) -> Self {
        let q = inverse(self.q);
        Self {
            p: rotate(q, self.p.map(|v| -v)),
            q,
        }
    }

    /// Returns true if the pose is the identity to the last bit.
    pub(super) fn is_identity(&self) -> bool {
        self.p == [0.0; 3] && self.q[1..] == [0.0; 3]
    }

    /// Converts the pose to the type used in the rest of the crate, with the quaternion that has `w
    /// >= 0`.
    pub(super) fn isometry(&self) -> Isometry3<f64> {
        let [w, x, y, z] = self.q.map(|v| if self.q[0] < 0.0 { -v } else { v });
        let q = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
        let [x, y, z] = self.p;
        Isometry3::from_parts(Translation3::new(x, y, z), q)
    }

    pub(super) fn rotate(&self, v: [f64; 3]) -> [f64; 3] {
        rotate(self.q, v)
    }
}

fn normalized(q: [f64; 4]) -> [f64; 4] {
    let [w, x, y, z] = q;
    let length = (w * w + x * x + y * y + z * z).sqrt();
    if length > 1e-12 {
        q.map(|v| v / length)
    } else {
        Pose::IDENTITY.q
    }
}

fn product([w, x, y, z]: [f64; 4], [ow, ox, oy, oz]: [f64; 4]) -> [f64; 4] {
    [
        w * ow - x * ox - y * oy - z * oz,
        w * ox + x * ow + y * oz - z * oy,
        w * oy - x * oz + y * ow + z * ox,
        w * oz + x * oy - y * ox + z * ow,
    ]
}

fn inverse([w, x, y, z]: [f64; 4]) -> [f64; 4] {
    let s = w * w + x * x + y * y + z * z;
    if s == 0.0 {
        Pose::IDENTITY.q
    } else {
        [w / s, -x / s, -y / s, -z / s]
    }
}

fn rotate([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let axis = [x, y, z];
    let uv = cross(axis, v);
    let uuv = cross(axis, uv);
    std::array::from_fn(|i| v[i] + uv[i] * (2.0 * w) + uuv[i] * 2.0)
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use tarragon_framework::math;

    fn sample(seed: f64) -> ([f64; 3], [f64; 3]) {
        let v = |k: f64| (seed * k).sin() * 2.0;
        ([v(1.0), v(2.0), v(3.0)], [v(4.0), v(0.7) * 0.7, v(6.0)])
    }

    #[test]
    fn agrees_with_the_poses_of_the_framework() {
        for i in 1..20 {
            let ((p, r), (p2, r2)) = (sample(f64::from(i)), sample(f64::from(i) + 0.3));
            let (a, b) = (Pose::from_rpy(p, r), Pose::from_rpy(p2, r2));
            let x = |p: [f64; 3], r: [f64; 3]| math::pose_xyz_rpy(Vector3::from(p), r.into());
            let expected = x(p, r).inverse() * x(p2, r2);
            let found = a.inverse().then(&b).isometry();
            // Allows a few roundings of numbers below 10.
            assert!((found.translation.vector - expected.translation.vector).norm() < 1e-14);
            assert!(found.rotation.angle_to(&expected.rotation) < 1e-7);
        }
    }

    #[test]
    fn translations_cancel_exactly() {
        let a = Pose::from_rpy([0.1, 0.2, 0.3], [0.0; 3]);
        assert!(a.inverse().then(&a).is_identity());
        let turned = Pose::from_rpy([0.1, 0.2, 0.3], [0.0, 0.0, 1e-300]);
        assert!(!turned.is_identity());
    }

    #[test]
    fn zero_rotation_has_an_inverse() {
        let a = Pose {
            p: [1.0, 0.0, 0.0],
            q: [0.0; 4],
        };
        assert_eq!(a.inverse().p, [-1.0, 0.0, 0.0]);
    }
}
