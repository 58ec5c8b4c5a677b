//! SDFormat files: the plants that they give, and the messages about invalid ones. Numbers without
//! an explanation are those of pydrake 1.51.1 for the same text.

mod curvilinear;
mod deformable;
mod diagnostics;
mod drake;
mod files;
mod filters;
mod heightmaps;
mod hostile;
mod names;
mod nested;
mod vendors;

use nalgebra::Vector3;
use tarragon_formats::Parser;
use tarragon_geometry::{CoulombFriction, Rgba, Role, SceneGraph, Shape};
use tarragon_multibody::{ForceElement, JointKind, MultibodyPlant, MultibodyPlantBuilder};

/// A plant with its scene, and the diagnostics of the parser.
struct Loaded<P = MultibodyPlant> {
    plant: P,
    scene: SceneGraph,
    said: Vec<String>,
}

fn try_load(text: &str) -> Result<Loaded<MultibodyPlantBuilder>, Vec<String>> {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let result = parser.add_models_from_string(text, "sdf");
    let said: Vec<String> = parser
        .diagnostics()
        .iter()
        .map(ToString::to_string)
        .collect();
    match result {
        Ok(_) => Ok(Loaded { plant, scene, said }),
        Err(_) => {
            assert_eq!(plant.num_bodies(), 1, "a failed model must be rolled back");
            Err(said)
        }
    }
}

fn load(text: &str) -> Loaded {
    let loaded = try_load(text).unwrap_or_else(|said| panic!("{said:#?}"));
    let (mut scene, said) = (loaded.scene, loaded.said);
    let plant = loaded.plant.build_with_scene(&mut scene).unwrap();
    Loaded { plant, scene, said }
}

fn model(body: &str) -> String {
    format!(
        "<sdf version='1.9' xmlns:drake='http://drake.mit.edu'><model name='m'>{body}</model></sdf>"
    )
}

const TWO: &str = "<link name='a'/><link name='b'/>";

fn joint(kind: &str, inner: &str) -> String {
    model(&format!(
        "{TWO}<joint name='j' type='{kind}'><parent>a</parent><child>b</child>{inner}</joint>"
    ))
}

#[test]
fn elements_are_added_in_the_order_of_drake() {
    let text = "<frame name='f1'/>
        <joint name='j' type='fixed'><pose>1 0 0 0 0 0</pose><parent>a</parent><child>b</child></joint>
        <link name='b'/><model name='n'><link name='x'/></model><link name='a'/>
        <drake:joint name='pj' type='planar'><drake:parent>b</drake:parent><drake:child>c</drake:child>
        <drake:damping>1 2 3</drake:damping></drake:joint><link name='c'/>";
    let plant = load(&model(text)).plant;
    assert_eq!(plant.model_instance_names()[2..], ["m", "m::n"]);
    let bodies: Vec<&str> = plant.bodies().map(|(_, b)| b.name()).collect();
    assert_eq!(bodies, ["world", "x", "b", "a", "c"]);
    let frames: Vec<&str> = plant.frames().map(|(_, f)| f.name()).collect();
    let expected = [
        "world",
        "x",
        "__model__",
        "b",
        "a",
        "c",
        "__model__",
        "j_parent",
        "j_child",
        "f1",
    ];
    assert_eq!(frames, expected);
    let planar = plant.joint(plant.joint_by_name("pj").unwrap()).unwrap();
    assert_eq!(
        (planar.kind(), planar.damping()),
        (&JointKind::Planar, &[1.0, 2.0, 3.0][..])
    );
}

#[test]
fn static_models_are_welded_where_they_are() {
    let text = "<static>true</static><pose>0 0 1 0 0 0</pose><link name='a'/>
        <link name='b'><pose>1 2 3 0 0 0</pose></link>
        <joint name='j' type='fixed'><parent>a</parent><child>b</child></joint>";
    let plant = load(&model(text)).plant;
    let joints: Vec<&str> = plant.joints().map(|(_, j)| j.name()).collect();
    assert_eq!(joints, ["j", "sdformat_model_static_world_welds_to_a"]);
    let mut poses = vec![];
    plant.calc_body_poses(&[], &mut poses).unwrap();
    assert_eq!(poses[2].translation.vector, Vector3::new(1.0, 2.0, 4.0));
}

