//! Mistakes in programs that had no effect and no message.

use super::load_mjcf;
use tarragon_framework::prelude::*;

/// The new gear ratio could be read back, but the motor kept pulling with the old one.
#[test]
fn the_gear_of_a_control_cannot_change_in_a_context() {
    let model = load_mjcf(
        "<mujoco model='m'><worldbody><body><joint name='j' type='slide'/><geom size='.1'/></body>
         </worldbody><actuator><motor name='pull' joint='j' gear='3'/></actuator></mujoco>",
    );
    let plant = model.plant;
    let pull = plant.joint_actuator_by_name("pull").unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let error = plant.system().set_gear_ratio(&plant, &mut ctx, pull, 6.0);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("'pull'") && error.contains("the gear of an AffineControl"),
        "{error}"
    );
}
