//! Sliders for a pose.

use super::group::{Group, RunOptions, Spec, follow};
use crate::meshcat::Meshcat;
use crate::meshcat_visualizer::real_pose;
use crate::{Error, Result};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::PI;
use tarragon_framework::math;
use tarragon_framework::prelude::*;

const NAMES: [&str; 6] = ["roll", "pitch", "yaw", "x", "y", "z"];

/// Parameters of [`MeshcatPoseSliders`], with Drake's defaults. Arrays hold roll, pitch, yaw (rad),
/// x, y and z (m), in this order.
///
/// ```
/// use tarragon_visualization::MeshcatPoseSlidersParams;
/// let params = MeshcatPoseSlidersParams {
///     prefix: "cup".into(),
///     visible: [false, false, true, true, true, false], // in the plane
///     ..Default::default()
/// };
/// assert_eq!(params.step, [0.01; 6]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeshcatPoseSlidersParams {
    /// Initial pose of the sliders.
    pub initial_pose: Isometry3<f64>,
    /// Lower ends of the ranges: -pi rad and -1 m by default.
    pub lower_limit: [f64; 6],
    /// Upper ends of the ranges: pi rad and 1 m by default.
    pub upper_limit: [f64; 6],
    /// Step sizes.
    pub step: [f64; 6],
    /// Keys that decrement the sliders, see [`Meshcat::add_button`]: Q, S, A, J, K, U by default.
    pub decrement_keycodes: [String; 6],
    /// Keys that increment the sliders: E, W, D, L, I, O by default.
    pub increment_keycodes: [String; 6],
    /// Prefix of the names of the sliders: `{prefix}_roll`, ..., or `roll`, ... if it is empty.
    pub prefix: String,
    /// Which of the sliders exist. The other elements keep their initial values.
    pub visible: [bool; 6],
}

impl Default for MeshcatPoseSlidersParams {
    fn default() -> Self {
        let keys = |keys: [char; 6]| keys.map(|key| format!("Key{key}"));
        let upper = [PI, PI, PI, 1.0, 1.0, 1.0];
        Self {
            initial_pose: Isometry3::identity(),
            lower_limit: upper.map(|x| -x),
            upper_limit: upper,
            step: [0.01; 6],
            decrement_keycodes: keys(['Q', 'S', 'A', 'J', 'K', 'U']),
            increment_keycodes: keys(['E', 'W', 'D', 'L', 'I', 'O']),
            prefix: String::new(),
            visible: [true; 6],
        }
    }
}

/// Sliders for a pose (Drake's `MeshcatPoseSliders`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `pose` | `Isometry3<T>`, pose of the sliders at initialization; optional |
/// | output | `pose` | `Isometry3<T>`, rotation Rz(yaw) Ry(pitch) Rx(roll), position x, y, z |
///
/// The sliders are removed when the system is dropped, that is, with its diagram.
///
/// The output is the pose of the sliders when it is computed. A context keeps it until its time
/// changes or [`refresh`](MeshcatPoseSlidersPorts::refresh) is called.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_visualization::{Meshcat, MeshcatParams, MeshcatPoseSliders};
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// let mut b = DiagramBuilder::new();
/// let sliders = b.add("sliders", MeshcatPoseSliders::new(meshcat.clone(), Default::default())?);
/// let ctx = b.build()?.default_context();
/// meshcat.set_slider_value("x", 0.25)?;
/// assert_eq!(ctx.eval(sliders.pose)?.translation.x, 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MeshcatPoseSliders {
    group: Group,
}

impl MeshcatPoseSliders {
    /// Adds the sliders.
    ///
    /// # Errors
    /// Returns an error if a range is empty, a step is not positive, the pose is not finite, or a
    /// control with the name of a slider exists. No slider is added then.
    pub fn new(meshcat: Meshcat, params: MeshcatPoseSlidersParams) -> Result<Self> {
        let initial = elements(&params.initial_pose)?;
        let [down, up] = [params.decrement_keycodes, params.increment_keycodes];
        let keycodes = down.into_iter().zip(up);
        let mut specs = Vec::with_capacity(6);
        for (i, (down, up)) in keycodes.enumerate() {
            let (min, max) = (params.lower_limit[i], params.upper_limit[i]);
            let name = match &*params.prefix {
                "" => NAMES[i].into(),
                prefix => format!("{prefix}_{}", NAMES[i]),
            };
            // The sliders that are shown are checked again when they are added.
            if min.is_nan() || max.is_nan() || min > max {
                return Err(Error::invalid(format!(
                    "MeshcatPoseSliders '{name}': the range must be two numbers in ascending order, got [{min:?}, {max:?}]"
                )));
            }
            specs.push(Spec {
                name,
                min,
                max,
                step: params.step[i],
                value: initial[i],
                keycodes: [down, up],
                is_shown: params.visible[i],
            });
        }
        Ok(Self {
            group: Group::new(meshcat, specs)?,
        })
    }
    /// Returns the names of the sliders.
    pub fn slider_names(&self) -> impl Iterator<Item = &str> {
        self.group.names()
    }
    /// Moves the sliders to the nearest values they can take. These values are also the output
    /// after [`delete`](Self::delete).
    ///
    /// # Errors
    /// Returns an error if the pose is not finite.
    pub fn set_pose(&self, pose: &Isometry3<f64>) -> Result<()> {
        self.group.set("MeshcatPoseSliders", &elements(pose)?)
    }
    /// Removes the sliders. The output is then the initial pose, or the pose set last.
    pub fn delete(&self) {
        self.group.delete();
    }
    /// Returns the pose of the sliders.
    pub fn pose(&self) -> Isometry3<f64> {
        let mut values = [0.0; 6];
        self.group.read(|i, value| values[i] = value);
        pose_of(values)
    }

