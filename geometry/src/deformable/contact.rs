//! Contact surfaces of deformable geometry with rigid geometry and with each other.

use super::contact_surface::{DeformableContactSurface, SampledPartner, VertexWeights};
use super::current::CurrentShape;
use super::lifted_corners::{meet, plane_along, plane_of};
use crate::error::Result;
use crate::hydro::{
    CompliantMesh, EqualFields, FieldClipper, FieldTetrahedron, PartSide, TriangleClipper,
    TrianglePart, gradient_of,
};
use crate::ids::GeometryId;
use crate::mesh::PolygonSurfaceMesh;
use crate::values::values_of_pose;
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::Scalar;

/// The current shape of a deformable geometry, with the positions of its vertices over a scalar.
#[derive(Clone, Copy)]
pub(crate) struct PosedShape<'a, T: Scalar> {
    pub(crate) shape: &'a CurrentShape,
    pub(crate) positions: &'a [Vector3<T>],
}

impl<T: Scalar> PosedShape<'_, T> {
    fn corners<const N: usize>(&self, element: [u32; N]) -> [Vector3<T>; N] {
        element.map(|v| self.positions[v as usize])
    }
    fn element(&self, e: u32) -> [u32; 4] {
        self.shape.reference().mesh.element(e as usize).vertices()
    }
}

/// Polygons that are added one after the other, each with vertices of its own.
struct Polygons<T: Scalar> {
    vertices: Vec<Vector3<T>>,
    face_data: Vec<u32>,
    normals: Vec<Vector3<T>>,
}

impl<T: Scalar> Polygons<T> {
    /// Creates an empty list with room for some triangles.
    fn with_capacity(num_faces: usize) -> Self {
        Self {
            vertices: Vec::with_capacity(3 * num_faces),
            face_data: Vec::with_capacity(4 * num_faces),
            normals: Vec::with_capacity(num_faces),
        }
    }

    /// Adds a polygon that is counter-clockwise around its normal.
    fn push(&mut self, corners: impl Iterator<Item = Vector3<T>>, normal: Vector3<T>) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners);
        let end = self.vertices.len() as u32;
        self.face_data.push(end - first);
        self.face_data.extend(first..end);
        self.normals.push(normal);
    }

    /// Returns the mesh; `None` without faces.
    fn finish(self) -> Option<PolygonSurfaceMesh<T>> {
        let has_faces = !self.normals.is_empty();
        has_faces
            .then(|| PolygonSurfaceMesh::with_normals(self.face_data, self.vertices, self.normals))
    }
}

/// A rigid partner: its compliant mesh with some modulus (Pa), and its pose in the world.
pub(crate) struct RigidPartner<'a, T: Scalar> {
    pub(crate) mesh: &'a CompliantMesh,
    pub(crate) modulus: f64,
    pub(crate) x_wb: Isometry3<T>,
}

