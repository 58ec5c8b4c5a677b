//! Whatever MJCF says and the plant does not do is a diagnostic, attribute by attribute; what acts
//! gives no diagnostic.

use super::*;

/// A model with a driven joint, a driven slider, and a free body.
fn model(joint: &str, geom: &str, motor: &str, others: &str) -> Loaded {
    load(&format!(
        "<mujoco model='m'><worldbody>
           <body name='a'><joint name='j' {joint}/><geom name='ga' size='1' {geom}/></body>
           <body name='b' pos='0 0 9'><joint name='k' type='slide'/><geom name='gb' size='1'/></body>
         </worldbody>
         <actuator><motor name='u' joint='j' {motor}/></actuator>{others}</mujoco>"
    ))
}

#[test]
fn attributes_of_joints_act_or_are_reported() {
    for (attribute, instead) in [
        (
            "actuatorfrclimited='true'",
            "efforts are limited by actuators",
        ),
        (
            "actuatorfrcrange='-1 1'",
            "efforts are limited by actuators",
        ),
        (
            "actuatorgravcomp='true'",
            "gravity compensation is no effort of an actuator",
        ),
        ("frictionloss='.1'", "joints have no dry friction"),
        ("margin='.1'", "joint limits act where they are violated"),
        ("solimpfriction='.9 .9 .1'", "dry friction of the plant"),
        ("solimplimit='.9 .9 .1'", "as stiff as its time step allows"),
        ("solreffriction='.02 1'", "dry friction of the plant"),
        ("solreflimit='.02 1'", "as stiff as its time step allows"),
        ("springdamper='1 1'", "joints have no springs"),
        ("springref='1'", "joints have no springs"),
        ("stiffness='1'", "joints have no springs"),
        ("dampnig='1'", "MJCF has no such attribute"),
    ] {
        let name = attribute.split('=').next().unwrap_or_default();
        let m = model(attribute, "", "", "").ok();
        m.says(&format!("attribute '{name}' of <joint> is ignored: "));
        m.says(instead);
    }
    for nothing in [
        "frictionloss='0'",
        "margin='0'",
        "stiffness='0' springref='0'",
    ] {
        model(nothing, "", "", "").says_nothing();
    }
    let m = model(
        "damping='2' armature='3' range='-90 45' ref='10'",
        "",
        "",
        "",
    )
    .ok();
    m.says_nothing();
    let joint = m.joint("j");
    assert_eq!(joint.damping(), [2.0]);
    near(joint.position_lower_limits().to_vec(), [-FRAC_PI_2]);
    near(joint.position_upper_limits().to_vec(), [FRAC_PI_2 / 2.0]);
    near(joint.default_positions().to_vec(), [FRAC_PI_2 / 9.0]);
    assert_eq!(m.plant.actuators()[0].default_rotor_inertia(), 3.0);
}

#[test]
fn armatures_need_exactly_one_motor() {
    let slider = |motors: &str| {
        world_and(
            "<body><joint name='j' type='slide' armature='1'/><geom size='1'/></body>",
            &format!("<actuator>{motors}</actuator>"),
        )
    };
    slider("<motor joint='j'/>").ok().says_nothing();
    slider("").says("'armature' of <joint> is ignored: reflected inertia belongs to motors");
    slider("<motor joint='j'/><position joint='j'/>").says("'armature' of <joint> acts 2 times");
    let free = |attribute: &str| {
        world(&format!(
            "<body><joint type='free' {attribute}/><geom size='1'/></body>"
        ))
    };
    for name in ["armature", "damping", "range", "frictionloss", "stiffness"] {
        free(&format!("{name}='1 2'")).says(&format!("attribute '{name}' of <joint> is ignored"));
    }
    world("<body><joint type='ball' ref='1'/><geom size='1'/></body>")
        .says("ball joints have no reference");
}

