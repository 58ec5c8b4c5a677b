//! Collision filter groups.

use super::{TWO, load, model, try_load};

fn group(attributes: &str, inner: &str) -> String {
    format!("<drake:collision_filter_group {attributes}>{inner}</drake:collision_filter_group>\n")
}

const OWN: &str = "<drake:member>a</drake:member>\
    <drake:ignored_collision_filter_group>x</drake:ignored_collision_filter_group>";

fn groups(text: &str) -> Vec<String> {
    let plant = load(&model(&format!("{TWO}{text}"))).plant;
    let names = plant.collision_filter_groups();
    names.map(|(name, _)| name.to_string()).collect()
}

#[test]
fn ignored_groups_are_left_out() {
    assert_eq!(groups(&group("name='x'", OWN)), ["m::x"]);
    for truth in ["true", "True", "1", " true "] {
        let ignored = group(&format!("name='x' ignore='{truth}'"), "<drake:foo/>");
        assert!(groups(&ignored).is_empty(), "{truth}");
    }
    for falsehood in ["false", "FALSE", "0"] {
        let kept = group(&format!("name='x' ignore='{falsehood}'"), OWN);
        assert_eq!(groups(&kept), ["m::x"], "{falsehood}");
    }
    let to_ignored = group("name='y'", OWN) + &group("name='x' ignore='true'", OWN);
    let said = try_load(&model(&format!("{TWO}{to_ignored}"))).err();
    let said = said.expect("a reference to an ignored group must be refused");
    assert!(said[0].contains("'m::x'"), "{said:?}");
    // In other elements the attribute has no meaning.
    let members = OWN.replace("<drake:member>", "<drake:member ignore='true'>");
    assert_eq!(groups(&group("name='x'", &members)), ["m::x"]);
}

#[test]
fn an_invalid_truth_value_keeps_the_group() {
    let loaded = load(&model(&format!(
        "{TWO}\n{}",
        group("name='x' ignore='yes'", OWN)
    )));
    assert_eq!(loaded.plant.collision_filter_groups().count(), 1);
    assert_eq!(loaded.said.len(), 1);
    assert!(loaded.said[0].starts_with("<literal>.sdf:2:1: warning:"));
    assert!(loaded.said[0].contains("'yes'"), "{:?}", loaded.said);
}
