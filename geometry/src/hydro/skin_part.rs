//! Parts of tetrahedra in the skin of a mesh, where the pressure is at most 0.

use super::clip::cut;
use super::obb_tree::dot;
use super::tetrahedron::Tetrahedron;
use crate::mesh::VolumeMeshFieldLinear;
use nalgebra::{Matrix3, Vector3};
use wide::f32x4;

/// Pressure per modulus up to which a point is near the boundary: 0 but for rounding.
pub(super) const LOW: f64 = 1e-9;

/// A convex region around the part of a tetrahedron in the skin, in single precision.
#[derive(Clone)]
pub(super) struct SkinPart {
    /// Planes of the faces of the tetrahedron, one per lane, with outward normals.
    normals: [f32x4; 3],
    offsets: f32x4,
    /// Coordinates of the corners of the region, one per lane; a face has the first three.
    corners: [f32x4; 3],
    /// Bit of the face in which the part is; 0 if it is in none.
    face: u32,
}

impl SkinPart {
    pub(super) fn new(tetrahedron: &Tetrahedron, field: &VolumeMeshFieldLinear) -> Self {
        let planes = tetrahedron.faces.planes();
        let lanes = |of: [Vector3<f64>; 4]| [0, 1, 2].map(|i| f32x4::new(of.map(|v| v[i] as f32)));
        let mut corners = tetrahedron.corners(field);
        let pressures = tetrahedron.pressures(field);
        // Without rounding of the pressure, no more than the face is in the skin.
        let opposite = (0..4).find(|k| {
            let mut others = (0..4).filter(|i| i != k);
            pressures[*k] > LOW && others.all(|i| pressures[i] == 0.0)
        });
        if let Some(k) = opposite {
            corners.swap(k, 3);
        }
        Self {
            normals: lanes(planes.map(|plane| plane.normal)),
            offsets: f32x4::new(planes.map(|plane| plane.offset as f32)),
            corners: lanes(corners),
            face: opposite.map_or(0, |k| 1 << k),
        }
    }

    /// Returns the part in another frame, in which its frame has a rotation and a position.
    #[inline(always)]
    pub(super) fn posed(&self, r: &Matrix3<f32>, p: &Vector3<f32>) -> Self {
        let row = |i: usize, v: &[f32x4; 3]| dot([r[(i, 0)], r[(i, 1)], r[(i, 2)]], v);
        let turned = |v: &[f32x4; 3]| [row(0, v), row(1, v), row(2, v)];
        let normals = turned(&self.normals);
        let [x, y, z] = turned(&self.corners);
        Self {
            offsets: self.offsets + dot([p.x, p.y, p.z], &normals),
            normals,
            corners: [x + p.x, y + p.y, z + p.z],
            ..*self
        }
    }

    /// Returns true if one of the faces separates two parts by more than some length (m).
    #[inline(always)]
    pub(super) fn is_apart(&self, other: &Self, length: f32) -> bool {
        self.is_beyond(other, length) || other.is_beyond(self, length)
    }

    /// Returns true if another part is beyond a face of this one, or below the face in which this
    /// one is.
    #[inline(always)]
    fn is_beyond(&self, other: &Self, length: f32) -> bool {
        let height = |k: usize| {
            let [x, y, z] = &other.corners;
            let corner = [x.as_array()[k], y.as_array()[k], z.as_array()[k]];
            dot(corner, &self.normals) - self.offsets
        };
        let (a, b, c) = (height(0), height(1), height(2));
        let mut lowest = a.fast_min(b).fast_min(c);
        let mut highest = a.fast_max(b).fast_max(c);
        if other.face == 0 {
            let d = height(3);
            (lowest, highest) = (lowest.fast_min(d), highest.fast_max(d));
        }
        let above = lowest.simd_gt(f32x4::splat(length)).to_bitmask();
        let below = highest.simd_lt(f32x4::splat(-length)).to_bitmask();
        above | below & self.face != 0
    }
}

/// Returns points whose hull is the part of a tetrahedron in the skin, some of them repeated.
pub(super) fn skin_points(
    corners: &[Vector3<f64>; 4],
    pressures: &[f64; 4],
) -> Option<[Vector3<f64>; 6]> {
    let above = pressures.map(|p| p - LOW);
    let is_low = |k: &usize| above[*k] <= 0.0;
    let num_low = (0..4).filter(is_low).count();
    if num_low < 3 && pressures.iter().all(|p| *p >= -LOW) {
        // No more than an edge.
        return None;
    }
    let low = (0..4).filter(is_low).map(|k| corners[k]);
    let edges = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
    let cuts = edges.filter(|(i, j)| is_low(i) && !is_low(j));
    let cuts = cuts.map(|(i, j)| cut(corners[i], above[i], corners[j], above[j]));
    let mut points = low.chain(cuts);
    let first = points.next()?;
    let mut part = [first; 6];
    for (place, p) in part[1..].iter_mut().zip(points) {
        *place = p;
    }
    Some(part)
}
