//! Pairs that may be near each other, from boxes around geometries.
//!
//! Anchored geometry is in one static tree per scene, moving geometry in a tree that goes from
//! snapshot to snapshot. Most things move little from one moment to the next, so the tree does not
//! hold the box of a geometry but a larger one, and nothing is to be done while a geometry stays
//! within it. For the same reason the pairs whose larger boxes meet are kept, like the neighbour
//! lists of molecular dynamics (L. Verlet, "Computer experiments on classical fluids", Physical
//! Review 159, 1967); only geometries that left their box are looked up in the tree again. What is
//! handed out depends on the boxes of the moment alone, not on the history. Half spaces have no
//! box; boxes are compared with their planes.

mod bound;
mod pairs;
mod role_tree;

use super::state::{Geometry, GeometryState};
use crate::bvh::{Box32, Bvh, RayBox, up};
use nalgebra::{Isometry3, Vector3};
use pairs::PairLists;
use std::sync::{Mutex, PoisonError};
use tarragon_framework::Scalar;

pub(crate) use bound::LocalBound;
pub(crate) use pairs::{Candidates, unpack};
pub(crate) use role_tree::{RoleBounds, RoleTree};

/// The anchored geometries with the proximity role.
#[derive(Default)]
pub(crate) struct StaticTree {
    bvh: Bvh,
    /// Item to geometry number.
    geometries: Vec<u32>,
    boxes: Vec<Box32>,
    planes: Vec<Plane>,
}

impl StaticTree {
    pub(crate) fn new(geometries: &[Geometry]) -> Self {
        let mut this = Self::default();
        for (i, g) in geometries.iter().enumerate() {
            let Some(bound) = g.bound.filter(|_| g.is_anchored()) else {
                continue;
            };
            match bound.box_in_world(&g.x_fg) {
                Some(b) => {
                    this.geometries.push(i as u32);
                    this.boxes.push(b);
                }
                None => this.planes.push(Plane::new(i as u32, &g.x_fg)),
            }
        }
        this.bvh = Bvh::new(&this.boxes);
        this
    }
}

/// The boundary of a half space.
#[derive(Clone)]
struct Plane {
    geometry: u32,
    normal: Vector3<f64>,
    /// Signed distance of the origin, negated.
    offset: f64,
}

impl Plane {
    fn new<T: Scalar>(geometry: u32, x_wg: &Isometry3<T>) -> Self {
        let normal = (x_wg.rotation * Vector3::z()).map(|x| x.re());
        let p = x_wg.translation.vector.map(|x| x.re());
        Self {
            geometry,
            normal,
            offset: normal.dot(&p),
        }
    }

    /// Not above the signed distance of any point of a box.
    #[inline]
    fn distance(&self, b: &Box32) -> f64 {
        let mut least = -self.offset;
        let mut size = self.offset.abs();
        for i in 0..3 {
            let n = self.normal[i];
            let end = if n > 0.0 { b.lower[i] } else { b.upper[i] };
            least += n * f64::from(end);
            size += f64::from(end.abs());
        }
        least - 1e-14 * size
    }
}

/// A moving geometry with a box.
#[derive(Clone, Copy, PartialEq)]
struct Member {
    geometry: u32,
    bound: LocalBound,
}

/// The moving geometries with the proximity role.
#[derive(Default)]
pub(crate) struct DynamicTree {
    members: Vec<Member>,
    /// Geometry numbers of moving half spaces.
    unbounded: Vec<u32>,
    planes: Vec<Plane>,
    bvh: Bvh,
    /// Boxes by geometry number, those of anchored geometries too.
    boxes: Vec<Box32>,
    /// By member: the larger boxes in the tree, and how much larger they are on each side.
    fat: Vec<Box32>,
    slack: Vec<f32>,
    /// By geometry number: the update at which it left its larger box.
    moved: Vec<u64>,
    update: u64,
    /// Members that left their box since the tree was built.
    moves: usize,
    /// Members that left their box at this update.
    escaped: Vec<u32>,
    lists: Mutex<PairLists>,
}

/// A refitted tree gets worse as geometries move away from their neighbours. Building it anew once
/// each of them, on average, has left its box this often adds a few percent.
const MOVES_PER_BUILD: usize = 8;

