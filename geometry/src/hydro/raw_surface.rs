//! Contact surfaces in plain numbers, as the intersection of two meshes finds them.

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
    /// Positions (m).
    pub(super) vertices: Vec<Vector3<f64>>,
    /// Pressures (Pa), by vertex.
    pub(super) pressures: Vec<f64>,
    /// The matrices P, by vertex; empty if they are not to be found.
    pub(super) motions: Vec<Matrix3<f64>>,
    /// Per face, the number of its vertices, then their indices.
    pub(super) face_data: Vec<u32>,
    pub(super) faces: Vec<RawFace>,
}

/// A face of a contact surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawFace {
    /// Unit normal, out of R into S. If R is rigid, it moves with R.
    pub(super) normal: Vector3<f64>,
    /// Gradients of pressure (Pa/m) in S and R; that of a rigid R is zero.
    pub(super) gradient_s: Vector3<f64>,
    pub(super) gradient_r: Vector3<f64>,
}

impl RawSurface {
    pub(super) fn clear(&mut self) {
        self.vertices.clear();
        self.pressures.clear();
        self.motions.clear();
        self.face_data.clear();
        self.faces.clear();
    }

    /// Adds a vertex; `motion` returns its matrix P.
    #[inline]
    pub(super) fn add_vertex(
        &mut self,
        p: Vector3<f64>,
        pressure: f64,
        motion: impl FnOnce() -> Matrix3<f64>,
    ) -> u32 {
        let index = self.vertices.len() as u32;
        self.vertices.push(p);
        self.pressures.push(pressure);
        if self.moves {
            self.motions.push(motion());
        }
        index
    }

    /// Adds vertices without motions, given their pressures (Pa).
    #[inline]
    pub(super) fn add_vertices(
        &mut self,
        vertices: &[Vector3<f64>],
        pressure: impl Fn(&Vector3<f64>) -> f64,
    ) {
        self.pressures.extend(vertices.iter().map(pressure));
        self.vertices.extend_from_slice(vertices);
    }

    /// Adds a face whose vertices follow the present ones, counter-clockwise around its normal.
    #[inline]
    pub(super) fn add_face(&mut self, num_vertices: usize, face: RawFace) {
        let first = self.vertices.len() as u32;
        let vertices = first..first + num_vertices as u32;
        self.face_data.push(num_vertices as u32);
        self.face_data.extend(vertices);
        self.faces.push(face);
    }

    /// Adds a face with the given vertices, counter-clockwise around its normal.
    #[inline]
    pub(super) fn add_face_of(&mut self, vertices: &[u32], face: RawFace) {
        self.face_data.push(vertices.len() as u32);
        self.face_data.extend(vertices);
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
