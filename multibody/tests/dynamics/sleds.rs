//! Sleds on rails along x, whose motion has closed forms.

use nalgebra::{Matrix3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

/// Mass of a sled (kg).
pub(super) const MASS: f64 = 2.0;
pub(super) const DT: f64 = 1e-3;

/// Creates N sleds, after `change` has changed each rail and `add` has added the rest.
pub(super) fn sleds<const N: usize>(
    change: impl Fn(Joint) -> Joint,
    add: impl FnOnce(&mut MultibodyPlantBuilder, [JointIndex; N]),
) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let mut plant = MultibodyPlantBuilder::new(DT).unwrap();
    let rails = std::array::from_fn(|k| {
        let inertia = SpatialInertia::from_central(MASS, Vector3::zeros(), Matrix3::identity());
        let instance = ModelInstanceIndex::DEFAULT;
        let body = plant.add_rigid_body(&format!("sled{k}"), instance, inertia.unwrap());
        let rail = format!("rail{k}");
        let rail = Joint::prismatic(&rail, BodyIndex::WORLD, body.unwrap(), Vector3::x());
        plant.add_joint(change(rail.unwrap())).unwrap()
    });
    add(&mut plant, rails);
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    (b.build().unwrap(), plant)
}

/// Adds an actuator without limit that has a control.
pub(super) fn add_actuator(
    plant: &mut MultibodyPlantBuilder,
    rail: JointIndex,
    control: AffineControl,
) -> JointActuatorIndex {
    let actuator = plant.add_joint_actuator("puller", rail, f64::INFINITY);
    let actuator = actuator.unwrap();
    plant.set_affine_control(actuator, control).unwrap();
    actuator
}
