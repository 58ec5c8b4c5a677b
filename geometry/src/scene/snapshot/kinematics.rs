//! The poses of a scene at one time.

use super::broadphase::{DynamicTree, RoleBounds, RoleTree};
use super::deformables::Deformables;
use crate::error::{Error, Result};
use crate::ids::{FrameId, SourceId};
use crate::properties::Role;
use crate::scene::configurations::GeometryConfigurationVector;
use crate::scene::instance::FramePoseVector;
use crate::scene::model::{GeometryState, RegisteredSource, WORLD};
use crate::values::{is_constant_pose, lift_pose, lift_pose_into, shown_pose, values_of_pose};
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tarragon_framework::Scalar;
use tarragon_framework::counted;

/// Poses of all frames and geometries, and the trees built from them on demand.
pub(crate) struct Kinematics<T: Scalar> {
    /// `X_WF` by frame number, then `X_WG` of the geometries that are not at the origin of their
    /// frame.
    poses: Vec<Isometry3<T>>,
    /// Whether the same poses certainly have no derivatives; empty if there cannot be any.
    constant: Vec<bool>,
    /// `X_PF` of the frames that are not on the world.
    x_pf: Vec<Isometry3<T>>,
    plan: Arc<PoseLayout>,
    tree: OnceLock<DynamicTree>,
    /// The previous tree, which can be updated.
    spare: Mutex<Option<DynamicTree>>,
    /// True if a query of this snapshot has used the tree, so that the next snapshot probably will
    /// too.
    asked: AtomicBool,
    /// True if the scene has changed since the tree was built.
    stale_tree: bool,
    /// Trees of the illustration and perception roles.
    seen: [OnceLock<RoleTree>; 2],
    deformables: Deformables<T>,
}

/// The data of a scene that an update needs, in dense arrays.
struct PoseLayout {
    /// Frames by source.
    sources: Vec<Vec<FrameSlot>>,
    /// Index of `X_PF` by frame number; `OF_WORLD` where `X_PF` is `X_WF`.
    nested: Vec<u32>,
    num_nested: usize,
    /// Index of the pose by geometry number.
    pose_of: Vec<u32>,
    /// Frame number and `X_FG` of the geometries that have a pose of their own.
    offsets: Vec<(u32, Isometry3<f64>)>,
    /// How far apart (m) the boxes of two geometries can be at most that have a contact surface.
    contact_margin: f64,
    /// Bounds of the geometries with the illustration and the perception role.
    bounds: [OnceLock<RoleBounds>; 2],
}

#[derive(Clone, Copy)]
struct FrameSlot {
    id: FrameId,
    number: u32,
    parent: u32,
}

/// Number of poses of geometries that make a task worth a thread: about 10 us.
const POSES_PER_TASK: usize = 1024;

/// Returns true if the present thread belongs to a pool with others. Handing so little work over
/// from another thread takes longer than doing it.
fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

const OF_WORLD: u32 = u32::MAX;

impl PoseLayout {
    fn new(state: &GeometryState) -> Self {
        let frames = state.frames.len() as u32;
        let frame = |number: &usize| FrameSlot {
            id: state.frames[*number].id,
            number: *number as u32,
            parent: state.frames[*number].parent as u32,
        };
        let sources = state.sources.iter();
        let sources = sources.map(|s| s.frames.iter().map(frame).collect());
        let mut nested = vec![];
        let mut num_nested = 0;
        for frame in state.frames.iter() {
            nested.push(if frame.parent == WORLD {
                OF_WORLD
            } else {
                num_nested += 1;
                num_nested as u32 - 1
            });
        }
        let (mut pose_of, mut offsets) = (vec![], vec![]);
        let identity = Isometry3::identity();
        for g in state.geometries.iter() {
            // Vertices that are driven have coordinates in the world.
            pose_of.push(if g.x_fg == identity || g.is_driven() {
                g.frame as u32
            } else {
                offsets.push((g.frame as u32, g.x_fg));
                frames + offsets.len() as u32 - 1
            });
        }
        let margins = state.geometries.iter().filter_map(|g| {
            let bound = g.bound.as_ref()?;
            Some(g.hydroelastic.margin(|p| bound.margin_for(p)))
        });
        Self {
            sources: sources.collect(),
            nested,
            num_nested,
            pose_of,
            offsets,
            contact_margin: 2.0 * margins.fold(0.0, f64::max),
            bounds: Default::default(),
        }
    }
}

impl<T: Scalar> Kinematics<T> {
    /// Creates the kinematics of a scene whose poses are not known yet.
    pub(crate) fn new(state: &GeometryState) -> Self {
        Self {
            poses: vec![],
            constant: vec![],
            x_pf: vec![],
            plan: Arc::new(PoseLayout::new(state)),
            tree: OnceLock::new(),
            spare: Mutex::new(None),
            asked: AtomicBool::new(false),
            stale_tree: true,
            seen: Default::default(),
            deformables: Deformables::new(state),
        }
    }