    /// Publishes a diagram in this context, at once and whenever a slider has moved. Ends when
    /// someone clicks the button `Stop MeshcatPoseSliders` on a page or the timeout expires
    /// (Drake's `Run`). Returns the last pose.
    ///
    /// # Errors
    /// Returns an error if the sliders belong to another diagram, the timeout is negative, or
    /// publishing fails.
    pub fn run(
        sliders: &Block<Self>,
        ctx: &mut Context<f64>,
        options: &RunOptions,
    ) -> Result<Isometry3<f64>> {
        let group = &sliders.system().group;
        let mut last = Isometry3::identity();
        follow(group, "Stop MeshcatPoseSliders", options, |values| {
            sliders.refresh(ctx)?;
            ctx.force_publish()?;
            let mut elements = [0.0; 6];
            elements.copy_from_slice(values);
            last = pose_of(elements);
            Ok(())
        })?;
        Ok(last)
    }
}

/// Returns roll, pitch, yaw, x, y, z.
fn elements(pose: &Isometry3<f64>) -> Result<[f64; 6]> {
    let (angles, p) = (math::rpy_of(&pose.rotation), pose.translation.vector);
    let elements = [angles.x, angles.y, angles.z, p.x, p.y, p.z];
    if elements.iter().all(|x| x.is_finite()) {
        return Ok(elements);
    }
    Err(Error::invalid(format!(
        "MeshcatPoseSliders: the pose must be finite, got {elements:?} (roll, pitch, yaw in rad, x, y, z in m)"
    )))
}

fn pose_of([roll, pitch, yaw, x, y, z]: [f64; 6]) -> Isometry3<f64> {
    math::pose(math::rpy(roll, pitch, yaw), Vector3::new(x, y, z))
}

/// Ports of [`MeshcatPoseSliders`].
#[derive(Clone, Copy, Debug)]
pub struct MeshcatPoseSlidersPorts<T> {
    /// Pose that the sliders take at initialization; optional.
    pub initial_pose: InputPort<Isometry3<T>>,
    /// The pose of the sliders.
    pub pose: OutputPort<Isometry3<T>>,
    refreshed: Param<u64>,
}

impl<T: Scalar> MeshcatPoseSlidersPorts<T> {
    /// Makes a context read the sliders again.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn refresh(&self, ctx: &mut Context<T>) -> Result<()> {
        *ctx.param_mut(self.refreshed)? += 1;
        Ok(())
    }
}

impl<T: Scalar> LeafSystem<T> for MeshcatPoseSliders {
    type Ports = MeshcatPoseSlidersPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let initial_pose = d.input::<Isometry3<T>>("pose");
        let refreshed = d.param(0_u64);
        // An update, not a publish, so that values computed from the old sliders become stale.
        let starts = d.abstract_state(0_u64);
        d.unrestricted_update_on(Trigger::Initialization, move |sliders, ctx, x| {
            let Some(pose) = ctx.eval_optional(initial_pose)? else {
                return Ok(EventStatus::DidNothing);
            };
            sliders.set_pose(&real_pose(pose))?;
            *x.xa_mut(starts) += 1;
            Ok(EventStatus::Succeeded)
        });
        let identity = Isometry3::identity();
        let pose = d.output(
            "pose",
            identity,
            (Dep::Time, refreshed, starts),
            |sliders, _, pose| {
                *pose = sliders.pose().cast();
                Ok(())
            },
        );
        MeshcatPoseSlidersPorts {
            initial_pose,
            pose,
            refreshed,
        }
    }
}
