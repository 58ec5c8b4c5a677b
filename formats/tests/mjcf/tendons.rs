//! `<tendon>` as MuJoCo reads it. Springs, limits, equalities and actuators of tendons are compared
//! with MuJoCo in `motion`, and lengths and forces of spatial ones in `wraps`.

use super::*;

const BODIES: &str = "<body name='a'><joint name='j' ref='30' range='-90 90'/><geom size='.1'/>
    <site name='s' pos='1 0 0'/></body>
  <body name='b' pos='0 0 3'><joint name='k' type='slide' springref='.5'/><geom size='.1'/>
    <site name='t'/></body>
  <body name='c'><joint name='l' type='ball'/><geom name='g' size='.1' pos='.5 0 1.5'/></body>";
const FIXED: &str = "<joint joint='j' coef='2'/><joint joint='k' coef='-1'/>";

pub(super) fn read(tendons: &str, others: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!(
            "<mujoco model='m'><worldbody>{BODIES}</worldbody><tendon>{tendons}</tendon>{others}\
             </mujoco>"
        );
        p.add_models_from_string(&text, "xml")
    })
}

fn joints(m: &Loaded) -> [JointIndex; 2] {
    ["j", "k"].map(|name| m.plant.joint_by_name(name).unwrap())
}

#[test]
fn ranges_are_limits_of_a_sum() {
    let m = read(&format!("<fixed range='-1 3'>{FIXED}</fixed>"), "");
    m.says_nothing();
    let limits = TendonConstraint {
        joints: joints(&m).to_vec(),
        coefficients: vec![2.0, -1.0],
        offset: 0.0,
        lower: -1.0,
        upper: 3.0,
        stiffness: f64::INFINITY,
        damping: 0.0,
    };
    assert_eq!(m.plant.constraints(), [Constraint::Tendon(limits)]);
    let m = read(
        &format!("<fixed range='-1 3' limited='false'>{FIXED}</fixed>"),
        "",
    );
    assert!(m.plant.constraints().is_empty());
}

#[test]
fn springs_rest_where_the_springs_of_joints_do() {
    let spring = |attributes: &str| {
        let m = read(
            &format!("<fixed stiffness='5' {attributes}>{FIXED}</fixed>"),
            "",
        );
        m.says_nothing();
        let [ForceElement::TendonSpring { free_lengths, .. }] = m.plant.force_elements() else {
            panic!("{:?}", m.plant.force_elements());
        };
        *free_lengths
    };
    assert_eq!(spring(""), [-0.5; 2]);
    assert_eq!(spring("springlength='.3'"), [0.3; 2]);
    assert_eq!(spring("springlength='-2 4'"), [-2.0, 4.0]);
    let m = read(&format!("<spatial stiffness='5'>{STRING}</spatial>"), "");
    m.says_nothing();
    let [ForceElement::LinearSpringDamper { free_length, .. }] = m.plant.force_elements() else {
        panic!("{:?}", m.plant.force_elements());
    };
    // With j at 0, which is turned by -30 degrees, and k at 0.5.
    let (sin, cos) = f64::sin_cos(-std::f64::consts::FRAC_PI_6);
    near([*free_length], [Vector3::new(cos, sin, -3.5).norm()]);
}

#[test]
fn coefficients_of_a_joint_are_added() {
    let twice = "<joint joint='j' coef='2'/><joint joint='k' coef='1'/><joint joint='j' coef='3'/>";
    let m = read(&format!("<fixed stiffness='5'>{twice}</fixed>"), "");
    m.says_nothing();
    let [j, k] = joints(&m);
    let [ForceElement::TendonSpring { joints, .. }] = m.plant.force_elements() else {
        panic!("{:?}", m.plant.force_elements());
    };
    assert_eq!(*joints, [(j, 5.0), (k, 1.0)]);
}

