//! Two surfaces.

use super::depth::{MOST_CELLS, SMALLEST, search};
use super::point::{DepthProbe, at_pose};
use super::solution::{DecidingFeature, SurfaceSolution};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::{Box3, Children};
use crate::proximity::convex::{ActiveFeatures, ConvexCore, RelativePose, convex_features};
use crate::proximity::rounding::NEGLIGIBLE;
use nalgebra::{Isometry3, Vector3};
use std::collections::BinaryHeap;

/// Returns the solution that decides the signed distance, or `None` beyond `reach`.
pub(super) fn solve(
    a: &IndexedSurface,
    b: &IndexedSurface,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<SurfaceSolution> {
    if a.tree.bounds().distance(&moved(b.tree.bounds(), x_ab)) > reach {
        return None;
    }
    let x_ba = x_ab.inverse();
    let both_solid = a.is_solid && b.is_solid;
    // One mesh may be inside the other, with no triangle cut.
    let within = |outer: &IndexedSurface, inner: &IndexedSurface, x: &Isometry3<f64>| {
        let p = at_pose(x, &inner.triangle(0).corners[0]);
        outer.is_solid && outer.tree.bounds().distance2(&p) <= 0.0 && outer.depth(&p) > 0.0
    };
    let nested = within(a, b, x_ab) || within(b, a, &x_ba);
    let pair = if nested && both_solid {
        None
    } else {
        let found = nearest_triangles(a, b, x_ab, reach, both_solid);
        match found {
            None if !nested => return None,
            Some((distance, active)) if !nested && distance > 0.0 => {
                return Some(SurfaceSolution::new(DecidingFeature::Features(active)));
            }
            found => found,
        }
    };
    // The meshes overlap: the deepest of the results below is taken.
    let mut deepest: Option<(f64, SurfaceSolution)> = None;
    let mut take = |depth: f64, solution: SurfaceSolution| {
        if deepest.as_ref().is_none_or(|d| depth > d.0) {
            deepest = Some((depth, solution));
        }
    };
    if a.is_solid {
        let found = DeepestOfEdges::new(a, b, x_ab).search();
        take(found.0, found.1);
    }
    if b.is_solid {
        let found = DeepestOfEdges::new(b, a, &x_ba).search();
        take(found.0, found.1.exchanged());
    }
    if let Some((distance, active)) = pair
        && !both_solid
        && distance <= 0.0
    {
        take(
            -distance,
            SurfaceSolution::new(DecidingFeature::Features(active)),
        );
    }
    deepest.map(|d| d.1)
}

/// Returns the bounding box of a box at a pose.
fn moved(b: &Box3, x: &Isometry3<f64>) -> Box3 {
    let r = x.rotation.to_rotation_matrix();
    let center = r * b.center() + x.translation.vector;
    let half = r.matrix().abs() * b.half();
    // Room for rounding.
    let half = half + (half + center.abs()) * 1e-15;
    Box3 {
        lower: center - half,
        upper: center + half,
    }
}

/// Two nodes; the pair that may be nearest comes first.
struct NodePair {
    least: f64,
    a: usize,
    b: usize,
}

impl PartialEq for NodePair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for NodePair {}
impl PartialOrd for NodePair {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for NodePair {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |n: &Self| (n.a, n.b);
        other
            .least
            .total_cmp(&self.least)
            .then_with(|| key(other).cmp(&key(self)))
    }
}

/// Returns the nearest triangles. Where triangles cut each other, it returns two that do for
/// solids, and the two that penetrate each other deepest for sheets.
fn nearest_triangles(
    a: &IndexedSurface,
    b: &IndexedSurface,
    x_ab: &Isometry3<f64>,
    reach: f64,
    both_solid: bool,
) -> Option<(f64, ActiveFeatures)> {
    let mut best: Option<(f64, ActiveFeatures)> = None;
    let mut separating: Option<Vector3<f64>> = None;
    let mut heap = BinaryHeap::new();
    let root = a.tree.bounds().distance(&moved(b.tree.bounds(), x_ab));
    heap.push(NodePair {
        least: root,
        a: 0,
        b: 0,
    });
    let r_ba = x_ab.rotation.inverse();
    while let Some(nodes) = heap.pop() {
        let known = best.as_ref().map_or(reach, |b| b.0);
        let cut = known <= 0.0;
        if (cut && both_solid) || nodes.least > known.max(0.0) {
            break;
        }
        let (below_a, below_b) = (a.tree.children(nodes.a), b.tree.children(nodes.b));
        let wider = |i: usize, j: usize| {
            a.tree.node(i).half().norm_squared() >= b.tree.node(j).half().norm_squared()
        };
        let mut push = |i: usize, j: usize| {
            let (box_a, box_b) = (a.tree.node(i), b.tree.node(j));
            let mut least = box_a.distance(&moved(box_b, x_ab));
            if let Some(n) = separating {
                let lowest_b = n.dot(&x_ab.translation.vector) - box_b.support(&(r_ba * -n));
                least = least.max(lowest_b - box_a.support(&n));
            }
            if least <= known.max(0.0) {
                heap.push(NodePair { least, a: i, b: j });
            }
        };
        match (below_a, below_b) {
            (Children::Triangles(of_a), Children::Triangles(of_b)) => {
                for i in of_a {
                    let t = &a.triangle(i);
                    let box_a = Box3::around(&t.corners);
                    for j in of_b.clone() {
                        let known = best.as_ref().map_or(reach, |b| b.0);
                        let s = &b.triangle(j);
                        let corners = s.corners.map(|p| at_pose(x_ab, &p));
                        if box_a.distance(&Box3::around(&corners)) > known.max(0.0) {
                            continue;
                        }
                        let (core_a, core_b) = (ConvexCore::Triangle(t), ConvexCore::Triangle(s));
                        let Some(active) = convex_features(&core_a, &core_b, x_ab, known) else {
                            continue;
                        };
                        let found = active.evaluate(&RelativePose::new(x_ab));
                        if best.as_ref().is_none_or(|b| found.distance < b.0) {
                            best = Some((found.distance, active));
                            separating = (found.distance > 0.0).then_some(found.n_ab);
                        }
                    }
                }
            }
            (Children::Nodes(of_a), below_b)
                if wider(nodes.a, nodes.b) || matches!(below_b, Children::Triangles(_)) =>
            {
                of_a.into_iter().for_each(|i| push(i, nodes.b));
            }
            (_, Children::Nodes(of_b)) => of_b.into_iter().for_each(|j| push(nodes.a, j)),
            (Children::Nodes(of_a), _) => of_a.into_iter().for_each(|i| push(i, nodes.b)),
        }
    }
    best
}

/// A part of a surface: a node of its tree, or a part of an edge (in the other body).
#[derive(Clone, Copy)]
enum EdgeSearchPart {
    Node(usize),
    Edge {
        part: [Vector3<f64>; 2],
        whole: [Vector3<f64>; 2],
    },
}

/// A function that receives a part and a bound of its depth.
type PartSink<'a> = &'a mut dyn FnMut(f64, EdgeSearchPart);

/// Search for the deepest point of the edges of `body` (B) below the surface of `solid` (A).
struct DeepestOfEdges<'a> {
    solid: &'a IndexedSurface,
    body: &'a IndexedSurface,
    x_ab: &'a Isometry3<f64>,
    /// The deepest point so far and the edge that contains it, in A.
    p: Vector3<f64>,
    on: [Vector3<f64>; 2],
    probe: DepthProbe,
}

