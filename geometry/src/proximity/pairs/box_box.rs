//! Box against box.

use super::capsule_box::{SegmentPoint, closest};
use super::separated_boxes::unique_features;
use super::separating_axis::ZonotopePair;
use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{NEGLIGIBLE, PARALLEL, is_beyond};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Returns the features of the boxes with half edges `ha` (A) and `hb` (B), or `None` beyond
/// `reach`.
///
/// The best of the 15 separating axes is exact when the boxes overlap. It is also exact when they
/// are separated and the supporting features at that axis face each other (vertex over face,
/// crossing edges). Otherwise a vertex or an edge is closest to a vertex or an edge, and one of the
/// two closest points lies on an edge of its box, so every edge of each box is compared with the
/// other box. Boxes that a face plane separates nearly always have unique closest points, which are
/// found much faster.
pub(in crate::proximity) fn box_box_features(
    ha: &Vector3<f64>,
    hb: &Vector3<f64>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    let c = &x_ab.translation.vector;
    let r_ab: Matrix3<f64> = x_ab.rotation.to_rotation_matrix().into_inner();
    let pair = ZonotopePair::boxes(ha, c, &r_ab, hb);
    let tolerance = NEGLIGIBLE * (ha.sum() + hb.sum());
    if pair.margin_of_faces(reach)? > tolerance
        && let Some(features) = unique_features(ha, hb, c, &r_ab)
    {
        return Some(features);
    }
    exhaustive(&pair, ha, hb, reach)
}

/// Same as [`box_box_features`], by searching all axes and edges.
fn exhaustive(
    pair: &ZonotopePair,
    ha: &Vector3<f64>,
    hb: &Vector3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    let (c, r_ab) = (pair.center(), pair.axes());
    let tolerance = NEGLIGIBLE * (ha.sum() + hb.sum());
    let axis = pair.best_axis(reach)?;
    if axis.margin <= tolerance {
        if let Some(touching) = pair.touching_features(&axis) {
            return Some(touching);
        }
    } else {
        let supports = pair.supports(&axis, PARALLEL, false);
        if supports.facing {
            return Some(pair.features(&axis, &supports));
        }
    }
    let a_in_b = -(r_ab.transpose() * c);
    let (edge_b, near_b) = nearest_edge(ha, hb, c, r_ab);
    let (edge_a, near_a) = nearest_edge(hb, ha, &a_in_b, &r_ab.transpose());
    let (b2, a2) = (near_b.excess.norm_squared(), near_a.excess.norm_squared());
    if is_beyond(b2.min(a2), reach) {
        return None;
    }
    let (features, p_a, p_b) = if b2 <= a2 {
        let (p_a, p_b) = edge_b.points(&near_b);
        (edge_b.features(ha, &near_b), p_a, p_b)
    } else {
        let (p_b, p_a) = edge_a.points(&near_a);
        (edge_a.features(hb, &near_a).swapped(r_ab), p_a, p_b)
    };
    if b2.min(a2) > tolerance * tolerance {
        return Some(features);
    }
    // The points are closer than rounding: their difference has no direction, but the axis has.
    Some(FeaturePair::PointPoint {
        p_a,
        p_b,
        fixed_a: Some(axis.n),
    })
}

/// An edge of the second box, also expressed in the frame of the first.
struct BoxEdge {
    /// Middle and direction in the frame of the second box.
    middle: Vector3<f64>,
    dir: Vector3<f64>,
    half: f64,
    /// Middle and direction in the frame of the first box.
    from: Vector3<f64>,
    u: Vector3<f64>,
}

impl BoxEdge {
    /// Returns edge `k` of 12 of the box with half edges `h`, centre `c` and the columns of `r` as
    /// axes.
    fn new(h: &Vector3<f64>, c: &Vector3<f64>, r: &Matrix3<f64>, k: usize) -> Self {
        let (k, corner) = (k / 4, k % 4);
        let (k1, k2) = ((k + 1) % 3, (k + 2) % 3);
        let mut middle = Vector3::zeros();
        middle[k1] = if corner & 1 == 0 { -h[k1] } else { h[k1] };
        middle[k2] = if corner & 2 == 0 { -h[k2] } else { h[k2] };
        Self {
            middle,
            dir: Vector3::ith(k, 1.0),
            half: h[k],
            from: c + r * middle,
            u: r.column(k).into_owned(),
        }
    }

