//! Active features of two cores: the exact stationary normal, its derivatives, and the witnesses.
//!
//! Near its optimum the margin `g(n) = n.p_B(n) - n.p_A(n)` is smooth once it is known which point or
//! curve supports each body ([`Piece`]) and which edges or faces `n` has to stay perpendicular to
//! ([`Flat`]). With the support `p(n)` of a piece and `W` its derivative, the Riemannian Hessian of
//! `-g` across `n` is `W_A + W_B + g I`. The same matrix serves Newton's method on values and, by the
//! implicit function theorem, one step in `T` that turns the derivatives of the pose into those
//! of the normal.

use super::region::Basis;
use crate::proximity::features::CoreDistance;
use crate::proximity::{lift, rotate};
use nalgebra::{Isometry3, Matrix2, Matrix3, Vector2, Vector3};
use tarragon_framework::Scalar;

/// What supports a body smoothly, in its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::proximity) enum Piece {
    Point(Vector3<f64>),
    /// A circle around the unit vector `axis`.
    Circle {
        center: Vector3<f64>,
        axis: Vector3<f64>,
        radius: f64,
    },
    /// An ellipsoid around the origin with these semi-axes.
    Ellipsoid(Vector3<f64>),
}

/// What the normal is perpendicular to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::proximity) enum Flat {
    None,
    /// A direction along which the support is free.
    Edge(Vector3<f64>),
    /// A plane with this outward normal.
    Face(Vector3<f64>),
}

/// The active feature of one body, in its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::proximity) struct Local {
    pub(super) piece: Piece,
    pub(super) flat: Flat,
}

impl Local {
    pub(super) fn new(piece: Piece, flat: Flat) -> Self {
        Self { piece, flat }
    }
    pub(in crate::proximity) fn point(p: Vector3<f64>) -> Self {
        Self::new(Piece::Point(p), Flat::None)
    }
    pub(in crate::proximity) fn face(on: Vector3<f64>, normal: Vector3<f64>) -> Self {
        Self::new(Piece::Point(on), Flat::Face(normal))
    }

    /// The same feature, no longer free to slide along its flat: `p` is the point of it that counts.
    fn held_at(&self, p: &Vector3<f64>) -> Self {
        let piece = match (self.piece, self.flat) {
            (
                Piece::Circle {
                    center,
                    axis,
                    radius,
                },
                Flat::Edge(_),
            ) => Piece::Circle {
                center: center + axis * axis.dot(&(p - center)),
                axis,
                radius,
            },
            (piece, Flat::None) => piece,
            _ => Piece::Point(*p),
        };
        Self::new(piece, Flat::None)
    }
}

impl Piece {
    /// The point farthest along the unit vector `n`.
    fn support<T: Scalar>(&self, n: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Point(p) => lift(p),
            Self::Circle {
                center,
                axis,
                radius,
            } => {
                let axis: Vector3<T> = lift(axis);
                let across = n - axis * axis.dot(n);
                let length2 = across.norm_squared();
                if length2.re() <= 0.0 {
                    return lift(center);
                }
                lift::<T>(center) + across * (T::from(*radius) / length2.sqrt())
            }
            Self::Ellipsoid(semi_axes) => {
                let semi_axes: Vector3<T> = lift(semi_axes);
                let scaled = n.component_mul(&semi_axes);
                scaled.component_mul(&semi_axes) / scaled.norm_squared().sqrt()
            }
        }
    }

    /// The derivative of [`Piece::support`]: positive semidefinite, zero along `n`.
    fn curvature(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        match self {
            Self::Point(_) => Matrix3::zeros(),
            Self::Circle { axis, radius, .. } => {
                let q = axis.cross(n);
                let length = q.norm();
                if length <= 0.0 {
                    return Matrix3::zeros();
                }
                let q = q / length;
                q * q.transpose() * (radius / length)
            }
            Self::Ellipsoid(semi_axes) => {
                let m = semi_axes.component_mul(semi_axes);
                let p = m.component_mul(n);
                let s = n.component_mul(semi_axes).norm();
                Matrix3::from_diagonal(&(m / s)) - (p / s) * (p / s).transpose() / s
            }
        }
    }
}

/// The features of a pair and the unit normal from A to B, in A.
#[derive(Clone, Copy, Debug)]
pub(in crate::proximity) struct Active {
    pub(super) n: Vector3<f64>,
    pub(super) a: Local,
    pub(super) b: Local,
}

