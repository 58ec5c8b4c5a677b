//! Proof that the boundaries of two convex meshes meet in a single curve.
//!
//! The boundary of what two convex bodies share consists of parts of both boundaries. If a plane
//! separates the normals of one body's faces there from those of the other's, then each part is in
//! one piece, because the faces of a convex body whose normals are in a spherical cap are
//! connected. A sphere that is divided into two pieces is divided by one curve.

use super::gap::PosedCorners;
use super::obb_pairs::SingleBox;
use super::obb_tree::{FourBoxes, LEAF, ObbTree, ROUNDING, WIDTH, dot, single};
use super::planes::Plane;
use super::tetrahedron::{OUTSIDE, Tetrahedron};
use super::vector_balls::{FourBalls, balls_of};
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use std::collections::HashMap;
use wide::f32x4;

/// Height of a vertex above the plane of a neighbouring face of a convex mesh, relative to the
/// largest coordinate: rounding.
const CONVEX_ROUNDING: f64 = 1e-12;

/// Distance between the normals of both bodies along the separating direction: far above single
/// precision.
const LEAST_GAP: f32 = 1e-4;

/// Number of directions that are tried.
const MOST_DIRECTIONS: usize = 2;

/// Bounds on the normals of the boundary of a convex mesh, for the nodes of its tree.
pub(super) struct NormalBounds(Vec<[FourBalls; WIDTH / 4]>);

impl NormalBounds {
    /// Returns the bounds of a mesh; `None` if it is not convex. `skin` are the tetrahedra at the
    /// boundary, by element of `tree`, each with the face that is there.
    pub(super) fn new(
        tree: &ObbTree,
        skin: &[(u32, usize)],
        tetrahedra: &[Tetrahedron],
        vertices: &[Vector3<f64>],
        reach: f64,
    ) -> Option<Self> {
        if !is_convex(skin, tetrahedra, vertices, reach) {
            return None;
        }
        let normals = skin.iter();
        let normals = normals.map(|(e, f)| tetrahedra[*e as usize].faces.normal(*f));
        let normals: Vec<_> = normals.collect();
        Some(Self(balls_of(tree, &normals)))
    }

    /// Returns the highest along a direction of the normals of faces that may have a point in a
    /// region, and its height, if that exceeds some number.
    fn highest(
        &self,
        tree: &ObbTree,
        region: &SkinRegion,
        u: [f32; 3],
        mut highest: f32,
    ) -> Option<(f32, Vector3<f64>)> {
        let mut found = None;
        let mut stack = SmallVec::<[u32; 64]>::new();
        if !tree.nodes.is_empty() {
            stack.push(0);
        }
        while let Some(node) = stack.pop() {
            let balls = &self.0[node as usize];
            let node = &tree.nodes[node as usize];
            for (half, (four, boxes)) in balls.iter().zip(&node.boxes).enumerate() {
                let heights = dot(u, &four.center) + four.radius;
                let is_higher = heights.simd_gt(f32x4::splat(highest));
                let mut bits = is_higher.to_bitmask();
                if bits != 0 {
                    bits &= region.meets(boxes);
                }
                while bits != 0 {
                    let k = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    match node.links[4 * half + k] {
                        link if link & LEAF == 0 => stack.push(link),
                        _ if heights.as_array()[k] > highest => {
                            highest = heights.as_array()[k];
                            found = Some(four.center.each_ref().map(|x| x.as_array()[k]));
                        }
                        _ => {}
                    }
                }
            }
        }
        found.map(|normal| (highest, Vector3::from(normal.map(f64::from))))
    }
}

/// A box, below a plane.
struct SkinRegion {
    around: SingleBox,
    normal: [f32; 3],
    offset: f32,
}

impl SkinRegion {
    /// Creates the region of a whole mesh at `X_AB`, below a plane in A; `None` if it is empty.
    /// Coordinates are up to `reach` (m).
    fn new(
        tree: &ObbTree,
        r_ab: &Matrix3<f64>,
        p_ab: &Vector3<f64>,
        plane: &Plane,
        reach: f64,
    ) -> Option<Self> {
        let pad = ROUNDING * reach;
        Some(Self {
            around: SingleBox::of_root(&tree.root.as_ref()?.posed(r_ab, p_ab)),
            normal: single(plane.normal),
            offset: (plane.offset + 2.0 * pad) as f32,
        })
    }

