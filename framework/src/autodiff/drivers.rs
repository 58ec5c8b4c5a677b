//! Gradients and Jacobians of functions with any number of arguments, computed in chunks of as many
//! directions as one `AutoDiff` carries (the chunk mode of ForwardDiff.jl).

use super::dual::{AutoDiff, DIRECTIONS};
use nalgebra::{DMatrix, DVector, SMatrix};
use num_dual::{Derivative, HyperDualSVec64};

/// Computes value and gradient of `f: R^n -> R` at `x`.
///
/// `f` is called `ceil(n / 8)` times, but at least once.
///
/// ```
/// use tarragon_framework::autodiff::gradient;
/// let (y, dy) = gradient(|x| x[0] * x[1].sin(), &[2.0, 0.0]);
/// assert_eq!((y, dy.as_slice()), (0.0, [0.0, 2.0].as_slice()));
/// ```
pub fn gradient(mut f: impl FnMut(&[AutoDiff]) -> AutoDiff, x: &[f64]) -> (f64, DVector<f64>) {
    let (y, dy) = jacobian(|x| vec![f(x)], x);
    (y[0], dy.row(0).transpose())
}

/// Computes value (m) and Jacobian (m x n) of `f: R^n -> R^m` at `x`.
///
/// `f` is called `ceil(n / 8)` times, but at least once, and must return the same number of values
/// each time.
///
/// # Panics
/// Panics if `f` returns different numbers of values.
pub fn jacobian(
    mut f: impl FnMut(&[AutoDiff]) -> Vec<AutoDiff>,
    x: &[f64],
) -> (DVector<f64>, DMatrix<f64>) {
    let never = try_jacobian(|x| Ok::<_, std::convert::Infallible>(f(x)), x);
    match never {
        Ok(result) => result,
        Err(impossible) => match impossible {},
    }
}

/// Same as [`gradient`], for a function that can fail; the first error ends the computation.
///
/// # Errors
/// Returns any error of `f`.
pub fn try_gradient<E>(
    mut f: impl FnMut(&[AutoDiff]) -> Result<AutoDiff, E>,
    x: &[f64],
) -> Result<(f64, DVector<f64>), E> {
    let (y, dy) = try_jacobian(|x| Ok(vec![f(x)?]), x)?;
    Ok((y[0], dy.row(0).transpose()))
}

/// Same as [`jacobian`], for a function that can fail; the first error ends the computation.
///
/// # Errors
/// Returns any error of `f`.
///
/// # Panics
/// Panics if `f` returns different numbers of values.
pub fn try_jacobian<E>(
    mut f: impl FnMut(&[AutoDiff]) -> Result<Vec<AutoDiff>, E>,
    x: &[f64],
) -> Result<(DVector<f64>, DMatrix<f64>), E> {
    let mut arguments: Vec<AutoDiff> = x.iter().map(|x| AutoDiff::constant(*x)).collect();
    let mut result: Option<(DVector<f64>, DMatrix<f64>)> = None;
    for first in (0..x.len().max(1)).step_by(DIRECTIONS) {
        let chunk = first..(first + DIRECTIONS).min(x.len());
        for (direction, i) in chunk.clone().enumerate() {
            arguments[i] = AutoDiff::variable(x[i], direction);
        }
        let y = f(&arguments)?;
        let (value, jacobian) = result.get_or_insert_with(|| {
            (
                DVector::from_iterator(y.len(), y.iter().map(|y| y.re)),
                DMatrix::zeros(y.len(), x.len()),
            )
        });
        assert_eq!(
            y.len(),
            value.len(),
            "jacobian: the function returned a different number of values than before"
        );
        for (direction, i) in chunk.enumerate() {
            for (row, y) in y.iter().enumerate() {
                jacobian[(row, i)] = y.eps[direction];
            }
            arguments[i] = AutoDiff::constant(x[i]);
        }
    }
    Ok(result.expect("the loop runs at least once"))
}

/// Scalar of [`hessian_vector`]: derivatives in eight directions, along one more, and mixed second
/// derivatives of both.
///
/// ```
/// use tarragon_framework::autodiff::{SecondOrder, hessian_vector};
/// let cube = |x: &[SecondOrder]| x[0] * x[0] * x[0];
/// let (_, slope, curvature) = hessian_vector(cube, &[2.0], &[1.0]);
/// assert_eq!((slope[0], curvature[0]), (3.0 * 4.0, 6.0 * 2.0));
/// ```
pub type SecondOrder = HyperDualSVec64<DIRECTIONS, 1>;

/// Computes value, gradient and the product `H v` of the Hessian of `f: R^n -> R` at `x` with a
/// vector.
///
/// `f` is called `ceil(n / 8)` times, but at least once, with hyper-dual numbers (Fike, Alonso: The
/// development of hyper-dual numbers for exact second-derivative calculations, 2011), so it must be
/// generic over the [`Scalar`](crate::Scalar).
///
/// ```
/// use tarragon_framework::Scalar;
/// use tarragon_framework::autodiff::hessian_vector;
/// fn f<T: Scalar>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// let (y, dy, hv) = hessian_vector(f, &[3.0, 2.0], &[1.0, 10.0]);
/// assert_eq!((y, dy.as_slice()), (18.0, [12.0, 9.0].as_slice()));
/// assert_eq!(hv.as_slice(), [2.0 * 2.0 + 2.0 * 3.0 * 10.0, 2.0 * 3.0]);
/// ```
///
/// # Panics
/// Panics if the lengths of `v` and `x` differ.
pub fn hessian_vector(
    mut f: impl FnMut(&[SecondOrder]) -> SecondOrder,
    x: &[f64],
    v: &[f64],
) -> (f64, DVector<f64>, DVector<f64>) {
    assert_eq!(
        x.len(),
        v.len(),
        "hessian_vector: x and v have different lengths"
    );
    let along = |v: f64| Derivative::some(SMatrix::from([[v]]));
    let mut arguments: Vec<SecondOrder> = x.iter().map(|x| SecondOrder::from_re(*x)).collect();
    for (argument, v) in arguments.iter_mut().zip(v) {
        argument.eps2 = along(*v);
    }
    let n = x.len();
    let (mut value, mut gradient, mut product) = (0.0, DVector::zeros(n), DVector::zeros(n));
    for first in (0..n.max(1)).step_by(DIRECTIONS) {
        let chunk = first..(first + DIRECTIONS).min(n);
        for (direction, i) in chunk.clone().enumerate() {
            let mut unit = SMatrix::zeros();
            unit[direction] = 1.0;
            arguments[i].eps1 = Derivative::some(unit);
        }
        let y = f(&arguments);
        value = y.re;
        for (direction, i) in chunk.enumerate() {
            gradient[i] = y.eps1.0.map_or(0.0, |d| d[direction]);
            product[i] = y.eps1eps2.0.map_or(0.0, |d| d[direction]);
            arguments[i].eps1 = Derivative::none();
        }
    }
    (value, gradient, product)
}
