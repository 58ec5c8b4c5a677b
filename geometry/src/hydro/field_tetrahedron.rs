//! Single tetrahedra with linear fields, of meshes that change their shape.

use super::clip::{CLIPPING, Clipped, Cut, position, valued};
use super::planes::rounding_at;
use super::tet_tet::{PosedTetrahedron, TetrahedronPair};
use super::tetrahedron::Tetrahedron;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// A tetrahedron in the world, and a field that is linear in it.
pub(crate) struct FieldTetrahedron {
    own: Tetrahedron,
    as_partner: PosedTetrahedron,
}

impl FieldTetrahedron {
    /// Creates a tetrahedron from the indices of its vertices, their positions (m) and the values
    /// of the field there; returns `None` if it is degenerate.
    pub(crate) fn new(
        mut vertices: [u32; 4],
        mut corners: [Vector3<f64>; 4],
        mut values: [f64; 4],
    ) -> Option<Self> {
        let [a, b, c, d] = corners;
        let (u, v, w) = (b - a, c - a, d - a);
        let volume = u.cross(&v).dot(&w);
        let gradient = gradient_of(&corners, values);
        if volume < 0.0 {
            vertices.swap(2, 3);
            corners.swap(2, 3);
            values.swap(2, 3);
        }
        let at = |v: u32| corners[vertices.iter().position(|w| *w == v).unwrap_or(0)];
        let own = Tetrahedron::of_vertices(vertices, at, gradient, values[0])?;
        Some(Self {
            as_partner: PosedTetrahedron::new(
                [0, 1, 2, 3].map(|k| valued(&corners[k], values[k])),
                own.gradient,
            ),
            own,
        })
    }
}

/// Returns the gradient of the linear field with some values at the corners of a tetrahedron.
pub(crate) fn gradient_of<T: Scalar>(
    [a, b, c, d]: &[Vector3<T>; 4],
    values: [f64; 4],
) -> Vector3<T> {
    let (u, v, w) = (b - a, c - a, d - a);
    let rise = [1, 2, 3].map(|k: usize| T::from(values[k] - values[0]));
    let sum = v.cross(&w) * rise[0] + w.cross(&u) * rise[1] + u.cross(&v) * rise[2];
    sum / u.cross(&v).dot(&w)
}

/// Finds where the fields of two tetrahedra are equal.
pub(crate) struct FieldClipper {
    polygon: Clipped,
    rounding: f64,
}

impl FieldClipper {
    /// Creates a clipper for coordinates up to `reach` (m).
    pub(crate) fn new(reach: f64) -> Self {
        Self {
            polygon: Clipped::new(),
            rounding: rounding_at(reach),
        }
    }

    /// Returns the polygon inside of both tetrahedra where their fields are equal; `None` if there
    /// is none.
    pub(crate) fn clip<'a>(
        &'a mut self,
        s: &'a FieldTetrahedron,
        r: &'a FieldTetrahedron,
    ) -> Option<EqualFields<'a>> {
        let pair = TetrahedronPair::of_two(&s.own, 1.0, &r.as_partner, self.rounding);
        if !pair.is_along() || pair.cut(&mut self.polygon) != Cut::Left {
            return None;
        }
        Some(EqualFields {
            normal: pair.normal()?,
            polygon: &self.polygon,
            tetrahedra: [s, r],
        })
    }
}

/// The polygon inside of two tetrahedra S and R where their fields are equal.
pub(crate) struct EqualFields<'a> {
    /// The unit normal, out of R into S.
    pub(crate) normal: Vector3<f64>,
    polygon: &'a Clipped,
    tetrahedra: [&'a FieldTetrahedron; 2],
}

impl EqualFields<'_> {
    pub(crate) fn num_corners(&self) -> usize {
        self.polygon.num_corners()
    }
    /// Returns a corner; they are counter-clockwise around the normal.
    pub(crate) fn corner(&self, i: usize) -> Vector3<f64> {
        position(&self.polygon.corner(i))
    }
    /// Returns the sides that meet at a corner, each as a face of S (0) or R (1) by its vertices.
    pub(crate) fn sides_at(&self, corner: usize) -> [(usize, [u32; 3]); 2] {
        let of = |side: u8| {
            let (number, face) = match side.checked_sub(CLIPPING) {
                Some(face) => (0, face),
                None => (1, side),
            };
            let vertices = self.tetrahedra[number].own.vertices;
            let next = |i: u8| vertices[usize::from((face + i) % 4)];
            (number, [next(1), next(2), next(3)])
        };
        self.polygon.sides_at(corner).map(of)
    }
}
