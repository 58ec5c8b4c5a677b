//! Oriented bounding boxes.

use super::any_shape::Shape;
use crate::error::Result;
use crate::mesh::{self, PolygonSurfaceMesh};
use nalgebra::{Isometry3, Matrix3, SymmetricEigen, UnitQuaternion, Vector2, Vector3};
use tarragon_framework::math;

/// Oriented bounding box (Drake's `Obb`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::math;
/// use tarragon_geometry::Obb;
/// // A tilted stick has a thin box.
/// let x = math::pose(math::rotation_z(0.5), Vector3::new(1.0, 2.0, 3.0));
/// let corners = [[-1., -0.1], [1., -0.1], [-1., 0.1], [1., 0.1]];
/// let points = corners.map(|[a, b]| (x * nalgebra::Point3::new(a, b, 0.0)).coords);
/// let stick = Obb::from_points(&points)?;
/// assert!(stick.half_width().min() < 1e-14 && (stick.half_width().max() - 1.0).abs() < 1e-14);
/// assert!(points.iter().all(|p| stick.contains(p)));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obb {
    pose: Isometry3<f64>,
    half_width: Vector3<f64>,
}

/// Number of hull faces, largest first, that are tried as the direction of a side of the box.
const MAX_FACES: usize = 64;
/// Number of projected edges, longest first, that are tried for the other sides.
const MAX_EDGES: usize = 256;
/// Edge length, relative to the coordinates of the box, below which an edge is mere rounding.
const THIN: f64 = 1e-13;

impl Obb {
    /// Creates a box from its pose (centre and axes) and its half edge lengths `half_width` (m).
    pub fn new(pose: Isometry3<f64>, half_width: Vector3<f64>) -> Self {
        Self { pose, half_width }
    }

    /// Computes a box around the points, not necessarily the smallest one.
    ///
    /// The result is the smallest box with a side that is parallel to a face of the convex hull, to
    /// a coordinate plane or to a principal plane of the points. For the corners of a box in any
    /// pose it is that box. The smallest box may have no such side, only sides that contain two
    /// edges each; those boxes are not tried: O'Rourke, "Finding minimal enclosing boxes", 1985.
    ///
    /// # Errors
    /// Returns an error if there are no points or a coordinate is not finite.
    pub fn from_points(points: &[Vector3<f64>]) -> Result<Self> {
        let hull = mesh::convex_hull(points).map_err(|e| e.at("Obb::from_points"))?;
        let vertices = hull.vertices.clone();
        match PolygonSurfaceMesh::from_hull(hull) {
            Ok(surface) => Ok(Self::of_hull(&surface)),
            // The points are on a line.
            Err(_) => Ok(Self::along(&vertices, &principal_axes(&vertices))),
        }
    }

    /// Computes the box of [`Obb::from_points`] for the vertices of a convex surface.
    pub(crate) fn of_hull(hull: &PolygonSurfaceMesh) -> Self {
        let points = hull.vertices();
        let axes = principal_axes(points);
        let mut faces: Vec<usize> = (0..hull.num_faces()).collect();
        faces.sort_by(|&a, &b| hull.area(b).total_cmp(&hull.area(a)));
        let normals = faces.iter().take(MAX_FACES).map(|&f| hull.face_normal(f));
        let principal = (0..3).map(|k| axes.column(k).into_owned());
        let aligned = [Vector3::x(), Vector3::y(), Vector3::z()];
        let mut best: Option<((usize, f64), Self)> = None;
        for normal in aligned.into_iter().chain(principal).chain(normals) {
            let candidate = Self::along(points, &best_axes(points, &normal));
            // A face or edge smaller than rounding has no direction.
            if !candidate.half_width.iter().all(|h| h.is_finite()) {
                continue;
            }
            let content = candidate.content();
            if best.as_ref().is_none_or(|(least, _)| content < *least) {
                best = Some((content, candidate));
            }
        }
        best.map_or_else(|| Self::along(points, &axes), |(_, b)| b)
    }

    /// Computes the smallest box around the points with edges along the columns of `axes`.
    fn along(points: &[Vector3<f64>], axes: &Matrix3<f64>) -> Self {
        let rotation = math::rotation_from_matrix(axes);
        // Use the matrix of the rounded quaternion, so that rounding leaves no point outside.
        let r = rotation.to_rotation_matrix().into_inner();
        let (low, high) = extent(points, &r);
        let center = r * ((low + high) / 2.0);
        // Slack for the rounding in `contains`.
        let slack = 8.0 * f64::EPSILON * (center.amax() + (high - low).amax());
        Self {
            pose: math::pose(rotation, center),
            half_width: (high - low) / 2.0 + Vector3::repeat(slack),
        }
    }

    /// Returns the number of edges that are longer than rounding, and the product of their half
    /// lengths. Flat boxes are thus compared by area, because their volume is mere rounding.
    fn content(&self) -> (usize, f64) {
        let thin = THIN * (self.center().amax() + self.half_width.amax());
        let edges = self.half_width.iter().filter(|h| **h > thin);
        edges.fold((0, 1.0), |(n, content), h| (n + 1, content * h))
    }

    /// Returns the pose of the box: its centre (m) and its axes.
    pub fn pose(&self) -> &Isometry3<f64> {
        &self.pose
    }
    /// Returns the centre (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.pose.translation.vector
    }
    /// Returns the half edge lengths (m) along the axes of the box.
    pub fn half_width(&self) -> &Vector3<f64> {
        &self.half_width
    }
    /// Returns the volume (m^3).
    pub fn volume(&self) -> f64 {
        8.0 * self.half_width.product()
    }
    /// Returns true if the point `p` (m) is inside the box or on its boundary.
    pub fn contains(&self, p: &Vector3<f64>) -> bool {
        let local = self.pose.rotation.inverse() * (p - self.center());
        (0..3).all(|k| local[k].abs() <= self.half_width[k])
    }
}

