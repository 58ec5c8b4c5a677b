//! Contact properties and collision filters as MuJoCo reads them.

use super::*;
use tarragon_documents::Diagnostic;
use tarragon_framework::prelude::*;
use tarragon_geometry::{CoulombFriction, HalfSpace, ProximityProperties};

const G: f64 = 9.81;
/// A constant impedance, `solimp=".9 .9"`.
const CONSTANT: [f64; 5] = [0.9, 0.9, 0.001, 0.5, 2.0];
const SOLREF: [f64; 2] = [0.02, 1.0];

fn read(world: &str, others: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!("<mujoco model='m'><worldbody>{world}</worldbody>{others}</mujoco>");
        p.add_models_from_string(&text, "xml")
    })
}

/// Simulates a model in steps of 1 ms from positions and velocities; returns both at the end.
fn simulate(model: Loaded, [q, v]: [&[f64]; 2], end: f64) -> [Vec<f64>; 2] {
    // MuJoCo warns about mixed signs, too.
    let is_other = |d: &Diagnostic| !d.message.contains("must have two positive numbers");
    assert!(!model.diagnostics.iter().any(is_other));
    let (mut plant, scene) = (model.plant, model.scene);
    plant.set_contact_model(ContactModel::Point);
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    plant.set_positions(&mut context, q).unwrap();
    plant.set_velocities(&mut context, v).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(end).unwrap();
    let context = sim.context();
    [
        plant.positions(context).unwrap(),
        plant.velocities(context).unwrap(),
    ]
}

/// Attributes of ground, ball and pair, and the depth (m) at which the ball below rests in MuJoCo
/// 3.3.7 in steps of 1 ms.
const DEPTHS: [(&str, &str, &str, f64); 17] = [
    ("", "", "", 0.0003924),
    (
        "solref='.01 .5' solimp='.8 .8'",
        "solref='.01 .5' solimp='.8 .8'",
        "",
        4.905e-5,
    ),
    ("solref='-3000 -80'", "solref='-3000 -80'", "", 0.000327),
    // The means act, weighted by `solmix`.
    ("", "solref='.01 .5'", "", 0.0001241578125),
    (
        "solmix='3'",
        "solref='.01 1' solimp='.5 .5'",
        "",
        0.0006008625,
    ),
    ("solmix='0'", "solref='.01 1'", "", 9.81e-5),
    ("solmix='0'", "solref='.01 1' solmix='0'", "", 0.000220725),
    // The least numbers act unless both are times.
    ("solref='.01 1'", "solref='-3000 -80'", "", 0.000327),
    ("solref='-2000 -100'", "solref='-3000 -80'", "", 0.000327),
    // Those of the higher priority act.
    ("solref='.01 1' priority='1'", "solref='.05 1'", "", 9.81e-5),
    (
        "solref='.01 1'",
        "solref='.05 1' priority='1'",
        "",
        0.0024525,
    ),
    // A pair has its own, or the default ones.
    (
        "solref='.01 1'",
        "solref='.05 1' priority='1'",
        "solref='.03 1'",
        0.0008829,
    ),
    (
        "solref='.01 1'",
        "solref='.05 1'",
        "solimp='.8 .8'",
        0.0007848,
    ),
    (
        "solref='.01 1'",
        "solref='.05 1'",
        "solref='.02'",
        0.0003924,
    ),
    // Time constants are at least two steps, and other mixed signs mean the default.
    ("solref='.0005 1'", "solref='.0005 1'", "", 3.924e-6),
    ("solref='-500 1'", "solref='-500 1'", "", 0.0003924),
    ("solref='500 -1'", "solref='500 -1'", "", 0.0003924),
];

/// With a constant impedance, a ball rests as deep in a plane as in MuJoCo.
#[test]
fn bodies_rest_as_deep_as_in_mujoco() {
    for (ground, ball, pair, depth) in DEPTHS {
        let defaults = "<default><geom solimp='.9 .9'/><pair solimp='.9 .9'/></default>";
        let pair = match pair {
            "" => String::new(),
            _ => format!("<contact><pair geom1='ground' geom2='ball' {pair}/></contact>"),
        };
        let model = read(
            &format!(
                "<geom name='ground' type='plane' size='5 5 1' {ground}/>
                 <body pos='0 0 .1'><joint type='slide'/>
                   <geom name='ball' size='.1' mass='2' {ball}/></body>"
            ),
            &(pair + defaults),
        );
        let [q, v] = simulate(model, [&[0.0], &[0.0]], 4.0);
        // Both have settled.
        let found = -q[0] / depth;
        assert!(
            (found - 1.0).abs() < 1e-6,
            "{ground}, {ball}: {found} {v:?}"
        );
    }
}

