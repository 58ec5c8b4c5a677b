//! Order of elimination by approximate minimum degree.
//!
//! The graph of a partly eliminated matrix is stored as a *quotient graph*: each eliminated set of
//! vertices is an *element*, whose neighbors are neighbors of each other. Vertices with the same
//! neighbors are merged and eliminated together. Degrees are upper bounds, which take one pass
//! over the elements next to a pivot.
//!
//! Source: P. Amestoy, T. Davis, I. Duff, "An Approximate Minimum Degree Ordering Algorithm", SIAM
//! Journal on Matrix Analysis and Applications, 1996.

use super::amalgamation::{Amalgamation, Element};
use super::pattern::BlockPattern;
use super::tree::EliminationTree;

const NONE: u32 = u32::MAX;

impl EliminationTree {
    /// Orders the vertices of a pattern by approximate minimum degree, and merges them into nodes
    /// that fill the tiles of a [`SparseCholesky`](super::SparseCholesky). The same pattern always
    /// has the same tree.
    pub fn minimum_degree(pattern: &BlockPattern) -> Self {
        let mut graph = QuotientGraph::new(pattern);
        graph.merge_equal_vertices(pattern);
        graph.eliminate_all();
        Amalgamation::new(graph.next_in_set, graph.elements).tree()
    }
}

