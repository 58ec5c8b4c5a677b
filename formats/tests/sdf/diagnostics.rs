//! Whatever SDFormat says and the plant does not do is a diagnostic, element by element; what acts
//! gives no diagnostic.

use crate::support::loaded::{Loaded, load_with};
use tarragon_documents::Severity;
use tarragon_multibody::ForceElement;

fn load(text: &str) -> Loaded {
    load_with(|p| p.add_models_from_string(text, "sdf"))
}
fn model(inside: &str) -> Loaded {
    load(&format!(
        "<sdf version='1.9' xmlns:drake='http://drake.mit.edu'>\n<model name='m'>{inside}</model></sdf>"
    ))
}
fn link(inside: &str) -> Loaded {
    model(&format!("<link name='a'>{inside}</link>"))
}
fn joint(kind: &str, inside: &str) -> Loaded {
    model(&format!(
        "<link name='a'/><link name='b'/>
         <joint name='j' type='{kind}'><parent>a</parent><child>b</child>{inside}</joint>"
    ))
}
fn axis(kind: &str, limit: &str, dynamics: &str) -> Loaded {
    joint(
        kind,
        &format!(
            "<axis><xyz>0 0 1</xyz><limit>{limit}</limit><dynamics>{dynamics}</dynamics></axis>"
        ),
    )
}
fn surface(inside: &str) -> Loaded {
    link(&format!(
        "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>
         <surface>{inside}</surface></collision>"
    ))
}

#[test]
fn surfaces_act_or_are_reported() {
    let stiffness = "use <drake:point_contact_stiffness>";
    let filters = "<drake:collision_filter_group> selects what collides";
    for (inside, path, instead) in [
        ("<contact><ode><kp>1</kp></ode></contact>", "<contact><ode><kp>", stiffness),
        ("<contact><ode><kd>1</kd></ode></contact>", "<contact><ode><kd>", stiffness),
        ("<contact><ode><soft_cfm>1</soft_cfm></ode></contact>", "<soft_cfm>", stiffness),
        ("<contact><ode><soft_erp>1</soft_erp></ode></contact>", "<soft_erp>", stiffness),
        ("<contact><ode><max_vel>1</max_vel></ode></contact>", "<max_vel>", stiffness),
        ("<contact><ode><min_depth>1</min_depth></ode></contact>", "<min_depth>", stiffness),
        ("<contact><bullet><kp>1</kp></bullet></contact>", "<contact><bullet><kp>", stiffness),
        (
            "<contact><collide_bitmask>0x01</collide_bitmask></contact>",
            "<collide_bitmask>",
            filters,
        ),
        (
            "<contact><category_bitmask>2</category_bitmask></contact>",
            "<category_bitmask>",
            filters,
        ),
        (
            "<contact><collide_without_contact>true</collide_without_contact></contact>",
            "<collide_without_contact>",
            "contacts exert forces",
        ),
        (
            "<contact><elastic_modulus>1</elastic_modulus></contact>",
            "<elastic_modulus>",
            "use <drake:hydroelastic_modulus>",
        ),
        (
            "<contact><poissons_ratio>.3</poissons_ratio></contact>",
            "<poissons_ratio>",
            "use <drake:hydroelastic_modulus>",
        ),
        (
            "<friction><torsional><coefficient>1</coefficient></torsional></friction>",
            "<friction><torsional>",
            "friction exerts no torque about the normal",
        ),
        (
            "<friction><ode><mu>1</mu><mu2>1</mu2><fdir1>1 0 0</fdir1></ode></friction>",
            "<friction><ode><fdir1>",
            "friction is the same in all directions",
        ),
        (
            "<friction><ode><mu>1</mu><mu2>1</mu2><slip1>.1</slip1></ode></friction>",
            "<friction><ode><slip1>",
            "friction has no slip compliance",
        ),
        (
            "<friction><bullet><friction>1</friction></bullet></friction>",
            "<friction><bullet>",
            "friction is that of <ode>",
        ),
        (
            "<bounce><restitution_coefficient>.5</restitution_coefficient></bounce>",
            "<bounce><restitution_coefficient>",
            "<drake:hunt_crossley_dissipation>",
        ),
        (
            "<soft_contact><dart><bone_attachment>1</bone_attachment><stiffness>1</stiffness>
             <damping>1</damping><flesh_mass_fraction>1</flesh_mass_fraction></dart></soft_contact>",
            "<soft_contact> in <surface>",
            "bodies are rigid",
        ),
    ] {
        let m = surface(inside);
        m.says(path);
        m.says(instead);
        m.says("is ignored: ");
    }
    surface(
        "<friction><ode><mu>.7</mu><mu2>.6</mu2><slip1>0</slip1></ode></friction><contact><ode/>
         <collide_bitmask>0xffff</collide_bitmask></contact><bounce/>",
    )
    .says_nothing();
}