#[test]
fn attributes_of_geoms_act_or_are_reported() {
    for (attribute, message) in [
        (
            "solref='.02 1'",
            "'solref' of <geom> is ignored: the plant's contact model",
        ),
        (
            "solimp='.9 .9 .1'",
            "'solimp' of <geom> is ignored: the plant's contact model",
        ),
        (
            "margin='.1'",
            "'margin' of <geom> is ignored: forces act only where geoms overlap",
        ),
        (
            "gap='.1'",
            "'gap' of <geom> is ignored: forces act wherever geoms overlap",
        ),
        (
            "priority='1'",
            "'priority' of <geom> is ignored: contacts combine",
        ),
        (
            "solmix='2'",
            "'solmix' of <geom> is ignored: contacts combine",
        ),
        (
            "condim='6'",
            "condim=6.0 is ignored: contacts have condim=3",
        ),
        (
            "friction='1 .1 .1'",
            "torsional and rolling friction are ignored",
        ),
        ("contype='2'", "contype=2.0 and conaffinity=1.0 are ignored"),
        (
            "fluidcoef='1 1 1 1 1'",
            "'fluidcoef' of <geom> is ignored: no medium",
        ),
        (
            "shellinertia='true'",
            "'shellinertia' of <geom> is ignored: geoms are solid",
        ),
        (
            "densty='2'",
            "'densty' of <geom> is ignored: MJCF has no such attribute",
        ),
    ] {
        model("", attribute, "", "").ok().says(message);
    }
    let m = model("", "friction='.7' density='3' margin='0' gap='0'", "", "").ok();
    m.says_nothing();
    near(
        [m.inertia("a").mass()],
        [3.0 * 4.0 / 3.0 * std::f64::consts::PI],
    );
}

#[test]
fn the_same_warning_is_reported_once_per_file() {
    let m = world(
        "<body><joint/><geom size='1' margin='1'/><geom size='1' margin='1'/>
           <geom size='1' margin='2'/></body>",
    );
    m.says("forces act only where geoms overlap");
    m.says("(and at 2 more places of this file)");
    assert_eq!(m.diagnostics[0].line, 1);
    // An attribute of a class counts once, however many geoms have it.
    let m = world_and(
        "<body><joint/><geom size='1'/><geom size='1'/></body>",
        "<default><geom solref='.1 1'/></default>",
    );
    m.says("'solref' of <geom>");
    assert!(!m.diagnostics[0].message.contains("more place"));
}

#[test]
fn attributes_of_actuators_act_or_are_reported() {
    for (attribute, message) in [
        ("gear='1 2 0 0 0 0'", "numbers 2 to 6 of 'gear' are ignored"),
        ("gear='2'", "'gear' of <motor> does not scale efforts"),
        (
            "actlimited='true'",
            "'actlimited' of <motor> is ignored: actuators have no states",
        ),
        (
            "actrange='0 1'",
            "'actrange' of <motor> is ignored: actuators have no states",
        ),
        (
            "actearly='true'",
            "'actearly' of <motor> is ignored: actuators have no states",
        ),
        (
            "dyntype='filter'",
            "'dyntype' of <motor> is ignored: actuators have no states",
        ),
        (
            "dynprm='1'",
            "'dynprm' of <motor> is ignored: actuators have no states",
        ),
        (
            "gaintype='fixed'",
            "'gaintype' of <motor> is ignored: the input",
        ),
        ("gainprm='1'", "'gainprm' of <motor> is ignored: the input"),
        (
            "biastype='affine'",
            "'biastype' of <motor> is ignored: the input",
        ),
        ("biasprm='1'", "'biasprm' of <motor> is ignored: the input"),
        ("ctrlrange='-1 2'", "the larger effort limit, 2.0, is used"),
        ("forcerange='-1 2'", "the larger effort limit, 2.0, is used"),
        ("lengthrange='0 1'", "'lengthrange' of <motor> is ignored"),
        ("jointinparent='j'", "'jointinparent' of <motor> is ignored"),
        (
            "gaer='2'",
            "'gaer' of <motor> is ignored: MJCF has no such attribute",
        ),
    ] {
        model("", "", attribute, "").ok().says(message);
    }
    let servo = |attributes: &str| {
        let servo = format!("<actuator><position joint='k' {attributes}/></actuator>");
        model("", "", "", &servo)
    };
    for (attribute, message) in [
        (
            "kp='1' gear='2'",
            "'gear' of <position> does not scale efforts",
        ),
        (
            "ctrlrange='-1 1'",
            "'ctrlrange' of <position> limits the effort and not the set point",
        ),
        ("kv='1'", "'kv' of <position> is ignored"),
        ("dampratio='1'", "'dampratio' of <position> is ignored"),
        (
            "timeconst='1'",
            "'timeconst' of <position> is ignored: actuators have no states",
        ),
        (
            "inheritrange='1'",
            "'inheritrange' of <position> is ignored",
        ),
    ] {
        servo(attribute).says(message);
    }
    let m = servo("kp='7' kd='3' forcerange='-5 5'").ok();
    m.says_nothing();
    let servo = &m.plant.actuators()[1];
    assert_eq!(servo.effort_limit(), 5.0);
    assert_eq!(
        servo.controller_gains().map(|g| (g.p, g.d)),
        Some((7.0, 3.0))
    );
}

