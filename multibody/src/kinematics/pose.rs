//! Products of poses and their rotation matrices, computed in place: with derivatives, a pose or a
//! matrix is too large to be returned and copied.

use crate::spatial::{add_cross, cross};
use nalgebra::{Isometry3, Matrix3, UnitQuaternion};
use tarragon_framework::Scalar;

/// Computes the product of two poses.
#[inline]
pub(super) fn compose<T: Scalar>(a: &Isometry3<T>, b: &Isometry3<T>, out: &mut Isometry3<T>) {
    let (axis, p) = (a.rotation.imag(), &b.translation.vector);
    let turn = cross(&axis, p).map(|x| x * 2.0);
    let (from, sum) = (&a.translation.vector, &mut out.translation.vector);
    for i in 0..3 {
        sum[i] = turn[i] * a.rotation.w;
    }
    add_cross(sum, &axis, &turn);
    for i in 0..3 {
        sum[i] = from[i] + (sum[i] + p[i]);
    }
    let rotation = a.rotation.quaternion() * b.rotation.quaternion();
    out.rotation = UnitQuaternion::new_unchecked(rotation);
}

/// Computes the matrix of a rotation.
#[inline]
pub(super) fn update_matrix<T: Scalar>(r: &UnitQuaternion<T>, m: &mut Matrix3<T>) {
    let (i, j, k, w) = (r.i, r.j, r.k, r.w);
    let (ww, ii, jj, kk) = (w * w, i * i, j * j, k * k);
    let (ij, wk, wj) = (i * j * 2.0, w * k * 2.0, w * j * 2.0);
    m[(0, 0)] = ww + ii - jj - kk;
    m[(0, 1)] = ij - wk;
    m[(1, 0)] = wk + ij;
    m[(1, 1)] = ww - ii + jj - kk;
    let (ik, jk, wi) = (i * k * 2.0, j * k * 2.0, w * i * 2.0);
    m[(0, 2)] = wj + ik;
    m[(2, 0)] = ik - wj;
    m[(1, 2)] = jk - wi;
    m[(2, 1)] = wi + jk;
    m[(2, 2)] = ww - ii - jj + kk;
}