#[test]
fn joints_have_their_limits_motors_and_springs() {
    let axis = "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort>
        <velocity>3</velocity><drake:acceleration>7</drake:acceleration></limit>
        <dynamics><damping>0.5</damping><spring_reference>0.3</spring_reference>
        <spring_stiffness>4</spring_stiffness></dynamics></axis><drake:rotor_inertia>0.1</drake:rotor_inertia>
        <drake:gear_ratio>50</drake:gear_ratio><drake:controller_gains p='10' d='1'/>";
    for (kind, lower) in [
        ("revolute", -1.0),
        ("continuous", f64::NEG_INFINITY),
        ("prismatic", -1.0),
    ] {
        let plant = load(&joint(kind, axis)).plant;
        let j = plant.joint(plant.joint_by_name("j").unwrap()).unwrap();
        assert_eq!(j.position_lower_limits(), [lower], "{kind}");
        assert_eq!(
            (j.velocity_upper_limits(), j.acceleration_lower_limits()),
            (&[3.0][..], &[-7.0][..])
        );
        assert_eq!(j.damping(), [0.5]);
        let motor = &plant.actuators()[0];
        assert_eq!(
            (motor.effort_limit(), motor.default_rotor_inertia()),
            (5.0, 0.1)
        );
        assert_eq!(
            (
                motor.default_gear_ratio(),
                motor.controller_gains().unwrap().p
            ),
            (50.0, 10.0)
        );
        let (ForceElement::RevoluteSpring { stiffness, .. }
        | ForceElement::PrismaticSpring { stiffness, .. }) = plant.force_elements()[0].clone()
        else {
            panic!("the force element must be a spring");
        };
        assert_eq!(stiffness, 4.0);
    }
    let axis = "<axis><xyz>0 0 1</xyz></axis>";
    let pitch = |inner: &str| {
        let plant = load(&joint("screw", &format!("{inner}{axis}"))).plant;
        let (_, j) = plant.joints().next().unwrap();
        let JointKind::Screw { pitch, .. } = j.kind() else {
            panic!("the joint must be a screw");
        };
        *pitch
    };
    assert_eq!(pitch("<screw_thread_pitch>0.1</screw_thread_pitch>"), 0.1);
    assert_eq!(
        pitch("<thread_pitch>0.1</thread_pitch>"),
        -62.83185307179586
    );
    assert_eq!(pitch(""), 1.0);
    let no_motor = "<axis><xyz>0 0 1</xyz><limit><effort>0</effort></limit></axis>";
    assert!(
        load(&joint("revolute", no_motor))
            .plant
            .actuators()
            .is_empty()
    );
}

#[test]
fn axes_can_be_expressed_in_other_frames() {
    let text = "<link name='a'/><link name='b'><pose degrees='true'>0 0 0 90 0 0</pose></link>
        <joint name='j' type='revolute'><parent>a</parent><child>b</child>
        <axis><xyz expressed_in='__model__'>0 0 1</xyz></axis></joint>";
    let plant = load(&model(text)).plant;
    let (_, j) = plant.joints().next().unwrap();
    let JointKind::Revolute { axis } = j.kind() else {
        panic!("the joint must be revolute");
    };
    assert!((axis.into_inner() - Vector3::y()).norm() < 1e-15);
    // Before SDFormat 1.5, all axes were expressed in the model frame.
    let old = model(text)
        .replace("1.9", "1.4")
        .replace(" expressed_in='__model__'", "");
    let plant = load(
        &old.replace(" degrees='true'", "")
            .replace("90", "1.5707963267948966"),
    )
    .plant;
    assert!(matches!(plant.joints().next().unwrap().1.kind(),
        JointKind::Revolute { axis } if (axis.into_inner() - Vector3::y()).norm() < 1e-15));
}

