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

/// Other models of the plant are no matter, even if they cannot be built.
#[test]
fn a_damping_ratio_depends_on_the_own_model_only() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let mut add = |name| {
        let inertia = SpatialInertia::zero();
        let body = plant.add_rigid_body(name, ModelInstanceIndex::DEFAULT, inertia);
        body.unwrap()
    };
    let (near_world, far) = (add("near"), add("far"));
    let hinge = Joint::revolute("hinge", BodyIndex::WORLD, near_world, Vector3::x());
    plant.add_joint(hinge.unwrap()).unwrap();
    // The wrong way round, with which no plant can be built.
    let reversed = Joint::ball_rpy("reversed", far, near_world);
    plant.add_joint(reversed).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    let text = "<mujoco model='m'><default><general biasprm='0 0 .5'/></default>
        <worldbody><body><joint name='i' type='ball'/><geom size='.1'/></body>
          <body><joint name='j' type='slide'/><geom size='.1' mass='12'/><site name='s'/></body>
          <site name='t' pos='3 0 0'/></worldbody>
        <tendon><spatial stiffness='1'><site site='s'/><site site='t'/></spatial></tendon>
        <actuator><position name='x' joint='j' kp='3'/></actuator></mujoco>";
    parser.add_models_from_string(text, "xml").unwrap();
    assert_eq!(parser.diagnostics(), []);
    let control = plant.actuators()[0].affine_control().unwrap();
    near(control.bias, [0.0, -3.0, -6.0]);
    let [ForceElement::LinearSpringDamper { free_length, .. }] = plant.force_elements() else {
        panic!("{:?}", plant.force_elements());
    };
    near([*free_length], [3.0]);
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

/// The numbers are those of MuJoCo 3.3.7.
#[test]
fn classes_complete_short_attributes() {
    let of = |actuator: &str| {
        let text = format!(
            "<mujoco model='m'><default>
               <general gainprm='3 4 5' biasprm='1 2 3' gear='2' gaintype='affine' biastype='affine'/>
               <default class='c'><general gainprm='6' biasprm='8 9'/></default></default>
             <worldbody>{BODIES}</worldbody><actuator>{actuator}</actuator></mujoco>"
        );
        let m = load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            p.add_models_from_string(&text, "xml")
        });
        m.says_nothing();
        let control = m.plant.actuators()[0].affine_control().unwrap();
        (control.gear, control.gain, control.bias)
    };
    let own = of("<general joint='j' gainprm='7' biasprm='9'/>");
    assert_eq!(own, (2.0, [7.0, 4.0, 5.0], [9.0, 2.0, 3.0]));
    let of_class = of("<general joint='j' class='c' gear='5'/>");
    assert_eq!(of_class, (5.0, [6.0, 4.0, 5.0], [8.0, 9.0, 3.0]));
}

/// MuJoCo 3.3.7 refuses all of them.
#[test]
fn what_mujoco_refuses_is_an_error() {
    for (actuator, why) in [
        (
            "<damper joint='j'/>",
            "'ctrlrange' that is not empty and starts at 0 or above, got none",
        ),
        ("<damper joint='j' ctrlrange='-1 1'/>", "got [-1.0, 1.0]"),
        ("<damper joint='j' ctrlrange='1 1'/>", "got [1.0, 1.0]"),
        (
            "<damper joint='j' kv='-2' ctrlrange='0 1'/>",
            "'kv' of <damper> must be at least 0, got -2.0",
        ),
        (
            "<position joint='j' kv='-2'/>",
            "'kv' of <position> must be at least 0, got -2.0",
        ),
        (
            "<position joint='j' dampratio='-1'/>",
            "'dampratio' of <position> must be at least 0, got -1.0",
        ),
        (
            "<position joint='j' timeconst='-1'/>",
            "'timeconst' of <position> must be at least 0, got -1.0",
        ),
        (
            "<position joint='j' kv='0' dampratio='1'/>",
            "<position> must have one of 'kv' and 'dampratio', got both",
        ),
        (
            "<position joint='j' ctrlrange='0 1' inheritrange='.5'/>",
            "one of 'ctrlrange' and 'inheritrange', got both: [0.0, 1.0] and 0.5",
        ),
        (
            "<intvelocity joint='j' actrange='0 1' inheritrange='1'/>",
            "one of 'actrange' and 'inheritrange'",
        ),
        (
            "<motor joint='j' ctrllimited='true'/>",
            "'ctrlrange' of <motor> must not be empty if 'ctrllimited' is true, got none",
        ),
        (
            "<motor joint='j' forcelimited='true' forcerange='3 -3'/>",
            "'forcerange' of <motor> must not be empty if 'forcelimited' is true, got [3.0, -3.0]",
        ),
        (
            "<general joint='j' dyntype='integrator' actlimited='true'/>",
            "'actrange' of <general>",
        ),
        ("<motor tendon='nowhere'/>", "there is no tendon 'nowhere'"),
    ] {
        let e = read(BODIES, actuator).error();
        assert!(e.contains(why), "{actuator}: {e}");
    }
    let joint = "<body><joint name='j' actuatorfrclimited='true'/><geom size='1'/></body>";
    read(joint, "").refuses("'actuatorfrcrange' of <joint> must not be empty");
}