/// Numbers that an element lacks are those of its class, as in MuJoCo.
#[test]
fn short_attributes_are_completed_by_the_class() {
    let class = "<default><geom solref='.05 .5' solimp='.5 .9'/></default>";
    let ball = "<body pos='0 0 .1'><joint type='slide'/><geom size='.1' mass='2'
      solref='.01' solimp='.9'/></body>";
    let plane = "<geom type='plane' size='5 5 1' solref='.01' solimp='.9'/>";
    let model = read(&format!("{plane}{ball}"), class);
    let [q, _] = simulate(model, [&[0.0], &[0.0]], 4.0);
    let contact = MujocoContact::from_solver_parameters([0.01, 0.5], CONSTANT);
    let depth = contact.rest_depth(G);
    assert!((-q[0] / depth - 1.0).abs() < 1e-6, "{q:?}, not {depth:?}");
    // A class completes its own attributes from those of the classes around it.
    let class = "<default><geom solref='.05 .5' solimp='.5 .9'/>
      <default class='c'><geom solref='.01' solimp='.9'/></default></default>";
    let ball =
        "<body pos='0 0 .1'><joint type='slide'/><geom class='c' size='.1' mass='2'/></body>";
    let plane = "<geom class='c' type='plane' size='5 5 1'/>";
    let model = read(&format!("{plane}{ball}"), class);
    let [nested, _] = simulate(model, [&[0.0], &[0.0]], 4.0);
    assert_eq!(nested, q);
}

/// Impulse of friction on a sled over the normal impulse: the coefficient of friction.
fn friction(ground: &str, sled: &str, others: &str) -> f64 {
    let model = read(
        &format!(
            "<geom name='ground' type='plane' size='5 5 1' {ground}/>
             <body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide'/>
               <geom name='sled' size='.1' mass='2' {sled}/></body>"
        ),
        &format!("<option cone='elliptic'/>{others}"),
    );
    // It starts as deep as it rests, and is higher while it slides, as in MuJoCo.
    let depth = MujocoContact::default().rest_depth(G);
    let [_, v] = simulate(model, [&[0.0, -depth], &[2.0, 0.0]], 0.1);
    (2.0 - v[0]) / (G * 0.1 + v[1])
}