    /// Begins an update; [`Kinematics::place`] and [`Kinematics::finish`] must follow. `same_scene`
    /// is true if the state is that of the last update.
    pub(crate) fn begin(&mut self, state: &GeometryState, same_scene: bool) {
        if let Some(tree) = self.tree.take() {
            let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
            *spare = Some(tree);
            self.stale_tree = false;
        }
        self.seen = Default::default();
        if same_scene {
            self.deformables.begin();
        } else {
            self.plan = Arc::new(PoseLayout::new(state));
            self.deformables = Deformables::new(state);
            self.stale_tree = true;
        }
        let poses = state.frames.len() + self.plan.offsets.len();
        self.poses.resize(poses, Isometry3::identity());
        if T::NDERIV > 0 {
            self.constant.clear();
            self.constant.resize(poses, true);
        }
        self.x_pf
            .resize(self.plan.num_nested, Isometry3::identity());
    }

    /// Sets the poses of the frames of a source, given by its index in `state.sources`.
    pub(crate) fn place(
        &mut self,
        state: &GeometryState,
        source: usize,
        given: &FramePoseVector<T>,
    ) -> Result<()> {
        let (frames, source) = (&self.plan.sources[source], &state.sources[source]);
        if given.len() > frames.len() {
            return Err(Error::invalid(format!(
                "source '{}': got {poses} for {frames}; set one per frame",
                source.name,
                poses = counted(given.len(), "pose"),
                frames = counted(frames.len(), "frame")
            )));
        }
        for (i, frame) in frames.iter().enumerate() {
            let in_order = given.poses.get(i).filter(|(id, _)| *id == frame.id);
            let x_pf = match in_order {
                Some((_, x_pf)) => x_pf,
                None => given
                    .value(frame.id)
                    .ok_or_else(|| no_pose(state, source, frame))?,
            };
            if !is_finite(x_pf) {
                return Err(not_finite(state, source, frame, x_pf));
            }
            let (number, parent) = (frame.number as usize, frame.parent as usize);
            if T::NDERIV > 0 {
                self.constant[number] = self.constant[parent] && is_constant_pose(x_pf);
            }
            self.poses[number] = if parent == WORLD {
                *x_pf
            } else {
                self.x_pf[self.plan.nested[number] as usize] = *x_pf;
                self.poses[parent] * x_pf
            };
        }
        Ok(())
    }

    /// Computes the poses of the geometries from those of their frames, and updates the tree if a
    /// query of the last snapshot used it.
    pub(crate) fn finish(&mut self, state: &GeometryState) {
        let num_frames = self.plan.nested.len();
        let parallel = T::NDERIV == 0 && is_in_pool();
        if parallel && self.plan.offsets.len() >= 2 * POSES_PER_TASK {
            let (frames, own) = self.poses.split_at_mut(num_frames);
            let own = own.par_iter_mut().zip(&self.plan.offsets);
            own.with_min_len(POSES_PER_TASK)
                .for_each(|(pose, (frame, x_fg))| {
                    *pose = frames[*frame as usize] * lift_pose::<T>(x_fg);
                });
        } else {
            self.place_geometries(num_frames);
        }
        if std::mem::take(self.asked.get_mut()) {
            let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
            let spare = spare.take();
            let tree = self.tree.take();
            let tree = tree.unwrap_or_else(|| self.updated_tree(state, spare, parallel));
            self.tree.get_or_init(|| tree).refresh_lists(state);
        }
    }

    /// Computes the poses of the geometries.
    fn place_geometries(&mut self, num_frames: usize) {
        for (i, (frame, x_fg)) in self.plan.offsets.iter().enumerate() {
            let x_wf = &self.poses[*frame as usize];
            if self.lacks_derivatives_at(*frame as usize) {
                let x_wg = values_of_pose(x_wf) * x_fg;
                lift_pose_into(&x_wg, &mut self.poses[num_frames + i]);
                continue;
            }
            self.poses[num_frames + i] = x_wf * lift_pose::<T>(x_fg);
            if T::NDERIV > 0 {
                self.constant[num_frames + i] = false;
            }
        }
    }