#[test]
fn actuators_of_tendons_drive_all_joints() {
    let m = read(
        &format!("<fixed name='f' range='-1 3'>{FIXED}</fixed>"),
        "<actuator><position tendon='f' gear='3' inheritrange='1' forcerange='-4 5'/></actuator>",
    );
    m.says_nothing();
    let actuator = &m.plant.actuators()[0];
    let [j, k] = joints(&m);
    assert_eq!(
        (actuator.joint(), actuator.coupled_joints()),
        (Some(j), &[(k, -0.5)][..])
    );
    let control = actuator.affine_control().unwrap();
    assert_eq!((control.gear, control.control_range), (6.0, [-1.0, 3.0]));
    assert_eq!(control.effort_range, [-24.0, 30.0]);
}

/// No joint gets more effort than it may have; MuJoCo limits each on its own.
#[test]
fn ranges_of_joints_limit_the_actuators_of_their_tendons() {
    let m = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let body = |joint: &str| format!("<body><joint {joint}/><geom size='.1'/></body>");
        let text = format!(
            "<mujoco model='m'><worldbody>{}{}</worldbody>
             <tendon><fixed name='f'><joint joint='j' coef='2'/><joint joint='k' coef='-1'/></fixed>
             </tendon><actuator><motor tendon='f'/></actuator></mujoco>",
            body("name='j'"),
            body("name='k' actuatorfrcrange='-1 3'"),
        );
        p.add_models_from_string(&text, "xml")
    });
    m.warns(&[
        "'actuatorfrcrange' of <joint>",
        "at all joints of the tendon",
    ]);
    let control = *m.plant.actuators()[0].affine_control().unwrap();
    // The effort at the first joint is -2 times that at the second.
    assert_eq!(control.effort_range, [-6.0, 2.0]);
}

#[test]
fn equalities_of_tendons_subtract_the_second() {
    let m = read(
        &format!(
            "<fixed name='f'>{FIXED}</fixed><fixed name='g'><joint joint='j' coef='3'/></fixed>"
        ),
        "<equality><tendon tendon1='f' tendon2='g' polycoef='.5 2'/></equality>",
    );
    m.says_nothing();
    let [Constraint::Tendon(tendon)] = m.plant.constraints() else {
        panic!("{:?}", m.plant.constraints());
    };
    assert_eq!(tendon.joints, joints(&m));
    assert_eq!(tendon.coefficients, [-4.0, -1.0]);
    // In the file, j is at 30 degrees, and k at 0.
    let length = 0.5 - 4.0 * std::f64::consts::FRAC_PI_6;
    near([tendon.lower, tendon.upper], [length; 2]);
}

pub(super) const STRING: &str = "<site site='s'/><site site='t'/>";

/// The path of [`STRING`].
pub(super) fn string(m: &Loaded) -> Vec<TendonPart> {
    let [a, b] = ["a", "b"].map(|name| m.plant.body_by_name(name).unwrap());
    let ends = [(a, Vector3::x()), (b, Vector3::zeros())];
    ends.map(|(body, p)| TendonPart::site(body, p)).into()
}

/// Length of [`STRING`] in the file.
pub(super) const STRING_LENGTH: f64 = 3.1622776601683795; // sqrt(1^2 + 3^2)

fn limited(path: Vec<TendonPart>, lower: f64, upper: f64) -> Constraint {
    Constraint::SpatialTendon(SpatialTendonConstraint {
        path,
        lower,
        upper,
        stiffness: f64::INFINITY,
        damping: 0.0,
    })
}

#[test]
fn ranges_are_limits_of_a_path() {
    let m = read(&format!("<spatial range='.1 3'>{STRING}</spatial>"), "");
    m.says_nothing();
    assert_eq!(m.plant.constraints(), [limited(string(&m), 0.1, 3.0)]);
    assert!(m.plant.force_elements().is_empty());
    for range in [
        "range='.1 3' limited='false'",
        "range='1 1'",
        "limited='auto'",
    ] {
        let m = read(&format!("<spatial {range}>{STRING}</spatial>"), "");
        m.says_nothing();
        assert!(m.plant.constraints().is_empty());
    }
    read(
        &format!("<spatial limited='true' range='2 1'>{STRING}</spatial>"),
        "",
    )
    .refuses("'range' of <spatial> must not be empty if 'limited' is true, got [2.0, 1.0]");
}

