//! Conversion of vectors and poses between plain values and scalars with derivatives.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Converts a vector of constants to the scalar `T`.
#[inline]
pub(crate) fn lift<T: Scalar>(v: &Vector3<f64>) -> Vector3<T> {
    v.map(T::from)
}

/// Returns the values of a vector, without derivatives.
#[inline]
pub(crate) fn value_of<T: Scalar>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.re())
}

/// Formats a pose for a message.
#[cold]
pub(crate) fn shown_pose<T: Scalar>(x: &Isometry3<T>) -> String {
    let values = |numbers: &[T]| numbers.iter().map(|x| x.re()).collect::<Vec<f64>>();
    format!(
        "quaternion [x, y, z, w] = {:?} and position {:?} m",
        values(x.rotation.coords.as_slice()),
        values(x.translation.vector.as_slice())
    )
}

/// Returns the values of a pose, without derivatives.
#[inline]
pub(crate) fn values_of_pose<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    Isometry3::from_parts(
        value_of(&x.translation.vector).into(),
        UnitQuaternion::new_unchecked(x.rotation.coords.map(|q| q.re()).into()),
    )
}

/// Converts a pose without derivatives to the scalar `T`.
#[inline]
pub(crate) fn lift_pose<T: Scalar>(x: &Isometry3<f64>) -> Isometry3<T> {
    Isometry3::from_parts(
        lift(&x.translation.vector).into(),
        UnitQuaternion::new_unchecked(x.rotation.coords.map(T::from).into()),
    )
}

/// Does the same in place, which avoids a copy of many derivatives.
#[inline]
pub(crate) fn lift_pose_into<T: Scalar>(x: &Isometry3<f64>, out: &mut Isometry3<T>) {
    let position = out.translation.vector.iter_mut();
    for (out, x) in position.zip(&x.translation.vector) {
        *out = T::from(*x);
    }
    let rotation = out.rotation.as_mut_unchecked().coords.iter_mut();
    for (out, x) in rotation.zip(&x.rotation.coords) {
        *out = T::from(*x);
    }
}

/// Returns true if a pose certainly has no derivatives.
#[inline]
pub(crate) fn is_constant_pose<T: Scalar>(x: &Isometry3<T>) -> bool {
    let (p, q) = (&x.translation.vector, &x.rotation.coords);
    p.iter().all(is_constant) && q.iter().all(is_constant)
}

/// Re-expresses in A a constant vector that is expressed in B.
#[inline]
pub(crate) fn rotate<T: Scalar>(x_ab: &Isometry3<T>, v_b: &Vector3<f64>) -> Vector3<T> {
    x_ab.rotation * lift(v_b)
}
