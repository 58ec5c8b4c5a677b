//! Order of elimination by nested dissection of the mesh.
//!
//! Planes through the reference positions cut the mesh into halves; the vertices at one side of a
//! cut separate them and are eliminated after both.
//!
//! Source: A. George, "Nested Dissection of a Regular Finite Element Mesh", SIAM Journal on
//! Numerical Analysis, 1973.

use nalgebra::Vector3;
use tarragon_contact_solvers::sparse::{BlockPattern, EliminationTree};

/// Most vertices of a part that is not cut any more: more fill, but longer vectors.
const LEAF_SIZE: usize = 12;
/// Places of a cut, as parts of the number of vertices.
const CUTS: [f64; 5] = [0.5, 0.44, 0.56, 0.38, 0.62];

/// Side of a vertex in the part that is being cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Outside,
    Low,
    High,
    Separator,
}

struct Dissector<'a> {
    points: &'a [Vector3<f64>],
    pattern: &'a BlockPattern,
    sides: Vec<Side>,
    result: EliminationTree,
}

/// A way to cut a part.
struct Cut {
    /// Vertices in the order of the axis, of which those before `middle` are low.
    axis: usize,
    middle: usize,
    /// Whether the separator is taken from the low side.
    from_low: bool,
    cost: f64,
}

/// Dissects a mesh with these vertices.
pub(super) fn dissect(points: &[Vector3<f64>], pattern: &BlockPattern) -> EliminationTree {
    let mut dissector = Dissector {
        points,
        pattern,
        sides: vec![Side::Outside; points.len()],
        result: EliminationTree::default(),
    };
    let roots = dissector.dissect((0..points.len() as u32).collect());
    dissector.result.set_roots(roots);
    dissector.result
}

impl Dissector<'_> {
    /// Adds the nodes of a part; returns the topmost ones.
    fn dissect(&mut self, mut part: Vec<u32>) -> Vec<u32> {
        let cut = if part.len() > LEAF_SIZE {
            self.best_cut(&mut part)
        } else {
            None
        };
        let Some(cut) = cut else {
            part.sort_unstable();
            return vec![self.result.push(part, &[])];
        };
        self.sort(&mut part, cut.axis);
        self.mark(&part, &cut);
        let side = |side| {
            let all = part.iter().copied();
            all.filter(|v| self.sides[*v as usize] == side)
                .collect::<Vec<_>>()
        };
        let (low, high) = (side(Side::Low), side(Side::High));
        let mut separator = side(Side::Separator);
        separator.sort_unstable();
        self.unmark(&part);
        drop(part);
        let mut children = self.dissect(low);
        children.extend(self.dissect(high));
        if separator.is_empty() {
            children
        } else {
            vec![self.result.push(separator, &children)]
        }
    }

    /// Sorts by a coordinate, vertices of equal ones by index.
    fn sort(&self, part: &mut [u32], axis: usize) {
        let key = |v: &u32| self.points[*v as usize][axis];
        part.sort_unstable_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    }

    /// Returns the cut with the smallest separator among some along each axis; `None` if none has
    /// vertices on both sides.
    fn best_cut(&mut self, part: &mut [u32]) -> Option<Cut> {
        let mut best: Option<Cut> = None;
        for axis in 0..3 {
            self.sort(part, axis);
            for place in CUTS {
                let middle = (part.len() as f64 * place) as usize;
                for from_low in [false, true] {
                    let mut cut = Cut {
                        axis,
                        middle,
                        from_low,
                        cost: 0.0,
                    };
                    self.mark(part, &cut);
                    cut.cost = self.cost(part);
                    self.unmark(part);
                    if cut.cost < best.as_ref().map_or(f64::INFINITY, |best| best.cost) {
                        best = Some(cut);
                    }
                }
            }
        }
        best
    }

    /// Marks the sides and the separator: the vertices of one side with neighbors on the other.
    fn mark(&mut self, part: &[u32], cut: &Cut) {
        for (k, v) in part.iter().enumerate() {
            let low = k < cut.middle;
            self.sides[*v as usize] = if low { Side::Low } else { Side::High };
        }
        let (own, other) = if cut.from_low {
            (Side::Low, Side::High)
        } else {
            (Side::High, Side::Low)
        };
        for v in part {
            let mut around = self.pattern.neighbors(*v).iter();
            if self.sides[*v as usize] == own
                && around.any(|(w, _)| self.sides[*w as usize] == other)
            {
                self.sides[*v as usize] = Side::Separator;
            }
        }
    }

    fn unmark(&mut self, part: &[u32]) {
        for v in part {
            self.sides[*v as usize] = Side::Outside;
        }
    }

    /// Size of the separator, worse for halves of different sizes; infinite without two halves.
    fn cost(&self, part: &[u32]) -> f64 {
        let count = |side| {
            part.iter()
                .filter(|v| self.sides[**v as usize] == side)
                .count() as f64
        };
        let (low, high, separator) = (count(Side::Low), count(Side::High), count(Side::Separator));
        if low == 0.0 || high == 0.0 {
            return f64::INFINITY;
        }
        let balance = low.min(high) / (low + high);
        (separator + 1.0) * (1.0 + 2.0 * (0.5 - balance).powi(2))
    }
}
