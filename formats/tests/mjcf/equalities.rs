//! `<equality>` as MuJoCo reads it. Its motion is compared with MuJoCo in `motion`.

use super::*;
use tarragon_framework::prelude::*;

const BODIES: &str = "<body name='a' pos='1 0 0'><joint name='j' ref='30'/><geom size='.1'/>
    <site name='s' pos='0 0 .5' euler='0 0 90'/></body>
  <body name='b' pos='3 0 0'><joint name='k' type='slide'/><geom size='.1'/></body>
  <body name='c' pos='0 4 0' euler='90 0 0'><freejoint/><geom size='.1'/></body>
  <site name='t' pos='0 2 0'/>";

fn read(equalities: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!(
            "<mujoco model='m'><worldbody>{BODIES}</worldbody><equality>{equalities}</equality></mujoco>"
        );
        p.add_models_from_string(&text, "xml")
    })
}

/// The only constraint of a model without diagnostics.
fn constraint(equality: &str) -> Constraint {
    let m = read(equality);
    m.says_nothing();
    assert!(m.plant.model_equalities().is_empty());
    let [constraint] = m.plant.constraints() else {
        panic!("{:?}", m.plant.constraints());
    };
    constraint.clone()
}

fn weld(equality: &str) -> WeldConstraint {
    match constraint(equality) {
        Constraint::Weld(weld) => weld,
        other => panic!("{other:?}"),
    }
}

#[test]
fn connected_points_coincide_in_the_file() {
    let Constraint::Ball(ball) = constraint("<connect body1='a' body2='c' anchor='1 2 3'/>") else {
        panic!()
    };
    assert_eq!(ball.p_ap, Vector3::new(1.0, 2.0, 3.0));
    // (2, 2, 3) in the world is (2, -2, 3) from c, whose y is the world's z.
    near(ball.p_bq.unwrap().iter().copied(), [2.0, 3.0, 2.0]);
}

#[test]
fn welds_keep_the_pose_of_the_file_or_the_given_one() {
    let w = weld("<weld body1='a' body2='b'/>");
    near(numbers(&w.x_ap), [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    near(numbers(&w.x_bq), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let w = weld("<weld body1='a' body2='b' anchor='0 1 0'/>");
    near(numbers(&w.x_ap), [1.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0]);
    near(numbers(&w.x_bq), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let w = weld("<weld body1='a' relpose='1 2 3 0 2 0 0'/>");
    near(numbers(&w.x_ap), [0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(w.body_b, BodyIndex::WORLD);
    let w = weld("<weld site1='s' site2='t'/>");
    let half = f64::sqrt(0.5);
    near(numbers(&w.x_ap), [half, 0.0, 0.0, half, 0.0, 0.0, 0.5]);
    near(numbers(&w.x_bq), [1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
}

#[test]
fn joints_are_coupled_from_their_references() {
    let Constraint::Coupler(c) = constraint("<joint joint1='j' joint2='k' polycoef='.5 3'/>")
    else {
        panic!()
    };
    near([c.gear_ratio, c.offset], [3.0, 30_f64.to_radians() + 0.5]);
    let Constraint::Tendon(t) = constraint("<joint joint1='j' polycoef='.5 3 1'/>") else {
        panic!()
    };
    near([t.lower, t.upper], [30_f64.to_radians() + 0.5; 2]);
}

#[test]
fn joints_follow_polynomials_from_their_references() {
    let found = constraint("<joint joint1='j' joint2='k' polycoef='.5 3 1 -2 4'/>");
    let Constraint::Polynomial(c) = &found else {
        panic!("{found:?}")
    };
    let m = read("");
    let joints = ["j", "k"].map(|name| m.plant.joint_by_name(name).unwrap());
    assert_eq!(
        c.tendons,
        joints.map(|joint| Tendon::Fixed(vec![(joint, 1.0)]))
    );
    near(c.references, [30_f64.to_radians(), 0.0]);
    assert_eq!(c.coefficients, [0.5, 3.0, 1.0, -2.0, 4.0]);
}

#[test]
fn inactive_equalities_are_off_until_a_context_switches_them_on() {
    let m = read(
        "<weld body1='c' active='false'/><joint joint1='k' polycoef='0'/>
         <joint joint1='j' joint2='k' polycoef='0 1' active='true'/>",
    );
    let mut plant = m.plant;
    let on =
        |plant: &MultibodyModel| [0, 1, 2].map(|k| plant.is_default_constraint_active(k).unwrap());
    assert_eq!(on(&plant), [false, true, true]);
    plant.set_default_constraint_active(2, false).unwrap();
    assert_eq!(on(&plant), [false, true, false]);
    assert!(plant.is_default_constraint_active(3).is_err());
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, m.scene).unwrap();
    let diagram = b.build().unwrap();
    let falls = |welded: bool| {
        let mut context = diagram.default_context();
        let active = plant.is_constraint_active(&context, 0).unwrap();
        assert!(!active);
        plant
            .set_constraint_active(&mut context, 0, welded)
            .unwrap();
        let mut sim = Simulator::new(&diagram, context).unwrap();
        sim.advance_to(0.1).unwrap();
        let c = plant.body_by_name("c").unwrap();
        let poses = sim.context().eval(plant.body_poses).unwrap();
        -poses[c.index()].translation.z
    };
    let (free, held) = (falls(false), falls(true));
    // The weld acts at the origin of the world, 4 m away, where the body's rotation makes it soft,
    // and its `solref` undoes what is left of that within 0.04 s.
    assert!(free > 0.049 && held.abs() < 5e-2 * free, "{free} {held}");
}

#[test]
fn other_equalities_are_reported() {
    read("<weld body1='a' solimp='.1 .1'/>").warns(&["'solimp' of <weld>", "time step allows"]);
    read("<weld body1='a' torquescale='2'/>").warns(&["'torquescale' of <weld>"]);
    read("<flex flex='f'/>").warns(&["<flex> is ignored"]);
    for (equality, why) in [
        (
            "<weld site1='s'/>",
            "must have 'body1', or 'site1' and 'site2'",
        ),
        ("<connect site1='s' site2='x'/>", "no site 'x'"),
        ("<connect body1='a'/>", "no attribute 'anchor'"),
        ("<weld body1='a' body2='a'/>", "must be different"),
        ("<joint joint1='x'/>", "'x'"),
        (
            "<joint joint1='j' joint2='j' polycoef='0 1 2'/>",
            "'joint1' and 'joint2' of <joint> must be different, got 'j' twice",
        ),
        (
            "<joint joint1='j' joint2='k' polycoef='0 1 nan'/>",
            "attribute 'polycoef' must hold numbers, got 'nan'",
        ),
        (
            "<tendon tendon2='t'/>",
            "<tendon> of <equality> has no attribute 'tendon1'",
        ),
        (
            "<joint joint1='j' polycoef='0 1 0 0 0 0'/>",
            "'polycoef' must have at most 5 numbers, got 6",
        ),
    ] {
        let e = read(equality).error();
        assert!(e.contains(why), "{equality}: {e}");
    }
}