/// Below this sine of the angle between them two edges count as parallel.
const PARALLEL_EDGES: f64 = 1e-8;

/// Cosine of the angle up to which features that were found around a direction may be active.
const NEARBY: f64 = 0.5;

/// How many conditions the flats put on the normal.
enum Conditions<T: Scalar> {
    None,
    Edge(Vector3<T>),
    /// The unit normal.
    Fixed(Vector3<T>),
}

impl Active {
    /// A plane of A with the unit normal `n`, and a feature of B.
    pub(in crate::proximity) fn on_plane(n: Vector3<f64>, a: Local, b: Local) -> Self {
        Self { n, a, b }
    }

    /// The conditions on the normal in A, near the value of the normal.
    fn conditions<T: Scalar>(&self, x_ab: &Isometry3<T>) -> Conditions<T> {
        let in_a = |v: &Vector3<f64>| rotate(x_ab, v);
        match (self.a.flat, self.b.flat) {
            (Flat::Face(normal), _) => Conditions::Fixed(lift(&normal)),
            (_, Flat::Face(normal)) => Conditions::Fixed(-in_a(&normal)),
            (Flat::Edge(a), Flat::Edge(b)) => {
                let (a, b) = (lift::<T>(&a), in_a(&b));
                let cross = a.cross(&b);
                let length2 = cross.norm_squared();
                if length2.re() <= PARALLEL_EDGES * PARALLEL_EDGES {
                    return Conditions::Edge(a);
                }
                let mut n = cross / length2.sqrt();
                // Once more perpendicular: the cross product of nearly parallel edges is rough.
                n -= a * a.dot(&n);
                n -= b * b.dot(&n);
                n /= n.norm_squared().sqrt();
                let along = n.map(|x| x.re()).dot(&self.n);
                Conditions::Fixed(if along < 0.0 { -n } else { n })
            }
            (Flat::Edge(a), Flat::None) => Conditions::Edge(lift(&a)),
            (Flat::None, Flat::Edge(b)) => Conditions::Edge(in_a(&b)),
            (Flat::None, Flat::None) => Conditions::None,
        }
    }

    /// Supports of both pieces in A.
    fn supports<T: Scalar>(&self, n: &Vector3<T>, x_ab: &Isometry3<T>) -> (Vector3<T>, Vector3<T>) {
        let p_a = self.a.piece.support(n);
        let n_b = -(x_ab.rotation.inverse() * n);
        let p_b = x_ab.translation.vector + x_ab.rotation * self.b.piece.support(&n_b);
        (p_a, p_b)
    }

    /// `W_A + W_B` in A.
    fn curvature(&self, n: &Vector3<f64>, x_ab: &Isometry3<f64>) -> Matrix3<f64> {
        let mut w = self.a.piece.curvature(n);
        if !matches!(self.b.piece, Piece::Point(_)) {
            let r = x_ab.rotation.to_rotation_matrix().into_inner();
            w += r * self.b.piece.curvature(&-(r.transpose() * n)) * r.transpose();
        }
        w
    }

    /// Moves the normal to the stationary point of the margin under the conditions of the flats;
    /// `None` if there is none nearby.
    pub(super) fn refined(mut self, x_ab: &Isometry3<f64>) -> Option<Self> {
        match self.conditions(x_ab) {
            Conditions::Fixed(n) => {
                self.n = n;
                return Some(self);
            }
            Conditions::Edge(e) => {
                self.n = (self.n - e * e.dot(&self.n)).try_normalize(1e-6)?;
                self.newton(
                    x_ab,
                    |n| {
                        let t = e.cross(n);
                        [t, t]
                    },
                    1,
                )?;
            }
            Conditions::None => self.newton(
                x_ab,
                |n| {
                    let basis = Basis::new(n);
                    [basis.t1, basis.t2]
                },
                2,
            )?,
        }
        Some(self)
    }

