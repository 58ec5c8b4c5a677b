//! `<actuator>` and forces of joints as MuJoCo reads them. All numbers are compared with MuJoCo in
//! `mujoco`, and the motion in `motion`.

use super::*;

const BODIES: &str = "<body name='a'><joint name='j' range='-60 90'/><geom size='.1' pos='.3 0 0'/>
  <body name='b'><joint name='l' type='ball'/><geom size='.1'/><site name='s'/></body></body>";

fn read(bodies: &str, actuators: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = format!(
            "<mujoco model='m'><worldbody>{bodies}</worldbody><actuator>{actuators}</actuator></mujoco>"
        );
        p.add_models_from_string(&text, "xml")
    })
}

fn control(actuator: &str) -> AffineControl {
    let m = read(BODIES, actuator);
    m.says_nothing();
    *m.plant.actuators()[0].affine_control().unwrap()
}

#[test]
fn actuators_keep_the_order_of_the_file() {
    let m = read(
        BODIES,
        "<position joint='j' name='p'/><motor joint='j'/><velocity joint='j' name='v'/>",
    );
    let names: Vec<&str> = m.plant.actuators().iter().map(|a| a.name()).collect();
    assert_eq!(names, ["p", "motor1", "v"]);
}

#[test]
fn forces_are_affine() {
    let of = |text: &str| {
        let control = control(text);
        (control.gain, control.bias)
    };
    assert_eq!(of("<motor joint='j'/>"), ([1.0, 0.0, 0.0], [0.0; 3]));
    let servo = of("<position joint='j' kp='5' kv='2'/>");
    assert_eq!(servo, ([5.0, 0.0, 0.0], [0.0, -5.0, -2.0]));
    let wheel = of("<velocity joint='j' kv='3'/>");
    assert_eq!(wheel, ([3.0, 0.0, 0.0], [0.0, 0.0, -3.0]));
    let brake = of("<damper joint='j' kv='3' ctrlrange='0 1'/>");
    assert_eq!(brake, ([0.0, 0.0, -3.0], [0.0; 3]));
    let unused = of("<general joint='j' gainprm='2 3' biasprm='1 2 3'/>");
    assert_eq!(unused, ([2.0, 0.0, 0.0], [0.0; 3]));
    let general = of(
        "<general joint='j' gaintype='affine' gainprm='2 3' biastype='affine' \
                      biasprm='1 2 3'/>",
    );
    assert_eq!(general, ([2.0, 3.0, 0.0], [1.0, 2.0, 3.0]));
}

#[test]
fn a_damping_ratio_is_that_of_the_reflected_inertia() {
    // The inertia about the hinge is that of two balls of 4.19 kg and 0.1 m.
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let inertia = mass * (2.0 * 0.4 * 0.01 + 0.09);
    for (gear, kp) in [(1.0, 5.0), (-3.0, 20.0)] {
        let text = format!("<position joint='j' kp='{kp}' dampratio='0.7' gear='{gear}'/>");
        let found = control(&text).bias[2];
        let expected = -0.7 * 2.0 * f64::sqrt(kp * inertia / (gear * gear));
        near([found], [expected]);
    }
}

#[test]
fn ranges_are_those_of_controls_and_efforts() {
    let c = control("<motor joint='j' gear='-2' ctrlrange='-1 3' forcerange='-2 5'/>");
    assert_eq!(
        (c.control_range, c.effort_range),
        ([-1.0, 3.0], [-6.0, 2.0])
    );
    let c = control("<position joint='j' inheritrange='0.5'/>");
    let [lower, upper] = [-22.5_f64, 52.5].map(f64::to_radians);
    near(c.control_range, [lower, upper]);
    let c = control("<motor joint='j' ctrlrange='0 0'/>");
    assert_eq!(c.control_range, [f64::NEG_INFINITY, f64::INFINITY]);
}

