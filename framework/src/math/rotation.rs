//! Rotation constructors and logarithms with exact derivatives everywhere.

use crate::Scalar;
use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};

/// Squared half angle below which the series of `sin(x)/x` is exact to rounding with four terms
/// (the first neglected term is `x^8/9! < 1e-17`).
const SERIES_BELOW: f64 = 1e-3;

/// Computes `sin(x) / x` as a function of `x^2`, smooth at 0.
fn sinc_of_square<T: Scalar>(x2: T) -> T {
    if x2.re() < SERIES_BELOW {
        let one = T::one();
        one - x2 / T::from(6.0) * (one - x2 / T::from(20.0) * (one - x2 / T::from(42.0)))
    } else {
        let x = x2.sqrt();
        x.sin() / x
    }
}

/// Computes `cos(x)` as a function of `x^2`, smooth at 0.
fn cos_of_square<T: Scalar>(x2: T) -> T {
    if x2.re() < SERIES_BELOW {
        let one = T::one();
        one - x2 / T::from(2.0)
            * (one - x2 / T::from(12.0) * (one - x2 / T::from(30.0) * (one - x2 / T::from(56.0))))
    } else {
        x2.sqrt().cos()
    }
}

/// Returns the rotation by `angle` (rad) about the x axis.
#[inline]
pub fn rotation_x<T: Scalar>(angle: T) -> UnitQuaternion<T> {
    axis_angle(&Vector3::x_axis(), angle)
}

/// Returns the rotation by `angle` (rad) about the y axis.
#[inline]
pub fn rotation_y<T: Scalar>(angle: T) -> UnitQuaternion<T> {
    axis_angle(&Vector3::y_axis(), angle)
}

/// Returns the rotation by `angle` (rad) about the z axis.
#[inline]
pub fn rotation_z<T: Scalar>(angle: T) -> UnitQuaternion<T> {
    axis_angle(&Vector3::z_axis(), angle)
}

/// Returns the right-handed rotation by `angle` (rad) about a unit `axis`.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::{AutoDiff, math};
/// let r = math::axis_angle(&Vector3::z_axis(), AutoDiff::variable(0.0, 0));
/// let v = r * Vector3::x();
/// assert_eq!(v.y.eps[0], 1.0); // the derivative survives at angle zero
/// ```
#[inline]
pub fn axis_angle<T: Scalar>(axis: &Unit<Vector3<T>>, angle: T) -> UnitQuaternion<T> {
    let (s, c) = (angle * T::from(0.5)).sin_cos();
    UnitQuaternion::new_unchecked(Quaternion::new(c, axis.x * s, axis.y * s, axis.z * s))
}

/// Returns the rotation by `|v|` radians about `v`: the exponential map. Smooth at zero.
pub fn rotation_exp<T: Scalar>(v: &Vector3<T>) -> UnitQuaternion<T> {
    let half = v * T::from(0.5);
    let x2 = half.norm_squared();
    let v = half * sinc_of_square(x2);
    UnitQuaternion::new_unchecked(Quaternion::from_parts(cos_of_square(x2), v))
}

/// Returns the rotation vector of `r`, with a length in `[0, pi]`: the logarithm, inverse of
/// [`rotation_exp`]. Smooth at the identity; at angle pi the sign of the axis is a choice.
pub fn rotation_log<T: Scalar>(r: &UnitQuaternion<T>) -> Vector3<T> {
    let sign = if r.w.re() < 0.0 { -T::one() } else { T::one() };
    let (w, v) = (r.w * sign, r.imag() * sign);
    let n2 = v.norm_squared();
    // angle / sin(angle / 2), with tan(angle / 2) = |v| / w.
    let factor = if n2.re() < SERIES_BELOW * w.re() * w.re() {
        let t2 = n2 / (w * w);
        let series = T::one()
            - t2 * (T::from(1.0 / 3.0)
                - t2 * (T::from(1.0 / 5.0) - t2 * (T::from(1.0 / 7.0) - t2 * T::from(1.0 / 9.0))));
        T::from(2.0) * series / w
    } else {
        let n = n2.sqrt();
        T::from(2.0) * n.atan2(w) / n
    };
    v * factor
}

/// Returns the rotation by roll, pitch, yaw (rad) about the fixed x, y and z axes: `R = Rz(yaw)
/// Ry(pitch) Rx(roll)`, the convention of URDF, SDFormat and Drake's `RollPitchYaw`.
pub fn rpy<T: Scalar>(roll: T, pitch: T, yaw: T) -> UnitQuaternion<T> {
    rotation_z(yaw) * rotation_y(pitch) * rotation_x(roll)
}

/// Returns roll, pitch, yaw (rad) of a rotation, with pitch in `[-pi/2, pi/2]`; inverse of [`rpy`].
///
/// At pitch +-pi/2 only the sum or difference of roll and yaw is determined; yaw is then set to 0.
pub fn rpy_of<T: Scalar>(r: &UnitQuaternion<T>) -> Vector3<T> {
    let m = r.to_rotation_matrix();
    let cos_pitch = safe_norm(&Vector3::new(m[(0, 0)], m[(1, 0)], T::zero()));
    let pitch = (-m[(2, 0)]).atan2(cos_pitch);
    if cos_pitch.re() < 1e-12 {
        // Gimbal lock: with yaw 0 the first two rows give roll directly.
        Vector3::new((-m[(1, 2)]).atan2(m[(1, 1)]), pitch, T::zero())
    } else {
        Vector3::new(
            m[(2, 1)].atan2(m[(2, 2)]),
            pitch,
            m[(1, 0)].atan2(m[(0, 0)]),
        )
    }
}

