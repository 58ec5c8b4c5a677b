//! Properties of single surfaces, and how far rounding may take them.

use super::Sums;
use nalgebra::{Isometry3, Vector3};
use tarragon_geometry::{ContactSurface, HydroelasticMesh, ProximityProperties};

/// Rounding of a coordinate after the some twenty operations that pose, clip and lift it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Distance (m) below which corners of a surface are one, as in Drake.
const SAME_CORNER: f64 = 1e-14;

/// Properties of the mesh of a solid, in its frame.
pub(super) struct Bounds {
    pub(super) points: Vec<Vector3<f64>>,
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// Range of the pressure (Pa); `None` if the solid is rigid.
    pressure: Option<[f64; 2]>,
    /// Largest ratio of the edges of an element to its height. Planes of needles are off by as many
    /// times the rounding, and where two of them meet by its square.
    pub(super) aspect: f64,
}

impl Bounds {
    pub(super) fn of(mesh: &HydroelasticMesh, properties: &ProximityProperties) -> Self {
        let (points, pressure, aspect) = match mesh {
            HydroelasticMesh::Surface(surface) => {
                let aspects = (0..surface.num_triangles()).map(|t| {
                    let corners = surface.element(t).vertices();
                    let [a, b, c] = corners.map(|v| surface.vertices()[v as usize]);
                    let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
                    longest.powi(2) / surface.area(t)
                });
                let aspect = aspects.filter(|a| a.is_finite()).fold(1.0, f64::max);
                (surface.vertices().to_vec(), None, aspect)
            }
            HydroelasticMesh::Volume(field) => {
                let modulus = *properties
                    .get::<f64>("hydroelastic", "hydroelastic_modulus")
                    .unwrap();
                let values = || field.values().iter().map(|p| p * modulus);
                let range = [
                    values().fold(f64::INFINITY, f64::min),
                    values().fold(f64::NEG_INFINITY, f64::max),
                ];
                let mesh = field.mesh();
                let aspects = (0..mesh.num_elements()).map(|e| {
                    let edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
                    let lengths = edges.map(|[a, b]| mesh.edge_vector(e, a, b).norm());
                    let longest = lengths.iter().copied().fold(0.0, f64::max);
                    longest.powi(3) / mesh.calc_tetrahedron_volume(e)
                });
                let aspect = aspects.filter(|a| a.is_finite()).fold(1.0, f64::max);
                (mesh.vertices().to_vec(), Some(range), aspect)
            }
        };
        let (low, high) = points.iter().fold(
            (points[0], points[0]),
            |(low, high): (Vector3<f64>, Vector3<f64>), p| (low.inf(p), high.sup(p)),
        );
        Self {
            points,
            low,
            high,
            pressure,
            aspect,
        }
    }

    pub(super) fn size(&self) -> f64 {
        (self.high - self.low).amax()
    }
}

