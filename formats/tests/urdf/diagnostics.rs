//! Whatever URDF says and the plant does not do is a diagnostic, element by element; what acts
//! gives no diagnostic.

use super::*;
use tarragon_geometry::CoulombFriction;

const INERTIAL: &str = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";

/// A robot with a joint between two links; `joint` is inside the joint, `link` inside its child.
fn robot(joint: &str, link: &str, others: &str) -> Loaded {
    typed("joint", "revolute", joint, link, others)
}
fn typed(tag: &str, kind: &str, joint: &str, link: &str, others: &str) -> Loaded {
    load(&format!(
        "<robot name='r' xmlns:drake='http://drake.mit.edu'>
         <link name='a'>{INERTIAL}</link><link name='b'>{INERTIAL}{link}</link>
         <{tag} name='j' type='{kind}'><parent link='a'/><child link='b'/>{joint}</{tag}>
         {others}</robot>"
    ))
}
fn transmission(inside: &str) -> String {
    format!(
        "<transmission name='t'><type>SimpleTransmission</type>
         <joint name='j'><hardwareInterface>Effort</hardwareInterface></joint>
         <actuator name='u'>{inside}</actuator></transmission>"
    )
}

#[test]
fn parts_of_joints_act_or_are_reported() {
    for (joint, message) in [
        (
            "<dynamics friction='.1'/>",
            "'friction' of <dynamics> is ignored: no dry friction is read",
        ),
        (
            "<dynamics damping='1' spring_stiffness='2'/>",
            "'spring_stiffness' of <dynamics> is ignored: joints of URDF have no springs",
        ),
        (
            "<dynamics spring_reference='2'/>",
            "'spring_reference' of <dynamics> is ignored: joints of URDF have no springs",
        ),
        (
            "<dynamics rotor_inertia='2'/>",
            "use <drake:rotor_inertia> in the actuator",
        ),
        (
            "<dynamics dampnig='2'/>",
            "'dampnig' of <dynamics> is ignored: URDF has no such",
        ),
        (
            "<safety_controller k_velocity='1'/>",
            "<safety_controller> is not supported",
        ),
        (
            "<calibration rising='1'/>",
            "<calibration> is not supported",
        ),
        (
            "<limit lowr='5'/>",
            "'lowr' of <limit> is ignored: URDF has no such attribute",
        ),
        (
            "<sping/>",
            "<sping> in <joint> is ignored: URDF has no such element",
        ),
    ] {
        let r = robot(joint, "", "");
        r.result.as_ref().unwrap();
        r.says(message);
    }
    for kind in ["ball", "universal"] {
        let limit = "<limit lower='-1' upper='1'/>";
        typed("drake:joint", kind, limit, "", "").says("have no limits, as in Drake");
    }
    typed("joint", "planar", "<limit lower='-1' upper='1'/>", "", "").says("of type planar");
    typed("joint", "floating", "", "", "").says("link 'b' stays a free body");
    typed("joint", "floating", "<origin xyz='1 0 0'/>", "", "")
        .says("whose default pose is not the <origin>");
    let r = robot(
        "<dynamics damping='2' friction='0'/>
         <limit lower='-1' upper='2' velocity='3' effort='0' drake:acceleration='4'/>",
        "",
        "",
    );
    r.says_nothing();
    let joint = r.plant.joint(r.plant.joint_by_name("j").unwrap()).unwrap();
    assert_eq!(joint.damping(), [2.0]);
    let limits = [
        joint.position_lower_limits(),
        joint.position_upper_limits(),
        joint.velocity_upper_limits(),
        joint.acceleration_upper_limits(),
    ];
    assert_eq!(limits.map(|l| l[0]), [-1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn parts_of_transmissions_act_or_are_reported() {
    let with = |inside: &str| robot("<limit effort='5'/>", "", &transmission(inside));
    for (inside, message) in [
        (
            "<mechanicalReduction>50</mechanicalReduction>",
            "<mechanicalReduction> is ignored: the input of an actuator is the effort",
        ),
        (
            "<motorTorqueConstant>2</motorTorqueConstant>",
            "<motorTorqueConstant> is ignored",
        ),
        (
            "<rotor_inertia value='1'/>",
            "<rotor_inertia> in <actuator> is ignored: URDF has no",
        ),
    ] {
        with(inside).says(message);
    }
    let two = transmission("").replace("</trans", "<actuator name='v'/></trans");
    robot("", "", &two).says("<actuator> in <transmission> is ignored: only the first one");
    let other = transmission("").replace("Simple", "Differential");
    robot("", "", &other).says("must be SimpleTransmission, got 'DifferentialTransmission'");
    robot("<limit effort='0'/>", "", &transmission("")).says("an effort limit of 0");
    let r = with(
        "<mechanicalReduction>1</mechanicalReduction><drake:rotor_inertia value='3'/>
         <drake:gear_ratio value='2'/><drake:controller_gains p='7' d='8'/>",
    );
    r.says_nothing();
    let motor = &r.plant.actuators()[0];
    assert_eq!(
        (
            motor.effort_limit(),
            motor.default_rotor_inertia(),
            motor.default_gear_ratio()
        ),
        (5.0, 3.0, 2.0)
    );
    assert_eq!(
        motor.controller_gains().map(|g| (g.p, g.d)),
        Some((7.0, 8.0))
    );
}

#[test]
fn mimic_joints_act_or_are_reported() {
    let second = |kind: &str| {
        format!(
            "<link name='c'>{INERTIAL}</link>
             <joint name='k' type='{kind}'><parent link='b'/><child link='c'/>
             <mimic joint='j' multiplier='2' offset='.5'/></joint>"
        )
    };
    let r = robot("", "", &second("revolute"));
    r.says_nothing();
    let [Constraint::Coupler(coupler)] = r.plant.constraints() else {
        panic!("{:?}", r.plant.constraints())
    };
    assert_eq!((coupler.gear_ratio, coupler.offset), (2.0, 0.5));
    typed("joint", "planar", "", "", &second("planar")).says("<mimic> is only supported");
}

#[test]
fn other_elements_are_reported() {
    for (link, message) in [
        (
            "<contact><lateral_friction value='1'/></contact>",
            "<contact> in <link> is ignored: the contact properties of PyBullet are not read",
        ),
        (
            "<collision><geometry><sphere radius='1'/></geometry>
             <contact_coefficients mu='1'/></collision>",
            "<contact_coefficients> in <collision> is ignored: URDF has no such element",
        ),
        (
            "<collision><geometry><sphere radius='1'/></geometry><drake:proximity_properties>
             <drake:mu_dynmic value='1'/></drake:proximity_properties></collision>",
            "<drake:mu_dynmic> in <drake:proximity_properties> is ignored",
        ),
        (
            "<collision><geometry><sphere radius='1'/><box size='1 1 1'/></geometry></collision>",
            "only the first shape of <geometry> is used",
        ),
        (
            "<collision><origin xyz='0 0 0' rpy_deg='1'/><geometry><sphere radius='1'/></geometry>
             </collision>",
            "'rpy_deg' of <origin> is ignored",
        ),
    ] {
        robot("", link, "").says(message);
    }
    for (others, message) in [
        (
            "<gazebo reference='b'><mu1>1</mu1></gazebo>",
            "<mu1> in <gazebo> is ignored: extensions",
        ),
        (
            "<gazebo><plugin name='p'/></gazebo>",
            "<plugin> in <gazebo> is ignored",
        ),
        (
            "<sensor name='s'/>",
            "<sensor> in <robot> is ignored: sensors are not part of models",
        ),
        (
            "<drake:spring/>",
            "<drake:spring> in <robot> is ignored: URDF has no such element",
        ),
        (
            "<gazebo reference='a'><kp>1</kp></gazebo><gazebo reference='b'><kp>1</kp></gazebo>",
            "<kp> in <gazebo> is ignored: extensions of Gazebo are not read (and at 1 more place of \
             this file)",
        ),
    ] {
        robot("", "", others).says(message);
    }
    robot(
        "",
        "",
        "<gazebo reference='b'><material>Red</material></gazebo>",
    )
    .says_nothing();
    let r = robot(
        "",
        "<collision><geometry><sphere radius='1'/></geometry><drake:proximity_properties>
         <drake:mu_dynamic value='.3'/><drake:point_contact_stiffness value='5'/>
         </drake:proximity_properties></collision>",
        "",
    );
    r.says_nothing();
    let inspector = r.scene.model_inspector();
    let id = inspector.geometry_ids().next().unwrap();
    let proximity = inspector.proximity_properties(id).unwrap().unwrap();
    let friction: &CoulombFriction = proximity.get("material", "coulomb_friction").unwrap();
    assert_eq!(friction.dynamic_friction(), 0.3);
}

/// Drake 1.51 takes the axis for 1 0 0, as without `<axis>`.
#[test]
fn axis_without_numbers_is_that_of_joints_without_axis() {
    for (tag, kind) in [
        ("joint", "revolute"),
        ("joint", "continuous"),
        ("joint", "prismatic"),
        ("joint", "planar"),
        ("drake:joint", "screw"),
    ] {
        let pitch = "<drake:screw_thread_pitch value='1'/>".repeat((kind == "screw").into());
        let bare = typed(tag, kind, &format!("<axis/>{pitch}"), "", "");
        bare.says("<axis> of joint 'j' has no attribute 'xyz'; the axis is 1 0 0");
        let absent = typed(tag, kind, &pitch, "", "");
        absent.says_nothing();
        let joint = |model: &Loaded| format!("{:?}", model.plant.joints().next().unwrap());
        assert_eq!(joint(&bare), joint(&absent));
        let empty = typed(tag, kind, &format!("<axis xyz=''/>{pitch}"), "", "");
        assert!(empty.result.is_err());
    }
}

/// Drake 1.51: mass and moments in the body frame. It replaces moments that no body can have.
#[test]
fn absent_mass_properties_are_zero() {
    const REPLACED: f64 = 0.001539338926236507;
    for (inertial, names, mass, moments) in [
        ("<mass/>", &["'value'"][..], 0.0, [0.0; 3]),
        ("<inertia/>", &["'ixx', 'iyy', 'izz'"], 0.0, [0.0; 3]),
        (
            "<mass value='1'/><inertia/>",
            &["'ixx', 'iyy', 'izz'"],
            1.0,
            [0.0; 3],
        ),
        (
            "<mass value='1'/><inertia ixx='1' iyy='1'/>",
            &["'izz'"],
            1.0,
            [1.0, 1.0, 0.0],
        ),
        (
            "<mass value='1'/><inertia ixx='1'/>",
            &["'iyy', 'izz'", "the inertia of a sphere of water"],
            1.0,
            [REPLACED; 3],
        ),
        (
            "<mass/><inertia/>",
            &["'value'", "'ixx', 'iyy', 'izz'"],
            0.0,
            [0.0; 3],
        ),
    ] {
        let text = format!(
            "<robot name='r'><link name='a'><inertial>{inertial}</inertial></link></robot>"
        );
        let model = load(&text);
        model.result.as_ref().unwrap();
        let said: Vec<&str> = model.diagnostics.iter().map(|d| &*d.message).collect();
        assert_eq!(said.len(), names.len(), "{said:?}");
        for (message, name) in said.iter().zip(names) {
            assert!(message.contains(name), "{said:?}");
        }
        let body = model.plant.body_by_name("a").unwrap();
        let inertia = *model.plant.body(body).unwrap().spatial_inertia();
        assert!((inertia.mass() - mass).abs() < 1e-15, "{inertia:?}");
        let found = inertia.rotational_inertia().diagonal();
        for (found, expected) in found.iter().zip(moments) {
            assert!(
                (found - expected).abs() < 1e-15,
                "{inertial}: {found} {expected}"
            );
        }
    }
}
