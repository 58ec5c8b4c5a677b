//! Actuators of spatial tendons as MuJoCo reads them. Their motion is compared with MuJoCo in
//! `motion`.

use super::tendons::{STRING, STRING_LENGTH, read, string};
use super::*;
use tarragon_framework::prelude::*;

fn read_actuator(actuator: &str) -> Loaded {
    read(
        &format!("<spatial name='x' range='1 4'>{STRING}</spatial>"),
        &format!("<actuator>{actuator}</actuator>"),
    )
}

/// The only actuator, and its control.
fn only(m: &Loaded) -> (&JointActuator, AffineControl) {
    m.says_nothing();
    let [actuator] = m.plant.actuators() else {
        panic!("{:?}", m.plant.actuators());
    };
    (actuator, *actuator.affine_control().unwrap())
}

#[test]
fn actuators_pull_paths_with_their_ranges() {
    let m = read_actuator(
        "<position name='m' tendon='x' kp='20' kv='3' gear='-2' inheritrange='1'
         forcerange='-4 5'/>",
    );
    let (actuator, control) = only(&m);
    assert_eq!((actuator.name(), actuator.joint()), ("m", None));
    assert_eq!(actuator.path(), Some(&*string(&m)));
    assert_eq!(actuator.model_instance(), m.result.as_ref().unwrap()[0]);
    assert_eq!(control.gear, -2.0);
    assert_eq!(
        (control.gain, control.bias),
        ([20.0, 0.0, 0.0], [0.0, -20.0, -3.0])
    );
    assert_eq!(control.control_range, [1.0, 4.0]);
    assert_eq!(control.effort_range, [-10.0, 8.0]);
    let m = read_actuator("<motor tendon='x' gear='3' ctrlrange='0 2'/>");
    let (_, control) = only(&m);
    assert_eq!(
        (control.control_range, control.effort_range),
        ([0.0, 2.0], [0.0, 6.0])
    );
    let m = read_actuator("<velocity tendon='x' kv='4'/>");
    assert_eq!(only(&m).1.bias, [0.0, 0.0, -4.0]);
    read_actuator("<motor tendon='y'/>").refuses("there is no tendon 'y'");
    read_actuator("<motor name='m' body='a'/>").warns(&["'m' is left out", "'joint' or 'tendon'"]);
    read_actuator("<motor name='m' tendon='x' gear='1 2'/>").warns(&["numbers 2 to 6 of 'gear'"]);
}

/// The damping is relative to the mass of a body over the square of its moment arm.
#[test]
fn damping_ratios_are_those_of_the_reflected_inertia() {
    let sled = |joint: &str| {
        load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            let text = format!(
                "<mujoco model='m'><worldbody><site name='t' pos='3 4 0'/>
                 <body name='a'>{joint}<geom size='.1' mass='2'/><site name='s'/></body></worldbody>
                 <tendon><spatial name='x'>{STRING}</spatial></tendon><actuator>
                 <position name='m' tendon='x' kp='50' gear='2' dampratio='.5'/></actuator></mujoco>"
            );
            p.add_models_from_string(&text, "xml")
        })
    };
    let m = sled("<joint name='j' type='slide' axis='1 0 0'/>");
    // The string leads along (3, 4)/5.
    let arm = 2.0 * 3.0 / 5.0;
    let critical = 2.0 * f64::sqrt(50.0 * 2.0 / (arm * arm));
    near([only(&m).1.bias[2]], [-0.5 * critical]);
    sled("<freejoint/>").warns(&["actuator 'm': the damping ratio is ignored", "'kv'"]);
}

/// An effort along the gradient of the length: the sled is pulled at 3/5 of the tension.
#[test]
fn servos_hold_lengths() {
    let m = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!(
            "<mujoco model='m'><worldbody><site name='t' pos='3 4 0'/>
             <body name='a'><joint name='j' type='slide' axis='1 0 0' damping='9'/>
             <geom size='.1' mass='2'/><site name='s'/></body></worldbody>
             <tendon><spatial name='x'>{STRING}</spatial></tendon><actuator>
             <position tendon='x' kp='200' kv='30'/></actuator></mujoco>"
        );
        p.add_models_from_string(&text, "xml")
    });
    m.says_nothing();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, m.plant, m.scene).unwrap();
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    let port = plant.actuation().unwrap();
    context.fix(port, vec![4.5]).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(8.0).unwrap();
    let q = plant.positions(sim.context()).unwrap();
    let length = f64::hypot(3.0 - q[0], 4.0);
    // Nothing else acts, so that the servo comes to rest at its control.
    assert!((length - 4.5).abs() < 1e-9, "{length}");
    let effort = sim.context().eval(plant.net_actuation().unwrap());
    assert!(effort.unwrap()[0].abs() < 1e-6);
}

#[test]
fn ranges_of_joints_do_not_limit_paths() {
    let m = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!(
            "<mujoco model='m'><worldbody><site name='t' pos='3 4 0'/><body name='a'>
             <joint name='j' actuatorfrcrange='-1 1'/><geom size='.1'/>
             <body name='b' pos='1 0 0'><joint name='k'/><geom size='.1'/><site name='s'/></body>
             </body></worldbody><tendon><spatial name='x'>{STRING}</spatial></tendon>
             <actuator><motor tendon='x'/></actuator></mujoco>"
        );
        p.add_models_from_string(&text, "xml")
    });
    m.warns(&[
        "'actuatorfrcrange' of <joint>",
        "spatial tendons",
        "'forcerange'",
    ]);
}

#[test]
fn lengths_of_servos_are_those_of_their_paths() {
    let m = read_actuator("<motor name='m' tendon='x'/>").ok();
    let positions = m
        .plant
        .calc_position_kinematics(&m.plant.default_positions());
    let path = m.plant.actuators()[0].path().unwrap();
    let length = m
        .plant
        .calc_tendon_length(&positions.unwrap(), path)
        .unwrap();
    near([length], [STRING_LENGTH]);
}
