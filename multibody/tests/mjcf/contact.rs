//! Contact properties and collision filters as MuJoCo reads them.

use super::*;
use tarragon_framework::prelude::*;
use tarragon_geometry::{CoulombFriction, HalfSpace, ProximityProperties};

const G: f64 = 9.81;

fn read(world: &str, others: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!("<mujoco model='m'><worldbody>{world}</worldbody>{others}</mujoco>");
        p.add_models_from_string(&text, "xml")
    })
}

/// Simulates a model in steps of 1 ms from positions and velocities; returns both at the end.
fn simulate(model: Loaded, [q, v]: [&[f64]; 2], end: f64) -> [Vec<f64>; 2] {
    model.says_nothing();
    let (mut plant, scene) = (model.plant, model.scene);
    plant.set_contact_model(ContactModel::Point).unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    let system = plant.system();
    system.set_positions(&plant, &mut context, q).unwrap();
    system.set_velocities(&plant, &mut context, v).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(end).unwrap();
    let context = sim.context();
    [
        system.positions(&plant, context).unwrap(),
        system.velocities(&plant, context).unwrap(),
    ]
}

/// `solref`, impedance, and the depth (m) at which the ball below rests in MuJoCo 3.3.7.
const DEPTHS: [(&str, f64, f64); 3] = [
    (".02 1", 0.9, 0.0003924),
    (".01 .5", 0.8, 4.905e-5),
    ("-3000 -80", 0.9, 0.000327),
];

/// With a constant impedance, a ball rests as deep in a plane as in MuJoCo.
#[test]
fn bodies_rest_as_deep_as_in_mujoco() {
    for (solref, impedance, depth) in DEPTHS {
        let contact = format!("solref='{solref}' solimp='{impedance} {impedance} .001'");
        let model = read(
            &format!(
                "<geom type='plane' size='5 5 1' {contact}/>
                 <body pos='0 0 .1'><joint type='slide'/><geom size='.1' mass='2' {contact}/></body>"
            ),
            "",
        );
        let [q, v] = simulate(model, [&[0.0], &[0.0]], 4.0);
        // Both have settled.
        assert!((-q[0] / depth - 1.0).abs() < 1e-6, "{solref}: {q:?} {v:?}");
    }
}

/// Deceleration of a sled over gravity: the coefficient of friction.
fn friction(ground: &str, sled: &str, others: &str) -> f64 {
    let model = read(
        &format!(
            "<geom name='ground' type='plane' size='5 5 1' {ground}/>
             <body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide'/>
               <geom name='sled' size='.1' mass='2' {sled}/></body>"
        ),
        others,
    );
    // It starts as deep as it rests.
    let depth = G / MujocoContact::default().stiffness_per_mass;
    let [_, v] = simulate(model, [&[0.0, -depth], &[2.0, 0.0]], 0.1);
    (2.0 - v[0]) / (G * 0.1)
}

#[test]
fn friction_is_the_larger_one_or_that_of_the_higher_priority() {
    let check = |ground, sled, others, mu: f64| {
        let found = friction(ground, sled, others);
        // Slip is regularized below 1e-4 m/s, and the depth is that of rest to rounding.
        assert!(
            (found - mu).abs() < 1e-4,
            "{ground}, {sled}: {found}, not {mu}"
        );
    };
    check("friction='.2'", "friction='.6'", "", 0.6);
    check("friction='.6'", "friction='.2'", "", 0.6);
    check("friction='.2' priority='1'", "friction='.6'", "", 0.2);
    check("friction='.2'", "friction='.6' priority='-1'", "", 0.2);
    check("friction='.2' condim='1'", "friction='.6'", "", 0.6);
    check(
        "friction='.2' condim='1'",
        "friction='.6' condim='1'",
        "",
        0.0,
    );
    check(
        "friction='.2' condim='1' priority='2'",
        "friction='.6'",
        "",
        0.0,
    );
    let pair = "<contact><pair geom1='sled' geom2='ground' friction='.3'/></contact>";
    check("friction='.2'", "friction='.6'", pair, 0.3);
    let smooth = "<contact><pair geom1='sled' geom2='ground' condim='1'/></contact>";
    check("friction='.2'", "friction='.6'", smooth, 0.0);
}

