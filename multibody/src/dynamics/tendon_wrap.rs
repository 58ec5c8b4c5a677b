//! Tendons around spheres and cylinders: tangent points, and the choice of the way around.
//!
//! The way is chosen by values without derivatives, as MuJoCo chooses it. All results have
//! derivatives, also where the choice would change.

use crate::model::WrapShape;
use crate::spatial::cross;
use nalgebra::Vector3;
use std::f64::consts::TAU;
use tarragon_framework::Scalar;

/// Lengths below this are 0 (m), as in MuJoCo.
const TINY: f64 = 1e-15;
/// Rounding of an angle between tangent points (rad), which must not become a full turn.
const ROUNDING: f64 = 1e-12;
/// Bound on the steps to the point of an inside wrap; bisection alone needs fewer.
const MOST_STEPS: usize = 100;

/// A tendon that touches a geom on its way from one site to the next, expressed in the frame G of
/// the geom.
pub(super) struct Wrapped<T: Scalar> {
    /// Points where the tendon reaches the geom and where it leaves it.
    pub(super) points: [Vector3<T>; 2],
    /// Unit vectors along the tendon before the first point and after the second point.
    pub(super) directions: [Vector3<T>; 2],
    /// Length from site to site.
    pub(super) length: T,
}

/// The circle around which a tendon wraps: its radius and the unit vector along its axis.
struct Circle<T: Scalar> {
    radius: f64,
    normal: Vector3<T>,
}

/// Way from one point outside of a circle to another.
#[derive(Debug, PartialEq)]
enum Way {
    Straight,
    /// Counterclockwise about the normal (1), or clockwise (-1).
    Around(f64),
    /// By a point in a direction from the centre.
    Inside(Vector3<f64>),
}

/// A way in the plane of a circle.
struct PlanarWay<T: Scalar> {
    points: [Vector3<T>; 2],
    directions: [Vector3<T>; 2],
    /// Lengths before, on and after the circle.
    lengths: [T; 3],
}

/// Wraps a tendon from one point to another around a geom of some radius; `None` if it is straight.
/// All points are expressed in the frame of the geom.
pub(super) fn wrap<T: Scalar>(
    shape: WrapShape,
    radius: f64,
    ends: &[Vector3<T>; 2],
    side: Option<Vector3<f64>>,
) -> Option<Wrapped<T>> {
    let normal = match shape {
        WrapShape::Sphere => common_normal(ends),
        WrapShape::Cylinder => Vector3::z(),
    };
    let flat = ends.map(|p| match shape {
        WrapShape::Sphere => p,
        WrapShape::Cylinder => Vector3::new(p.x, p.y, T::zero()),
    });
    let real = Circle {
        radius,
        normal: values(&normal),
    };
    let flat_values = flat.each_ref().map(values);
    let first_axis = match shape {
        WrapShape::Sphere => flat_values[0].try_normalize(TINY)?,
        WrapShape::Cylinder => Vector3::x(),
    };
    let way = match real.way(&flat_values, side, &first_axis) {
        Way::Straight => return None,
        Way::Around(sense) => Circle { radius, normal }.around(&flat, sense),
        Way::Inside(direction) => {
            let tangent = real.normal.cross(&direction);
            let across = (shape == WrapShape::Sphere).then_some(real.normal);
            let tangents = [Some(tangent), across].into_iter().flatten();
            inside(radius, &flat, &direction, tangents)
        }
    };
    Some(match shape {
        WrapShape::Sphere => way.on_sphere(),
        WrapShape::Cylinder => way.on_cylinder(ends),
    })
}

fn values<T: Scalar>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.re())
}

fn constant<T: Scalar>(v: &Vector3<f64>) -> Vector3<T> {
    v.map(T::from)
}

/// Returns the unit vector across the plane of the centre and two points. Where they are on one
/// line, the plane is MuJoCo's; the path has a kink there.
fn common_normal<T: Scalar>([a, b]: &[Vector3<T>; 2]) -> Vector3<T> {
    let normal = cross(a, b);
    if values(&normal).norm() >= TINY {
        let norm = normal.norm();
        return normal / norm;
    }
    let a = values(a);
    let mut other = Vector3::repeat(1.0);
    // Of equal components, MuJoCo takes the first.
    let largest = (1..3).fold(
        0,
        |most, i| if a[i].abs() > a[most].abs() { i } else { most },
    );
    other[largest] = 0.0;
    constant(&a.cross(&other).normalize())
}

/// Returns the point of a segment that is nearest to the origin.
fn nearest_to_origin(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    let along = b - a;
    let squared = along.norm_squared();
    if squared < TINY {
        *a
    } else {
        a + along * (-along.dot(a) / squared).clamp(0.0, 1.0)
    }
}

