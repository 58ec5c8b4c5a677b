//! Nearest neighbours by a k-d tree (J. L. Bentley: Multidimensional binary search trees used for
//! associative searching, 1975).

use nalgebra::Vector3;
use std::collections::BinaryHeap;

/// A balanced tree without pointers: the root of a range of nodes is its middle element, its
/// children are the roots of the two halves.
pub(super) struct KdTree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    point: Vector3<f32>,
    number: u32,
    /// The axis along which the children are separated.
    axis: u8,
}

/// A neighbour. Neighbours are ordered by distance, and by number if equally distant, so that the
/// choice does not depend on the shape of the tree.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Neighbour {
    squared_distance: f32,
    pub(super) number: u32,
}

impl Eq for Neighbour {}
impl PartialOrd for Neighbour {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Neighbour {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_distance = self.squared_distance.total_cmp(&other.squared_distance);
        by_distance.then(self.number.cmp(&other.number))
    }
}

impl KdTree {
    /// Builds the tree of all points that are finite.
    pub(super) fn new(points: &[Vector3<f32>]) -> Self {
        let numbered = points.iter().zip(0_u32..);
        let finite = numbered.filter(|(p, _)| p.iter().all(|x| x.is_finite()));
        let mut nodes: Vec<Node> = finite
            .map(|(point, number)| Node {
                point: *point,
                number,
                axis: 0,
            })
            .collect();
        split(&mut nodes);
        Self { nodes }
    }

    /// Collects the nearest points within `radius` of a point in `found`, at most `count`.
    pub(super) fn nearest(
        &self,
        point: &Vector3<f32>,
        radius: f32,
        count: usize,
        found: &mut BinaryHeap<Neighbour>,
    ) {
        found.clear();
        search(&self.nodes, point, radius * radius, count, found);
    }
}

fn split(nodes: &mut [Node]) {
    if nodes.len() < 2 {
        return;
    }
    let (mut low, mut high) = (nodes[0].point, nodes[0].point);
    for node in &*nodes {
        (low, high) = (low.inf(&node.point), high.sup(&node.point));
    }
    let axis = (high - low).imax();
    let middle = nodes.len() / 2;
    let by_axis = |a: &Node, b: &Node| {
        let order = a.point[axis].total_cmp(&b.point[axis]);
        order.then(a.number.cmp(&b.number))
    };
    let (left, node, right) = nodes.select_nth_unstable_by(middle, by_axis);
    node.axis = axis as u8;
    if left.len() > 4096 {
        rayon::join(|| split(left), || split(right));
    } else {
        split(left);
        split(right);
    }
}

fn search(
    nodes: &[Node],
    point: &Vector3<f32>,
    squared_radius: f32,
    count: usize,
    found: &mut BinaryHeap<Neighbour>,
) {
    if nodes.is_empty() {
        return;
    }
    let middle = nodes.len() / 2;
    let node = &nodes[middle];
    let neighbour = Neighbour {
        squared_distance: (node.point - point).norm_squared(),
        number: node.number,
    };
    if neighbour.squared_distance <= squared_radius {
        if found.len() < count {
            found.push(neighbour);
        } else if let Some(mut farthest) = found.peek_mut()
            && neighbour < *farthest
        {
            *farthest = neighbour;
        }
    }
    let axis = usize::from(node.axis);
    let beyond = point[axis] - node.point[axis];
    let (near, far) = if beyond < 0.0 {
        (&nodes[..middle], &nodes[middle + 1..])
    } else {
        (&nodes[middle + 1..], &nodes[..middle])
    };
    search(near, point, squared_radius, count, found);
    let reach = match found.peek() {
        Some(farthest) if found.len() == count => farthest.squared_distance,
        _ => squared_radius,
    };
    if beyond * beyond <= reach {
        search(far, point, squared_radius, count, found);
    }
}