impl<'a> DeepestOfEdges<'a> {
    fn new(solid: &'a IndexedSurface, body: &'a IndexedSurface, x_ab: &'a Isometry3<f64>) -> Self {
        let p = at_pose(x_ab, &body.triangle(0).corners[0]);
        let probe = solid.probe(&p);
        Self {
            solid,
            body,
            x_ab,
            p,
            on: [p; 2],
            probe,
        }
    }

    fn look(&mut self, p: &Vector3<f64>, on: [Vector3<f64>; 2]) -> DepthProbe {
        let probe = self.solid.probe(p);
        if probe.depth > self.probe.depth {
            (self.p, self.on, self.probe) = (*p, on, probe);
        }
        probe
    }

    fn search(mut self) -> (f64, SurfaceSolution) {
        let size = self.solid.extent() + self.body.extent();
        let smallest = NEGLIGIBLE * size + SMALLEST * self.body.extent();
        search(
            [(f64::INFINITY, EdgeSearchPart::Node(0))],
            smallest,
            MOST_CELLS,
            |part, enough, hand_on| {
                match part {
                    EdgeSearchPart::Edge {
                        part: [p, q],
                        whole,
                    } => {
                        let middle = (p + q) * 0.5;
                        self.edge([p, middle], whole, enough, hand_on);
                        self.edge([middle, q], whole, enough, hand_on);
                    }
                    EdgeSearchPart::Node(index) => match self.body.tree.children(index) {
                        Children::Nodes(children) => {
                            children.iter().for_each(|c| self.node(*c, enough, hand_on));
                        }
                        Children::Triangles(range) => {
                            range.for_each(|i| self.triangle(i, enough, hand_on))
                        }
                    },
                }
                self.probe.depth
            },
        );
        let [p, q] = self.on;
        let lowest = |n: &Vector3<f64>| if n.dot(&p) <= n.dot(&q) { p } else { q };
        if p != q
            && let Some(between) = self.solid.between(&self.p, &self.probe, lowest)
        {
            return (between.depth, between.solution(self.x_ab));
        }
        let p_b = self.x_ab.inverse_transform_point(&self.p.into()).coords;
        let solution = SurfaceSolution::new(DecidingFeature::Point(self.probe.feature, p_b));
        (self.probe.depth, solution)
    }

