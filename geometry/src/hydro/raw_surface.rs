//! Contact surfaces in plain numbers, as the intersection of two meshes finds them.

use super::clip::{Clipped, ValuedPoint};
use nalgebra::{Matrix3, Vector3};

/// A contact surface in the frame of S, a compliant geometry, with what derivatives need to know.
/// The other geometry is R.
///
/// All decisions are made here, without derivatives. Corners move as the planes do that meet there,
/// and every plane moves with S or with R: a corner at which the points of S and R have the
/// velocities `v_S` and `v_R` moves at `v_S + P (v_R - v_S)`.
#[derive(Default)]
pub(super) struct RawSurface {
    /// Whether the motions are to be found.
    pub(super) moves: bool,
    /// Positions (m), with the pressures (Pa) there.
    pub(super) vertices: Vec<ValuedPoint>,
    /// The matrices P, by vertex; empty if they are not to be found.
    pub(super) motions: Vec<Matrix3<f64>>,
    /// The vertices of one face after the other; empty if they are all vertices in turn.
    pub(super) indices: Vec<u32>,
    pub(super) faces: Vec<RawFace>,
}

/// A face of a contact surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawFace {
    pub(super) num_vertices: u32,
    /// Unit normal, out of R into S. If R is rigid, it moves with R.
    pub(super) normal: Vector3<f64>,
    /// Gradients of pressure (Pa/m) in S and R; that of a rigid R is zero.
    pub(super) gradient_s: Vector3<f64>,
    pub(super) gradient_r: Vector3<f64>,
}

impl RawSurface {
    pub(super) fn clear(&mut self) {
        self.vertices.clear();
        self.motions.clear();
        self.indices.clear();
        self.faces.clear();
    }

    /// Returns the vertex at a place in the sequence of all faces.
    #[inline(always)]
    pub(super) fn vertex_at(&self, i: usize) -> u32 {
        if self.indices.is_empty() {
            i as u32
        } else {
            self.indices[i]
        }
    }

    /// Returns the vertices of a face that begins at a place in the sequence of all faces.
    #[inline(always)]
    pub(super) fn vertices_of(
        &self,
        begin: usize,
        face: &RawFace,
    ) -> impl ExactSizeIterator<Item = usize> + Clone {
        (0..face.num_vertices as usize).map(move |i| self.vertex_at(begin + i) as usize)
    }

    /// Adds a vertex with its pressure (Pa); `motion` returns its matrix P.
    #[inline]
    pub(super) fn add_vertex(
        &mut self,
        vertex: ValuedPoint,
        motion: impl FnOnce() -> Matrix3<f64>,
    ) -> u32 {
        let index = self.vertices.len() as u32;
        self.vertices.push(vertex);
        if self.moves {
            self.motions.push(motion());
        }
        index
    }

    /// Adds a face with its own vertices, the corners of a polygon; `motion` returns the matrix P
    /// of a corner.
    #[inline(always)]
    pub(super) fn add_polygon(
        &mut self,
        polygon: &Clipped,
        face: RawFace,
        motion: impl Fn(usize) -> Matrix3<f64>,
    ) {
        self.faces.push(face);
        // All places are copied, which takes one step, and those without a corner are dropped.
        let end = self.vertices.len() + polygon.num_corners();
        self.vertices.extend_from_slice(polygon.places());
        self.vertices.truncate(end);
        if self.moves {
            let motions = (0..polygon.num_corners()).map(motion);
            self.motions.extend(motions);
        }
    }

    /// Adds a face with the given vertices, counter-clockwise around its normal.
    #[inline]
    pub(super) fn add_face_of(&mut self, vertices: &[u32], face: RawFace) {
        self.indices.extend(vertices);
        self.faces.push(face);
    }
}

/// The plane of a face or of one of its sides, which moves with R as far as `with_r` tells: by
/// `with_r · (v_R - v_S)` along its normal.
#[derive(Clone, Copy)]
pub(super) struct MovingPlane {
    normal: Vector3<f64>,
    with_r: Vector3<f64>,
}

impl MovingPlane {
    /// A plane of S.
    pub(super) fn of_s(normal: Vector3<f64>) -> Self {
        Self {
            normal,
            with_r: Vector3::zeros(),
        }
    }
    /// A plane of R.
    pub(super) fn of_r(normal: Vector3<f64>) -> Self {
        Self {
            normal,
            with_r: normal,
        }
    }
    /// The plane where pressures with these gradients are equal.
    pub(super) fn between(gradient_s: &Vector3<f64>, gradient_r: &Vector3<f64>) -> Self {
        let normal = gradient_s - gradient_r;
        let length = normal.norm();
        Self {
            normal: normal / length,
            with_r: -gradient_r / length,
        }
    }
}

/// Returns the matrix P of the point where three planes meet. Where they do not meet in a point
/// but for rounding, the point moves with S.
pub(super) fn motion_at(planes: &[MovingPlane; 3]) -> Matrix3<f64> {
    let rows = |row: fn(&MovingPlane) -> Vector3<f64>| {
        Matrix3::from_rows(&[0, 1, 2].map(|k| row(&planes[k]).transpose()))
    };
    let inverse = rows(|plane| plane.normal).try_inverse();
    let motion = inverse.map(|inverse| inverse * rows(|plane| plane.with_r));
    let motion = motion.filter(|m| m.iter().all(|x| x.is_finite()));
    motion.unwrap_or_else(Matrix3::zeros)
}