impl Circle<f64> {
    /// Chooses the way between two points in the plane of the circle. `first_axis` is the
    /// direction of a side site on the axis.
    fn way(
        &self,
        ends: &[Vector3<f64>; 2],
        side: Option<Vector3<f64>>,
        first_axis: &Vector3<f64>,
    ) -> Way {
        let (radius, [a, b]) = (self.radius, ends);
        if radius < TINY || a.norm() < radius || b.norm() < radius {
            return Way::Straight;
        }
        let nearest = nearest_to_origin(a, b);
        if side.is_some_and(|side| side.norm() < radius) {
            return if nearest.norm() <= radius {
                Way::Straight
            } else {
                self.way_inside(ends)
            };
        }
        let side = side.map(|s| {
            let flat = s - self.normal * self.normal.dot(&s);
            flat.try_normalize(TINY).unwrap_or(*first_axis)
        });
        let on_side = side.is_none_or(|side| side.dot(&nearest) >= 0.0);
        if (nearest.norm() > radius && on_side) || (b - a).norm_squared() < TINY {
            return Way::Straight;
        }
        let [clockwise, counterclockwise] = [-1.0, 1.0].map(|sense| {
            let [p, q] = self.around(ends, sense).points;
            let crosses = self.segments_cross([a, &p], [b, &q]);
            (!crosses).then(|| match &side {
                Some(side) => (p + q).try_normalize(TINY).map_or(0.0, |m| m.dot(side)),
                None => -(p - q).norm_squared(),
            })
        });
        match (clockwise, counterclockwise) {
            (None, None) => Way::Straight,
            (cw, ccw) if cw > ccw => Way::Around(-1.0),
            _ => Way::Around(1.0),
        }
    }

    /// Returns true if two segments in the plane of the circle have a common point.
    fn segments_cross(&self, [a, p]: [&Vector3<f64>; 2], [b, q]: [&Vector3<f64>; 2]) -> bool {
        let area = |u: &Vector3<f64>, v: &Vector3<f64>| self.normal.dot(&u.cross(v));
        let (first, second, between) = (p - a, q - b, b - a);
        let both = area(&first, &second);
        if both.abs() < TINY {
            return false;
        }
        let unit = 0.0..=1.0;
        unit.contains(&(area(&between, &second) / both))
            && unit.contains(&(area(&between, &first) / both))
    }

    /// Finds the point where the tendon touches the circle from outside while it is pulled
    /// inwards: both parts have equal angles to the radius, so that their sum is least. The slope
    /// of the sum grows between the points that are visible from both ends.
    fn way_inside(&self, [a, b]: &[Vector3<f64>; 2]) -> Way {
        let (r, lengths) = (self.radius, [a.norm(), b.norm()]);
        let signed = self.normal.dot(&a.cross(b)).atan2(a.dot(b));
        let (total, sense) = (signed.abs(), signed.signum());
        let visible = lengths.map(|l| (r / l).min(1.0).acos());
        // Slope of the distance of a point at distance l, over r, and its derivative by the angle.
        let slope = |l: f64, angle: f64| {
            let (sin, cos) = angle.sin_cos();
            let d = (l * l + r * r - 2.0 * l * r * cos).sqrt();
            (l * sin / d, l * cos / d - l * l * r * sin * sin / d.powi(3))
        };
        let (mut low, mut high) = ((total - visible[1]).max(0.0), visible[0].min(total));
        let mut angle = 0.5 * (low + high);
        for _ in 0..MOST_STEPS {
            let (before, after) = (slope(lengths[0], angle), slope(lengths[1], total - angle));
            let error = before.0 - after.0;
            if error > 0.0 {
                high = angle
            } else {
                low = angle
            }
            let step = error / (before.1 + after.1);
            let next = match angle - step {
                next if next > low && next < high => next,
                _ => 0.5 * (low + high),
            };
            let moved = (next - angle).abs();
            angle = next;
            if moved <= f64::EPSILON {
                break;
            }
        }
        let start = a / lengths[0];
        let (sin, cos) = (sense * angle).sin_cos();
        Way::Inside(start * cos + self.normal.cross(&start) * sin)
    }
}

impl<T: Scalar> Circle<T> {
    /// Returns the way around the circle in one sense: 1 is counterclockwise about the normal.
    fn around(&self, ends: &[Vector3<T>; 2], sense: f64) -> PlanarWay<T> {
        let r = self.radius;
        let tangents = [sense, -sense].map(|sense| T::from(sense * r));
        let free = ends.each_ref().map(|p| {
            let squared = p.norm_squared() - r * r;
            // The root has no derivative on the circle, where nothing is left of the tendon.
            if squared.re() > 0.0 {
                squared.sqrt()
            } else {
                T::zero()
            }
        });
        let point = |i: usize| {
            let (p, squared) = (&ends[i], ends[i].norm_squared());
            p * (T::from(r * r) / squared)
                + cross(&self.normal, p) * (tangents[i] * free[i] / squared)
        };
        let points = [point(0), point(1)];
        let sense = T::from(sense);
        let directions = points
            .each_ref()
            .map(|p| cross(&self.normal, p) * (sense / r));
        let turn = self.normal.dot(&cross(&points[0], &points[1])) * sense;
        let mut angle = turn.atan2(points[0].dot(&points[1]));
        if angle.re() < -ROUNDING {
            angle += T::from(TAU);
        }
        PlanarWay {
            points,
            directions,
            lengths: [free[0], angle * r, free[1]],
        }
    }
}