/// Returns the contact surface of a deformable geometry A and a rigid one B; `None` if they do not
/// touch.
pub(crate) fn contact_with_rigid<T: Scalar>(
    ids: [GeometryId; 2],
    posed: PosedShape<'_, T>,
    b: &RigidPartner<'_, T>,
) -> Option<DeformableContactSurface<T>> {
    let a = posed.shape;
    let x_wb = values_of_pose(&b.x_wb);
    let bounds = b.mesh.box_at(&x_wb)?;
    if !bounds.meets(a.bounds()) {
        return None;
    }
    let mut near = vec![];
    a.triangles().for_each_near(&bounds, 0.0, |t| near.push(t));
    near.sort_unstable();
    let (x_bw, lifted_x_bw) = (x_wb.inverse(), b.x_wb.inverse());
    let in_b = |p: &Vector3<f64>| (x_bw * Point3::from(*p)).coords;
    let triangles = near.iter().map(|t| a.reference().boundary[*t as usize]);
    let triangles: Vec<[u32; 3]> = triangles.collect();
    let reach = triangles.as_flattened().iter();
    let reach = reach.fold(0.0_f64, |m, v| {
        m.max(in_b(&a.vertices()[*v as usize]).amax())
    });
    let mut clipper = TriangleClipper::new(b.mesh, b.modulus, reach);
    let mut polygons = Polygons::with_capacity(triangles.len());
    // Per face, its triangle, and the pressure at its first vertex with its place in B.
    let mut known = Vec::with_capacity(triangles.len());
    let mut gradients = Vec::with_capacity(triangles.len());
    for triangle in triangles {
        let corners = a.corners(triangle);
        let Some(outward) = normal_of(&corners) else {
            continue;
        };
        let lift = CutTriangle::new(&posed.corners(triangle), outward, &lifted_x_bw);
        clipper.clip(corners.map(|p| in_b(&p)), x_bw * outward, |part| {
            // Reversed, but for the first corner, whose pressure is known.
            let n = part.num_corners();
            let reversed = (0..n).map(|i| lift.corner(part, &x_wb, (n - i) % n));
            polygons.push(reversed, -lift.normal);
            known.push((triangle, part.pressure(), part.corner(0)));
            gradients.push(part.gradient());
        });
    }
    let mesh = polygons.finish()?;
    let (mut points_a, mut pressures) = (
        Vec::with_capacity(known.len()),
        Vec::with_capacity(known.len()),
    );
    for (f, (triangle, pressure, first)) in known.into_iter().enumerate() {
        let centroid = mesh.element_centroid(f);
        let weights = weights_in_triangle(&posed.corners(triangle), &centroid);
        points_a.push(VertexWeights::of_triangle(triangle, weights));
        let from_first = (lifted_x_bw * Point3::from(centroid)).coords - first.map(T::from);
        pressures.push(from_first.dot(&gradients[f].map(T::from)) + pressure);
    }
    let gradients = gradients.iter().map(|g| b.x_wb * g.map(T::from)).collect();
    Some(DeformableContactSurface {
        ids,
        mesh,
        points_a,
        partner: SampledPartner::Rigid(pressures, gradients),
    })
}

/// A triangle of a deformable geometry that a rigid partner at a pose cuts, in the world.
struct CutTriangle<'a, T: Scalar> {
    corners: [Vector3<T>; 3],
    /// The unit normal, and that of any length.
    normal: Vector3<T>,
    along: Vector3<T>,
    x_bw: &'a Isometry3<T>,
}

impl<'a, T: Scalar> CutTriangle<'a, T> {
    fn new(corners: &[Vector3<T>; 3], normal: Vector3<f64>, x_bw: &'a Isometry3<T>) -> Self {
        let [a, b, c] = corners;
        let along = (b - a).cross(&(c - a));
        let normal = normal.map(T::from);
        Self {
            corners: *corners,
            normal: match T::NDERIV {
                0 => normal,
                _ => along.normalize(),
            },
            along,
            x_bw,
        }
    }

    /// Returns a corner of a part in the world, whose partner is at a pose.
    fn corner(&self, part: &TrianglePart<'_>, x_wb: &Isometry3<f64>, i: usize) -> Vector3<T> {
        let corner = (x_wb * Point3::from(part.corner(i))).coords;
        if T::NDERIV == 0 {
            return corner.map(T::from);
        }
        let plane = |side: PartSide| match side {
            PartSide::Edge(i) => {
                let along_edge = self.corners[(i + 1) % 3] - self.corners[i];
                plane_along(&self.corners[i], &along_edge.cross(&self.along), &corner)
            }
            PartSide::Face(normal, offset) => {
                let corner_b = (self.x_bw * Point3::from(corner.map(T::from))).coords;
                let height = corner_b.dot(&normal.map(T::from)) - offset;
                (x_wb * normal, height)
            }
        };
        let [s, t] = part.sides_at(i);
        let base = plane_along(&self.corners[0], &self.along, &corner);
        let met = meet(&corner, &[base, plane(s), plane(t)]);
        // Elsewhere, it moves with the triangle.
        met.unwrap_or_else(|| {
            let real = self.corners.map(|p| p.map(|x| x.re()));
            let weights = weights_in_triangle(&real, &corner);
            weighted_sum(&self.corners, &weights)
        })
    }
}

