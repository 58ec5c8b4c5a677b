//! Recording of transforms and properties into an animation.

use super::Meshcat;
use super::animation::MeshcatAnimation;
use super::moment::{FrameGate, Moment};
use super::path::full_path;
use super::property::PropertyValue;
use crate::Result;
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// State of the recording.
#[derive(Debug)]
pub(super) struct Recording {
    is_on: bool,
    /// Whether pages see changes while they are recorded.
    is_live: bool,
    /// Copied on write, so that it can be read without the lock.
    animation: Option<Arc<MeshcatAnimation>>,
    /// Frame rate (1/s) of the animation, or of the next one.
    rate: f64,
    /// Number of animations that were begun.
    number: u64,
    /// Frames of values set by [`Meshcat::set_transform_at_time`] and
    /// [`Meshcat::set_property_at_time`], by path and property.
    gates: BTreeMap<(String, String), FrameGate>,
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            is_on: false,
            is_live: false,
            animation: None,
            rate: 64.0,
            number: 0,
            gates: BTreeMap::new(),
        }
    }
}

impl Recording {
    /// Returns whether pages see changes made now.
    pub(super) fn shows(&self) -> bool {
        !self.is_on || self.is_live
    }
    /// Forgets the animation. The next one has the same frame rate, as in Drake.
    fn clear(&mut self) {
        self.animation = None;
        self.number += 1;
        self.gates.clear();
    }
    fn animation(&mut self) -> Result<&mut Arc<MeshcatAnimation>> {
        if self.animation.is_none() {
            self.animation = Some(Arc::new(MeshcatAnimation::new(self.rate)?));
        }
        Ok(self.animation.as_mut().expect("created above"))
    }
    /// Returns the moment of `time` (s) if the recording is on.
    fn moment(&mut self, time: f64) -> Result<Option<Moment>> {
        if !self.is_on {
            return Ok(None);
        }
        let number = self.number;
        Moment::new(self.animation()?, time, number).map(Some)
    }
}

impl Meshcat {
    /// Starts recording the changes by [`set_transform_at_time`](Self::set_transform_at_time) and
    /// [`set_property_at_time`](Self::set_property_at_time) at `frames_per_second` (Drake's default
    /// is 64). Earlier frames are kept if the rate is the same.
    ///
    /// A change is recorded in the frame that is nearest to its time, so that a system that
    /// publishes `frames_per_second` times per second has one frame for each publish. Of several
    /// publishes in one frame, the nearest is kept; a later run replaces the frames of an earlier
    /// one. Frame 0 therefore has the state at the start time of the animation.
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
            recording.clear();
            recording.rate = frames_per_second;
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
    /// Deletes the recording and the options of its animation; the frame rate stays. Pages keep the
    /// animation that they have.
    pub fn delete_recording(&self) {
        self.recording().clear();
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
        let before = before.expect("the rate was checked");
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
        // A transform is not a property; no property has an empty name.
        let shows = self.record_value(path, "", time_in_recording, |animation, frame| {
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
        let shows = self.record_value(path, property, time_in_recording, |animation, frame| {
            animation.set_property(frame, path, property, value.clone())
        })?;
        if shows {
            self.set_property(path, property, value);
        }
        Ok(())
    }

    /// Records the values of a source at `time` (s) if recording is on, unless the frame has values
    /// of a nearer time. Returns whether pages see the values now.
    pub(crate) fn record(
        &self,
        time: f64,
        gate: &mut FrameGate,
        set: impl FnOnce(&mut MeshcatAnimation, u32) -> Result<()>,
    ) -> Result<bool> {
        let mut recording = self.recording();
        if let Some(moment) = recording.moment(time)?
            && gate.admits(moment)
        {
            set(Arc::make_mut(recording.animation()?), moment.frame)?;
        }
        Ok(recording.shows())
    }
    /// Records one value like [`record`](Self::record).
    fn record_value(
        &self,
        path: &str,
        property: &str,
        time: f64,
        set: impl FnOnce(&mut MeshcatAnimation, u32) -> Result<()>,
    ) -> Result<bool> {
        let mut recording = self.recording();
        if let Some(moment) = recording.moment(time)? {
            let source = (full_path(path), property.to_owned());
            if recording.gates.entry(source).or_default().admits(moment) {
                set(Arc::make_mut(recording.animation()?), moment.frame)?;
            }
        }
        Ok(recording.shows())
    }
}