/// Without rules of MuJoCo on the other side, friction combines as in Drake.
#[test]
fn friction_with_other_geometry_is_the_harmonic_mean() {
    for (condim, mu) in [(3, 2.0 * 0.2 * 0.6 / 0.8), (1, 0.0)] {
        let mut model = read(
            &format!(
                "<body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide'/>
                   <geom size='.1' mass='2' friction='.6' condim='{condim}'/></body>"
            ),
            "",
        );
        let ground = ProximityProperties::new()
            .with_friction(CoulombFriction::new(0.2, 0.2).unwrap())
            .with_point_stiffness(f64::INFINITY)
            .unwrap();
        let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
        let plane = HalfSpace;
        let (plant, scene) = (&mut model.plant, &mut model.scene);
        plant
            .register_collision_geometry(scene, world, x, plane, "ground", ground)
            .unwrap();
        let depth = G / MujocoContact::default().stiffness_per_mass;
        let [_, v] = simulate(model, [&[0.0, -depth], &[2.0, 0.0]], 0.1);
        let found = (2.0 - v[0]) / (G * 0.1);
        assert!((found - mu).abs() < 1e-4, "{condim}: {found}");
    }
}

#[test]
fn extreme_solver_parameters_stay_finite() {
    for solref in [
        [0.0, 0.0],
        [1e-300, 1.0],
        [1e300, 1e300],
        [0.0, -1e300],
        [-1e300, -1.0],
    ] {
        for solimp in [[0.0, 0.0], [1.0, 1.0], [-5.0, 7.0]] {
            let contact = MujocoContact::from_solver_parameters(solref, solimp);
            let numbers = [contact.stiffness_per_mass, contact.relaxation_time];
            let finite = numbers.iter().all(|x| x.is_finite() && *x >= 0.0);
            assert!(
                finite && contact.stiffness_per_mass > 0.0,
                "{solref:?}: {contact:?}"
            );
        }
    }
}

fn candidates(world: &str, others: &str) -> usize {
    let model = read(world, others);
    model.says_nothing();
    let scene = model.ok().scene;
    scene.model_inspector().collision_candidates().len()
}

fn ball(name: &str, attributes: &str) -> String {
    format!("<body name='{name}'><freejoint/><geom name='g{name}' size='1' {attributes}/></body>")
}

#[test]
fn masks_select_the_pairs() {
    let two = |a: &str, b: &str| candidates(&(ball("a", a) + &ball("b", b)), "");
    assert_eq!(two("", ""), 1);
    assert_eq!(two("contype='2' conaffinity='2'", ""), 0);
    assert_eq!(two("contype='2' conaffinity='1'", ""), 1);
    assert_eq!(
        two("contype='2' conaffinity='4'", "contype='4' conaffinity='0'"),
        1
    );
    assert_eq!(two("contype='0'", "contype='0'"), 0);
    assert_eq!(two("contype='0'", ""), 1);
    let crowd: String = ["a", "b", "c"].map(|n| ball(n, "conaffinity='0'")).concat();
    assert_eq!(candidates(&(crowd + &ball("d", "")), ""), 3);
}

#[test]
fn pairs_collide_whatever_the_filters_are() {
    let pair = "<contact><exclude body1='a' body2='b'/><pair geom1='ga' geom2='gb'/></contact>";
    let invisible = "contype='0' conaffinity='0'";
    assert_eq!(
        candidates(&(ball("a", invisible) + &ball("b", invisible)), ""),
        0
    );
    assert_eq!(
        candidates(&(ball("a", invisible) + &ball("b", invisible)), pair),
        1
    );
    assert_eq!(
        candidates(&(ball("a", "") + &ball("b", "") + &ball("c", "")), pair),
        3
    );
    let joined = "<body name='a'><joint/><geom name='ga' size='1'/>
      <body name='b'><joint/><geom name='gb' size='1'/></body></body>";
    assert_eq!(candidates(joined, ""), 0);
    assert_eq!(candidates(joined, pair), 1);
}

#[test]
fn what_contact_lacks_is_reported() {
    let geom = |attributes: &str| read(&ball("a", attributes), "");
    geom("margin='.1'").warns(&["'margin' of <geom>"]);
    geom("gap='.1'").warns(&["'gap' of <geom>"]);
    geom("solmix='2'").warns(&["'solmix' of <geom>", "in series"]);
    geom("condim='6'").warns(&["condim=6.0 acts as condim=3"]);
    geom("friction='1 .1 .1' priority='3' solref='.01 1' solimp='.8 .9 .1'").says_nothing();
    let pair = |attributes: &str| {
        let world = ball("a", "") + &ball("b", "");
        read(&world, &format!("<contact><pair {attributes}/></contact>"))
    };
    pair("geom1='ga' geom2='gb' solref='.1 1'").warns(&["'solref' of <pair>"]);
    pair("geom1='ga'").warns(&["<pair> without 'geom1' and 'geom2'"]);
    pair("geom1='ga' geom2='x'").warns(&["<pair> is ignored: there is no geom 'x'"]);
    let many: String = (0..300)
        .map(|k| format!("<geom size='1' contype='{k}' conaffinity='1'/>"))
        .collect();
    read(&many, "").warns(&["at most 256 different pairs of them, got 300"]);
}
