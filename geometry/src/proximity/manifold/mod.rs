//! Several points for a pair of shapes that touch, or are near each other, along a line or a face.
//!
//! Two boxes that touch face to face have the corners of the region where one face lies over the
//! other (clipping after I. Sutherland, G. Hodgman, "Reentrant Polygon Clipping", 1974). Which
//! points there are is decided on plain values; the points themselves are computed in `T`.

mod on_surface;
mod point;

use self::on_surface::{of_ball, on_surface};
pub(crate) use self::point::{Manifold, ManifoldPoint};
use super::answer::PairDistance;
use super::pieces::Body;
use crate::error::Result;
use crate::shape::{BoxShape, Shape};
use nalgebra::{Isometry3, Matrix3, Vector3};
use smallvec::SmallVec;
use tarragon_framework::Scalar;

/// Cosine of the angle between a normal and a face's normal above which the contact is that face's.
const ALONG: f64 = 1.0 - 1e-9;
/// Cosine of the tilt of a cylinder below which it does not stand on its cap (25 degrees).
const UPRIGHT: f64 = 0.9;

/// Returns the contact points of a pair that is less than `reach` (m) apart, deepest first, with
/// the points of the pair that are nearest. There are at most eight; none if the deepest point
/// alone represents the pair. `nearest` computes the latter where the contact points do not tell.
///
/// # Errors
/// Returns the errors of `nearest`.
pub(crate) fn contacts<T: Scalar>(
    a: Body<'_>,
    x_wa: &Isometry3<T>,
    b: Body<'_>,
    x_wb: &Isometry3<T>,
    reach: f64,
    nearest: impl FnOnce() -> Result<Option<PairDistance<T>>>,
) -> Result<Option<(PairDistance<T>, Manifold<T>)>> {
    let of_ball = match (a, b) {
        (Body::TrueSurface(surface), Body::Solid(ball @ Shape::Sphere(_))) => {
            of_ball(surface, x_wa, ball, x_wb, reach)
        }
        (Body::Solid(ball @ Shape::Sphere(_)), Body::TrueSurface(surface)) => {
            let mut points = of_ball(surface, x_wb, ball, x_wa, reach);
            points.iter_mut().flatten().for_each(ManifoldPoint::swap);
            points
        }
        _ => None,
    };
    Ok(match of_ball {
        Some(points) => {
            let deepest = points.first().map(ManifoldPoint::distance);
            deepest.map(|found| (found, points))
        }
        None => nearest()?.map(|found| {
            let points = contact_manifold(a, x_wa, b, x_wb, &found, reach);
            (found, points)
        }),
    })
}

/// Returns at most eight contact points of a pair whose deepest overlap or smallest distance is
/// `found`: points where the shapes are less than `reach` (m) apart; a reach of 0 means overlap.
/// Returns no points if the deepest point alone represents the pair.
pub(crate) fn contact_manifold<T: Scalar>(
    a: Body<'_>,
    x_wa: &Isometry3<T>,
    b: Body<'_>,
    x_wb: &Isometry3<T>,
    found: &PairDistance<T>,
    reach: f64,
) -> Manifold<T> {
    match (a, b) {
        (Body::Solid(a), Body::Solid(b)) => of_solids(a, x_wa, b, x_wb, found, reach),
        (Body::TrueSurface(surface), Body::Solid(body)) => {
            on_surface(surface, x_wa, body, x_wb, found, reach)
        }
        (Body::Solid(body), Body::TrueSurface(surface)) => {
            let found = found.swapped();
            let mut points = on_surface(surface, x_wb, body, x_wa, &found, reach);
            points.iter_mut().for_each(ManifoldPoint::swap);
            points
        }
        _ => Manifold::new(),
    }
}

fn of_solids<T: Scalar>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    found: &PairDistance<T>,
    reach: f64,
) -> Manifold<T> {
    match (a, b) {
        (Shape::HalfSpace(_), solid) => {
            let mut points = on_half_space(solid, x_wb, x_wa, &found.p_wcb, reach);
            points.iter_mut().for_each(ManifoldPoint::swap);
            points
        }
        (solid, Shape::HalfSpace(_)) => on_half_space(solid, x_wa, x_wb, &found.p_wca, reach),
        (Shape::Box(a), Shape::Box(b)) => box_box(a, x_wa, b, x_wb, found, reach),
        _ => Manifold::new(),
    }
}

