//! Merging of the elements of an ordering into the nodes of an elimination tree.
//!
//! Small elements waste most of their tiles, and each front takes some time whatever its size. An
//! element joins its parent where that costs less than it saves, by a rough model of the time of a
//! front.

use super::tree::EliminationTree;

const NONE: u32 = u32::MAX;
/// Vertices of a row of tiles.
const TILE_VERTICES: u32 = 4;

/// Times relative to the product of two tiles: of a front, of the factorization of a tile, of the
/// solution with one, and of the addition of a tile to the front of the parent.
const PER_FRONT: f64 = 3.0;
const PER_PIVOT_TILE: f64 = 2.0;
const PER_BORDER_TILE: f64 = 0.5;
const PER_UPDATE_TILE: f64 = 0.7;

/// Vertices that are eliminated together, and their neighbors at that time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// One of its vertices; the others follow in a ring.
    pub(super) pivot: u32,
    /// Pivot of the element that has all these neighbors, or itself as one; `u32::MAX` for none.
    pub(super) parent: u32,
    /// Number of its vertices and of their neighbors.
    pub(super) num_pivots: u32,
    pub(super) num_neighbors: u32,
}

/// Elements that are being merged, by number in the order of elimination.
pub(super) struct Amalgamation {
    /// By vertex: the next one in the ring of its element.
    next_in_set: Vec<u32>,
    elements: Vec<Element>,
    /// By element: its first child, and the next child of its parent.
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    roots: Vec<u32>,
}

/// Time of a front with some pivots and some vertices on its border, in products of two tiles.
fn cost(num_pivots: u32, num_neighbors: u32) -> f64 {
    let p = f64::from(num_pivots.div_ceil(TILE_VERTICES));
    let b = f64::from(num_neighbors.div_ceil(TILE_VERTICES));
    let update = b * (b + 1.0) / 2.0;
    let products = p * p * (p / 6.0 + b / 2.0) + p * update;
    products + PER_FRONT + PER_PIVOT_TILE * p + PER_BORDER_TILE * p * b + PER_UPDATE_TILE * update
}

impl Amalgamation {
    pub(super) fn new(next_in_set: Vec<u32>, elements: Vec<Element>) -> Self {
        let n = elements.len();
        let mut all = Self {
            elements,
            first_child: vec![NONE; n],
            next_sibling: vec![NONE; n],
            roots: vec![],
            next_in_set,
        };
        let mut number = vec![NONE; all.next_in_set.len()];
        for (k, element) in all.elements.iter().enumerate() {
            number[element.pivot as usize] = k as u32;
        }
        // From the last on, so that children are in the order of elimination.
        for k in (0..n).rev() {
            let parent = all.elements[k].parent;
            if parent == NONE {
                all.roots.push(k as u32);
            } else {
                let parent = number[parent as usize] as usize;
                all.next_sibling[k] = std::mem::replace(&mut all.first_child[parent], k as u32);
            }
        }
        all.roots.reverse();
        all
    }

    /// Merges elements and returns the tree of the rest.
    pub(super) fn tree(mut self) -> EliminationTree {
        let mut children = vec![];
        for k in 0..self.elements.len() {
            children.clear();
            self.collect_children(k as u32, &mut children);
            // Those with the largest borders add the fewest zeros.
            let size = |k: &u32| {
                let element = &self.elements[*k as usize];
                (element.num_neighbors, element.num_pivots)
            };
            children.sort_by(|a, b| size(b).cmp(&size(a)).then(a.cmp(b)));
            self.merge_into(k as u32, &children);
        }
        self.postordered()
    }

    fn collect_children(&self, k: u32, children: &mut Vec<u32>) {
        let mut child = self.first_child[k as usize];
        while child != NONE {
            children.push(child);
            child = self.next_sibling[child as usize];
        }
    }

    fn merge_into(&mut self, k: u32, children: &[u32]) {
        let mut own = self.elements[k as usize];
        let mut left = NONE;
        let mut own_cost = cost(own.num_pivots, own.num_neighbors);
        for child in children {
            let other = self.elements[*child as usize];
            let merged = cost(own.num_pivots + other.num_pivots, own.num_neighbors);
            if merged <= own_cost + cost(other.num_pivots, other.num_neighbors) {
                own.num_pivots += other.num_pivots;
                own_cost = merged;
                self.next_in_set
                    .swap(own.pivot as usize, other.pivot as usize);
                let mut grandchild = self.first_child[*child as usize];
                while grandchild != NONE {
                    let next = self.next_sibling[grandchild as usize];
                    self.next_sibling[grandchild as usize] = left;
                    left = grandchild;
                    grandchild = next;
                }
            } else {
                self.next_sibling[*child as usize] = left;
                left = *child;
            }
        }
        self.first_child[k as usize] = left;
        self.elements[k as usize] = own;
    }

    fn postordered(&self) -> EliminationTree {
        let mut tree = EliminationTree::default();
        let mut roots = vec![];
        // Elements whose children have been visited or not, and numbers of nodes that still lack a
        // parent.
        let (mut stack, mut nodes) = (vec![], vec![]);
        for root in &self.roots {
            stack.push((*root, false, 0));
            while let Some((k, is_done, first_node)) = stack.pop() {
                if is_done {
                    let pivot = self.elements[k as usize].pivot;
                    let next =
                        |v: &u32| Some(self.next_in_set[*v as usize]).filter(|v| *v != pivot);
                    let vertices = std::iter::successors(Some(pivot), next);
                    let node = tree.push(vertices, &nodes[first_node..]);
                    nodes.truncate(first_node);
                    nodes.push(node);
                    continue;
                }
                stack.push((k, true, nodes.len()));
                let mut child = self.first_child[k as usize];
                while child != NONE {
                    stack.push((child, false, 0));
                    child = self.next_sibling[child as usize];
                }
            }
            roots.append(&mut nodes);
        }
        tree.set_roots(roots);
        tree
    }
}