#[test]
fn axes_of_universal_joints_become_x_and_y() {
    let axes = "<axis><xyz>0 0 1</xyz><limit><effort>0</effort></limit></axis>
        <axis2><xyz>1 0 0</xyz><limit><effort>0</effort></limit></axis2>";
    let loaded = load(&joint("universal", axes));
    assert!(loaded.said.is_empty(), "{:?}", loaded.said);
    let (_, j) = loaded.plant.joints().next().unwrap();
    let r = j.pose_on_parent().rotation;
    assert!((r * Vector3::x() - Vector3::z()).norm() < 1e-15);
    assert!((r * Vector3::y() - Vector3::x()).norm() < 1e-15);
}

#[test]
fn poses_are_resolved_by_the_graph_of_frames() {
    let text = "<link name='a'/><link name='b'/>
        <frame name='g' attached_to='b'><pose relative_to='a'>0 2 0 0 0 0</pose></frame>
        <frame name='f' attached_to='g'><pose>1 0 0 0 0 0</pose></frame>";
    let plant = load(&model(text)).plant;
    let f = plant.frame(plant.frame_by_name("f").unwrap()).unwrap();
    assert_eq!(plant.body(f.body()).unwrap().name(), "b");
    assert_eq!(
        f.pose_in_body().translation.vector,
        Vector3::new(1.0, 2.0, 0.0)
    );
    let placed = model(
        "<pose>1 0 0 0 0 0</pose><link name='a'/><frame name='f'><pose>0 2 0 0 0 0</pose></frame>",
    )
    .replace("name='m'", "name='m' placement_frame='f'");
    let plant = load(&placed).plant;
    assert_eq!(
        plant.default_positions(),
        [1.0, 0.0, 0.0, 0.0, 1.0, -2.0, 0.0]
    );
}

#[test]
fn worlds_hold_models_frames_and_welds() {
    let text = "<sdf version='1.9'><world name='w'><frame name='wf'><pose>1 0 0 0 0 0</pose></frame>
        <model name='a'><pose relative_to='wf'/><link name='l'/></model><model name='b'><link name='l'/></model>
        <frame name='g' attached_to='a'/>
        <joint name='wj' type='fixed'><parent>a::l</parent><child>b::l</child></joint></world></sdf>";
    let plant = load(text).plant;
    let frames: Vec<&str> = plant.frames().skip(5).map(|(_, f)| f.name()).collect();
    assert_eq!(frames, ["wf", "g", "wj_parent", "wj_child"]);
    let (_, weld) = plant.joints().next().unwrap();
    assert_eq!(
        weld.pose_on_parent().translation.vector,
        Vector3::new(-1.0, 0.0, 0.0)
    );
    assert_eq!(plant.default_positions()[4..], [1.0, 0.0, 0.0]);
}

#[test]
fn inertias_follow_the_rules_of_drake() {
    let mass = |inertial: &str| {
        let loaded = load(&model(&format!(
            "<link name='a'><inertial>{inertial}</inertial></link>"
        )));
        let (_, body) = loaded.plant.bodies().nth(1).unwrap();
        (*body.spatial_inertia(), loaded.said.len())
    };
    let entries = |x: f64, y: f64, z: f64| {
        format!("<inertia><ixx>{x}</ixx><iyy>{y}</iyy><izz>{z}</izz></inertia>")
    };
    let (m, said) = mass(&format!("<mass>2</mass>{}", entries(1.0, 1.0, 5.0)));
    assert_eq!(said, 1);
    assert!((m.rotational_inertia()[(0, 0)] - 0.004887096461686854).abs() < 1e-15);
    let (m, said) = mass(&format!("<mass>0</mass>{}", entries(0.0, 0.0, 0.0)));
    assert_eq!((m.mass(), said), (0.0, 0));
    let turned = "<pose>1 2 3 1.5707963267948966 0 0</pose><mass>2</mass>";
    let (m, _) = mass(&format!("{turned}{}", entries(1.0, 2.0, 2.5)));
    let diagonal = m.rotational_inertia().diagonal();
    assert!((diagonal - Vector3::new(27.0, 22.5, 12.0)).norm() < 1e-12);
    assert_eq!(mass("").0.mass(), 1.0);
    let auto = "<link name='a'><inertial auto='true'><density>3</density></inertial>
        <collision name='c'><pose>0 0 1 0 0 0</pose><geometry><sphere><radius>1</radius></sphere></geometry>
        </collision></link>";
    let plant = load(&model(auto).replace("1.9", "1.11")).plant;
    let m = plant.bodies().nth(1).unwrap().1.spatial_inertia();
    assert!((m.mass() - 12.566370614359172).abs() < 1e-13);
    assert!((m.rotational_inertia()[(0, 0)] - 17.59291886010284).abs() < 1e-13);
    let cone = auto.replace(
        "<sphere><radius>1</radius></sphere>",
        "<cone><radius>1</radius><length>2</length></cone>",
    );
    let cone = cone
        .replace("<density>3</density>", "")
        .replace("0 0 1 0", "0 0 0 0");
    let plant = load(&model(&cone).replace("1.9", "1.11")).plant;
    let m = plant.bodies().nth(1).unwrap().1.spatial_inertia();
    assert!((m.center_of_mass().z + 0.5).abs() < 1e-15);
    assert!((m.rotational_inertia()[(0, 0)] - 1151.9173063162575).abs() < 1e-10);
}