#[test]
fn axes_act_or_are_reported() {
    let limits = "<lower>-1</lower><upper>2</upper>";
    let spring = "<spring_reference>.5</spring_reference><spring_stiffness>3</spring_stiffness>";
    let friction = "<friction>.1</friction>";
    for (kind, limit, dynamics, message) in [
        (
            "revolute",
            "",
            friction,
            "<friction> in <dynamics> is ignored: no dry friction is read",
        ),
        (
            "prismatic",
            "",
            friction,
            "<friction> in <dynamics> is ignored: no dry friction is read",
        ),
        (
            "revolute",
            "<stiffness>10</stiffness>",
            "",
            "<stiffness> in <limit> is not supported",
        ),
        (
            "revolute",
            "<dissipation>10</dissipation>",
            "",
            "<dissipation> in <limit> is not",
        ),
        (
            "continuous",
            limits,
            "",
            "<lower> and <upper> are ignored: continuous joints have no",
        ),
        ("screw", limits, "", "limits of a screw joint: ignored"),
        ("screw", "", spring, "spring of a screw joint: ignored"),
        (
            "ball",
            "<effort>0</effort>",
            "",
            "only the damping of its <axis> is used",
        ),
    ] {
        axis(kind, limit, dynamics).says(message);
    }
    let m = axis(
        "prismatic",
        "<lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>4</effort>
         <stiffness>1e8</stiffness><dissipation>1</dissipation>
         <drake:acceleration>5</drake:acceleration>",
        &format!("<damping>6</damping><friction>0</friction>{spring}"),
    );
    m.says_nothing();
    let joint = m.plant.joint(m.plant.joint_by_name("j").unwrap()).unwrap();
    assert_eq!(joint.damping(), [6.0]);
    let limits = [
        joint.position_lower_limits(),
        joint.position_upper_limits(),
        joint.velocity_upper_limits(),
        joint.acceleration_upper_limits(),
    ];
    assert_eq!(limits.map(|l| l[0]), [-1.0, 2.0, 3.0, 5.0]);
    assert_eq!(m.plant.actuators()[0].effort_limit(), 4.0);
    let [
        ForceElement::PrismaticSpring {
            nominal_position,
            stiffness,
            ..
        },
    ] = m.plant.force_elements()
    else {
        panic!("{:?}", m.plant.force_elements())
    };
    assert_eq!((*nominal_position, *stiffness), (0.5, 3.0));
}

#[test]
fn both_axes_of_universal_joints_are_checked() {
    let axis = |tag: &str, xyz: &str| {
        format!(
            "<{tag}><xyz>{xyz}</xyz><limit><lower>-1</lower><upper>1</upper><effort>0</effort></limit>
             </{tag}>"
        )
    };
    let axes = axis("axis", "1 0 0") + &axis("axis2", "0 1 0");
    joint("universal", &axes).says("limits of a universal joint: ignored");
}

#[test]
fn parts_of_joints_act_or_are_reported() {
    let hinge = "<axis><xyz>0 0 1</xyz><limit><effort>0</effort></limit></axis>";
    for (inside, message) in [
        (
            "<gearbox_ratio>2</gearbox_ratio>",
            "<gearbox_ratio> in <joint> is not supported",
        ),
        (
            "<thread_pitch>2</thread_pitch>",
            "<thread_pitch> in <joint> is not supported",
        ),
        (
            "<physics><ode><erp>1</erp></ode></physics>",
            "the plant has its own solver; only the time step of the world is read (`model_options`)",
        ),
        (
            "<sensor name='s' type='force_torque'/>",
            "<sensor> in <joint> is not supported",
        ),
        (
            "<drake:rotor_inertia>1</drake:rotor_inertia>",
            "<drake:rotor_inertia> is ignored: the",
        ),
        (
            "<drake:gear_ratio>1</drake:gear_ratio>",
            "<drake:gear_ratio> is ignored: the joint",
        ),
        (
            "<drake:controller_gains p='1' d='1'/>",
            "<drake:controller_gains> is ignored: the",
        ),
        (
            "<drake:screw_thread_pitch>1</drake:screw_thread_pitch>",
            "has <screw_thread_pitch>",
        ),
    ] {
        let m = joint("revolute", &format!("{hinge}{inside}"));
        let deprecated = |message: &str| message.contains("deprecated");
        let said = m.diagnostics.iter().filter(|d| !deprecated(&d.message));
        let said: Vec<&str> = said.map(|d| d.message.as_str()).collect();
        assert!(
            said.len() == 1 && said[0].contains(message),
            "{message}: {said:?}"
        );
        assert!(
            m.diagnostics
                .iter()
                .all(|d| d.severity == Severity::Warning)
        );
    }
}

