//! Vertices of objects that move while the triangles between them stay.

use super::change::{Change, NodeId};
use super::frame::Framed;
use super::msgpack::Writer;
use super::scene::Scene;
use super::scene_object::Stamped;
use std::sync::Arc;
use tarragon_geometry::mesh::RenderMesh;

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
        w.f32_tuples(positions.len(), positions.iter().copied());
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
