//! Two compliant volumes: tetrahedra with tetrahedra, where their pressures are equal.

use super::clip::{CLIPPING, Clipped};
use super::elements::{CompliantMesh, Tetrahedron};
use super::obb_tree::Region;
use super::planes::{Plane, is_along, rounding_at};
use super::raw_surface::{MovingPlane, RawFace, RawSurface, motion_at};
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
    let r_sr = x_sr.rotation.to_rotation_matrix().into_inner();
    let p_sr = x_sr.translation.vector;
    let reach = s.reach + r.reach + p_sr.amax();
    let rounding = rounding_at(reach);
    let mut polygon = Clipped::new();
    let r_rs = r_sr.transpose();
    let Some(near) = s.tree.region_in(&r_rs, &-(r_rs * p_sr), reach) else {
        return;
    };
    r.tree.for_each_in(&near, |e| {
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
        let region = Region::new(&own.faces, &own.corners, reach);
        s.tree.for_each_in(&region, |e| {
            let other = (&s.tetrahedra[e as usize], modulus_s);
            intersect_pair(surface, &mut polygon, other, &own, rounding);
        });
    });
}

#[inline]
fn intersect_pair(
    surface: &mut RawSurface,
    polygon: &mut Clipped,
    (other, modulus): (&Tetrahedron, f64),
    own: &PosedTetrahedron,
    rounding: f64,
) {
    let gradient = other.gradient * modulus;
    // How much the pressure of S exceeds that of R. Rounding counts as 0: two tetrahedra of S that
    // meet at a corner of R would round it to different signs, and a part would be missing.
    let least = rounding * gradient.abs().sum();
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
    let difference = gradient - own.gradient;
    if !is_along(&difference, &gradient) || !is_along(&-difference, &own.gradient) {
        return;
    }
    // Faces lie between where the pressure of S is greater and where it is not, as in the section.
    // Beyond a face of S, pressures may be equal everywhere, without a face of their own.
    let owns = |f: usize| other.faces[f].normal.dot(&difference) < 0.0;
    if !polygon.begin(&own.corners, &excess)
        || !polygon.clip(&other.faces, owns, rounding)
        || !polygon.finish()
    {
        return;
    }
    let Some(normal) = difference.try_normalize(0.0) else {
        return;
    };
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
