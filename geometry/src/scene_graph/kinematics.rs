//! The poses of a scene at one moment.

use super::broadphase::DynamicTree;
use super::instance::FramePoseVector;
use super::state::{GeometryState, WORLD};
use crate::error::{Error, Result};
use nalgebra::Isometry3;
use std::sync::{Mutex, OnceLock, PoisonError};
use tarragon_framework::Scalar;

/// Poses of all frames and geometries, by number, and the tree made from them on demand.
pub(crate) struct Kinematics<T: Scalar> {
    pub(crate) x_wf: Vec<Isometry3<T>>,
    pub(crate) x_wg: Vec<Isometry3<T>>,
    tree: OnceLock<DynamicTree>,
    /// Storage of the last tree.
    spare: Mutex<Option<DynamicTree>>,
}

impl<T: Scalar> Default for Kinematics<T> {
    fn default() -> Self {
        Self {
            x_wf: vec![],
            x_wg: vec![],
            tree: OnceLock::new(),
            spare: Mutex::new(None),
        }
    }
}

impl<T: Scalar> Kinematics<T> {
    /// Computes all poses. `poses` are those of the sources, in the order of `state.sources`; a
    /// source without frames may have none. `same_scene`: the state is that of the last update.
    pub(crate) fn update(
        &mut self,
        state: &GeometryState,
        poses: &[Option<&FramePoseVector<T>>],
        same_scene: bool,
    ) -> Result<()> {
        let tree = self.tree.take();
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        *spare = tree.or(spare.take()).filter(|_| same_scene);
        self.x_wf.resize(state.frames.len(), Isometry3::identity());
        for (source, poses) in state.sources.iter().zip(poses) {
            let Some(poses) = poses else { continue };
            if poses.len() > source.frames.len() {
                return Err(Error::invalid(format!(
                    "source '{}': {} poses were given for {} frames",
                    source.name,
                    poses.len(),
                    source.frames.len()
                )));
            }
            for (i, &number) in source.frames.iter().enumerate() {
                let frame = &state.frames[number];
                let in_order = poses.poses.get(i).filter(|(id, _)| *id == frame.id);
                let x_pf = in_order.map(|(_, x)| x).or_else(|| poses.value(frame.id));
                let x_pf = x_pf.ok_or_else(|| {
                    Error::invalid(format!(
                        "source '{}': frame '{}' got no pose; set one for every frame",
                        source.name, frame.name
                    ))
                })?;
                let finite = |x: &T| x.re().is_finite();
                if !(x_pf.translation.vector.iter().all(finite)
                    && x_pf.rotation.coords.iter().all(finite))
                {
                    return Err(Error::invalid(format!(
                        "source '{}': the pose of frame '{}' is not finite: {x_pf}",
                        source.name, frame.name
                    )));
                }
                self.x_wf[number] = if frame.parent == WORLD {
                    *x_pf
                } else {
                    self.x_wf[frame.parent] * x_pf
                };
            }
        }
        self.x_wg.clear();
        let identity = Isometry3::identity();
        self.x_wg.extend(state.geometries.iter().map(|g| {
            let x_wf = &self.x_wf[g.frame];
            if g.x_fg == identity {
                *x_wf
            } else {
                x_wf * g.x_fg.cast::<T>()
            }
        }));
        Ok(())
    }

    pub(crate) fn tree(&self, state: &GeometryState) -> &DynamicTree {
        self.tree.get_or_init(|| {
            let old = self
                .spare
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            DynamicTree::update(old, state, &self.x_wg)
        })
    }
}
