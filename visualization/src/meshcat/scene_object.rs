//! Objects in the scene, with vertices that may have moved since.

use super::asset::Asset;
use super::frame::Framed;
use super::object::VertexArray;
use std::sync::Arc;

/// A value with the revision at which it was set.
#[derive(Clone, Debug)]
pub(crate) struct Stamped<V> {
    pub(crate) revision: u64,
    pub(crate) value: V,
}

/// An object in the scene: its message, and the assets that it needs.
#[derive(Clone, Debug)]
pub(crate) struct SceneObject {
    pub(crate) message: Framed,
    pub(crate) assets: Vec<Arc<Asset>>,
    pub(super) vertices: Option<MovingVertices>,
}

/// Vertices of an object in the scene.
#[derive(Clone, Debug)]
pub(crate) struct MovingVertices {
    /// Place of the vertices in the payload of the object's message.
    pub(super) array: VertexArray,
    /// The message `set_vertices`, which ends with the positions, if they have changed since the
    /// object was set.
    pub(super) moved: Option<Stamped<Framed>>,
}

impl MovingVertices {
    /// Creates the vertices of an object whose message begins with `header` bytes.
    pub(super) fn new(mut array: VertexArray, header: usize) -> Self {
        array.range = array.range.start + header..array.range.end + header;
        Self { array, moved: None }
    }
    /// Returns the present positions in the message of their object or their own.
    pub(super) fn positions<'m>(&'m self, object: &'m Framed) -> &'m [u8] {
        match &self.moved {
            Some(moved) => {
                let payload = moved.value.payload();
                &payload[payload.len() - self.array.range.len()..]
            }
            None => &object.payload()[self.array.range.clone()],
        }
    }
}

impl SceneObject {
    /// Returns the message `set_object` with the present vertices.
    pub(super) fn current(&self) -> Framed {
        match &self.vertices {
            Some(vertices) if vertices.moved.is_some() => {
                let payload = self.message.payload();
                let (front, rest) = payload.split_at(vertices.array.range.start);
                let back = &rest[vertices.array.range.len()..];
                Framed::concat(&[front, vertices.positions(&self.message), back])
            }
            _ => self.message.clone(),
        }
    }
}
