//! `<actuator>`, `<contact>` and `<equality>`.

use super::*;

const ARM: &str = "<body name='a'><joint name='j'/><geom size='1' name='ga'/></body>
  <body name='b' pos='0 0 3'><joint name='k' type='slide' ref='1'/><geom size='1' name='gb'/>
    <body name='c' pos='9 0 0'><joint name='l' type='ball'/><geom size='1' name='gc'/></body></body>
  <body name='d' pos='5 0 0'><freejoint/><geom size='1' contype='0' conaffinity='0' name='gd'/></body>";

fn arm(others: &str) -> Loaded {
    world_and(ARM, others)
}
fn driven(actuators: &str) -> Loaded {
    arm(&format!("<actuator>{actuators}</actuator>"))
}

#[test]
fn motors_are_added_before_servos() {
    let m = driven(
        "<position joint='j' kp='5' name='p'/><motor joint='j'/><position joint='k' kd='3'/><motor joint='k'/>",
    );
    let actuators = m.plant.actuators().iter();
    let names: Vec<&str> = actuators.map(JointActuator::name).collect();
    assert_eq!(names, ["motor0", "motor1", "p", "motor3"]);
    let gains = |i: usize| {
        m.plant.actuators()[i]
            .controller_gains()
            .map(|g| (g.p, g.d))
    };
    assert_eq!(
        [0, 2, 3].map(gains),
        [None, Some((5.0, 0.0)), Some((1.0, 3.0))]
    );
}

#[test]
fn gears_and_armature_become_rotor_parameters() {
    let rotor = |gear: &str| {
        let m = world_and(
            &ARM.replace("name='j'", "name='j' armature='2'"),
            &format!("<actuator><motor joint='j' gear='{gear}'/></actuator>"),
        );
        let motor = &m.plant.actuators()[0];
        (motor.default_rotor_inertia(), motor.default_gear_ratio())
    };
    assert_eq!(rotor("1"), (2.0, 1.0));
    assert_eq!(rotor("2 0 0 0 0 0"), (0.5, 2.0));
    assert_eq!(rotor("-4"), (0.125, -4.0));
    assert_eq!(rotor("0"), (0.0, 0.0));
    driven("<motor joint='j' gear='3 1'/>").warns(&["'gear' must have 1 or 6 numbers, got 2"]);
}

#[test]
fn control_and_force_ranges_limit_efforts() {
    let limit = |attributes: &str| {
        let m = driven(&format!("<position joint='j' {attributes}/>"));
        m.plant.actuators()[0].effort_limit()
    };
    assert_eq!(limit(""), f64::INFINITY);
    assert_eq!(limit("ctrlrange='-3 3'"), 3.0);
    assert_eq!(limit("ctrlrange='-3 3' ctrllimited='false'"), f64::INFINITY);
    assert_eq!(limit("ctrlrange='-3 3' forcerange='-2 2'"), 2.0);
    assert_eq!(limit("ctrlrange='-3 3' forcerange='-5 5'"), 3.0);
    assert_eq!(limit("ctrlrange='-3 4'"), 4.0);
    assert_eq!(limit("ctrlrange='3 -4'"), f64::INFINITY);
    driven("<motor joint='j' ctrlrange='-3 4'/>")
        .warns(&["[-3.0, 4.0]", "the larger effort limit, 4.0"]);
    driven("<motor joint='j' forcerange='3 -4'/>").warns(&["empty"]);
    let e = driven("<motor joint='j' ctrllimited='true'/>").error();
    assert!(
        e.contains("the effort limit must be positive, got 0.0"),
        "{e}"
    );
}

#[test]
fn actuators_have_their_own_default_classes() {
    let m = arm(
        "<default><motor gear='7'/><general gear='9'/><default class='q'><motor ctrlrange='-4 4'/></default>
         </default><actuator><motor joint='j'/><motor joint='j' class='q'/><position joint='j'/></actuator>",
    );
    let of = |i: usize| {
        let a = &m.plant.actuators()[i];
        (a.default_gear_ratio(), a.effort_limit())
    };
    assert_eq!(
        [0, 1, 2].map(of),
        [(7.0, f64::INFINITY), (7.0, 4.0), (1.0, f64::INFINITY)]
    );
}

#[test]
fn unsupported_and_invalid_actuators_are_reported() {
    for kind in [
        "velocity",
        "general",
        "damper",
        "muscle",
        "intvelocity",
        "cylinder",
        "adhesion",
        "plugin",
    ] {
        // MuJoCo refuses a joint of an adhesion.
        let joint = if kind == "adhesion" { "" } else { "joint='j'" };
        let m = driven(&format!("<{kind} {joint}/>"));
        m.warns(&[&format!("<{kind}> is ignored")]);
        assert!(m.plant.actuators().is_empty());
    }
    driven("<motor tendon='t'/>").warns(&["'motor0' is left out", "no attribute 'joint'"]);
    driven("<motor joint='j' site='s'/>").warns(&["'site' of <motor>"]);
    driven("<position joint='j' kv='2'/>").warns(&["'kv' of <position>", "'kd'"]);
    for (motor, word) in [
        ("<motor joint='nope'/>", "'nope'"),
        ("<motor joint='l'/>", "one degree of freedom, got 3"),
        ("<position joint='j' kp='-1'/>", "p = -1"),
        (
            "<motor joint='j' name='x'/><motor joint='j' name='x'/>",
            "m::x",
        ),
    ] {
        let e = driven(motor).error();
        assert!(e.contains(word), "{motor}: {e}");
    }
}

