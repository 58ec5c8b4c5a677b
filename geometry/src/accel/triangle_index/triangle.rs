//! A triangle and its point nearest to a given one.

use nalgebra::Vector3;

/// Triangle with its outward unit normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [Vector3<f64>; 3],
    pub(crate) normal: Vector3<f64>,
}

impl Triangle {
    /// Creates a triangle, or returns `None` if it is thinner than rounding and thus has no normal.
    pub(crate) fn new(corners: [Vector3<f64>; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let longest = (b - a)
            .norm_squared()
            .max((c - a).norm_squared())
            .max((c - b).norm_squared());
        let normal = (b - a).cross(&(c - a)).try_normalize(1e-14 * longest)?;
        normal
            .iter()
            .all(|x| x.is_finite())
            .then_some(Self { corners, normal })
    }

    /// Returns the point of the triangle nearest to `p`, by the regions of Ericson, Real-Time
    /// Collision Detection (2005), 5.1.5.
    pub(crate) fn nearest(&self, p: &Vector3<f64>) -> Vector3<f64> {
        let [a, b, c] = &self.corners;
        let (ab, ac, ap) = (b - a, c - a, p - a);
        let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
        if d1 <= 0.0 && d2 <= 0.0 {
            return *a;
        }
        let bp = p - b;
        let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
        if d3 >= 0.0 && d4 <= d3 {
            return *b;
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return a + ab * (d1 / (d1 - d3));
        }
        let cp = p - c;
        let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
        if d6 >= 0.0 && d5 <= d6 {
            return *c;
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return a + ac * (d2 / (d2 - d6));
        }
        let va = d3 * d6 - d5 * d4;
        if va <= 0.0 && d4 >= d3 && d5 >= d6 {
            return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
        }
        p - self.normal * self.normal.dot(&ap)
    }

    /// Returns how far inside the triangle the projection of a point along the normal is: its
    /// smallest signed distance from an edge, negative outside.
    pub(crate) fn inset(&self, p: &Vector3<f64>) -> f64 {
        let height = |i: usize| {
            let (from, to) = (&self.corners[i], &self.corners[(i + 1) % 3]);
            let e = to - from;
            self.normal.cross(&e).dot(&(p - from)) / e.norm()
        };
        height(0).min(height(1)).min(height(2))
    }

    /// Returns the offset of the plane from the origin.
    pub(crate) fn base(&self) -> f64 {
        self.normal.dot(&self.corners[0])
    }

    /// Returns the height of a point above the plane.
    pub(crate) fn height(&self, p: &Vector3<f64>) -> f64 {
        self.normal.dot(&(p - self.corners[0]))
    }
}