/// A found fault: its kind and its numbers.
pub(super) type Fault = (&'static str, String);

pub(super) fn fault<T>(kind: &'static str, what: impl std::fmt::Debug) -> Result<T, Fault> {
    Err((kind, format!("{what:?}")))
}

/// Errors that a pair of solids may meet in the numbers of its surfaces.
pub(super) struct Tolerance {
    /// Of positions (m) and of pressures (Pa).
    pub(super) position: f64,
    pub(super) pressure: f64,
    /// Of planes of equal pressure (m). The less the gradients of both differ, the farther the
    /// rounding of the pressures moves them.
    pub(super) plane: f64,
    /// Whether the pressures differ so little over some distance that rounding decides where they
    /// are equal.
    pub(super) undetermined: bool,
}

pub(super) fn tolerance(
    surface: &ContactSurface<f64>,
    bounds: &[Option<Bounds>; 2],
    poses: &[Isometry3<f64>; 2],
) -> Tolerance {
    let meshes = || bounds.iter().flatten();
    let far = poses.iter().map(|x| x.translation.vector.amax());
    let far = far.fold(0.0, f64::max) + meshes().map(Bounds::size).fold(0.0, f64::max);
    let aspect = meshes().map(|b| b.aspect).fold(1.0, f64::max);
    let position = ROUNDING * far * aspect + SAME_CORNER;
    let (mut steepest, mut least_difference) = (0.0_f64, 1.0_f64);
    for f in 0..surface.num_faces() {
        let gradients = [
            surface.evaluate_grad_e_m_w(f),
            surface.evaluate_grad_e_n_w(f),
        ];
        let steep = gradients
            .iter()
            .flatten()
            .map(|g| g.norm())
            .fold(0.0, f64::max);
        steepest = steepest.max(steep);
        if let [Some(m), Some(n)] = gradients {
            least_difference = least_difference.min((m - n).norm() / steep);
        }
    }
    let largest = meshes()
        .filter_map(|b| b.pressure)
        .map(|[low, high]| high.max(-low));
    let pressure = ROUNDING * largest.fold(0.0, f64::max) + steepest * position;
    Tolerance {
        position,
        pressure,
        plane: position / least_difference,
        undetermined: least_difference < 1e-6,
    }
}

/// Checks the vertices, faces and pressures of a surface.
pub(super) fn check(
    surface: &ContactSurface<f64>,
    bounds: &[Option<Bounds>; 2],
    poses: &[Isometry3<f64>; 2],
    tolerance: &Tolerance,
) -> Result<(), Fault> {
    if surface.id_m() >= surface.id_n() {
        return fault("order of ids", (surface.id_m(), surface.id_n()));
    }
    if surface.num_faces() == 0 {
        return fault("no faces", surface.num_vertices());
    }
    for p in surface.vertices() {
        if !p.iter().all(|x| x.is_finite()) {
            return fault("vertex not finite", p);
        }
        for (bounds, pose) in bounds.iter().zip(poses) {
            let Some(bounds) = bounds else {
                continue;
            };
            let q = pose.inverse_transform_point(&(*p).into()).coords;
            let outside = (bounds.low - q).sup(&(q - bounds.high)).max();
            if outside > tolerance.position {
                return fault("vertex outside a geometry", (outside, tolerance.position));
            }
        }
    }
    let ranges = || bounds.iter().flatten().filter_map(|b| b.pressure);
    // Both pressures are equal on the surface, so the narrower range holds.
    let low = ranges().map(|r| r[0]).fold(f64::NEG_INFINITY, f64::max);
    let high = ranges().map(|r| r[1]).fold(f64::INFINITY, f64::min);
    for p in surface.vertex_pressures() {
        if !p.is_finite() {
            return fault("pressure not finite", p);
        }
        if *p < low - tolerance.pressure || *p > high + tolerance.pressure {
            return fault("pressure out of range", (p, low, high, tolerance.pressure));
        }
    }
    for f in 0..surface.num_faces() {
        let (area, normal) = (surface.area(f), surface.face_normal(f));
        if !(area >= 0.0 && area.is_finite()) {
            return fault("area of a face", area);
        }
        // Unit quaternions and normals are rounded.
        if normal.iter().any(|x| x.is_nan()) || (normal.norm() - 1.0).abs() > 1e-14 {
            return fault("normal not a unit vector", normal);
        }
        let centroid = surface.face_centroid(f);
        if !centroid.iter().all(|x| x.is_finite()) || !surface.face_pressure(f).is_finite() {
            return fault("centroid of a face", centroid);
        }
        for gradient in [
            surface.evaluate_grad_e_m_w(f),
            surface.evaluate_grad_e_n_w(f),
        ] {
            if gradient.is_some_and(|g| !g.iter().all(|x| x.is_finite())) {
                return fault("gradient not finite", gradient);
            }
        }
    }
    let sums = Sums::of(Some(surface));
    let all = [sums.force, sums.torque, sums.centroid];
    if !all.iter().flat_map(|v| v.iter()).all(|x| x.is_finite()) {
        return fault("sums not finite", sums);
    }
    Ok(())
}

/// Returns how much the force may differ by rounding, given the size of the solids (m).
pub(super) fn rounding_of_force(
    surface: &ContactSurface<f64>,
    size: f64,
    tolerance: &Tolerance,
) -> f64 {
    let pressures = surface.vertex_pressures().iter();
    let largest = pressures.fold(0.0_f64, |m, p| m.max(p.abs()));
    // The boundary of a face is off by the rounding of positions.
    let faces = surface.num_faces() as f64;
    let area = faces * size * tolerance.position;
    1e-12 * Sums::of(Some(surface)).size
        + area * (largest + tolerance.pressure)
        + surface.total_area() * tolerance.pressure
}
