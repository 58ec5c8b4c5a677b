//! Contact surfaces in the world, with their derivatives.

use super::clip::{ValuedPoint, position};
use super::contact_surface::{ContactSurface, HydroelasticContactRepresentation, SurfaceField};
use super::raw_surface::RawSurface;
use crate::ids::GeometryId;
use crate::mesh::{
    FaceData, MeshFieldLinear, PolygonSurfaceMesh, SurfaceTriangle, TriangleSurfaceMesh,
    area_and_centroid,
};
use crate::values::values_of_pose;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Rotation and position of a frame in the world, with and without derivatives.
struct Frame<T: Scalar> {
    r_w: Matrix3<T>,
    p_w: Vector3<T>,
    real_r_w: Matrix3<f64>,
    real_p_w: Vector3<f64>,
}

/// Multiplies by a constant vector.
#[inline]
fn times<T: Scalar>(m: &Matrix3<T>, v: &Vector3<f64>) -> Vector3<T> {
    Vector3::from_fn(|i, _| m[(i, 0)] * v.x + m[(i, 1)] * v.y + m[(i, 2)] * v.z)
}

impl<T: Scalar> Frame<T> {
    fn new(x_w: &Isometry3<T>) -> Self {
        let real = values_of_pose(x_w);
        Self {
            r_w: x_w.rotation.to_rotation_matrix().into_inner(),
            p_w: x_w.translation.vector,
            real_r_w: real.rotation.to_rotation_matrix().into_inner(),
            real_p_w: real.translation.vector,
        }
    }
    /// Returns the position in the world of a point that moves with the frame.
    #[inline]
    fn point(&self, p: &Vector3<f64>) -> Vector3<T> {
        times(&self.r_w, p) + self.p_w
    }
    #[inline]
    fn vector(&self, v: &Vector3<f64>) -> Vector3<T> {
        times(&self.r_w, v)
    }
}

/// Poses of both geometries of a contact surface.
pub(super) struct Lift<T: Scalar> {
    s: Frame<T>,
    r: Frame<T>,
    /// `X_RS` without derivatives.
    r_rs: Matrix3<f64>,
    p_rs: Vector3<f64>,
    is_r_rigid: bool,
}

impl<T: Scalar> Lift<T> {
    pub(super) fn new(x_ws: &Isometry3<T>, x_wr: &Isometry3<T>, is_r_rigid: bool) -> Self {
        let x_rs = values_of_pose(x_wr).inverse() * values_of_pose(x_ws);
        Self {
            s: Frame::new(x_ws),
            r: Frame::new(x_wr),
            r_rs: x_rs.rotation.to_rotation_matrix().into_inner(),
            p_rs: x_rs.translation.vector,
            is_r_rigid,
        }
    }

    /// Returns the position in the world of a point that moves with S, without derivatives.
    #[inline]
    fn real_point(&self, p: &Vector3<f64>) -> Vector3<T> {
        let (r, at) = (&self.s.real_r_w, &self.s.real_p_w);
        Vector3::from_fn(|i, _| {
            T::from(r[(i, 0)] * p.x + r[(i, 1)] * p.y + r[(i, 2)] * p.z + at[i])
        })
    }

    /// Returns the position in the world of a point with some matrix P.
    fn moving_point(&self, p: &Vector3<f64>, motion: &Matrix3<f64>) -> Vector3<T> {
        let with_s = self.s.point(p);
        let with_r = self.r.point(&(self.r_rs * p + self.p_rs));
        let r = &self.s.real_r_w;
        let motion = r * motion * r.transpose();
        let apart = with_r - with_s;
        with_s
            + Vector3::from_fn(|i, _| {
                apart.x * motion[(i, 0)] + apart.y * motion[(i, 1)] + apart.z * motion[(i, 2)]
            })
    }

    fn vertices(&self, raw: &RawSurface) -> Vec<Vector3<T>> {
        let points = raw.vertices.iter().map(position);
        if T::NDERIV == 0 {
            return points.map(|p| self.real_point(&p)).collect();
        }
        let points = points.zip(&raw.motions);
        points
            .map(|(p, motion)| self.moving_point(&p, motion))
            .collect()
    }

