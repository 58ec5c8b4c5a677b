//! Queries of the tree of moving geometry.

use super::candidates::{Candidates, pack, push};
use super::moving_boxes::MovingBoxes;
use super::pair_lists::PairLists;
use crate::accel::bvh::{Box32, RayBox, up};
use crate::scene::bounds::{BoundaryPlane, StaticTree};
use crate::scene::model::{GeometryState, RegisteredGeometry};
use nalgebra::Isometry3;
use std::sync::{Mutex, PoisonError};
use tarragon_framework::Scalar;

/// The moving geometries with the proximity role, and their persistent candidate pairs.
#[derive(Default)]
pub(in crate::scene) struct DynamicTree {
    moving: MovingBoxes,
    lists: Mutex<PairLists>,
}

impl Clone for DynamicTree {
    fn clone(&self) -> Self {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            moving: self.moving.clone(),
            lists: Mutex::new(lists.clone()),
        }
    }
}

impl DynamicTree {
    /// Creates the tree of a scene, before it has any pose.
    pub(crate) fn new(state: &GeometryState) -> Self {
        let mut this = Self::default();
        this.enter_scene(state);
        this
    }

    /// Switches to the geometries of another state of the scene.
    pub(crate) fn enter_scene(&mut self, state: &GeometryState) {
        self.moving.enter_scene(state);
        self.lists
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .forget();
    }

    /// Moves all geometries; `pose` returns `X_WG` by geometry number. It is called on several
    /// threads if there are many and `parallel`.
    pub(crate) fn update<'a, T: Scalar>(
        &mut self,
        pose: impl Fn(usize) -> &'a Isometry3<T> + Sync,
        parallel: bool,
    ) {
        self.moving.update(pose, parallel);
    }

    /// Calls `f` with the number of every geometry whose box may overlap the box `b`.
    pub(crate) fn for_each_near(&self, statics: &StaticTree, b: &Box32, mut f: impl FnMut(usize)) {
        self.moving.bvh.for_each_near(b, 0.0, |k| {
            let geometry = self.moving.members[k as usize].geometry as usize;
            if self.moving.boxes[geometry].meets(b) {
                f(geometry);
            }
        });
        statics
            .bvh
            .for_each_near(b, 0.0, |k| f(statics.geometries[k as usize] as usize));
        for plane in self.moving.planes.iter().chain(&statics.planes) {
            if plane.distance(b) <= 0.0 {
                f(plane.geometry as usize);
            }
        }
    }

    /// Calls `f` with the numbers of the geometries that a ray may hit within a limit (m); `f`
    /// returns the new limit.
    pub(crate) fn for_each_along(
        &self,
        statics: &StaticTree,
        ray: &RayBox,
        mut limit: f64,
        mut f: impl FnMut(usize, f64) -> f64,
    ) {
        self.moving.bvh.for_each_along(ray, limit, |k, within| {
            limit = f(self.moving.members[k as usize].geometry as usize, within);
            limit
        });
        statics.bvh.for_each_along(ray, limit, |k, within| {
            limit = f(statics.geometries[k as usize] as usize, within);
            limit
        });
        for plane in self.moving.planes.iter().chain(&statics.planes) {
            limit = f(plane.geometry as usize, limit);
        }
    }

    /// Returns all candidates whose boxes are within `margin` (m, per axis) of each other. The
    /// caller must return the storage with [`DynamicTree::put_back`].
    pub(crate) fn candidates<'a>(
        &'a self,
        state: &'a GeometryState,
        margin: f64,
    ) -> Candidates<'a> {
        if margin == f64::INFINITY {
            return Candidates::all(self.all_pairs(state));
        }
        let margin32 = up(margin);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lists.refreshed(&self.moving, state, margin32);
        let near = Candidates::near(kept, &self.moving.boxes, state.static_tree(), margin32);
        if self.moving.planes.is_empty() && state.static_tree().planes.is_empty() {
            return near;
        }
        let mut found = std::mem::take(&mut lists.spare);
        drop(lists);
        found.extend(near.iter().map(|(a, b)| pack(a as u32, b as u32)));
        self.candidates_of_planes(state, margin, &mut found);
        // The stable sort merges parts that are sorted.
        found.sort();
        Candidates::all(found)
    }

    /// Updates the lists of pairs that queries have used since the last time.
    pub(crate) fn refresh_lists(&self, state: &GeometryState) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.refresh_asked(&self.moving, state);
    }

    fn candidates_of_planes(&self, state: &GeometryState, margin: f64, found: &mut Vec<u64>) {
        let statics = state.static_tree();
        let mut test = |plane: &BoundaryPlane, geometry: u32| {
            let b = &self.moving.boxes[geometry as usize];
            if plane.distance(b) <= margin {
                push(state, plane.geometry, geometry, found);
            }
        };
        for plane in &statics.planes {
            self.moving
                .members
                .iter()
                .for_each(|m| test(plane, m.geometry));
        }
        for plane in &self.moving.planes {
            self.moving
                .members
                .iter()
                .for_each(|m| test(plane, m.geometry));
            statics.geometries.iter().for_each(|g| test(plane, *g));
        }
        for (i, &a) in self.moving.unbounded.iter().enumerate() {
            for &b in &self.moving.unbounded[i + 1..] {
                push(state, a, b, found);
            }
            for b in &statics.planes {
                push(state, a, b.geometry, found);
            }
        }
    }

    /// Same as [`DynamicTree::candidates`], for the pairs of one geometry.
    pub(crate) fn candidates_of(
        &self,
        state: &GeometryState,
        number: usize,
        margin: f64,
    ) -> Candidates<'_> {
        let mut found = self.take_spare();
        let statics = state.static_tree();
        let mut meets = |other: u32| push(state, number as u32, other, &mut found);
        let planes = || self.moving.planes.iter().chain(&statics.planes);
        if let Some(plane) = planes().find(|p| p.geometry as usize == number) {
            let bounded = self.moving.members.iter().map(|m| m.geometry);
            for other in bounded.chain(statics.geometries.iter().copied()) {
                if plane.distance(&self.moving.boxes[other as usize]) <= margin {
                    meets(other);
                }
            }
            planes().for_each(|other| meets(other.geometry));
        } else {
            let (b, margin32) = (&self.moving.boxes[number], up(margin));
            self.moving.bvh.for_each_near(b, margin32, |k| {
                let other = self.moving.members[k as usize].geometry;
                if b.is_near(&self.moving.boxes[other as usize], margin32) {
                    meets(other);
                }
            });
            let anchored = &statics.geometries;
            let bvh = &statics.bvh;
            bvh.for_each_near(b, margin32, |k| {
                let other = anchored[k as usize];
                if !statics.is_terrain_below(other, b, margin32) {
                    meets(other);
                }
            });
            for plane in planes().filter(|plane| plane.distance(b) <= margin) {
                meets(plane.geometry);
            }
        }
        found.sort_unstable();
        Candidates::all(found)
    }

    /// Returns the pairs of all geometries with the role.
    fn all_pairs(&self, state: &GeometryState) -> Vec<u64> {
        let mut found = self.take_spare();
        let role = |geometry: &(usize, &RegisteredGeometry)| geometry.1.bound.is_some();
        let numbers = || state.geometries.iter().enumerate().filter(role);
        for (a, _) in numbers() {
            for (b, _) in numbers().filter(|(b, _)| a < *b) {
                push(state, a as u32, b as u32, &mut found);
            }
        }
        found
    }

    /// Returns an empty list with spare capacity.
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
