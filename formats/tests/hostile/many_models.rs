//! Many small models in one plant: work grows with their number, not with its square.

use super::*;
use std::fmt::Write;

/// Linear work is 4 times as much for 4 times as many models, quadratic work 16 times.
const RATIO: f64 = 8.0;

/// Checks that work on four times as many models as `n` takes far less than 16 times as long. The
/// least of several times counts, as what else goes on only adds to it. The system counts work in
/// steps of some milliseconds, so `n` models should take some tens of them. On a machine that gets
/// busy in between, a second or third look tells; quadratic work fails them all.
fn check_growth(what: &str, n: usize, work: impl Fn(usize)) {
    let least = |n: usize| {
        let time = |_| {
            let begin = worked();
            work(n);
            worked() - begin
        };
        (0..3).map(time).min().unwrap().as_secs_f64()
    };
    let mut looks = vec![];
    let is_linear = (0..3).any(|_| {
        let (small, large) = (least(n).max(0.01), least(4 * n));
        looks.push([small, large]);
        large < RATIO * small
    });
    assert!(is_linear, "{what}, in s: {looks:?}");
}

/// A robot with a joint, a motor on it and a frame.
fn robot(name: &str) -> String {
    format!(
        "<robot name='{name}'><link name='a'/><link name='b'/>
        <joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>
        <transmission name='t'><type>SimpleTransmission</type><joint name='j'/>
          <actuator name='m'><drake:rotor_inertia value='0.1'/></actuator></transmission>
        <frame name='f' link='b'/></robot>"
    )
}

fn load_robots(parser: &mut Parser<'_>, n: usize) {
    for i in 0..n {
        let text = robot(&format!("r{i}"));
        parser.add_models_from_string(&text, "urdf").unwrap();
    }
}

#[test]
fn loading_grows_with_the_number_of_models() {
    check_growth("without a scene", 2000, |n| {
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        load_robots(&mut Parser::new(&mut plant), n);
        assert_eq!(plant.num_actuators(), n);
    });
    check_growth("with a scene", 2000, |n| {
        let (mut plant, mut scene) = (
            MultibodyPlantBuilder::new(0.001).unwrap(),
            SceneGraph::new(),
        );
        load_robots(&mut Parser::with_scene_graph(&mut plant, &mut scene), n);
        assert_eq!(plant.num_actuators(), n);
    });
}

#[test]
fn failing_to_load_does_not_grow_with_the_number_of_models() {
    let bad = robot("bad").replace("<link name='b'/>", "");
    check_growth("failures", 2000, |n| {
        let (mut plant, mut scene) = (
            MultibodyPlantBuilder::new(0.001).unwrap(),
            SceneGraph::new(),
        );
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        load_robots(&mut parser, n);
        for _ in 0..n {
            assert!(parser.add_models_from_string(&bad, "urdf").is_err());
        }
        assert_eq!(plant.num_actuators(), n);
    });
}

#[test]
fn transmissions_grow_with_the_number_of_joints() {
    check_growth("transmissions", 2000, |n| {
        let mut inner = String::from("<link name='l0'/>");
        for i in 1..=n {
            write!(
                inner,
                "<link name='l{i}'/><joint name='j{i}' type='continuous'><parent link='l{}'/>\
                 <child link='l{i}'/></joint>\
                 <transmission name='t'><type>SimpleTransmission</type><joint name='j{i}'/>\
                 <actuator name='m{i}'/></transmission>",
                i - 1
            )
            .unwrap();
        }
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        Parser::new(&mut plant)
            .add_models_from_string(&model("urdf", &inner), "urdf")
            .unwrap();
        assert_eq!(plant.num_actuators(), n);
    });
}

#[test]
fn renaming_grows_with_the_number_of_models() {
    check_growth("renamed", 1500, |n| {
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.set_auto_renaming(true);
        for _ in 0..n {
            parser.add_models_from_string(&robot("r"), "urdf").unwrap();
        }
        assert_eq!(plant.model_instance_names()[n + 1], format!("r_{}", n - 1));
    });
}

#[test]
fn directives_grow_with_the_number_of_models() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.urdf");
    std::fs::write(&file, robot("r")).unwrap();
    let uri = format!("file://{}", file.display());
    check_growth("directives", 1000, |n| {
        let mut yaml = String::from("directives:\n");
        for i in 0..n {
            writeln!(
                yaml,
                "- add_model: {{name: r{i}, file: '{uri}', default_joint_positions: {{j: [0.5]}}}}\n\
                 - add_weld: {{parent: world, child: 'r{i}::a'}}"
            )
            .unwrap();
        }
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        Parser::new(&mut plant)
            .add_models_from_string(&yaml, "dmd.yaml")
            .unwrap();
        assert_eq!(plant.num_joints(), 2 * n);
    });
}

#[test]
fn setting_motors_and_building_grow_with_the_number_of_models() {
    check_growth("motors and building", 8000, |n| {
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut motors = vec![];
        for i in 0..n {
            let model = plant.add_model_instance(&format!("r{i}")).unwrap();
            let body = plant
                .add_rigid_body("a", model, SpatialInertia::zero())
                .unwrap();
            let joint = Joint::revolute("j", BodyIndex::WORLD, body, nalgebra::Vector3::z());
            let joint = plant.add_joint(joint.unwrap()).unwrap();
            motors.push(plant.add_joint_actuator("m", joint, 1.0).unwrap());
        }
        for motor in motors {
            plant.set_default_rotor(motor, 0.1, 10.0).unwrap();
        }
        plant.build().unwrap();
    });
}

#[test]
fn looking_up_grows_with_the_number_of_models() {
    check_growth("by scoped name", 5000, |n| {
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        for i in 0..n {
            let model = plant.add_model_instance(&format!("r{i}")).unwrap();
            plant
                .add_rigid_body("a", model, SpatialInertia::zero())
                .unwrap();
        }
        for i in (0..n).cycle().take(5 * n) {
            let model = plant.model_instance_by_name(&format!("r{i}")).unwrap();
            let body = plant.body_by_name_in("a", model).unwrap();
            assert_eq!(plant.body_by_name(&format!("r{i}::a")).unwrap(), body);
        }
    });
}