    /// Creates storage for another time, while this snapshot is still in use.
    pub(crate) fn successor(&self) -> Self {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            poses: Vec::with_capacity(self.poses.len()),
            constant: vec![],
            x_pf: Vec::with_capacity(self.x_pf.len()),
            plan: self.plan.clone(),
            tree: OnceLock::new(),
            spare: Mutex::new(self.tree.get().or(spare.as_ref()).cloned()),
            asked: AtomicBool::new(self.asked.load(Ordering::Relaxed)),
            stale_tree: self.stale_tree && self.tree.get().is_none(),
            seen: Default::default(),
            deformables: self.deformables.successor(),
        }
    }

    /// Returns true if a source has deformable geometry, which must have configurations.
    pub(crate) fn deforms(&self, source: SourceId) -> bool {
        self.deformables.has_source(source)
    }
    /// Sets the configurations of the deformable geometries of a source, given by its index in
    /// `state.sources`.
    pub(crate) fn configure(
        &mut self,
        state: &GeometryState,
        source: usize,
        given: Option<&GeometryConfigurationVector<T>>,
    ) -> Result<()> {
        self.deformables.configure(state, source, given)
    }
    /// Returns the deformable geometries.
    pub(crate) fn deformables(&self) -> &Deformables<T> {
        &self.deformables
    }

    /// Returns `X_WF` by frame number.
    #[inline]
    pub(crate) fn x_wf(&self, frame: usize) -> &Isometry3<T> {
        &self.poses[frame]
    }
    /// Returns `X_PF` by frame number.
    pub(crate) fn x_pf(&self, frame: usize) -> &Isometry3<T> {
        match self.plan.nested[frame] {
            OF_WORLD => &self.poses[frame],
            nested => &self.x_pf[nested as usize],
        }
    }
    /// Returns `X_WG` by geometry number.
    #[inline]
    pub(crate) fn x_wg(&self, geometry: usize) -> &Isometry3<T> {
        &self.poses[self.plan.pose_of[geometry] as usize]
    }

    /// Returns true if there can be derivatives, but the pose of a geometry, given by its number,
    /// certainly has none.
    #[inline]
    pub(crate) fn lacks_derivatives(&self, geometry: usize) -> bool {
        self.lacks_derivatives_at(self.plan.pose_of[geometry] as usize)
    }
    #[inline]
    fn lacks_derivatives_at(&self, pose: usize) -> bool {
        T::NDERIV > 0 && self.constant[pose]
    }

    /// Returns how far apart (m) the boxes of two geometries can be at most that have a contact
    /// surface.
    pub(crate) fn contact_margin(&self) -> f64 {
        self.plan.contact_margin
    }

    /// Returns the tree of the illustration or perception role.
    pub(crate) fn seen(&self, state: &GeometryState, role: Role) -> Result<&RoleTree> {
        let which = usize::from(role == Role::Perception);
        if let Some(tree) = self.seen[which].get() {
            return Ok(tree);
        }
        let bounds = match self.plan.bounds[which].get() {
            Some(bounds) => bounds,
            None => {
                let bounds = RoleBounds::new(state, role)?;
                self.plan.bounds[which].get_or_init(|| bounds)
            }
        };
        let tree = || RoleTree::new(bounds, |geometry| self.x_wg(geometry));
        Ok(self.seen[which].get_or_init(tree))
    }

    /// Returns the tree of the proximity role, for a query.
    pub(crate) fn tree(&self, state: &GeometryState) -> &DynamicTree {
        self.asked.store(true, Ordering::Relaxed);
        self.current_tree(state)
    }

    fn current_tree(&self, state: &GeometryState) -> &DynamicTree {
        self.tree.get_or_init(|| {
            let spare = &mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            // Others may wait for this tree, so its thread must not wait for them.
            self.updated_tree(state, spare.take(), false)
        })
    }

    /// Returns the tree, which may be made of an earlier one.
    fn updated_tree(
        &self,
        state: &GeometryState,
        earlier: Option<DynamicTree>,
        parallel: bool,
    ) -> DynamicTree {
        let mut tree = match earlier {
            Some(mut tree) => {
                if self.stale_tree {
                    tree.enter_scene(state);
                }
                tree
            }
            None => DynamicTree::new(state),
        };
        tree.update(|geometry| self.x_wg(geometry), parallel);
        tree
    }
}

/// Returns whether all numbers of a pose are finite, without a branch per number: only a finite
/// number times zero is zero.
#[inline]
fn is_finite<T: Scalar>(x: &Isometry3<T>) -> bool {
    let (p, q) = (&x.translation.vector, &x.rotation.coords);
    let zeros = [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| x.re() * 0.0);
    zeros.iter().sum::<f64>() == 0.0
}

#[cold]
fn no_pose(state: &GeometryState, source: &RegisteredSource, frame: &FrameSlot) -> Error {
    Error::invalid(format!(
        "source '{}': frame '{}' has no pose; set one for every frame",
        source.name, state.frames[frame.number as usize].name
    ))
}

#[cold]
fn not_finite<T: Scalar>(
    state: &GeometryState,
    source: &RegisteredSource,
    frame: &FrameSlot,
    x_pf: &Isometry3<T>,
) -> Error {
    Error::invalid(format!(
        "source '{}': the pose of frame '{}' must be finite, got {}",
        source.name,
        state.frames[frame.number as usize].name,
        shown_pose(x_pf)
    ))
}
