//! Names that contain `::`, as written by tools that flatten several models into one.

use super::{load, try_load};
use tarragon_multibody::{JointKind, MultibodyPlant};

const AXIS: &str = "<axis><xyz>0 0 1</xyz></axis>";

fn joint(name: &str, parent: &str, child: &str, rest: &str) -> String {
    format!(
        "<joint name='{name}' type='revolute'><parent>{parent}</parent><child>{child}</child>{rest}</joint>"
    )
}

fn in_world(version: &str, content: &str) -> String {
    format!(
        "<sdf version='{version}'><world name='w'><model name='m'>{content}</model></world></sdf>"
    )
}

fn alone(version: &str, content: &str) -> String {
    format!("<sdf version='{version}'><model name='m'>{content}</model></sdf>")
}

/// Bodies and joints, each with its model instance.
fn names(plant: &MultibodyPlant) -> Vec<String> {
    let instance = |i| plant.model_instance_name(i).unwrap();
    let bodies = plant.bodies().skip(1);
    let bodies = bodies.map(|(_, b)| (b.model_instance(), b.name()));
    let joints = plant.joints().filter(|(_, j)| !j.kind().is_floating());
    let joints = joints.map(|(_, j)| (j.model_instance(), j.name()));
    let all: Vec<_> = bodies.chain(joints).collect();
    all.iter()
        .map(|(i, name)| format!("{} {name}", instance(*i)))
        .collect()
}

#[test]
fn scoped_names_in_old_worlds_become_nested_models() {
    let content = "<link name='n::a'><pose>1 0 0 0 0 0</pose></link><link name='n::c'><pose>2 0 0 0 0 0</pose>\
        </link><link name='n::o::d'/><link name='b'/>"
        .to_string()
        + &joint("n::j", "n::a", "n::c", AXIS)
        + &joint("n::o::j", "n::o::d", "n::o::e", AXIS)
        + &joint("k", "b", "n::a", AXIS)
        + "<link name='n::o::e'/><frame name='f' attached_to='n::o'/>";
    for version in ["1.6", "1.7"] {
        let loaded = load(&in_world(version, &content));
        assert_eq!(loaded.said.len(), 0, "{:?}", loaded.said);
        let plant = &loaded.plant;
        assert_eq!(plant.model_instance_names()[2..], ["m", "m::n", "m::n::o"]);
        let expected = [
            "m::n::o d",
            "m::n::o e",
            "m::n a",
            "m::n c",
            "m b",
            "m::n::o j",
            "m::n j",
            "m::n k",
        ];
        assert_eq!(names(plant), expected, "{version}");
        let mut poses = vec![];
        let q = plant.default_positions();
        plant.calc_body_poses(&q, &mut poses).unwrap();
        assert_eq!(poses[3].translation.x, 1.0);
    }
}

#[test]
fn model_frames_become_the_poses_of_their_models() {
    let content = "<frame name='n::__model__' attached_to='n::c'><pose relative_to='__model__'>1 2 3 0 0 0</pose>\
        </frame><link name='n::a'><pose relative_to='n::__model__'>1 0 0 0 0 0</pose><visual name='n::v'>\
        <pose relative_to='n::c'/><geometry><sphere><radius>1</radius></sphere></geometry></visual></link>\
        <link name='n::c'><pose relative_to='n::__model__'>2 0 0 0 0 0</pose></link><link name='b'/>"
        .to_string()
        + &joint("n::j", "n::a", "n::c", "<axis><xyz expressed_in='n::__model__'>0 0 1</xyz></axis>")
        + "<frame name='n::f' attached_to='n::a'><pose relative_to='n::c'/></frame>";
    let loaded = load(&in_world("1.7", &content));
    let plant = &loaded.plant;
    assert_eq!(names(plant), ["m::n a", "m::n c", "m b", "m::n j"]);
    let instance = plant.model_instance_by_name("m::n").unwrap();
    let frame = |name: &str| {
        plant
            .frame(plant.frame_by_name_in(name, instance).unwrap())
            .unwrap()
    };
    // The canonical link is the one that the frame was attached to.
    let model = frame("__model__");
    assert_eq!(plant.body(model.body()).unwrap().name(), "c");
    assert_eq!(model.pose_in_body().translation.x, -2.0);
    assert_eq!(frame("f").pose_in_body().translation.x, 1.0);
    let mut poses = vec![];
    let q = plant.default_positions();
    plant.calc_body_poses(&q, &mut poses).unwrap();
    assert_eq!(poses[1].translation.vector.as_slice(), [2.0, 2.0, 3.0]);
}

#[test]
fn axes_of_very_old_files_stay_in_the_model_frame() {
    // Drake refuses these axes, because it requires the name of a model before `__model__`.
    let content =
        "<link name='n::a'/><link name='n::c'><pose>0 0 0 1.5707963267948966 0 0</pose></link>"
            .to_string()
            + &joint("n::j", "n::a", "n::c", AXIS);
    let plant = load(&in_world("1.4", &content)).plant;
    let (_, j) = plant.joints().next().unwrap();
    let JointKind::Revolute { axis } = j.kind() else {
        panic!("the joint must be revolute");
    };
    assert!((axis.y - 1.0).abs() < 1e-15);
    let moved = "<frame name='n::__model__' attached_to='n::a'/>".to_string() + &content;
    let said = try_load(&in_world("1.4", &moved))
        .err()
        .expect("two model frames must be refused");
    assert!(
        said[0].contains("expressed_in") && said[0].contains("'n'"),
        "{said:?}"
    );
}

