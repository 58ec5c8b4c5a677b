//! Recording of transforms and properties into an animation.

use super::Meshcat;
use super::animation::MeshcatAnimation;
use super::property::PropertyValue;
use crate::Result;
use nalgebra::Isometry3;
use std::sync::Arc;

/// State of the recording.
#[derive(Debug, Default)]
pub(super) struct Recording {
    is_on: bool,
    /// Whether pages see changes while they are recorded.
    is_live: bool,
    /// Copied on write, so that it can be read without the lock.
    animation: Option<Arc<MeshcatAnimation>>,
}

impl Recording {
    /// Returns whether pages see changes made now.
    pub(super) fn shows(&self) -> bool {
        !self.is_on || self.is_live
    }
    fn animation(&mut self) -> Result<&mut Arc<MeshcatAnimation>> {
        if self.animation.is_none() {
            self.animation = Some(Arc::new(MeshcatAnimation::new(DEFAULT_RATE)?));
        }
        Ok(self.animation.as_mut().expect("created above"))
    }
}

/// Frame rate (1/s) of a recording that was not started with another rate.
const DEFAULT_RATE: f64 = 64.0;

impl Meshcat {
    /// Starts recording the changes by [`set_transform_at_time`](Self::set_transform_at_time) and
    /// [`set_property_at_time`](Self::set_property_at_time) at `frames_per_second` (Drake's default
    /// is 64). Earlier frames are kept if the rate is the same.
    ///
    /// If `set_visualizations_while_recording` is false, pages do not see these changes until the
    /// recording is published. Objects are always shown at once.
    ///
    /// # Errors
    /// Returns an error if the rate is not positive and finite.
    pub fn start_recording(
        &self,
        frames_per_second: f64,
        set_visualizations_while_recording: bool,
    ) -> Result<()> {
        let fresh = MeshcatAnimation::new(frames_per_second)?;
        let mut recording = self.recording();
        recording.is_on = true;
        recording.is_live = set_visualizations_while_recording;
        let rate = recording.animation.as_ref().map(|a| a.frames_per_second());
        if rate != Some(frames_per_second) {
            recording.animation = Some(Arc::new(fresh));
        }
        Ok(())
    }
    /// Stops recording; the frames are kept.
    pub fn stop_recording(&self) {
        self.recording().is_on = false;
    }
    /// Returns whether changes are recorded.
    pub fn is_recording(&self) -> bool {
        self.recording().is_on
    }
    /// Sends the recording to all pages as an animation.
    pub fn publish_recording(&self) {
        let animation = self.recording().animation.clone();
        if let Some(animation) = animation {
            self.set_animation(&animation);
        }
    }
    /// Deletes the recording and the options of its animation. Pages keep the animation that they
    /// have.
    pub fn delete_recording(&self) {
        self.recording().animation = None;
    }
    /// Calls a function that may change the options and frames of the recording. `change` works on
    /// a copy and may use this `Meshcat`. Frames recorded meanwhile are kept. A recording that was
    /// meanwhile deleted, or restarted at another rate, stays so.
    ///
    /// ```
    /// use tarragon_visualization::{LoopMode, Meshcat, MeshcatParams};
    /// # let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
    /// meshcat.with_recording(|animation| animation.set_loop_mode(LoopMode::PingPong));
    /// # Ok::<(), tarragon_visualization::Error>(())
    /// ```
    pub fn with_recording<V>(&self, change: impl FnOnce(&mut MeshcatAnimation) -> V) -> V {
        let before = self.recording().animation().cloned();
        let before = before.expect("the default rate is positive");
        let mut changed = MeshcatAnimation::clone(&before);
        let result = change(&mut changed);
        let mut recording = self.recording();
        let rate = before.frames_per_second();
        if let Some(now) =
            (recording.animation.as_mut()).filter(|now| now.frames_per_second() == rate)
        {
            if !Arc::ptr_eq(now, &before) {
                changed.add_frames_since(&before, now);
            }
            *now = Arc::new(changed);
        }
        result
    }
    /// Sends an animation to all pages, which can play, pause and scrub it.
    pub fn set_animation(&self, animation: &MeshcatAnimation) {
        self.change(|scene| scene.set_animation(animation));
    }

    /// Sets a transform and, while recording, records it at `time_in_recording` (s).
    ///
    /// # Errors
    /// Returns an error if the time has no frame; then nothing is set.
    pub fn set_transform_at_time(
        &self,
        path: &str,
        x_parent_path: &Isometry3<f64>,
        time_in_recording: f64,
    ) -> Result<()> {
        let shows = self.record(time_in_recording, |animation, frame| {
            animation.set_transform(frame, path, x_parent_path)
        })?;
        if shows {
            self.set_transform(path, x_parent_path);
        }
        Ok(())
    }
    /// Sets a property and, while recording, records it at `time_in_recording` (s).
    ///
    /// # Errors
    /// Returns an error if the time has no frame, or the property was recorded with another type;
    /// then nothing is set.
    pub fn set_property_at_time(
        &self,
        path: &str,
        property: &str,
        value: impl Into<PropertyValue>,
        time_in_recording: f64,
    ) -> Result<()> {
        let value = value.into();
        let shows = self.record(time_in_recording, |animation, frame| {
            animation.set_property(frame, path, property, value.clone())
        })?;
        if shows {
            self.set_property(path, property, value);
        }
        Ok(())
    }

    /// Records a change if recording is on. Returns whether pages see the change now.
    pub(crate) fn record(
        &self,
        time: f64,
        set: impl FnOnce(&mut MeshcatAnimation, u32) -> Result<()>,
    ) -> Result<bool> {
        let mut recording = self.recording();
        if recording.is_on {
            let animation = Arc::make_mut(recording.animation()?);
            let frame = animation.frame(time)?;
            set(animation, frame)?;
        }
        Ok(recording.shows())
    }
}
