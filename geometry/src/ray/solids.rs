//! Intersections of rays with solids that have closed forms. `o` is the origin and `d` the
//! direction, of unit length, in the frame of the solid.

use super::crossing::{CrossedSurface, Crossing, Passage};
use nalgebra::{Vector2, Vector3};

/// Returns the interval of a line within `radius` of the origin, as its middle and half its length.
/// The foot of the perpendicular is computed as a vector, so nothing cancels for distant origins.
fn chord<const N: usize>(
    o: &nalgebra::SVector<f64, N>,
    d: &nalgebra::SVector<f64, N>,
    radius: f64,
) -> Option<(f64, f64)> {
    let middle = -o.dot(d);
    let foot = o + d * middle;
    let squared = (radius - foot.norm()) * (radius + foot.norm());
    (squared >= 0.0).then(|| (middle, squared.sqrt()))
}

pub(super) fn sphere(
    radius: f64,
    center: &Vector3<f64>,
    o: &Vector3<f64>,
    d: &Vector3<f64>,
) -> Option<Passage> {
    // A point has no surface to hit.
    if radius == 0.0 {
        return None;
    }
    let (middle, half) = chord(&(o - center), d, radius)?;
    let crossing = |t| Crossing::new(t, CrossedSurface::Round(*center));
    Some((crossing(middle - half), crossing(middle + half)))
}

pub(super) fn half_space(o: &Vector3<f64>, d: &Vector3<f64>) -> Option<Passage> {
    if d.z == 0.0 {
        return None;
    }
    let surface = CrossedSurface::Flat(Vector3::z());
    let (at, never) = (
        Crossing::new(-o.z / d.z, surface),
        Crossing::new(f64::INFINITY, surface),
    );
    let before = Crossing::new(f64::NEG_INFINITY, surface);
    Some(if d.z < 0.0 { (at, never) } else { (before, at) })
}

/// Intersects a line with the slab between the two planes at plus and minus `half` along an axis.
fn slab(axis: usize, half: f64, o: &Vector3<f64>, d: &Vector3<f64>) -> Option<Passage> {
    let (o, d) = (o[axis], d[axis]);
    let mut n = Vector3::zeros();
    n[axis] = 1.0_f64.copysign(d);
    let (enters, leaves) = if d == 0.0 {
        if o.abs() > half {
            return None;
        }
        (f64::NEG_INFINITY, f64::INFINITY)
    } else {
        ((-half.copysign(d) - o) / d, (half.copysign(d) - o) / d)
    };
    let crossing = |t, n| Crossing::new(t, CrossedSurface::Flat(n));
    Some((crossing(enters, -n), crossing(leaves, n)))
}

/// Returns the interval of a line that is in both of two convex sets.
fn both(a: Passage, b: Passage) -> Option<Passage> {
    let enters = if b.0.distance > a.0.distance {
        b.0
    } else {
        a.0
    };
    let leaves = if b.1.distance < a.1.distance {
        b.1
    } else {
        a.1
    };
    (enters.distance <= leaves.distance).then_some((enters, leaves))
}

pub(super) fn cuboid(half: &Vector3<f64>, o: &Vector3<f64>, d: &Vector3<f64>) -> Option<Passage> {
    let xy = both(slab(0, half.x, o, d)?, slab(1, half.y, o, d)?)?;
    both(xy, slab(2, half.z, o, d)?)
}

/// Intersects a line with the infinite cylinder around z.
fn tube(radius: f64, o: &Vector3<f64>, d: &Vector3<f64>) -> Option<Passage> {
    let (o, d) = (Vector2::new(o.x, o.y), Vector2::new(d.x, d.y));
    let speed = d.norm();
    let crossing = |t| Crossing::new(t, CrossedSurface::Side);
    if speed < f64::MIN_POSITIVE {
        let always = (crossing(f64::NEG_INFINITY), crossing(f64::INFINITY));
        return (o.norm() <= radius).then_some(always);
    }
    let (middle, half) = chord(&o, &(d / speed), radius)?;
    let at = |s: f64| crossing(s / speed);
    Some((at(middle - half), at(middle + half)))
}

pub(super) fn cylinder(
    radius: f64,
    half: f64,
    o: &Vector3<f64>,
    d: &Vector3<f64>,
) -> Option<Passage> {
    both(tube(radius, o, d)?, slab(2, half, o, d)?)
}

/// Intersects a line with a capsule. A line that enters the tube beyond an end can enter the
/// capsule only through the sphere at that end.
pub(super) fn capsule(
    radius: f64,
    half: f64,
    o: &Vector3<f64>,
    d: &Vector3<f64>,
) -> Option<Passage> {
    let side = tube(radius, o, d)?;
    let end = |crossing: Crossing, pick: fn(Passage) -> Crossing| {
        let t = crossing.distance;
        // A crossing at infinity: the line comes from one end of the axis and goes to the other.
        let z = if t.is_finite() {
            o.z + t * d.z
        } else {
            t.signum() * d.z * f64::INFINITY
        };
        if z.abs() <= half {
            return Some(crossing);
        }
        let center = Vector3::new(0.0, 0.0, half.copysign(z));
        sphere(radius, &center, o, d).map(pick)
    };
    Some((end(side.0, |p| p.0)?, end(side.1, |p| p.1)?))
}

/// Intersects a line with an ellipsoid, which scaling turns into a unit sphere.
pub(super) fn ellipsoid(
    axes: &Vector3<f64>,
    o: &Vector3<f64>,
    d: &Vector3<f64>,
) -> Option<Passage> {
    let (o, d) = (o.component_div(axes), d.component_div(axes));
    let speed = d.norm();
    let (middle, half) = chord(&o, &(d / speed), 1.0)?;
    let surface = CrossedSurface::Ellipsoid(axes.component_mul(axes));
    let at = |s: f64| Crossing::new(s / speed, surface);
    Some((at(middle - half), at(middle + half)))
}
