//! Behaviour of the MJCF parser, one property per test. Numbers without a closed form are those of
//! Drake 1.51 for the same text. The recorded models of the reference set are in the conformance
//! tests of the root package.

mod annotations;
mod compiler;
mod contact;
mod controls;
mod diagnostics;
mod drives;
mod elements;
mod equalities;
mod files;
mod geoms;
mod height_fields;
mod hostile;
mod margins;
mod mesh_textures;
mod motion;
mod mujoco;
mod sensors;
mod skins;
mod skybox;
mod tendon_actuators;
mod tendons;
mod textures;
mod wraps;

use crate::support::loaded::{Built, Loaded, load_with};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::FRAC_PI_2;
use std::ops::Deref;
use std::path::Path;
use tarragon_documents::Severity;
use tarragon_formats::*;
use tarragon_multibody::*;

/// Loads a text as Drake reads it.
fn load(text: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::Drake);
        p.add_models_from_string(text, "xml")
    })
}
/// Loads a file as Drake reads it.
fn load_file(path: &Path) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::Drake);
        p.add_models(path)
    })
}
/// Loads a file as MuJoCo reads it.
fn load_file_as_mujoco(path: &Path) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models(path)
    })
}
/// Reads a model as by MuJoCo into a plant with a time step (s), or in continuous time.
fn read(text: &str, time_step: f64) -> Loaded {
    let mut loaded = load_with(|_| Ok(vec![]));
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut loaded.scene);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    loaded.result = parser.add_models_from_string(text, "xml");
    loaded.diagnostics = parser.diagnostics().to_vec();
    loaded.plant = plant;
    loaded
}
/// A model `m` with the elements `world` in its `<worldbody>`, and `others` after it.
fn world_and(world: &str, others: &str) -> Loaded {
    load(&format!(
        "<mujoco model='m'><worldbody>{world}</worldbody>{others}</mujoco>"
    ))
}
fn world(world: &str) -> Loaded {
    world_and(world, "")
}

impl<P: Deref<Target = MultibodyModel>> Loaded<P> {
    fn error(&self) -> String {
        self.result.as_ref().unwrap_err().to_string()
    }
    /// Checks that the model did not load, and that the error contains these words.
    #[track_caller]
    fn refuses(&self, words: &str) {
        let error = self.error();
        assert!(error.contains(words), "'{words}' is not in: {error}");
    }
    fn joint(&self, name: &str) -> &Joint {
        let index = self.plant.joint_by_name(name).unwrap();
        self.plant.joint(index).unwrap()
    }
    fn inertia(&self, body: &str) -> SpatialInertia {
        let body = self.plant.body_by_name(body).unwrap();
        *self.plant.body(body).unwrap().spatial_inertia()
    }
    fn body_names(&self) -> Vec<&str> {
        self.plant.bodies().map(|(_, b)| b.name()).collect()
    }
    fn frame_names(&self) -> Vec<&str> {
        self.plant.frames().map(|(_, f)| f.name()).collect()
    }
    fn warnings(&self) -> Vec<String> {
        let warnings = self.diagnostics.iter();
        let warnings = warnings.filter(|d| d.severity == Severity::Warning);
        warnings.map(ToString::to_string).collect()
    }
    /// Checks that there is one warning, and that it contains all of these words.
    #[track_caller]
    fn warns(&self, words: &[&str]) {
        let warnings = self.warnings();
        let [warning] = &*warnings else {
            panic!("there must be one warning, got {warnings:#?}");
        };
        for word in words {
            assert!(warning.contains(word), "'{word}' is not in: {warning}");
        }
    }
}

impl Built {
    /// Pose of a body in the world in the default configuration.
    fn pose(&self, body: &str) -> Isometry3<f64> {
        let mut poses = vec![];
        let q = self.plant.default_positions();
        self.plant.calc_body_poses(&q, &mut poses).unwrap();
        poses[self.plant.body_by_name(body).unwrap().index()]
    }
}

