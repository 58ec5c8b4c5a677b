//! Surfaces between two compliant volumes, from face to face.
//!
//! The number of instructions limits a query: an AMD Zen 5 completes 3.2 to 4.6 of them per cycle.
//! Packed divisions saved 4 % of them and no time, and areas in a plane 0.9 %. On AMD Zen 3, a loop
//! over the sides of a polygon without branches took 7 to 17 % longer.

use super::adjacency::Adjacency;
use super::clip::{CLIPPING, Clipped, Cut};
use super::elements::CompliantMesh;
use super::gap::PosedCorners;
use super::obb_pairs::for_each_pair;
use super::obb_tree::{ObbTree, ROUNDING, Region};
use super::one_curve::{ConvexSkin, is_one_curve};
use super::pair_set::{Entry, PairSet};
use super::planes::rounding_at;
use super::posed_tetrahedra::PosedTetrahedra;
use super::raw_surface::RawSurface;
use super::skin_part::LOW;
use super::slopes::NotRising;
use super::tet_tet::{PosedMeshes, PosedTetrahedron, TetrahedronPair};
use super::tetrahedron::OUTSIDE;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Length of the shortest side across which a surface is followed, relative to the largest
/// coordinate: far above rounding. Faces that meet at less have longer sides elsewhere.
const SHORTEST_SIDE: f64 = 1e-10;

/// Work space of an intersection, kept from one to the next.
#[derive(Default)]
pub(super) struct WalkSpace {
    walk: Walk,
    posed: PosedTetrahedra,
}

/// Pairs of tetrahedra on the way of a surface.
#[derive(Default)]
struct Walk {
    /// Pairs of tetrahedra that have been found: S first, then R.
    found: PairSet,
    /// Pairs that wait, each with the tetrahedron of R from which it was reached, and tetrahedra of
    /// S that wait with the present one of R, each with that of S from which it was reached.
    pairs: Vec<[u32; 3]>,
    of_s: Vec<[u32; 2]>,
    /// Pairs that wait, but need not have a face.
    near: Vec<[u32; 2]>,
}

impl Walk {
    fn clear(&mut self) {
        self.found.clear();
        self.pairs.clear();
        self.of_s.clear();
        self.near.clear();
    }
}

/// Adds the faces between two compliant meshes, each with its modulus (Pa); R is at `X_SR`.
pub(super) fn intersect(
    surface: &mut RawSurface,
    space: &mut WalkSpace,
    s: &CompliantMesh,
    modulus_s: f64,
    r: &CompliantMesh,
    modulus_r: f64,
    x_sr: &Isometry3<f64>,
) {
    let meshes = PosedMeshes::new(s, modulus_s, r, modulus_r, x_sr);
    let adjacencies = s.adjacency().zip(r.adjacency());
    let is_followed = adjacencies.is_some_and(|(s, r)| meshes.follow(surface, space, [s, r]));
    if !is_followed {
        surface.clear();
        meshes.search(surface);
    }
}

/// A compliant mesh with its modulus (Pa).
#[derive(Clone, Copy)]
struct MeshWithModulus<'a> {
    mesh: &'a CompliantMesh,
    modulus: f64,
}

/// Returns true if another mesh has no larger pressure at a vertex inside of a mesh, `own`, whose
/// rotation and position in the other mesh are `r` and `p`.
fn exceeds(
    inside: &[u32],
    own: MeshWithModulus<'_>,
    other: MeshWithModulus<'_>,
    r: &Matrix3<f64>,
    p: &Vector3<f64>,
    reach: f64,
) -> bool {
    let (field, tree) = (&own.mesh.field, &other.mesh.tree);
    inside.iter().any(|v| {
        let at = r * field.mesh().vertices()[*v as usize] + p;
        if !tree.may_contain(&at, rounding_at(reach)) {
            return false;
        }
        let pressure = field.values()[*v as usize] * own.modulus;
        let mut exceeds = false;
        tree.for_each_in(&Region::new(&[], &[at], reach), |e| {
            let t = &other.mesh.tetrahedra[e as usize];
            let heights = t.faces.heights(&at).to_array();
            let is_in = || heights.iter().all(|h| *h <= rounding_at(reach));
            let least = t.pressure(&at) * other.modulus * (1.0 - LOW);
            exceeds |= pressure >= least && is_in();
        });
        exceeds
    })
}

