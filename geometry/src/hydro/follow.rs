//! Surfaces between two compliant volumes, from face to face.

use super::adjacency::{Adjacency, LOW};
use super::clip::{CLIPPING, Clipped, Cut};
use super::elements::CompliantMesh;
use super::gap::PosedCorners;
use super::obb_pairs::for_each_pair;
use super::obb_tree::{ObbTree, Region};
use super::one_curve::{ConvexSkin, is_one_curve};
use super::pair_set::{Entry, PairSet};
use super::planes::rounding_at;
use super::raw_surface::RawSurface;
use super::tet_tet::{PosedMeshes, PosedTetrahedron, TetrahedronPair};
use super::tetrahedron::OUTSIDE;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Length of the shortest side across which a surface is followed, relative to the largest
/// coordinate: far above rounding. Faces that meet at less have longer sides elsewhere.
const SHORTEST_SIDE: f64 = 1e-10;

/// Work space of an intersection, kept from one to the next.
#[derive(Default)]
pub(super) struct WalkSpace {
    /// Pairs of tetrahedra that have been found: S first, then R.
    found: PairSet,
    /// Pairs that wait, each with the tetrahedron of R from which it was reached, and tetrahedra of
    /// S that wait with the present one of R, each with that of S from which it was reached.
    pairs: Vec<[u32; 3]>,
    of_s: Vec<[u32; 2]>,
}

/// Adds the faces between two compliant meshes, each with its modulus (Pa); R is at `X_SR`.
pub(super) fn intersect(
    surface: &mut RawSurface,
    walk: &mut WalkSpace,
    (s, modulus_s): (&CompliantMesh, f64),
    (r, modulus_r): (&CompliantMesh, f64),
    x_sr: &Isometry3<f64>,
) {
    let meshes = PosedMeshes::new((s, modulus_s), (r, modulus_r), x_sr);
    let adjacencies = s.adjacency().zip(r.adjacency());
    let is_followed = adjacencies.is_some_and(|(s, r)| meshes.follow(surface, walk, [s, r]));
    if !is_followed {
        surface.clear();
        meshes.search(surface);
    }
}

/// Returns true if another mesh has no larger pressure at a vertex inside of a mesh, `own`. Moduli
/// are in Pa; `(r, p)` is the pose of `own` in the other mesh.
fn exceeds(
    inside: &[u32],
    (own, modulus): (&CompliantMesh, f64),
    (other, other_modulus): (&CompliantMesh, f64),
    (r, p): (&Matrix3<f64>, &Vector3<f64>),
    reach: f64,
) -> bool {
    inside.iter().any(|v| {
        let at = r * own.field.mesh().vertices()[*v as usize] + p;
        if !other.tree.may_contain(&at, rounding_at(reach)) {
            return false;
        }
        let pressure = own.field.values()[*v as usize] * modulus;
        let mut exceeds = false;
        other
            .tree
            .for_each_in(&Region::new(&[], &[at], reach), |e| {
                let t = &other.tetrahedra[e as usize];
                let heights = t.faces.heights(&at).to_array();
                let is_in = || heights.iter().all(|h| *h <= rounding_at(reach));
                let least = t.pressure(&at) * other_modulus * (1.0 - LOW);
                exceeds |= pressure >= least && is_in();
            });
        exceeds
    })
}

