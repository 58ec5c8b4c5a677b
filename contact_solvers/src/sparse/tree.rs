//! The order in which vertices are eliminated, as a tree of separators.

use std::ops::Range;

/// Tree of sets of vertices that are eliminated together, children before parents.
///
/// Each node separates its descendants from all other vertices: an edge of the matrix joins two
/// vertices of one node, or a vertex of a node with a vertex of an ancestor.
#[derive(Clone, Debug, Default)]
pub struct EliminationTree {
    /// Vertices node by node.
    vertices: Vec<u32>,
    nodes: Vec<EliminationNode>,
    /// Children node by node.
    children: Vec<u32>,
    /// Nodes without parents: at least one per connected part.
    roots: Vec<u32>,
}

/// Ends of the vertices and of the children of a node, which begin at the ends of the node before.
#[derive(Clone, Copy, Debug, Default)]
struct EliminationNode {
    vertices_end: u32,
    children_end: u32,
}

impl EliminationTree {
    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Vertices of a node, in the order of elimination.
    pub fn vertices(&self, node: usize) -> &[u32] {
        let start = self.node_before(node).vertices_end as usize;
        &self.vertices[start..self.nodes[node].vertices_end as usize]
    }

    /// Children of a node in ascending order. Nodes are numbered in postorder: the descendants of
    /// a node come directly before it.
    pub fn children(&self, node: usize) -> &[u32] {
        let range: Range<usize> =
            self.node_before(node).children_end as usize..self.nodes[node].children_end as usize;
        &self.children[range]
    }

    /// Nodes without parents in ascending order.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// All vertices in the order of elimination.
    pub(crate) fn order(&self) -> &[u32] {
        &self.vertices
    }

    fn node_before(&self, node: usize) -> EliminationNode {
        node.checked_sub(1)
            .map_or_else(Default::default, |k| self.nodes[k])
    }

    /// Adds a node whose descendants are the last ones that were added; returns its number.
    ///
    /// `vertices` are in the order of elimination, `children` in ascending order. A tree is built
    /// in postorder, and [`set_roots`](Self::set_roots) completes it.
    pub fn push(&mut self, vertices: impl IntoIterator<Item = u32>, children: &[u32]) -> u32 {
        self.vertices.extend(vertices);
        self.children.extend_from_slice(children);
        self.nodes.push(EliminationNode {
            vertices_end: self.vertices.len() as u32,
            children_end: self.children.len() as u32,
        });
        self.nodes.len() as u32 - 1
    }

    /// Sets the nodes without parents in ascending order, after all nodes were added.
    pub fn set_roots(&mut self, roots: Vec<u32>) {
        self.roots = roots;
    }
}
