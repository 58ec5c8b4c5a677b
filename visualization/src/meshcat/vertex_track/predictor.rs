//! Prediction of a vertex from its neighbours by parallelograms.
//!
//! Source: C. Touma, C. Gotsman, "Triangle mesh compression", Graphics Interface 1998.

use std::collections::{HashMap, VecDeque};

/// Order of the vertices of a mesh in which each one follows those that predict it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predictor {
    /// All vertices.
    pub(crate) order: Vec<u32>,
    /// For each vertex in that order, earlier vertices a, b, c that predict it as a + b - c. The
    /// number of vertices stands for none, whose value is zero.
    pub(crate) from: Vec<[u32; 3]>,
}

/// Builder of a predictor.
struct Walk {
    none: u32,
    is_placed: Vec<bool>,
    order: Vec<u32>,
    from: Vec<[u32; 3]>,
}

impl Walk {
    fn place(&mut self, vertex: u32, from: [u32; 3]) {
        if let Some(is_placed @ false) = self.is_placed.get_mut(vertex as usize) {
            *is_placed = true;
            self.order.push(vertex);
            self.from.push(from);
        }
    }
    fn last(&self) -> u32 {
        self.order.last().copied().unwrap_or(self.none)
    }
}

impl Predictor {
    /// Walks over a mesh of `count` vertices from triangle to triangle.
    pub(super) fn new(triangles: &[[u32; 3]], count: usize) -> Self {
        let mut across = HashMap::<(u32, u32), Vec<usize>>::with_capacity(3 * triangles.len());
        let edges = |[a, b, c]: [u32; 3]| [(a, b, c), (b, c, a), (c, a, b)];
        for (i, triangle) in triangles.iter().enumerate() {
            for (u, v, _) in edges(*triangle) {
                across.entry((u.min(v), u.max(v))).or_default().push(i);
            }
        }
        let none = count as u32;
        let mut walk = Walk {
            none,
            is_placed: vec![false; count],
            order: Vec::with_capacity(count),
            from: Vec::with_capacity(count),
        };
        let mut is_done = vec![false; triangles.len()];
        let mut queue = VecDeque::new();
        for (start, first) in triangles.iter().enumerate() {
            if std::mem::replace(&mut is_done[start], true) {
                continue;
            }
            let [a, b, c] = *first;
            let last = walk.last();
            walk.place(a, [last, none, none]);
            walk.place(b, [a, none, none]);
            walk.place(c, [b, none, none]);
            queue.extend(edges(*first));
            while let Some((u, v, opposite)) = queue.pop_front() {
                let neighbours = across.get(&(u.min(v), u.max(v)));
                for &i in neighbours.into_iter().flatten() {
                    if std::mem::replace(&mut is_done[i], true) {
                        continue;
                    }
                    for (s, t, new) in edges(triangles[i]) {
                        if (s.min(t), s.max(t)) == (u.min(v), u.max(v)) {
                            walk.place(new, [u, v, opposite]);
                        }
                    }
                    queue.extend(edges(triangles[i]));
                }
            }
        }
        for vertex in 0..none {
            let last = walk.last();
            walk.place(vertex, [last, none, none]);
        }
        Self {
            order: walk.order,
            from: walk.from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_follows_those_that_predict_it() {
        // Two components, an edge of three triangles, a triangle with a repeated vertex, and
        // vertices of no triangle.
        let triangles = [
            [3, 1, 2],
            [1, 2, 4],
            [2, 1, 5],
            [7, 8, 9],
            [9, 8, 8],
            [8, 10, 9],
        ];
        let count = 13;
        let p = Predictor::new(&triangles, count);
        let mut seen = vec![false; count + 1];
        seen[count] = true;
        for (vertex, from) in p.order.iter().zip(&p.from) {
            assert!(from.iter().all(|v| seen[*v as usize]), "{vertex}: {from:?}");
            assert!(!std::mem::replace(&mut seen[*vertex as usize], true));
        }
        assert!(seen.iter().all(|seen| *seen));
        assert_eq!(
            p.from[p.order.iter().position(|v| *v == 4).unwrap()],
            [1, 2, 3]
        );
        assert!(Predictor::new(&[], 0).order.is_empty());
    }
}
