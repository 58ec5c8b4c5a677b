//! Two compliant volumes: tetrahedra with tetrahedra, where their pressures are equal.

use super::clip::{CLIPPING, section};
use super::elements::{
    CompliantMesh, Plane, Tetrahedron, box_around, is_along, posed, rounding_at,
};
use super::raw_surface::{MovingPlane, RawFace, RawSurface, motion_at};
use crate::accel::bvh::HalfSpace32;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A tetrahedron of R, expressed in S.
struct PosedTetrahedron {
    corners: [Vector3<f64>; 4],
    faces: [Plane; 4],
    /// Pressures at the corners (Pa), and their gradient (Pa/m).
    pressures: [f64; 4],
    gradient: Vector3<f64>,
}

impl PosedTetrahedron {
    /// Returns half spaces whose intersection is the tetrahedron, for coordinates up to `reach`.
    fn half_spaces(&self, reach: f64) -> [HalfSpace32; 4] {
        let below = |plane: &Plane| HalfSpace32::new(&plane.normal, plane.offset, reach);
        [0, 1, 2, 3].map(|f| below(&self.faces[f]))
    }

    fn motion(&self, other: &Tetrahedron, base: &MovingPlane, sides: [u8; 2]) -> Matrix3<f64> {
        let plane = |side: u8| match side.checked_sub(CLIPPING) {
            Some(face) => MovingPlane::of_s(other.faces[face as usize].normal),
            None => MovingPlane::of_r(self.faces[side as usize].normal),
        };
        motion_at(&[*base, plane(sides[0]), plane(sides[1])])
    }
}

/// Adds the faces between two compliant meshes, each with its modulus (Pa); R is at `X_SR`.
pub(super) fn intersect(
    surface: &mut RawSurface,
    (s, modulus_s): (&CompliantMesh, f64),
    (r, modulus_r): (&CompliantMesh, f64),
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
    r.tree.for_each_near(&near, 0.0, |e| {
        let tetrahedron = &r.tetrahedra[e as usize];
        let plane = |plane: &Plane| {
            let normal = r_sr * plane.normal;
            Plane {
                normal,
                offset: plane.offset + normal.dot(&p_sr),
            }
        };
        let own = PosedTetrahedron {
            corners: r.corners(tetrahedron).map(|p| r_sr * p + p_sr),
            faces: [0, 1, 2, 3].map(|f| plane(&tetrahedron.faces[f])),
            pressures: r.pressures(tetrahedron).map(|p| p * modulus_r),
            gradient: r_sr * tetrahedron.gradient * modulus_r,
        };
        let half_spaces = own.half_spaces(reach);
        s.tree
            .for_each_in(&box_around(&own.corners), &half_spaces, |e| {
                let other = &s.tetrahedra[e as usize];
                intersect_pair(surface, (other, modulus_s), &own, rounding);
            });
    });
}

#[inline]
fn intersect_pair(
    surface: &mut RawSurface,
    (other, modulus): (&Tetrahedron, f64),
    own: &PosedTetrahedron,
    rounding: f64,
) {
    let gradient = other.gradient * modulus;
    // How much the pressure of S exceeds that of R. Rounding counts as 0: two tetrahedra of S that
    // meet at a corner of R would round it to different signs, and a part would be missing.
    let least = rounding * gradient.norm();
    let mut excess = [0.0; 4];
    for (k, excess) in excess.iter_mut().enumerate() {
        let difference = other.pressure(&own.corners[k]) * modulus - own.pressures[k];
        if difference.abs() > least + 4.0 * f64::EPSILON * own.pressures[k].abs() {
            *excess = difference;
        }
    }
    if gradient == Vector3::zeros() {
        // Pressures are equal on a face of R, which no other tetrahedron of R has.
        for excess in excess.iter_mut().filter(|h| **h == 0.0) {
            *excess = f64::MIN_POSITIVE;
        }
    }
    if excess.iter().all(|h| *h > 0.0) || excess.iter().all(|h| *h <= 0.0) {
        return;
    }
    let Some(normal) = (gradient - own.gradient).try_normalize(0.0) else {
        return;
    };
    if !is_along(&normal, &gradient) || !is_along(&-normal, &own.gradient) {
        return;
    }
    let mut polygon = section(&own.corners, &excess);
    // Faces lie between where the pressure of S is greater and where it is not, as in the section.
    // Beyond a face of S, pressures may be equal everywhere, without a face of their own.
    let owns = |f: usize| other.faces[f].normal.dot(&normal) < 0.0;
    if !polygon.clip_by(other, owns, rounding) {
        return;
    }
    let face = RawFace {
        normal,
        gradient_s: gradient,
        gradient_r: own.gradient,
    };
    surface.add_face(polygon.corners().len(), face);
    let base = MovingPlane::between(&gradient, &own.gradient);
    for (i, p) in polygon.corners().iter().enumerate() {
        let motion = || own.motion(other, &base, polygon.sides_at(i));
        surface.add_vertex(*p, other.pressure(p) * modulus, motion);
    }
}
