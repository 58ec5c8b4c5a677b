//! The boxes of moving geometry, and when each of them left its larger box.

use crate::accel::bvh::{Box32, Bvh};
use crate::scene::bounds::{BoundaryPlane, LocalBound};
use crate::scene::model::{GeometryState, RegisteredGeometry};
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// A moving geometry with a box.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct MovingGeometry {
    pub(super) geometry: u32,
    bound: LocalBound,
}

/// The moving geometries with the proximity role: their boxes, and a tree of larger ones.
#[derive(Default)]
pub(super) struct MovingBoxes {
    pub(super) members: Vec<MovingGeometry>,
    /// Geometry numbers of moving half spaces.
    pub(super) unbounded: Vec<u32>,
    pub(super) planes: Vec<BoundaryPlane>,
    pub(super) bvh: Bvh,
    /// Boxes by geometry number, those of anchored geometries too.
    pub(super) boxes: Vec<Box32>,
    /// By member: the larger boxes in the tree, and how much larger they are on each side.
    pub(super) fat: Vec<Box32>,
    slack: Vec<f32>,
    /// By geometry number: the update at which it left its larger box.
    pub(super) moved: Vec<u64>,
    pub(super) update: u64,
    /// Members that left their box since the tree was built.
    moves: usize,
    /// Members that left their box at this update.
    pub(super) escaped: Vec<u32>,
}

/// A refitted tree gets worse as geometries move away from their neighbours. Building it anew once
/// each of them, on average, has left its box this often adds a few percent.
const MOVES_PER_BUILD: usize = 8;

impl Clone for MovingBoxes {
    fn clone(&self) -> Self {
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
        }
    }
}

impl MovingBoxes {
    /// Takes the geometries of another state of the scene.
    pub(super) fn enter_scene(&mut self, state: &GeometryState) {
        let moving = |geometry: &(usize, &RegisteredGeometry)| !geometry.1.is_anchored();
        let moving = state.geometries.iter().enumerate().filter(moving);
        let (mut members, mut unbounded) = (vec![], vec![]);
        for (i, g) in moving {
            match g.bound {
                None => {}
                Some(LocalBound::Unbounded) => unbounded.push(i as u32),
                Some(bound) => members.push(MovingGeometry {
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
    }

    /// Moves everything; `pose` tells `X_WG` by geometry number.
    pub(super) fn update<'a, T: Scalar>(&mut self, pose: impl Fn(usize) -> &'a Isometry3<T>) {
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
            .extend(planes.map(|g| BoundaryPlane::new(*g, pose(*g as usize))));
    }
}
