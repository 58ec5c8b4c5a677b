//! Rigid surfaces with compliant volumes: triangles with tetrahedra.

use super::clip::{CLIPPING, Polygon};
use super::elements::{
    CompliantMesh, Plane, RigidMesh, Tetrahedron, box_around, is_along, posed, rounding_at,
};
use super::raw_surface::{MovingPlane, RawFace, RawSurface, motion_at};
use crate::accel::bvh::HalfSpace32;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A triangle of R, expressed in S.
struct PosedTriangle {
    corners: [Vector3<f64>; 3],
    plane: Plane,
    /// Planes through the edges, perpendicular to the triangle, with outward normals. Edge `i`
    /// begins at corner `i`.
    edges: [Plane; 3],
}

impl PosedTriangle {
    fn new(corners: [Vector3<f64>; 3], normal: Vector3<f64>) -> Self {
        let edge = |i: usize| {
            let along = corners[(i + 1) % 3] - corners[i];
            let outward = along.cross(&normal);
            let normal = outward.try_normalize(0.0).unwrap_or(outward);
            Plane {
                normal,
                offset: normal.dot(&corners[i]),
            }
        };
        Self {
            plane: Plane {
                normal,
                offset: normal.dot(&corners[0]),
            },
            edges: [edge(0), edge(1), edge(2)],
            corners,
        }
    }

    /// Returns half spaces that contain the triangle, for coordinates up to `reach`.
    fn half_spaces(&self, reach: f64) -> [HalfSpace32; 5] {
        let below = |plane: &Plane| HalfSpace32::new(&plane.normal, plane.offset, reach);
        let above = HalfSpace32::new(&-self.plane.normal, -self.plane.offset, reach);
        let [a, b, c] = [0, 1, 2].map(|i| below(&self.edges[i]));
        [below(&self.plane), above, a, b, c]
    }

    fn motion(&self, tetrahedron: &Tetrahedron, sides: [u8; 2]) -> Matrix3<f64> {
        if sides.iter().all(|side| *side < CLIPPING) {
            return Matrix3::identity();
        }
        let plane = |side: u8| match side.checked_sub(CLIPPING) {
            Some(face) => MovingPlane::of_s(tetrahedron.faces[face as usize].normal),
            None => MovingPlane::of_r(self.edges[side as usize].normal),
        };
        let base = MovingPlane::of_r(self.plane.normal);
        motion_at(&[base, plane(sides[0]), plane(sides[1])])
    }
}

/// Adds the faces between a rigid mesh at `X_SR` and a compliant one with some modulus (Pa).
pub(super) fn intersect(
    surface: &mut RawSurface,
    (s, modulus): (&CompliantMesh, f64),
    r: &RigidMesh,
    x_sr: &Isometry3<f64>,
) {
    let Some(bounds) = s.tree.root() else {
        return;
    };
    let r_sr = x_sr.rotation.to_rotation_matrix().into_inner();
    let p_sr = x_sr.translation.vector;
    let reach = s.reach + r.reach + p_sr.amax();
    let rounding = rounding_at(reach);
    let near = posed(bounds, &x_sr.inverse());
    r.tree.for_each_near(&near, 0.0, |t| {
        let normal = r.surface.face_normal(t as usize);
        if normal == Vector3::zeros() {
            return;
        }
        let corners = r.corners(t as usize).map(|p| r_sr * p + p_sr);
        let triangle = PosedTriangle::new(corners, r_sr * normal);
        let half_spaces = triangle.half_spaces(reach);
        let bounds = box_around(&corners);
        s.tree.for_each_in(&bounds, &half_spaces, |e| {
            let tetrahedron = &s.tetrahedra[e as usize];
            intersect_pair(surface, (s, modulus), tetrahedron, &triangle, rounding);
        });
    });
}

#[inline]
fn intersect_pair(
    surface: &mut RawSurface,
    (s, modulus): (&CompliantMesh, f64),
    tetrahedron: &Tetrahedron,
    triangle: &PosedTriangle,
    rounding: f64,
) {
    let heights = s.corners(tetrahedron).map(|p| triangle.plane.height(&p));
    if heights.iter().all(|h| *h > rounding) || heights.iter().all(|h| *h < -rounding) {
        return;
    }
    let normal = &triangle.plane.normal;
    if !is_along(normal, &tetrahedron.gradient) {
        return;
    }
    let [a, b, c] = triangle.corners;
    let mut polygon = Polygon::new(&[(a, 0), (b, 1), (c, 2)]);
    if !polygon.clip_by(tetrahedron, |f| tetrahedron.owns(f), rounding) {
        return;
    }
    let face = RawFace {
        normal: *normal,
        gradient_s: tetrahedron.gradient * modulus,
        gradient_r: Vector3::zeros(),
    };
    surface.add_face(polygon.corners().len(), face);
    for (i, p) in polygon.corners().iter().enumerate() {
        let motion = || triangle.motion(tetrahedron, polygon.sides_at(i));
        surface.add_vertex(*p, tetrahedron.pressure(p) * modulus, motion);
    }
}
