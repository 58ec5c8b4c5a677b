//! Several points for a body that touches a surface in several places: the corners of its core that
//! are near the surface.

use super::pair::relative;
use super::point::{NearestFeature, at_pose};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::{Box3, Triangle};
use crate::proximity::PairDistance;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::proximity::shape_core::margin;
use crate::shape::Shape;
use crate::values::value_of;
use nalgebra::{Isometry3, Vector3};
use smallvec::SmallVec;
use std::cmp::Ordering;
use tarragon_framework::Scalar;

/// Maximum number of triangles near a corner whose local minima of the distance are distinguished.
/// A ball that has sunk below more triangles has one point.
const MOST_TRIANGLES: usize = 64;

/// A contact of a surface A and a body B.
pub(in crate::proximity) struct SurfaceContact<T: Scalar> {
    pub(in crate::proximity) distance: PairDistance<T>,
    /// Positive identifier that stays the same while the body slides.
    pub(in crate::proximity) id: u32,
}

/// Returns the places where the corners of a body are nearer than `reach` (m) to the surface of a
/// solid.
///
/// A corner with a margin is a ball, which may touch several faces: every local minimum of the
/// distance counts. Edges inside a flat or concave part of the surface have none, so that a body
/// does not catch on them.
pub(in crate::proximity) fn contacts_of_corners<T: Scalar>(
    surface: &IndexedSurface,
    x_ws: &Isometry3<T>,
    body: &Shape,
    x_wb: &Isometry3<T>,
    reach: f64,
) -> Vec<SurfaceContact<T>> {
    let radius = margin(body);
    let x_sb = relative(x_ws, x_wb);
    let mut contacts = vec![];
    for (corner, p_b) in (0_u32..).zip(corners(body)) {
        let p = at_pose(&x_sb, &p_b);
        let features = near_features(surface, &value_of(&p), radius + reach);
        for (place, feature) in (0_u32..).zip(features) {
            let found = feature.evaluate(&p);
            let distance = found.distance - T::from(radius);
            if distance.re() >= reach {
                continue;
            }
            let world = |p: &Vector3<T>| x_ws.rotation * p + x_ws.translation.vector;
            contacts.push(SurfaceContact {
                distance: PairDistance {
                    distance,
                    nhat_ba_w: -(x_ws.rotation * found.n_ab),
                    p_wca: world(&found.p_a),
                    p_wcb: world(&(found.p_b - found.n_ab * T::from(radius))),
                },
                id: 1 + corner + 8 * place,
            });
        }
    }
    contacts
}

/// Returns the corners of a body in its frame: points of which one is deepest below any plane. A
/// cylinder has four on each rim. Returns none for shapes without corners, or with too many.
fn corners(body: &Shape) -> SmallVec<[Vector3<f64>; 8]> {
    let sides = [-1.0, 1.0];
    match body {
        Shape::Sphere(_) => SmallVec::from_slice(&[Vector3::zeros()]),
        Shape::Capsule(c) => sides
            .into_iter()
            .map(|z| Vector3::new(0.0, 0.0, 0.5 * z * c.length()))
            .collect(),
        Shape::Box(b) => (0..8_u32)
            .map(|i| {
                let sign = |axis: u32| if i >> axis & 1 == 0 { -0.5 } else { 0.5 };
                b.size()
                    .component_mul(&Vector3::new(sign(0), sign(1), sign(2)))
            })
            .collect(),
        Shape::Cylinder(c) => sides
            .into_iter()
            .flat_map(|z| {
                [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)].map(|(x, y)| {
                    Vector3::new(c.radius() * x, c.radius() * y, 0.5 * z * c.length())
                })
            })
            .collect(),
        _ => SmallVec::new(),
    }
}

/// A triangle near a point.
struct NearTriangle {
    /// Square of its distance from the point (m^2).
    distance2: f64,
    index: usize,
    /// Its point nearest to the given one.
    nearest: Vector3<f64>,
    triangle: Triangle,
}

impl NearTriangle {
    /// Compares distances, then numbers.
    fn compare(&self, other: &Self) -> Ordering {
        let nearer = self.distance2.total_cmp(&other.distance2);
        nearer.then(self.index.cmp(&other.index))
    }
}

/// Returns the features of the local minima of the distance to `p` within `reach` (m) or, if `p` is
/// inside the solid, the nearest feature.
fn near_features(
    surface: &IndexedSurface,
    p: &Vector3<f64>,
    reach: f64,
) -> SmallVec<[NearestFeature; 2]> {
    let only = |feature| SmallVec::from_iter([feature]);
    let outside_box = surface.tree.bounds().distance2(p) > 0.0;
    if !outside_box && surface.is_inside(p) {
        return only(surface.nearest_feature(p));
    }
    if reach <= 0.0 {
        return SmallVec::new();
    }
    if let Some(minima) = surface.minima_above(p, reach) {
        let features = minima.iter();
        return features
            .map(|m| surface.feature_of(p, m.index, &m.place))
            .collect();
    }
    // The nearest points of all triangles within reach.
    let mut near: SmallVec<[NearTriangle; 32]> = SmallVec::new();
    let limit = reach * reach;
    surface.descend_within(
        &Box3::around(&[*p]).grown(reach),
        limit,
        |b| b.distance2(p),
        |index, triangle| {
            let nearest = triangle.nearest(p);
            let distance2 = (p - nearest).norm_squared();
            if distance2 < limit && near.len() <= MOST_TRIANGLES {
                near.push(NearTriangle {
                    distance2,
                    index,
                    nearest,
                    triangle: *triangle,
                });
            }
            limit
        },
    );
    if near.len() > MOST_TRIANGLES {
        return surface
            .nearest_feature_within(p, reach)
            .map_or_else(SmallVec::new, only);
    }
    let same = NEGLIGIBLE * (surface.extent() + p.amax());
    // If the nearest point of a triangle also lies on a nearer triangle, it is no minimum, because
    // the distance decreases along that triangle. If the other triangle is equally near, both have
    // the same minimum.
    let is_minimum = |one: &&NearTriangle| {
        let q = &one.nearest;
        near.iter()
            .filter(|other| other.compare(one).is_lt())
            .all(|other| {
                // Most triangles are elsewhere, which costs least to find out from the plane.
                let triangle = &other.triangle;
                triangle.height(q).abs() > same
                    || Box3::around(&triangle.corners).distance2(q) > same * same
                    || (triangle.nearest(q) - q).norm_squared() > same * same
            })
    };
    let mut minima: SmallVec<[&NearTriangle; 2]> = near.iter().filter(is_minimum).collect();
    minima.sort_unstable_by(|a, b| a.compare(b));
    minima
        .into_iter()
        .map(|near| surface.feature_of(p, near.index, &near.nearest))
        .collect()
}
