//! Size of the inverse inertia that constraints meet, `W = J diag(A)^-1 J^T`, with its derivatives.

use super::jacobian::JacobianFrame;
use super::site::ContactSite;
use super::trees::Trees;
use crate::spatial::cross;
use nalgebra::{Matrix3, Vector3};
use std::ops::AddAssign;
use tarragon_contact_solvers::JacobianBlocks;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Returns the norm of `W = J diag(A)^-1 J^T` per row, for blocks with R rows.
#[inline]
pub(super) fn inverse_inertia<const R: usize>(
    trees: &Trees,
    jacobian: &[f64],
    blocks: &JacobianBlocks,
    inverse_diagonal: &[f64],
) -> f64 {
    let w: [[f64; R]; R] = inverse_inertia_matrix(trees, jacobian, blocks, inverse_diagonal);
    norm(&w) / R as f64
}

/// Returns the same for three rows, given as columns with the elements of the inverse diagonal that
/// belong to them.
pub(super) fn inverse_inertia_of_columns<T: Scalar>(
    columns: impl Iterator<Item = ([T; 3], T)>,
) -> T {
    let mut w = [[T::zero(); 3]; 3];
    for (column, inverse) in columns {
        add_column(&mut w, &column, inverse);
    }
    norm(&w) / 3.0
}

/// Adds `x inverse x^T` to the lower half of a matrix.
#[inline]
fn add_column<T: Scalar, const R: usize>(w: &mut [[T; R]; R], column: &[T; R], inverse: T) {
    for i in 0..R {
        let scaled = column[i] * inverse;
        for j in 0..=i {
            w[i][j] += scaled * column[j];
        }
    }
}

/// Returns the same with derivatives: those of a norm are `<W, dW> / |W|`.
pub(super) fn derive_inverse_inertia<T, C, const R: usize>(
    trees: &Trees,
    jacobian: &[C],
    blocks: &JacobianBlocks,
    inverse_diagonal: &[T],
) -> T
where
    T: Scalar + AddAssign<C>,
    C: Scalar,
{
    let w: [[f64; R]; R] = inverse_inertia_matrix(trees, jacobian, blocks, inverse_diagonal);
    let norm = norm(&w);
    let mut sum = T::zero();
    for_columns(
        trees,
        jacobian,
        blocks,
        inverse_diagonal,
        |column: [C; R], inverse: T| {
            let real = column.map(|x| x.re());
            let mut square = 0.0;
            for i in 0..R {
                let row = (0..R).map(|j| w[i.max(j)][i.min(j)] * real[j]);
                let weight = row.sum::<f64>();
                sum += column[i] * (2.0 * weight * inverse.re());
                square += weight * real[i];
            }
            sum += inverse * square;
        },
    );
    with_derivatives_of(sum, norm, R)
}

