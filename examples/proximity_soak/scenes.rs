//! Random scenes that are deliberately difficult.

use crate::truth::{Random, Solid, vector};
use nalgebra::{Isometry3, Vector3};
use serde_json::json;
use std::path::Path;
use tarragon::framework::math;
use tarragon::framework::random::RandomGenerator;
use tarragon::geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere};

pub(crate) type AnyError = Box<dyn std::error::Error>;

/// Smallest and largest size (m) for which results are promised, and the largest aspect ratio.
const SIZES: [f64; 2] = [1e-3, 100.0];
const ASPECT: f64 = 1e4;

pub(crate) struct Item {
    pub(crate) solid: Solid,
    /// qw, qx, qy, qz, x, y, z as written; the quaternion is normalized on use.
    pose: [f64; 7],
    pub(crate) anchored: bool,
}

impl Item {
    pub(crate) fn x_wg(&self) -> Isometry3<f64> {
        let [w, x, y, z, px, py, pz] = self.pose;
        let q = math::quaternion_wxyz([w, x, y, z]).expect("scenes have no zero quaternions");
        math::pose(q, Vector3::new(px, py, pz))
    }
}

pub(crate) struct Scene {
    pub(crate) items: Vec<Item>,
    pub(crate) point: Vector3<f64>,
}

impl Scene {
    /// Generates the scene with this number.
    pub(crate) fn random(seed: u64, number: u64) -> Result<Self, AnyError> {
        let r = &mut Random(RandomGenerator::stream(seed, number));
        let size = r.magnitude(SIZES[0], SIZES[1]);
        // Bodies share a size, or have different sizes.
        let own_sizes = r.once_in(4);
        let (arrangement, count) = (r.below(7), 2 + r.below(7));
        let mut items: Vec<Item> = vec![];
        let mut has_half_space = false;
        for i in 0..count {
            let size = if own_sizes {
                r.magnitude(SIZES[0], SIZES[1])
            } else {
                size
            };
            let solid = solid(r, size, !has_half_space)?;
            has_half_space |= matches!(solid.shape, Shape::HalfSpace(_));
            let q = quaternion(r, arrangement);
            let p = position(r, arrangement, i, size);
            let mut item = Item {
                solid,
                pose: [q[0], q[1], q[2], q[3], p.x, p.y, p.z],
                anchored: r.once_in(4),
            };
            if arrangement == 4
                && let Some(last) = items.last()
            {
                touch(r, &mut item, last);
            }
            items.push(item);
        }
        let around = items[r.below(count)].x_wg().translation.vector;
        let point = match r.below(3) {
            0 => around,
            _ => around + r.cube() * size,
        };
        Ok(Self { items, point })
    }

    /// The scene as a line for `tarragon query`; writes its meshes into `folder`.
    pub(crate) fn line(&self, folder: &Path, name: &str) -> Result<String, AnyError> {
        let mut geometries = vec![];
        for (i, item) in self.items.iter().enumerate() {
            let name = (folder, &*format!("{name}_{i}"));
            geometries.push(json!({
                "name": format!("g{i}"), "shape": item.solid.json(name)?, "pose": item.pose,
                "anchored": item.anchored,
            }));
        }
        let scene = json!({"geometries": geometries, "point": self.point.as_slice()});
        Ok(scene.to_string())
    }
}

/// A random shape about as large as `size`.
fn solid(r: &mut Random, size: f64, may_be_half_space: bool) -> Result<Solid, AnyError> {
    // Mostly ordinary proportions, sometimes the most extreme ones that are promised.
    let mut part = || match r.below(6) {
        0 => size,
        1 => size / ASPECT,
        _ => size * r.range(0.2, 1.0),
    };
    let (x, y, z) = (part(), part(), part());
    Ok(match r.below(8) {
        0 => Solid::of(BoxShape::new(x, y, z)?),
        1 => Solid::of(Sphere::new(if r.once_in(20) { 0.0 } else { x })?),
        2 => Solid::of(Cylinder::new(x, y)?),
        3 => Solid::of(Capsule::new(x, y)?),
        4 => Solid::of(Ellipsoid::new(x, y, z)?),
        5 if may_be_half_space => Solid::of(HalfSpace),
        6 => Solid::hull(points(r, size), true),
        _ => Solid::hull(points(r, size), false),
    })
}

