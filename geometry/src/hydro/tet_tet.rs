//! Two compliant volumes: tetrahedra with tetrahedra, where their pressures are equal.

use super::clip::{CLIPPING, Clipped, Cut, ValuedPoint, position, valued};
use super::elements::CompliantMesh;
use super::obb_tree::Region;
use super::planes::{FourPlanes, is_along, rounding_at};
use super::raw_surface::{MovingPlane, RawFace, RawSurface, motion_at};
use super::tetrahedron::Tetrahedron;
use nalgebra::{Isometry3, Matrix3, Vector3};
use wide::f64x4;

/// How much closer than rounding, by this factor, tetrahedra may be that do not meet for certain.
const CLOSE: f64 = 1e4;

/// Change of a difference of pressures across a mesh, relative to the pressures, that may be
/// rounding.
const LEVEL: f64 = 1e-9;

/// A tetrahedron of R, expressed in S.
#[derive(Clone, Copy, Default)]
pub(super) struct PosedTetrahedron {
    /// With the pressures there (Pa).
    corners: [ValuedPoint; 4],
    /// The same by coordinate.
    lanes: [f64x4; 3],
    /// Pressures at the corners (Pa), and their rounding.
    pressures: f64x4,
    rounding: f64x4,
    /// Gradient of the pressure (Pa/m).
    gradient: Vector3<f64>,
}

impl PosedTetrahedron {
    /// Creates a tetrahedron from its corners in S with the pressures there (Pa), and the gradient
    /// of the pressure (Pa/m).
    #[inline(always)]
    pub(super) fn new(corners: [ValuedPoint; 4], gradient: Vector3<f64>) -> Self {
        let [x, y, z, pressures] = f64x4::transpose(corners);
        Self {
            corners,
            lanes: [x, y, z],
            rounding: pressures.abs() * (4.0 * f64::EPSILON),
            pressures,
            gradient,
        }
    }
}

/// Two compliant meshes S and R, each with its modulus (Pa); R is at `X_SR`.
pub(super) struct PosedMeshes<'a> {
    pub(super) s: &'a CompliantMesh,
    pub(super) modulus_s: f64,
    pub(super) r: &'a CompliantMesh,
    pub(super) modulus_r: f64,
    pub(super) r_sr: Matrix3<f64>,
    pub(super) p_sr: Vector3<f64>,
    /// Largest coordinate (m), and the rounding of such coordinates.
    pub(super) reach: f64,
    pub(super) rounding: f64,
}

impl<'a> PosedMeshes<'a> {
    pub(super) fn new(
        s: &'a CompliantMesh,
        modulus_s: f64,
        r: &'a CompliantMesh,
        modulus_r: f64,
        x_sr: &Isometry3<f64>,
    ) -> Self {
        let p_sr = x_sr.translation.vector;
        let reach = s.reach + r.reach + p_sr.amax();
        Self {
            s,
            modulus_s,
            r,
            modulus_r,
            r_sr: x_sr.rotation.to_rotation_matrix().into_inner(),
            p_sr,
            reach,
            rounding: rounding_at(reach),
        }
    }

    #[inline(always)]
    pub(super) fn posed(&self, e: u32) -> PosedTetrahedron {
        let tetrahedron = &self.r.tetrahedra[e as usize];
        let r = &self.r_sr;
        let column = |k: usize| f64x4::new([r[(0, k)], r[(1, k)], r[(2, k)], 0.0]);
        let columns = [column(0), column(1), column(2)];
        let origin = &self.p_sr;
        let in_s = |p: ValuedPoint| {
            let [x, y, z, pressure] = p.to_array();
            let turned = columns[0] * x + columns[1] * y + columns[2] * z;
            turned + valued(origin, pressure * self.modulus_r)
        };
        let gradient = self.r_sr * tetrahedron.gradient * self.modulus_r;
        let [a, b, c, d] = self.r.corners(tetrahedron);
        PosedTetrahedron::new([in_s(a), in_s(b), in_s(c), in_s(d)], gradient)
    }

    /// Returns the planes of the faces of a tetrahedron of R, in S.
    pub(super) fn faces_of_r(&self, e: u32) -> FourPlanes {
        let tetrahedron = &self.r.tetrahedra[e as usize];
        tetrahedron.faces.posed(&self.r_sr, &self.p_sr)
    }

    /// Adds all faces: every tetrahedron of R is compared with those of S near it.
    pub(super) fn search(&self, surface: &mut RawSurface) {
        let r_rs = self.r_sr.transpose();
        let Some(near) = self
            .s
            .tree
            .region_in(&r_rs, &-(r_rs * self.p_sr), self.reach)
        else {
            return;
        };
        let mut polygon = Clipped::new();
        self.r.tree.for_each_in(&near, |r| {
            let own = self.posed(r);
            let planes = self.faces_of_r(r).planes();
            let corners = own.corners.each_ref().map(position);
            let region = Region::new(&planes, &corners, self.reach);
            self.s.tree.for_each_in(&region, |s| {
                let pair = TetrahedronPair::new(self, s, &own);
                if pair.is_along() && pair.cut(&mut polygon) == Cut::Left {
                    pair.add_to(surface, &polygon, || self.faces_of_r(r));
                }
            });
        });
    }
}

/// A tetrahedron of S and one of R.
pub(super) struct TetrahedronPair<'a> {
    s: &'a Tetrahedron,
    modulus_s: f64,
    r: &'a PosedTetrahedron,
    /// Gradient of the pressure of S (Pa/m), and by how much it exceeds that of R.
    gradient: Vector3<f64>,
    difference: Vector3<f64>,
    rounding: f64,
}