    /// Returns the pressures at the vertices. Their derivatives are those of the field of S, which
    /// moves along.
    fn pressures(&self, raw: &RawSurface, vertices: &[Vector3<T>]) -> Vec<T> {
        let pressure = |p: &ValuedPoint| T::from(p.as_array()[3]);
        let mut pressures: Vec<T> = raw.vertices.iter().map(pressure).collect();
        if T::NDERIV > 0 {
            let mut at = 0;
            for face in &raw.faces {
                let g = self.s.real_r_w * face.gradient_s;
                for v in raw.vertices_of(at, face) {
                    let moved = vertices[v] - self.s.point(&position(&raw.vertices[v]));
                    let rise = moved.x * g.x + moved.y * g.y + moved.z * g.z;
                    // Faces may share the vertex, so that the sum would count several of them.
                    pressures[v] = pressure(&raw.vertices[v]) + rise;
                }
                at += face.num_vertices as usize;
            }
        }
        pressures
    }

    fn gradients(&self, raw: &RawSurface) -> [Vec<Vector3<T>>; 2] {
        let faces = || raw.faces.iter();
        let of_s = faces().map(|face| self.s.vector(&face.gradient_s));
        let of_r = match (self.is_r_rigid, T::NDERIV) {
            (true, _) => vec![],
            (_, 0) => faces()
                .map(|face| self.s.vector(&face.gradient_r))
                .collect(),
            _ => faces()
                .map(|face| self.r.vector(&(self.r_rs * face.gradient_r)))
                .collect(),
        };
        [of_s.collect(), of_r]
    }

    /// Returns the normals of the faces, out of R into S, given the gradients of S and R.
    fn normals(&self, raw: &RawSurface, gradients: &[Vec<Vector3<T>>; 2]) -> Vec<Vector3<T>> {
        let faces = raw.faces.iter();
        if self.is_r_rigid {
            return faces
                .map(|face| self.r.vector(&(self.r_rs * face.normal)))
                .collect();
        }
        if T::NDERIV == 0 {
            return faces.map(|face| self.s.vector(&face.normal)).collect();
        }
        let both = gradients[0].iter().zip(&gradients[1]);
        both.map(|(s, r)| (s - r).normalize()).collect()
    }

    /// Returns the surface of a pair (S, R); `is_s_first` tells whether M is S. `None` if it has no
    /// faces.
    pub(super) fn surface(
        &self,
        raw: &RawSurface,
        ids: [GeometryId; 2],
        is_s_first: bool,
        representation: HydroelasticContactRepresentation,
    ) -> Option<ContactSurface<T>> {
        if raw.faces.is_empty() {
            return None;
        }
        let mut vertices = self.vertices(raw);
        let mut pressures = self.pressures(raw, &vertices);
        let [face_data, starts] = face_data(raw, is_s_first);
        let mut gradients = self.gradients(raw);
        let mut normals = self.normals(raw, &gradients);
        // Along the faces.
        let tangential = |(gradient, normal): (&Vector3<T>, &Vector3<T>)| {
            Some(gradient - normal * gradient.dot(normal))
        };
        let (field, face_pressures) = match representation {
            HydroelasticContactRepresentation::Polygon => {
                let along = gradients[0].iter().zip(&normals).map(tangential).collect();
                let (faces, at_centroid) =
                    polygons(raw, &vertices, &pressures, &normals, &gradients[0]);
                turn_over(&mut normals, is_s_first);
                let parts = [face_data, starts];
                let mesh = PolygonSurfaceMesh::of_parts(parts, vertices, normals, faces);
                let field = MeshFieldLinear::of_parts(pressures, along, Arc::new(mesh));
                (SurfaceField::Polygon(field), at_centroid)
            }
            HydroelasticContactRepresentation::Triangle => {
                turn_over(&mut normals, is_s_first);
                let fans = Fans::new(
                    &face_data,
                    &mut vertices,
                    &mut pressures,
                    &normals,
                    &gradients[0],
                );
                for gradients in gradients.iter_mut().filter(|g| !g.is_empty()) {
                    *gradients = fans.of_triangles(gradients);
                }
                let normals = fans.of_triangles(&normals);
                let along = gradients[0].iter().zip(&normals).map(tangential).collect();
                let mesh = Arc::new(TriangleSurfaceMesh::with_normals(
                    fans.triangles,
                    vertices,
                    normals,
                ));
                let third = T::from(1.0 / 3.0);
                let at_centroid = mesh.triangles().iter().map(|t| {
                    let [a, b, c] = t.vertices().map(|v| pressures[v as usize]);
                    (a + b + c) * third
                });
                let at_centroid = at_centroid.collect();
                let field = MeshFieldLinear::of_parts(pressures, along, mesh);
                (SurfaceField::Triangle(field), at_centroid)
            }
        };
        let [gradients_s, gradients_r] = gradients;
        let gradients_r = (!self.is_r_rigid).then_some(gradients_r);
        let mut gradients = [Some(gradients_s), gradients_r];
        if !is_s_first {
            gradients.reverse();
        }
        Some(ContactSurface {
            ids,
            field,
            face_pressures,
            gradients,
        })
    }
}

