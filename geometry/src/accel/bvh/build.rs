//! Top-down construction of a tree.

use super::box32::Box32;
use super::morton::{self, MortonKey};
use wide::f32x4;

/// Exclusive upper bound on the depth of any tree; see [`MAX_UNBALANCED`].
pub(super) const MAX_DEPTH: usize = 96;

/// Number of bins along the axis of a split.
const BINS: usize = 12;
/// Number of items up to which they are sorted along a curve, because evaluating all bins costs
/// more than it gains.
const FEW: usize = 1024;
/// Depth from which on items are halved by count. With fewer than 2^32 items, a tree is then at
/// most this deep, plus the levels of one curve, plus 33.
const MAX_UNBALANCED: u32 = MAX_DEPTH as u32 - morton::LEVELS - 34;

/// Pending subtree: a range of items and its parent node.
#[derive(Clone)]
struct BuildTask {
    first: usize,
    end: usize,
    /// Parent node, if this is its right child.
    parent: Option<u32>,
    depth: u32,
    /// True if the range indexes the sorted keys, false if it indexes the entries.
    sorted: bool,
}

/// Storage that is reused when a tree is rebuilt.
#[derive(Clone, Default)]
pub(super) struct BuildScratch {
    /// Boxes with their items, reordered during construction.
    entries: Vec<Box32>,
    keys: Vec<MortonKey>,
    spare_keys: Vec<MortonKey>,
    tasks: Vec<BuildTask>,
}

impl BuildScratch {
    /// Builds the tree of `boxes`, reusing the storage. The boxes of inner nodes are left empty.
    pub(super) fn build(
        &mut self,
        boxes: &[Box32],
        nodes: &mut Vec<Box32>,
        parents: &mut Vec<u32>,
        leaves: &mut Vec<u32>,
    ) {
        let n = boxes.len();
        nodes.clear();
        parents.clear();
        leaves.clear();
        leaves.resize(n, 0);
        if n == 0 {
            return;
        }
        nodes.reserve(2 * n - 1);
        parents.reserve(2 * n - 1);
        self.begin(boxes);
        while let Some(task) = self.tasks.pop() {
            let node = nodes.len() as u32;
            if let Some(parent) = task.parent {
                nodes[parent as usize].lower[3] = f32::from_bits(node);
            }
            // A left child directly follows its parent.
            parents.push(task.parent.unwrap_or(node.saturating_sub(1)));
            if task.end - task.first == 1 {
                let leaf = self.leaf(&task);
                nodes.push(leaf);
                leaves[leaf.item() as usize] = node;
            } else {
                nodes.push(Box32::EMPTY.with_links(0, 0));
                self.divide(&task, node);
            }
        }
    }

    fn begin(&mut self, boxes: &[Box32]) {
        let entry = |(item, b): (usize, &Box32)| b.with_links(0, item as u32);
        self.entries.clear();
        self.entries.extend(boxes.iter().enumerate().map(entry));
        self.keys.clear();
        self.keys.extend(0..boxes.len() as MortonKey);
        self.spare_keys.resize(boxes.len().min(FEW), 0);
        self.tasks.push(BuildTask {
            first: 0,
            end: boxes.len(),
            parent: None,
            depth: 0,
            sorted: false,
        });
    }

    /// Returns the only entry of a task.
    fn leaf(&self, task: &BuildTask) -> Box32 {
        let of_key = || morton::entry(self.keys[task.first]);
        self.entries[if task.sorted { of_key() } else { task.first }]
    }

    /// Creates the tasks for both children of a node.
    fn divide(&mut self, task: &BuildTask, node: u32) {
        let (range, depth) = (task.first..task.end, task.depth);
        let sorted = task.sorted || range.len() <= FEW;
        let half = if sorted {
            let keys = &mut self.keys[range.clone()];
            let mut half = task.sorted.then(|| morton::middle(keys)).flatten();
            // Items in the same smallest cell are sorted along a new curve within it.
            if half.is_none() && (!task.sorted || depth < MAX_UNBALANCED) {
                morton::sort(&self.entries, keys, &mut self.spare_keys);
                half = morton::middle(keys);
            }
            half.unwrap_or(range.len() / 2)
        } else {
            split(&mut self.entries[range.clone()], depth)
        };
        let task = |first, end, parent| BuildTask {
            first,
            end,
            parent,
            depth: depth + 1,
            sorted,
        };
        let middle = range.start + half;
        self.tasks.push(task(middle, range.end, Some(node)));
        self.tasks.push(task(range.start, middle, None));
    }
}

/// Partitions the entries between both children. Returns how many go to the left child; these come
/// first.
fn split(entries: &mut [Box32], depth: u32) -> usize {
    let (mut low, mut high) = (f32x4::splat(f32::INFINITY), f32x4::splat(f32::NEG_INFINITY));
    for b in entries.iter() {
        let x = b.twice_center();
        (low, high) = (low.fast_min(x), high.fast_max(x));
    }
    let (origin, width) = (low.to_array(), (high - low).to_array());
    let longest = (0..3).max_by(|a, b| width[*a].total_cmp(&width[*b]));
    let axis = longest.unwrap_or(0);
    let scale = BINS as f32 / width[axis];
    let place = |b: &Box32| b.twice_center().to_array()[axis];
    // The conversion to an integer saturates, so an infinite scale is harmless.
    let bin = |b: &Box32| (((place(b) - origin[axis]) * scale) as usize).min(BINS - 1);
    if width[axis] > 0.0
        && depth < MAX_UNBALANCED
        && let Some(at) = cheapest(entries, bin)
    {
        let half = partition(entries, |b| bin(b) < at);
        if half > 0 && half < entries.len() {
            return half;
        }
    }
    let half = entries.len() / 2;
    entries.select_nth_unstable_by(half, |a, b| {
        place(a).total_cmp(&place(b)).then(a.item().cmp(&b.item()))
    });
    half
}

/// Returns the first bin of the right side that minimises the sum, over both sides, of the number
/// of items times the surface area.
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

/// Moves the boxes for which `first` is true to the front and returns their number.
fn partition(entries: &mut [Box32], first: impl Fn(&Box32) -> bool) -> usize {
    let mut count = 0;
    for i in 0..entries.len() {
        // The side of a box is hard to predict, so the loop is branch-free. Boxes from `count` on
        // may be swapped with each other.
        let is_first = first(&entries[i]);
        entries.swap(i, count);
        count += usize::from(is_first);
    }
    count
}
