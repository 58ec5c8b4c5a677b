//! Solution with the factors of all fronts, on several threads where these have much to read.

use super::fronts::{Front, Fronts};
use super::solve::{SubtreeVector, solve_backward, solve_forward};
use rayon::prelude::*;
use std::ops::Range;
use tarragon_framework::simd::{LaneKernel, Pack, dispatch_lanes};

/// Solution with a factor, of vectors in the order of elimination.
#[derive(Clone, Copy)]
pub(super) struct Solution<'a> {
    pub(super) fronts: &'a Fronts,
    pub(super) values: &'a [f64],
}

/// A child of a front: its number, its part of a vector, and a vector of its own for the vertices
/// of that front and all later ones.
type Child<'x> = (usize, &'x mut [f64], Vec<f64>);

impl Solution<'_> {
    /// Replaces the right side by the solution.
    pub(super) fn solve(self, x: &mut [f64]) {
        for (root, mut x) in self.of_roots(x) {
            self.forward(root, &mut x);
            self.backward(root, &mut x);
        }
    }

    /// Replaces all but the pivots of the last front, which are known, by the solution that has no
    /// right side there.
    pub(super) fn extend(self, x: &mut [f64]) {
        for (root, mut x) in self.of_roots(x) {
            self.backward_below(root, &mut x);
        }
    }

    /// Splits a vector into those of the roots.
    fn of_roots<'x>(self, x: &'x mut [f64]) -> impl Iterator<Item = (usize, SubtreeVector<'x>)> {
        let mut rest = x;
        self.fronts.roots.iter().map(move |root| {
            let root = *root as usize;
            let (first, end) = (self.subtree(root).1, self.fronts.fronts[root].pivots.end);
            let (inner, others) = std::mem::take(&mut rest).split_at_mut(3 * (end - first));
            rest = others;
            let x = SubtreeVector {
                first,
                inner,
                outer_first: end,
                outer: &mut [],
            };
            (root, x)
        })
    }

    /// Returns the first front of the subtree of another, and the rank of its first pivot.
    fn subtree(self, mut n: usize) -> (usize, usize) {
        loop {
            let front = &self.fronts.fronts[n];
            let Some(child) = self.fronts.children[front.children.clone()].first() else {
                return (n, front.pivots.start);
            };
            n = *child as usize;
        }
    }

    fn run(self, fronts: Range<usize>, x: &mut SubtreeVector<'_>, is_forward: bool) {
        dispatch_lanes(Substitution {
            all: self,
            fronts,
            x,
            is_forward,
        });
    }

    fn forward(self, n: usize, x: &mut SubtreeVector<'_>) {
        let front = &self.fronts.fronts[n];
        if !front.has_tasks {
            return self.run(self.subtree(n).0..n + 1, x, true);
        }
        let (mut children, mut later) = self.children(front, x);
        // The same sums for any number of threads.
        let zeros = |sum: &mut Vec<f64>| sum.resize(later.len(), 0.0);
        self.for_each(&mut children, front, zeros, Self::forward);
        for (.., sum) in &children {
            later.add(sum);
        }
        self.run(n..n + 1, x, true);
    }

    fn backward(self, n: usize, x: &mut SubtreeVector<'_>) {
        let front = &self.fronts.fronts[n];
        if !front.has_tasks {
            return self.run(self.subtree(n).0..n + 1, x, false);
        }
        self.run(n..n + 1, x, false);
        self.backward_below(n, x);
    }

    /// Does the same for the children of a front that is done.
    fn backward_below(self, n: usize, x: &mut SubtreeVector<'_>) {
        let front = &self.fronts.fronts[n];
        if !front.has_tasks {
            return self.run(self.subtree(n).0..n, x, false);
        }
        let (mut children, later) = self.children(front, x);
        let copy = |all: &mut Vec<f64>| later.copy_to(all);
        self.for_each(&mut children, front, copy, Self::backward);
    }

    /// Calls a function for all children of a front, after their vectors of later vertices were
    /// prepared.
    fn for_each(
        self,
        children: &mut [Child<'_>],
        front: &Front,
        prepare: impl Fn(&mut Vec<f64>) + Sync,
        f: impl Fn(Self, usize, &mut SubtreeVector<'_>) + Sync,
    ) {
        children.par_iter_mut().for_each(|(child, inner, outer)| {
            prepare(outer);
            let mut x = SubtreeVector {
                first: self.subtree(*child).1,
                inner,
                outer_first: front.pivots.start,
                outer,
            };
            f(self, *child, &mut x);
        });
    }

    /// Splits the vector of the subtree of a front into those of its children and the numbers of
    /// its pivots and all later vertices.
    fn children<'x>(
        self,
        front: &Front,
        x: &'x mut SubtreeVector<'_>,
    ) -> (Vec<Child<'x>>, Later<'x>) {
        let (mut rest, own) = x.inner.split_at_mut(3 * (front.pivots.start - x.first));
        let later = Later {
            own,
            gap: 3 * (x.outer_first - front.pivots.end),
            outer: x.outer,
        };
        let children = self.fronts.children[front.children.clone()].iter();
        let split = children.map(|child| {
            let n = *child as usize;
            let len = 3 * (self.fronts.fronts[n].pivots.end - self.subtree(n).1);
            let (inner, others) = std::mem::take(&mut rest).split_at_mut(len);
            rest = others;
            (n, inner, vec![])
        });
        (split.collect(), later)
    }
}

/// Numbers of the pivots of a front and of all later vertices, with a gap between those of its
/// subtree and others.
struct Later<'a> {
    own: &'a mut [f64],
    gap: usize,
    outer: &'a mut [f64],
}

impl Later<'_> {
    fn len(&self) -> usize {
        self.own.len() + self.gap + self.outer.len()
    }

    fn add(&mut self, sum: &[f64]) {
        let outer = &sum[self.len() - self.outer.len()..];
        let own = self.own.iter_mut().zip(sum);
        let outer = self.outer.iter_mut().zip(outer);
        own.chain(outer).for_each(|(x, y)| *x += y);
    }

    fn copy_to(&self, all: &mut Vec<f64>) {
        all.extend_from_slice(self.own);
        all.resize(self.own.len() + self.gap, 0.0);
        all.extend_from_slice(self.outer);
    }
}

/// One pass over fronts that follow each other.
struct Substitution<'a, 'x, 'y> {
    all: Solution<'a>,
    fronts: Range<usize>,
    x: &'x mut SubtreeVector<'y>,
    is_forward: bool,
}

impl LaneKernel for Substitution<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<P: Pack>(self, zero: P) {
        let Solution { fronts, values } = self.all;
        let fronts_of_pass = fronts.fronts[self.fronts].iter();
        if self.is_forward {
            fronts_of_pass.for_each(|front| solve_forward(zero, fronts, front, values, self.x))
        } else {
            fronts_of_pass
                .rev()
                .for_each(|front| solve_backward(zero, fronts, front, values, self.x))
        }
    }
}
