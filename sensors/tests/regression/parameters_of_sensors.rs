//! Sensors of model files in a context with other masses.
//!
//! Source of the right values: closed forms, and the sensors of a plant that is built with these
//! masses. The sensors kept the masses of the file.

use nalgebra::{Matrix3, Vector3};
use tarragon_formats::*;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;
use tarragon_sensors::*;

/// A cart with a pendulum. The pendulum's mass is at the end of a rod along z.
fn model(cart: f64, bob: f64, length: f64) -> String {
    format!(
        "<mujoco model='m'><option gravity='0 0 -10'/><worldbody>
           <body name='cart'><joint name='slide' type='slide' axis='1 0 0'/>
             <inertial pos='0 0 0' mass='{cart}' diaginertia='.1 .1 .1'/>
             <body name='bob' pos='0 0 1'><joint name='hinge' axis='0 1 0'/>
               <inertial pos='0 0 {length}' mass='{bob}' diaginertia='{i} {i} {k}'/></body></body>
         </worldbody><sensor><e_kinetic name='e_kinetic'/><e_potential name='e_potential'/>
           <subtreecom name='com' body='cart'/><subtreelinvel name='linvel' body='cart'/>
           <subtreeangmom name='angmom' body='cart'/>
           <framepos name='pos' objtype='body' objname='bob'/>
           <framelinvel name='vel' objtype='body' objname='bob'/></sensor></mujoco>",
        i = 0.02 * bob,
        k = 0.01 * bob,
    )
}

struct Model {
    plant: Block<MultibodyPlant>,
    sensors: Block<ModelSensors>,
    diagram: Diagram<f64>,
}

fn build(text: &str, time_step: f64) -> Model {
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    parser.add_models_from_string(text, "xml").unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let (sensors, unmeasured) = add_sensors_from_model(&mut b, "sensors", &plant).unwrap();
    assert_eq!(unmeasured.len(), 0);
    let diagram = b.build().unwrap();
    Model {
        plant,
        sensors,
        diagram,
    }
}

impl Model {
    fn context(&self) -> Context<f64> {
        let mut ctx = self.diagram.default_context();
        self.plant.set_positions(&mut ctx, [0.3, 0.7]).unwrap();
        self.plant.set_velocities(&mut ctx, [3.0, -2.0]).unwrap();
        ctx
    }
    fn all(&self, ctx: &Context<f64>) -> Vec<f64> {
        ctx.eval(self.sensors.sensordata).unwrap().clone()
    }
}

#[test]
fn sensors_follow_the_masses_of_the_context() {
    for time_step in [0.0, 0.01] {
        let light = build(&model(2.0, 1.0, 0.5), time_step);
        let heavy = build(&model(20.0, 7.0, 0.5), time_step);
        let mut ctx = light.context();
        let before = light.all(&ctx);
        let plant = &light.plant;
        let body = |name: &str| plant.body_by_name(name).unwrap();
        // The unit inertia stays; the moments of inertia of the cart change, but it does not turn.
        plant.set_mass(&mut ctx, body("cart"), 20.0).unwrap();
        plant.set_mass(&mut ctx, body("bob"), 7.0).unwrap();
        let (found, right) = (light.all(&ctx), heavy.all(&heavy.context()));
        for (i, (found, right)) in found.iter().zip(&right).enumerate() {
            assert!((found - right).abs() < 1e-12, "{i}: {found} is not {right}");
        }
        assert_ne!(before, found);
        let here = plant.in_context(&ctx).unwrap();
        assert_eq!(found[0], here.calc_kinetic_energy());
        assert_eq!(found[1], here.calc_potential_energy());
        // Another context has its own masses.
        assert_eq!(light.all(&light.context()), before);
    }
}

#[test]
fn frames_at_the_center_of_mass_move_with_it() {
    let light = build(&model(2.0, 1.0, 0.5), 0.01);
    let long = build(&model(2.0, 1.0, 0.8), 0.01);
    let mut ctx = light.context();
    let bob = light.plant.body_by_name("bob").unwrap();
    let (p, i) = (Vector3::new(0.0, 0.0, 0.8), Vector3::new(0.02, 0.02, 0.01));
    let inertia = Matrix3::from_diagonal(&i);
    let set = light
        .plant
        .set_spatial_inertia(&mut ctx, bob, 1.0, p, inertia);
    set.unwrap();
    let (found, right) = (light.all(&ctx), long.all(&long.context()));
    for (i, (found, right)) in found.iter().zip(&right).enumerate() {
        assert!((found - right).abs() < 1e-12, "{i}: {found} is not {right}");
    }
    let turn = math::axis_angle(&Vector3::y_axis(), 0.7);
    let p = Vector3::new(0.3, 0.0, 1.0) + turn * Vector3::new(0.0, 0.0, 0.8);
    let port = light.sensors.sensor("pos").unwrap();
    let pos = ctx.eval(port).unwrap();
    assert!(
        (Vector3::from_column_slice(pos) - p).norm() < 1e-12,
        "{pos:?}"
    );
}

#[test]
fn sensors_without_parameters_use_the_model() {
    let text = model(2.0, 1.0, 0.5);
    let wired = build(&text, 0.01);
    let mut b = DiagramBuilder::new();
    let sensors = b.add("sensors", ModelSensors::new(&wired.plant).unwrap());
    let diagram = b.build().unwrap();
    let (from, mut ctx) = (wired.context(), diagram.default_context());
    let poses = from.eval(wired.plant.body_poses).unwrap().clone();
    let velocities = from.eval(wired.plant.body_spatial_velocities).unwrap();
    ctx.fix(sensors.body_poses, poses).unwrap();
    ctx.fix(sensors.body_spatial_velocities, velocities.clone())
        .unwrap();
    ctx.fix(sensors.state, vec![0.3, 0.7, 3.0, -2.0]).unwrap();
    assert_eq!(ctx.eval(sensors.sensordata).unwrap(), &wired.all(&from));
    // Parameters of another plant are refused.
    let plant = MultibodyPlantBuilder::new(0.01).unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant.build().unwrap());
    let other = b.build().unwrap().default_context();
    let foreign = other.eval(plant.parameters).unwrap().clone();
    ctx.fix(sensors.parameters, foreign).unwrap();
    let error = ctx.eval(sensors.sensor("e_kinetic").unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("connect the port of this plant"),
        "{error}"
    );
}