#[test]
fn what_the_plant_lacks_is_reported_by_name() {
    for (actuator, words) in [
        (
            "<muscle name='x' joint='j'/>",
            ["'x' is left out", "<muscle> is not affine"],
        ),
        (
            "<adhesion name='x' body='a'/>",
            ["'x' is left out", "<adhesion> is not affine"],
        ),
        (
            "<motor name='x' site='s'/>",
            ["'x' is left out", "got 'site'"],
        ),
        (
            "<motor name='x' joint='l'/>",
            ["'x' is left out", "one degree of freedom"],
        ),
        (
            "<general name='x' joint='j' biastype='muscle'/>",
            ["'x' is left out", "<general> is not affine"],
        ),
        (
            "<general name='x' joint='j' dyntype='filter' dynprm='.1'/>",
            ["'x'", "the input is the activation"],
        ),
        ("<intvelocity name='x' joint='j'/>", ["'x'", "(integrator)"]),
        ("<cylinder name='x' joint='j'/>", ["'x'", "(filter)"]),
        (
            "<position name='x' joint='j' timeconst='1'/>",
            ["'x'", "(filterexact)"],
        ),
        (
            "<motor name='x' joint='j' gear='1 2'/>",
            ["'x'", "numbers 2 to 6 of 'gear'"],
        ),
        (
            "<position name='x' joint='j' kd='1'/>",
            ["'kd' of <position>", "'kv'"],
        ),
        (
            "<velocity name='x' joint='j' kw='1'/>",
            ["'kw' of <velocity>", "MJCF has no such attribute"],
        ),
        (
            "<motor name='x' joint='j' delay='1'/>",
            ["'delay' of <motor>", "no delay"],
        ),
    ] {
        read(BODIES, actuator).warns(&words);
    }
    let stiff = "<body><joint type='ball' stiffness='2'/><geom size='1'/></body>";
    read(stiff, "").warns(&["'stiffness' of <joint>", "ball joints have no springs"]);
    let limited = "<body><joint name='j' actuatorfrcrange='-1 2'/><geom size='1'/></body>";
    read(limited, "<motor joint='j'/>").says_nothing();
    read(limited, "<motor joint='j'/><motor joint='j'/>").warns(&["not their sum"]);
    let e = read(BODIES, "<position joint='j' kp='x'/>").error();
    assert!(e.contains("'kp'"), "{e}");
    let unlimited = BODIES.replace(" range='-60 90'", "");
    let e = read(&unlimited, "<position joint='j' inheritrange='1'/>").error();
    assert!(e.contains("what it drives has no range"), "{e}");
}

#[test]
fn keyframes_hold_controls() {
    let m = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = "<mujoco model='m'>
             <worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody>
             <actuator><motor joint='j'/><muscle joint='j'/><velocity joint='j'/></actuator>
             <keyframe><key name='up' qpos='1' ctrl='2 3 4'/><key name='on' ctrl='5 6 7'/>
             <key name='bad' qpos='1' ctrl='1'/><key/></keyframe></mujoco>";
        p.add_models_from_string(text, "xml")
    });
    let warnings = m.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let words = "'ctrl' of a keyframe is ignored: it has 1 numbers, but there are 3 actuators";
    assert!(warnings[1].contains(words), "{warnings:?}");
    let mut plant = m.ok().plant;
    let of = |plant: &MultibodyPlant, name| {
        (
            plant.keyframe_positions(name).unwrap(),
            plant.keyframe_actuation(name).unwrap(),
        )
    };
    assert_eq!(of(&plant, "up"), (vec![1.0], vec![2.0, 4.0]));
    assert_eq!(of(&plant, "on"), (vec![0.0], vec![5.0, 7.0]));
    assert_eq!(of(&plant, "bad"), (vec![1.0], vec![0.0, 0.0]));
    assert_eq!(plant.keyframes().len(), 3);
    plant.set_default_positions_to_keyframe("up").unwrap();
    assert_eq!(plant.default_positions(), [1.0]);
    let error = plant.set_default_positions_to_keyframe("down").unwrap_err();
    assert!(error.to_string().contains("'down'"), "{error}");
}

#[test]
fn springs_follow_from_time_constants() {
    // Alone, the inertia of the sled is its mass.
    let m = read(
        "<body><joint name='j' type='slide' springdamper='0.5 2' springref='0.3'/>
           <geom size='.1' mass='3'/></body>",
        "",
    );
    m.says_nothing();
    let [
        ForceElement::PrismaticSpring {
            nominal_position,
            stiffness,
            ..
        },
    ] = m.plant.force_elements()
    else {
        panic!("{:?}", m.plant.force_elements());
    };
    near([*nominal_position, *stiffness], [0.3, 3.0 / (0.25 * 4.0)]);
    near(m.joint("j").damping().iter().copied(), [2.0 * 3.0 / 0.5]);
}