    /// Returns a bit for every box of four that may have a point in the region.
    fn meets(&self, boxes: &FourBoxes) -> u32 {
        let [a, b, c] = boxes
            .axes
            .each_ref()
            .map(|axis| dot(self.normal, axis).abs());
        let lowest = dot(self.normal, &boxes.center) - (a + b + c);
        let is_above = lowest.simd_gt(f32x4::splat(self.offset));
        match is_above.to_bitmask() ^ 15 {
            0 => 0,
            below => below & self.around.meets_four(boxes),
        }
    }
}

/// Returns true if the boundary of a mesh is a convex polyhedron.
fn is_convex(
    skin: &[(u32, usize)],
    tetrahedra: &[Tetrahedron],
    vertices: &[Vector3<f64>],
    reach: f64,
) -> bool {
    let mut edges = HashMap::<[u32; 2], (usize, u32)>::new();
    let (mut num_edges, mut corners) = (0, vec![]);
    for (i, (e, f)) in skin.iter().enumerate() {
        let t = &tetrahedra[*e as usize];
        let face = [1, 2, 3].map(|k| t.vertices[(f + k) % 4]);
        corners.extend(face);
        for k in 0..3 {
            let [a, b, opposite] = [0, 1, 2].map(|j| face[(k + j) % 3]);
            let edge = [a.min(b), a.max(b)];
            let Some((other, far)) = edges.remove(&edge) else {
                edges.insert(edge, (i, opposite));
                continue;
            };
            num_edges += 1;
            let is_above = |face: &(u32, usize), v: u32| {
                let plane = tetrahedra[face.0 as usize].faces.plane(face.1);
                plane.height(&vertices[v as usize]) > CONVEX_ROUNDING * reach
            };
            if is_above(&skin[i], far) || is_above(&skin[other], opposite) {
                return false;
            }
        }
    }
    corners.sort_unstable();
    corners.dedup();
    // Closed, and by Euler's formula in one piece without a hole.
    edges.is_empty() && corners.len() + skin.len() == num_edges + 2
}

/// Returns the skin of a mesh: the faces at the boundary of some tetrahedra. `None` if not all of
/// them have one, or others do.
pub(super) fn boundary_faces(of_skin: &[u32], neighbors: &[[u32; 4]]) -> Option<Vec<(u32, usize)>> {
    let outside = |e: u32| (0..4).filter(move |f| neighbors[e as usize][*f] == OUTSIDE);
    let mut faces = vec![];
    for e in of_skin {
        let mut own = outside(*e);
        let (Some(f), None) = (own.next(), own.next()) else {
            return None;
        };
        faces.push((*e, f));
    }
    let all: usize = (0..neighbors.len())
        .map(|e| outside(e as u32).count())
        .sum();
    (all == faces.len()).then_some(faces)
}

/// The boundary of a mesh with bounds on its normals.
pub(super) struct ConvexSkin<'a> {
    pub(super) tree: &'a ObbTree,
    pub(super) normals: &'a NormalBounds,
}