impl PosedMeshes<'_> {
    /// Adds all faces, from face to face; returns false if some may be missing.
    ///
    /// A surface of equal pressures ends at a boundary or is closed. Where it ends, both pressures
    /// are at most 0, so a search of where the skins meet finds all ends.
    ///
    /// A closed surface is in a pair of tetrahedra in which the difference of the pressures does
    /// not rise along some direction, whichever it is. If the difference rose everywhere on the
    /// surface, the surface would be a graph over the plane across that direction near each of its
    /// points. Its projection onto the plane would be open, and no compact set in a plane is. So a
    /// search of such pairs finds all closed surfaces.
    ///
    /// That search is needless for concave pressures, if neither exceeds the other at a vertex
    /// inside: within a closed surface is a vertex where the difference is greatest or least,
    /// because in a tetrahedron of S, the excess of S is a linear function less a concave one.
    pub(super) fn follow(
        &self,
        surface: &mut RawSurface,
        space: &mut WalkSpace,
        [near_s, near_r]: [&Adjacency; 2],
    ) -> bool {
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
        let between = self.r_sr * center_r + self.p_sr - center_s;
        if corners.are_apart(between) {
            return true;
        }
        let has_no_closed = self.has_no_closed(near_s, near_r);
        let WalkSpace { walk, posed } = space;
        walk.clear();
        posed.clear();
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
        // Where skins meet in a plane along which both pressures vanish, as the flat ends of
        // aligned cylinders do, rounding decides whether a start is found.
        let mut is_close = false;
        let mut is_started = false;
        let convex = near_s.convex_skin().zip(near_r.convex_skin());
        let (r_sr, p_sr) = (self.r_sr.cast(), self.p_sr.cast());
        let rounding = (ROUNDING * self.reach) as f32;
        let mut part_r = None;
        for_each_pair(skins, &self.r_sr, &self.p_sr, (), |part, other| {
            let (s, r) = (
                near_s.skin_tetrahedra[part as usize],
                near_r.skin_tetrahedra[other as usize],
            );
            let (part, other) = (&near_s.parts[part as usize], &near_r.parts[other as usize]);
            let part_r = match &part_r {
                Some((e, part)) if *e == r => part,
                _ => &part_r.insert((r, other.posed(&r_sr, &p_sr))).1,
            };
            // Many boxes meet although what is in them does not.
            if part_r.is_apart(part, rounding) {
                return true;
            }
            let cut = follower.start(surface, s, r, posed);
            is_close |= cut == Some(Cut::Close);
            if cut != Some(Cut::Left) {
                return follower.is_complete;
            }
            let may_be_whole = !is_started && !follower.is_cut_short;
            is_started = true;
            let skins = convex.as_ref().filter(|_| may_be_whole);
            let is_whole = || skins.is_some_and(|(s, r)| is_whole(surface, [s, r], &corners));
            follower.is_complete && !is_whole()
        });
        if follower.is_complete && !has_no_closed {
            let out_of_r: Vector3<f64> = surface.faces.iter().map(|face| face.normal).sum();
            let along = out_of_r
                .try_normalize(0.0)
                .or((-between).try_normalize(0.0));
            let along = along.unwrap_or(Vector3::z());
            let not_rising = NotRising::new([
                (self.s.slopes(), self.modulus_s, along),
                (self.r.slopes(), self.modulus_r, -self.r_sr.tr_mul(&along)),
            ]);
            let trees = [&self.s.tree, &self.r.tree];
            for_each_pair(trees, &self.r_sr, &self.p_sr, not_rising, |s, r| {
                follower.start(surface, s, r, posed);
                follower.is_complete
            });
        }
        follower.is_complete && !(is_close && surface.faces.is_empty())
    }

    /// Returns true if pressures at vertices inside prove that no surface is closed.
    fn has_no_closed(&self, near_s: &Adjacency, near_r: &Adjacency) -> bool {
        let Some((inside_s, inside_r)) = near_s.inside.as_ref().zip(near_r.inside.as_ref()) else {
            return false;
        };
        let of_s = MeshWithModulus {
            mesh: self.s,
            modulus: self.modulus_s,
        };
        let of_r = MeshWithModulus {
            mesh: self.r,
            modulus: self.modulus_r,
        };
        let r_rs = self.r_sr.transpose();
        let p_rs = -(r_rs * self.p_sr);
        !exceeds(inside_s, of_s, of_r, &r_rs, &p_rs, self.reach)
            && !exceeds(inside_r, of_r, of_s, &self.r_sr, &self.p_sr, self.reach)
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
    walk: &'a mut Walk,
    polygon: Clipped,
    /// Square of the shortest side across which a surface is followed.
    least_side: f64,
    is_complete: bool,
    /// Whether the surface may continue across a shorter side.
    is_cut_short: bool,
}