#[test]
fn equalities_of_a_path_keep_its_length() {
    let m = read(
        &format!("<spatial name='x'>{STRING}</spatial>"),
        "<equality><tendon tendon1='x' polycoef='.25 7' active='false'/></equality>",
    );
    m.says_nothing();
    let [Constraint::SpatialTendon(c)] = m.plant.constraints() else {
        panic!("{:?}", m.plant.constraints());
    };
    assert_eq!(c.path, string(&m));
    near([c.lower, c.upper], [STRING_LENGTH + 0.25; 2]);
    assert!(!m.plant.is_default_constraint_active(0).unwrap());
}

#[test]
fn equalities_between_other_tendons_are_polynomials_of_the_file() {
    let tendons = format!(
        "<spatial name='x'>{STRING}</spatial><fixed name='f'>{FIXED}</fixed>
         <fixed name='slack'><joint joint='j' coef='0'/></fixed>"
    );
    let angle = std::f64::consts::FRAC_PI_6;
    for (pair, is_spatial, polycoef) in [
        ("tendon1='x' tendon2='f'", [true, false], "1 2"),
        ("tendon1='f' tendon2='x'", [false, true], "1 2"),
    ] {
        let equality = format!("<equality><tendon {pair} polycoef='{polycoef}'/></equality>");
        let m = read(&tendons, &equality);
        m.says_nothing();
        let [Constraint::Polynomial(c)] = m.plant.constraints() else {
            panic!("{:?}", m.plant.constraints());
        };
        let [j, k] = joints(&m);
        let expected = is_spatial.map(|is_spatial| {
            if is_spatial {
                (Tendon::Spatial(string(&m)), STRING_LENGTH)
            } else {
                (Tendon::Fixed(vec![(j, 2.0), (k, -1.0)]), 2.0 * angle)
            }
        });
        assert_eq!(c.tendons, expected.clone().map(|(tendon, _)| tendon));
        near(c.references, expected.map(|(_, length)| length));
        assert_eq!(c.coefficients, [1.0, 2.0, 0.0, 0.0, 0.0]);
    }
    // A tendon whose length does not change is at its reference.
    let m = read(
        &tendons,
        "<equality><tendon tendon1='x' tendon2='slack' polycoef='.5 2 3'/></equality>",
    );
    m.says_nothing();
    let fixed = STRING_LENGTH + 0.5;
    assert_eq!(m.plant.constraints(), [limited(string(&m), fixed, fixed)]);
    let polynomial = "<equality><tendon tendon1='slack' tendon2='x'/></equality>";
    read(&tendons, polynomial).warns(&["<tendon> is ignored", "all coefficients of its first"]);
    let twice = "<equality><tendon tendon1='x' tendon2='x'/></equality>";
    read(&tendons, twice).refuses("'tendon1' and 'tendon2' of <tendon> must be different, got 'x'");
}

#[test]
fn products_of_coefficients_must_be_finite() {
    let huge = "<fixed name='f'><joint joint='j' coef='1e308'/></fixed>";
    let actuator = "<actuator><general tendon='f' gear='1e10' gainprm='0'/></actuator>";
    read(huge, actuator).refuses("gear, gain and bias must be finite, got inf");
}

#[test]
fn joints_of_an_actuator_must_be_different() {
    let mut m = read("", "<actuator><motor joint='j'/></actuator>");
    let [j, k] = joints(&m);
    let actuator = m
        .plant
        .joint_actuator_indices_in(m.result.as_ref().unwrap()[0])
        .unwrap()[0];
    let twice = m
        .plant
        .couple_actuator(actuator, &[(k, 1.0), (j, 2.0)])
        .unwrap_err();
    assert!(twice.to_string().contains("got 'j' twice"), "{twice}");
    let ratio = m
        .plant
        .couple_actuator(actuator, &[(k, f64::NAN)])
        .unwrap_err();
    assert!(
        ratio.to_string().contains("must be finite, got NaN"),
        "{ratio}"
    );
}

