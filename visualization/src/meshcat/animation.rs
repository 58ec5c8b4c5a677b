//! Recorded animations.

use super::msgpack::Writer;
use super::path::full_path;
use super::property::PropertyValue;
use super::vertex_track::VertexTrack;
use crate::{Error, Result};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use std::sync::Arc;
use tarragon_geometry::mesh::RenderMesh;

/// Behaviour of an animation after its last frame. The discriminants are those of three.js.
///
/// ```
/// use tarragon_visualization::{LoopMode, MeshcatAnimation};
/// assert_eq!(MeshcatAnimation::new(32.0)?.loop_mode(), LoopMode::Repeat);
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LoopMode {
    /// Plays once.
    Once = 2200,
    /// Plays the number of repetitions, each time from the start.
    #[default]
    Repeat = 2201,
    /// Plays the number of repetitions, alternately forwards and backwards.
    PingPong = 2202,
}

/// Values of one property over time.
#[derive(Clone, Debug, PartialEq)]
struct Track {
    /// Type name in three.js: `vector3`, `quaternion`, `boolean`, `number` or `vector`.
    kind: &'static str,
    keys: BTreeMap<u32, PropertyValue>,
}

/// Transforms and properties at numbered frames, played by the page.
///
/// An animation cannot create or delete objects; animate their property `visible` instead. A
/// recording by a [`MeshcatVisualizer`](crate::MeshcatVisualizer) also has the vertices of
/// deformable geometry, which our page plays.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_visualization::{Meshcat, MeshcatAnimation, MeshcatParams};
/// # let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// let mut animation = MeshcatAnimation::new(30.0)?;
/// animation.set_transform(0, "box", &Isometry3::identity())?;
/// animation.set_transform(30, "box", &Isometry3::translation(1.0, 0.0, 0.0))?;
/// animation.set_property(15, "box", "visible", false)?;
/// meshcat.set_animation(&animation);
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeshcatAnimation {
    frames_per_second: f64,
    start_time: f64,
    autoplay: bool,
    loop_mode: LoopMode,
    repetitions: u32,
    clamp_when_finished: bool,
    tracks: BTreeMap<String, BTreeMap<String, Track>>,
    /// Vertices of objects by path, which only our own page plays.
    vertices: BTreeMap<String, VertexTrack>,
}

