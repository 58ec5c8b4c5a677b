//! Text and diagnostics of written models in single cases.

use crate::support::loaded::load_with;
use tarragon_formats::*;
use tarragon_geometry::{
    CoulombFriction, GeometryId, ProximityProperties, Role, SceneGraph, SourceId, Sphere,
};
use tarragon_multibody::*;

/// A plant of bodies that joints connect, with a ball on each body.
struct Chain {
    plant: MultibodyPlantBuilder,
    scene: SceneGraph,
    source: SourceId,
    bodies: Vec<BodyIndex>,
    joints: Vec<JointIndex>,
    balls: Vec<GeometryId>,
}

fn chain(names: &[&str]) -> Chain {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let source = plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let (mut bodies, mut joints, mut balls) = (vec![], vec![], vec![]);
    let mut parent = BodyIndex::WORLD;
    for name in names {
        // A body whose name ends with a digit is a mere link between joints.
        let is_link = name.ends_with('0');
        let inertia = if is_link {
            SpatialInertia::zero()
        } else {
            SpatialInertia::plausible(1.0, nalgebra::Vector3::zeros()).unwrap()
        };
        let model = ModelInstanceIndex::DEFAULT;
        let body = plant.add_rigid_body(name, model, inertia).unwrap();
        let joint = Joint::revolute(format!("j_{name}"), parent, body, nalgebra::Vector3::x());
        joints.push(plant.add_joint(joint.unwrap()).unwrap());
        bodies.push(body);
        parent = body;
        if !is_link {
            let (pose, shape) = (nalgebra::Isometry3::identity(), Sphere::new(0.1).unwrap());
            let properties = ProximityProperties::new().with_friction(CoulombFriction::DEFAULT);
            let ball = plant.register_collision_geometry(
                &mut scene,
                body,
                pose,
                shape,
                &format!("ball_{name}"),
                properties,
            );
            balls.push(ball.unwrap());
        }
    }
    Chain {
        plant,
        scene,
        source,
        bodies,
        joints,
        balls,
    }
}

impl Chain {
    /// Returns the text and its diagnostics.
    fn write(mut self, format: OutputFormat) -> (String, String) {
        let plant = self.plant.build_with_scene(&mut self.scene).unwrap();
        let writer = ModelWriter::with_scene_graph(&plant, &self.scene);
        let written = writer.write(format).unwrap();
        let told = written.diagnostics.iter().map(|d| d.message.clone());
        (written.text, told.collect::<Vec<_>>().join("\n"))
    }
}

/// The file names no body that MuJoCo does not know.
#[test]
fn links_between_joints_that_are_named_are_elements() {
    let (text, told) = chain(&["arm0", "arm"]).write(OutputFormat::Mjcf);
    assert!(!text.contains("\"arm0\""), "{text}");
    assert!(!told.contains("arm0"), "{told}");
    let mut named = chain(&["arm0", "arm"]);
    let weld = WeldConstraint {
        body_a: named.bodies[0],
        x_ap: Default::default(),
        body_b: BodyIndex::WORLD,
        x_bq: Default::default(),
    };
    named.plant.add_weld_constraint(weld).unwrap();
    let (text, told) = named.write(OutputFormat::Mjcf);
    assert!(text.contains("<body name=\"arm0\">"), "{text}");
    assert!(told.contains("body 'arm0': MuJoCo refuses it"), "{told}");
}

/// MuJoCo reads -1 as a mask with all bits.
#[test]
fn geometry_without_masks_collides_with_all_masks() {
    let mut two = chain(&["a", "b"]);
    two.plant
        .set_collision_masks(two.balls[0], 1 << 31, 1 << 31);
    let (text, _) = two.write(OutputFormat::Mjcf);
    for word in ["\"-2147483648\"", "\"-1\""] {
        let count = text
            .matches(&format!("contype={word} conaffinity={word}"))
            .count();
        assert_eq!(count, 1, "{text}");
    }
}