    /// Newton's method on the sphere, in the first `count` of the directions that `across` gives,
    /// which are orthonormal and across `n`.
    fn newton(
        &mut self,
        x_ab: &Isometry3<f64>,
        across: impl Fn(&Vector3<f64>) -> [Vector3<f64>; 2],
        count: usize,
    ) -> Option<()> {
        let points = matches!(
            (self.a.piece, self.b.piece),
            (Piece::Point(_), Piece::Point(_))
        );
        if points {
            let (p_a, p_b) = self.supports(&self.n, x_ab);
            let q = p_b - p_a;
            let q = match (count, across(&self.n)) {
                // What is left of it across the edge.
                (1, [t, _]) => t * t.dot(&q) + self.n * self.n.dot(&q),
                _ => q,
            };
            // Separated points have one maximum; overlapping ones are never the deepest feature.
            let n = q.try_normalize(0.0)?;
            self.n = if n.dot(&self.n) < 0.0 { -n } else { n };
            return Some(());
        }
        let height = |this: &Self, n: &Vector3<f64>| {
            let (p_a, p_b) = this.supports(n, x_ab);
            let r = p_a - p_b;
            (r, n.dot(&r))
        };
        let start = self.n;
        let (mut r, mut h) = height(self, &self.n);
        for _ in 0..20 {
            let [t1, t2] = across(&self.n);
            let w = self.curvature(&self.n, x_ab);
            let gradient = Vector2::new(t1.dot(&r), t2.dot(&r));
            let step = if count == 1 {
                let bent = t1.dot(&(w * t1)) - h;
                if bent <= 0.0 {
                    return None;
                }
                Vector2::new(-gradient.x / bent, 0.0)
            } else {
                let off = t1.dot(&(w * t2));
                let hessian = Matrix2::new(t1.dot(&(w * t1)) - h, off, off, t2.dot(&(w * t2)) - h);
                downhill(&hessian, &gradient)?
            };
            let length = step.norm();
            let mut fraction = (0.5 / length).min(1.0);
            // The change of the height that rounding hides.
            let noise = 1e-15 * (r.amax() + h.abs());
            let mut moved = None;
            for _ in 0..12 {
                let n = (self.n + (t1 * step.x + t2 * step.y) * fraction).normalize();
                let next = height(self, &n);
                if next.1 <= h + noise {
                    moved = Some((n, next));
                    break;
                }
                fraction *= 0.25;
            }
            let (n, next) = moved?;
            if n.dot(&start) < NEARBY {
                return None;
            }
            self.n = n;
            (r, h) = next;
            if length <= 1e-15 || (length < 1e-9 && fraction == 1.0) {
                // Quadratic convergence: this step was the last that mattered.
                return Some(());
            }
        }
        Some(())
    }

    /// What keeps the normal a function of the poses when both bodies have flats that face each other:
    /// one of them is held at its witness (`p_a`, `p_b`: in A and in B).
    pub(in crate::proximity) fn settled(
        mut self,
        x_ab: &Isometry3<f64>,
        p_a: &Vector3<f64>,
        p_b: &Vector3<f64>,
    ) -> Self {
        match (self.a.flat, self.b.flat) {
            (Flat::None, _) | (_, Flat::None) => {}
            (Flat::Edge(_), Flat::Face(_)) => self.a = self.a.held_at(p_a),
            (Flat::Edge(a), Flat::Edge(b)) => {
                if a.cross(&(x_ab.rotation * b)).norm() <= PARALLEL_EDGES {
                    self.b = self.b.held_at(p_b);
                }
            }
            (Flat::Face(_), _) => self.b = self.b.held_at(p_b),
        }
        self
    }

    /// Distance, normal and witnesses at the pose `x_ab` of B in A, whose value is the one that the
    /// features were found for.
    pub(in crate::proximity) fn evaluate<T: Scalar>(&self, x_ab: &Isometry3<T>) -> CoreDistance<T> {
        let n = self.normal(x_ab);
        let (p_a, p_b) = self.supports(&n, x_ab);
        let q = p_b - p_a;
        // The normal at its value: by the envelope theorem derivatives of the distance only see
        // how the points move with their bodies.
        let distance = n.dot(&q);
        let (p_a, p_b) = match (self.a.flat, self.b.flat) {
            (Flat::None, Flat::None) => (p_a, p_b),
            (Flat::None, _) => (p_a, p_a + n * distance),
            (_, Flat::None) => (p_b - n * distance, p_b),
            (Flat::Edge(a), Flat::Edge(b)) => {
                let (u, v) = (lift::<T>(&a), rotate(x_ab, &b));
                let cross = u.cross(&v);
                let length2 = cross.norm_squared();
                let s = (q - n * distance).cross(&v).dot(&cross) / length2;
                let p_a = p_a + u * s;
                (p_a, p_a + n * distance)
            }
            // Two faces: `settled` leaves none.
            _ => (p_b - n * distance, p_b),
        };
        CoreDistance {
            distance,
            n_ab: n,
            p_a,
            p_b,
        }
    }