impl MeshcatAnimation {
    /// Creates an empty animation with `frames_per_second` (1/s).
    ///
    /// # Errors
    /// Returns an error if the rate is not positive and finite.
    pub fn new(frames_per_second: f64) -> Result<Self> {
        if !(frames_per_second > 0.0 && frames_per_second.is_finite()) {
            return Err(Error::invalid(format!(
                "MeshcatAnimation: frames_per_second must be positive and finite, got {frames_per_second:?} (1/s)"
            )));
        }
        Ok(Self {
            frames_per_second,
            start_time: 0.0,
            autoplay: true,
            loop_mode: LoopMode::default(),
            repetitions: 1,
            clamp_when_finished: true,
            tracks: BTreeMap::new(),
            vertices: BTreeMap::new(),
        })
    }
    /// Returns the frame rate (1/s).
    pub fn frames_per_second(&self) -> f64 {
        self.frames_per_second
    }
    /// Returns the time of frame 0 (s).
    pub fn start_time(&self) -> f64 {
        self.start_time
    }
    /// Sets the time of frame 0 (s); the default is 0. Existing frames keep their numbers.
    pub fn set_start_time(&mut self, start_time: f64) {
        self.start_time = start_time;
    }
    /// Returns the number of the frame shown at `time` (s): floor((time - start time) * rate).
    ///
    /// # Errors
    /// Returns an error if the time is not finite, is before the start time, or needs a frame
    /// number above `u32::MAX`.
    pub fn frame(&self, time: f64) -> Result<u32> {
        let frame = ((time - self.start_time) * self.frames_per_second).floor();
        if frame >= 0.0 && frame <= f64::from(u32::MAX) {
            return Ok(frame as u32);
        }
        Err(self.missing_frame(time))
    }
    /// Returns the error about a time that has no frame.
    pub(super) fn missing_frame(&self, time: f64) -> Error {
        Error::invalid(format!(
            "MeshcatAnimation: the time must be at least the start time of {:?} s and at most {} \
             frames later, got {time:?} s",
            self.start_time,
            u32::MAX
        ))
    }
    /// Returns whether the animation plays as soon as a page receives it.
    pub fn autoplay(&self) -> bool {
        self.autoplay
    }
    /// Sets whether the animation plays as soon as a page receives it; the default is true.
    pub fn set_autoplay(&mut self, play: bool) {
        self.autoplay = play;
    }
    /// Returns the behaviour after the last frame.
    pub fn loop_mode(&self) -> LoopMode {
        self.loop_mode
    }
    /// Sets the behaviour after the last frame; the default is [`LoopMode::Repeat`].
    pub fn set_loop_mode(&mut self, mode: LoopMode) {
        self.loop_mode = mode;
    }
    /// Returns the number of repetitions.
    pub fn repetitions(&self) -> u32 {
        self.repetitions
    }
    /// Sets the number of repetitions; the default is 1. It has no effect with [`LoopMode::Once`].
    ///
    /// # Errors
    /// Returns an error if the number is 0.
    pub fn set_repetitions(&mut self, repetitions: u32) -> Result<()> {
        if repetitions == 0 {
            return Err(Error::invalid(
                "MeshcatAnimation: repetitions must be at least 1, got 0",
            ));
        }
        self.repetitions = repetitions;
        Ok(())
    }
    /// Returns whether the scene stays at the last frame when the animation ends.
    pub fn clamp_when_finished(&self) -> bool {
        self.clamp_when_finished
    }
    /// Sets whether the scene stays at the last frame when the animation ends (true, the default),
    /// or returns to its state before the animation.
    pub fn set_clamp_when_finished(&mut self, clamp: bool) {
        self.clamp_when_finished = clamp;
    }
    /// Returns whether the animation has no frames.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty() && self.vertices.is_empty()
    }
    /// Sets the pose of a path in its parent's frame at an animation frame, replacing an earlier
    /// pose of that animation frame.
    ///
    /// # Errors
    /// Returns an error if `position` or `quaternion` of the path was set as a property of another
    /// type, or if the pose is not finite.
    pub fn set_transform(
        &mut self,
        frame: u32,
        path: &str,
        x_parent_path: &Isometry3<f64>,
    ) -> Result<()> {
        let p = x_parent_path.translation.vector;
        let q = x_parent_path.rotation.coords;
        let path = full_path(path);
        if let Some(found) = p.iter().chain(q.iter()).find(|x| !x.is_finite()) {
            return Err(Error::invalid(format!(
                "MeshcatAnimation: the pose of '{path}' must be finite, got {found}"
            )));
        }
        // Both are checked before either changes.
        self.check(&path, "position", "vector3")?;
        self.check(&path, "quaternion", "quaternion")?;
        self.set(&path, "position", "vector3", frame, [p.x, p.y, p.z].into());
        let q = [q.x, q.y, q.z, q.w].into();
        self.set(&path, "quaternion", "quaternion", frame, q);
        Ok(())
    }
    /// Sets a property of a path at a frame, replacing an earlier value of that frame.
    ///
    /// # Errors
    /// Returns an error if the property was set with another type, or the value is text.
    pub fn set_property(
        &mut self,
        frame: u32,
        path: &str,
        property: &str,
        value: impl Into<PropertyValue>,
    ) -> Result<()> {
        let (path, value) = (full_path(path), value.into());
        let kind = match &value {
            PropertyValue::Text(_) => {
                return Err(Error::invalid(format!(
                    "MeshcatAnimation: '{path}' property '{property}' must be a boolean, \
                     a number or numbers, got a text"
                )));
            }
            value => value.type_name(),
        };
        self.check(&path, property, kind)?;
        self.set(&path, property, kind, frame, value);
        Ok(())
    }

    /// Sets the vertices (m) of the object at a full path at a frame, replacing earlier ones. If
    /// the object had another mesh before, earlier frames are removed.
    pub(crate) fn set_vertices(
        &mut self,
        frame: u32,
        full_path: &str,
        mesh: &Arc<RenderMesh>,
        vertices: &[Vector3<f64>],
    ) {
        let known = self.vertices.get(full_path);
        if !known.is_some_and(|track| track.is_of(mesh)) {
            let track = VertexTrack::new(mesh);
            self.vertices.insert(full_path.into(), track);
        }
        if let Some(track) = self.vertices.get_mut(full_path) {
            track.set(frame, vertices);
        }
    }

    fn check(&self, path: &str, property: &str, kind: &'static str) -> Result<()> {
        match self.tracks.get(path).and_then(|t| t.get(property)) {
            Some(track) if track.kind != kind => Err(Error::invalid(format!(
                "MeshcatAnimation: '{path}' property '{property}' must not be set as a {kind}, it was set as \
                 a {} before; a property keeps its type in an animation",
                track.kind
            ))),
            _ => Ok(()),
        }
    }
    fn set(
        &mut self,
        path: &str,
        property: &str,
        kind: &'static str,
        frame: u32,
        value: PropertyValue,
    ) {
        if !self.tracks.contains_key(path) {
            self.tracks.insert(path.into(), BTreeMap::new());
        }
        let tracks = self.tracks.get_mut(path).expect("inserted above");
        if !tracks.contains_key(property) {
            let keys = BTreeMap::new();
            tracks.insert(property.into(), Track { kind, keys });
        }
        let track = tracks.get_mut(property).expect("inserted above");
        track.keys.insert(frame, value);
    }

    /// Adds the frames of `after` that `before` lacks or has with other values. Properties that
    /// have another type in this animation are skipped.
    pub(super) fn add_frames_since(&mut self, before: &Self, after: &Self) {
        for (path, tracks) in &after.tracks {
            for (property, track) in tracks {
                let known = before.tracks.get(path).and_then(|t| t.get(property));
                for (frame, value) in &track.keys {
                    let is_new = known.is_none_or(|t| t.keys.get(frame) != Some(value));
                    if is_new && self.check(path, property, track.kind).is_ok() {
                        self.set(path, property, track.kind, *frame, value.clone());
                    }
                }
            }
        }
        for (path, track) in &after.vertices {
            let own = self.vertices.entry(path.clone());
            let own = own.or_insert_with(|| track.without_frames());
            own.add_frames_since(before.vertices.get(path), track);
        }
    }

    /// Returns whether there are vertices, which not every page can play.
    pub(crate) fn has_vertices(&self) -> bool {
        !self.vertices.is_empty()
    }

    /// Encodes the message `set_animation`, with or without the vertices of objects.
    pub(crate) fn encode(&self, vertices: bool) -> Vec<u8> {
        let mut w = Writer::default();
        w.map(if vertices { 4 } else { 3 });
        w.key_str("type", "set_animation").str("animations");
        w.array(self.tracks.len());
        for (path, tracks) in &self.tracks {
            w.map(2).key_str("path", path).str("clip").map(3);
            w.key_f64("fps", self.frames_per_second);
            w.key_str("name", "default").str("tracks");
            w.array(tracks.len());
            for (property, track) in tracks {
                w.map(3).key_str("name", &format!(".{property}"));
                w.key_str("type", track.kind).str("keys");
                w.array(track.keys.len());
                for (frame, value) in &track.keys {
                    w.map(2).key_uint("time", u64::from(*frame)).str("value");
                    value.encode(&mut w);
                }
            }
        }
        if vertices {
            w.str("vertices").array(self.vertices.len());
            for (path, track) in &self.vertices {
                track.write(&mut w, path, self.frames_per_second);
            }
        }
        w.str("options").map(4).key_bool("play", self.autoplay);
        w.key_uint("loopMode", self.loop_mode as u64);
        w.key_uint("repetitions", u64::from(self.repetitions));
        w.key_bool("clampWhenFinished", self.clamp_when_finished);
        w.into_inner()
    }
}