#[track_caller]
fn near(a: impl IntoIterator<Item = f64>, b: impl IntoIterator<Item = f64>) {
    let (a, b): (Vec<f64>, Vec<f64>) = (a.into_iter().collect(), b.into_iter().collect());
    assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
    for (x, y) in a.iter().zip(&b) {
        // Room for the rounding of a handful of operations.
        assert!((x - y).abs() < 1e-12 * y.abs().max(1.0), "{a:?} {b:?}");
    }
}

/// `[qw, qx, qy, qz, x, y, z]` with qw >= 0.
fn numbers(x: &Isometry3<f64>) -> [f64; 7] {
    let (q, p) = (x.rotation, x.translation.vector);
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    [
        q.w * sign,
        q.i * sign,
        q.j * sign,
        q.k * sign,
        p.x,
        p.y,
        p.z,
    ]
}

#[test]
fn bodies_without_names_are_numbered_across_the_plant() {
    let m = world(
        "<body><joint/><joint/><geom size='1'/><body><geom size='1'/></body></body>
         <body><freejoint/><geom size='1'/></body>",
    )
    .ok();
    // 'body10' is between the two joints of 'body1'.
    assert_eq!(
        m.body_names(),
        ["world", "body1", "body10", "body3", "body4"]
    );
    let joints: Vec<&str> = m.plant.joints().map(|(_, j)| j.name()).collect();
    assert_eq!(
        joints,
        [
            "world-body10",
            "body10-body1",
            "body1_welds_to_body3",
            "body4"
        ]
    );
    let kinds: Vec<&str> = m
        .plant
        .joints()
        .map(|(_, j)| j.kind().type_name())
        .collect();
    assert_eq!(
        kinds,
        ["revolute", "revolute", "weld", "quaternion_floating"]
    );
}

#[test]
fn joints_add_frames_after_their_bodies() {
    let m = world(
        "<body name='a'><joint name='j' pos='0 0 1'/><joint name='k'/><geom size='1'/></body>",
    );
    assert_eq!(
        m.frame_names(),
        [
            "world", "a", "a0", "j_parent", "j_child", "k_parent", "k_child"
        ]
    );
    let mass = |name: &str| m.inertia(name).mass();
    assert_eq!(mass("a0"), 0.0);
    near([mass("a")], [4000.0 / 3.0 * std::f64::consts::PI]);
}

