//! Poses and mass properties as model files state them.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use tarragon_framework::math;
use tarragon_multibody::{SpatialInertia, check_rotational};

/// Returns roll, pitch and yaw (rad) of a rotation. Each angle is what remains after the ones
/// before it, so that rounding does not grow near a pitch of 90 degrees.
pub(crate) fn exact_rpy(r: &UnitQuaternion<f64>) -> Vector3<f64> {
    let yaw = math::rpy_of(r).z;
    let m = (math::rotation_z(-yaw) * r).to_rotation_matrix();
    let pitch = (-m[(2, 0)]).atan2(m[(0, 0)]);
    let roll = (-m[(1, 2)]).atan2(m[(1, 1)]);
    Vector3::new(roll, pitch, yaw)
}

/// Returns true if a pose is the identity up to rounding.
pub(crate) fn is_identity(x: &Isometry3<f64>) -> bool {
    same_pose(x, &Isometry3::identity())
}

/// Returns true if two poses differ by rounding only.
pub(crate) fn same_pose(a: &Isometry3<f64>, b: &Isometry3<f64>) -> bool {
    const TOLERANCE: f64 = 1e-14;
    let (p, q) = (a.translation.vector, b.translation.vector);
    let scale = 1.0 + p.amax().max(q.amax());
    // A rotation has two quaternions.
    let (r, s) = (a.rotation.coords, b.rotation.coords);
    (p - q).amax() <= TOLERANCE * scale && (r - s).amax().min((r + s).amax()) <= TOLERANCE
}

/// Returns the rotational inertia about the centre of mass, in the body's frame, such that readers
/// accept it; `None` if it is physically impossible, also without rounding.
pub(crate) fn central_inertia(inertia: &SpatialInertia) -> Option<Matrix3<f64>> {
    let p = inertia.center_of_mass();
    let shift = Matrix3::from_diagonal_element(p.norm_squared()) - p * p.transpose();
    let about_origin = inertia.rotational_inertia();
    let central = about_origin - shift * inertia.mass();
    let numbers = [inertia.mass()].into_iter().chain(p.iter().copied());
    if !numbers
        .chain(central.iter().copied())
        .all(|x| x.is_finite())
    {
        return None;
    }
    // The difference of large numbers may be slightly impossible where the moment is small. The
    // correction is as small as the rounding of the inertia about the origin.
    let rounding = 16.0 * f64::EPSILON * about_origin.amax().max(inertia.mass() * p.norm_squared());
    [0.0, rounding]
        .into_iter()
        .map(|more| central + Matrix3::from_diagonal_element(more))
        .find(|m| check_rotational(m).is_ok())
}
