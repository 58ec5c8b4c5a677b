//! Balls around vectors, such as normals and gradients, for the nodes of a tree.

use super::obb_tree::{LEAF, ObbTree, ROUNDING, WIDTH, single};
use nalgebra::Vector3;
use wide::f32x4;

/// Four balls around vectors, one per lane.
pub(super) struct FourBalls {
    pub(super) center: [f32x4; 3],
    /// Negative infinity where there is no element. Includes rounding.
    pub(super) radius: f32x4,
}

/// Returns, for every node of a tree, the balls of its children around the vectors of the
/// elements.
pub(super) fn balls_of(tree: &ObbTree, vectors: &[Vector3<f64>]) -> Vec<[FourBalls; WIDTH / 4]> {
    let none = || FourBalls {
        center: [f32x4::splat(0.0); 3],
        radius: f32x4::splat(f32::NEG_INFINITY),
    };
    let mut balls: Vec<_> = tree.nodes.iter().map(|_| [none(), none()]).collect();
    if !balls.is_empty() {
        add_balls(&mut balls, tree, vectors, 0);
    }
    balls
}

/// Sets the balls of a node and of all below it, and returns its vectors.
fn add_balls(
    balls: &mut [[FourBalls; WIDTH / 4]],
    tree: &ObbTree,
    vectors: &[Vector3<f64>],
    node: usize,
) -> Vec<Vector3<f64>> {
    let mut all = vec![];
    let node_of_tree = &tree.nodes[node];
    for (k, link) in node_of_tree.links.iter().enumerate() {
        if !node_of_tree.has_child(k) {
            continue;
        }
        let own = match link & LEAF {
            0 => add_balls(balls, tree, vectors, *link as usize),
            _ => vec![vectors[(link & !LEAF) as usize]],
        };
        let center = own.iter().sum::<Vector3<f64>>() / own.len() as f64;
        let distances = own.iter().map(|v| (v - center).norm());
        let radius = distances.fold(0.0, f64::max);
        let rounding = ROUNDING * (center.norm() + radius);
        let four = &mut balls[node][k / 4];
        for (lanes, x) in four.center.iter_mut().zip(single(center)) {
            lanes.as_mut_array()[k % 4] = x;
        }
        four.radius.as_mut_array()[k % 4] = (radius + rounding) as f32;
        all.extend(own);
    }
    all
}