#[derive(Debug, Default)]
struct QuotientGraph {
    /// By vertex: the number of vertices that it stands for; 0 if another one stands for it, or it
    /// has been eliminated.
    weights: Vec<u32>,
    /// By vertex: the next one in the ring of those that are eliminated together.
    next_in_set: Vec<u32>,
    /// By vertex: its lists in `adjacent`: elements first, then vertices.
    lists: Vec<Adjacency>,
    adjacent: Vec<u32>,
    /// By pivot: the neighbors of its element in `members`, and their weight.
    members_of: Vec<(u32, u32)>,
    members: Vec<u32>,
    member_weights: Vec<u32>,
    /// By pivot: the element that took its place.
    parents: Vec<u32>,
    /// By vertex or element: the last pass that saw it, plus a number of that pass. Elements that
    /// have been absorbed have 0.
    stamps: Vec<u64>,
    /// Larger than all stamps.
    next_stamp: u64,
    degrees: DegreeLists,
    /// Elements in the order of elimination.
    elements: Vec<Element>,
    /// Vertices with their hashes.
    hashes: Vec<(u64, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Adjacency {
    start: u32,
    num_elements: u32,
    num_vertices: u32,
}

impl QuotientGraph {
    fn new(pattern: &BlockPattern) -> Self {
        let n = pattern.num_vertices();
        let mut adjacent = Vec::with_capacity(2 * pattern.edges().len());
        let lists = (0..n as u32).map(|v| {
            let start = adjacent.len() as u32;
            adjacent.extend(pattern.neighbors(v).iter().map(|(w, _)| *w));
            Adjacency {
                start,
                num_elements: 0,
                num_vertices: adjacent.len() as u32 - start,
            }
        });
        Self {
            lists: lists.collect(),
            adjacent,
            weights: vec![1; n],
            next_in_set: (0..n as u32).collect(),
            members_of: vec![(0, 0); n],
            member_weights: vec![0; n],
            parents: vec![NONE; n],
            stamps: vec![1; n],
            next_stamp: 2,
            degrees: DegreeLists::new(n),
            ..Self::default()
        }
    }

    /// Merges neighboring vertices that have the same neighbors otherwise.
    fn merge_equal_vertices(&mut self, pattern: &BlockPattern) {
        for v in 0..pattern.num_vertices() as u32 {
            let around = pattern.neighbors(v).iter();
            let hash = around.fold(u64::from(v), |sum, (w, _)| sum + u64::from(*w));
            self.hashes.push((hash, v));
        }
        self.hashes.sort_unstable();
        let hashes = std::mem::take(&mut self.hashes);
        for same in hashes.chunk_by(|a, b| a.0 == b.0) {
            for (k, (_, v)) in same.iter().enumerate() {
                if self.weights[*v as usize] == 0 || k + 1 == same.len() {
                    continue;
                }
                let stamp = self.new_stamp();
                self.stamps[*v as usize] = stamp;
                for (w, _) in pattern.neighbors(*v) {
                    self.stamps[*w as usize] = stamp;
                }
                for (_, other) in &same[k + 1..] {
                    let around = pattern.neighbors(*other);
                    if around.len() == pattern.neighbors(*v).len()
                        && self.weights[*other as usize] > 0
                        && self.stamps[*other as usize] == stamp
                        && around
                            .iter()
                            .all(|(w, _)| self.stamps[*w as usize] == stamp)
                    {
                        self.merge(*v, *other);
                    }
                }
            }
        }
        self.hashes = hashes;
    }

    /// Lets a vertex stand for another one as well.
    fn merge(&mut self, v: u32, other: u32) {
        let (a, b) = (v as usize, other as usize);
        self.weights[a] += self.weights[b];
        self.weights[b] = 0;
        self.next_in_set.swap(a, b);
    }

    fn new_stamp(&mut self) -> u64 {
        self.next_stamp += 1;
        self.next_stamp - 1
    }

    fn eliminate_all(&mut self) {
        let n = self.weights.len();
        for v in (0..n).rev().filter(|v| self.weights[*v] > 0) {
            let list = self.lists[v];
            let start = list.start as usize;
            let around = &self.adjacent[start..start + list.num_vertices as usize];
            let degree: u32 = around.iter().map(|w| self.weights[*w as usize]).sum();
            // Merged vertices have weight 0.
            self.degrees.insert(v as u32, degree);
        }
        let mut remaining = n as u32;
        while let Some(pivot) = self.degrees.pop() {
            self.collect_members(pivot);
            self.measure_elements(pivot);
            self.update_members(pivot);
            self.merge_members();
            let num_pivots = self.weights[pivot as usize];
            remaining -= num_pivots;
            self.insert_members(pivot, remaining);
            self.weights[pivot as usize] = 0;
            let num_neighbors = self.member_weights[pivot as usize];
            if num_neighbors == 0 {
                self.stamps[pivot as usize] = 0;
            }
            self.elements.push(Element {
                pivot,
                parent: NONE,
                num_pivots,
                num_neighbors,
            });
        }
        for element in &mut self.elements {
            element.parent = self.parents[element.pivot as usize];
        }
    }

    fn members(&self, element: u32) -> std::ops::Range<usize> {
        let (start, end) = self.members_of[element as usize];
        start as usize..end as usize
    }

    fn elements_of(&self, v: u32) -> std::ops::Range<usize> {
        let list = self.lists[v as usize];
        list.start as usize..(list.start + list.num_elements) as usize
    }

    /// Finds the neighbors of a pivot, takes them out of the lists of degrees, and absorbs the
    /// elements of the pivot.
    fn collect_members(&mut self, pivot: u32) {
        let first = self.members.len();
        let stamp = self.new_stamp();
        let list = self.lists[pivot as usize];
        self.stamps[pivot as usize] = stamp;
        let mut weight = 0;
        for k in self.elements_of(pivot) {
            let element = self.adjacent[k];
            for m in self.members(element) {
                weight += self.add_member(self.members[m], stamp);
            }
            self.stamps[element as usize] = 0;
            self.parents[element as usize] = pivot;
        }
        let first_vertex = (list.start + list.num_elements) as usize;
        for k in first_vertex..first_vertex + list.num_vertices as usize {
            weight += self.add_member(self.adjacent[k], stamp);
        }
        self.members_of[pivot as usize] = (first as u32, self.members.len() as u32);
        self.member_weights[pivot as usize] = weight;
    }

    fn add_member(&mut self, v: u32, stamp: u64) -> u32 {
        let weight = self.weights[v as usize];
        if weight == 0 || self.stamps[v as usize] == stamp {
            return 0;
        }
        self.stamps[v as usize] = stamp;
        self.members.push(v);
        self.degrees.remove(v);
        weight
    }

    /// Finds, for all elements next to the members of the pivot, the weight of their own members
    /// that are no members of the pivot: as stamps from the next one on.
    fn measure_elements(&mut self, pivot: u32) {
        let base = self.next_stamp;
        for m in self.members(pivot) {
            let v = self.members[m];
            let weight = u64::from(self.weights[v as usize]);
            for k in self.elements_of(v) {
                let element = self.adjacent[k] as usize;
                let stamp = &mut self.stamps[element];
                if *stamp >= base {
                    *stamp -= weight;
                } else if *stamp != 0 {
                    *stamp = base + u64::from(self.member_weights[element]) - weight;
                }
            }
        }
    }

    /// Updates the lists of the members of the pivot, with bounds of their degrees outside of the
    /// pivot's element and hashes of their lists.
    fn update_members(&mut self, pivot: u32) {
        let base = self.next_stamp;
        // Stamps of the members begin here, where the stamps of elements end.
        let member_stamp = base + self.weights.len() as u64 + 1;
        self.next_stamp = member_stamp + 1;
        for m in self.members(pivot) {
            self.stamps[self.members[m] as usize] = member_stamp;
        }
        self.stamps[pivot as usize] = member_stamp;
        self.hashes.clear();
        for m in self.members(pivot) {
            let v = self.members[m];
            let list = self.lists[v as usize];
            let start = list.start as usize;
            let (mut degree, mut hash, mut kept) = (0, 0, start);
            for k in self.elements_of(v) {
                let element = self.adjacent[k];
                let stamp = self.stamps[element as usize];
                if stamp > base {
                    degree += (stamp - base) as u32;
                    hash += u64::from(element);
                    self.adjacent[kept] = element;
                    kept += 1;
                } else if stamp != 0 {
                    // All its members are members of the pivot.
                    self.stamps[element as usize] = 0;
                    self.parents[element as usize] = pivot;
                }
            }
            let num_elements = kept - start;
            let first_vertex = start + list.num_elements as usize;
            for k in first_vertex..first_vertex + list.num_vertices as usize {
                let w = self.adjacent[k];
                let weight = self.weights[w as usize];
                if weight > 0 && self.stamps[w as usize] != member_stamp {
                    degree += weight;
                    hash += u64::from(w);
                    self.adjacent[kept] = w;
                    kept += 1;
                }
            }
            if degree == 0 {
                // It has no neighbors that the pivot has not, so it is eliminated at once.
                self.member_weights[pivot as usize] -= self.weights[v as usize];
                self.merge(pivot, v);
                continue;
            }
            // The pivot's element takes the place of the pivot or of an absorbed element.
            let last = start + num_elements;
            if kept > last {
                self.adjacent[kept] = self.adjacent[last];
            }
            self.adjacent[last] = self.adjacent[start];
            self.adjacent[start] = pivot;
            self.lists[v as usize] = Adjacency {
                start: list.start,
                num_elements: num_elements as u32 + 1,
                num_vertices: (kept - last) as u32,
            };
            self.degrees.lower(v, degree);
            self.hashes.push((hash, v));
        }
    }

    /// Merges members of the pivot with the same lists.
    fn merge_members(&mut self) {
        self.hashes.sort_unstable();
        let hashes = std::mem::take(&mut self.hashes);
        for same in hashes.chunk_by(|a, b| a.0 == b.0) {
            for (k, (_, v)) in same.iter().enumerate() {
                if self.weights[*v as usize] == 0 || k + 1 == same.len() {
                    continue;
                }
                let list = self.lists[*v as usize];
                let len = (list.num_elements + list.num_vertices) as usize;
                let start = list.start as usize;
                let stamp = self.new_stamp();
                for x in &self.adjacent[start + 1..start + len] {
                    self.stamps[*x as usize] = stamp;
                }
                for (_, other) in &same[k + 1..] {
                    let own = self.lists[*other as usize];
                    let start = own.start as usize + 1;
                    if self.weights[*other as usize] > 0
                        && (own.num_elements, own.num_vertices)
                            == (list.num_elements, list.num_vertices)
                        && self.adjacent[start..start + len - 1]
                            .iter()
                            .all(|x| self.stamps[*x as usize] == stamp)
                    {
                        self.merge(*v, *other);
                    }
                }
            }
        }
        self.hashes = hashes;
    }

    /// Puts the members of the pivot that are left back into the lists of degrees.
    fn insert_members(&mut self, pivot: u32, remaining: u32) {
        let all = self.members(pivot);
        let mut end = all.start;
        for m in all.clone() {
            let v = self.members[m];
            let weight = self.weights[v as usize];
            if weight == 0 {
                continue;
            }
            let inside = self.member_weights[pivot as usize] - weight;
            let degree = (self.degrees.of(v) + inside).min(remaining - weight);
            self.degrees.insert(v, degree);
            self.members[end] = v;
            end += 1;
        }
        self.members.truncate(end);
        self.members_of[pivot as usize].1 = end as u32;
    }
}

/// Vertices by degree, in doubly linked lists.
#[derive(Debug, Default)]
struct DegreeLists {
    /// By vertex.
    degrees: Vec<u32>,
    next: Vec<u32>,
    last: Vec<u32>,
    /// By degree: the first vertex.
    first: Vec<u32>,
    /// No vertex has a lower degree.
    lowest: usize,
}

impl DegreeLists {
    fn new(n: usize) -> Self {
        Self {
            degrees: vec![0; n],
            next: vec![NONE; n],
            last: vec![NONE; n],
            first: vec![NONE; n],
            lowest: 0,
        }
    }

    fn of(&self, v: u32) -> u32 {
        self.degrees[v as usize]
    }

    /// Lowers the degree of a vertex that is in no list.
    fn lower(&mut self, v: u32, degree: u32) {
        let own = &mut self.degrees[v as usize];
        *own = degree.min(*own);
    }

    fn insert(&mut self, v: u32, degree: u32) {
        let d = degree as usize;
        let next = std::mem::replace(&mut self.first[d], v);
        self.degrees[v as usize] = degree;
        self.next[v as usize] = next;
        self.last[v as usize] = NONE;
        if next != NONE {
            self.last[next as usize] = v;
        }
        self.lowest = self.lowest.min(d);
    }

    fn remove(&mut self, v: u32) {
        let (next, last) = (self.next[v as usize], self.last[v as usize]);
        if next != NONE {
            self.last[next as usize] = last;
        }
        if last == NONE {
            self.first[self.degrees[v as usize] as usize] = next;
        } else {
            self.next[last as usize] = next;
        }
    }

    /// Takes out a vertex of the lowest degree; `None` if there is none.
    fn pop(&mut self) -> Option<u32> {
        while *self.first.get(self.lowest)? == NONE {
            self.lowest += 1;
        }
        let v = self.first[self.lowest];
        self.remove(v);
        Some(v)
    }
}
