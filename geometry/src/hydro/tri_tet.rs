//! Rigid surfaces with compliant volumes: triangles with tetrahedra.

use super::clip::{CLIPPING, Clipped, Cut, ValuedPoint, position, valued, with_modulus};
use super::elements::{CompliantMesh, RigidMesh};
use super::obb_tree::Region;
use super::planes::{FourPlanes, Plane, is_along, rounding_at};
use super::raw_surface::{MovingPlane, RawFace, RawSurface, motion_at};
use super::tetrahedron::Tetrahedron;
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

    /// Returns the region of the triangle, for coordinates up to `reach`.
    fn region(&self, reach: f64) -> Region {
        let [a, b, c] = self.edges;
        let planes = [self.plane, self.plane.opposite(), a, b, c];
        Region::new(&planes, &self.corners, reach)
    }

    /// Calls `f` with the tetrahedra of S that have a part of the triangle, and with that part, for
    /// coordinates up to `reach` with some rounding (m). The modulus of S is in Pa.
    fn cut<'a>(
        &self,
        s: &'a CompliantMesh,
        modulus: f64,
        reach: f64,
        rounding: f64,
        polygon: &mut Clipped,
        mut f: impl FnMut(&'a Tetrahedron, &Clipped),
    ) {
        let edges = FourPlanes::of_three(self.edges);
        s.tree.for_each_in(&self.region(reach), |e| {
            let tetrahedron = &s.tetrahedra[e as usize];
            let [a, b, c, d] = s.corners(tetrahedron);
            let height = |p: ValuedPoint| self.plane.height(&position(&p));
            let heights = [height(a), height(b), height(c), height(d)];
            let corner = |p: ValuedPoint| with_modulus(p, modulus);
            let corners = [corner(a), corner(b), corner(c), corner(d)];
            if is_along(&self.plane.normal, &tetrahedron.gradient)
                && polygon.begin(&corners, &heights)
                && polygon.clip(&edges, |_| false, rounding, None) == Cut::Left
                && polygon.finish()
            {
                f(tetrahedron, polygon);
            }
        });
    }

    fn motion(&self, tetrahedron: &Tetrahedron, sides: [u8; 2]) -> Matrix3<f64> {
        if sides.iter().all(|side| *side >= CLIPPING) {
            return Matrix3::identity();
        }
        let plane = |side: u8| match side.checked_sub(CLIPPING) {
            Some(edge) => MovingPlane::of_r(self.edges[edge as usize].normal),
            None => MovingPlane::of_s(tetrahedron.faces.normal(side as usize)),
        };
        let base = MovingPlane::of_r(self.plane.normal);
        motion_at(&[base, plane(sides[0]), plane(sides[1])])
    }
}

/// Adds the faces between a rigid mesh at `X_SR` and a compliant one with some modulus (Pa).
pub(super) fn intersect(
    surface: &mut RawSurface,
    s: &CompliantMesh,
    modulus: f64,
    r: &RigidMesh,
    x_sr: &Isometry3<f64>,
) {
    let r_sr = x_sr.rotation.to_rotation_matrix().into_inner();
    let p_sr = x_sr.translation.vector;
    let reach = s.reach + r.reach + p_sr.amax();
    let rounding = rounding_at(reach);
    let r_rs = r_sr.transpose();
    let Some(near) = s.tree.region_in(&r_rs, &-(r_rs * p_sr), reach) else {
        return;
    };
    let mut polygon = Clipped::new();
    r.tree.for_each_in(&near, |t| {
        let normal = r.surface.face_normal(t as usize);
        if normal == Vector3::zeros() {
            return;
        }
        let corners = r.corners(t as usize).map(|p| r_sr * p + p_sr);
        let triangle = PosedTriangle::new(corners, r_sr * normal);
        triangle.cut(
            s,
            modulus,
            reach,
            rounding,
            &mut polygon,
            |tetrahedron, polygon| {
                let face = RawFace {
                    num_vertices: polygon.num_corners() as u32,
                    normal: triangle.plane.normal,
                    gradient_s: tetrahedron.gradient * modulus,
                    gradient_r: Vector3::zeros(),
                };
                let motion = |i| triangle.motion(tetrahedron, polygon.sides_at(i));
                surface.add_polygon(polygon, face, motion);
            },
        );
    });
}