/// Turns normals out of R into S into those out of N into M.
fn turn_over<T: Scalar>(normals: &mut [Vector3<T>], is_s_first: bool) {
    if !is_s_first {
        normals.iter_mut().for_each(|normal| *normal = -*normal);
    }
}

/// Returns the faces in the format of [`PolygonSurfaceMesh::new`], counter-clockwise around normals
/// out of N into M, and the start of each.
fn face_data(raw: &RawSurface, is_s_first: bool) -> [Vec<u32>; 2] {
    let num_corners = raw.vertices.len().max(raw.indices.len());
    let mut data = Vec::with_capacity(raw.faces.len() + num_corners);
    let mut starts = Vec::with_capacity(raw.faces.len());
    let mut at = 0;
    for face in &raw.faces {
        let n = face.num_vertices as usize;
        starts.push(data.len() as u32);
        data.push(face.num_vertices);
        for i in 0..n {
            let i = if is_s_first || i == 0 { i } else { n - i };
            data.push(raw.vertex_at(at + i));
        }
        at += n;
    }
    [data, starts]
}

/// Returns the areas and centroids of faces with some normals and gradients of pressure, and the
/// pressures at the centroids.
fn polygons<T: Scalar>(
    raw: &RawSurface,
    vertices: &[Vector3<T>],
    pressures: &[T],
    normals: &[Vector3<T>],
    gradients: &[Vector3<T>],
) -> (FaceData<T>, Vec<T>) {
    let num_faces = raw.faces.len();
    let mut at_centroid = Vec::with_capacity(num_faces);
    let mut at = 0;
    let faces = raw.faces.iter().zip(normals).zip(gradients);
    let faces = faces.map(|((face, normal), gradient)| {
        let own = at..at + face.num_vertices as usize;
        let (area, centroid) = match raw.indices.get(own.clone()) {
            Some(indices) => {
                area_and_centroid(indices.iter().map(|v| vertices[*v as usize]), normal)
            }
            None => area_and_centroid(vertices[own].iter().copied(), normal),
        };
        let first = raw.vertex_at(at) as usize;
        at_centroid.push(pressures[first] + gradient.dot(&(centroid - vertices[first])));
        at += face.num_vertices as usize;
        (area, centroid)
    });
    let faces = FaceData::of_areas_and_centroids(faces, num_faces);
    (faces, at_centroid)
}

/// Polygons divided into triangles around their centroids.
struct Fans {
    triangles: Vec<SurfaceTriangle>,
    /// Number of triangles of each polygon.
    counts: Vec<u32>,
}

impl Fans {
    /// Divides polygons, and adds their centroids to the vertices.
    fn new<T: Scalar>(
        face_data: &[u32],
        vertices: &mut Vec<Vector3<T>>,
        pressures: &mut Vec<T>,
        normals: &[Vector3<T>],
        gradients: &[Vector3<T>],
    ) -> Self {
        let mut fans = Self {
            triangles: vec![],
            counts: vec![],
        };
        let mut at = 0;
        for (normal, gradient) in normals.iter().zip(gradients) {
            let count = face_data[at] as usize;
            let corners = &face_data[at + 1..][..count];
            at += 1 + count;
            let (_, centroid) =
                area_and_centroid(corners.iter().map(|v| vertices[*v as usize]), normal);
            let first = corners[0] as usize;
            let pressure = pressures[first] + gradient.dot(&(centroid - vertices[first]));
            let middle = vertices.len() as u32;
            vertices.push(centroid);
            pressures.push(pressure);
            for (i, v) in corners.iter().enumerate() {
                let next = corners[if i + 1 == count { 0 } else { i + 1 }];
                fans.triangles.push(SurfaceTriangle::new(middle, *v, next));
            }
            fans.counts.push(count as u32);
        }
        fans
    }

    /// Repeats the values of polygons for each of their triangles.
    fn of_triangles<T: Scalar>(&self, of_polygons: &[Vector3<T>]) -> Vec<Vector3<T>> {
        let repeated = self.counts.iter().zip(of_polygons);
        let repeated = repeated.flat_map(|(n, value)| std::iter::repeat_n(*value, *n as usize));
        repeated.collect()
    }
}