/// Computes the box around a shape in the shape's frame; `None` for a half space (Drake's
/// `CalcObb`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::{Capsule, HalfSpace, calc_obb};
/// let obb = calc_obb(&Capsule::new(0.1, 0.5)?.into())?.unwrap();
/// assert!((obb.half_width() - Vector3::new(0.1, 0.1, 0.35)).norm() < 1e-15);
/// assert!(calc_obb(&HalfSpace.into())?.is_none());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a mesh cannot be read.
pub fn calc_obb(shape: &Shape) -> Result<Option<Obb>> {
    let upright = |half: Vector3<f64>| {
        let pose = math::pose(UnitQuaternion::identity(), Vector3::zeros());
        Ok(Some(Obb::new(pose, half)))
    };
    match shape {
        Shape::HalfSpace(_) => Ok(None),
        Shape::Box(s) => upright(s.half_size()),
        Shape::Capsule(s) => {
            let r = s.radius();
            upright(Vector3::new(r, r, s.length() / 2.0 + r))
        }
        Shape::Cylinder(s) => upright(Vector3::new(s.radius(), s.radius(), s.length() / 2.0)),
        Shape::Ellipsoid(s) => upright(s.semi_axes()),
        Shape::Sphere(s) => upright(Vector3::repeat(s.radius())),
        Shape::MeshcatCone(s) => {
            let half = Vector3::new(s.a(), s.b(), s.height() / 2.0);
            let center = Vector3::new(0.0, 0.0, half.z);
            let pose = math::pose(UnitQuaternion::identity(), center);
            Ok(Some(Obb::new(pose, half)))
        }
        Shape::HeightField(s) => {
            let (center, half) = s.calc_bounding_box();
            let pose = math::pose(UnitQuaternion::identity(), center);
            Ok(Some(Obb::new(pose, half)))
        }
        Shape::Mesh(s) => match s.convex_hull() {
            Ok(hull) => Ok(Some(Obb::of_hull(&hull))),
            // The vertices may be on a line.
            Err(_) => Obb::from_points(s.surface()?.vertices()).map(Some),
        },
        Shape::Convex(s) => Ok(Some(Obb::of_hull(&*s.convex_hull()?))),
    }
}

/// Returns the smallest and largest coordinates along the columns of `axes`.
fn extent(points: &[Vector3<f64>], axes: &Matrix3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let start = Vector3::repeat(f64::INFINITY);
    points.iter().fold((start, -start), |(low, high), p| {
        let local = axes.tr_mul(p);
        (low.inf(&local), high.sup(&local))
    })
}

/// Computes the principal axes of the points: orthonormal, right-handed eigenvectors of their
/// covariance.
fn principal_axes(points: &[Vector3<f64>]) -> Matrix3<f64> {
    let mean = points.iter().sum::<Vector3<f64>>() / points.len().max(1) as f64;
    let scale = points.iter().map(|p| (p - mean).amax()).fold(0.0, f64::max);
    if scale == 0.0 {
        return Matrix3::identity();
    }
    let outer = |p: &Vector3<f64>| {
        let d = (p - mean) / scale;
        d * d.transpose()
    };
    let covariance: Matrix3<f64> = points.iter().map(outer).sum();
    let vectors = SymmetricEigen::new(covariance).eigenvectors;
    let (x, y) = (
        vectors.column(0).into_owned(),
        vectors.column(1).into_owned(),
    );
    Matrix3::from_columns(&[x, y, x.cross(&y)])
}

/// Computes axes whose third is `normal` and whose first two give the smallest rectangle around the
/// projected points. One side of that rectangle is along an edge of the projection's convex hull
/// (Freeman & Shapira, "Determining the minimum-area encasing rectangle for an arbitrary closed
/// curve", 1975).
fn best_axes(points: &[Vector3<f64>], normal: &Vector3<f64>) -> Matrix3<f64> {
    let least = normal.iamin();
    let u = normal.cross(&Vector3::ith(least, 1.0)).normalize();
    let v = normal.cross(&u);
    let flat: Vec<Vector2<f64>> = points
        .iter()
        .map(|p| Vector2::new(p.dot(&u), p.dot(&v)))
        .collect();
    let ring = mesh::convex_ring(&flat);
    let mut edges: Vec<Vector2<f64>> = (0..ring.len())
        .map(|i| flat[ring[(i + 1) % ring.len()] as usize] - flat[ring[i] as usize])
        .collect();
    edges.sort_by(|a, b| b.norm_squared().total_cmp(&a.norm_squared()));
    edges.truncate(MAX_EDGES);
    let mut best = (f64::INFINITY, Vector2::x());
    for edge in edges {
        let Some(along) = edge.try_normalize(0.0) else {
            continue;
        };
        let across = Vector2::new(-along.y, along.x);
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let width = |axis: &Vector2<f64>| {
            let (low, high) = ring.iter().fold(start, |(low, high), &i| {
                let s = flat[i as usize].dot(axis);
                (f64::min(low, s), f64::max(high, s))
            });
            high - low
        };
        let area = width(&along) * width(&across);
        if area < best.0 {
            best = (area, along);
        }
    }
    let x = (u * best.1.x + v * best.1.y).normalize();
    Matrix3::from_columns(&[x, normal.cross(&x), *normal])
}

#[cfg(test)]
mod tests;
