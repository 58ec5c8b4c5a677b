//! Contents of `drake:` elements: unknown `drake:` elements in them are errors, and all other
//! unknown elements are ignored with a warning.

use super::{TWO, load, model, try_load};

/// Element `drake:tag` with the given children, whose names get the prefix `drake:` and `prefix`.
fn element(tag: &str, prefix: &str, children: &[(&str, &str)], rest: &str) -> String {
    let children: String = children
        .iter()
        .map(|(name, text)| format!("<drake:{prefix}{name}>{text}</drake:{prefix}{name}>"))
        .collect();
    format!("<drake:{tag}>{children}{rest}</drake:{tag}>")
}

fn with(kind: usize, rest: &str) -> String {
    let (three, bodies) = ("1 2 3", [("body_A", "a"), ("body_B", "b")]);
    let points = [("p_AP", three), ("p_BQ", three)];
    let ends = [&bodies[..], &points].concat();
    let found = match kind {
        0 => {
            let joint = format!(
                "<drake:parent>a</drake:parent><drake:child>b</drake:child><drake:damping>{three}</drake:damping>"
            );
            format!("<drake:joint name='j' type='planar'>{joint}{rest}</drake:joint>")
        }
        1 => {
            let frames = [("frameA", "a"), ("frameC", "b")];
            let numbers = [
                "torque_stiffness",
                "torque_damping",
                "force_stiffness",
                "force_damping",
            ];
            let children = [&frames[..], &numbers.map(|name| (name, three))].concat();
            element("linear_bushing_rpy", "bushing_", &children, rest)
        }
        2 => {
            let numbers = ["free_length", "stiffness", "damping"].map(|name| (name, "1"));
            let children = [&ends[..], &numbers].concat();
            element(
                "linear_spring_damper",
                "linear_spring_damper_",
                &children,
                rest,
            )
        }
        3 => element("ball_constraint", "ball_constraint_", &ends, rest),
        _ => {
            let joint = "<joint name='k' type='revolute'><parent>a</parent><child>b</child>\
                         <axis><xyz>0 0 1</xyz></axis></joint>";
            let rest = format!("<drake:tendon_constraint_joint name='k' a='1'/>{rest}");
            let names = [
                "offset",
                "lower_limit",
                "upper_limit",
                "stiffness",
                "damping",
            ];
            let numbers = names.map(|name| (name, "1"));
            joint.to_string() + &element("tendon_constraint", "tendon_constraint_", &numbers, &rest)
        }
    };
    model(&format!("{TWO}{found}"))
}

#[test]
fn unknown_elements_in_drake_elements_are_errors_or_warnings() {
    for kind in 0..5 {
        let said = load(&with(kind, "")).said;
        assert!(said.is_empty(), "{said:#?}");
        let said = load(&with(kind, "<damping>1</damping>")).said;
        let expected = |s: &String| s.contains(": warning: <damping> in <drake:");
        assert!(
            said.len() == 1 && said.iter().all(expected),
            "{kind}: {said:#?}"
        );
        let refused = try_load(&with(kind, "<drake:stretch>1</drake:stretch>")).err();
        let said = refused.unwrap_or_else(|| panic!("accepted: {kind}"));
        let expected =
            |s: &String| s.contains(": error: <drake:stretch> is not supported in <drake:");
        assert!(
            said.len() == 1 && said.iter().all(expected),
            "{kind}: {said:#?}"
        );
    }
}
