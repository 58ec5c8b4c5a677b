//! Nested models: which of them need links, and to which bodies their frames are fixed.

use super::{load, model, try_load};
use tarragon_multibody::MultibodyPlant;

const STATIC: &str = "<static>true</static>";

/// All frames except the world frame: scoped name, body, and position in the world (m).
fn frames(plant: &MultibodyPlant) -> Vec<(String, &str, [f64; 3])> {
    let q = plant.default_positions();
    let kinematics = plant.calc_position_kinematics(&q).unwrap();
    let frames = plant.frames().skip(1).map(|(index, frame)| {
        let instance = plant.model_instance_name(frame.model_instance()).unwrap();
        let x_wf = plant.calc_frame_pose(&kinematics, index).unwrap();
        let p = x_wf.translation.vector;
        (
            format!("{instance}::{}", frame.name()),
            plant.body(frame.body()).unwrap().name(),
            // Rounded like the expected numbers; `+ 0.0` turns -0 into 0.
            [p.x, p.y, p.z].map(|x| (x * 1e9).round() / 1e9 + 0.0),
        )
    });
    frames.collect()
}

fn check(text: &str, expected: &[(&str, &str, [f64; 3])]) {
    let loaded = load(text);
    let found = frames(&loaded.plant);
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, body, p)| (name.to_string(), *body, *p))
        .collect();
    assert_eq!(found, expected, "{text}");
    assert_eq!(loaded.said.len(), 0, "{:?}", loaded.said);
}

#[test]
fn static_models_need_no_links() {
    check(
        &model(&format!(
            "{STATIC}<pose>0 0 7 0 0 0</pose><frame name='f'><pose>0 0 1 0 0 0</pose></frame>\
             <frame name='g' attached_to='f'><pose>0 1 0 0 0 0</pose></frame>"
        )),
        &[
            ("m::__model__", "world", [0.0, 0.0, 7.0]),
            ("m::f", "world", [0.0, 0.0, 8.0]),
            ("m::g", "world", [0.0, 1.0, 8.0]),
        ],
    );
    // A static model next to a moving link is fixed to the world.
    check(
        &model(&format!(
            "<pose>0 0 5 0 0 0</pose><link name='a'><pose>0 0 1 0 0 0</pose></link>\
             <model name='n'>{STATIC}<pose relative_to='a'>1 2 3 0 0 0.5</pose>\
             <frame name='f'><pose>0 1 0 0 0 0</pose></frame></model>\
             <frame name='g' attached_to='n'><pose>0 1 0 0 0 0</pose></frame>"
        )),
        &[
            ("m::n::__model__", "world", [1.0, 2.0, 9.0]),
            ("m::n::f", "world", [0.520574461, 2.877582562, 9.0]),
            ("m::a", "a", [0.0, 0.0, 6.0]),
            ("m::__model__", "a", [0.0, 0.0, 5.0]),
            ("m::n::g", "world", [0.520574461, 2.877582562, 9.0]),
        ],
    );
    check(
        &model(&format!(
            "<model name='n'><pose>1 2 3 0 0 0</pose><model name='o'>{STATIC}</model></model><link name='a'/>"
        )),
        &[
            ("m::n::o::__model__", "world", [1.0, 2.0, 3.0]),
            ("m::n::__model__", "world", [1.0, 2.0, 3.0]),
            ("m::a", "a", [0.0, 0.0, 0.0]),
            ("m::__model__", "a", [0.0, 0.0, 0.0]),
        ],
    );
    check(
        &format!(
            "<sdf version='1.9'><world name='w'><model name='m'>{STATIC}<pose>1 0 0 0 0 0</pose></model>\
             <frame name='f' attached_to='m'/></world></sdf>"
        ),
        &[
            ("m::__model__", "world", [1.0, 0.0, 0.0]),
            ("m::f", "world", [1.0, 0.0, 0.0]),
        ],
    );
}

#[test]
fn other_models_need_a_link_or_a_model() {
    for text in [
        "",
        "<link name='a'/><model name='n'/>",
        "<model name='n'><frame name='f'/></model>",
        "<static>true</static><model name='n'/>",
        "<link name='a'/><model name='n'><static>1</static><model name='o'/></model>",
    ] {
        let said = try_load(&model(text))
            .err()
            .expect("a model without links must be refused");
        assert!(said[0].contains("has no link"), "{said:?}");
    }
}

#[test]
fn only_the_first_nested_model_provides_a_canonical_link() {
    // The first nested model has no canonical link, so the outer model is fixed to the world.
    check(
        &model(&format!(
            "<model name='n'>{STATIC}</model><model name='o'><link name='b'><pose>1 0 0 0 0 0</pose></link></model>\
             <frame name='f'/>"
        )),
        &[
            ("m::n::__model__", "world", [0.0, 0.0, 0.0]),
            ("m::o::b", "b", [1.0, 0.0, 0.0]),
            ("m::o::__model__", "b", [0.0, 0.0, 0.0]),
            ("m::__model__", "world", [0.0, 0.0, 0.0]),
            ("m::f", "world", [0.0, 0.0, 0.0]),
        ],
    );
}

/// Two links at different positions in a nested model; the outer model is rotated.
const TWO_MODELS: &str = "<pose>0 0 7 0.1 0 0</pose><model name='n'><pose>1 2 3 0 0 0.5</pose>\
    <link name='b'><pose>0 1 0 0 0 0</pose></link><link name='c'><pose>0 2 0 0 0 0</pose></link></model>";
const B: [f64; 3] = [0.520574461, 2.563706385, 10.272291395];
const C: [f64; 3] = [0.041148923, 3.43690469, 10.35990346];
const N: [f64; 3] = [1.0, 1.690508081, 10.184679329];
const M: [f64; 3] = [0.0, 0.0, 7.0];

