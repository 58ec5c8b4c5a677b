//! Drake's extensions of URDF. The numbers are those of Drake 1.51.1 for the same text.

use super::{error_of, load};
use nalgebra::Vector3;
use tarragon_multibody::*;

fn robot(body: &str) -> String {
    let link = |n: &str| {
        let inertia = "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>";
        format!("<link name='{n}'><inertial><mass value='1'/>{inertia}</inertial></link>")
    };
    let links = ["a", "b", "c"].map(link).concat();
    format!("<robot name='r' xmlns:drake='http://drake.mit.edu'>{links}\n{body}</robot>")
}

fn plant(body: &str) -> MultibodyPlant {
    load(&robot(body)).ok().plant
}

fn joint(tag: &str, kind: &str, inner: &str) -> String {
    format!(
        "<{tag} name='j' type='{kind}'><parent link='a'/><child link='b'/><origin xyz='1 0 0'/>\
         <axis xyz='0 1 0'/>{inner}</{tag}>"
    )
}

#[test]
fn joint_types_of_drake_are_read() {
    let limits = "<limit lower='-1' upper='1' velocity='2' effort='3'/><dynamics damping='0.5'/>\
                  <drake:screw_thread_pitch value='0.3'/>";
    for (kind, name, dofs) in [
        ("ball", "ball_rpy", 3),
        ("universal", "universal", 2),
        ("screw", "screw", 1),
    ] {
        let plant = plant(&joint("drake:joint", kind, limits));
        let (_, j) = plant.joints().next().unwrap();
        assert_eq!(j.kind().type_name(), name);
        assert_eq!(j.damping(), vec![0.5; dofs]);
        assert_eq!(j.position_lower_limits(), vec![f64::NEG_INFINITY; dofs]);
        let frame = |f: Option<FrameIndex>| plant.frame(f.unwrap()).unwrap().name();
        assert_eq!(
            (frame(j.frame_on_parent()), frame(j.frame_on_child())),
            ("j_parent", "b")
        );
        if let JointKind::Screw { pitch, .. } = j.kind() {
            assert_eq!(*pitch, 0.3);
        }
    }
    let e = error_of(&robot(&joint("drake:joint", "screw", "")));
    assert!(e.contains("has no <drake:screw_thread_pitch>"), "{e}");
}

#[test]
fn a_planar_joint_moves_in_the_plane_normal_to_its_axis() {
    for tag in ["joint", "drake:joint"] {
        let plant = plant(&joint(tag, "planar", "<dynamics damping='1 2 3'/>"));
        let (_, j) = plant.joints().next().unwrap();
        assert_eq!(j.damping(), [1.0, 2.0, 3.0]);
        for x in [j.pose_on_parent(), j.pose_on_child()] {
            assert!((x.rotation * Vector3::z() - Vector3::y()).norm() < 1e-15);
            assert!((x.rotation * Vector3::x() - Vector3::x()).norm() < 1e-15);
        }
        assert_eq!(j.pose_on_parent().translation.vector, Vector3::x());
        let frame = plant.frame(j.frame_on_child().unwrap()).unwrap();
        assert_eq!(frame.name(), "j_child");
    }
    let e = error_of(&robot(&joint("joint", "planar", "<dynamics damping='1'/>")));
    assert!(e.contains("must have 3 numbers, got 1"), "{e}");
}

#[test]
fn a_body_can_have_two_parents_and_the_world_can_be_a_child() {
    let second = "<joint name='k' type='revolute'><parent link='c'/><child link='b'/></joint>";
    let two = plant(&(joint("joint", "revolute", "") + second));
    assert_eq!(two.num_positions(), 9);
    let onto_world = "<link name='world'/>\
        <joint name='k' type='revolute'><parent link='c'/><child link='world'/></joint>";
    assert_eq!(plant(onto_world).num_positions(), 15);
}

#[test]
fn motors_have_rotors_and_controllers() {
    let motor = |inner: &str| {
        let hinge = joint("joint", "revolute", "<limit effort='7'/>");
        let actuator = format!("<actuator name='m'>{inner}</actuator>");
        hinge
            + &format!(
                "<transmission><type>SimpleTransmission</type><joint name='j'/>{actuator}</transmission>"
            )
    };
    let plant = plant(&motor(
        "<drake:rotor_inertia value='0.1'/><drake:gear_ratio value='2'/>\
         <drake:controller_gains p='10' d='1'/>",
    ));
    let m = &plant.actuators()[0];
    assert_eq!((m.effort_limit(), m.calc_reflected_inertia()), (7.0, 0.4));
    assert_eq!(
        m.controller_gains(),
        Some(&PdControllerGains { p: 10.0, d: 1.0 })
    );
    let e = error_of(&robot(&motor("<drake:controller_gains p='10'/>")));
    assert!(e.contains("has no attribute 'd'"), "{e}");
    let e = error_of(&robot(&motor("<drake:controller_gains p='-1' d='0'/>")));
    assert!(e.contains("p = -1"), "{e}");
}