/// Returns the way by the point of a circle or sphere in the given direction, which is the best one
/// but for derivatives. One step of Newton's method along each of the tangents gives it those.
fn inside<T: Scalar>(
    radius: f64,
    ends: &[Vector3<T>; 2],
    direction: &Vector3<f64>,
    tangents: impl Iterator<Item = Vector3<f64>>,
) -> PlanarWay<T> {
    let start: Vector3<T> = constant(&(direction * radius));
    let away = ends.each_ref().map(|p| {
        let line = p - start;
        let distance = line.norm();
        (line / distance, distance.re())
    });
    let mut point = start;
    for tangent in tangents {
        let along: Vector3<T> = constant(&tangent);
        let mut slope = T::zero();
        let mut curvature = 0.0;
        for (unit, distance) in &away {
            let part = along.dot(unit);
            slope -= part * radius;
            let bend = (1.0 - part.re() * part.re()) * radius / distance;
            curvature += radius * (direction.dot(&values(unit)) + bend);
        }
        point -= along * (slope * (radius / curvature));
    }
    let lines = [point - ends[0], ends[1] - point];
    let lengths = lines.each_ref().map(|line| line.norm());
    PlanarWay {
        points: [point; 2],
        directions: [lines[0] / lengths[0], lines[1] / lengths[1]],
        lengths: [lengths[0], T::zero(), lengths[1]],
    }
}

impl<T: Scalar> PlanarWay<T> {
    fn total(&self) -> T {
        self.lengths[0] + self.lengths[1] + self.lengths[2]
    }

    fn on_sphere(self) -> Wrapped<T> {
        Wrapped {
            length: self.total(),
            points: self.points,
            directions: self.directions,
        }
    }

