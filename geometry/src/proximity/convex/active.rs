//! Active features of two cores: the exact stationary normal, its derivatives and the witnesses.
//!
//! Near its optimum, the margin `g(n) = n.p_B(n) - n.p_A(n)` is smooth once it is known which point
//! or curve supports each body ([`SupportPiece`]) and which edges or faces `n` must stay
//! perpendicular to ([`NormalConstraint`]). With the support `p(n)` of a piece and its derivative
//! `W`, the Riemannian Hessian of `-g` across `n` is `W_A + W_B + g I`. The same matrix serves two
//! purposes: Newton's method on plain values, and, by the implicit function theorem, one step in
//! `T` that turns the derivatives of the pose into those of the normal.

use super::core::ConvexCore;
use super::local::{LocalFeature, NormalConstraint, SupportPiece};
use super::region::TangentBasis;
use crate::proximity::core_distance::CoreDistance;
use crate::values::lift;
use nalgebra::{Isometry3, Matrix2, Matrix3, Vector2, Vector3};
use tarragon_framework::Scalar;

/// The pose of B in A as a matrix and a vector, because it rotates many vectors.
#[derive(Clone, Copy, Debug)]
pub(in crate::proximity) struct RelativePose<T: Scalar> {
    pub(super) r: Matrix3<T>,
    pub(super) p: Vector3<T>,
}

impl<T: Scalar> RelativePose<T> {
    pub(in crate::proximity) fn new(x_ab: &Isometry3<T>) -> Self {
        Self {
            r: x_ab.rotation.to_rotation_matrix().into_inner(),
            p: x_ab.translation.vector,
        }
    }
    /// Returns the pose without derivatives.
    fn value(&self) -> RelativePose<f64> {
        RelativePose {
            r: self.r.map(|x| x.re()),
            p: self.p.map(|x| x.re()),
        }
    }
    /// Returns a point of B, in A.
    pub(super) fn point(&self, p_b: &Vector3<T>) -> Vector3<T> {
        self.r * p_b + self.p
    }
    /// Returns a direction of A, in B.
    pub(super) fn in_b(&self, v: &Vector3<T>) -> Vector3<T> {
        self.r.tr_mul(v)
    }
}

/// The features of a pair and the unit normal from A to B, in A.
#[derive(Clone, Copy, Debug)]
pub(in crate::proximity) struct ActiveFeatures {
    pub(super) n: Vector3<f64>,
    pub(super) a: LocalFeature,
    pub(super) b: LocalFeature,
}

/// Two edges count as parallel if the sine of the angle between them is below this value.
const PARALLEL_EDGES: f64 = 1e-8;

/// Minimum cosine of the angle between the normal and the direction around which its features were
/// found.
const NEARBY: f64 = 0.5;

/// The number of conditions that the flats impose on the normal.
enum NormalConditions<T: Scalar> {
    None,
    Edge(Vector3<T>),
    /// The unit normal.
    Fixed(Vector3<T>),
}

impl ActiveFeatures {
    /// Creates a plane of A with the unit normal `n` against a feature of B.
    pub(in crate::proximity) fn on_plane(
        n: Vector3<f64>,
        a: LocalFeature,
        b: LocalFeature,
    ) -> Self {
        Self { n, a, b }
    }