#[test]
fn constraints_springs_and_bushings_are_read() {
    let text = "<frame name='f1' link='a'/><frame name='f2' link='b'/>
      <joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint>
      <drake:linear_bushing_rpy><drake:bushing_frameA name='f1'/><drake:bushing_frameC name='f2'/>
        <drake:bushing_torque_stiffness value='1 2 3'/><drake:bushing_torque_damping value='4 5 6'/>
        <drake:bushing_force_stiffness value='7 8 9'/><drake:bushing_force_damping value='10 11 12'/>
      </drake:linear_bushing_rpy>
      <drake:ball_constraint><drake:ball_constraint_body_A name='a'/><drake:ball_constraint_body_B name='c'/>
        <drake:ball_constraint_p_AP value='1 2 3'/><drake:ball_constraint_p_BQ value='4 5 6'/></drake:ball_constraint>
      <drake:linear_spring_damper><drake:linear_spring_damper_body_A name='a'/>
        <drake:linear_spring_damper_body_B name='b'/><drake:linear_spring_damper_p_AP value='1 2 3'/>
        <drake:linear_spring_damper_p_BQ value='1 2 3'/><drake:linear_spring_damper_free_length value='1'/>
        <drake:linear_spring_damper_stiffness value='2'/><drake:linear_spring_damper_damping value='3'/>
      </drake:linear_spring_damper>
      <drake:tendon_constraint><drake:tendon_constraint_joint name='j' a='2'/>
        <drake:tendon_constraint_offset value='0.1'/><drake:tendon_constraint_lower_limit value='-inf'/>
        <drake:tendon_constraint_upper_limit value='1'/></drake:tendon_constraint>";
    let plant = plant(text);
    let names: Vec<&str> = plant
        .force_elements()
        .iter()
        .map(ForceElement::type_name)
        .collect();
    assert_eq!(names, ["LinearBushingRollPitchYaw", "LinearSpringDamper"]);
    let [Constraint::Ball(ball), Constraint::Tendon(tendon)] = plant.constraints() else {
        panic!("{:?}", plant.constraints());
    };
    assert_eq!(ball.p_bq, Some(Vector3::new(4.0, 5.0, 6.0)));
    assert_eq!(
        (tendon.lower, tendon.upper, tendon.stiffness),
        (f64::NEG_INFINITY, 1.0, f64::INFINITY)
    );
    for (found, missing) in [
        (
            "<drake:ball_constraint_body_A name='a'/>",
            "has no <drake:ball_constraint_body_A>",
        ),
        (
            "<drake:bushing_frameC name='f2'/>",
            "has no <drake:bushing_frameC>",
        ),
        (
            "<drake:tendon_constraint_offset value='0.1'/>",
            "has no <drake:tendon_constraint_offset>",
        ),
    ] {
        let e = error_of(&robot(&text.replace(found, "")));
        assert!(e.contains(missing), "{e}");
    }
    assert!(error_of(&robot("<loop_joint/>")).contains("loop joints are not supported"));
}

#[test]
fn mimic_joints_must_have_equal_degrees_of_freedom() {
    let mimic = |kind: &str| {
        let first = joint(
            "joint",
            kind,
            "<mimic joint='k' multiplier='2' offset='0.5'/>",
        );
        first + "<joint name='k' type='revolute'><parent link='b'/><child link='c'/></joint>"
    };
    let plant = plant(&mimic("revolute"));
    let coupler = plant.coupler_constraints().next().unwrap();
    assert_eq!((coupler.gear_ratio, coupler.offset), (2.0, 0.5));
    let e = error_of(&robot(&mimic("fixed")));
    assert!(
        e.contains("joint 'j' with 0 degrees of freedom cannot mimic joint 'k' with 1"),
        "{e}"
    );
}

#[test]
fn joints_of_drake_can_mimic() {
    let path = "<drake:curves><drake:line_segment length='1'/></drake:curves>";
    let mimic = |followed: &str| {
        let mimic = format!("{path}<mimic joint='{followed}' multiplier='2'/>");
        let first = joint("drake:joint", "curvilinear", &mimic);
        first + "<joint name='k' type='revolute'><parent link='b'/><child link='c'/></joint>"
    };
    let followed = plant(&mimic("k"));
    let coupler = followed.coupler_constraints().next().unwrap();
    assert_eq!((coupler.gear_ratio, coupler.offset), (2.0, 0.0));
    let e = error_of(&robot(&mimic("l")));
    assert!(e.contains("there is no joint named 'l'"), "{e}");
}