#[test]
fn geometry_has_shapes_colours_and_friction() {
    let text = "<link name='a'><collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry>
        <surface><friction><ode><mu>0.7</mu><mu2>0.4</mu2></ode></friction></surface>
        <drake:proximity_properties><tarragon:max_convex_pieces>32</tarragon:max_convex_pieces>
        </drake:proximity_properties></collision>
        <visual name='v'><geometry><box><size>1 2 3</size></box></geometry>
        <material><diffuse>1 0 0 0.5</diffuse></material>
        <drake:perception_properties enabled='false'/></visual></link>";
    let loaded = load(&model(text));
    let inspector = loaded.scene.model_inspector();
    let ids: Vec<_> = inspector.geometry_ids().collect();
    assert_eq!(inspector.name(ids[0]).unwrap(), "m::v");
    assert!(matches!(
        inspector.shape(ids[1]).unwrap(),
        Shape::HalfSpace(_)
    ));
    let friction = inspector
        .properties(ids[1], Role::Proximity)
        .unwrap()
        .unwrap();
    let pieces: &usize = friction.get("convex_decomposition", "max_pieces").unwrap();
    assert_eq!(*pieces, 32);
    let friction: CoulombFriction = *friction.get("material", "coulomb_friction").unwrap();
    assert_eq!(
        (friction.static_friction(), friction.dynamic_friction()),
        (0.7, 0.4)
    );
    let look = inspector
        .properties(ids[0], Role::Illustration)
        .unwrap()
        .unwrap();
    let diffuse: Rgba = *look.get("phong", "diffuse").unwrap();
    assert_eq!(diffuse.rgba(), [1.0, 0.0, 0.0, 0.5]);
    assert!(
        inspector
            .properties(ids[0], Role::Perception)
            .unwrap()
            .is_none()
    );
}

#[test]
fn cameras_are_kept() {
    let text = "<link name='a'><sensor name='s' type='rgbd'><pose>0 0 1 0 0 0</pose><camera>
        <horizontal_fov>1.5707963267948966</horizontal_fov><image><width>64</width><height>32</height></image>
        <clip><near>0.2</near><far>9</far></clip></camera></sensor><sensor name='i' type='imu'/></link>";
    let loaded = load(&model(text));
    assert_eq!(loaded.said.len(), 1, "{:?}", loaded.said);
    let camera = &loaded.plant.model_cameras()[0];
    assert_eq!((camera.width, camera.height, camera.depth), (64, 32, true));
    // tan(fov_y / 2) is half of tan(45 degrees).
    assert!(((camera.fov_y / 2.0).tan() - 0.5).abs() < 1e-15);
    let forward = camera.x_fc * Vector3::z();
    assert!((forward - Vector3::x()).norm() < 1e-15);
}

