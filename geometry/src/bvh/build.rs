//! Building a tree from the top.

use super::{Box32, Bvh};
use wide::f32x4;

/// Classes of positions along the axis that is split.
const BINS: usize = 12;
/// So many items are split in the middle of their centres, because looking at all bins costs more
/// than it gains.
const FEW: usize = 1024;
/// Below this depth items are halved by count. With fewer than 2^32 items a tree is then not deeper
/// than this plus 33.
const MAX_UNBALANCED: u32 = 60;

/// Work to do: a range of items and the node that waits for it.
#[derive(Clone)]
struct Task {
    first: u32,
    end: u32,
    /// The parent, if this is its right child.
    parent: Option<u32>,
    depth: u32,
}

/// Storage that building anew takes again.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    /// Boxes with their items, ordered while the tree grows.
    entries: Vec<Box32>,
    tasks: Vec<Task>,
}

impl Bvh {
    /// Builds the tree of `boxes` in the storage that there is.
    pub(crate) fn build(&mut self, boxes: &[Box32]) {
        let n = boxes.len();
        self.nodes.clear();
        self.parents.clear();
        self.leaves.clear();
        self.leaves.resize(n, 0);
        if n == 0 {
            return;
        }
        self.nodes.reserve(2 * n - 1);
        self.parents.reserve(2 * n - 1);
        let entry = |(item, b): (usize, &Box32)| b.with_links(0, item as u32);
        let Scratch {
            mut entries,
            mut tasks,
        } = std::mem::take(&mut self.scratch);
        entries.clear();
        entries.extend(boxes.iter().enumerate().map(entry));
        tasks.push(Task {
            first: 0,
            end: n as u32,
            parent: None,
            depth: 0,
        });
        while let Some(task) = tasks.pop() {
            let node = self.nodes.len() as u32;
            if let Some(parent) = task.parent {
                self.nodes[parent as usize].lower[3] = f32::from_bits(node);
            }
            // A left child comes right behind its parent.
            self.parents
                .push(task.parent.unwrap_or(node.saturating_sub(1)));
            let range = &mut entries[task.first as usize..task.end as usize];
            if let [leaf] = range {
                self.nodes.push(*leaf);
                self.leaves[leaf.item() as usize] = node;
                continue;
            }
            let (bounds, half) = split(range, task.depth);
            self.nodes.push(bounds.with_links(0, 0));
            let middle = task.first + half as u32;
            let depth = task.depth + 1;
            tasks.push(Task {
                first: middle,
                end: task.end,
                parent: Some(node),
                depth,
            });
            tasks.push(Task {
                first: task.first,
                end: middle,
                parent: None,
                depth,
            });
        }
        self.scratch = Scratch { entries, tasks };
    }
}

/// Orders at least two entries so that the first ones, which are counted, go to the left child.
/// Returns the box of all, too.
fn split(entries: &mut [Box32], depth: u32) -> (Box32, usize) {
    let mut bounds = Box32::EMPTY;
    let (mut low, mut high) = (f32x4::splat(f32::INFINITY), f32x4::splat(f32::NEG_INFINITY));
    for b in entries.iter() {
        bounds = bounds.union(b);
        let x = b.twice_center();
        (low, high) = (low.fast_min(x), high.fast_max(x));
    }
    let (origin, width) = (low.to_array(), (high - low).to_array());
    let longest = (0..3).max_by(|a, b| width[*a].total_cmp(&width[*b]));
    let axis = longest.unwrap_or(0);
    let scale = BINS as f32 / width[axis];
    let place = |b: &Box32| b.twice_center().to_array()[axis];
    // The conversion saturates, so that a scale without bound does no harm.
    let bin = |b: &Box32| (((place(b) - origin[axis]) * scale) as usize).min(BINS - 1);
    if width[axis] > 0.0 && depth < MAX_UNBALANCED && entries.len() > 2 {
        let half = if entries.len() > FEW {
            cheapest(entries, bin).map(|at| partition(entries, |b| bin(b) < at))
        } else {
            let middle = origin[axis] + 0.5 * width[axis];
            Some(partition(entries, |b| place(b) < middle))
        };
        if let Some(half) = half
            && half > 0
            && half < entries.len()
        {
            return (bounds, half);
        }
    }
    let half = entries.len() / 2;
    entries.select_nth_unstable_by(half, |a, b| {
        place(a).total_cmp(&place(b)).then(a.item().cmp(&b.item()))
    });
    (bounds, half)
}

/// The bin at which the right side begins, by the sum over both sides of items times surface.
fn cheapest(entries: &[Box32], bin: impl Fn(&Box32) -> usize) -> Option<usize> {
    let mut bins = [(Box32::EMPTY, 0_u32); BINS];
    for b in entries {
        let (bounds, count) = &mut bins[bin(b)];
        *bounds = bounds.union(b);
        *count += 1;
    }
    let mut right_costs = [0.0; BINS];
    let (mut bounds, mut count) = (Box32::EMPTY, 0);
    for i in (1..BINS).rev() {
        (bounds, count) = (bounds.union(&bins[i].0), count + bins[i].1);
        right_costs[i] = bounds.half_area() * count as f32;
    }
    let (mut bounds, mut left) = (Box32::EMPTY, 0);
    let mut best: Option<(f32, usize)> = None;
    for i in 1..BINS {
        (bounds, left) = (bounds.union(&bins[i - 1].0), left + bins[i - 1].1);
        if left == 0 || left as usize == entries.len() {
            continue;
        }
        let cost = bounds.half_area() * left as f32 + right_costs[i];
        if cost.is_finite() && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, i));
        }
    }
    best.map(|(_, at)| at)
}

/// Brings the boxes that are `first` to the front; returns how many they are.
fn partition(entries: &mut [Box32], first: impl Fn(&Box32) -> bool) -> usize {
    let mut count = 0;
    for i in 0..entries.len() {
        // Which side a box goes to is hard to predict, so there is no branch; those from `count` on
        // may be swapped with each other.
        let is_first = first(&entries[i]);
        entries.swap(i, count);
        count += usize::from(is_first);
    }
    count
}