/// Returns the points of a shape A in or above a half space B; `deepest` is the deepest one.
fn on_half_space<T: Scalar>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    x_wb: &Isometry3<T>,
    deepest: &Vector3<T>,
    reach: f64,
) -> Manifold<T> {
    let lift = |p: Vector3<f64>| p.map(T::from);
    let normal = x_wb.rotation * Vector3::ith(2, T::one());
    let origin = &x_wb.translation.vector;
    let mut points = Manifold::new();
    let mut push = |p_w: Vector3<T>, id: u32| {
        let height = normal.dot(&(p_w - origin));
        if height.re() < reach {
            points.push(ManifoldPoint {
                depth: -height,
                p_wca: p_w,
                p_wcb: p_w - normal * height,
                nhat_ba_w: normal,
                id,
            });
        }
    };
    let in_world = |p: Vector3<f64>| x_wa.rotation * lift(p) + x_wa.translation.vector;
    match a {
        Shape::Box(a) => {
            for id in 0..8_u32 {
                let sign = |axis: u32| if id >> axis & 1 == 0 { -0.5 } else { 0.5 };
                let corner = a
                    .size()
                    .component_mul(&Vector3::new(sign(0), sign(1), sign(2)));
                push(in_world(corner), id);
            }
        }
        Shape::Capsule(a) => {
            for (id, side) in [-0.5, 0.5].into_iter().enumerate() {
                let end = in_world(Vector3::new(0.0, 0.0, side * a.length()));
                push(end - normal * T::from(a.radius()), id as u32);
            }
        }
        Shape::Cylinder(a) => {
            let axis = x_wa.rotation * Vector3::ith(2, T::one());
            let up = axis.dot(&normal);
            if up.re().abs() > UPRIGHT {
                // The deepest point, and four that turn with the cylinder.
                push(*deepest, 4);
                let z = -0.5 * a.length() * up.re().signum();
                for (id, (x, y)) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
                    .into_iter()
                    .enumerate()
                {
                    push(
                        in_world(Vector3::new(a.radius() * x, a.radius() * y, z)),
                        id as u32,
                    );
                }
            } else {
                // The lowest point of either rim.
                let lowest = axis * up - normal;
                let lowest = lowest * (T::from(a.radius()) / lowest.norm());
                for (id, side) in [-0.5, 0.5].into_iter().enumerate() {
                    let center = in_world(Vector3::new(0.0, 0.0, side * a.length()));
                    push(center + lowest, 5 + id as u32);
                }
            }
        }
        _ => {}
    }
    points
}

/// A box with its rotation.
struct PlacedBox<T: Scalar> {
    half: Vector3<f64>,
    axes: Matrix3<T>,
    center: Vector3<T>,
}

impl<T: Scalar> PlacedBox<T> {
    fn new(shape: &BoxShape, x_w: &Isometry3<T>) -> Self {
        Self {
            half: shape.size() / 2.0,
            axes: x_w.rotation.to_rotation_matrix().into_inner(),
            center: x_w.translation.vector,
        }
    }
    fn axis(&self, k: usize) -> Vector3<T> {
        self.axes.column(k).into_owned()
    }
    /// Returns the axis most along a direction, with the cosine of the angle between them.
    fn nearest_axis(&self, direction: &Vector3<T>) -> (usize, f64) {
        let cosine = |k: usize| self.axis(k).dot(direction).re();
        let mut best = (0, cosine(0));
        for k in 1..3 {
            if cosine(k).abs() > best.1.abs() {
                best = (k, cosine(k));
            }
        }
        best
    }
}