    /// Adds the rise along the cylinder, which is uniform along the way.
    fn on_cylinder(self, ends: &[Vector3<T>; 2]) -> Wrapped<T> {
        let total = self.total();
        let slope = (ends[1].z - ends[0].z) / total;
        let stretch = (slope * slope + T::one()).sqrt();
        let mut points = self.points;
        points[0].z = ends[0].z + slope * self.lengths[0];
        points[1].z = ends[1].z - slope * self.lengths[2];
        let rise = Vector3::z() * slope;
        Wrapped {
            points,
            directions: self.directions.map(|d| (d + rise) / stretch),
            length: total * stretch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;
    use tarragon_framework::AutoDiff;

    fn ends(a: [f64; 3], b: [f64; 3]) -> [Vector3<f64>; 2] {
        [Vector3::from(a), Vector3::from(b)]
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-14 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn opposite_points_are_joined_by_tangents_and_an_arc() {
        // The tangent points are at 60 degrees from the ends.
        let ends = ends([-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]);
        let length = 2.0 * 3.0_f64.sqrt() + PI / 3.0;
        for shape in [WrapShape::Sphere, WrapShape::Cylinder] {
            near(wrap(shape, 1.0, &ends, None).unwrap().length, length);
        }
        for y in [-3.0, 3.0] {
            let side = Some(Vector3::new(0.0, y, 5.0));
            let wrapped = wrap(WrapShape::Cylinder, 1.0, &ends, side).unwrap();
            near(wrapped.length, length);
            for (point, x) in wrapped.points.iter().zip([-0.5, 0.5]) {
                near(point.x, x);
                near(point.y, y.signum() * 0.75_f64.sqrt());
            }
        }
    }

    #[test]
    fn tendons_rise_along_cylinders_as_helices() {
        let (low, high) = ([-2.0, 0.5, -1.0], [2.0, 0.5, 2.0]);
        let level = ends([low[0], low[1], 0.0], [high[0], high[1], 0.0]);
        let flat = wrap(WrapShape::Cylinder, 1.0, &level, None).unwrap();
        let wrapped = wrap(WrapShape::Cylinder, 1.0, &ends(low, high), None).unwrap();
        near(wrapped.length, flat.length.hypot(3.0));
        for (direction, flat) in wrapped.directions.iter().zip(&flat.directions) {
            near(direction.norm(), 1.0);
            near(direction.z, 3.0 / wrapped.length);
            near(
                direction.xy().dot(&flat.xy()),
                flat.xy().norm_squared() * (1.0 - direction.z.powi(2)).sqrt(),
            );
        }
    }

    #[test]
    fn tendons_that_are_clear_of_the_geom_are_straight() {
        let above = ends([-2.0, 1.5, 0.0], [2.0, 1.5, 0.0]);
        for shape in [WrapShape::Sphere, WrapShape::Cylinder] {
            assert!(wrap(shape, 1.0, &above, None).is_none());
            assert!(wrap(shape, 1.0, &above, Some(Vector3::y() * 2.0)).is_none());
            // On the wrong side of the geom, they go around it.
            let around = wrap(shape, 1.0, &above, Some(Vector3::y() * -2.0)).unwrap();
            assert!(around.length > 4.0 + PI / 2.0, "{}", around.length);
            assert!(around.points.iter().all(|p| p.y < 0.0));
        }
        let within = ends([-2.0, 0.5, 0.0], [0.2, 0.5, 0.0]);
        assert!(wrap(WrapShape::Sphere, 1.0, &within, None).is_none());
    }

    #[test]
    fn inner_side_sites_pull_tendons_to_the_geom() {
        let above = ends([-2.0, 2.0, 0.0], [2.0, 2.0, 1.0]);
        let inside = Some(Vector3::new(0.1, -0.2, 0.3));
        let wrapped = wrap(WrapShape::Cylinder, 1.0, &above, inside).unwrap();
        near(wrapped.length, (2.0 * 5.0_f64.sqrt()).hypot(1.0));
        for point in &wrapped.points {
            assert!(
                (point - Vector3::new(0.0, 1.0, 0.5)).norm() < 1e-14,
                "{point}"
            );
        }
        let across = ends([-2.0, 0.5, 0.0], [2.0, 0.5, 0.0]);
        assert!(wrap(WrapShape::Sphere, 1.0, &across, inside).is_none());
        // Both ends in one direction from the centre.
        let radial = ends([0.0, 0.0, 2.0], [0.0, 0.0, 3.0]);
        near(
            wrap(WrapShape::Sphere, 1.0, &radial, inside)
                .unwrap()
                .length,
            3.0,
        );
    }

    /// Numbers of a wrap: length, points, directions.
    fn numbers<T: Scalar>(wrapped: &Wrapped<T>) -> Vec<T> {
        let vectors = wrapped.points.iter().chain(&wrapped.directions);
        let all = vectors.flat_map(|v| v.iter().copied());
        [wrapped.length].into_iter().chain(all).collect()
    }

    fn coordinates(size: f64) -> impl Strategy<Value = [f64; 3]> {
        prop::array::uniform3(-size..size)
    }

    proptest! {
        /// The length changes along the directions, and everything as dual numbers tell.
        #[test]
        fn derivatives_are_those_of_differences(
            a in coordinates(2.0),
            b in coordinates(2.0),
            side in prop::option::of(coordinates(1.5)),
            is_sphere in any::<bool>(),
        ) {
            let shape = if is_sphere { WrapShape::Sphere } else { WrapShape::Cylinder };
            let at = ends(a, b);
            let side = side.map(Vector3::from);
            let lifted = [0, 1].map(|k: usize| {
                Vector3::from_fn(|i, _| AutoDiff::variable(at[k][i], 3 * k + i))
            });
            let Some(dual) = wrap(shape, 1.0, &lifted, side) else {
                prop_assert!(wrap(shape, 1.0, &at, side).is_none());
                return Ok(());
            };
            // Near kinks and near the geom, differences have large errors.
            let away = |p: &Vector3<f64>| if is_sphere { p.norm() } else { p.xy().norm() };
            let normal = if is_sphere { at[0].cross(&at[1]).norm() } else { 1.0 };
            prop_assume!(at.iter().all(|p| away(p) > 1.05) && normal > 0.1);
            let dual = numbers(&dual);
            let h = 1e-5;
            for k in 0..6 {
                let moved = |h: f64| {
                    let mut at = at;
                    at[k / 3][k % 3] += h;
                    wrap(shape, 1.0, &at, side).map(|w| numbers(&w))
                };
                let (Some(low), Some(high)) = (moved(-h), moved(h)) else {
                    return Ok(()); // There is a kink between them.
                };
                prop_assume!((low[0] - high[0]).abs() < 0.01);
                for (dual, (low, high)) in dual.iter().zip(low.iter().zip(&high)) {
                    let difference = (high - low) / (2.0 * h);
                    let error = (dual.eps[k] - difference).abs();
                    prop_assert!(error < 1e-5 * (1.0 + difference.abs()), "{} {difference}", dual.eps[k]);
                }
                let along = dual[7 + k].re * if k < 3 { -1.0 } else { 1.0 };
                prop_assert!((dual[0].eps[k] - along).abs() < 1e-9, "{} {along}", dual[0].eps[k]);
            }
        }
    }
}