#[test]
fn friction_is_the_larger_one_or_that_of_the_higher_priority() {
    let check = |ground, sled, others, mu: f64| {
        let found = friction(ground, sled, others);
        assert!(
            (found - mu).abs() < 1e-9,
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
    let pair = "<contact><pair geom1='sled' geom2='ground' friction='.3 .3'/></contact>";
    check("friction='.2'", "friction='.6'", pair, 0.3);
    // A pair has default properties in place of those of its geoms.
    let pair = "<contact><pair geom1='sled' geom2='ground'/></contact>";
    check("condim='1'", "condim='1'", pair, 1.0);
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
        // Next to other geometry, the stiffness is that of a body at rest.
        let contact = MujocoContact::default();
        let depth = contact.rest_depth(G);
        let [_, v] = simulate(model, [&[0.0, -depth], &[2.0, 0.0]], 0.1);
        let found = (2.0 - v[0]) / (G * 0.1);
        assert!((found - mu).abs() < 1e-4, "{condim}: {found}");
    }
}

/// Out of range, numbers act as the nearest ones within: impedances from 1e-4 to 0.9999, and
/// stiffness per mass of constraints from 1e-6/s^2 to 1e12/s^2.
#[test]
fn solver_parameters_are_limited() {
    let of = |solref, [first, most]: [f64; 2]| {
        let solimp = [first, most, 0.001, 0.5, 2.0];
        let contact = MujocoContact::from_solver_parameters(solref, solimp);
        [
            contact.stiffness_per_mass(0.0),
            contact.relaxation_time(0.0),
        ]
    };
    let standard = SOLREF;
    let check = |found: [f64; 2], expected: [f64; 2]| near(found, expected);
    check(of(standard, [0.0, 0.0]), of(standard, [1e-4, 1e-4]));
    check(of(standard, [-5.0, 7.0]), of(standard, [1e-4, 0.9999]));
    check(of(standard, [1.0, 1.0]), of(standard, [0.9999, 0.9999]));
    let half = [0.5, 0.5];
    // The largest stiffness, times d^2 / (1 - d), and the least time.
    near([of([1e-300, 1.0], half)[0]], [0.5e12]);
    near([of([1e300, 1e300], half)[0]], [0.5e-6]);
    assert_eq!(of([-1e300, -1.0], half)[0], 0.5e12);
    // Without stiffness and damping, and with damping alone.
    check(of([0.0, 0.0], half), [0.5e-6, 0.0]);
    check(of([0.0, -1e300], half), [0.5e-6, 1e12 / (1e-6 * 0.5)]);
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
        for solimp in [
            [0.0, 0.0, 0.001, 0.5, 2.0],
            [1.0, 1.0, 0.0, 0.0, 0.0],
            [-5.0, 7.0, 1e300, 2.0, 1e300],
            [7.0, -5.0, 1e-14, -1.0, 1e3],
        ] {
            let contact = MujocoContact::from_solver_parameters(solref, solimp);
            let depth = contact.rest_depth(G);
            let stiffness = contact.stiffness_per_mass(depth);
            let numbers = [depth, stiffness, contact.relaxation_time(depth)];
            let finite = numbers.iter().all(|x| x.is_finite() && *x >= 0.0);
            assert!(finite && stiffness > 0.0, "{solref:?}: {contact:?}");
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

/// A floor of one file and a ball of another are filtered like those of one file.
#[test]
fn masks_select_the_pairs_of_several_files() {
    let two = |a: &str, b: &str, semantics| {
        let model = load_with(|p| {
            for (name, text, as_what) in [
                ("a", ball("a", a), MjcfSemantics::MuJoCo),
                ("b", ball("b", b), semantics),
            ] {
                p.set_mjcf_semantics(as_what);
                let text = format!("<mujoco model='{name}'><worldbody>{text}</worldbody></mujoco>");
                p.add_models_from_string(&text, "xml")?;
            }
            Ok(vec![])
        });
        model
            .ok()
            .scene
            .model_inspector()
            .collision_candidates()
            .len()
    };
    let (own, other) = ("contype='2' conaffinity='2'", "contype='4' conaffinity='2'");
    assert_eq!(two(own, "", MjcfSemantics::MuJoCo), 0);
    assert_eq!(two(own, other, MjcfSemantics::MuJoCo), 1);
    // Geometry without masks collides with all.
    assert_eq!(two(own, "", MjcfSemantics::Drake), 1);
}

/// Two geoms of welded bodies overlap for ever, and no force could part them.
#[test]
fn pairs_that_cannot_move_do_not_collide() {
    let fixed = "<body name='a'><geom name='ga' size='1'/></body>
      <body name='b' pos='.1 0 0'><geom name='gb' size='1'/></body>";
    let pair = "<contact><pair geom1='ga' geom2='gb'/></contact>";
    assert_eq!(candidates(fixed, pair), 0);
    let moving = "<body pos='9 0 0'><joint type='slide'/><geom size='.1'/></body>";
    let [_, v] = simulate(
        read(&format!("{fixed}{moving}"), pair),
        [&[0.0], &[0.0]],
        0.01,
    );
    assert!((v[0] + G * 0.01).abs() < 1e-9, "{v:?}");
}

/// Contact with invalid properties is an error, and not motion without meaning.
#[test]
fn invalid_properties_are_refused() {
    let number = f64::NAN;
    for (contact, why) in [
        (
            MujocoContact {
                solref: [number, 1.0],
                ..MujocoContact::default()
            },
            "solref and solimp must be finite, got NaN",
        ),
        (
            MujocoContact {
                solimp: [0.9, f64::INFINITY, 0.001, 0.5, 2.0],
                ..MujocoContact::default()
            },
            "must be finite, got inf",
        ),
        (
            MujocoContact {
                solmix: -1.0,
                ..MujocoContact::default()
            },
            "solmix must be finite and at least 0, got -1.0",
        ),
    ] {
        let mut model = read("<body><freejoint/><geom name='a' size='1'/></body>", "");
        let (plant, scene) = (&mut model.plant, &mut model.scene);
        let mut ground =
            ProximityProperties::new().with_friction(CoulombFriction::new(1.0, 1.0).unwrap());
        ground.add("material", "mujoco_contact", contact).unwrap();
        let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
        let id = plant
            .register_collision_geometry(scene, world, x, HalfSpace, "ground", ground)
            .unwrap();
        let pair = ContactPairProperties {
            solver_parameters: Some(contact),
            ..ContactPairProperties::default()
        };
        let error = plant
            .add_contact_pair(id, id, pair)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
        plant.set_contact_model(ContactModel::Point);
        let mut b = DiagramBuilder::new();
        add_multibody_plant_scene_graph(&mut b, model.plant, model.scene).unwrap();
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        let error = sim.advance_to(0.01).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("'ground'"), "{error}");
    }
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

/// Geometry without masks collides with all but geoms that collide in pairs alone.
#[test]
fn geoms_that_collide_in_pairs_alone_touch_no_other_model() {
    let pair = "<contact><pair geom1='ga' geom2='gb'/></contact>";
    let alone = ball("a", "contype='0' conaffinity='0'");
    let count = |others: &str| {
        let world = format!("{alone}{}{others}", ball("b", ""));
        let model = load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            let text = format!("<mujoco model='m'><worldbody>{world}</worldbody>{pair}</mujoco>");
            p.add_models_from_string(&text, "xml")?;
            p.set_mjcf_semantics(MjcfSemantics::Drake);
            let text = ball("c", "");
            let text = format!("<mujoco model='n'><worldbody>{text}</worldbody></mujoco>");
            p.add_models_from_string(&text, "xml")
        });
        let scene = model.ok().scene;
        scene.model_inspector().collision_candidates().len()
    };
    // The pair, and 'b' with the other model.
    assert_eq!(count(""), 2);
    // The masks of so many geoms are ignored; none of these moves.
    let many: String = (1..300)
        .map(|k| format!("<geom size='1' contype='{k}' conaffinity='1'/>"))
        .collect();
    assert_eq!(count(&many), 2 + 2 * 299);
}

#[test]
fn what_contact_lacks_is_reported() {
    let geom = |attributes: &str| read(&ball("a", attributes), "");
    geom("margin='.1' gap='.1'").says_nothing();
    geom("condim='6'").warns(&["condim=6.0 acts as condim=3"]);
    geom("friction='1 .1 .1' priority='3' solmix='2' solref='.01 1' solimp='.8 .9 .1'")
        .says_nothing();
    geom("solref='1 inf'").refuses("'solref' must have finite numbers, got inf");
    geom("solmix='-1'").refuses("solmix must be finite and at least 0, got -1.0");
    let pair = |attributes: &str| {
        let world = ball("a", "") + &ball("b", "");
        read(&world, &format!("<contact><pair {attributes}/></contact>"))
    };
    pair("geom1='ga' geom2='gb' solref='.1 1' solimp='.8 .9' condim='3'").says_nothing();
    pair("geom1='ga' geom2='gb' solreffriction='.1 1'").warns(&["'solreffriction' of <pair>"]);
    pair("geom1='ga' geom2='gb' margin='.1' gap='.1'").says_nothing();
    pair("geom1='ga' geom2='gb' friction='.3'").warns(&["acts as 0.3 in all directions"]);
    pair("geom1='ga' geom2='gb' friction='-1'").refuses("friction");
    pair("geom1='ga'").warns(&["<pair> without 'geom1' and 'geom2'"]);
    pair("geom1='ga' geom2='x'").warns(&["<pair> is ignored: there is no geom 'x'"]);
    let many: String = (0..300)
        .map(|k| format!("<geom size='1' contype='{k}' conaffinity='1'/>"))
        .collect();
    read(&many, "").warns(&["at most 256 different pairs of them, got 300"]);
}