fn box_box<T: Scalar>(
    a: &BoxShape,
    x_wa: &Isometry3<T>,
    b: &BoxShape,
    x_wb: &Isometry3<T>,
    found: &PairDistance<T>,
    reach: f64,
) -> Manifold<T> {
    let (a, b) = (PlacedBox::new(a, x_wa), PlacedBox::new(b, x_wb));
    let (on_a, on_b) = (
        a.nearest_axis(&found.nhat_ba_w),
        b.nearest_axis(&found.nhat_ba_w),
    );
    let is_a = on_a.1.abs() >= on_b.1.abs();
    let (face, other, (axis, cosine)) = if is_a { (&a, &b, on_a) } else { (&b, &a, on_b) };
    if cosine.abs() < ALONG {
        // An edge of one meets an edge of the other.
        return Manifold::new();
    }
    // Direction out of the box with the face; the normal points out of B.
    let sign = if is_a {
        -cosine.signum()
    } else {
        cosine.signum()
    };
    let outward = face.axis(axis) * T::from(sign);
    let (other_axis, other_cosine) = other.nearest_axis(&outward);
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    let [s, t] = [(other_axis + 1) % 3, (other_axis + 2) % 3];
    // Corners of the other box's face, in the frame of this one.
    let side = -other_cosine.signum() * other.half[other_axis];
    let center = other.center + other.axis(other_axis) * T::from(side) - face.center;
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let corners = corners.into_iter().enumerate().map(|(edge, (x, y))| {
        let across = other.axis(s) * T::from(x * other.half[s]);
        let along = other.axis(t) * T::from(y * other.half[t]);
        let corner = face.axes.tr_mul(&(center + across + along));
        (corner, edge as u32)
    });
    // Each corner with the line to the next one: an edge of the other box, or a side of this one.
    let mut polygon: SmallVec<[(Vector3<T>, u32); 12]> = corners.collect();
    let sides = [(u, 1.0), (u, -1.0), (v, 1.0), (v, -1.0)];
    for (side, (k, sign)) in (4..).zip(sides) {
        let outside = |p: &Vector3<T>| p[k] * sign - face.half[k];
        let mut clipped = SmallVec::new();
        for (i, (p, line)) in polygon.iter().enumerate() {
            let q = &polygon[(i + 1) % polygon.len()].0;
            let (d, e) = (outside(p), outside(q));
            let crossing = |line| (p + (q - p) * (d / (d - e)), line);
            if d.re() <= 0.0 {
                let leaves_here = d.re() == 0.0 && e.re() > 0.0;
                clipped.push((*p, if leaves_here { side } else { *line }));
                if d.re() < 0.0 && e.re() > 0.0 {
                    clipped.push(crossing(side));
                }
            } else if e.re() < 0.0 {
                clipped.push(crossing(*line));
            }
        }
        polygon = clipped;
    }
    let in_world = |p: &Vector3<T>| face.axes * p + face.center;
    let mut points = Manifold::new();
    for (i, (p, line)) in polygon.iter().enumerate() {
        let before = polygon[(i + polygon.len() - 1) % polygon.len()].1;
        let depth = -(p[axis] * sign) + face.half[axis];
        if depth.re() > -reach {
            let mut on_face = *p;
            on_face[axis] = T::from(sign * face.half[axis]);
            let (p_face, p_other) = (in_world(&on_face), in_world(p));
            let (p_wca, p_wcb) = if is_a {
                (p_face, p_other)
            } else {
                (p_other, p_face)
            };
            points.push(ManifoldPoint {
                depth,
                p_wca,
                p_wcb,
                nhat_ba_w: found.nhat_ba_w,
                id: before * 8 + line + 64 * u32::from(is_a),
            });
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proximity::signed_distance;
    use crate::shape::{Capsule, Cylinder, HalfSpace};
    use proptest::prelude::*;
    use tarragon_framework::AutoDiff;
    use tarragon_framework::math;

    fn manifold<T: Scalar>(
        a: &Shape,
        x_wa: &Isometry3<T>,
        b: &Shape,
        x_wb: &Isometry3<T>,
    ) -> (PairDistance<T>, Manifold<T>) {
        let found = signed_distance(a, x_wa, b, x_wb).unwrap();
        let points = contact_manifold(Body::of(a), x_wa, Body::of(b), x_wb, &found, 0.0);
        (found, points)
    }
    fn cube(size: f64) -> Shape {
        BoxShape::new(size, size, size).unwrap().into()
    }
    fn above(z: f64, yaw: f64) -> Isometry3<f64> {
        math::pose(math::rpy(0.0, 0.0, yaw), Vector3::new(0.0, 0.0, z))
    }

    #[test]
    fn faces_meet_in_the_corners_of_their_common_region() {
        let (below, x) = (cube(1.0), Isometry3::identity());
        // A turned cube has eight corners with the lower one; a smaller one has its own four.
        for (size, yaw, count) in [(1.0, 0.7, 8), (0.5, 0.7, 4), (2.0, 0.0, 4)] {
            let x_w = above(0.5 + size / 2.0 - 0.01, yaw);
            for swapped in [false, true] {
                let upper = cube(size);
                let (_, points) = if !swapped {
                    manifold(&upper, &x_w, &below, &x)
                } else {
                    manifold(&below, &x, &upper, &x_w)
                };
                assert_eq!(points.len(), count, "{size} {points:?}");
                for point in &points {
                    assert!((point.depth - 0.01).abs() < 1e-15);
                    let (lower, upper) = if !swapped {
                        (point.p_wca, point.p_wcb)
                    } else {
                        (point.p_wcb, point.p_wca)
                    };
                    assert!((lower.z - 0.49).abs() < 1e-15 && (upper.z - 0.5).abs() < 1e-15);
                    assert!((lower - upper).xy().norm() < 1e-15);
                    assert!(lower.x.abs() < 0.5 + 1e-15 && lower.y.abs() < 0.5 + 1e-15);
                }
                let mut ids: Vec<u32> = points.iter().map(|p| p.id).collect();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), count);
            }
        }
    }

    /// The points of faces that are apart are those of faces that overlap, without a jump.
    #[test]
    fn points_within_a_reach_continue_those_of_an_overlap() {
        let (below, x) = (cube(1.0), Isometry3::identity());
        let ground: Shape = HalfSpace.into();
        let x_ground = above(0.5, 0.0);
        for (base, x_base) in [(&below, &x), (&ground, &x_ground)] {
            let points = |distance: f64| {
                let x_w = above(0.75 + distance, 0.3);
                let found = signed_distance(&cube(0.5), &x_w, base, x_base).unwrap();
                let upper = cube(0.5);
                let (upper, base) = (Body::of(&upper), Body::of(base));
                contact_manifold(upper, &x_w, base, x_base, &found, 0.02)
            };
            let touching = points(-1e-9);
            assert_eq!(touching.len(), 4, "{base:?}");
            for distance in [1e-9, 0.01] {
                let apart = points(distance);
                assert_eq!(apart.len(), 4, "{base:?}");
                for (p, q) in apart.iter().zip(&touching) {
                    assert_eq!(p.id, q.id);
                    assert!((p.depth + distance).abs() < 1e-15, "{p:?}");
                    assert!((p.p_wca - q.p_wca).norm() < distance + 2e-9, "{p:?}");
                }
            }
            assert!(points(0.021).is_empty());
        }
    }

    #[test]
    fn ids_stay_while_a_box_slides() {
        let (below, x) = (cube(1.0), Isometry3::identity());
        let ids = |shift: f64| {
            let mut x_w = above(0.99, 0.3);
            x_w.translation.x = shift;
            let (_, points) = manifold(&cube(1.0), &x_w, &below, &x);
            let mut ids: Vec<u32> = points.iter().map(|p| p.id).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids(0.0), ids(1e-3));
        assert_eq!(ids(0.0), ids(-1e-3));
    }

    #[test]
    fn crossing_edges_have_one_point() {
        let (below, x) = (
            cube(1.0),
            math::pose(math::rpy(0.785, 0.0, 0.0), Vector3::zeros()),
        );
        let x_w = math::pose(math::rpy(0.0, 0.785, 0.0), Vector3::new(0.0, 0.0, 1.4));
        assert!(manifold(&cube(1.0), &x_w, &below, &x).1.is_empty());
    }

    #[test]
    fn solids_on_a_half_space_have_the_points_that_carry_them() {
        let ground: Shape = HalfSpace.into();
        let x = Isometry3::identity();
        let upright = Vector3::new(0.0, 0.0, 0.49);
        let lying = |z: f64| {
            let turned = math::rpy(0.0, std::f64::consts::FRAC_PI_2, 0.3);
            math::pose(turned, Vector3::new(0.0, 0.0, z))
        };
        let cylinder: Shape = Cylinder::new(0.2, 1.0).unwrap().into();
        let capsule: Shape = Capsule::new(0.2, 1.0).unwrap().into();
        let standing = math::pose(math::rpy(0.0, 0.0, 0.3), upright);
        for (shape, x_w, count, depth) in [
            (&cube(1.0), standing, 4, 0.01),
            (&cylinder, standing, 5, 0.01),
            (&cylinder, lying(0.19), 2, 0.01),
            (&capsule, lying(0.19), 2, 0.01),
            (
                &capsule,
                math::pose(math::rpy(0.1, 0.0, 0.0), Vector3::new(0.0, 0.0, 0.69)),
                1,
                // Of the lower end.
                0.2 + 0.5 * 0.1_f64.cos() - 0.69,
            ),
        ] {
            let (_, points) = manifold(shape, &x_w, &ground, &x);
            assert_eq!(points.len(), count, "{shape:?}: {points:?}");
            let (_, reversed) = manifold(&ground, &x, shape, &x_w);
            for (point, reversed) in points.iter().zip(&reversed) {
                assert!((point.depth - depth).abs() < 1e-15, "{shape:?}: {points:?}");
                assert!((point.p_wcb.z.abs() < 1e-15) && point.p_wca.z < 0.0);
                assert_eq!((point.p_wca, point.id), (reversed.p_wcb, reversed.id));
            }
        }
    }

    proptest! {
        /// All points are in both boxes, none is deeper than the deepest overlap, and derivatives
        /// are those of the depth.
        #[test]
        fn points_of_boxes_are_in_both(
            tilt in prop::array::uniform3(-0.05..0.05_f64),
            p in prop::array::uniform2(-0.4..0.4_f64),
            depth in 0.001..0.03_f64,
            yaw in 0.0..3.0_f64,
        ) {
            let (a, b) = (cube(0.6), cube(1.0));
            let turn = math::rpy(tilt[0], tilt[1], yaw);
            let x_wa = math::pose(turn, Vector3::new(p[0], p[1], 0.8 - depth));
            let x_wb = math::pose(math::rpy(0.0, 0.0, tilt[2]), Vector3::zeros());
            let (found, points) = manifold(&a, &x_wa, &b, &x_wb);
            prop_assume!(found.distance < 0.0);
            prop_assert!(points.len() <= 8);
            for point in &points {
                // The deepest overlap may be along the normal of two edges, which is that of the
                // face but for an angle whose cosine is within 1e-9 of 1.
                prop_assert!(point.depth <= -found.distance + 1e-9, "{}", point.depth);
                for (half, x_w, p_w) in [(0.3, x_wa, point.p_wca), (0.5, x_wb, point.p_wcb)] {
                    let q = x_w.inverse_transform_vector(&(p_w - x_w.translation.vector));
                    prop_assert!(q.amax() <= half + 1e-12, "{q}");
                }
                let along = (point.p_wcb - point.p_wca).dot(&found.nhat_ba_w);
                prop_assert!((along - point.depth).abs() < 1e-9);
            }
            // Derivatives with respect to lowering the upper box.
            let lift = |x: &Isometry3<f64>| -> Isometry3<AutoDiff> {
                let rotation = x.rotation.coords.map(AutoDiff::from);
                let rotation = nalgebra::UnitQuaternion::new_unchecked(rotation.into());
                math::pose(rotation, x.translation.vector.map(AutoDiff::from))
            };
            let mut lowered = lift(&x_wa);
            lowered.translation.z -= AutoDiff::variable(0.0, 0);
            let (_, with) = manifold(&a, &lowered, &b, &lift(&x_wb));
            prop_assert_eq!(with.len(), points.len());
            let h = 1e-6;
            let shifted = |h: f64| {
                let mut x_wa = x_wa;
                x_wa.translation.z -= h;
                manifold(&a, &x_wa, &b, &x_wb).1
            };
            let (deeper, higher) = (shifted(h), shifted(-h));
            let ids = |points: &Manifold<f64>| points.iter().map(|p| p.id).collect::<Vec<_>>();
            prop_assume!(ids(&deeper) == ids(&points) && ids(&higher) == ids(&points));
            for (i, (with, point)) in with.iter().zip(&points).enumerate() {
                prop_assert!((with.depth.re - point.depth).abs() < 1e-15);
                // Rounding of 1e-16 m over 2e-6 m.
                let difference = (deeper[i].depth - higher[i].depth) / (2.0 * h);
                prop_assert!((with.depth.eps[0] - difference).abs() < 1e-8, "{difference}");
            }
        }
    }
}
