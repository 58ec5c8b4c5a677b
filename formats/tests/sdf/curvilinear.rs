//! Parsing of curvilinear joints. The tests of dynamics check how they move.

use super::{TWO, load, model, try_load};
use nalgebra::Vector3;

const LINE: &str = "<drake:line_segment><drake:length>1.5</drake:length></drake:line_segment>";

fn joint(curves: &str, rest: &str) -> String {
    model(&format!(
        "{TWO}<drake:joint name='j' type='curvilinear'><drake:parent>a</drake:parent><drake:child>b</drake:child>\
         {rest}<drake:curves>{curves}</drake:curves></drake:joint>"
    ))
}

fn arc(radius: &str, angle: &str) -> String {
    format!(
        "<drake:circular_arc><drake:radius>{radius}</drake:radius><drake:angle>{angle}</drake:angle>\
         </drake:circular_arc>"
    )
}

#[test]
fn paths_of_joints_are_read() {
    let curves = format!("{LINE}{}{}", arc("2", "0.5"), arc("0.5", "-1"));
    let plant = load(&joint(&curves, "")).plant;
    let (_, j) = plant.joints().next().unwrap();
    let tarragon_multibody::JointKind::Curvilinear { path } = j.kind() else {
        panic!("the joint must be curvilinear");
    };
    assert_eq!(path.breaks(), [0.0, 1.5, 2.5, 3.0]);
    assert_eq!(path.turning_rates(), [0.0, 0.5, -2.0]);
    assert_eq!(
        (j.damping(), j.position_upper_limits()),
        (&[0.0][..], &[3.0][..])
    );
    assert_eq!(path.pose(0.0).translation.vector, Vector3::zeros());
    assert_eq!(path.pose(0.0).rotation * Vector3::x(), Vector3::x());
    let said = "<drake:damping>0.25</drake:damping><drake:initial_tangent><xyz>0 0 2</xyz></drake:initial_tangent>\
        <drake:plane_normal><xyz>3 0 0</xyz></drake:plane_normal><drake:is_periodic>true</drake:is_periodic>";
    let plant = load(&joint(&curves, said)).plant;
    let (_, j) = plant.joints().next().unwrap();
    let tarragon_multibody::JointKind::Curvilinear { path } = j.kind() else {
        panic!("the joint must be curvilinear");
    };
    assert_eq!(
        (j.damping(), j.position_upper_limits()),
        (&[0.25][..], &[f64::INFINITY][..])
    );
    assert!((path.pose(0.0).rotation * Vector3::x() - Vector3::z()).norm() < 1e-15);
    assert!(path.is_periodic());
}

#[test]
fn invalid_paths_of_joints_are_refused() {
    let with = |rest: &str| joint(LINE, rest);
    for (text, expected) in [
        (joint("", ""), "must have at least one <drake:line_segment>"),
        (
            joint(&LINE.replace("1.5", "0"), ""),
            "the length of a line must be positive, got 0.0 m",
        ),
        (
            joint(&LINE.replace("1.5", "-1"), ""),
            "must be positive, got -1.0 m",
        ),
        (
            joint(&arc("0", "1"), ""),
            "the radius of an arc must be positive, got 0.0 m",
        ),
        (
            joint(&arc("1", "0"), ""),
            "the length of an arc must be positive, got 0.0 m",
        ),
        (joint(&arc("nan", "0"), ""), "must be finite"),
        (
            joint(&arc("1e-320", "1"), ""),
            "turning rates must be finite, got [inf]",
        ),
        (joint("<drake:line_segment/>", ""), "has no <drake:length>"),
        (
            joint(&format!("{LINE}<drake:spiral/>"), ""),
            "got <drake:spiral>",
        ),
        (
            joint(LINE, "").replace("drake:curves", "drake:curvez"),
            "<drake:curvez> is not supported",
        ),
        (
            with("<drake:initial_tangent><xyz>1 0 1</xyz></drake:initial_tangent>"),
            "perpendicular",
        ),
        (
            with("<drake:initial_tangent><xyz>0 0 0</xyz></drake:initial_tangent>"),
            "not zero",
        ),
        (
            with("<drake:initial_tangent>0 1 0</drake:initial_tangent>"),
            "has no <xyz>",
        ),
        (
            with("<drake:is_periodic>1</drake:is_periodic>"),
            "must be true or false, got '1'",
        ),
        (
            with("<drake:damping>-1</drake:damping>"),
            "damping must be finite and at least 0, got -1.0",
        ),
    ] {
        let said = try_load(&text)
            .err()
            .unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(
            said.iter().any(|s| s.contains(expected)),
            "{text}\n{said:#?}"
        );
    }
}