    /// The normal with its derivatives.
    fn normal<T: Scalar>(&self, x_ab: &Isometry3<T>) -> Vector3<T> {
        let n0: Vector3<T> = lift(&self.n);
        let (mut n, across, count) = match self.conditions(x_ab) {
            Conditions::Fixed(n) => return n,
            Conditions::Edge(e) => {
                let n = n0 - e * e.dot(&n0);
                let n = n / n.norm_squared().sqrt();
                let t = e.cross(&n);
                (n, [t, t], 1)
            }
            Conditions::None => {
                let basis = Basis::new(&self.n);
                (n0, [lift(&basis.t1), lift(&basis.t2)], 2)
            }
        };
        if is_constant::<T>() {
            return n;
        }
        let value = Isometry3::from_parts(
            x_ab.translation.vector.map(|x| x.re()).into(),
            nalgebra::UnitQuaternion::new_unchecked(x_ab.rotation.coords.map(|q| q.re()).into()),
        );
        let (p_a, p_b) = self.supports(&n, x_ab);
        let r = p_a - p_b;
        let h = r.map(|x| x.re()).dot(&self.n);
        let w = self.curvature(&self.n, &value);
        let t = across.map(|t| t.map(|x| x.re()));
        let scale = w.amax() + h.abs();
        let residual = across.map(|t| t.dot(&r));
        if count == 1 {
            let hessian = t[0].dot(&(w * t[0])) - h;
            if hessian.abs() > 1e-12 * scale {
                n -= across[0] * (residual[0] / T::from(hessian));
            }
        } else {
            let off = t[0].dot(&(w * t[1]));
            let hessian = Matrix2::new(
                t[0].dot(&(w * t[0])) - h,
                off,
                off,
                t[1].dot(&(w * t[1])) - h,
            );
            let inverse = pseudo_inverse(&hessian, 1e-12 * scale);
            for i in 0..2 {
                let step =
                    residual[0] * T::from(inverse[(i, 0)]) + residual[1] * T::from(inverse[(i, 1)]);
                n -= across[i] * step;
            }
        }
        let n = n / n.norm_squared().sqrt();
        // The value is the polished one, to the bit.
        n.zip_map(&self.n, |n, value| n - T::from(n.re()) + T::from(value))
    }
}

/// True for scalars without derivatives.
fn is_constant<T: Scalar>() -> bool {
    T::NDERIV == 0
}

/// The Newton step; `None` where the Hessian is not positive definite, but for rounding: there is no
/// minimum nearby then.
fn downhill(hessian: &Matrix2<f64>, gradient: &Vector2<f64>) -> Option<Vector2<f64>> {
    let (a, b, d) = (hessian[(0, 0)], hessian[(0, 1)], hessian[(1, 1)]);
    let determinant = a * d - b * b;
    let scale = a.abs().max(d.abs());
    if a > 0.0 && determinant > 1e-13 * scale * scale {
        return Some(Vector2::new(
            (b * gradient.y - d * gradient.x) / determinant,
            (b * gradient.x - a * gradient.y) / determinant,
        ));
    }
    if scale == 0.0 || a.min(d) < -1e-9 * scale || determinant < -1e-9 * scale * scale {
        return None;
    }
    // Flat in one direction: only the other one counts.
    let steep = if a > d {
        Vector2::new(a, b)
    } else {
        Vector2::new(b, d)
    };
    let steep = steep.normalize();
    Some(-steep * (steep.dot(gradient) / (a + d)))
}

/// Inverse that ignores directions whose eigenvalue is rounding: along them nothing is unique.
fn pseudo_inverse(m: &Matrix2<f64>, negligible: f64) -> Matrix2<f64> {
    let eigen = m.symmetric_eigen();
    let mut inverse = Matrix2::zeros();
    for i in 0..2 {
        let value = eigen.eigenvalues[i];
        if value.abs() > negligible {
            let v = eigen.eigenvectors.column(i);
            inverse += v * v.transpose() / value;
        }
    }
    inverse
}
