//! Sets of bodies connected by joints, to detect a loop when a joint closes it.

use crate::model::BodyIndex;
use tarragon_framework::DisjointSets;

/// Disjoint sets of bodies that joints connect. Connections can be undone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands(DisjointSets);

impl Islands {
    /// Adds a body without connections.
    pub(crate) fn push(&mut self) {
        self.0.push();
    }
    /// Connects two bodies; returns false if they are connected already.
    pub(crate) fn join(&mut self, a: BodyIndex, b: BodyIndex) -> bool {
        self.0.unite(a.index(), b.index())
    }
    /// Returns the number of connections.
    pub(crate) fn num_joined(&self) -> usize {
        self.0.num_unions()
    }
    /// Undoes all but the first connections and removes all but the first bodies. Removed bodies
    /// must have no other connections.
    pub(crate) fn truncate(&mut self, bodies: usize, num_joined: usize) {
        self.0.truncate(bodies, num_joined);
    }
}