#[test]
fn scoped_names_in_models_outside_of_worlds_are_kept() {
    let two = "<link name='a'/><link name='n::b'/>";
    let content = format!(
        "{two}{}<frame name='n::f' attached_to='n::b'><pose>0 0 1 0 0 0</pose></frame>\
         <frame name='g' attached_to='n::f'/><model name='n::o'><link name='c'/></model>",
        joint("n::j", "a", "n::b", AXIS)
    );
    for version in ["1.4", "1.7"] {
        let loaded = load(&alone(version, &content));
        assert_eq!(loaded.said.len(), 0, "{:?}", loaded.said);
        let plant = &loaded.plant;
        assert_eq!(plant.model_instance_names()[2..], ["m", "m::n::o"]);
        assert_eq!(names(plant), ["m::n::o c", "m a", "m n::b", "m n::j"]);
        let g = plant.frame(plant.frame_by_name("g").unwrap()).unwrap();
        assert_eq!(g.pose_in_body().translation.z, 1.0);
        assert!(plant.frame_by_name("n::f").is_ok() && plant.body_by_name("n::b").is_ok());
    }
    let text = alone("1.7", "<link name='a'/>").replace("name='m'", "name='x::m'");
    assert_eq!(load(&text).plant.model_instance_names()[2..], ["x::m"]);
    let world = in_world("1.7", "<link name='a'/>").replace("name='m'", "name='x::m'");
    let world = world.replace(
        "</world>",
        "<frame name='f' attached_to='x::m::a'/></world>",
    );
    assert_eq!(load(&world).plant.model_instance_names()[2..], ["x::m"]);
}

#[test]
fn models_that_cannot_be_split_are_reported_with_their_position() {
    let two = "<link name='a'/><link name='n::b'/>\n";
    for (content, expected) in [
        (
            joint("n::j", "a", "n::b", AXIS),
            "<parent> of joint 'n::j' must be in model 'n', got 'a'",
        ),
        (
            joint("n::j", "n::b", "a", AXIS),
            "<child> of joint 'n::j' must be in model 'n', got 'a'",
        ),
        (
            "<frame name='n::f' attached_to='a'/>".into(),
            "attached_to of frame 'n::f' must be in model 'n', got 'a'",
        ),
        (
            joint(
                "n::j",
                "world",
                "n::b",
                "<axis><xyz expressed_in='a'>0 0 1</xyz></axis>",
            ),
            "expressed_in of joint 'n::j' must be in model 'n', got 'a'",
        ),
        (
            "<link name='::c'/>".into(),
            "'::c' must not start or end with '::'",
        ),
        (
            "<link name='c::'/>".into(),
            "'c::' must not start or end with '::'",
        ),
        (
            "<model name='n'><link name='c'/></model>".into(),
            "the name 'n' is taken",
        ),
        ("<frame name='p::f'/>".into(), "model 'p' has no link"),
    ] {
        let text = in_world("1.7", &format!("{two}{content}"));
        let said = try_load(&text)
            .err()
            .unwrap_or_else(|| panic!("accepted: {content}"));
        let place = if expected.contains("taken") {
            "<literal>.sdf:1:"
        } else {
            "<literal>.sdf:2:1: error:"
        };
        assert!(
            said[0].starts_with(place) && said[0].contains(expected),
            "{said:#?}"
        );
    }
}

#[test]
fn names_must_not_contain_colons_since_version_1_8() {
    for text in [
        in_world("1.8", "<link name='n::a'/>"),
        alone("1.9", "<link name='a'/><frame name='n::f'/>"),
        alone(
            "1.12",
            "<link name='a'/><model name='n::o'><link name='c'/></model>",
        ),
        alone("1.8", "<link name='a'/>").replace("name='m'", "name='x::m'"),
    ] {
        let said = try_load(&text)
            .err()
            .unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(said[0].contains("must not contain '::'"), "{said:?}");
    }
    let group = "<link name='a'/><drake:collision_filter_group name='n::g'><drake:member>a</drake:member>\
                 </drake:collision_filter_group>";
    let said = try_load(&alone("1.7", group))
        .err()
        .expect("a group name with colons must be refused");
    assert!(
        said[0].contains("must not contain '::', got 'n::g'"),
        "{said:?}"
    );
}

#[test]
fn names_with_many_parts_are_handled() {
    let text = in_world(
        "1.7",
        &format!("<link name='{}'/>", "a::".repeat(100_000) + "b"),
    );
    let said = try_load(&text)
        .err()
        .expect("too many nested models must be refused");
    assert!(
        said[0].contains("nested deeper than"),
        "{}",
        &said[0][..200]
    );
    let links: String = (0..20_000)
        .map(|i| format!("<link name='m{i}::a'/>"))
        .collect();
    let plant = load(&in_world("1.7", &links)).plant;
    assert_eq!(plant.num_model_instances(), 20_003);
}