/// Returns the same with derivatives for a contact, whose Jacobian without derivatives is given.
///
/// The gradient of the norm with respect to the Jacobian is known, so nothing else needs the
/// derivatives of the Jacobian. A column of it is `R_WC^T (v + w x (p_WC - p_WB))`, where w and v
/// are the column of a joint with outboard body B.
pub(super) fn derive_contact_inverse_inertia<T: Scalar>(
    kinematics: &JacobianFrame<'_, T>,
    site: &ContactSite<T>,
    jacobian: &[f64],
    blocks: &JacobianBlocks,
    inverse_diagonal: &[T],
) -> T {
    let trees = kinematics.trees;
    let w: [[f64; 3]; 3] = inverse_inertia_matrix(trees, jacobian, blocks, inverse_diagonal);
    let norm = norm(&w);
    let weights = |column: &[f64; 3]| {
        let row = |i: usize| (0..3).map(move |j| w[i.max(j)][i.min(j)] * column[j]);
        Vector3::new(row(0).sum::<f64>(), row(1).sum(), row(2).sum())
    };
    let mut sum = T::zero();
    for_columns(
        trees,
        jacobian,
        blocks,
        inverse_diagonal,
        |column, inverse| {
            if !is_constant(&inverse) {
                sum += inverse * weights(&column).dot(&Vector3::from(column));
            }
        },
    );
    let r_wc = site.r_wc.map(|x| x.re());
    let p_wc = site.p_wc.map(|x| x.re());
    let real = kinematics.positions.real();
    let mut by_rotation: Matrix3<f64> = Matrix3::zeros();
    let mut by_point: Vector3<f64> = Vector3::zeros();
    for (body, sign) in site.bodies.iter().zip([-1.0, 1.0]) {
        let tree = trees.of_body(*body);
        let block = blocks
            .iter()
            .find(|block| Some(block.tree as usize) == tree);
        let Some(block) = block else {
            continue;
        };
        let range = trees.range(block.tree as usize);
        let rows = &jacobian[block.start as usize..][..3 * range.len()];
        for node in kinematics.inboard_nodes(*body) {
            let arm = p_wc - real.p_wb(node.body);
            let placed = kinematics.positions.is_constant(node.body);
            let mut by_arm: Vector3<f64> = Vector3::zeros();
            for (k, column) in kinematics.unlocked_columns(node) {
                let at = |row: usize| rows[row * range.len() + k - range.start];
                let scale = 2.0 * sign * inverse_diagonal[k].re();
                let gradient = weights(&[at(0), at(1), at(2)]) * scale;
                let (real, force) = (&real.columns[k], r_wc * gradient);
                by_rotation += real.velocity_at(&arm).translational * gradient.transpose();
                by_arm += cross(&force, &real.rotational);
                if !node.is_free && !placed {
                    sum += weighted_sum(&column.translational, &force);
                    sum += weighted_sum(&column.rotational, &cross(&arm, &force));
                }
            }
            by_point += by_arm;
            if !placed {
                sum -= weighted_sum(kinematics.positions.p_wb(node.body), &by_arm);
            }
        }
    }
    sum += weighted_sum(&site.p_wc, &by_point);
    for (directions, weights) in site.r_wc.iter().zip(&by_rotation) {
        sum += *directions * *weights;
    }
    with_derivatives_of(sum, norm, 3)
}

/// Returns the norm of W per row, whose derivatives are those of `sum` over the norm.
#[inline]
fn with_derivatives_of<T: Scalar>(sum: T, norm: f64, rows: usize) -> T {
    let scale = 1.0 / (norm * rows as f64);
    (sum - sum.re()) * scale + norm / rows as f64
}

#[inline]
fn weighted_sum<T: Scalar>(x: &Vector3<T>, weights: &Vector3<f64>) -> T {
    x.x * weights.x + x.y * weights.y + x.z * weights.z
}

/// Returns W, of which only the lower half is computed.
#[inline]
fn inverse_inertia_matrix<T: Scalar, C: Scalar, const R: usize>(
    trees: &Trees,
    jacobian: &[C],
    blocks: &JacobianBlocks,
    inverse_diagonal: &[T],
) -> [[f64; R]; R] {
    let mut w = [[0.0; R]; R];
    for_columns(
        trees,
        jacobian,
        blocks,
        inverse_diagonal,
        |column: [C; R], inverse: T| {
            add_column(&mut w, &column.map(|x| x.re()), inverse.re());
        },
    );
    w
}

/// Returns the norm of a symmetric matrix of which only the lower half is given.
#[inline]
fn norm<T: Scalar, const R: usize>(w: &[[T; R]; R]) -> T {
    let mut squares = T::zero();
    for (i, row) in w.iter().enumerate() {
        for (j, x) in row.iter().enumerate().take(i + 1) {
            squares += *x * *x * if i == j { 1.0 } else { 2.0 };
        }
    }
    squares.sqrt()
}

/// Calls a function with the columns of a Jacobian that has R rows, and the elements of the inverse
/// diagonal that belong to them.
#[inline]
fn for_columns<T: Scalar, C: Scalar, const R: usize>(
    trees: &Trees,
    jacobian: &[C],
    blocks: &JacobianBlocks,
    inverse_diagonal: &[T],
    mut f: impl FnMut([C; R], T),
) {
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let (n, start) = (range.len(), block.start as usize);
        let rows: [&[C]; R] = std::array::from_fn(|i| &jacobian[start + i * n..][..n]);
        for (k, inverse) in inverse_diagonal[range].iter().enumerate() {
            f(rows.map(|row| row[k]), *inverse);
        }
    }
}