#[test]
fn what_tendons_lack_is_reported_by_name() {
    read(&format!("<fixed frictionloss='1'>{FIXED}</fixed>"), "")
        .warns(&["'frictionloss' of <fixed>", "dry"]);
    read(&format!("<spatial>{STRING}</spatial>"), "").says_nothing();
    read("<fixed><joint joint='l' coef='1'/></fixed>", "")
        .warns(&["is left out", "must have one position, got 4"]);
    let slack = "<fixed name='x'><joint joint='j' coef='0'/></fixed>";
    read(slack, "<actuator><motor name='m' tendon='x'/></actuator>")
        .warns(&["'m' is left out", "all coefficients of its tendon are 0"]);
    read(
        slack,
        "<equality><tendon tendon1='x' tendon2='y'/></equality>",
    )
    .refuses("there is no tendon 'y'");
    for (tendon, why) in [
        ("<fixed><joint coef='1'/></fixed>", "no attribute 'joint'"),
        ("<fixed><joint joint='x' coef='1'/></fixed>", "'x'"),
        (
            "<fixed limited='true' range='0 0'><joint joint='j' coef='1'/></fixed>",
            "'range' of <fixed> must not be empty if 'limited' is true, got [0.0, 0.0]",
        ),
    ] {
        let e = read(tendon, "").error();
        assert!(e.contains(why), "{tendon}: {e}");
    }
}

/// A body with sites, and geoms of several shapes.
const WINCH: &str = "<site name='u' pos='0 0 2'/><site name='w' pos='0 5 0'/>
  <geom name='drum' type='cylinder' size='.2 .1' pos='1 2 3' contype='0' conaffinity='0'/>
  <geom name='pill' type='capsule' size='.2 .1' contype='0' conaffinity='0'/>";

fn read_winch(spatial: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!(
            "<mujoco model='m'><worldbody>{BODIES}{WINCH}</worldbody>\
             <tendon>{spatial}</tendon></mujoco>"
        );
        p.add_models_from_string(&text, "xml")
    })
}

#[test]
fn spatial_tendons_have_the_parts_of_the_file() {
    let m = read_winch(
        "<spatial stiffness='5' damping='2' springlength='1 3'><pulley divisor='2'/>
         <site site='s'/><geom geom='drum' sidesite='w'/><site site='t'/>
         <pulley divisor='3'/><site site='t'/><site site='u'/></spatial>",
    );
    m.says_nothing();
    let [a, b] = ["a", "b"].map(|name| m.plant.body_by_name(name).unwrap());
    let site = |body, x, y, z| TendonPart::site(body, Vector3::new(x, y, z));
    let path = vec![
        TendonPart::Pulley { divisor: 2.0 },
        site(a, 1.0, 0.0, 0.0),
        TendonPart::Wrap(TendonWrap {
            body: BodyIndex::WORLD,
            pose: Isometry3::translation(1.0, 2.0, 3.0),
            shape: WrapShape::Cylinder,
            radius: 0.2,
            side: Some((BodyIndex::WORLD, Vector3::new(0.0, 5.0, 0.0))),
        }),
        site(b, 0.0, 0.0, 0.0),
        TendonPart::Pulley { divisor: 3.0 },
        site(b, 0.0, 0.0, 0.0),
        site(BodyIndex::WORLD, 0.0, 0.0, 2.0),
    ];
    let tendon = ForceElement::SpatialTendon {
        path,
        free_lengths: [1.0, 3.0],
        stiffness: 5.0,
        damping: 2.0,
    };
    assert_eq!(m.plant.force_elements(), [tendon]);
}

