//! Hostile files give errors or warnings, never a panic or a hang.

use super::{model, try_load};
use proptest::prelude::*;
use std::fmt::Write;

#[test]
fn deep_nesting_is_an_error_and_long_chains_load() {
    let deep = "<model name='m'>".repeat(5000) + &"</model>".repeat(5000);
    assert!(try_load(&model(&deep)).is_err());
    let mut chain = String::from("<link name='l0'/>");
    for i in 1..20_000 {
        let previous = if i == 1 {
            "l0".into()
        } else {
            format!("f{}", i - 1)
        };
        write!(
            chain,
            "<frame name='f{i}'><pose relative_to='{previous}'>0 0 1 0 0 0</pose></frame>"
        )
        .unwrap();
    }
    let loaded = try_load(&model(&chain)).unwrap_or_else(|said| panic!("{:?}", said.first()));
    let plant = &loaded.plant;
    let last = plant.frame(plant.frame_by_name("f19999").unwrap()).unwrap();
    assert_eq!(last.pose_in_body().translation.z, 19999.0);
}

#[test]
fn a_cycle_of_thousands_of_frames_is_one_error() {
    let mut text = String::from("<link name='l'/>");
    for i in 0..3000 {
        let next = (i + 1) % 3000;
        write!(
            text,
            "<frame name='f{i}'><pose relative_to='f{next}'/></frame>"
        )
        .unwrap();
    }
    assert_eq!(try_load(&model(&text)).err().unwrap().len(), 1);
}

const SAMPLE: &str = "<pose>1 2 3 0 0.1 0</pose><link name='a'><inertial><mass>1</mass></inertial>\
    <collision name='c'><geometry><box><size>1 2 3</size></box></geometry></collision></link>\
    <model name='n'><pose relative_to='f'/><link name='b'/></model><frame name='f' attached_to='a'/>\
    <joint name='j' type='revolute'><parent>a</parent><child>n::b</child><axis><xyz>0 0 1</xyz></axis></joint>";

proptest! {
    /// A model with any damage gives a plant or an error.
    #[test]
    fn damaged_models_do_not_panic(
        at in 0..SAMPLE.len(),
        length in 0..40_usize,
        with in prop_oneof![
            Just(""), Just("world"), Just("__model__"), Just("f"), Just("nan"), Just("1e999"), Just("<"),
            Just("a"), Just("n::b"), Just("-1"), Just("\u{0}"), Just("relative_to='n::b'"),
        ],
    ) {
        let end = (at + length).min(SAMPLE.len());
        let text = [&SAMPLE[..at], with, &SAMPLE[end..]].concat();
        if let Ok(mut loaded) = try_load(&model(&text)) {
            let _ = loaded.plant.build_with_scene(&mut loaded.scene);
        }
    }
}