#[test]
fn the_pose_of_a_body_belongs_to_its_last_joint() {
    let m = world(
        "<body name='a' pos='1 2 3'>
           <joint name='x' type='slide' axis='1 0 0' pos='5 5 5'/>
           <joint name='y' type='slide' axis='0 2 0'/>
           <joint name='z' range='-180 90' pos='0 0 1'/><geom size='1'/></body>",
    )
    .ok();
    let x = m.joint("x");
    near(
        numbers(x.pose_on_parent()),
        [1.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0],
    );
    near(
        numbers(x.pose_on_child()),
        [1.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0],
    );
    near(
        numbers(m.joint("y").pose_on_parent()),
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
    let z = m.joint("z");
    near(
        numbers(z.pose_on_parent()),
        [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 4.0],
    );
    near([z.position_lower_limits()[0]], [-2.0 * FRAC_PI_2]);
    near([z.position_upper_limits()[0]], [FRAC_PI_2]);
    near(numbers(&m.pose("a")), [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn at_the_reference_position_bodies_are_where_the_file_puts_them() {
    let m = world(
        "<body name='a' pos='1 0 0'><joint name='j' ref='10' pos='1 2 3' range='-20 30'/><geom size='1'/>
         <body name='b' pos='0 0 2'><joint name='k' type='slide' ref='0.5' axis='0 0 2'/><geom size='1'/>
         </body></body>",
    )
    .ok();
    let j = m.joint("j");
    near(j.default_positions().to_vec(), [10_f64.to_radians()]);
    // Limits have the same zero as positions.
    near(j.position_lower_limits().to_vec(), [-20_f64.to_radians()]);
    near(
        numbers(j.pose_on_child()),
        [
            5_f64.to_radians().cos(),
            0.0,
            0.0,
            5_f64.to_radians().sin(),
            1.0,
            2.0,
            3.0,
        ],
    );
    near(
        numbers(m.joint("k").pose_on_child()),
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5],
    );
    near(numbers(&m.pose("a")), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    near(numbers(&m.pose("b")), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0]);
}

#[test]
fn free_bodies_start_where_the_file_puts_them_wherever_they_are_nested() {
    let m = world(
        "<body name='a' pos='1 0 0' euler='90 0 0'><freejoint/><geom size='1'/>
           <body name='b' pos='0 0 1'><joint type='free'/><geom size='1'/></body></body>",
    )
    .ok();
    assert!(m.warnings().is_empty(), "{:?}", m.warnings());
    let s = 0.5_f64.sqrt();
    near(numbers(&m.pose("a")), [s, s, 0.0, 0.0, 1.0, 0.0, 0.0]);
    near(numbers(&m.pose("b")), [s, s, 0.0, 0.0, 1.0, -1.0, 0.0]);
    assert_eq!(m.plant.num_positions(), 14);
}

#[test]
fn a_free_joint_is_ignored_next_to_other_joints() {
    let m = world("<body name='a'><freejoint/><joint name='j'/><geom size='1'/></body>").ok();
    m.warns(&["<literal>.xml:1:45", "free joint"]);
    assert_eq!((m.plant.num_joints(), m.joint("j").num_positions()), (1, 1));
    let m = world("<body name='a'><joint type='free' damping='1'/><geom size='1'/></body>").ok();
    m.warns(&["damping"]);
}

#[test]
fn ball_joints_are_roll_pitch_yaw_without_limits() {
    let m = world(
        "<body name='a'><joint name='j' type='ball' damping='3' range='0 30'/><geom size='1'/></body>",
    )
    .ok();
    m.warns(&["range", "no limits"]);
    let j = m.joint("j");
    assert_eq!(
        (j.kind().type_name(), j.damping()),
        ("ball_rpy", &[3.0; 3][..])
    );
    assert!(
        j.position_upper_limits()
            .iter()
            .all(|x| *x == f64::INFINITY)
    );
}

#[test]
fn limits_follow_limited_and_autolimits() {
    let limits = |joint: &str, compiler: &str| {
        let body = format!("<body><joint name='j' {joint}/><geom size='1'/></body>");
        let m = world_and(&body, &format!("<compiler angle='radian' {compiler}/>")).ok();
        let j = m.joint("j");
        (j.position_lower_limits()[0], j.position_upper_limits()[0])
    };
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(limits("range='-1 2'", ""), (-1.0, 2.0));
    assert_eq!(limits("range='-1 2' limited='auto'", ""), (-1.0, 2.0));
    assert_eq!(limits("range='-1 2' limited='false'", ""), free);
    assert_eq!(limits("limited='true'", ""), (0.0, 0.0));
    assert_eq!(limits("", "autolimits='false'"), free);
    assert_eq!(
        limits("range='-1 2' limited='true'", "autolimits='false'"),
        (-1.0, 2.0)
    );
    let off = "<compiler autolimits='false'/>";
    let m = world_and("<body><joint range='-1 2'/><geom size='1'/></body>", off);
    assert!(m.error().contains("'autolimits' is off"), "{}", m.error());
}

#[test]
fn unsupported_and_invalid_joint_attributes_are_reported() {
    let ignored = [
        "actuatorfrclimited",
        "actuatorfrcrange",
        "actuatorgravcomp",
        "frictionloss",
        "group",
        "springdamper",
        "springref",
        "stiffness",
        "user",
    ];
    for name in ignored {
        let m = world(&format!("<body><joint {name}='1'/><geom size='1'/></body>"));
        m.warns(&[name, "<joint>", "is ignored: "]);
    }
    for (joint, word) in [
        ("type='screw'", "got 'screw'"),
        ("axis='0 0 0'", "not zero"),
        ("range='2 1'", "position limit"),
        (
            "damping='-1'",
            "damping must be finite and at least 0, got -1.0",
        ),
        (
            "armature='-1'",
            "armature must be finite and at least 0, got -1.0",
        ),
        ("limited='yes'", "'true', 'false', 'auto'"),
        ("range='1'", "must have 2 numbers, got 1"),
    ] {
        let m = world(&format!("<body><joint {joint}/><geom size='1'/></body>"));
        assert!(m.error().contains(word), "{joint}: {}", m.error());
    }
}

#[test]
fn inertials_are_in_their_own_frame() {
    let body = |inertial: &str| {
        world(&format!(
            "<body name='a'><joint/>{inertial}<geom size='.1' pos='1 0 0'/></body>"
        ))
    };
    let s =
        body("<inertial mass='2' pos='0 0 1' euler='90 0 0' diaginertia='1 2 2.5'/>").inertia("a");
    assert_eq!((s.mass(), s.center_of_mass()), (2.0, Vector3::z()));
    // y and z are swapped; 2 kg at a distance of 1 m from the axes x and y.
    near(
        s.rotational_inertia().diagonal().iter().copied(),
        [3.0, 4.5, 2.0],
    );
    let m = body("<inertial mass='2' fullinertia='1 2 2.5 .1 .2 .3' euler='0 0 90'/>");
    m.warns(&["fullinertia", "the orientation is ignored"]);
    let i = m.inertia("a").rotational_inertia();
    assert_eq!(
        [i[(0, 0)], i[(0, 1)], i[(0, 2)], i[(1, 2)]],
        [1.0, 0.1, 0.2, 0.3]
    );
    for (inertial, word) in [
        ("<inertial diaginertia='1 1 1'/>", "no attribute 'mass'"),
        (
            "<inertial mass='1'/>",
            "neither 'diaginertia' nor 'fullinertia'",
        ),
        (
            "<inertial mass='0' diaginertia='0 0 0'/>",
            "must be positive",
        ),
        (
            "<inertial mass='1' diaginertia='1 2 5'/>",
            "the principal moments",
        ),
        (
            "<inertial mass='1' diaginertia='-1 1 1'/>",
            "the principal moments",
        ),
    ] {
        let m = body(inertial);
        assert!(m.error().contains(word), "{inertial}: {}", m.error());
    }
}

#[test]
fn names_must_be_unique() {
    let m = world("<body name='a'/><body name='a'/>");
    assert!(m.error().contains("'m::a' exists already"), "{}", m.error());
    let m = world("<body><joint name='j'/></body><body><joint name='j'/></body>");
    assert!(m.error().contains("m::j"), "{}", m.error());
    let m = world("<body><geom name='g' size='1'/><geom name='g' size='1'/></body>");
    assert!(m.error().contains("geom 'g'"), "{}", m.error());
}

#[test]
fn a_model_must_have_a_name() {
    for text in ["<mujoco/>", "<mujoco model=''/>"] {
        let e = load(text).error();
        assert!(
            e.contains("<literal>.xml:1:1: error: ") && e.contains("'model'"),
            "{e}"
        );
    }
    let e = load("<robot name='r'/>").error();
    assert!(e.contains("must be <mujoco>"), "{e}");
    let m = load("<mujoco model='a b'/>").ok();
    assert_eq!(m.plant.model_instance_names().last().unwrap(), "a b");
}

#[test]
fn all_errors_are_reported_and_nothing_stays_behind() {
    let m = world("<geom size='1'/><body pos='1'><joint type='x'/></body><body quat='0 0 0 0'/>");
    let errors = m
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error);
    assert_eq!(errors.count(), 3);
    assert_eq!((m.plant.num_bodies(), m.plant.num_frames()), (1, 1));
    assert_eq!(m.scene.model_inspector().num_geometries(), 0);
}