impl Clone for DynamicTree {
    fn clone(&self) -> Self {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            members: self.members.clone(),
            unbounded: self.unbounded.clone(),
            planes: self.planes.clone(),
            bvh: self.bvh.clone(),
            boxes: self.boxes.clone(),
            fat: self.fat.clone(),
            slack: self.slack.clone(),
            moved: self.moved.clone(),
            update: self.update,
            moves: self.moves,
            escaped: Vec::with_capacity(self.escaped.capacity()),
            lists: Mutex::new(lists.clone()),
        }
    }
}

impl DynamicTree {
    /// The tree of a scene, in no pose yet.
    pub(crate) fn new(state: &GeometryState) -> Self {
        let mut this = Self::default();
        this.enter_scene(state);
        this
    }

    /// Takes the geometries of another state of the scene.
    pub(crate) fn enter_scene(&mut self, state: &GeometryState) {
        let moving = |geometry: &(usize, &Geometry)| !geometry.1.is_anchored();
        let moving = state.geometries.iter().enumerate().filter(moving);
        let (mut members, mut unbounded) = (vec![], vec![]);
        for (i, g) in moving {
            match g.bound {
                None => {}
                Some(LocalBound::Unbounded) => unbounded.push(i as u32),
                Some(bound) => members.push(Member {
                    geometry: i as u32,
                    bound,
                }),
            }
        }
        // Filters and roles change more often than what moves; the tree stays as good as it is.
        if members != self.members {
            let n = members.len();
            self.members = members;
            self.slack = vec![0.0; n];
            self.fat = vec![Box32::EMPTY; n];
            self.escaped = Vec::with_capacity(n);
            self.moves = usize::MAX;
        }
        self.unbounded = unbounded;
        self.boxes.resize(state.geometries.len(), Box32::EMPTY);
        self.moved.resize(state.geometries.len(), 0);
        let statics = state.static_tree();
        for (geometry, b) in statics.geometries.iter().zip(&statics.boxes) {
            self.boxes[*geometry as usize] = *b;
        }
        self.lists
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .forget();
    }