#[test]
fn ignored_collision_filter_groups_are_left_out() {
    let group = |attributes: &str, inner: &str| {
        format!(
            "<drake:collision_filter_group {attributes}>{inner}</drake:collision_filter_group>\n"
        )
    };
    let own = "<drake:member link='a'/><drake:ignored_collision_filter_group name='x'/>";
    let groups = |text: &str| -> Vec<String> {
        let plant = plant(text);
        let names = plant.collision_filter_groups();
        names.map(|(name, _)| name.to_string()).collect()
    };
    assert_eq!(groups(&group("name='x'", own)), ["r::x"]);
    assert_eq!(groups(&group("name='x' ignore='false'", own)), ["r::x"]);
    // An ignored group is not checked, and its name is free.
    let broken = "<drake:member link='nobody'/>";
    for ignored in [
        group("name='x' ignore='true'", broken),
        group("ignore='true'", broken),
    ] {
        assert!(groups(&ignored).is_empty());
        let text = ignored + &group("name='x'", own);
        assert_eq!(groups(&text), ["r::x"]);
    }
    let to_ignored = group("name='y'", own) + &group("name='x' ignore='true'", own);
    let e = error_of(&robot(&to_ignored));
    assert!(e.contains("no collision filter group named 'x'"), "{e}");
    // The attribute has no meaning in other elements, and Drake accepts only 'true' as true.
    let members = own.replace("/>", " ignore='true'/>");
    assert_eq!(groups(&group("name='x'", &members)), ["r::x"]);
    let mut loaded = load(&robot(&group("name='x' ignore='TRUE'", own)));
    loaded.result.unwrap();
    assert_eq!(loaded.plant.collision_filter_groups().count(), 1);
    loaded.diagnostics.retain(|d| d.message.contains("'TRUE'"));
    assert_eq!(
        (loaded.diagnostics.len(), loaded.diagnostics[0].line),
        (1, 2)
    );
    let e = error_of(&robot(&group("name='x'", "")));
    assert!(e.contains("'r::x' must have at least one member"), "{e}");
    let e = error_of(&robot(&group("name='x::y'", own)));
    assert!(e.contains("must not contain '::', got 'x::y'"), "{e}");
}

#[test]
fn curvilinear_joints_have_a_path() {
    let curves = "<drake:curves><drake:line_segment length='1'/>\
                  <drake:circular_arc radius='2' angle='-1.5'/></drake:curves>";
    let more = "<drake:initial_tangent xyz='0 0 1'/><drake:plane_normal xyz='1 0 0'/>\
                <dynamics damping='0.1'/><limit lower='-1' upper='2'/>";
    let text = joint("drake:joint", "curvilinear", &format!("{curves}{more}"));
    let once = plant(&text);
    let (_, j) = once.joints().next().unwrap();
    assert_eq!(
        (j.kind().type_name(), j.damping()),
        ("curvilinear", &[0.1][..])
    );
    // The limits are the ends of the path; those in the file are ignored.
    assert_eq!(
        (j.position_lower_limits(), j.position_upper_limits()),
        (&[0.0][..], &[4.0][..])
    );
    let body = once.body_by_name("b").unwrap();
    let mut poses = vec![];
    let mut q = once.default_positions();
    let start = once
        .position_start(once.joint_by_name("j").unwrap())
        .unwrap();
    q[start] = 1.5;
    once.calc_body_poses(&q, &mut poses).unwrap();
    let parent = once.body_by_name("a").unwrap();
    let x = poses[parent.index()].inverse() * poses[body.index()];
    let (s, c) = 0.25_f64.sin_cos();
    let on_arc = Vector3::new(1.0, 2.0 * (1.0 - c), 1.0 + 2.0 * s);
    assert!((x.translation.vector - on_arc).norm() < 1e-15);
    let periodic = |value: &str| {
        let periodic = format!("{curves}<drake:is_periodic value='{value}'/>");
        load(&robot(&joint("drake:joint", "curvilinear", &periodic)))
    };
    for (value, upper, warnings) in [
        ("true", f64::INFINITY, 0),
        ("false", 4.0, 0),
        ("yes", 4.0, 1),
    ] {
        let loaded = periodic(value);
        let (_, j) = loaded.plant.joints().next().unwrap();
        assert_eq!(j.position_upper_limits(), [upper]);
        assert_eq!(loaded.diagnostics.len(), warnings, "{value}");
    }
    for (found, wrong, message) in [
        ("length='1'", "length='0'", "must be positive, got 0.0 m"),
        ("length='1'", "", "no attribute 'length'"),
        (
            "radius='2'",
            "radius='-2'",
            "radius of an arc must be positive",
        ),
        (curves, "", "must have <drake:curves>"),
        (curves, "<drake:curves/>", "at least one"),
        ("<drake:line_segment length='1'/>", "<foo/>", "got <foo>"),
        ("xyz='0 0 1'", "xyz='1 0 1'", "perpendicular"),
        (
            "xyz='1 0 0'/><dynamics",
            "xyz='1 0'/><dynamics",
            "must have 3 numbers",
        ),
    ] {
        let e = error_of(&robot(&text.replace(found, wrong)));
        assert!(e.contains(message), "{e}");
    }
    let e = error_of(&robot(&joint("joint", "curvilinear", curves)));
    assert!(e.contains("must be in a <drake:joint>"), "{e}");
}