#[test]
fn parts_of_links_act_or_are_reported() {
    let sphere = "<geometry><sphere><radius>1</radius></sphere></geometry>";
    for (inside, message) in [
        (
            "<velocity_decay><linear>.1</linear></velocity_decay>".to_string(),
            "<velocity_decay> in <link> is not supported and is ignored: bodies have no drag",
        ),
        (
            "<enable_wind>true</enable_wind>".into(),
            "no medium is simulated",
        ),
        (
            "<kinematic>true</kinematic>".into(),
            "<kinematic> is true, which is ignored: the link",
        ),
        (
            "<gravity>false</gravity>".into(),
            "<gravity> is false, which is ignored: gravity acts",
        ),
        (
            "<self_collide>false</self_collide>".into(),
            "bodies of a model collide unless",
        ),
        (
            "<must_be_base_link>true</must_be_base_link>".into(),
            "<must_be_base_link>",
        ),
        (
            "<battery name='b'><voltage>1</voltage></battery>".into(),
            "<battery>",
        ),
        (
            "<inertial><mass>1</mass><fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>"
                .into(),
            "<fluid_added_mass> in <inertial> is not supported and is ignored: no medium",
        ),
        (
            format!("<collision name='c'><max_contacts>2</max_contacts>{sphere}</collision>"),
            "the contact model chooses the number of points",
        ),
        (
            "<collision name='c'><geometry><cone><radius>1</radius><length>1</length></cone>
             </geometry></collision>"
                .into(),
            "<cone> in <geometry> is not supported and is ignored: the geometry is left out",
        ),
        (
            "<collision name='c'><geometry><sphere><radius>1</radius></sphere><box><size>1 1 1</size>
             </box></geometry></collision>"
                .into(),
            "<sphere> in <geometry> is ignored: <box> is used, because a geometry has one shape",
        ),
        (
            "<sensor name='s' type='imu'/>".into(),
            "sensor 's' of type 'imu' is not supported",
        ),
    ] {
        link(&inside).says(message);
    }
    for quiet in [
        "<enable_wind>false</enable_wind><self_collide>true</self_collide><gravity>true</gravity>",
        "<velocity_decay><linear>0</linear><angular>0</angular></velocity_decay>",
        "<kinematic>0</kinematic><must_be_base_link>false</must_be_base_link>",
    ] {
        link(quiet).says_nothing();
    }
    // The density of a collision acts where the inertia is computed from it.
    let m = link(&format!(
        "<inertial auto='true'/><collision name='c'><density>3</density>{sphere}</collision>"
    ));
    m.says_nothing();
    let mass = m.plant.body(m.plant.body_by_name("a").unwrap()).unwrap();
    let volume = 4.0 / 3.0 * std::f64::consts::PI;
    // Room for rounding.
    assert!((mass.spatial_inertia().mass() - 3.0 * volume).abs() < 1e-12);
}

#[test]
fn parts_of_models_and_worlds_are_reported() {
    for (inside, message) in [
        (
            "<self_collide>false</self_collide>",
            "bodies of a model collide unless",
        ),
        (
            "<allow_auto_disable>true</allow_auto_disable>",
            "bodies never sleep",
        ),
        ("<enable_wind>true</enable_wind>", "no medium is simulated"),
        (
            "<plugin name='p' filename='f'/>",
            "<plugin> in <model> is not supported",
        ),
    ] {
        model(&format!("<link name='a'/>{inside}")).says(message);
    }
    for (inside, message) in [
        (
            "<gravity>0 0 -1</gravity>",
            "all models have the plant's gravity, 9.81 m/s^2 downwards",
        ),
        (
            "<wind><linear_velocity>1 0 0</linear_velocity></wind>",
            "<wind> in <world>",
        ),
        (
            "<magnetic_field>1 0 0</magnetic_field>",
            "no magnetic field is simulated",
        ),
        ("<atmosphere type='adiabatic'/>", "<atmosphere> in <world>"),
        (
            "<physics type='ode'><max_step_size>1</max_step_size>
             <real_time_factor>1</real_time_factor>
             <real_time_update_rate>1</real_time_update_rate></physics>",
            "the plant has its own solver; only the time step of the world is read (`model_options`)",
        ),
    ] {
        let world = format!(
            "<sdf version='1.9'><world name='w'><model name='m'><link name='a'/></model>{inside}
             </world></sdf>"
        );
        load(&world).says(message);
    }
}

#[test]
fn the_same_warning_is_reported_once_per_file() {
    let collision = |name: &str| {
        format!(
            "<collision name='{name}'><geometry><sphere><radius>1</radius></sphere></geometry>
             <surface><contact><ode><kp>1</kp></ode></contact></surface></collision>"
        )
    };
    let m = link(&["c", "d", "e"].map(collision).concat());
    m.says("<contact><ode><kp> in <surface> is ignored");
    m.says("(and at 2 more places of this file)");
}