/// Gear and gain of infinity and 0 have no product.
#[test]
fn numbers_that_are_not_finite_are_refused() {
    for (actuator, got) in [
        ("<general joint='j' gear='inf' gainprm='0'/>", "inf"),
        ("<general joint='j' gear='-inf' ctrlrange='0 1'/>", "-inf"),
        ("<general joint='j' gainprm='inf' gear='0'/>", "inf"),
        (
            "<general joint='j' biastype='affine' biasprm='0 inf'/>",
            "inf",
        ),
        ("<position joint='j' kp='1e300' dampratio='1e300'/>", "-inf"),
    ] {
        let why = format!("gear, gain and bias must be finite, got {got}");
        read(BODIES, actuator).refuses(&why);
    }
    let m = read(
        BODIES,
        "<motor joint='j' gear='1e308' ctrlrange='0 1e308'/>",
    );
    let control = m.plant.actuators()[0].affine_control().unwrap();
    assert_eq!(control.effort_range, [0.0, f64::INFINITY]);
}

/// Gain, bias and activation of MuJoCo 3.3.7, but for the two numbers of the gain that have no
/// effect there.
#[test]
fn servos_take_what_their_class_gives() {
    let of = |class: &str, actuator: &str| {
        let text = format!(
            "<mujoco model='m'><default>{class}</default><worldbody>{BODIES}</worldbody>
             <actuator>{actuator}</actuator></mujoco>"
        );
        load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            p.add_models_from_string(&text, "xml")
        })
    };
    let control = |class: &str, actuator: &str| {
        let m = of(class, actuator);
        let control = m.plant.actuators()[0].affine_control().unwrap();
        (control.gain, control.bias)
    };
    let muscle = "<muscle/>";
    let wheel = control(muscle, "<velocity joint='j'/>");
    assert_eq!(wheel, ([0.75, 0.0, 0.0], [0.0, 0.0, -0.75]));
    let filtered = control(muscle, "<position joint='j' timeconst='1'/>");
    assert_eq!(filtered, ([0.75, 0.0, 0.0], [0.75, -0.75, -1.0]));
    let inner = "<muscle/><default class='c'><motor/></default>";
    let servo = control(inner, "<position joint='j' class='c' kp='2'/>");
    assert_eq!(servo, ([2.0, 0.0, 0.0], [0.75, -2.0, -1.0]));
    of(muscle, "<position name='x' joint='j'/>").warns(&["'x' is left out", "'muscle'"]);
    of(muscle, "<general name='x' joint='j'/>").warns(&["'x' is left out", "not affine"]);
    let filter = "<general dyntype='filter' dynprm='1'/>";
    of(filter, "<position name='x' joint='j'/>").warns(&["'x'", "(filter)"]);
    let brake = control("<damper kv='3'/>", "<damper joint='j' ctrlrange='0 1'/>");
    assert_eq!(brake, ([0.0; 3], [0.0; 3]));
    // The attribute that is nearer to the element counts.
    let own = control("<position dampratio='1'/>", "<position joint='j' kv='2'/>");
    assert_eq!(own.1, [0.0, -1.0, -2.0]);
}

/// The input of a filter is its activation, which both ranges limit.
#[test]
fn activations_have_the_ranges_of_controls_and_their_own() {
    let range = |attributes: &str| {
        let text = format!("<general joint='j' {attributes}/>");
        let m = read(BODIES, &text);
        m.warns(&["the input is the activation"]);
        m.plant.actuators()[0]
            .affine_control()
            .unwrap()
            .control_range
    };
    let both = "ctrlrange='-3 1' actrange='-1 2'";
    assert_eq!(range(&format!("dyntype='filter' {both}")), [-1.0, 1.0]);
    assert_eq!(range(&format!("dyntype='integrator' {both}")), [-1.0, 2.0]);
    let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
    assert_eq!(range("dyntype='filter'"), unlimited);
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
            ["'x' is left out", "joint 'l' must have one position, got 4"],
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
            ["numbers 2 to 6 of 'gear'", "one degree of freedom"],
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
        (
            "<motor name='x' joint='j' cranklength='1'/>",
            ["'cranklength' of <motor>", "joints and tendons only"],
        ),
    ] {
        read(BODIES, actuator).warns(&words);
    }
    let stiff = "<body><joint type='ball' stiffness='2'/><geom size='1'/></body>";
    read(stiff, "").warns(&["'stiffness' of <joint>", "ball joints have no springs"]);
    let limited = "<body><joint name='j' actuatorfrcrange='-1 2'/><geom size='1'/></body>";
    read(limited, "<motor joint='j'/>").says_nothing();
    read(limited, "<motor joint='j'/><motor joint='j'/>").warns(&["not their sum"]);
    let free = "<body><joint type='free' damping='1'/><geom size='1'/></body>";
    read(free, "").warns(&["'damping' of <joint>", "until the plant is built"]);
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
    let words = "'ctrl' must have 3 numbers, one per actuator, got 1; it is ignored";
    assert!(warnings[1].contains(words), "{warnings:?}");
    let mut builder = m.plant;
    let plant = builder.clone().build().unwrap();
    let of = |name| {
        (
            plant.keyframe_positions(name).unwrap(),
            plant.keyframe_actuation(name).unwrap(),
        )
    };
    assert_eq!(of("up"), (vec![1.0], vec![2.0, 4.0]));
    assert_eq!(of("on"), (vec![0.0], vec![5.0, 7.0]));
    assert_eq!(plant.keyframe_positions("bad").unwrap(), [1.0]);
    let error = plant.keyframe_actuation("bad").unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
    assert_eq!(plant.keyframes().len(), 4);
    builder.set_default_positions_to_keyframe("up").unwrap();
    let error = builder.set_default_positions_to_keyframe("down");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("'down'"), "{error}");
    assert_eq!(builder.build().unwrap().default_positions(), [1.0]);
}

