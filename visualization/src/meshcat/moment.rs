//! Assignment of recorded times to the frames of an animation.

use super::animation::MeshcatAnimation;
use crate::Result;

/// Part of a frame by which rounding may move a time.
const ROUNDING: f64 = 1e-6;

/// A time in a recording, with the frame that is nearest to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(super) frame: u32,
    time: f64,
    /// Distance from the time of the frame (frames).
    distance: f64,
    /// Number of the recording, as a server counts them.
    recording: u64,
}

impl Moment {
    /// Finds the frame nearest to `time` (s); halfway between two frames, the earlier one.
    ///
    /// Rounding to the nearest frame gives every publish its own frame if the publish rate is the
    /// frame rate. [`MeshcatAnimation::frame`] rounds down, as Drake does, so that the rounding of
    /// `k * period` puts some publishes into the frame before.
    ///
    /// # Errors
    /// Returns an error if the time has no frame.
    pub(super) fn new(animation: &MeshcatAnimation, time: f64, recording: u64) -> Result<Self> {
        let at = (time - animation.start_time()) * animation.frames_per_second();
        let frame = (at - 0.5).ceil().max(0.0);
        if at >= -ROUNDING && frame <= f64::from(u32::MAX) {
            return Ok(Self {
                frame: frame as u32,
                time,
                distance: (at - frame).abs(),
                recording,
            });
        }
        Err(animation.missing_frame(time))
    }
}

/// Selection of the moments that a recording keeps: of several in one frame, the nearest. Every
/// source of values has its own gate, so that sources with different periods share frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameGate {
    last: Option<Moment>,
}

impl FrameGate {
    /// Returns whether values of a moment replace those recorded before. A moment that is not later
    /// than the last one belongs to another run, or is set again.
    pub(super) fn admits(&mut self, moment: Moment) -> bool {
        let is_farther = self.last.is_some_and(|last| {
            last.recording == moment.recording
                && last.frame == moment.frame
                && last.time < moment.time
                && last.distance < moment.distance
        });
        if !is_farther {
            self.last = Some(moment);
        }
        !is_farther
    }
}