#[test]
fn mistakes_are_reported_with_their_position() {
    let link = |inner: &str| model(&format!("<link name='a'>{inner}</link>"));
    let cases = [
        (model(""), "no link"),
        (model("<link name='__a__'/>"), "reserved"),
        (model("<link name='a::b'/>"), "'::'"),
        (model("<link name='a'/><frame name='a'/>"), "taken"),
        (link("<pose relative_to='a'/>"), "cycle"),
        (
            link("<pose relative_to='zz'/>"),
            "no link, frame, joint or model named 'zz'",
        ),
        (link("<pose>1 2 3</pose>"), "must have 6 numbers"),
        (link("<drake:foo/>"), "not supported in <link>"),
        (
            link(
                "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>\
                 <drake:proximity_properties>\
                 <tarragon:max_convex_pieces>2.5</tarragon:max_convex_pieces>\
                 </drake:proximity_properties></collision>",
            ),
            "<tarragon:max_convex_pieces> must be an integer from 1 to 256, got 2.5",
        ),
        (
            model("<link name='a'/><drake:foo/>"),
            "supported elements: drake:joint",
        ),
        (
            model(
                "<link name='a'/><frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>",
            ),
            "cycle",
        ),
        (joint("revolute", ""), "no <axis>"),
        (joint("revolute2", ""), "got 'revolute2'"),
        (
            joint("revolute", "<axis><xyz>0 0 0</xyz></axis>"),
            "not zero",
        ),
        (
            joint("fixed", "").replace("<parent>a", "<parent>b"),
            "with itself",
        ),
        (
            joint("fixed", "").replace("<child>b", "<child>world"),
            "swap parent and child",
        ),
        (joint("fixed", "<pose relative_to='x'/>"), "relative_to"),
        (
            joint(
                "revolute",
                "<axis><xyz>0 0 1</xyz><dynamics><damping>-1</damping></dynamics></axis>",
            ),
            "at least 0",
        ),
        (
            model(&format!("{TWO}<drake:joint name='c' type='helical'/>")),
            "must be planar or curvilinear, got 'helical'",
        ),
        ("<sdf version='1.9'/>".into(), "0 models and 0 worlds"),
        ("<robot/>".into(), "must be <sdf>"),
        (
            "<sdf version='1.9'><world name='w'><include/></world></sdf>".into(),
            "no <uri>",
        ),
    ];
    for (text, expected) in cases {
        let said = try_load(&text)
            .err()
            .unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(
            said.iter().any(|s| s.contains(expected)),
            "{text}\n{said:#?}"
        );
        assert!(
            said.iter().all(|s| s.starts_with("<literal>.sdf:1:")),
            "{said:#?}"
        );
    }
}

#[test]
fn filters_constraints_and_mimic_joints_are_kept() {
    let axis = "<axis><xyz>0 0 1</xyz></axis>";
    let text = format!(
        "{TWO}<link name='c'/><joint name='j' type='revolute'><parent>a</parent><child>b</child>{axis}</joint>
        <joint name='k' type='revolute'><parent>b</parent><child>c</child>{axis}
        <drake:mimic joint='j' multiplier='2' offset='0.5'/></joint>
        <drake:ball_constraint><drake:ball_constraint_body_A>a</drake:ball_constraint_body_A>
        <drake:ball_constraint_body_B>c</drake:ball_constraint_body_B>
        <drake:ball_constraint_p_AP>1 2 3</drake:ball_constraint_p_AP>
        <drake:ball_constraint_p_BQ>1 2 3</drake:ball_constraint_p_BQ></drake:ball_constraint>
        <drake:collision_filter_group name='g'><drake:member>a</drake:member><drake:member>c</drake:member>
        <drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group>
        </drake:collision_filter_group>"
    );
    let plant = load(&model(&text)).plant;
    assert_eq!(plant.constraints().len(), 2);
    let coupler = plant.coupler_constraints().next().unwrap();
    assert_eq!((coupler.gear_ratio, coupler.offset), (2.0, 0.5));
    let groups: Vec<_> = plant
        .collision_filter_groups()
        .map(|(n, m)| (n, m.len()))
        .collect();
    assert_eq!(groups, [("m::g", 2)]);
}