/// The input of an actuator with activation is that activation, which is 0 without `act`.
#[test]
fn keyframes_hold_activations_of_actuators_that_have_some() {
    let m = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let text = "<mujoco model='m'>
             <worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody>
             <actuator><motor joint='j'/><muscle joint='j'/><intvelocity joint='j'/>
               <position joint='j'/><position joint='j' timeconst='.1'/></actuator>
             <keyframe><key name='both' ctrl='1 2 3 4 5' act='6 7 8'/><key name='own' act='6 7 8'/>
             <key name='controls' ctrl='1 2 3 4 5'/><key name='bad' qpos='1' act='6'/></keyframe>
             </mujoco>";
        p.add_models_from_string(text, "xml")
    });
    let warnings = m.warnings();
    let words = "'act' must have 3 numbers, one per activation, got 1; it is ignored";
    assert!(warnings.iter().any(|w| w.contains(words)), "{warnings:?}");
    let plant = m.ok().plant;
    let of = |name| plant.keyframe_actuation(name).unwrap();
    assert_eq!(of("both"), [1.0, 7.0, 4.0, 8.0]);
    assert_eq!(of("own"), [0.0, 7.0, 0.0, 8.0]);
    assert_eq!(of("controls"), [1.0, 0.0, 4.0, 0.0]);
    let error = plant.keyframe_actuation("bad").unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

/// A spring that is relative to no inertia is reported; other trees are no matter.
#[test]
fn springs_need_inertia_to_follow_from_time_constants() {
    let sprung = "<joint name='j' type='slide' springdamper='0.5 2'/>";
    let massless = "<geom size='.1' mass='0'/>";
    let m = read(&format!("<body>{sprung}{massless}</body>"), "");
    m.warns(&["'springdamper' of <joint> is ignored", "must be positive"]);
    assert!(m.plant.force_elements().is_empty());
    let other = "<body><joint type='slide'/><geom size='.1' mass='0'/></body>";
    let heavy = "<geom size='.1' mass='3'/>";
    let m = read(&format!("<body>{sprung}{heavy}</body>{other}"), "");
    m.says_nothing();
    near(m.joint("j").damping().iter().copied(), [2.0 * 3.0 / 0.5]);
    // While the inner body moves freely, it lends the outer one no inertia.
    let inner = format!("<body><joint name='k' type='slide'/>{heavy}</body>");
    let m = read(&format!("<body>{sprung}{massless}{inner}</body>"), "");
    m.warns(&["'springdamper' of <joint> is ignored", "must be positive"]);
    let ball = "<joint type='ball' springdamper='0.5 2'/>";
    let m = read(&format!("<body>{ball}<geom size='.1'/></body>"), "");
    m.warns(&["'springdamper' of <joint>", "ball joints have no springs"]);
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

/// A mass matrix of all velocities would have 27 million entries, and its factors take a minute.
#[test]
fn springs_in_large_trees_follow_from_recursions() {
    let m = read(
        "<body><joint name='j' type='slide' springdamper='0.5 2'/><geom size='.1' mass='3'/>
           <flexcomp name='f' type='grid' count='12 12 12' spacing='1 1 1' mass='2' radius='.1'/>
         </body>",
        "<position joint='j' kp='8' dampratio='1'/>",
    );
    assert!(m.plant.num_joints() > 3 * 12 * 12 * 12);
    // The points of the grid move freely in the body.
    near(m.joint("j").damping().iter().copied(), [2.0 * 3.0 / 0.5]);
    // While they are at rest, they move with it.
    let servo = m.plant.actuators()[0].affine_control().unwrap();
    near([servo.bias[2]], [-2.0 * (8.0_f64 * 5.0).sqrt()]);
}