    /// Moves everything; `pose` tells `X_WG` by geometry number.
    pub(crate) fn update<'a, T: Scalar>(&mut self, pose: impl Fn(usize) -> &'a Isometry3<T>) {
        self.update += 1;
        self.escaped.clear();
        for (k, m) in self.members.iter().enumerate() {
            let geometry = m.geometry as usize;
            let Some(b) = m.bound.box_in_world(pose(geometry)) else {
                continue;
            };
            self.boxes[geometry] = b;
            if !self.fat[k].contains(&b) {
                let [x, y, z] = b.size();
                let (least, most) = (x.min(y).min(z), x.max(y).max(z));
                // Who leaves often gets more room.
                let slack = (2.0 * self.slack[k]).clamp(0.25 * least, 0.25 * most);
                self.slack[k] = slack;
                self.fat[k] = b.grown(slack);
                self.moved[geometry] = self.update;
                self.escaped.push(k as u32);
            }
        }
        self.moves = self.moves.saturating_add(self.escaped.len());
        if self.moves > MOVES_PER_BUILD * self.members.len() {
            self.bvh.build(&self.fat);
            self.moves = 0;
        } else if !self.escaped.is_empty() {
            self.bvh.refit(&self.fat, &self.escaped);
        }
        self.planes.clear();
        let planes = self.unbounded.iter();
        self.planes
            .extend(planes.map(|g| Plane::new(*g, pose(*g as usize))));
    }

    /// Calls `f` with the number of every geometry whose box may reach into the box `b`.
    pub(crate) fn for_each_near(&self, statics: &StaticTree, b: &Box32, mut f: impl FnMut(usize)) {
        self.bvh.for_each_near(b, 0.0, |k| {
            let geometry = self.members[k as usize].geometry as usize;
            if self.boxes[geometry].meets(b) {
                f(geometry);
            }
        });
        statics
            .bvh
            .for_each_near(b, 0.0, |k| f(statics.geometries[k as usize] as usize));
        for plane in self.planes.iter().chain(&statics.planes) {
            if plane.distance(b) <= 0.0 {
                f(plane.geometry as usize);
            }
        }
    }

    /// Calls `f` with the numbers of geometries that a ray may meet within a limit; it returns the
    /// new limit.
    pub(crate) fn for_each_along(
        &self,
        statics: &StaticTree,
        ray: &RayBox,
        mut limit: f64,
        mut f: impl FnMut(usize, f64) -> f64,
    ) {
        self.bvh.for_each_along(ray, limit, |k, within| {
            limit = f(self.members[k as usize].geometry as usize, within);
            limit
        });
        statics.bvh.for_each_along(ray, limit, |k, within| {
            limit = f(statics.geometries[k as usize] as usize, within);
            limit
        });
        for plane in self.planes.iter().chain(&statics.planes) {
            limit = f(plane.geometry as usize, limit);
        }
    }

    /// All candidates whose boxes are within `margin` (m, per axis) of each other. To be given back
    /// by [`DynamicTree::put_back`].
    pub(crate) fn candidates(&self, state: &GeometryState, margin: f64) -> Candidates<'_> {
        if margin == f64::INFINITY {
            return Candidates::all(self.all_pairs(state));
        }
        let margin32 = up(margin);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lists.refreshed(self, state, margin32);
        let near = Candidates::near(kept, &self.boxes, margin32);
        if self.planes.is_empty() && state.static_tree().planes.is_empty() {
            return near;
        }
        let mut found = std::mem::take(&mut lists.spare);
        drop(lists);
        found.extend(near.iter().map(|(a, b)| pairs::pack(a as u32, b as u32)));
        self.candidates_of_planes(state, margin, &mut found);
        found.sort_unstable();
        Candidates::all(found)
    }

    /// Brings the pairs up to date that were asked for since the last time.
    pub(crate) fn refresh_lists(&self, state: &GeometryState) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.refresh_asked(self, state);
    }

    fn candidates_of_planes(&self, state: &GeometryState, margin: f64, found: &mut Vec<u64>) {
        let statics = state.static_tree();
        let mut test = |plane: &Plane, geometry: u32| {
            let b = &self.boxes[geometry as usize];
            if plane.distance(b) <= margin {
                pairs::push(state, plane.geometry, geometry, found);
            }
        };
        for plane in &statics.planes {
            self.members.iter().for_each(|m| test(plane, m.geometry));
        }
        for plane in &self.planes {
            self.members.iter().for_each(|m| test(plane, m.geometry));
            statics.geometries.iter().for_each(|g| test(plane, *g));
        }
        for (i, &a) in self.unbounded.iter().enumerate() {
            for &b in &self.unbounded[i + 1..] {
                pairs::push(state, a, b, found);
            }
            for b in &statics.planes {
                pairs::push(state, a, b.geometry, found);
            }
        }
    }

    /// [`DynamicTree::candidates`] of one geometry.
    pub(crate) fn candidates_of(
        &self,
        state: &GeometryState,
        number: usize,
        margin: f64,
    ) -> Candidates<'_> {
        let mut found = self.take_spare();
        let statics = state.static_tree();
        let mut meets = |other: u32| pairs::push(state, number as u32, other, &mut found);
        let planes = || self.planes.iter().chain(&statics.planes);
        if let Some(plane) = planes().find(|p| p.geometry as usize == number) {
            let bounded = self.members.iter().map(|m| m.geometry);
            for other in bounded.chain(statics.geometries.iter().copied()) {
                if plane.distance(&self.boxes[other as usize]) <= margin {
                    meets(other);
                }
            }
            planes().for_each(|other| meets(other.geometry));
        } else {
            let (b, margin32) = (&self.boxes[number], up(margin));
            self.bvh.for_each_near(b, margin32, |k| {
                let other = self.members[k as usize].geometry;
                if b.is_near(&self.boxes[other as usize], margin32) {
                    meets(other);
                }
            });
            let anchored = &statics.geometries;
            let bvh = &statics.bvh;
            bvh.for_each_near(b, margin32, |k| meets(anchored[k as usize]));
            for plane in planes().filter(|plane| plane.distance(b) <= margin) {
                meets(plane.geometry);
            }
        }
        found.sort_unstable();
        Candidates::all(found)
    }

    /// The pairs of all geometries with the role.
    fn all_pairs(&self, state: &GeometryState) -> Vec<u64> {
        let mut found = self.take_spare();
        let role = |geometry: &(usize, &Geometry)| geometry.1.bound.is_some();
        let numbers = || state.geometries.iter().enumerate().filter(role);
        for (a, _) in numbers() {
            for (b, _) in numbers().filter(|(b, _)| a < *b) {
                pairs::push(state, a as u32, b as u32, &mut found);
            }
        }
        found
    }

    /// An empty list with room.
    fn take_spare(&self) -> Vec<u64> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut lists.spare)
    }

    pub(crate) fn put_back(&self, candidates: Candidates<'_>) {
        if let Some(mut list) = candidates.into_storage() {
            list.clear();
            let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            lists.spare = list;
        }
    }
}
