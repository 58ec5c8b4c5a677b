//! Pairs of a rotational and a translational vector.

use nalgebra::Vector3;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// A spatial velocity V (rad/s, m/s), acceleration A (rad/s^2, m/s^2), momentum L (N m s, N s) or
/// force F (N m, N): a rotational and a translational part, both expressed in one frame. The
/// translational part of V and A, and the rotational part of L and F, belong to a point.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::SpatialVector;
/// let v_wb = SpatialVector { rotational: Vector3::z(), translational: Vector3::<f64>::zeros() };
/// // The velocity of a point one metre along x of a body that turns about z.
/// assert_eq!(v_wb.velocity_at(&Vector3::x()).translational, Vector3::y());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialVector<T: Scalar> {
    /// Angular velocity, angular acceleration, angular momentum or moment.
    pub rotational: Vector3<T>,
    /// Velocity, acceleration, momentum or force.
    pub translational: Vector3<T>,
}

/// Computes the cross product. With derivatives it is faster than nalgebra's, which copies the
/// vectors.
#[inline]
pub(crate) fn cross<T: Scalar>(a: &Vector3<T>, b: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        a.y * b.z - a.z * b.y,
        a.z * b.x - a.x * b.z,
        a.x * b.y - a.y * b.x,
    )
}

/// Adds the cross product of two vectors. With derivatives, this is faster than a sum of copies.
#[inline]
pub(crate) fn add_cross<T: Scalar>(sum: &mut Vector3<T>, a: &Vector3<T>, b: &Vector3<T>) {
    sum.x += a.y * b.z - a.z * b.y;
    sum.y += a.z * b.x - a.x * b.z;
    sum.z += a.x * b.y - a.y * b.x;
}

impl<T: Scalar> SpatialVector<T> {
    /// Returns the zero vector.
    pub fn zero() -> Self {
        Self {
            rotational: Vector3::zeros(),
            translational: Vector3::zeros(),
        }
    }
    /// Creates a vector from its rotational and its translational components.
    ///
    /// # Panics
    /// Panics unless there are six.
    pub(crate) fn from_slice(x: &[T]) -> Self {
        Self {
            rotational: Vector3::from_column_slice(&x[..3]),
            translational: Vector3::from_column_slice(&x[3..6]),
        }
    }
    /// Returns the six vectors with one component 1.
    pub(crate) fn basis() -> [Self; 6] {
        let mut all = [Self::zero(); 6];
        for k in 0..3 {
            all[k].rotational[k] = T::one();
            all[3 + k].translational[k] = T::one();
        }
        all
    }
    /// Adds a multiple of another vector.
    #[inline]
    pub(crate) fn add_scaled(&mut self, x: &Self, factor: T) {
        for k in 0..3 {
            self.rotational[k] += x.rotational[k] * factor;
            self.translational[k] += x.translational[k] * factor;
        }
    }
    /// Adds a vector without derivatives.
    pub(crate) fn add_real(&mut self, x: &SpatialVector<f64>) {
        let sums = self
            .rotational
            .iter_mut()
            .chain(self.translational.iter_mut());
        for (sum, x) in sums.zip(x.rotational.iter().chain(&x.translational)) {
            *sum += *x;
        }
    }
    /// Returns true if it certainly has no derivatives.
    pub(crate) fn is_constant(&self) -> bool {
        let numbers = self.rotational.iter().chain(self.translational.iter());
        numbers.into_iter().all(is_constant)
    }
    /// Returns a vector without derivatives.
    pub(crate) fn lift(x: &SpatialVector<f64>) -> Self {
        Self {
            rotational: x.rotational.map(T::from),
            translational: x.translational.map(T::from),
        }
    }
    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> SpatialVector<f64> {
        SpatialVector {
            rotational: self.rotational.map(|x| x.re()),
            translational: self.translational.map(|x| x.re()),
        }
    }
    /// Returns the spatial velocity at another point of the same body; `p` is the position of that
    /// point from the current one (m), expressed in the same frame.
    #[must_use]
    pub fn velocity_at(&self, p: &Vector3<T>) -> Self {
        Self {
            rotational: self.rotational,
            translational: self.translational + cross(&self.rotational, p),
        }
    }
    /// Returns the spatial force or momentum about another point; `p` is the position of that point
    /// from the current one (m), expressed in the same frame.
    #[must_use]
    pub fn force_at(&self, p: &Vector3<T>) -> Self {
        Self {
            rotational: self.rotational - cross(p, &self.translational),
            translational: self.translational,
        }
    }
    /// Returns the sum of the dot products of both parts, such as the power of a force at a
    /// velocity.
    pub fn dot(&self, other: &Self) -> T {
        self.rotational.dot(&other.rotational) + self.translational.dot(&other.translational)
    }
}

impl<T: Scalar> Add for SpatialVector<T> {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<T: Scalar> AddAssign for SpatialVector<T> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.rotational += &other.rotational;
        self.translational += &other.translational;
    }
}

impl<T: Scalar> Sub for SpatialVector<T> {
    type Output = Self;
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl<T: Scalar> SubAssign for SpatialVector<T> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.rotational -= &other.rotational;
        self.translational -= &other.translational;
    }
}

impl<T: Scalar> Neg for SpatialVector<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            rotational: -self.rotational,
            translational: -self.translational,
        }
    }
}

impl<T: Scalar> Mul<T> for SpatialVector<T> {
    type Output = Self;
    fn mul(self, factor: T) -> Self {
        Self {
            rotational: self.rotational * factor,
            translational: self.translational * factor,
        }
    }
}
