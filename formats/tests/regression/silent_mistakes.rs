//! Mistakes in programs that had no effect and no message.

use super::load_mjcf;
use tarragon_formats::*;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

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
    let error = plant.set_gear_ratio(&mut ctx, pull, 6.0);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("'pull'") && error.contains("the gear of an AffineControl"),
        "{error}"
    );
}

/// The ball fell through the floor; Drake 1.51 throws. Without a scene there is nothing to touch.
#[test]
fn plant_with_collision_geometry_needs_its_scene() {
    let text = "<mujoco model='m'><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .2'>
        <freejoint/><geom size='.1'/></body></worldbody></mujoco>";
    let fall = |diagram: &Diagram<f64>, plant: &Block<MultibodyPlant>| {
        let mut sim = Simulator::new(diagram, diagram.default_context())?;
        sim.advance_to(1.0)?;
        Ok::<f64, Error>(plant.positions(sim.context())?[6])
    };
    let alone = |plant: MultibodyPlant| {
        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", plant);
        fall(&b.build()?, &plant)
    };
    let model = load_mjcf(text);
    let error = alone(model.plant.clone()).unwrap_err();
    let expected = "the input port 'geometry_query' must have a value, because the plant has \
                    collision geometries, got none; connect it";
    assert!(error.to_string().contains(expected), "{error}");

    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, model.plant, model.scene).unwrap();
    let height = fall(&b.build().unwrap(), &plant).unwrap();
    // MuJoCo's soft contact lets it sink by less than 1 mm.
    assert!((height - 0.1).abs() < 1e-3, "{height}");

    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.add_models_from_string(text, "xml").unwrap();
    let height = alone(plant.build().unwrap()).unwrap();
    // A thousand steps of 1 ms fall g dt / 2 = 5 mm further than the parabola.
    assert!((height - (0.2 - 9.81 / 2.0)).abs() < 0.01, "{height}");
}
