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
pub(crate) fn cross<T, C>(a: &Vector3<T>, b: &Vector3<C>) -> Vector3<T>
where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    Vector3::new(
        a.y * b.z - a.z * b.y,
        a.z * b.x - a.x * b.z,
        a.x * b.y - a.y * b.x,
    )
}

/// Adds the cross product of two vectors. With derivatives, this is faster than a sum of copies.
#[inline]
pub(crate) fn add_cross<T, C>(sum: &mut Vector3<T>, a: &Vector3<T>, b: &Vector3<C>)
where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    sum.x += a.y * b.z - a.z * b.y;
    sum.y += a.z * b.x - a.x * b.z;
    sum.z += a.x * b.y - a.y * b.x;
}

/// Subtracts the cross product of two vectors.
#[inline]
pub(crate) fn subtract_cross<T, C>(sum: &mut Vector3<T>, a: &Vector3<T>, b: &Vector3<C>)
where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    sum.x -= a.y * b.z - a.z * b.y;
    sum.y -= a.z * b.x - a.x * b.z;
    sum.z -= a.x * b.y - a.y * b.x;
}

impl<T: Scalar> SpatialVector<T> {
    /// Returns the zero vector.
    pub fn zero() -> Self {
        Self {
            rotational: Vector3::zeros(),
            translational: Vector3::zeros(),
        }
    }
    /// Sets all components: the rotational ones, then the translational ones.
    ///
    /// # Panics
    /// Panics unless there are six.
    #[inline]
    pub(crate) fn set(&mut self, x: &[T]) {
        self.rotational.as_mut_slice().copy_from_slice(&x[..3]);
        self.translational.as_mut_slice().copy_from_slice(&x[3..]);
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
    /// Adds a multiple of a vector that may have no derivatives.
    #[inline]
    pub(crate) fn add_scaled<C: Scalar>(&mut self, x: &SpatialVector<C>, factor: T)
    where
        T: Mul<C, Output = T>,
    {
        for k in 0..3 {
            self.rotational[k] += factor * x.rotational[k];
            self.translational[k] += factor * x.translational[k];
        }
    }
    /// Adds the force that does the same at this point as `force` at position `p` from it. With
    /// derivatives, this is faster than the sum of vectors that are made first.
    #[inline]
    pub(crate) fn add_force_from<C: Scalar>(&mut self, force: &Self, p: &Vector3<C>)
    where
        T: Mul<C, Output = T>,
    {
        self.rotational += &force.rotational;
        self.translational += &force.translational;
        // p x f = -(f x p)
        subtract_cross(&mut self.rotational, &force.translational, p);
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