/// Vertices of hulls: clouds, prisms, lattices and flat sets, with duplicate vertices and vertices
/// in the middle of faces and edges.
fn points(r: &mut Random, size: f64) -> Vec<Vector3<f64>> {
    let count = 4 + r.below(20);
    let mut points: Vec<Vector3<f64>> = match r.below(6) {
        0 => {
            let corner = |i: usize, bit: usize| if i & bit == 0 { -0.5 } else { 0.5 };
            let cube = |i| Vector3::new(corner(i, 1), corner(i, 2), corner(i, 4));
            (0..8).map(cube).collect()
        }
        1 => {
            let n = 3 + r.below(10);
            let rim = |i: usize| {
                let angle = std::f64::consts::TAU * (i / 2) as f64 / n as f64;
                Vector3::new(angle.cos(), angle.sin(), (i % 2) as f64) * 0.5
            };
            (0..2 * n).map(rim).collect()
        }
        2 => (0..count)
            .map(|_| r.cube().map(|c| (2.0 * c).round() * 0.25))
            .chain([Vector3::x(), Vector3::y(), Vector3::z(), Vector3::zeros()])
            .collect(),
        // Flat.
        3 => (0..count)
            .map(|_| r.cube().component_mul(&Vector3::new(0.5, 0.5, 0.0)))
            .collect(),
        // On a sphere.
        4 => (0..count).map(|_| r.direction() * 0.5).collect(),
        _ => (0..count).map(|_| r.cube() * 0.5).collect(),
    };
    if r.once_in(3) {
        points.extend_from_within(..2);
    }
    if r.once_in(3) {
        points.push((points[0] + points[1]) * 0.5);
    }
    let stretch = Vector3::from_fn(|_, _| {
        if r.once_in(5) {
            r.magnitude(1e-3, 1.0)
        } else {
            1.0
        }
    });
    let place = |p: Vector3<f64>| p.component_mul(&stretch) * size;
    points.into_iter().map(place).collect()
}

/// A random orientation: any, along the axes, by right angles, by 45 degrees, or nearly along the
/// axes.
fn quaternion(r: &mut Random, arrangement: usize) -> [f64; 4] {
    let kind = match arrangement {
        1 => r.below(2),
        2 => 0,
        _ => r.below(5),
    };
    let identity = [1.0, 0.0, 0.0, 0.0];
    let q = match kind {
        0 => identity,
        1 => std::array::from_fn(|_| r.range(-1.4, 1.4).round()),
        2 => {
            let angle = std::f64::consts::FRAC_PI_8 * r.below(8) as f64;
            [angle.cos(), 0.0, angle.sin(), 0.0]
        }
        3 => {
            let turn = r.cube() * r.magnitude(1e-17, 1e-3);
            [1.0, turn.x, turn.y, turn.z]
        }
        _ => r.quaternion(),
    };
    if q == [0.0; 4] { identity } else { q }
}

/// The next body's position: in a cloud, on a lattice, on one axis, all in one place, next to the
/// last one, far away, or in the same place up to rounding.
fn position(r: &mut Random, arrangement: usize, i: usize, size: f64) -> Vector3<f64> {
    match arrangement {
        1 => r.cube().map(|c| (2.0 * c).round() * 0.5) * size,
        2 => Vector3::z() * ((i as f64) * 0.5 * size),
        3 => Vector3::zeros(),
        5 => r.cube() * r.magnitude(1.0, 1e3),
        6 => r.cube() * size * r.magnitude(1e-17, 1e-6),
        _ => r.cube() * size,
    }
}

/// Moves a body so that it touches another one along some direction, up to a small gap.
fn touch(r: &mut Random, item: &mut Item, last: &Item) {
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let n = match r.below(6) {
        axis @ 0..3 => axes[axis],
        _ => r.direction(),
    };
    let gap = match r.below(3) {
        0 => 0.0,
        _ => r.magnitude(1e-17, 1e-2) * r.range(-1.0, 1.0).signum(),
    };
    let (x_last, x) = (last.x_wg(), item.x_wg());
    let reach = last.solid.support(&x_last, &vector::<f64>(&n))
        + gap
        + item.solid.support(&x, &vector::<f64>(&-n));
    // Support points face each other only by chance; the small gap is what matters.
    let p = x.translation.vector + n * reach;
    item.pose[4..].copy_from_slice(p.as_slice());
}
