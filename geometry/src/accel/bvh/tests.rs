//! Comparison of traversals with brute force.

use super::build::MAX_DEPTH;
use super::*;
use nalgebra::Vector3;
use proptest::prelude::*;

fn boxes(n: usize) -> impl Strategy<Value = Vec<Box32>> {
    let one = (
        [(); 3].map(|()| -5.0..5.0_f64),
        [(); 3].map(|()| 0.0..1.0_f64),
        0..8_u8,
    )
        .prop_map(|(c, h, big)| {
            let scale = if big == 0 { 5.0 } else { 0.5 };
            Box32::around(&Vector3::from(c), &(Vector3::from(h) * scale))
        });
    proptest::collection::vec(one, 0..n)
}

fn pairs(tree: &Bvh, margin: f32) -> Vec<(u32, u32)> {
    let mut found = vec![];
    tree.for_each_pair(margin, |a, b| found.push((a.min(b), a.max(b))));
    found.sort_unstable();
    found
}

fn brute_force(a: &[Box32], b: &[Box32], margin: f32) -> Vec<(u32, u32)> {
    let mut found = vec![];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            if x.is_near(y, margin) {
                found.push((i as u32, j as u32));
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn traversals_find_the_same_items_as_brute_force(
        mut a in boxes(60),
        b in boxes(60),
        moved in proptest::collection::vec(([(); 3].map(|()| -5.0..5.0_f64), 0..60_usize), 0..40),
        margin in prop_oneof![Just(0.0), 0.0..2.0_f32],
    ) {
        let mut tree = Bvh::new(&a);
        let mut changed = vec![];
        for (p, i) in &moved {
            if *i < a.len() {
                a[*i] = Box32::around(&Vector3::from(*p), &Vector3::repeat(0.3));
                changed.push(*i as u32);
            }
        }
        tree.refit(&a, &changed);
        let mut all = brute_force(&a, &a, margin);
        all.retain(|(i, j)| i < j);
        prop_assert_eq!(pairs(&tree, margin), all);
        let mut found = vec![];
        tree.for_each_pair_with(&Bvh::new(&b), margin, |i, j| found.push((i, j)));
        found.sort_unstable();
        prop_assert_eq!(found, brute_force(&a, &b, margin));
        for b in &b {
            let mut found = vec![];
            tree.for_each_near(b, margin, |i| found.push(i));
            found.sort_unstable();
            let all: Vec<u32> = (0..a.len() as u32).filter(|i| a[*i as usize].is_near(b, margin)).collect();
            prop_assert_eq!(found, all);
        }
    }
}

/// Coincident boxes, and boxes whose sizes grow geometrically, make the deepest trees.
#[test]
fn degenerate_scenes_stay_within_the_maximum_depth() {
    let same = vec![Box32::around(&Vector3::zeros(), &Vector3::repeat(1.0)); 1000];
    let towers = (0..1000).map(|i| {
        let size = 1.2_f64.powi(i % 400);
        Box32::around(&Vector3::repeat(size), &Vector3::repeat(0.1 * size))
    });
    for boxes in [same, towers.collect()] {
        let tree = Bvh::new(&boxes);
        let depth = |mut node: u32| {
            let mut depth = 0;
            while node != 0 {
                (node, depth) = (tree.parents[node as usize], depth + 1);
            }
            depth
        };
        let deepest = tree.leaves.iter().map(|l| depth(*l)).max();
        assert!(deepest < Some(MAX_DEPTH - 1), "{deepest:?}");
        let all = brute_force(&boxes, &boxes, 0.0);
        let all: Vec<(u32, u32)> = all.into_iter().filter(|(i, j)| i < j).collect();
        assert_eq!(pairs(&tree, 0.0), all);
    }
}
