//! Principal axes of inertia, with the signs and the order that MuJoCo gives them.
//!
//! Method: Jacobi's, which turns the frame about one axis after another until no product of inertia
//! is left (G. H. Golub, C. F. Van Loan, "Matrix Computations", section 8.5). The first frame, the
//! order of the turns and the final order decide between the 24 frames along the same axes; they
//! and the tolerance, which is absolute, are those of MuJoCo's `mju_eig3`.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;
use tarragon_framework::math;

/// Products of inertia, differences of moments and turns below which MuJoCo stops.
const TOLERANCE: f64 = 1e-12;
/// Maximum number of turns.
const MOST_TURNS: usize = 500;

/// Returns the moments of inertia in decreasing order, and the rotation from their axes to the
/// frame of the inertia.
pub(super) fn principal_axes(inertia: &Matrix3<f64>) -> ([f64; 3], UnitQuaternion<f64>) {
    let mut turn = UnitQuaternion::identity();
    let turned = |turn: &UnitQuaternion<f64>| {
        let r = turn.to_rotation_matrix();
        r.inverse() * inertia * r
    };
    for _ in 0..MOST_TURNS {
        let m = turned(&turn);
        let [xy, xz, yz] = [m.m12.abs(), m.m13.abs(), m.m23.abs()];
        let (i, j) = if xy > xz && xy > yz {
            (0, 1)
        } else if xz > yz {
            (0, 2)
        } else {
            (1, 2)
        };
        if m[(i, j)].abs() < TOLERANCE {
            break;
        }
        let tau = (m[(j, j)] - m[(i, i)]) / (2.0 * m[(i, j)]);
        // The smaller of the two turns that cancel the product.
        let sign = if tau >= 0.0 { 1.0 } else { -1.0 };
        let tangent = sign / (tau.abs() + (1.0 + tau * tau).sqrt());
        if 1.0 / (1.0 + tangent * tangent).sqrt() > 1.0 - TOLERANCE {
            break;
        }
        let angle = -tangent.atan();
        let axis = 3 - i - j;
        // About y, the turn from z to x is the positive one.
        turn *= about(axis, if axis == 1 { -angle } else { angle });
    }
    let m = turned(&turn);
    let mut moments = [m.m11, m.m22, m.m33];
    for i in [0, 1, 0] {
        if moments[i] + TOLERANCE < moments[i + 1] {
            moments.swap(i, i + 1);
            turn *= about((i + 2) % 3, FRAC_PI_2);
        }
    }
    (moments, turn)
}

/// Returns the turn about an axis of the frame by an angle (rad).
fn about(axis: usize, angle: f64) -> UnitQuaternion<f64> {
    let mut vector = Vector3::zeros();
    vector[axis] = angle;
    math::rotation_exp(&vector)
}