/// Returns the contact surface of two deformable geometries; `None` if they do not touch.
///
/// # Errors
/// Returns an error if the boundary of a reference mesh has no area.
pub(crate) fn contact_of_two<T: Scalar>(
    ids: [GeometryId; 2],
    posed: [PosedShape<'_, T>; 2],
) -> Result<Option<DeformableContactSurface<T>>> {
    let shapes = posed.map(|posed| posed.shape);
    let [a, b] = shapes;
    if !a.bounds().meets(b.bounds()) {
        return Ok(None);
    }
    let mut pairs = vec![];
    let (trees, margin) = ([a.tetrahedra(), b.tetrahedra()], 0.0);
    trees[0].for_each_pair_with(trees[1], margin, |s, r| pairs.push((s, r)));
    if pairs.is_empty() {
        return Ok(None);
    }
    pairs.sort_unstable();
    let depths = [a.reference().depths()?, b.reference().depths()?];
    let values = |side: usize, vertices: [u32; 4]| vertices.map(|v| depths[side][v as usize]);
    let field = |side: usize, e: u32| {
        let vertices = posed[side].element(e);
        let corners = shapes[side].corners(vertices);
        FieldTetrahedron::new(vertices, corners, values(side, vertices))
    };
    let reach = f64::from(a.bounds().reach().max(b.bounds().reach()));
    let mut clipper = FieldClipper::new(reach);
    let mut polygons = Polygons::with_capacity(0);
    let mut known = vec![];
    // Tetrahedra of B meet several of A.
    let mut fields_b: BTreeMap<u32, Option<FieldTetrahedron>> = BTreeMap::new();
    for same in pairs.chunk_by(|x, y| x.0 == y.0) {
        let Some(field_a) = field(0, same[0].0) else {
            continue;
        };
        for (s, r) in same {
            let field_b = fields_b.entry(*r).or_insert_with(|| field(1, *r));
            let Some(field_b) = field_b else {
                continue;
            };
            if let Some(face) = clipper.clip(&field_a, field_b) {
                let elements = [posed[0].element(*s), posed[1].element(*r)];
                let values = [values(0, elements[0]), values(1, elements[1])];
                let lift = CutFields::new(&posed, elements, values, face.normal);
                let corners = (0..face.num_corners()).map(|i| lift.corner(&face, i));
                polygons.push(corners, lift.normal);
                known.push(elements);
            }
        }
    }
    let Some(mesh) = polygons.finish() else {
        return Ok(None);
    };
    let (mut points, mut distances) = ([vec![], vec![]], vec![]);
    for (f, elements) in known.into_iter().enumerate() {
        let centroid = mesh.element_centroid(f);
        let mut depth = T::zero();
        for (side, vertices) in elements.into_iter().enumerate() {
            let weights = weights_in_tetrahedron(&posed[side].corners(vertices), &centroid);
            if side == 0 {
                depth = field_at(&weights, values(0, vertices));
            }
            points[side].push(VertexWeights::of_tetrahedron(vertices, weights));
        }
        distances.push(-depth);
    }
    let [points_a, points_b] = points;
    Ok(Some(DeformableContactSurface {
        ids,
        mesh,
        points_a,
        partner: SampledPartner::Deformable(distances, points_b),
    }))
}

/// Two tetrahedra with fields that are equal on a face.
struct CutFields<'a, T: Scalar> {
    posed: &'a [PosedShape<'a, T>; 2],
    elements: [[u32; 4]; 2],
    values: [[f64; 4]; 2],
    normal: Vector3<T>,
    /// By how much the gradient of the first field exceeds that of the second.
    difference: Vector3<T>,
}

