//! Contact surfaces in the world, with their derivatives.

use super::clip::{ValuedPoint, position};
use super::contact_surface::{ContactSurface, HydroelasticContactRepresentation, SurfaceField};
use super::raw_surface::{RawFace, RawSurface};
use crate::ids::GeometryId;
use crate::mesh::{
    MeshFieldLinear, PolygonSurfaceMesh, SurfaceTriangle, TriangleSurfaceMesh, area_and_centroid,
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

    fn vertex(&self, raw: &RawSurface, v: usize) -> Vector3<T> {
        let p = &position(&raw.vertices[v]);
        if T::NDERIV == 0 {
            let (r, at) = (&self.s.real_r_w, &self.s.real_p_w);
            return Vector3::from_fn(|i, _| {
                T::from(r[(i, 0)] * p.x + r[(i, 1)] * p.y + r[(i, 2)] * p.z + at[i])
            });
        }
        let with_s = self.s.point(p);
        let with_r = self.r.point(&(self.r_rs * p + self.p_rs));
        let r = &self.s.real_r_w;
        let motion = r * raw.motions[v] * r.transpose();
        let apart = with_r - with_s;
        with_s
            + Vector3::from_fn(|i, _| {
                apart.x * motion[(i, 0)] + apart.y * motion[(i, 1)] + apart.z * motion[(i, 2)]
            })
    }

    /// Returns the pressure at a vertex of a face: its derivatives are those of the field of S,
    /// which moves along.
    fn pressure(&self, raw: &RawSurface, face: &RawFace, v: usize, p_w: &Vector3<T>) -> T {
        let [x, y, z, pressure] = raw.vertices[v].to_array();
        let g = self.s.real_r_w * face.gradient_s;
        let pressure = T::from(pressure);
        let moved = p_w - self.s.point(&Vector3::new(x, y, z));
        pressure + moved.x * g.x + moved.y * g.y + moved.z * g.z
    }

    /// Returns the normal of a face, and the gradients of S and R there.
    fn face(&self, face: &RawFace) -> (Vector3<T>, [Vector3<T>; 2]) {
        let gradient_s = self.s.vector(&face.gradient_s);
        if self.is_r_rigid {
            let normal = self.r.vector(&(self.r_rs * face.normal));
            return (normal, [gradient_s, Vector3::zeros()]);
        }
        if T::NDERIV == 0 {
            let gradient_r = self.s.vector(&face.gradient_r);
            return (self.s.vector(&face.normal), [gradient_s, gradient_r]);
        }
        let gradient_r = self.r.vector(&(self.r_rs * face.gradient_r));
        let normal = (gradient_s - gradient_r).normalize();
        (normal, [gradient_s, gradient_r])
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
        let mut vertices: Vec<Vector3<T>> = (0..raw.vertices.len())
            .map(|v| self.vertex(raw, v))
            .collect();
        // Derivatives depend on the face.
        let pressure = |p: &ValuedPoint| T::from(p.as_array()[3]);
        let mut pressures: Vec<T> = raw.vertices.iter().map(pressure).collect();
        let num_faces = raw.faces.len();
        let num_corners = raw.indices.len().max(vertices.len());
        let mut face_data: Vec<u32> = Vec::with_capacity(num_faces + num_corners);
        let mut normals = Vec::with_capacity(num_faces);
        let count_of_r = if self.is_r_rigid { 0 } else { num_faces };
        let mut gradients = [num_faces, count_of_r].map(Vec::with_capacity);
        let mut at = 0;
        for face in &raw.faces {
            let count = face.num_vertices;
            face_data.push(count);
            let begin = face_data.len();
            if raw.indices.is_empty() {
                face_data.extend(at..at + count);
            } else {
                face_data.extend(&raw.indices[at as usize..][..count as usize]);
            }
            at += count;
            let corners = &mut face_data[begin..];
            if T::NDERIV > 0 {
                for v in corners.iter() {
                    let v = *v as usize;
                    pressures[v] = self.pressure(raw, face, v, &vertices[v]);
                }
            }
            let (mut normal, [gradient_s, gradient_r]) = self.face(face);
            if !is_s_first {
                corners[1..].reverse();
                normal = -normal;
            }
            normals.push(normal);
            gradients[0].push(gradient_s);
            if !self.is_r_rigid {
                gradients[1].push(gradient_r);
            }
        }
        // Along the faces.
        let tangential = |(gradient, normal): (&Vector3<T>, &Vector3<T>)| {
            Some(gradient - normal * gradient.dot(normal))
        };
        let (field, face_pressures) = match representation {
            HydroelasticContactRepresentation::Polygon => {
                let along = gradients[0].iter().zip(&normals).map(tangential).collect();
                let mut at_centroid = Vec::with_capacity(num_faces);
                let mesh = PolygonSurfaceMesh::with_normals_and(
                    face_data,
                    vertices,
                    normals,
                    |f, first, at, centroid| {
                        let rise = gradients[0][f].dot(&(centroid - at));
                        at_centroid.push(pressures[first] + rise);
                    },
                );
                let field = MeshFieldLinear::of_parts(pressures, along, Arc::new(mesh));
                (SurfaceField::Polygon(field), at_centroid)
            }
            HydroelasticContactRepresentation::Triangle => {
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