    /// Returns the closest points of the first box and of the edge, each in the frame of its box.
    fn points(&self, near: &SegmentPoint) -> (Vector3<f64>, Vector3<f64>) {
        let on_edge = self.middle + self.dir * near.t;
        (near.on_box(&self.from, &self.u), on_edge)
    }

    fn features(&self, first: &Vector3<f64>, near: &SegmentPoint) -> FeaturePair {
        let Self {
            from,
            u,
            middle,
            dir,
            half,
        } = self;
        near.features(first, from, u, middle, dir, *half)
    }
}

/// Returns the edge of the second box (centre `c`, axes the columns of `r`) nearest to the first.
fn nearest_edge(
    first: &Vector3<f64>,
    second: &Vector3<f64>,
    c: &Vector3<f64>,
    r: &Matrix3<f64>,
) -> (BoxEdge, SegmentPoint) {
    let nearest = |edge: &BoxEdge| closest(first, &edge.from, &edge.u, edge.half);
    let mut best = BoxEdge::new(second, c, r, 0);
    let mut near = nearest(&best);
    let mut d = near.excess.norm();
    for k in 1..12 {
        let edge = BoxEdge::new(second, c, r, k);
        // No point of an edge is nearer than the edge's middle minus half its length.
        let excess = edge.from.zip_map(first, |p, h| p - p.clamp(-h, h));
        if excess.norm() > d + edge.half {
            continue;
        }
        let next = nearest(&edge);
        let next_d = next.excess.norm();
        if next_d < d {
            (best, near, d) = (edge, next, next_d);
        }
    }
    (best, near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proximity::tests::Random;
    use tarragon_framework::math::rotation_exp;

    /// Both methods give the same distances and witnesses, also where edges and faces are parallel
    /// up to any small angle, where boxes are thin, and where a witness is at the end of an edge.
    /// The fast method answers nearly all random pairs.
    #[test]
    fn newton_and_the_exhaustive_search_agree() {
        let mut random = Random::new(11);
        let (mut fast, mut apart) = (0, 0);
        for k in 0..40_000 {
            let mut half = || {
                let thin = 10.0_f64.powf(-1.5 * (1.0 + random.number()) * f64::from(k % 3));
                Vector3::new(
                    1.0 + random.number().abs(),
                    thin,
                    0.5 + random.number().abs(),
                )
            };
            let (ha, hb) = (half(), half());
            let is_random = k % 4 == 0;
            let angle = match k % 4 {
                0 => 3.0,
                1 => 0.0,
                _ => 10.0_f64.powf(-7.0 * (1.0 + random.number())),
            };
            let r = rotation_exp(&(random.vector() * angle));
            let reach = 10.0_f64.powf(1.0 + random.number());
            let mut c = random.vector() * reach;
            if k % 8 == 6 {
                c.x = ha.x - hb.x;
            }
            let x_ab = Isometry3::from_parts(c.into(), r);
            let r_ab = r.to_rotation_matrix().into_inner();
            let pair = ZonotopePair::boxes(&ha, &c, &r_ab, &hb);
            let tolerance = NEGLIGIBLE * (ha.sum() + hb.sum());
            if pair.margin_of_faces(f64::INFINITY).unwrap() <= tolerance {
                continue;
            }
            apart += u32::from(is_random && k % 3 == 0);
            let Some(found) = unique_features(&ha, &hb, &c, &r_ab) else {
                continue;
            };
            fast += u32::from(is_random && k % 3 == 0);
            let found = found.evaluate(&x_ab);
            let sure = exhaustive(&pair, &ha, &hb, f64::INFINITY)
                .unwrap()
                .evaluate(&x_ab);
            let scale = ha.norm() + hb.norm() + c.norm();
            let error = (found.distance - sure.distance).abs();
            assert!(error <= 4e-15 * scale, "{k}: {error:e} {found:?} {sure:?}");
            // Witnesses slide along nearly parallel edges, by the rounding divided by the angle.
            let slide = (found.p_a - sure.p_a)
                .norm()
                .max((found.p_b - sure.p_b).norm());
            assert!(slide <= 1e-9 * scale, "{k}: {slide:e} {found:?} {sure:?}");
            assert!(
                (found.n_ab - sure.n_ab).norm() <= 1e-14 * scale / found.distance,
                "{k}"
            );
        }
        assert!(
            apart > 2000 && f64::from(fast) > 0.97 * f64::from(apart),
            "{fast} of {apart}"
        );
    }
}