    fn node(&mut self, index: usize, enough: f64, hand_on: PartSink<'_>) {
        let of_body = self.body.tree.node(index);
        let common = moved(of_body, self.x_ab).intersection(self.solid.tree.bounds());
        if common.half().min() < 0.0 {
            return;
        }
        let (center, radius) = (common.center(), common.half().norm());
        let probe = self.solid.probe(&center);
        let x = self.x_ab;
        let lowest = |n: &Vector3<f64>| {
            let n_b = x.rotation.inverse_transform_vector(&-n);
            let turned = n.dot(&x.translation.vector) - of_body.support(&n_b);
            turned.max(-common.support(&-n))
        };
        let radius = radius * (1.0 + 1e-12);
        let bound = self
            .solid
            .depth_bound(&probe, &center, radius, enough, lowest, |_| ());
        hand_on(bound, EdgeSearchPart::Node(index));
    }

    fn triangle(&mut self, index: usize, enough: f64, hand_on: PartSink<'_>) {
        let corners = &self.body.triangle(index).corners;
        for k in 0..3 {
            let (p, q) = (&corners[k], &corners[(k + 1) % 3]);
            // The triangle on the other side of the edge examines this edge too.
            if self.body.is_closed() && p.as_slice() > q.as_slice() {
                continue;
            }
            let (p, q) = (at_pose(self.x_ab, p), at_pose(self.x_ab, q));
            self.look(&p, [p, q]);
            self.look(&q, [p, q]);
            self.edge([p, q], [p, q], enough, hand_on);
        }
    }

    /// Bounds the depth of a part of an edge.
    fn edge(
        &mut self,
        part: [Vector3<f64>; 2],
        whole: [Vector3<f64>; 2],
        enough: f64,
        hand_on: PartSink<'_>,
    ) {
        let [p, q] = part;
        let radius = 0.5 * (q - p).norm() * (1.0 + 1e-12);
        let middle = (p + q) * 0.5;
        if self.solid.tree.bounds().distance2(&middle) > radius * radius {
            return;
        }
        let probe = self.look(&middle, whole);
        let lowest = |n: &Vector3<f64>| n.dot(&p).min(n.dot(&q));
        let bound = self
            .solid
            .depth_bound(&probe, &middle, radius, enough, lowest, |_| ());
        hand_on(bound, EdgeSearchPart::Edge { part, whole });
    }
}