    /// Returns the conditions on the normal in A, for a normal near its current value.
    fn conditions<T: Scalar>(&self, x_ab: &RelativePose<T>) -> NormalConditions<T> {
        let in_a = |v: &Vector3<f64>| x_ab.r * lift(v);
        match (self.a.flat, self.b.flat) {
            (NormalConstraint::Face(normal), _) => NormalConditions::Fixed(lift(&normal)),
            (_, NormalConstraint::Face(normal)) => NormalConditions::Fixed(-in_a(&normal)),
            (NormalConstraint::Edge(a), NormalConstraint::Edge(b)) => {
                let (a, b) = (lift::<T>(&a), in_a(&b));
                let cross = a.cross(&b);
                let length2 = cross.norm_squared();
                if length2.re() <= PARALLEL_EDGES * PARALLEL_EDGES {
                    return NormalConditions::Edge(a);
                }
                let mut n = cross / length2.sqrt();
                // Orthogonalized again: the cross product of nearly parallel edges is inaccurate.
                n -= a * a.dot(&n);
                n -= b * b.dot(&n);
                n /= n.norm_squared().sqrt();
                let along = n.map(|x| x.re()).dot(&self.n);
                NormalConditions::Fixed(if along < 0.0 { -n } else { n })
            }
            (NormalConstraint::Edge(a), NormalConstraint::None) => NormalConditions::Edge(lift(&a)),
            (NormalConstraint::None, NormalConstraint::Edge(b)) => NormalConditions::Edge(in_a(&b)),
            (NormalConstraint::None, NormalConstraint::None) => NormalConditions::None,
        }
    }

    /// Returns the supports of both pieces, in A.
    fn supports<T: Scalar>(
        &self,
        n: &Vector3<T>,
        x_ab: &RelativePose<T>,
    ) -> (Vector3<T>, Vector3<T>) {
        let p_a = self.a.piece.support(n);
        let p_b = match &self.b.piece {
            SupportPiece::Point(p) => x_ab.point(&lift(p)),
            piece => x_ab.point(&piece.support(&-x_ab.in_b(n))),
        };
        (p_a, p_b)
    }

    /// Returns `W_A + W_B` across `n`, between the directions `t`.
    fn curvature(
        &self,
        n: &Vector3<f64>,
        t: &[Vector3<f64>; 2],
        x_ab: &RelativePose<f64>,
    ) -> Matrix2<f64> {
        let mut w = self.a.piece.curvature(n, t);
        if !matches!(self.b.piece, SupportPiece::Point(_)) {
            let t_b = [x_ab.in_b(&t[0]), x_ab.in_b(&t[1])];
            w += self.b.piece.curvature(&-x_ab.in_b(n), &t_b);
        }
        w
    }

    /// Returns the features of a core (A) against a point at the origin of B, for a known normal.
    pub(in crate::proximity) fn against_point(n: Vector3<f64>, core: &ConvexCore<'_>) -> Self {
        Self {
            n,
            a: core.local(&n, 0.0),
            b: LocalFeature::point(Vector3::zeros()),
        }
    }