#[test]
fn pairs_that_lose_something_are_named() {
    let mut two = chain(&["a", "b"]);
    let sticky = ContactPairProperties {
        friction: CoulombFriction::new(0.5, 0.25).ok(),
        ..ContactPairProperties::default()
    };
    let [a, b] = *two.balls else { panic!() };
    two.plant.add_contact_pair(a, b, sticky).unwrap();
    let (text, told) = two.write(OutputFormat::Mjcf);
    assert!(text.contains("friction=\"0.25 0.25\""), "{text}");
    let words = "pair of geometry 'ball_a' and 'ball_b': static friction becomes that of motion, \
                 got 0.5 and 0.25";
    assert!(told.contains(words), "{told}");
    let mut lost = chain(&["a", "b"]);
    let [a, b] = *lost.balls else { panic!() };
    lost.plant.add_contact_pair(a, b, sticky).unwrap();
    let plant = lost.plant.build_with_scene(&mut lost.scene).unwrap();
    lost.scene.remove_geometry(lost.source, b).unwrap();
    let writer = ModelWriter::with_scene_graph(&plant, &lost.scene);
    let told = writer.write(OutputFormat::Mjcf).unwrap().diagnostics;
    let words = format!("pair of geometry 'ball_a' and '{b}': left out");
    assert!(told.iter().any(|d| d.message.contains(&words)), "{told:?}");
}

/// In MuJoCo, a pair does not take margin and gap from its geoms, as it does in the plant.
#[test]
fn pairs_are_written_with_the_margins_of_their_geoms() {
    let world = ["a", "b"].map(|name| {
        format!(
            "<body name='{name}'><freejoint/><geom name='{name}' size='.1' margin='.25' gap='.125'/>
             </body>"
        )
    });
    let text = format!(
        "<mujoco model='m'><worldbody>{}</worldbody></mujoco>",
        world.concat()
    );
    for (margin, gap, expected) in [
        (None, None, "margin=\"0.25\" gap=\"0.125\"/>"),
        (Some(0.5), None, "margin=\"0.5\" gap=\"0.125\"/>"),
        (Some(0.0), Some(-0.5), "gap=\"-0.5\"/>"),
    ] {
        let mut loaded = load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            p.add_models_from_string(&text, "xml")
        });
        let inspector = loaded.scene.model_inspector();
        let ids = inspector.geometry_ids_with_role(Role::Proximity);
        let [a, b] = *ids.collect::<Vec<_>>() else {
            panic!("there must be two geoms");
        };
        let own = ContactPairProperties {
            friction: CoulombFriction::new(1.0, 1.0).ok(),
            solver_parameters: Some(MujocoContact::default()),
            margin,
            gap,
        };
        loaded.plant.add_contact_pair(a, b, own).unwrap();
        let plant = loaded.plant.build_with_scene(&mut loaded.scene).unwrap();
        let writer = ModelWriter::with_scene_graph(&plant, &loaded.scene);
        let written = writer.write(OutputFormat::Mjcf).unwrap();
        let pair = format!("geom2=\"b\" friction=\"1 1\" {expected}");
        assert!(written.text.contains(&pair), "{}", written.text);
        let geoms = written
            .text
            .matches("margin=\"0.25\" gap=\"0.125\"/>")
            .count();
        assert_eq!(geoms, 2 + usize::from(margin.is_none()), "{}", written.text);
        assert!(written.diagnostics.is_empty(), "{:?}", written.diagnostics);
    }
}

/// A feed-forward effort is no set point.
#[test]
fn keyframes_of_servos_hold_positions() {
    let mut one = chain(&["a", "b"]);
    let [a, b] = *one.joints else { panic!() };
    let add = |plant: &mut MultibodyPlantBuilder, name, joint| {
        plant
            .add_joint_actuator(name, joint, f64::INFINITY)
            .unwrap()
    };
    let (servo, motor) = (
        add(&mut one.plant, "servo", a),
        add(&mut one.plant, "motor", b),
    );
    let gains = PdControllerGains { p: 10.0, d: 1.0 };
    one.plant.set_controller_gains(servo, gains).unwrap();
    let key = Keyframe {
        name: "home".into(),
        positions: vec![(a, vec![0.75])],
        controls: vec![(servo, 5.0), (motor, 6.0)],
        ..Keyframe::default()
    };
    one.plant.add_keyframe(key).unwrap();
    let (text, told) = one.write(OutputFormat::Mjcf);
    assert!(text.contains("ctrl=\"0.75 6"), "{text}");
    let words = "keyframe 'home': the input of actuator 'servo' becomes the position";
    assert!(told.contains(words), "{told}");
}

