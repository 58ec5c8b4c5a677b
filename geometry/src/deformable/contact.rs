//! Contact surfaces of deformable geometry with rigid geometry and with each other.

use super::contact_surface::{DeformableContactSurface, SampledPartner, VertexWeights};
use super::current::CurrentShape;
use crate::error::Result;
use crate::hydro::{CompliantMesh, FieldClipper, FieldTetrahedron, TriangleClipper};
use crate::ids::GeometryId;
use crate::mesh::PolygonSurfaceMesh;
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeMap;

/// Polygons that are added one after the other, each with vertices of its own.
#[derive(Default)]
struct Polygons {
    vertices: Vec<Vector3<f64>>,
    face_data: Vec<u32>,
    normals: Vec<Vector3<f64>>,
}

impl Polygons {
    /// Adds a polygon that is counter-clockwise around its normal.
    fn push(&mut self, corners: impl Iterator<Item = Vector3<f64>>, normal: Vector3<f64>) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners);
        let end = self.vertices.len() as u32;
        self.face_data.push(end - first);
        self.face_data.extend(first..end);
        self.normals.push(normal);
    }

    /// Returns the mesh; `None` without faces.
    fn finish(self) -> Option<PolygonSurfaceMesh> {
        let has_faces = !self.normals.is_empty();
        has_faces
            .then(|| PolygonSurfaceMesh::with_normals(self.face_data, self.vertices, self.normals))
    }
}

/// Returns the contact surface of a deformable geometry A and a rigid one at `X_WB` that is
/// represented by a compliant mesh with some modulus (Pa); `None` if they do not touch.
pub(crate) fn contact_with_rigid(
    ids: [GeometryId; 2],
    a: &CurrentShape,
    (b, modulus): (&CompliantMesh, f64),
    x_wb: &Isometry3<f64>,
) -> Option<DeformableContactSurface> {
    let bounds = b.box_at(x_wb)?;
    if !bounds.meets(a.bounds()) {
        return None;
    }
    let mut near = vec![];
    a.triangles().for_each_near(&bounds, 0.0, |t| near.push(t));
    near.sort_unstable();
    let x_bw = x_wb.inverse();
    let in_b = |p: &Vector3<f64>| (x_bw * Point3::from(*p)).coords;
    let in_world = |p: &Vector3<f64>| (x_wb * Point3::from(*p)).coords;
    let triangles = near.iter().map(|t| a.reference().boundary[*t as usize]);
    let triangles: Vec<[u32; 3]> = triangles.collect();
    let reach = triangles.as_flattened().iter();
    let reach = reach.fold(0.0_f64, |m, v| {
        m.max(in_b(&a.vertices()[*v as usize]).amax())
    });
    let mut clipper = TriangleClipper::new(b, modulus, reach);
    let mut polygons = Polygons::default();
    // Per face, its triangle and the pressure at its first vertex.
    let mut known = vec![];
    let mut gradients = vec![];
    for triangle in triangles {
        let corners = a.corners(triangle);
        let Some(outward) = normal_of(&corners) else {
            continue;
        };
        let corners_b = corners.map(|p| in_b(&p));
        clipper.clip(corners_b, x_bw * outward, |part, pressure, gradient| {
            // Reversed, but for the first corner, whose pressure is known.
            let (first, rest) = part.split_at(1);
            let reversed = first.iter().chain(rest.iter().rev());
            polygons.push(reversed.map(in_world), -outward);
            known.push((triangle, pressure));
            gradients.push(x_wb * gradient);
        });
    }
    let mesh = polygons.finish()?;
    let (mut points_a, mut pressures) = (vec![], vec![]);
    for (f, (triangle, pressure)) in known.into_iter().enumerate() {
        let centroid = mesh.element_centroid(f);
        let first = mesh.vertex(mesh.element(f).vertex(0));
        let weights = weights_in_triangle(&a.corners(triangle), &centroid);
        points_a.push(VertexWeights::of_triangle(triangle, weights));
        pressures.push(pressure + gradients[f].dot(&(centroid - first)));
    }
    Some(DeformableContactSurface {
        ids,
        mesh,
        points_a,
        partner: SampledPartner::Rigid(pressures, gradients),
    })
}

/// Returns the contact surface of two deformable geometries; `None` if they do not touch.
///
/// # Errors
/// Returns an error if the boundary of a reference mesh has no area.
pub(crate) fn contact_of_two(
    ids: [GeometryId; 2],
    [a, b]: [&CurrentShape; 2],
) -> Result<Option<DeformableContactSurface>> {
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
    let shapes = [a, b];
    let depths = [a.reference().depths()?, b.reference().depths()?];
    let element = |side: usize, e: u32| {
        let mesh = &shapes[side].reference().mesh;
        mesh.element(e as usize).vertices()
    };
    let field = |side: usize, e: u32| {
        let vertices = element(side, e);
        let values = vertices.map(|v| depths[side][v as usize]);
        FieldTetrahedron::new(vertices, shapes[side].corners(vertices), values)
    };
    let reach = f64::from(a.bounds().reach().max(b.bounds().reach()));
    let mut clipper = FieldClipper::new(reach);
    let mut polygons = Polygons::default();
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
            if let Some((corners, normal)) = clipper.clip(&field_a, field_b) {
                polygons.push(corners.iter().copied(), normal);
                known.push((*s, *r));
            }
        }
    }
    let Some(mesh) = polygons.finish() else {
        return Ok(None);
    };
    let (mut points, mut distances) = ([vec![], vec![]], vec![]);
    for (f, (s, r)) in known.into_iter().enumerate() {
        let centroid = mesh.element_centroid(f);
        let mut depth = 0.0;
        for (side, e) in [s, r].into_iter().enumerate() {
            let vertices = element(side, e);
            let weights = weights_in_tetrahedron(&shapes[side].corners(vertices), &centroid);
            if side == 0 {
                let values = vertices.iter().zip(&weights);
                depth = values.map(|(v, w)| w * depths[0][*v as usize]).sum();
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

/// Returns the unit normal of a triangle; `None` if it has no area.
fn normal_of([a, b, c]: &[Vector3<f64>; 3]) -> Option<Vector3<f64>> {
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    normal.iter().all(|x| x.is_finite()).then_some(normal)
}

/// Returns the barycentric coordinates of a point in the plane of a triangle.
fn weights_in_triangle([a, b, c]: &[Vector3<f64>; 3], p: &Vector3<f64>) -> [f64; 3] {
    let (u, v, q) = (b - a, c - a, p - a);
    let normal = u.cross(&v);
    let square = normal.norm_squared();
    let second = q.cross(&v).dot(&normal) / square;
    let third = u.cross(&q).dot(&normal) / square;
    [1.0 - second - third, second, third]
}

/// Returns the barycentric coordinates of a point in a tetrahedron with a volume.
fn weights_in_tetrahedron([a, b, c, d]: &[Vector3<f64>; 4], p: &Vector3<f64>) -> [f64; 4] {
    let (u, v, w, q) = (b - a, c - a, d - a, p - a);
    let volume = u.cross(&v).dot(&w);
    let second = q.cross(&v).dot(&w) / volume;
    let third = u.cross(&q).dot(&w) / volume;
    let fourth = u.cross(&v).dot(&q) / volume;
    [1.0 - second - third - fourth, second, third, fourth]
}