impl PosedMeshes<'_> {
    /// Adds all faces, from face to face; returns false if some may be missing.
    ///
    /// A surface of equal pressures ends at a boundary or is closed. Where it ends, both pressures
    /// are at most 0, so a search of where the skins meet finds all ends. Inside a closed surface
    /// is a vertex where the difference is greatest or least: in a tetrahedron of S, the excess of
    /// S is a linear function less a concave one, which is greatest at a vertex. Pairs with such a
    /// vertex, which overlap deeply, are left to [`Self::search`].
    pub(super) fn follow(
        &self,
        surface: &mut RawSurface,
        walk: &mut WalkSpace,
        [near_s, near_r]: [&Adjacency; 2],
    ) -> bool {
        let pose = (&self.r_sr, &self.p_sr);
        let skins = [&near_s.skin, &near_r.skin];
        let corners = PosedCorners {
            s: &near_s.corners,
            r: &near_r.corners,
            r_sr: &self.r_sr,
            p_sr: &self.p_sr,
            reach: self.reach,
        };
        let center = |skin: &ObbTree| skin.root.as_ref().map(|root| root.center);
        let (Some(center_s), Some(center_r)) = (center(skins[0]), center(skins[1])) else {
            return true;
        };
        if corners.are_apart(self.r_sr * center_r + self.p_sr - center_s) {
            return true;
        }
        let (of_s, of_r) = ((self.s, self.modulus_s), (self.r, self.modulus_r));
        let r_rs = self.r_sr.transpose();
        let p_rs = -(r_rs * self.p_sr);
        if exceeds(&near_s.inside, of_s, of_r, (&r_rs, &p_rs), self.reach)
            || exceeds(&near_r.inside, of_r, of_s, pose, self.reach)
        {
            return false;
        }
        walk.found.clear();
        walk.pairs.clear();
        walk.of_s.clear();
        let mut follower = Follower {
            meshes: self,
            near_s,
            near_r,
            walk,
            polygon: Clipped::new(),
            least_side: (SHORTEST_SIDE * self.reach).powi(2),
            is_complete: true,
            is_cut_short: false,
        };
        let mut start: Option<(u32, PosedTetrahedron)> = None;
        // Where skins meet in a plane along which both pressures vanish, as the flat ends of
        // aligned cylinders do, rounding decides whether a start is found.
        let mut is_close = false;
        let mut is_started = false;
        let convex = near_s.convex_skin().zip(near_r.convex_skin());
        for_each_pair(skins, pose, self.reach, |s, r| {
            let (s, r) = (
                near_s.skin_tetrahedra[s as usize],
                near_r.skin_tetrahedra[r as usize],
            );
            if follower.walk.found.insert(s, r) != Entry::New {
                return true;
            }
            let own = match &mut start {
                Some((e, own)) if *e == r => own,
                other => &mut other.insert((r, self.posed(r))).1,
            };
            match follower.add_face(surface, s, (r, own), [OUTSIDE; 2]) {
                Cut::Left => {}
                cut => {
                    is_close |= cut == Cut::Close;
                    follower.walk.found.set_empty(s, r);
                    return true;
                }
            }
            follower.follow(surface, r, own);
            let may_be_whole = !is_started && !follower.is_cut_short;
            is_started = true;
            let skins = convex.as_ref().filter(|_| may_be_whole);
            let is_whole = || skins.is_some_and(|(s, r)| is_whole(surface, [s, r], &corners));
            follower.is_complete && !is_whole()
        });
        follower.is_complete && !(is_close && surface.faces.is_empty())
    }
}

/// Returns true if a surface between convex meshes has been followed to all its ends.
fn is_whole(surface: &RawSurface, skins: [&ConvexSkin<'_>; 2], corners: &PosedCorners<'_>) -> bool {
    let out_of_r: Vector3<f64> = surface.faces.iter().map(|face| face.normal).sum();
    is_one_curve(skins, corners, -out_of_r)
}

/// A surface that is being followed.
struct Follower<'a> {
    meshes: &'a PosedMeshes<'a>,
    near_s: &'a Adjacency,
    near_r: &'a Adjacency,
    walk: &'a mut WalkSpace,
    polygon: Clipped,
    /// Square of the shortest side across which a surface is followed.
    least_side: f64,
    is_complete: bool,
    /// Whether the surface may continue across a shorter side.
    is_cut_short: bool,
}