/// Cuts triangles with the tetrahedra of a compliant mesh, in its frame.
pub(crate) struct TriangleClipper<'a> {
    mesh: &'a CompliantMesh,
    modulus: f64,
    reach: f64,
    rounding: f64,
    polygon: Clipped,
    /// The tetrahedron that the last triangle had a part in.
    last: Option<&'a Tetrahedron>,
}

impl<'a> TriangleClipper<'a> {
    /// Creates the clipper of a mesh with some modulus (Pa), for triangles with coordinates up to
    /// `reach` (m).
    pub(crate) fn new(mesh: &'a CompliantMesh, modulus: f64, reach: f64) -> Self {
        let reach = mesh.reach + reach;
        Self {
            mesh,
            modulus,
            reach,
            rounding: rounding_at(reach),
            polygon: Clipped::new(),
            last: None,
        }
    }

    /// Calls `f` with each part of a triangle, given by its corners and its unit normal, that is in
    /// one tetrahedron. Parts whose normal is too far from the gradient are left out.
    pub(crate) fn clip(
        &mut self,
        corners: [Vector3<f64>; 3],
        normal: Vector3<f64>,
        mut f: impl FnMut(&TrianglePart<'_>),
    ) {
        let modulus = self.modulus;
        let Self { polygon, last, .. } = self;
        // It meets no other tetrahedron then, as they do not overlap. Those of coarse meshes have
        // many triangles inside.
        if let Some(tetrahedron) = *last
            && are_inside(&corners, tetrahedron, self.rounding)
        {
            polygon.begin_with(corners.map(|p| valued(&p, tetrahedron.pressure(&p) * modulus)));
            if is_along(&normal, &tetrahedron.gradient) && polygon.finish() {
                f(&TrianglePart {
                    polygon,
                    tetrahedron,
                    modulus,
                });
            }
            return;
        }
        PosedTriangle::new(corners, normal).cut(
            self.mesh,
            modulus,
            self.reach,
            self.rounding,
            polygon,
            |tetrahedron, polygon| {
                *last = Some(tetrahedron);
                f(&TrianglePart {
                    polygon,
                    tetrahedron,
                    modulus,
                });
            },
        );
    }
}

/// Returns whether points are inside a tetrahedron, farther from its faces than by rounding (m).
fn are_inside(points: &[Vector3<f64>; 3], tetrahedron: &Tetrahedron, rounding: f64) -> bool {
    let [a, b, c] = points.each_ref().map(|p| tetrahedron.faces.heights(p));
    let highest = a.max(b).max(c).to_array();
    highest.iter().all(|height| *height < -rounding)
}

/// The part of a triangle that is in one tetrahedron, in the frame of the mesh.
pub(crate) struct TrianglePart<'a> {
    polygon: &'a Clipped,
    tetrahedron: &'a Tetrahedron,
    modulus: f64,
}

/// The origin of a side of a part.
pub(crate) enum PartSide {
    /// A face of the tetrahedron: its outward normal and its offset along it (m).
    Face(Vector3<f64>, f64),
    /// The edge of the triangle that begins at a corner.
    Edge(usize),
}