/// A motor of MuJoCo is an actuator of Drake, unless it has more than one limit.
#[test]
fn motors_lose_no_control() {
    let told = |control: AffineControl| {
        let mut one = chain(&["a"]);
        let actuator = one
            .plant
            .add_joint_actuator("m", one.joints[0], 5.0)
            .unwrap();
        one.plant.set_affine_control(actuator, control).unwrap();
        let [urdf, sdf] = [OutputFormat::Urdf, OutputFormat::Sdf].map(|format| {
            let again = Chain {
                plant: one.plant.clone(),
                scene: one.scene.clone(),
                source: one.source,
                bodies: vec![],
                joints: vec![],
                balls: vec![],
            };
            again.write(format).1.contains("control of actuator 'm'")
        });
        assert_eq!(urdf, sdf);
        urdf
    };
    let motor = AffineControl::motor();
    let effort_range = [-5.0, 5.0];
    assert!(!told(motor));
    assert!(!told(AffineControl {
        effort_range,
        ..motor
    }));
    let effort_range = [-4.0, 4.0];
    assert!(told(AffineControl {
        effort_range,
        ..motor
    }));
    assert!(told(AffineControl { gear: 2.0, ..motor }));
    let control_range = [-1.0, 1.0];
    assert!(told(AffineControl {
        control_range,
        ..motor
    }));
}

/// Constraints that are not in the file cannot be on where it is read.
#[test]
fn constraints_that_are_left_out_are_reported_once() {
    for format in [OutputFormat::Urdf, OutputFormat::Sdf] {
        let mut two = chain(&["a", "b"]);
        let [body_a, body_b] = *two.bodies else {
            panic!()
        };
        let weld = WeldConstraint {
            body_a,
            x_ap: Default::default(),
            body_b,
            x_bq: Default::default(),
        };
        two.plant.add_weld_constraint(weld).unwrap();
        two.plant
            .add_coupler_constraint(CouplerConstraint {
                joint0: two.joints[1],
                joint1: two.joints[0],
                gear_ratio: 2.0,
                offset: 0.0,
            })
            .unwrap();
        for number in [0, 1] {
            two.plant
                .set_default_constraint_active(number, false)
                .unwrap();
        }
        let (_, told) = two.write(format);
        assert!(told.contains("weld constraint of 'a"), "{told}");
        let off: Vec<&str> = told.lines().filter(|t| t.contains("it is off")).collect();
        let [off] = *off else { panic!("{told}") };
        assert!(off.starts_with("coupler of joint 'j_b'"), "{off}");
    }
}

/// The writer used to drop the time step of a file, and the `solref` of an equality with a warning.
#[test]
fn time_step_and_softness_of_equalities_are_written() {
    let text = "<mujoco model='m'><option timestep='.005'/><worldbody>
         <body><joint axis='0 1 0'/><geom size='.1'/><site name='p'/></body>
         <site name='q'/></worldbody><equality>
         <connect site1='p' site2='q' solref='.01 1' solimp='.5 .9 .002'/></equality></mujoco>";
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(text, "xml").unwrap();
    let step = parser.model_options().time_step;
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let parameters = plant.constraint_solver_parameters(0).unwrap();
    assert_eq!(parameters, Some(([0.01, 1.0], [0.5, 0.9, 0.002, 0.5, 2.0])));
    let mut writer = ModelWriter::with_scene_graph(&plant, &scene);
    writer.set_time_step(step.unwrap());
    let written = writer.write(OutputFormat::Mjcf).unwrap().text;
    for part in [
        "timestep=\"0.005\"",
        "solref=\"0.01 1\"",
        "solimp=\"0.5 0.9 0.002 0.5 2\"",
    ] {
        assert!(written.contains(part), "no {part} in\n{written}");
    }
}
