//! Kinds of scene changes.

/// Identifier of a tree node. After a deletion, another node may reuse the index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NodeId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// A kind of change, with the item that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Created(NodeId),
    Object(NodeId),
    /// New positions of the vertices of the node's object.
    Vertices(NodeId),
    Transform(NodeId),
    Property(NodeId, usize),
    /// Found by revision, in `Scene::deletions`.
    Deletion,
    /// Found by revision, in `Scene::events`.
    Event,
    /// Found by index, in `Controls`.
    Control(usize),
    /// Found by index, in `Controls`.
    ControlValue(usize),
    /// Found by revision, in `Controls`.
    ControlDeletion,
    Animation,
    Target,
}