/// The messages of MuJoCo 3.3.7 for the same files are about the same parts.
#[test]
fn malformed_paths_are_refused() {
    let (s, t) = ("<site site='s'/>", "<site site='t'/>");
    let (pulley, drum) = ("<pulley divisor='2'/>", "<geom geom='drum'/>");
    for (path, why) in [
        (
            String::new(),
            "<spatial>: a path must have at least two sites, got none",
        ),
        (
            s.into(),
            "<site> of <spatial>: a branch of a path must have at least two",
        ),
        (format!("{s}{t}{pulley}{s}"), "at least two sites, got one"),
        (format!("{s}{pulley}{s}{t}"), "at least two sites, got one"),
        (
            format!("{s}{t}{pulley}"),
            "<pulley> of <spatial>: a pulley must be before a site",
        ),
        (
            format!("{pulley}{pulley}{s}{t}"),
            "a pulley must be before a site",
        ),
        (
            format!("{s}{t}{pulley}{drum}{s}"),
            "a pulley must be before a site",
        ),
        (
            format!("{drum}{t}"),
            "<geom> of <spatial>: a wrapping geom must be between two",
        ),
        (
            format!("{s}{drum}"),
            "a wrapping geom must be between two sites",
        ),
        (
            format!("{s}{drum}{drum}{t}"),
            "a wrapping geom must be between two sites",
        ),
        (
            format!("{s}{s}"),
            "neighbouring sites of <spatial> must be different, got 's'",
        ),
        (
            format!("{s}<pulley/>{t}"),
            "<pulley> of <spatial> has no attribute 'divisor'",
        ),
        (
            format!("<pulley divisor='-1'/>{s}{t}"),
            "divisor of a pulley must be positive, got -1.0",
        ),
        (
            format!("<pulley divisor='0'/>{s}{t}"),
            "divisor of a pulley must be positive, got 0.0",
        ),
        (
            format!("{s}<site/>{t}"),
            "<site> of <spatial> has no attribute 'site'",
        ),
        (
            format!("{s}<geom/>{t}"),
            "<geom> of <spatial> has no attribute 'geom'",
        ),
        (format!("{s}<site site='x'/>{t}"), "there is no site 'x'"),
        (format!("{s}<geom geom='x'/>{t}"), "there is no geom 'x'"),
        (
            format!("{s}<geom geom='drum' sidesite='x'/>{t}"),
            "there is no site 'x'",
        ),
        (
            format!("{s}<geom geom='pill'/>{t}"),
            "'geom' of <spatial> must be a sphere or a cylinder, got 'pill' of type Capsule",
        ),
    ] {
        for attributes in ["", "stiffness='1'"] {
            let e = read_winch(&format!("<spatial {attributes}>{path}</spatial>")).error();
            assert!(e.contains(why), "{path}: {e}");
        }
    }
    let back = format!("<spatial stiffness='1' springlength='2 1'>{s}{t}</spatial>");
    read_winch(&back).refuses("the shorter free length must not be above the longer one");
    // The way from a site to itself leads around a geom.
    read_winch(&format!("<spatial damping='1'>{s}{drum}{s}</spatial>")).says_nothing();
}

#[test]
fn power_of_springs_is_the_rate_of_their_energy() {
    let m = read(
        &format!(
            "<fixed stiffness='5' damping='2' springlength='.1 .2'>{FIXED}</fixed>\
             <spatial stiffness='7' damping='3'>{STRING}</spatial>\
             <spatial stiffness='6' damping='2' springlength='.2 .4'><pulley divisor='2'/>\
             <site site='s'/><geom geom='g'/><site site='t'/></spatial>"
        ),
        "<option gravity='0 0 0'/>",
    )
    .ok();
    let plant = &m.plant;
    let (q, v) = ([0.4, -0.7, 1.0, 0.0, 0.0, 0.0], [0.5, -1.1, 0.0, 0.0, 0.0]);
    let energy = |time: f64| {
        // The ball, which has a quaternion, does not move.
        let mut moved = q;
        (moved[0], moved[1]) = (q[0] + v[0] * time, q[1] + v[1] * time);
        let positions = plant.calc_position_kinematics(&moved).unwrap();
        plant.calc_potential_energy(&positions).unwrap()
    };
    let positions = plant.calc_position_kinematics(&q).unwrap();
    let velocities = plant.calc_velocity_kinematics(&positions, &v).unwrap();
    let power = plant
        .calc_conservative_power(&positions, &velocities)
        .unwrap();
    // Differences of order h^2, and rounding over h.
    let h = 1e-5;
    let rate = (energy(h) - energy(-h)) / (2.0 * h);
    assert!((power + rate).abs() < 1e-8, "{power} {rate}");
    let lost = plant
        .calc_non_conservative_power(&positions, &velocities)
        .unwrap();
    let forces = plant
        .calc_force_elements_contribution(&positions, &velocities)
        .unwrap();
    let tau = plant.calc_generalized_forces(&positions, &forces).unwrap();
    let all: f64 = tau.iter().zip(&v).map(|(f, v)| f * v).sum();
    assert!(
        lost < 0.0 && (all - power - lost).abs() < 1e-12,
        "{all} {power} {lost}"
    );
}