/// Returns the normalized quaternion of `[w, x, y, z]`, or `None` if its length is zero or not
/// finite.
pub fn quaternion_wxyz<T: Scalar>(q: [T; 4]) -> Option<UnitQuaternion<T>> {
    let q = Quaternion::new(q[0], q[1], q[2], q[3]);
    let n = q.norm_squared().sqrt();
    (n.re() > 0.0 && n.re().is_finite()).then(|| UnitQuaternion::new_unchecked(q / n))
}

/// Returns the quaternion of a rotation matrix. Uses the largest of the four components (Shepperd's
/// method), so that neither value nor derivative loses digits.
pub fn rotation_from_matrix<T: Scalar>(m: &Matrix3<T>) -> UnitQuaternion<T> {
    let (xx, yy, zz) = (m[(0, 0)], m[(1, 1)], m[(2, 2)]);
    let one = T::one();
    // Four times the squares of w, x, y, z.
    let squares = [
        one + xx + yy + zz,
        one + xx - yy - zz,
        one - xx + yy - zz,
        one - xx - yy + zz,
    ];
    let mut largest = 0;
    for i in 1..4 {
        if squares[i].re() > squares[largest].re() {
            largest = i;
        }
    }
    let s = squares[largest].sqrt() * T::from(0.5);
    let k = T::from(0.25) / s;
    let wx = (m[(2, 1)] - m[(1, 2)]) * k;
    let wy = (m[(0, 2)] - m[(2, 0)]) * k;
    let wz = (m[(1, 0)] - m[(0, 1)]) * k;
    let xy = (m[(0, 1)] + m[(1, 0)]) * k;
    let xz = (m[(0, 2)] + m[(2, 0)]) * k;
    let yz = (m[(1, 2)] + m[(2, 1)]) * k;
    let q = match largest {
        0 => Quaternion::new(s, wx, wy, wz),
        1 => Quaternion::new(wx, s, xy, xz),
        2 => Quaternion::new(wy, xy, s, yz),
        _ => Quaternion::new(wz, xz, yz, s),
    };
    UnitQuaternion::new_unchecked(q / q.norm_squared().sqrt())
}

/// Returns the smallest rotation that takes the unit vector `a` to the unit vector `b`. For
/// opposite vectors the axis is a fixed choice perpendicular to `a`. Smooth at `a == b`.
pub fn rotation_between<T: Scalar>(
    a: &Unit<Vector3<T>>,
    b: &Unit<Vector3<T>>,
) -> UnitQuaternion<T> {
    let w = T::one() + a.dot(b);
    if w.re() < 1e-15 {
        let axis = any_perpendicular(a);
        return UnitQuaternion::new_unchecked(Quaternion::from_parts(T::zero(), axis));
    }
    let q = Quaternion::from_parts(w, a.cross(b));
    UnitQuaternion::new_unchecked(q / q.norm_squared().sqrt())
}

/// Returns a unit vector perpendicular to `a`.
fn any_perpendicular<T: Scalar>(a: &Vector3<T>) -> Vector3<T> {
    let least = a.map(|x| x.re().abs()).imin();
    let p = a.cross(&Vector3::ith(least, T::one()));
    p / p.norm_squared().sqrt()
}

/// Returns the Euclidean length; its derivative at the zero vector is zero instead of NaN.
#[inline]
pub fn safe_norm<T: Scalar>(v: &Vector3<T>) -> T {
    let n2 = v.norm_squared();
    if n2.re() > 0.0 { n2.sqrt() } else { T::zero() }
}

/// Returns `v / |v|` and `|v|`; below the length `minimum` (m) the direction is `otherwise`,
/// without derivatives.
#[inline]
pub fn normalize_or<T: Scalar>(
    v: &Vector3<T>,
    minimum: f64,
    otherwise: &Vector3<T>,
) -> (Vector3<T>, T) {
    let n = safe_norm(v);
    if n.re() > minimum {
        (v / n, n)
    } else {
        (*otherwise, n)
    }
}

/// Returns the pose `X_AB` with the rotation `R_AB` and the position `p_AoBo_A` (m).
#[inline]
pub fn pose<T: Scalar>(r_ab: UnitQuaternion<T>, p_aobo_a: Vector3<T>) -> Isometry3<T> {
    Isometry3::from_parts(Translation3::from(p_aobo_a), r_ab)
}

/// Returns the pose with a position (m) and roll, pitch, yaw (rad), as in a URDF `<origin>`.
pub fn pose_xyz_rpy<T: Scalar>(xyz: Vector3<T>, angles: Vector3<T>) -> Isometry3<T> {
    pose(rpy(angles.x, angles.y, angles.z), xyz)
}
