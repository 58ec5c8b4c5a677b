//! Recorded motion of the vertices of a mesh, in a few bits per coordinate.

mod bits;
mod group;
mod predictor;
#[cfg(test)]
mod tests;

use super::msgpack::Writer;
use group::{Frame, FrameGroup};
use nalgebra::Vector3;
use predictor::Predictor;
use std::collections::BTreeMap;
use std::sync::Arc;
use tarragon_geometry::mesh::RenderMesh;

/// Frames that are encoded together: to show one of them, pages decode those before it.
const GROUP: u32 = 32;

/// Vertices of one object over time.
#[derive(Clone, Debug)]
pub(crate) struct VertexTrack {
    mesh: Arc<RenderMesh>,
    predictor: Arc<Predictor>,
    /// Encoded groups by frame number / [`GROUP`], all but the open one.
    groups: BTreeMap<u32, Arc<FrameGroup>>,
    open: Option<OpenGroup>,
}

/// Group that is being recorded.
#[derive(Clone, Debug, PartialEq)]
struct OpenGroup {
    index: u32,
    frames: BTreeMap<u32, Arc<Frame>>,
    /// Step with which frames were encoded before.
    exponent: Option<i32>,
}

impl OpenGroup {
    fn encode(&self, predictor: &Predictor) -> FrameGroup {
        FrameGroup::encode(&self.frames, predictor, self.exponent)
    }
}

/// Tracks are equal if pages show the same.
impl PartialEq for VertexTrack {
    fn eq(&self, other: &Self) -> bool {
        self.predictor == other.predictor && self.encoded() == other.encoded()
    }
}

impl VertexTrack {
    /// Creates a track without frames.
    pub(crate) fn new(mesh: &Arc<RenderMesh>) -> Self {
        let predictor = Predictor::new(&mesh.triangles, mesh.positions.len());
        Self {
            mesh: mesh.clone(),
            predictor: Arc::new(predictor),
            groups: BTreeMap::new(),
            open: None,
        }
    }
    /// Creates a track of the same mesh without frames.
    pub(super) fn without_frames(&self) -> Self {
        Self {
            groups: BTreeMap::new(),
            open: None,
            ..self.clone()
        }
    }
    /// Returns whether the vertices are those of a mesh.
    pub(crate) fn is_of(&self, mesh: &Arc<RenderMesh>) -> bool {
        Arc::ptr_eq(&self.mesh, mesh)
    }

    /// Sets the vertices (m) at a frame, replacing earlier ones. Vertices that are not finite, or
    /// not as many as the mesh has, are left out.
    pub(crate) fn set(&mut self, frame: u32, vertices: &[Vector3<f64>]) {
        let coordinates: Frame = vertices.iter().flatten().copied().collect();
        let is_usable = |x: &f64| (*x as f32).is_finite();
        if vertices.len() == self.mesh.positions.len() && coordinates.iter().all(is_usable) {
            let group = self.open(frame / GROUP);
            group.frames.insert(frame, Arc::new(coordinates));
        }
    }

    /// Returns a group for changes; encodes the one that was open before.
    fn open(&mut self, index: u32) -> &mut OpenGroup {
        if let Some(open) = self.open.take_if(|open| open.index != index) {
            let group = open.encode(&self.predictor);
            self.groups.insert(open.index, Arc::new(group));
        }
        let Self {
            groups, predictor, ..
        } = self;
        self.open.get_or_insert_with(|| {
            let known = groups.remove(&index);
            let frames = known.iter().flat_map(|group| group.decode(predictor));
            OpenGroup {
                index,
                exponent: known.as_ref().map(|group| group.exponent),
                frames: frames.map(|(number, f)| (number, Arc::new(f))).collect(),
            }
        })
    }

    /// Returns all groups in the order of time.
    fn encoded(&self) -> BTreeMap<u32, Arc<FrameGroup>> {
        let mut groups = self.groups.clone();
        if let Some(open) = &self.open {
            groups.insert(open.index, Arc::new(open.encode(&self.predictor)));
        }
        groups
    }

    /// Adds the frames of `after` that `before` lacks or has with other vertices. Frames of another
    /// mesh are left out.
    pub(super) fn add_frames_since(&mut self, before: Option<&Self>, after: &Self) {
        if !self.is_of(&after.mesh) {
            return;
        }
        let known = before.filter(|before| before.is_of(&after.mesh));
        let known = known.map(Self::encoded).unwrap_or_default();
        for (index, group) in after.encoded() {
            let known = known.get(&index);
            if known == Some(&group) {
                continue;
            }
            let known = known.map(|known| known.decode(&after.predictor));
            let known = known.unwrap_or_default();
            let new = group.decode(&after.predictor).into_iter();
            for (number, frame) in new.filter(|frame| !known.contains(frame)) {
                let open = self.open(index);
                // Rounded again, these frames stay as they are.
                let exponent = open.exponent.unwrap_or(group.exponent);
                open.exponent = Some(exponent.min(group.exponent));
                open.frames.insert(number, Arc::new(frame));
            }
        }
    }

    /// Encodes the track: a map.
    pub(super) fn write(&self, w: &mut Writer, path: &str, frames_per_second: f64) {
        let groups = self.encoded();
        w.map(5)
            .key_str("path", path)
            .key_f64("fps", frames_per_second);
        let order = &self.predictor.order;
        w.str("order").u32s(order.len(), order.iter().copied());
        let from = &self.predictor.from;
        w.str("from").u32_triples(from.len(), from.iter().copied());
        w.str("groups").array(groups.len());
        for group in groups.values() {
            let frames = &group.frames;
            w.map(3)
                .str("frames")
                .u32s(frames.len(), frames.iter().copied());
            w.str("exponent").int(i64::from(group.exponent));
            w.str("data").bin(&group.data);
        }
    }
}