fn candidates(m: &Built) -> usize {
    m.scene.model_inspector().collision_candidates().len()
}

#[test]
fn excluded_bodies_do_not_collide() {
    // The candidates are a-b and a-c: a joint connects b and c, and d has no collision geometry.
    assert_eq!(candidates(&arm("").ok()), 2);
    let m = arm("<contact><exclude body1='c' body2='a'/></contact>").ok();
    assert_eq!(candidates(&m), 1);
    let both = "<contact><pair geom1='ga' geom2='gb'/><exclude body1='a' body2='b'/></contact>";
    assert_eq!(candidates(&arm(both).ok()), 1);
    let ground = format!("<geom type='plane'/>{ARM}");
    let m = world_and(
        &ground,
        "<contact><exclude body1='world' body2='c'/></contact>",
    )
    .ok();
    // Joints to the world filter nothing: a and b can touch the ground, c is excluded.
    assert_eq!(candidates(&m), 4);
    arm("<contact><exclude body1='a'/></contact>").warns(&["<exclude> without"]);
    let e = arm("<contact><exclude body1='a' body2='x'/></contact>").error();
    assert!(e.contains("'x'") && e.contains("'a'"), "{e}");
}

#[test]
fn contact_pairs_are_checked() {
    let pair = |attributes: &str| arm(&format!("<contact><pair {attributes}/></contact>"));
    let unchanged = pair("geom1='ga' geom2='gb' margin='0' gap='0'");
    assert!(unchanged.warnings().is_empty());
    pair("geom1='ga' geom2='gb' condim='1'").warns(&["'condim' of <pair>"]);
    pair("geom1='ga'").warns(&["<pair> without"]);
    pair("geom1='ga' geom2='gd'").warns(&["no geom 'gd' with collision geometry"]);
    pair("geom1='gb' geom2='gc'").warns(&["connected by a joint"]);
    arm("<contact><x/></contact>").warns(&["<x> is ignored"]);
}

#[test]
fn connect_becomes_a_ball_constraint() {
    let m = arm(
        "<equality><connect body1='a' body2='b' anchor='1 2 3'/><connect body1='c' anchor='0 0 1'/></equality>",
    );
    let body = |name: &str| m.plant.body_by_name(name).unwrap();
    let first = BallConstraint {
        body_a: body("a"),
        p_ap: Vector3::new(1.0, 2.0, 3.0),
        body_b: body("b"),
        p_bq: None,
    };
    let second = BallConstraint {
        body_a: body("c"),
        p_ap: Vector3::z(),
        body_b: BodyIndex::WORLD,
        p_bq: None,
    };
    assert_eq!(
        m.plant.constraints(),
        [Constraint::Ball(first), Constraint::Ball(second)]
    );
    arm("<equality><connect body1='a' anchor='0 0 0' active='false'/></equality>")
        .warns(&["active"]);
    arm("<equality><connect site1='a' site2='b'/></equality>").warns(&["<connect>", "sites"]);
    arm("<equality><tendon/></equality>").warns(&["<tendon> is ignored"]);
    for (connect, word) in [
        ("<connect/>", "'body1' and 'anchor'"),
        ("<connect body1='a'/>", "no attribute 'anchor'"),
        ("<connect body1='x' anchor='0 0 0'/>", "'x'"),
        (
            "<connect body1='a' body2='a' anchor='0 0 0'/>",
            "the two bodies must be different",
        ),
    ] {
        let e = arm(&format!("<equality>{connect}</equality>")).error();
        assert!(e.contains(word), "{connect}: {e}");
    }
}

#[test]
fn welds_and_coupled_joints_are_kept_but_not_enforced() {
    let m = arm(
        "<equality><weld name='w' body1='a' body2='c' active='false'/>
           <weld body1='a' relpose='1 2 3 0 2 0 0'/>
           <joint joint1='j' joint2='k' polycoef='.5 3'/><joint joint1='j' polycoef='0 1 2 0 0'/></equality>",
    );
    m.result.as_ref().unwrap();
    assert!(m.plant.constraints().is_empty());
    assert_eq!(m.warnings().len(), 4);
    let [w, given, coupled, fixed] = m.plant.model_equalities() else {
        panic!()
    };
    assert_eq!((&*w.name, w.active, given.active), ("w", false, true));
    let weld = |e: &ModelEquality| match m.plant.equality_as_constraint(e) {
        Some(Constraint::Weld(weld)) => numbers(&weld.x_ap),
        other => panic!("{other:?}"),
    };
    // Without `relpose`, the relative pose is that of the bodies in the file.
    near(weld(w), [1.0, 0.0, 0.0, 0.0, 9.0, 0.0, 3.0]);
    near(weld(given), [0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    let Some(Constraint::Coupler(coupler)) = m.plant.equality_as_constraint(coupled) else {
        panic!()
    };
    // q_j - 0 = 0.5 + 3 (q_k - 1)
    assert_eq!((coupler.gear_ratio, coupler.offset), (3.0, -2.5));
    assert_eq!(m.plant.equality_as_constraint(fixed), None);
    let e = arm("<equality><joint joint1='l'/></equality>").error();
    assert!(e.contains("must have one position, got 3"), "{e}");
}