impl Follower<'_> {
    /// Follows the surface from a pair, unless the pair has been found before, and returns the
    /// result of its cut.
    fn start(
        &mut self,
        surface: &mut RawSurface,
        s: u32,
        r: u32,
        posed: &mut PosedTetrahedra,
    ) -> Option<Cut> {
        if self.walk.found.insert(s, r) != Entry::New {
            return None;
        }
        let own = posed.get(self.meshes, r);
        let cut = self.add_face(surface, s, r, own, [OUTSIDE; 2]);
        match cut {
            Cut::Apart => self.walk.found.set_empty(s, r),
            Cut::Left | Cut::Close => self.follow(surface, r, posed),
        }
        Some(cut)
    }

    /// Follows the surface from the pairs that wait, the first of them with a tetrahedron of R.
    fn follow(&mut self, surface: &mut RawSurface, r: u32, posed: &mut PosedTetrahedra) {
        self.follow_in(surface, r, posed.get(self.meshes, r));
        while self.is_complete {
            if let Some([s, r, from_r]) = self.walk.pairs.pop() {
                if self.walk.found.insert(s, r) == Entry::New {
                    let own = posed.get(self.meshes, r);
                    // A face has a side here, so that there is one beyond, but for rounding.
                    let cut = self.add_face(surface, s, r, own, [s, from_r]);
                    self.is_complete &= cut != Cut::Apart;
                    self.follow_in(surface, r, own);
                }
            } else if let Some([s, r]) = self.walk.near.pop() {
                if self.walk.found.insert(s, r) == Entry::New {
                    let own = posed.get(self.meshes, r);
                    if self.add_face(surface, s, r, own, [OUTSIDE; 2]) == Cut::Apart {
                        self.walk.found.set_empty(s, r);
                    }
                    self.follow_in(surface, r, own);
                }
            } else {
                break;
            }
        }
    }

    /// Follows the surface through tetrahedra of S in one of R.
    fn follow_in(&mut self, surface: &mut RawSurface, r: u32, own: &PosedTetrahedron) {
        while self.is_complete
            && let Some([s, from_s]) = self.walk.of_s.pop()
        {
            let cut = self.add_face(surface, s, r, own, [from_s, r]);
            self.is_complete &= cut != Cut::Apart;
        }
    }

    /// Adds the face of a pair, if there is one, and its neighbours to what waits, but for the pair
    /// from which it was reached.
    fn add_face(
        &mut self,
        surface: &mut RawSurface,
        s: u32,
        r: u32,
        own: &PosedTetrahedron,
        from: [u32; 2],
    ) -> Cut {
        let pair = TetrahedronPair::new(self.meshes, s, own);
        let cut = pair.cut(&mut self.polygon);
        if cut != Cut::Left {
            if cut == Cut::Close {
                // A surface may end where pressures are equal everywhere.
                self.is_complete &= !pair.is_level(self.meshes.reach);
                self.add_near(s, r);
            }
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
            let known = if is_other_r {
                self.walk.found.get(other_s, other_r)
            } else {
                self.walk.found.insert(other_s, other_r)
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

    /// Adds the pairs beyond the faces of both tetrahedra of a pair in which rounding may have
    /// decided that there is no face: the surface may go on in any of them.
    #[cold]
    fn add_near(&mut self, s: u32, r: u32) {
        let near = &mut self.walk.near;
        let beyond_s = self.near_s.neighbors[s as usize];
        let beyond_r = self.near_r.neighbors[r as usize];
        let pairs = beyond_s.map(|other| [other, r]).into_iter();
        let pairs = pairs.chain(beyond_r.map(|other| [s, other]));
        near.extend(pairs.filter(|pair| !pair.contains(&OUTSIDE)));
    }
}

#[cfg(test)]
mod tests;
