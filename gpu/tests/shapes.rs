//! Shapes: random ones, near and around the camera, far from the origin.

use crate::support::{DECLARED, Pair, Random};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;
use tarragon_geometry::render::{LightFrame, LightParameter, LightType, RenderEngineCpuParams};
use tarragon_geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Rgba, Shape, Sphere};

/// A light of each type, fixed to the world or the camera.
pub(crate) fn lights() -> Vec<LightParameter> {
    let lamp = LightParameter {
        light_type: LightType::Point,
        frame: LightFrame::World,
        position: Vector3::new(1.0, -2.0, 1.0),
        attenuation_values: Vector3::new(0.4, 0.1, 0.08),
        color: Rgba::new(1.0, 0.8, 0.6, 1.0).unwrap(),
        ..LightParameter::default()
    };
    let spot = LightParameter {
        light_type: LightType::Spot,
        frame: LightFrame::Camera,
        position: Vector3::new(0.2, 0.0, 0.0),
        cone_angle: 12.0,
        intensity: 0.7,
        ..LightParameter::default()
    };
    let sun = LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(0.3, 0.5, 1.0),
        intensity: 0.5,
        ..LightParameter::default()
    };
    vec![lamp, spot, sun]
}

fn scene(pair: &mut Pair, seed: u64, count: usize) {
    let mut random = Random(seed);
    for k in 0..count {
        let (shape, p) = (random.shape(k % 5), random.vector(1.0));
        let p = Vector3::new(1.5 * p.x, p.y, 3.0 + 1.5 * p.z);
        let (pose, color) = (random.pose(p), random.color());
        pair.add(shape, pose, color);
    }
    // A floor that is seen at a grazing angle far away.
    let floor = math::pose(
        math::rotation_exp(&(Vector3::x() * 1.4)),
        Vector3::y() * 0.9,
    );
    pair.add(HalfSpace, floor, random.color());
}

#[test]
fn random_shapes_equal_those_of_the_cpu_engine() {
    for (seed, count) in [(1, 10), (2, 40), (3, 100)] {
        let params = RenderEngineCpuParams {
            lights: if seed == 2 { Vec::new() } else { lights() },
            ..RenderEngineCpuParams::default()
        };
        let Some(mut pair) = Pair::new(params, (320, 240)) else {
            return;
        };
        scene(&mut pair, seed, count);
        pair.compare(&format!("{count} shapes"), &DECLARED);
    }
}

#[test]
fn shapes_around_the_camera_and_across_the_near_plane_are_equal() {
    let all: [Shape; 5] = [
        Sphere::new(1.0).unwrap().into(),
        BoxShape::new(2.0, 1.6, 1.8).unwrap().into(),
        Cylinder::new(1.0, 2.0).unwrap().into(),
        Capsule::new(0.8, 1.0).unwrap().into(),
        Ellipsoid::new(1.0, 0.7, 1.3).unwrap().into(),
    ];
    for (k, shape) in all.into_iter().enumerate() {
        for near in [0.05, 0.6] {
            let params = RenderEngineCpuParams {
                lights: lights(),
                ..RenderEngineCpuParams::default()
            };
            let Some(mut pair) = Pair::new(params, (160, 120)) else {
                return;
            };
            pair.set_near(near);
            let mut random = Random(k as u64);
            let inside = random.pose(Vector3::new(0.1, -0.1, 0.2));
            pair.add(shape.clone(), inside, random.color());
            let cut = random.pose(Vector3::new(0.3, 0.2, 0.9 + near));
            pair.add(Sphere::new(0.5).unwrap(), cut, random.color());
            pair.compare(&format!("inside shape {k}, near {near}"), &DECLARED);
        }
    }
}

#[test]
fn poses_are_relative_to_the_camera_before_they_are_rounded() {
    let Some(mut pair) = Pair::new(RenderEngineCpuParams::default(), (160, 120)) else {
        return;
    };
    // In f32, positions 10 km from the origin are multiples of 1 mm.
    let far = Isometry3::translation(1e4, -1e4, 1e4);
    scene(&mut pair, 4, 20);
    for pose in pair.poses.values_mut() {
        *pose = far * *pose;
    }
    pair.x_wc = far;
    pair.compare("10 km away", &DECLARED);
}

#[test]
fn exposure_and_samples_are_equal() {
    let params = RenderEngineCpuParams {
        lights: lights(),
        exposure: Some(1.7),
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    };
    let Some(mut pair) = Pair::new(params, (160, 120)) else {
        return;
    };
    scene(&mut pair, 5, 20);
    pair.compare("exposure, 4 samples", &DECLARED);
}