impl Follower<'_> {
    /// Follows the surface from the pairs that wait, the first of them with a tetrahedron of R.
    fn follow(&mut self, surface: &mut RawSurface, r: u32, own: &PosedTetrahedron) {
        self.follow_in(surface, r, own);
        while self.is_complete
            && let Some([s, r, from_r]) = self.walk.pairs.pop()
        {
            if self.walk.found.insert(s, r) == Entry::New {
                let own = self.meshes.posed(r);
                // A face has a side here, so that there is one beyond, unless rounding matters.
                let cut = self.add_face(surface, s, (r, &own), [s, from_r]);
                self.is_complete &= cut == Cut::Left;
                self.follow_in(surface, r, &own);
            }
        }
    }

    /// Follows the surface through tetrahedra of S in one of R.
    fn follow_in(&mut self, surface: &mut RawSurface, r: u32, own: &PosedTetrahedron) {
        while self.is_complete
            && let Some([s, from_s]) = self.walk.of_s.pop()
        {
            let cut = self.add_face(surface, s, (r, own), [from_s, r]);
            self.is_complete &= cut == Cut::Left;
        }
    }

    /// Adds the face of a pair, if there is one, and its neighbours to what waits, but for the pair
    /// from which it was reached.
    fn add_face(
        &mut self,
        surface: &mut RawSurface,
        s: u32,
        (r, own): (u32, &PosedTetrahedron),
        from: [u32; 2],
    ) -> Cut {
        let pair = TetrahedronPair::new(self.meshes, s, own);
        let cut = pair.cut(&mut self.polygon);
        if cut != Cut::Left {
            return cut;
        }
        if pair.is_along() {
            pair.add_to(surface, &self.polygon, || self.meshes.faces_of_r(r));
        }
        let (beyond_s, beyond_r) = (
            &self.near_s.neighbors[s as usize],
            &self.near_r.neighbors[r as usize],
        );
        let has_short_sides = self.polygon.shortest() < self.least_side;
        for i in 0..self.polygon.num_corners() {
            let side = self.polygon.side(i);
            let (other_s, other_r) = match side.checked_sub(CLIPPING) {
                Some(f) => (beyond_s[f as usize], r),
                None => (s, beyond_r[side as usize]),
            };
            if other_s == OUTSIDE || other_r == OUTSIDE || [other_s, other_r] == from {
                continue;
            }
            if has_short_sides && self.polygon.square(i) < self.least_side {
                self.is_cut_short = true;
                continue;
            }
            // Pairs with another tetrahedron of R may still be found while that one is present.
            let is_other_r = side < CLIPPING;
            let known = match is_other_r {
                true => self.walk.found.get(other_s, other_r),
                false => self.walk.found.insert(other_s, other_r),
            };
            match known {
                Entry::New if is_other_r => self.walk.pairs.push([s, other_r, r]),
                Entry::New => self.walk.of_s.push([other_s, s]),
                Entry::Face => {}
                Entry::Empty => self.is_complete = false,
            }
        }
        Cut::Left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hydro::clip::position;
    use crate::hydro::tests::{compliant, shapes};
    use crate::shape::Shape;
    use proptest::prelude::*;
    use std::cell::Cell;
    use tarragon_framework::math;

    /// Returns the faces as bits of their vertices, and the area of each (m^2), in order.
    fn faces(surface: &RawSurface) -> Vec<(Vec<u64>, f64)> {
        let (mut faces, mut at) = (Vec::<(Vec<u64>, f64)>::new(), 0);
        for face in &surface.faces {
            let corners = surface.vertices[at..][..face.num_vertices as usize].iter();
            let corners: Vec<Vector3<f64>> = corners.map(position).collect();
            at += corners.len();
            let sides = corners.windows(2).map(|ends| {
                let (p, q) = (ends[0] - corners[0], ends[1] - corners[0]);
                p.cross(&q).dot(&face.normal) / 2.0
            });
            let bits = corners.iter().flat_map(|p| p.iter().map(|x| x.to_bits()));
            faces.push((bits.collect(), sides.sum()));
        }
        faces.sort_by(|a, b| a.0.cmp(&b.0));
        faces
    }

    /// Faces found from face to face are those found by comparing all tetrahedra.
    #[test]
    fn following_finds_all_faces() {
        let followed_pairs = Cell::new(0);
        let side = || {
            let margin = prop_oneof![Just(0.0), 0.0..0.1_f64];
            (shapes(), 0.1..2.0_f64, margin, 1e5..1e7_f64)
        };
        // From where boxes around both touch to where their centres are the same.
        let depth = prop_oneof![Just(0.0), Just(1.0), 0.0..0.6_f64];
        let random = (
            [side(), side()],
            prop::array::uniform6(-1.0..1.0_f64),
            depth,
        );
        let config = ProptestConfig {
            cases: 500,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let mut runner = prop::test_runner::TestRunner::new(config);
        type Side = (Shape, f64, f64, f64);
        let test = |(sides, x, depth): ([Side; 2], [f64; 6], f64)| {
            let [s, r] = sides.each_ref().map(|(shape, hint, margin, _)| {
                CompliantMesh::new(compliant(shape, *hint, *margin))
            });
            let turn = math::rotation_exp(&(Vector3::new(x[0], x[1], x[2]) * 3.0));
            let direction = Vector3::new(x[3], x[4], x[5]).normalize();
            let p = direction * (s.reach + r.reach) * (1.0 - depth);
            let x_sr = math::pose(turn, p);
            let meshes = PosedMeshes::new((&s, sides[0].3), (&r, sides[1].3), &x_sr);
            let (mut followed, mut found) = (RawSurface::default(), RawSurface::default());
            meshes.search(&mut found);
            let adjacencies = s.adjacency().zip(r.adjacency());
            let walk = &mut WalkSpace::default();
            if !adjacencies.is_some_and(|(s, r)| meshes.follow(&mut followed, walk, [s, r])) {
                return Ok(());
            }
            if !found.faces.is_empty() {
                followed_pairs.set(followed_pairs.get() + 1);
            }
            let (followed, found) = (faces(&followed), faces(&found));
            let is_missing = |face: &&(Vec<u64>, f64)| !followed.iter().any(|f| f.0 == face.0);
            let missing: f64 = found.iter().filter(is_missing).map(|f| f.1.abs()).sum();
            // Slivers between sides that are shorter than those that are followed.
            prop_assert!(
                missing <= 1e-9 * meshes.reach.powi(2),
                "{missing} of {}",
                found.len()
            );
            prop_assert!(followed.len() <= found.len());
            Ok(())
        };
        runner.run(&random, test).unwrap();
        // Others do not touch, or reach the deepest point of the other.
        assert!(followed_pairs.into_inner() > 50);
    }
}
