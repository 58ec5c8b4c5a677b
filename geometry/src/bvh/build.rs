//! Building a tree from the top.

use super::{Box32, Bvh};

/// Classes of positions along the axis that is split.
const BINS: usize = 12;
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
    entries: Vec<Entry>,
    tasks: Vec<Task>,
}

/// A box and its item while building, so that memory is read in order.
#[derive(Clone, Copy)]
struct Entry {
    bounds: Box32,
    item: u32,
}

impl Entry {
    /// Twice the centre along an axis; finite, also for boxes without end.
    #[inline]
    fn place(&self, axis: usize) -> f32 {
        let bound = |x: f32| x.clamp(-1e38, 1e38);
        bound(self.bounds.lower[axis]) + bound(self.bounds.upper[axis])
    }
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
        let entry = |(item, bounds): (usize, &Box32)| Entry {
            bounds: *bounds,
            item: item as u32,
        };
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
                self.nodes.push(leaf.bounds.with_links(0, leaf.item));
                self.leaves[leaf.item as usize] = node;
                continue;
            }
            let all = range.iter().map(|e| &e.bounds);
            let bounds = all.fold(Box32::EMPTY, |all, b| all.union(b));
            self.nodes.push(bounds.with_links(0, 0));
            let middle = task.first + split(range, task.depth) as u32;
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
fn split(entries: &mut [Entry], depth: u32) -> usize {
    let half = entries.len() / 2;
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for e in entries.iter() {
        for axis in 0..3 {
            let x = e.place(axis);
            (low[axis], high[axis]) = (low[axis].min(x), high[axis].max(x));
        }
    }
    let width = |axis: &usize| high[*axis] - low[*axis];
    let axis = (0..3)
        .max_by(|a, b| width(a).total_cmp(&width(b)))
        .unwrap_or(0);
    // Dividing before multiplying: the inverse of a tiny width would overflow.
    let (origin, extent) = (low[axis], width(&axis));
    let bin = |e: &Entry| {
        let x = (e.place(axis) - origin) / extent * BINS as f32;
        (x as usize).min(BINS - 1)
    };
    if entries.len() > 4
        && extent > 0.0
        && depth < MAX_UNBALANCED
        && let Some(at) = cheapest(entries, bin)
    {
        return partition(entries, |e| bin(e) < at);
    }
    entries.select_nth_unstable_by(half, |a, b| {
        let places = a.place(axis).total_cmp(&b.place(axis));
        places.then(a.item.cmp(&b.item))
    });
    half
}

/// The bin at which the right side begins, by the sum over both sides of items times surface.
fn cheapest(entries: &[Entry], bin: impl Fn(&Entry) -> usize) -> Option<usize> {
    let mut bins = [(Box32::EMPTY, 0_u32); BINS];
    for e in entries {
        let (bounds, count) = &mut bins[bin(e)];
        *bounds = bounds.union(&e.bounds);
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

/// Brings the entries that are `first` to the front; returns how many they are.
fn partition(entries: &mut [Entry], first: impl Fn(&Entry) -> bool) -> usize {
    let mut count = 0;
    for i in 0..entries.len() {
        if first(&entries[i]) {
            entries.swap(i, count);
            count += 1;
        }
    }
    count
}