impl<'a, T: Scalar> CutFields<'a, T> {
    fn new(
        posed: &'a [PosedShape<'a, T>; 2],
        elements: [[u32; 4]; 2],
        values: [[f64; 4]; 2],
        normal: Vector3<f64>,
    ) -> Self {
        let mut cut = Self {
            posed,
            elements,
            values,
            normal: normal.map(T::from),
            difference: Vector3::zeros(),
        };
        if T::NDERIV > 0 {
            let gradient = |k: usize| gradient_of(&cut.corners(k), values[k]);
            cut.difference = gradient(0) - gradient(1);
            cut.normal = cut.difference.normalize();
        }
        cut
    }

    fn corners(&self, side: usize) -> [Vector3<T>; 4] {
        self.posed[side].corners(self.elements[side])
    }

    /// Returns a corner of the face.
    fn corner(&self, face: &EqualFields<'_>, i: usize) -> Vector3<T> {
        let corner = face.corner(i);
        let lifted = corner.map(T::from);
        if T::NDERIV == 0 {
            return lifted;
        }
        let value = |side: usize| {
            let weights = weights_in_tetrahedron(&self.corners(side), &lifted);
            field_at(&weights, self.values[side])
        };
        let base = (self.difference.map(|x| x.re()), value(0) - value(1));
        let plane = |(side, vertices): (usize, [u32; 3])| {
            plane_of(&self.posed[side].corners(vertices), &corner)
        };
        let [s, t] = face.sides_at(i);
        let met = meet(&corner, &[base, plane(s), plane(t)]);
        // Elsewhere, it moves with A.
        met.unwrap_or_else(|| {
            let corners = self.corners(0);
            let real = corners.map(|p| p.map(|x| x.re()));
            weighted_sum(&corners, &weights_in_tetrahedron(&real, &corner))
        })
    }
}

/// Returns the value of a field, given those at the corners and the weights of a point.
fn field_at<T: Scalar>(weights: &[T; 4], values: [f64; 4]) -> T {
    let products = weights.iter().zip(values);
    products.fold(T::zero(), |sum, (w, value)| sum + *w * value)
}

/// Returns the point with constant weights.
fn weighted_sum<T: Scalar>(corners: &[Vector3<T>], weights: &[f64]) -> Vector3<T> {
    let products = corners.iter().zip(weights);
    products.fold(Vector3::zeros(), |sum, (p, w)| sum + p * T::from(*w))
}

/// Returns the unit normal of a triangle; `None` if it has no area.
fn normal_of([a, b, c]: &[Vector3<f64>; 3]) -> Option<Vector3<f64>> {
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    normal.iter().all(|x| x.is_finite()).then_some(normal)
}

/// Returns the barycentric coordinates of a point in the plane of a triangle.
fn weights_in_triangle<T: Scalar>([a, b, c]: &[Vector3<T>; 3], p: &Vector3<T>) -> [T; 3] {
    let (u, v, q) = (b - a, c - a, p - a);
    let normal = u.cross(&v);
    let square = normal.norm_squared();
    let second = q.cross(&v).dot(&normal) / square;
    let third = u.cross(&q).dot(&normal) / square;
    [T::one() - second - third, second, third]
}

/// Returns the barycentric coordinates of a point in a tetrahedron with a volume.
fn weights_in_tetrahedron<T: Scalar>([a, b, c, d]: &[Vector3<T>; 4], p: &Vector3<T>) -> [T; 4] {
    let (u, v, w, q) = (b - a, c - a, d - a, p - a);
    let volume = u.cross(&v).dot(&w);
    let second = q.cross(&v).dot(&w) / volume;
    let third = u.cross(&q).dot(&w) / volume;
    let fourth = u.cross(&v).dot(&q) / volume;
    [T::one() - second - third - fourth, second, third, fourth]
}
