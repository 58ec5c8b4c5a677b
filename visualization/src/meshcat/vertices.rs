//! Vertices of objects that move while the triangles between them stay.

use super::change::{Change, NodeId};
use super::frame::Framed;
use super::msgpack::Writer;
use super::object::VertexArray;
use super::scene::{Scene, SceneObject, Stamped};
use std::sync::Arc;
use tarragon_geometry::mesh::RenderMesh;

/// Vertices of an object in the scene.
#[derive(Clone, Debug)]
pub(crate) struct MovingVertices {
    /// Place of the vertices in the payload of the object's message.
    array: VertexArray,
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
    fn positions<'m>(&'m self, object: &'m Framed) -> &'m [u8] {
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

impl Scene {
    /// Moves the vertices of the object of a node. Returns false if the node has no object with the
    /// triangles of `mesh`, or a position is not finite in single precision. Pages that know
    /// `set_vertices` receive nothing but the positions; others receive the object again.
    pub(crate) fn set_vertices(
        &mut self,
        id: NodeId,
        mesh: &Arc<RenderMesh>,
        positions: &[[f32; 3]],
    ) -> bool {
        let Some(node) = self.node(id) else {
            return false;
        };
        let Some(object) = &node.object else {
            return false;
        };
        let Some(vertices) = &object.value.vertices else {
            return false;
        };
        let is_same = Arc::ptr_eq(&vertices.array.mesh, mesh)
            && size_of_val(positions) == vertices.array.range.len();
        if !is_same || !positions.as_flattened().iter().all(|x| x.is_finite()) {
            return false;
        }
        let mut w = Writer::new(Vec::with_capacity(
            size_of_val(positions) + node.path.len() + 50,
        ));
        w.map(3).key_str("type", "set_vertices");
        w.key_str("path", &node.path).str("positions");
        w.f32_triples(positions.len(), positions.iter().copied());
        let value = Framed::new(&w.into_inner());
        let bytes = value.payload();
        let new = &bytes[bytes.len() - size_of_val(positions)..];
        if new == vertices.positions(&object.value.message) {
            return true;
        }
        let last = vertices.moved.as_ref().map_or(0, |moved| moved.revision);
        let revision = self.mark(Change::Vertices(id), last);
        if let Some(vertices) = self.vertices_mut(id) {
            vertices.moved = Some(Stamped { revision, value });
        }
        true
    }
}
