//! Bounding boxes of moving geometry, and the last update in which each left its enlarged box.

use crate::accel::bvh::{Box32, Bvh};
use crate::scene::bounds::{BoundaryPlane, LocalBound};
use crate::scene::model::{GeometryState, RegisteredGeometry};
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// A moving geometry that has a box.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct MovingGeometry {
    pub(super) geometry: u32,
    bound: LocalBound,
}

/// The moving geometries with the proximity role: their boxes, and a tree of enlarged boxes.
#[derive(Default)]
pub(super) struct MovingBoxes {
    pub(super) members: Vec<MovingGeometry>,
    /// Geometry numbers of moving half spaces.
    pub(super) unbounded: Vec<u32>,
    pub(super) planes: Vec<BoundaryPlane>,
    pub(super) bvh: Bvh,
    /// Boxes by geometry number, including those of anchored geometries.
    pub(super) boxes: Vec<Box32>,
    /// Enlarged boxes in the tree by member, and their slack on each side (m).
    pub(super) fat: Vec<Box32>,
    slack: Vec<f32>,
    /// The update in which a geometry last left its enlarged box, by geometry number.
    pub(super) moved: Vec<u64>,
    pub(super) update: u64,
    /// Number of times that members left their boxes since the tree was built.
    moves: usize,
    /// Members that left their boxes in this update.
    pub(super) escaped: Vec<u32>,
}

/// Average number of times that each geometry leaves its box before the tree is rebuilt. A refitted
/// tree degrades as geometries move away from their neighbours; rebuilding this rarely adds only a
/// few percent.
const MOVES_PER_BUILD: usize = 8;

/// Number of members that make a task worth a thread: about 20 us.
const MEMBERS_PER_TASK: usize = 1024;

/// Members that follow each other, with the places of what is known of them.
struct MembersPart<'a> {
    members: &'a [MovingGeometry],
    /// Index of the first member, and the number of the first geometry.
    first: (usize, usize),
    /// By geometry.
    boxes: &'a mut [Box32],
    moved: &'a mut [u64],
    /// By member.
    fat: &'a mut [Box32],
    slack: &'a mut [f32],
    update: u64,
}

impl<'a> MembersPart<'a> {
    /// Splits the part before a member.
    fn split_at(self, member: usize) -> (Self, Self) {
        let (left, right) = self.members.split_at(member);
        let first_geometry = right[0].geometry as usize;
        let geometry = first_geometry - self.first.1;
        let boxes = self.boxes.split_at_mut(geometry);
        let moved = self.moved.split_at_mut(geometry);
        let fat = self.fat.split_at_mut(member);
        let slack = self.slack.split_at_mut(member);
        let left = Self {
            members: left,
            first: self.first,
            boxes: boxes.0,
            moved: moved.0,
            fat: fat.0,
            slack: slack.0,
            update: self.update,
        };
        let right = Self {
            members: right,
            first: (self.first.0 + member, first_geometry),
            boxes: boxes.1,
            moved: moved.1,
            fat: fat.1,
            slack: slack.1,
            update: self.update,
        };
        (left, right)
    }

    /// Moves these members; adds those that leave their enlarged boxes to `escaped`.
    fn update<'p, T: Scalar>(
        self,
        pose: &(impl Fn(usize) -> &'p Isometry3<T> + Sync),
        parallel: bool,
        escaped: &mut Vec<u32>,
    ) {
        let half = self.members.len() / 2;
        if parallel && half >= MEMBERS_PER_TASK {
            let (left, right) = self.split_at(half);
            let mut escaped_right = vec![];
            rayon::join(
                || left.update(pose, parallel, escaped),
                || right.update(pose, parallel, &mut escaped_right),
            );
            escaped.append(&mut escaped_right);
            return;
        }
        for (k, m) in self.members.iter().enumerate() {
            let geometry = m.geometry as usize;
            let Some(b) = m.bound.box_in_world(pose(geometry)) else {
                continue;
            };
            let place = geometry - self.first.1;
            self.boxes[place] = b;
            if !self.fat[k].contains(&b) {
                let [x, y, z] = b.size();
                let (least, most) = (x.min(y).min(z), x.max(y).max(z));
                // Widens the slack of boxes that keep escaping.
                let slack = (2.0 * self.slack[k]).clamp(0.25 * least, 0.25 * most);
                self.slack[k] = slack;
                self.fat[k] = b.grown(slack);
                self.moved[place] = self.update;
                escaped.push((self.first.0 + k) as u32);
            }
        }
    }
}

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
    /// Switches to the geometries of another state of the scene.
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
        // Filters and roles change more often than the set of moving geometries. The tree stays
        // valid if that set is unchanged.
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

    /// Moves all geometries; `pose` returns `X_WG` by geometry number. It is called on several
    /// threads if there are many and `parallel`.
    pub(super) fn update<'a, T: Scalar>(
        &mut self,
        pose: impl Fn(usize) -> &'a Isometry3<T> + Sync,
        parallel: bool,
    ) {
        self.update += 1;
        self.escaped.clear();
        let members = MembersPart {
            members: &self.members,
            first: (0, 0),
            boxes: &mut self.boxes,
            fat: &mut self.fat,
            slack: &mut self.slack,
            moved: &mut self.moved,
            update: self.update,
        };
        members.update(&pose, parallel, &mut self.escaped);
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