#[test]
fn sections_and_options_act_or_are_reported() {
    let pair = |a: &str| format!("<contact><pair geom1='ga' geom2='gb' {a}/></contact>");
    let connect = |a: &str| format!("<equality><connect body1='a' anchor='0 0 0' {a}/></equality>");
    let key = |a: &str| format!("<keyframe><key name='x' qpos='1 2' {a}/></keyframe>");
    let option = |a: &str| format!("<option {a}/>");
    let flag = |a: &str| format!("<option><flag {a}/></option>");
    for (others, message) in [
        (
            pair("margin='1'"),
            "'margin' of <pair> is ignored: contact properties are those",
        ),
        (pair("gap='1'"), "'gap' of <pair> is ignored"),
        (pair("solref='.1 1'"), "'solref' of <pair> is ignored"),
        (pair("solimp='.9 .9 .1'"), "'solimp' of <pair> is ignored"),
        (
            pair("solreffriction='.1 1'"),
            "'solreffriction' of <pair> is ignored",
        ),
        (pair("condim='1'"), "'condim' of <pair> is ignored"),
        (pair("friction='1'"), "'friction' of <pair> is ignored"),
        (
            connect("solref='.1 1'"),
            "'solref' of <connect> is ignored: constraints of the plant",
        ),
        (
            connect("solimp='.9 .9 .1'"),
            "'solimp' of <connect> is ignored",
        ),
        (
            connect("active='false'"),
            "'active' of <connect> is ignored",
        ),
        (
            "<equality><weld body1='a'/></equality>".into(),
            "<weld> is not a constraint of the plant",
        ),
        (
            "<equality><joint joint1='j'/></equality>".into(),
            "<joint> is not a constraint",
        ),
        (
            "<equality><tendon tendon1='t'/></equality>".into(),
            "<tendon> is ignored",
        ),
        (
            "<equality><flex flex='f'/></equality>".into(),
            "<flex> is ignored",
        ),
        (
            "<tendon><fixed name='t' stiffness='1' springlength='1' limited='true'/></tendon>"
                .into(),
            "<tendon> is ignored: tendons are not supported; their springs, dampers and limits",
        ),
        (
            "<actuator><general joint='k' gainprm='5'/></actuator>".into(),
            "<general> is ignored",
        ),
        (
            "<actuator><velocity joint='k' kv='5'/></actuator>".into(),
            "<velocity> is ignored",
        ),
        (
            "<sensor><gyro site='s'/></sensor>".into(),
            "<sensor> is ignored",
        ),
        (
            "<extension><plugin plugin='p'/></extension>".into(),
            "<extension> is ignored",
        ),
        (
            "<deformable><flex name='f'/></deformable>".into(),
            "<deformable> is ignored",
        ),
        (key("qvel='1 2'"), "'qvel' of <key> is ignored"),
        (key("act='1'"), "'act' of <key> is ignored"),
        (key("ctrl='1'"), "'ctrl' of <key> is ignored"),
        (key("mpos='1 2 3'"), "'mpos' of <key> is ignored"),
        (key("mquat='1 0 0 0'"), "'mquat' of <key> is ignored"),
        (
            option("integrator='RK4'"),
            "'integrator' of <option> is ignored",
        ),
        (option("cone='elliptic'"), "'cone' of <option> is ignored"),
        (
            option("impratio='10'"),
            "'impratio' of <option> is ignored: the plant has its own solver",
        ),
        (option("solver='PGS'"), "'solver' of <option> is ignored"),
        (
            option("noslip_iterations='3'"),
            "'noslip_iterations' of <option> is ignored",
        ),
        (
            option("density='1.2'"),
            "'density' of <option> is ignored: no medium is simulated",
        ),
        (
            option("viscosity='1'"),
            "'viscosity' of <option> is ignored",
        ),
        (option("wind='1 0 0'"), "'wind' of <option> is ignored"),
        (
            option("magnetic='1 0 0'"),
            "'magnetic' of <option> is ignored",
        ),
        (option("o_margin='1'"), "'o_margin' of <option> is ignored"),
        (
            option("o_solref='.1 1'"),
            "'o_solref' of <option> is ignored",
        ),
        (
            option("actuatorgroupdisable='1'"),
            "'actuatorgroupdisable' of <option> is ignored",
        ),
        (
            option("gravty='0 0 0'"),
            "'gravty' of <option> is ignored: MJCF has no such attribute",
        ),
        (
            flag("gravity='disable'"),
            "'gravity' of <flag> is ignored: gravity acts",
        ),
        (
            flag("contact='disable'"),
            "'contact' of <flag> is ignored: contacts act",
        ),
        (
            flag("limit='disable'"),
            "'limit' of <flag> is ignored: joint limits act",
        ),
        (
            flag("actuation='disable'"),
            "'actuation' of <flag> is ignored: actuators act",
        ),
        (flag("override='enable'"), "'override' of <flag> is ignored"),
        (
            "<compiler><lengthrange mode='all'/></compiler>".into(),
            "<lengthrange> is ignored",
        ),
        (
            "<compiler settotalmass='3'/>".into(),
            "'settotalmass' of <compiler> is ignored",
        ),
    ] {
        model("", "", "", &others).says(message);
    }
    for quiet in [
        pair("margin='0'"),
        connect("active='true'"),
        key("time='3'"),
        option("iterations='50' tolerance='1e-9' density='0' viscosity='0' wind='0 0 0'"),
        flag("gravity='enable' energy='enable' warmstart='disable'"),
        "<size njmax='1'/><custom><numeric name='n' data='1'/></custom>".into(),
    ] {
        model("", "", "", &quiet).says_nothing();
    }
    let m = model("", "", "", "<option gravity='0 0 -2'/>").ok();
    assert_eq!(m.plant.gravity(), Vector3::new(0.0, 0.0, -2.0));
    let m = model("", "", "", &key("")).ok();
    assert_eq!(m.plant.keyframes().len(), 1);
    let m = model("", "", "", &connect("")).ok();
    assert_eq!(m.plant.constraints().len(), 1);
}

#[test]
fn attributes_of_bodies_and_meshes_are_reported() {
    let body = |a: &str, inside: &str| {
        world(&format!(
            "<body {a}><joint/><geom size='1'/>{inside}</body>"
        ))
    };
    for (loaded, message) in [
        (body("gravcomp='1'", ""), "'gravcomp' of <body> is ignored"),
        (
            body("mocap='true'", ""),
            "'mocap' of <body> is ignored: bodies move only by their joints",
        ),
        (body("sleep='allowed'", ""), "'sleep' of <body> is ignored"),
        (
            body("", "<frame/>"),
            "<frame> is ignored: its content is left out as well",
        ),
        (body("", "<composite/>"), "<composite> is ignored"),
        (
            body("", "<geom size='1'><plugin/></geom>"),
            "<plugin> is ignored",
        ),
        (
            body("", "<geom size='1'><x/></geom>"),
            "<x> is ignored: the element is unknown",
        ),
    ] {
        loaded.says(message);
    }
    body("gravcomp='0'", "").says_nothing();
}