#[test]
fn a_model_moves_with_the_canonical_link_of_its_nested_model() {
    let n_says = TWO_MODELS.replace("name='n'", "name='n' canonical_link='c'");
    check(
        &model(&format!("{n_says}<frame name='f'/>")),
        &[
            ("m::n::b", "b", B),
            ("m::n::c", "c", C),
            ("m::n::__model__", "c", N),
            ("m::__model__", "c", M),
            ("m::f", "c", M),
        ],
    );
    // The canonical link of the outer model affects only the outer model.
    let both_say = model(&n_says).replace("name='m'", "name='m' canonical_link='n::b'");
    check(
        &both_say,
        &[
            ("m::n::b", "b", B),
            ("m::n::c", "c", C),
            ("m::n::__model__", "c", N),
            ("m::__model__", "b", M),
        ],
    );
    // A joint to a model connects the body of the model frame.
    let joint = "<link name='a'/><joint name='j' type='fixed'><parent>world</parent><child>n</child></joint>";
    let plant = load(&model(&format!("{n_says}{joint}"))).plant;
    let (_, weld) = plant.joints().next().unwrap();
    assert_eq!(plant.body(weld.child_body()).unwrap().name(), "c");
}

#[test]
fn a_canonical_link_that_is_not_a_link_fixes_the_model_frame_to_the_world() {
    let text = model(TWO_MODELS).replace("name='m'", "name='m' canonical_link='n'");
    let loaded = load(&text);
    let found = frames(&loaded.plant);
    assert_eq!(found[3], ("m::__model__".to_string(), "world", M));
    assert_eq!(loaded.said.len(), 1);
    assert!(
        loaded.said[0].contains("must be a link of an SDFormat file, got 'n'"),
        "{:?}",
        loaded.said
    );
    for (canonical, expected) in [
        ("zz", "'zz'"),
        ("n::zz", "'n::zz'"),
        ("__model__", "cycle"),
        ("f", "cycle"),
    ] {
        let text = model(&format!("{TWO_MODELS}<frame name='f'/>"));
        let text = text.replace(
            "name='m'",
            &format!("name='m' canonical_link='{canonical}'"),
        );
        let said = try_load(&text)
            .err()
            .expect("an invalid canonical link must be refused");
        assert!(said.iter().any(|s| s.contains(expected)), "{said:?}");
    }
}

#[test]
fn static_models_without_links_can_be_parents_of_joints() {
    // Drake finds no body for such models.
    let text = format!(
        "<link name='a'/><model name='n'>{STATIC}<pose>0 0 2 0 0 0</pose><frame name='f'/></model>"
    );
    let joint = |parent: &str, child: &str| {
        let ends = format!("<parent>{parent}</parent><child>{child}</child>");
        model(&format!(
            "{text}<joint name='j' type='fixed'>{ends}</joint>"
        ))
    };
    let plant = load(&joint("n::f", "a")).plant;
    let (_, weld) = plant.joints().next().unwrap();
    assert_eq!(plant.body(weld.parent_body()).unwrap().name(), "world");
    assert_eq!(weld.pose_on_parent().translation.z, 0.0);
    let said = try_load(&joint("a", "n"))
        .err()
        .expect("a fixed child must be refused");
    assert!(said[0].contains("swap parent and child"), "{said:?}");
}

#[test]
fn forward_references_in_static_models_use_the_model_frame() {
    // Frame 'g' is attached to a frame that comes later, so it is placed in the model frame.
    let text = model(&format!(
        "<link name='a'/><model name='n'>{STATIC}<pose>0 0 2 0 0 0</pose><frame name='g' attached_to='f'>\
         <pose>1 0 0 0 0 0</pose></frame><frame name='f'><pose>0 3 0 0 0 0</pose></frame></model>"
    ));
    let loaded = load(&text);
    let found = frames(&loaded.plant);
    assert_eq!(found[1], ("m::n::g".to_string(), "world", [1.0, 0.0, 2.0]));
    assert_eq!(loaded.said.len(), 1);
    assert!(loaded.said[0].contains("as in Drake, it is placed as if"));
}

#[test]
fn static_links_are_welded_unless_they_are_welded_already() {
    let text = model(&format!(
        "{STATIC}<model name='n'><link name='x'/></model><link name='a'/><link name='b'/><link name='c'/>\
         <joint name='j' type='fixed'><parent>n::x</parent><child>a</child></joint>\
         <joint name='k' type='fixed'><parent>c</parent><child>b</child></joint>"
    ));
    let plant = load(&text).plant;
    let names: Vec<&str> = plant.joints().map(|(_, j)| j.name()).collect();
    let weld = "sdformat_model_static_world_welds_to_";
    assert_eq!(names[..2], ["j", "k"]);
    assert_eq!(names[2..], [format!("{weld}a"), format!("{weld}b")]);
}

#[test]
fn poses_in_rotated_models_cancel_exactly() {
    // A joint whose frame coincides with that of its parent adds no frame to the parent.
    let text = "<sdf version='1.9'><world name='w'><model name='q'><pose>1 3 -2 0.2 -0.3 0.4</pose>\
        <model name='o'><pose>3 -2 1 0.2 -0.3 0.4</pose><link name='s'/><link name='r'/>\
        <joint name='j' type='fixed'><parent>r</parent><child>s</child></joint></model></model></world></sdf>";
    let plant = load(text).plant;
    let frames: Vec<&str> = plant.frames().map(|(_, f)| f.name()).collect();
    assert_eq!(
        frames,
        ["world", "s", "r", "__model__", "j_child", "__model__"]
    );
}