impl<'a> TetrahedronPair<'a> {
    #[inline(always)]
    pub(super) fn new(meshes: &PosedMeshes<'a>, s: u32, r: &'a PosedTetrahedron) -> Self {
        let s = &meshes.s.tetrahedra[s as usize];
        Self::of_two(s, meshes.modulus_s, r, meshes.rounding)
    }

    /// Creates a pair of a tetrahedron of S with some modulus (Pa) and one of R, for some rounding
    /// of coordinates (m).
    #[inline(always)]
    pub(super) fn of_two(
        s: &'a Tetrahedron,
        modulus_s: f64,
        r: &'a PosedTetrahedron,
        rounding: f64,
    ) -> Self {
        let gradient = s.gradient * modulus_s;
        Self {
            s,
            modulus_s,
            r,
            gradient,
            difference: gradient - r.gradient,
            rounding,
        }
    }

    /// Returns the unit normal of the face, out of R into S; `None` if it has none.
    pub(super) fn normal(&self) -> Option<Vector3<f64>> {
        self.difference.try_normalize(0.0)
    }

    /// Returns true if a face would push both bodies apart.
    #[inline(always)]
    pub(super) fn is_along(&self) -> bool {
        is_along(&self.difference, &self.gradient) && is_along(&-self.difference, &self.r.gradient)
    }

    /// Makes the polygon where pressures are equal.
    #[inline(always)]
    pub(super) fn cut(&self, polygon: &mut Clipped) -> Cut {
        // How much the pressure of S exceeds that of R. Rounding counts as 0: two tetrahedra of S
        // that meet at a corner of R would round it to different signs, and a part would be
        // missing.
        let size = self.gradient.abs().sum();
        let [x, y, z] = self.r.lanes;
        let g = &self.s.gradient;
        let pressures = (x * g.x + y * g.y + z * g.z + self.s.at_origin) * self.modulus_s;
        let difference = pressures - self.r.pressures;
        let least = self.r.rounding + self.rounding * size;
        let excess = difference & difference.abs().simd_gt(least);
        let mut excess = excess.to_array();
        if self.gradient == Vector3::zeros() {
            // Pressures are equal on a face of R, which no other tetrahedron of R has.
            for excess in excess.iter_mut().filter(|h| **h == 0.0) {
                *excess = f64::MIN_POSITIVE;
            }
        }
        if !polygon.begin(&self.r.corners, &excess) {
            let close = self.r.rounding + CLOSE * self.rounding * size;
            let near = difference.abs().simd_le(close).to_bitmask();
            return if self.touches(near) {
                Cut::Close
            } else {
                Cut::Apart
            };
        }
        // Faces lie between where the pressure of S is greater and where it is not, as in the
        // section. Beyond a face of S, pressures may be equal everywhere, without a face of their
        // own.
        let owns = |f: usize| self.s.faces.normal(f).dot(&self.difference) < 0.0;
        let close = Some(CLOSE * self.rounding);
        match polygon.clip(&self.s.faces, owns, self.rounding, close) {
            Cut::Left if !polygon.finish() => Cut::Close,
            cut => cut,
        }
    }

    /// Returns true if the difference of the pressures is the same everywhere, but for rounding.
    /// Coordinates are up to `reach` (m).
    pub(super) fn is_level(&self, reach: f64) -> bool {
        let pressures = self.r.pressures.abs().to_array();
        let greatest = pressures.into_iter().fold(0.0, f64::max);
        self.difference.norm() * reach <= LEVEL * greatest
    }

    /// Returns true if the hull of some corners of R, given by their bits, touches S along a line,
    /// but for rounding. Surfaces do not go on where they touch at a point.
    fn touches(&self, corners: u32) -> bool {
        if corners.count_ones() < 2 {
            return false;
        }
        let [x, y, z] = self.r.lanes;
        let close = CLOSE * self.rounding;
        // The part of an edge from its first corner to its last that is not beyond a face.
        let is_edge = corners.count_ones() == 2;
        let (first, last) = (corners.trailing_zeros(), corners.ilog2());
        let (mut begin, mut end) = (0.0_f64, 1.0_f64);
        !self.s.faces.planes().iter().any(|plane| {
            let n = plane.normal;
            let heights = x * n.x + y * n.y + z * n.z - (plane.offset + close);
            let above = heights.simd_gt(f64x4::splat(0.0)).to_bitmask();
            if is_edge && above & corners != 0 {
                let [a, b] = [first, last].map(|k| heights.as_array()[k as usize & 3]);
                if a > b {
                    begin = begin.max(a / (a - b))
                } else {
                    end = end.min(a / (a - b))
                }
            }
            corners & !above == 0 || begin > end
        })
    }

    /// Adds the face whose polygon was made. Only derivatives need the planes of R's faces.
    #[inline(always)]
    pub(super) fn add_to(
        &self,
        surface: &mut RawSurface,
        polygon: &Clipped,
        faces_of_r: impl FnOnce() -> FourPlanes,
    ) {
        let Some(normal) = self.normal() else {
            return;
        };
        let face = RawFace {
            num_vertices: polygon.num_corners() as u32,
            normal,
            gradient_s: self.gradient,
            gradient_r: self.r.gradient,
        };
        if !surface.moves {
            return surface.add_polygon(polygon, face, |_| Matrix3::zeros());
        }
        let faces_of_r = faces_of_r();
        let plane = |side: u8| match side.checked_sub(CLIPPING) {
            Some(face) => MovingPlane::of_s(self.s.faces.normal(face as usize)),
            None => MovingPlane::of_r(faces_of_r.normal(side as usize)),
        };
        let base = MovingPlane::between(&self.gradient, &self.r.gradient);
        surface.add_polygon(polygon, face, |i| {
            let [before, after] = polygon.sides_at(i);
            motion_at(&[base, plane(before), plane(after)])
        });
    }
}