    /// Moves the normal to the stationary point of the margin under the conditions of the flats.
    /// Returns `None` if there is no such point nearby.
    pub(super) fn refined(mut self, x_ab: &RelativePose<f64>) -> Option<Self> {
        match self.conditions(x_ab) {
            NormalConditions::Fixed(n) => {
                self.n = n;
                return Some(self);
            }
            NormalConditions::Edge(e) => {
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
            NormalConditions::None => self.newton(
                x_ab,
                |n| {
                    let basis = TangentBasis::new(n);
                    [basis.t1, basis.t2]
                },
                2,
            )?,
        }
        Some(self)
    }

    /// Runs Newton's method on the sphere, in the first `count` of the directions that `across`
    /// returns, which are orthonormal and perpendicular to `n`.
    fn newton(
        &mut self,
        x_ab: &RelativePose<f64>,
        across: impl Fn(&Vector3<f64>) -> [Vector3<f64>; 2],
        count: usize,
    ) -> Option<()> {
        let points = matches!(
            (self.a.piece, self.b.piece),
            (SupportPiece::Point(_), SupportPiece::Point(_))
        );
        if points {
            let (p_a, p_b) = self.supports(&self.n, x_ab);
            let q = p_b - p_a;
            let q = match (count, across(&self.n)) {
                // The component of the difference that is perpendicular to the edge.
                (1, [t, _]) => t * t.dot(&q) + self.n * self.n.dot(&q),
                _ => q,
            };
            // Separated points have one maximum; overlapping points are never the deepest feature.
            let n = q.try_normalize(0.0)?;
            if n.dot(&self.n) < 0.0 {
                return None;
            }
            self.n = n;
            return Some(());
        }
        let height = |this: &Self, n: &Vector3<f64>| {
            let (p_a, p_b) = this.supports(n, x_ab);
            let r = p_a - p_b;
            (r, n.dot(&r))
        };
        let start = self.n;
        let (p_a, p_b) = self.supports(&self.n, x_ab);
        let rounding = f64::EPSILON * (p_a.amax() + p_b.amax() + x_ab.p.amax());
        let mut r = p_a - p_b;
        let mut h = self.n.dot(&r);
        for _ in 0..20 {
            let t = across(&self.n);
            let [t1, t2] = t;
            let gradient = Vector2::new(t1.dot(&r), if count == 1 { 0.0 } else { t2.dot(&r) });
            let off = gradient.norm();
            if off <= 0.25 * rounding {
                return Some(());
            }
            let w = self.curvature(&self.n, &t, x_ab);
            let step = if count == 1 {
                let bent = w[(0, 0)] - h;
                (bent > 1e-13 * (w[(0, 0)] + h.abs()))
                    .then(|| Vector2::new(-gradient.x / bent, 0.0))
            } else {
                downhill(&(w - Matrix2::identity() * h), &gradient)
            };
            let Some(step) = step else {
                // All directions are equally good: concentric round shapes.
                return (off <= 10.0 * rounding).then_some(());
            };
            let length = step.norm();
            let mut fraction = (0.5 / length).min(1.0);
            let mut moved = None;
            for _ in 0..12 {
                let n = (self.n + (t1 * step.x + t2 * step.y) * fraction).normalize();
                let next = height(self, &n);
                if next.1 <= h + 4.0 * rounding {
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
                // Convergence is quadratic, so another step would change nothing.
                return Some(());
            }
        }
        Some(())
    }

    /// Makes the normal a function of the poses when both bodies have flats that face each other,
    /// by holding one of them at its witness (`p_a`, in A, or `p_b`, in B).
    pub(in crate::proximity) fn settled(
        mut self,
        x_ab: &RelativePose<f64>,
        p_a: &Vector3<f64>,
        p_b: &Vector3<f64>,
    ) -> Self {
        match (self.a.flat, self.b.flat) {
            (NormalConstraint::None, _) | (_, NormalConstraint::None) => {}
            (NormalConstraint::Edge(_), NormalConstraint::Face(_)) => self.a = self.a.held_at(p_a),
            (NormalConstraint::Edge(a), NormalConstraint::Edge(b)) => {
                if a.cross(&(x_ab.r * b)).norm() <= PARALLEL_EDGES {
                    self.b = self.b.held_at(p_b);
                }
            }
            (NormalConstraint::Face(_), _) => self.b = self.b.held_at(p_b),
        }
        self
    }

    /// Returns the distance, normal and witnesses at the pose `x_ab` of B in A. The value of `x_ab`
    /// must be the pose for which the features were found.
    pub(in crate::proximity) fn evaluate<T: Scalar>(
        &self,
        x_ab: &RelativePose<T>,
    ) -> CoreDistance<T> {
        let n = self.normal(x_ab);
        let (p_a, p_b) = self.supports(&n, x_ab);
        let q = p_b - p_a;
        let distance = if is_constant::<T>() {
            n.dot(&q)
        } else {
            self.distance(x_ab)
        };
        let (p_a, p_b) = match (self.a.flat, self.b.flat) {
            // The support of a thin ellipsoid magnifies the rounding of the normal along its
            // surface, so the witness of the other body is used.
            (NormalConstraint::None, NormalConstraint::None) => {
                match (self.a.piece, self.b.piece) {
                    (_, SupportPiece::Ellipsoid(_)) => (p_a, p_a + n * distance),
                    (SupportPiece::Ellipsoid(_), _) => (p_b - n * distance, p_b),
                    _ => (p_a, p_b),
                }
            }
            (NormalConstraint::None, _) => (p_a, p_a + n * distance),
            (_, NormalConstraint::None) => (p_b - n * distance, p_b),
            (NormalConstraint::Edge(a), NormalConstraint::Edge(b)) => {
                let (u, v) = (lift::<T>(&a), x_ab.r * lift(&b));
                let cross = u.cross(&v);
                let length2 = cross.norm_squared();
                let s = (q - n * distance).cross(&v).dot(&cross) / length2;
                let p_a = p_a + u * s;
                (p_a, p_a + n * distance)
            }
            // Two faces cannot occur here: `settled` holds one of them.
            _ => (p_b - n * distance, p_b),
        };
        CoreDistance {
            distance,
            n_ab: n,
            p_a,
            p_b,
        }
    }

    /// Returns the distance with its derivatives. By the envelope theorem, they depend only on how
    /// the witnesses move when they are held fixed on their bodies.
    fn distance<T: Scalar>(&self, x_ab: &RelativePose<T>) -> T {
        let at = x_ab.value();
        let value = self.evaluate(&at);
        let p_b: Vector3<T> = lift(&at.in_b(&(value.p_b - at.p)));
        let q = x_ab.point(&p_b) - lift(&value.p_a);
        let distance = lift::<T>(&value.n_ab).dot(&q);
        distance - T::from(distance.re()) + T::from(value.distance)
    }

    /// Returns the normal with its derivatives.
    fn normal<T: Scalar>(&self, x_ab: &RelativePose<T>) -> Vector3<T> {
        let n0: Vector3<T> = lift(&self.n);
        let (mut n, across, count) = match self.conditions(x_ab) {
            NormalConditions::Fixed(n) => return n,
            NormalConditions::Edge(e) => {
                let n = n0 - e * e.dot(&n0);
                let n = n / n.norm_squared().sqrt();
                let t = e.cross(&n);
                (n, [t, t], 1)
            }
            NormalConditions::None => {
                let basis = TangentBasis::new(&self.n);
                (n0, [lift(&basis.t1), lift(&basis.t2)], 2)
            }
        };
        if is_constant::<T>() {
            return n;
        }
        let (p_a, p_b) = self.supports(&n, x_ab);
        let r = p_a - p_b;
        let h = r.map(|x| x.re()).dot(&self.n);
        let t = across.map(|t| t.map(|x| x.re()));
        let w = self.curvature(&self.n, &t, &x_ab.value());
        let scale = w.amax() + h.abs();
        let residual = across.map(|t| t.dot(&r));
        if count == 1 {
            let hessian = w[(0, 0)] - h;
            if hessian.abs() > 1e-12 * scale {
                n -= across[0] * (residual[0] / T::from(hessian));
            }
        } else {
            let hessian = w - Matrix2::identity() * h;
            let inverse = pseudo_inverse(&hessian, 1e-12 * scale);
            for i in 0..2 {
                let step =
                    residual[0] * T::from(inverse[(i, 0)]) + residual[1] * T::from(inverse[(i, 1)]);
                n -= across[i] * step;
            }
        }
        let n = n / n.norm_squared().sqrt();
        // The value is that of the refined normal, to the bit.
        n.zip_map(&self.n, |n, value| n - T::from(n.re()) + T::from(value))
    }
}

/// Returns true for scalars without derivatives.
fn is_constant<T: Scalar>() -> bool {
    T::NDERIV == 0
}

/// Returns the Newton step, or `None` if the Hessian is not positive semidefinite up to rounding:
/// then there is no minimum nearby.
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
    // Flat in one direction: only the other one matters.
    let steep = if a > d {
        Vector2::new(a, b)
    } else {
        Vector2::new(b, d)
    };
    let steep = steep.normalize();
    Some(-steep * (steep.dot(gradient) / (a + d)))
}

/// Returns the inverse without directions whose eigenvalue is rounding: nothing is unique along
/// them.
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