impl TrianglePart<'_> {
    pub(crate) fn num_corners(&self) -> usize {
        self.polygon.num_corners()
    }
    /// Returns a corner; they are counter-clockwise around the normal of the triangle.
    pub(crate) fn corner(&self, i: usize) -> Vector3<f64> {
        position(&self.polygon.corner(i))
    }
    /// Returns the sides that meet at a corner.
    pub(crate) fn sides_at(&self, corner: usize) -> [PartSide; 2] {
        let of = |side: u8| match side.checked_sub(CLIPPING) {
            Some(edge) => PartSide::Edge(usize::from(edge)),
            None => {
                let plane = self.tetrahedron.faces.plane(usize::from(side));
                PartSide::Face(plane.normal, plane.offset)
            }
        };
        self.polygon.sides_at(corner).map(of)
    }
    /// Returns the pressure (Pa) at the first corner.
    pub(crate) fn pressure(&self) -> f64 {
        self.polygon.corner(0).as_array()[3]
    }
    /// Returns the gradient of pressure (Pa/m).
    pub(crate) fn gradient(&self) -> Vector3<f64> {
        self.tetrahedron.gradient * self.modulus
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hydro::tests::compliant;
    use crate::shape::{BoxShape, Shape};
    use proptest::prelude::*;

    /// A part of a triangle: its corners, which sides of each are edges of the triangle, and the
    /// pressure at the origin.
    struct FoundPart {
        corners: Vec<Vector3<f64>>,
        are_edges: Vec<[bool; 2]>,
        pressure: f64,
    }

    fn parts(clipper: &mut TriangleClipper<'_>, corners: [Vector3<f64>; 3]) -> Vec<FoundPart> {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let mut all = vec![];
        clipper.clip(corners, normal.normalize(), |part| {
            let n = part.num_corners();
            // From the first corner in one order.
            let order = |a: &usize, b: &usize| {
                let of = |i: usize| -> [f64; 3] { part.corner(i).into() };
                of(*a).partial_cmp(&of(*b)).unwrap()
            };
            let first = (0..n).min_by(order).unwrap();
            let turned = || (0..n).map(move |i| (first + i) % n);
            let is_edge = |side: PartSide| matches!(side, PartSide::Edge(_));
            all.push(FoundPart {
                corners: turned().map(|i| part.corner(i)).collect(),
                are_edges: turned().map(|i| part.sides_at(i).map(is_edge)).collect(),
                pressure: part.pressure() - part.gradient().dot(&part.corner(0)),
            });
        });
        all
    }

    proptest! {
        /// The one that had the last triangle is looked at first.
        #[test]
        fn triangles_inside_a_tetrahedron_have_the_part_that_clipping_leaves(
            centers in prop::collection::vec(prop::array::uniform3(-0.5..0.5_f64), 8),
            offsets in prop::array::uniform2(prop::array::uniform3(-0.03..0.03_f64)),
        ) {
            let shape = Shape::from(BoxShape::new(1.0, 0.8, 0.6).unwrap());
            let mesh = CompliantMesh::new(compliant(&shape, 1.0, 0.0));
            let [u, v] = offsets.map(Vector3::from);
            prop_assume!(u.cross(&v).norm() > 1e-5);
            let mut clipper = TriangleClipper::new(&mesh, 1e5, 1.0);
            for center in centers {
                let p = Vector3::from(center);
                // Twice, the second time after itself.
                for _ in 0..2 {
                    let corners = [p, p + u, p + v];
                    let found = parts(&mut clipper, corners);
                    let expected = parts(&mut TriangleClipper::new(&mesh, 1e5, 1.0), corners);
                    prop_assert_eq!(found.len(), expected.len());
                    for (a, b) in found.iter().zip(&expected) {
                        prop_assert_eq!(&a.are_edges, &b.are_edges);
                        let corners = a.corners.iter().zip(&b.corners);
                        let apart = corners.map(|(a, b)| (a - b).amax());
                        // Rounding of a clipped triangle, whose sections may be narrow.
                        prop_assert!(apart.fold(0.0_f64, f64::max) < 1e-12);
                        // Of pressures up to 1e5.
                        prop_assert!((a.pressure - b.pressure).abs() < 1e-6);
                    }
                }
            }
        }
    }
}
