//! `<compiler>`, `<option>` and default classes.

use super::*;
use tarragon_geometry::{Rgba, Shape};

/// Orientation of a body without joints, as a quaternion `[w, x, y, z]`.
fn orientation(attributes: &str, compiler: &str) -> [f64; 4] {
    let body = format!("<body name='a' {attributes}><geom size='1'/></body>");
    let m = world_and(&body, &format!("<compiler {compiler}/>")).ok();
    let [w, x, y, z, ..] = numbers(&m.pose("a"));
    [w, x, y, z]
}

#[test]
fn orientations_come_in_five_forms() {
    let s = 0.5_f64.sqrt();
    near(orientation("", ""), [1.0, 0.0, 0.0, 0.0]);
    near(orientation("quat='2 2 0 0'", ""), [s, s, 0.0, 0.0]);
    near(orientation("axisangle='0 0 2 90'", ""), [s, 0.0, 0.0, s]);
    near(
        orientation("axisangle='0 0 2 0.5'", "angle='radian'"),
        [0.25_f64.cos(), 0.0, 0.0, 0.25_f64.sin()],
    );
    near(orientation("xyaxes='0 1 0 5 1 0'", ""), [0.0, s, s, 0.0]);
    let half = 22.5_f64.to_radians();
    near(
        orientation("zaxis='0 1 1'", ""),
        [half.cos(), -half.sin(), 0.0, 0.0],
    );
    near(orientation("zaxis='0 0 -3'", ""), [0.0, 1.0, 0.0, 0.0]);
    // The square of the length overflows.
    near(orientation("zaxis='0 0 -1e300'", ""), [0.0, 1.0, 0.0, 0.0]);
    near(
        orientation("axisangle='0 1e200 0 180'", ""),
        [0.0, 0.0, 1.0, 0.0],
    );
}

#[test]
fn euler_angles_turn_about_moving_and_fixed_axes() {
    let near = |a: [f64; 4], b: [f64; 4]| {
        // Drake's values are printed with twelve digits.
        a.iter()
            .zip(b)
            .for_each(|(x, y)| assert!((x - y).abs() < 1e-11, "{a:?} {b:?}"));
    };
    let q = orientation("euler='10 20 30'", "");
    near(
        q,
        [
            0.943714364147,
            0.127679440696,
            0.144878125417,
            0.268535822752,
        ],
    );
    let q = orientation("euler='10 20 30'", "eulerseq='zyX'");
    near(
        q,
        [
            0.951548524644,
            0.239298337745,
            0.144878125417,
            0.127679440696,
        ],
    );
    let q = orientation("euler='10 20 30'", "eulerseq='ZYX' angle='radian'");
    near(
        q,
        [
            0.158423445327,
            0.551087100351,
            0.40599185087,
            0.711600756622,
        ],
    );
}