/// Returns true if the boundaries of two convex meshes S and R meet in at most one curve, as
/// normals along a direction in S prove. The first that is tried is `along`, of any length.
pub(super) fn is_one_curve(
    skins: [&ConvexSkin<'_>; 2],
    corners: &PosedCorners<'_>,
    mut along: Vector3<f64>,
) -> bool {
    for _ in 0..MOST_DIRECTIONS {
        let Some(u) = along.try_normalize(0.0) else {
            return false;
        };
        let Some([lowest, highest]) = overlapping_normals(skins, corners, &u) else {
            return true;
        };
        // To where these two are separated.
        let apart = lowest - highest;
        let Some(direction) = apart.try_normalize(1e-6) else {
            return false;
        };
        let rise = (u.dot(&apart) - 0.05) / apart.norm();
        along = u - direction * rise;
    }
    false
}

/// Returns normals of S and R, of faces that may bound the shared part, if along a unit vector in S
/// that of S is not higher than that of R; `None` if there are none.
fn overlapping_normals(
    [s, r]: [&ConvexSkin<'_>; 2],
    corners: &PosedCorners<'_>,
    u: &Vector3<f64>,
) -> Option<[Vector3<f64>; 2]> {
    let (r_sr, p_sr, reach) = (corners.r_sr, corners.p_sr, corners.reach);
    let (r_rs, u_r) = (r_sr.transpose(), r_sr.tr_mul(u));
    let p_rs = -(r_rs * p_sr);
    // The shared part is above the lowest point of R and below the highest of S.
    let [(top, _), (bottom, _)] = corners.range(u);
    let above = Plane {
        normal: -u,
        offset: -bottom,
    };
    let below = Plane {
        normal: u_r,
        offset: top + u_r.dot(&p_rs),
    };
    let in_s = SkinRegion::new(r.tree, r_sr, p_sr, &above, reach)?;
    let in_r = SkinRegion::new(s.tree, &r_rs, &p_rs, &below, reach)?;
    // Faces of R look down, those of S up.
    let of_r = r.normals.highest(r.tree, &in_r, single(u_r), -0.5);
    let (height, highest) = match of_r {
        Some((height, normal)) => (height, r_sr * normal),
        None => (-0.5, Vector3::zeros()),
    };
    let limit = -height - LEAST_GAP;
    let (_, lowest) = s.normals.highest(s.tree, &in_s, single(-u), limit)?;
    Some([lowest, highest])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hydro::elements::CompliantMesh;
    use crate::hydro::tests::compliant;
    use crate::shape::{BoxShape, Shape, Sphere};
    use tarragon_framework::math;

    /// Tries a direction for two shapes, of which the second is turned by an angle about x and z
    /// and moved along z.
    fn proves(shapes: [&Shape; 2], angle: f64, z: f64, along: Vector3<f64>) -> bool {
        let [s, r] = shapes.map(|shape| CompliantMesh::new(compliant(shape, 0.1, 0.0)));
        let (near_s, near_r) = s.adjacency().zip(r.adjacency()).unwrap();
        let turn = math::rotation_exp(&Vector3::new(angle, 0.0, angle));
        let corners = PosedCorners {
            s: &near_s.corners,
            r: &near_r.corners,
            r_sr: &turn.to_rotation_matrix().into_inner(),
            p_sr: &Vector3::new(0.0, 0.0, z),
            reach: s.reach + r.reach + z.abs(),
        };
        let skins = [near_s, near_r].map(|near| near.convex_skin().unwrap());
        is_one_curve([&skins[0], &skins[1]], &corners, along)
    }

    /// A ball or a block that sinks into another is bounded by one curve, a bar through a plate by
    /// two.
    #[test]
    fn only_a_single_curve_is_proved() {
        let cuboid = |x, y, z| Shape::from(BoxShape::new(x, y, z).unwrap());
        let ball = Shape::from(Sphere::new(0.5).unwrap());
        let (plate, bar) = (cuboid(1.0, 1.0, 0.2), cuboid(0.2, 0.2, 2.0));
        let up = Vector3::z();
        assert!(proves([&ball, &ball], 0.3, 0.8, up));
        assert!(proves([&plate, &ball], 0.3, 0.55, up));
        assert!(proves([&plate, &bar], 0.05, 1.05, up));
        // A direction that is wrong at first.
        assert!(proves(
            [&plate, &bar],
            0.0,
            1.05,
            Vector3::new(1.0, 0.0, 1.0)
        ));
        for along in [up, -up, Vector3::x(), Vector3::new(1.0, 2.0, 3.0)] {
            assert!(!proves([&plate, &bar], 0.1, 0.0, along));
            assert!(!proves([&bar, &plate], 0.0, 0.0, along));
        }
    }
}