#[test]
fn invalid_orientations_are_reported() {
    for (attributes, word) in [
        ("quat='0 0 0 0'", "the quaternion must not be zero"),
        ("quat='1 0 0 0' euler='0 0 0'", "'quat' and 'euler'"),
        ("quat='1 0 0'", "must have 4 numbers, got 3"),
        ("pos='a 0 0'", "attribute 'pos' must hold numbers, got 'a'"),
        ("pos='inf 0 0'", "must be finite"),
    ] {
        let m = world(&format!("<body {attributes}/>"));
        assert!(m.error().contains(word), "{attributes}: {}", m.error());
    }
    for attributes in [
        "zaxis='0 0 0'",
        "axisangle='0 0 0 1'",
        "xyaxes='1 0 0 2 0 0'",
    ] {
        let m = world(&format!("<body name='a' {attributes}/>")).ok();
        m.warns(&["it is ignored"]);
        near(numbers(&m.pose("a")), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn compiler_settings_apply_to_preceding_elements_and_the_last_one_wins() {
    let body = "<body name='a' euler='90 0 0'/>";
    let m = world_and(body, "<compiler angle='radian'/><compiler angle='degree'/>").ok();
    near([m.pose("a").rotation.angle()], [FRAC_PI_2]);
    let m = world_and(body, "<compiler angle='gon'/>").ok();
    m.warns(&["got 'gon'"]);
    let m = world_and("", "<compiler eulerseq='xyw'/>");
    assert!(m.error().contains("got 'xyw'"), "{}", m.error());
    let m = world_and("", "<compiler coordinate='global'/>");
    assert!(m.error().contains("must be 'local'"), "{}", m.error());
    world_and("", "<compiler coordinate='local'/>").ok();
}

#[test]
fn inertia_comes_from_geoms_unless_the_file_says_otherwise() {
    let mass = |inertial: &str, setting: &str| {
        let body =
            format!("<body name='a'><joint/>{inertial}<geom type='box' size='.5 .5 .5'/></body>");
        world_and(&body, &format!("<compiler {setting}/>"))
    };
    let inertial = "<inertial mass='2' diaginertia='1 1 1'/>";
    for setting in ["", "inertiafromgeom='auto'", "inertiafromgeom='false'"] {
        assert_eq!(mass(inertial, setting).inertia("a").mass(), 2.0);
    }
    assert_eq!(
        mass(inertial, "inertiafromgeom='true'").inertia("a").mass(),
        1000.0
    );
    assert_eq!(mass("", "").inertia("a").mass(), 1000.0);
    let m = mass("", "inertiafromgeom='false'");
    assert!(m.error().contains("no <inertial>"), "{}", m.error());
    mass("", "inertiafromgeom='maybe'")
        .ok()
        .warns(&["got 'maybe'"]);
}

#[test]
fn unsupported_compiler_and_option_settings_are_reported() {
    let ignored = [
        "alignfree",
        "balanceinertia",
        "boundinertia",
        "boundmass",
        "discardvisual",
        "fusestatic",
        "inertiagrouprange",
        "settotalmass",
        "strippath",
        "texturedir",
    ];
    for name in ignored {
        world_and("", &format!("<compiler {name}='1'/>")).warns(&[
            name,
            "<compiler>",
            "is ignored",
        ]);
    }
    for name in [
        "density",
        "viscosity",
        "wind",
        "magnetic",
        "integrator",
        "cone",
    ] {
        world_and("", &format!("<option {name}='1'/>")).warns(&[name, "<option>", "is ignored"]);
    }
    world_and("", "<option><flag gravity='disable'/></option>").warns(&["<flag> is ignored"]);
}

#[test]
fn the_last_gravity_wins() {
    let m = world_and("", "<option gravity='0 0 -1'/><option gravity='1 2 -3'/>").ok();
    assert_eq!(m.plant.gravity(), Vector3::new(1.0, 2.0, -3.0));
    assert!(world_and("", "<option gravity='0 0'/>").result.is_err());
}

#[test]
fn unsupported_elements_are_reported_once_each() {
    for tag in [
        "deformable",
        "sensor",
        "statistic",
        "tendon",
        "visual",
        "nonsense",
    ] {
        world_and("", &format!("<{tag}/>")).warns(&[&format!("<{tag}> is ignored")]);
    }
    let extension = "<extension><plugin plugin='x'/></extension>";
    world_and("", extension).warns(&["<extension> is ignored"]);
    for tag in [
        "frame",
        "replicate",
        "attach",
        "composite",
        "flexcomp",
        "light",
        "plugin",
        "x",
    ] {
        // MJCF has no body in the others.
        let inside = match tag {
            "frame" | "replicate" | "x" => format!("<{tag}><body name='lost'/></{tag}>"),
            _ => format!("<{tag}/>"),
        };
        let m = world(&inside).ok();
        m.warns(&[&format!("<{tag}> is ignored")]);
        assert_eq!(m.plant.num_bodies(), 1);
        world(&format!("<body>{inside}</body>")).warns(&[tag]);
    }
    assert!(
        world_and("", "<size njmax='1'/><custom/>")
            .warnings()
            .is_empty()
    );
    for name in ["gravcomp", "mocap", "user"] {
        world(&format!("<body {name}='1'/>")).warns(&[name, "<body>"]);
    }
    world("<joint/>").warns(&["<joint>", "the world"]);
}

const CLASSES: &str = "<default class='main'>
  <default class='q'><geom size='2' rgba='1 0 0 1'/><joint type='slide'/>
    <default class='r'><geom size='3'/></default></default>
  <geom size='1' friction='3'/><joint damping='1' name='never'/></default>";

fn radius_and_colour(m: &Built, name: &str) -> (f64, [f64; 4]) {
    let inspector = m.scene.model_inspector();
    let id = inspector
        .geometry_ids()
        .find(|g| inspector.name(*g).unwrap() == format!("m::{name}"));
    let rgba = inspector
        .illustration_properties(id.unwrap())
        .unwrap()
        .unwrap();
    let rgba = rgba.get::<Rgba>("phong", "diffuse").unwrap().rgba();
    let Shape::Sphere(sphere) = inspector.shape(id.unwrap()).unwrap() else {
        panic!()
    };
    (sphere.radius(), rgba)
}

#[test]
fn classes_nest_and_are_inherited_by_child_bodies() {
    let m = world_and(
        "<body childclass='q'><joint name='j'/><geom name='a'/><geom class='r' name='b'/>
           <geom class='main' name='c'/><body><joint name='k'/><geom name='d' size='5'/>
             <body childclass='r'><joint name='l'/><geom name='e'/></body></body></body>
         <body><joint name='n'/><geom name='f'/></body>",
        CLASSES,
    )
    .ok();
    let (red, grey) = ([1.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5, 1.0]);
    assert_eq!(radius_and_colour(&m, "a"), (2.0, red));
    assert_eq!(radius_and_colour(&m, "b"), (3.0, red));
    assert_eq!(radius_and_colour(&m, "c"), (1.0, grey));
    assert_eq!(radius_and_colour(&m, "d"), (5.0, red));
    assert_eq!(radius_and_colour(&m, "e"), (3.0, red));
    assert_eq!(radius_and_colour(&m, "f"), (1.0, grey));
    let joint = |name: &str| (m.joint(name).kind().type_name(), m.joint(name).damping()[0]);
    assert_eq!(joint("j"), ("prismatic", 1.0));
    assert_eq!(joint("k"), ("prismatic", 1.0));
    // Class r has no defaults for joints. As in Drake, its joints inherit none either.
    assert_eq!(joint("l"), ("revolute", 0.0));
    assert_eq!(joint("n"), ("revolute", 1.0));
}

#[test]
fn an_explicit_orientation_replaces_a_default_one() {
    let m = world_and(
        "<body name='b'><joint/><geom euler='0 0 90' name='own' size='1'/><geom name='inherited' size='1'/>
         <geom class='q' name='class' size='1'/></body>",
        "<default><geom quat='0 1 0 0'/><default class='q'><geom euler='0 90 0'/></default></default>",
    );
    m.result.as_ref().unwrap();
    let inspector = m.scene.model_inspector();
    let rotations: Vec<[f64; 7]> = inspector
        .geometry_ids()
        .step_by(2)
        .map(|g| numbers(inspector.pose_in_frame(g).unwrap()))
        .collect();
    let s = 0.5_f64.sqrt();
    near(rotations[0], [s, 0.0, 0.0, s, 0.0, 0.0, 0.0]);
    near(rotations[1], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    near(rotations[2], [s, 0.0, s, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_last_defaults_of_an_element_replace_the_others() {
    let twice = "<default><geom size='2'/></default><default><geom size='3'/><joint damping='2'/></default>";
    let m = world_and("<body><joint name='j'/><geom name='a'/></body>", twice).ok();
    assert_eq!(radius_and_colour(&m, "a").0, 3.0);
    assert_eq!(m.joint("j").damping(), [2.0]);
}

#[test]
fn classes_must_have_names_and_unknown_ones_are_reported() {
    let m = world_and("", "<default><default><geom/></default></default>");
    assert!(m.error().contains("no attribute 'class'"), "{}", m.error());
    world("<geom class='nope' size='1'/>").warns(&["class 'nope' is not defined", ":1:"]);
    world("<body childclass='nope'/>").warns(&["class 'nope' is not defined"]);
}
