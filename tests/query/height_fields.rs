//! Height fields are queried by their surface, not by their hull.

use crate::query::{AT_ORIGIN, ask, geometry};
use crate::support::{number, numbers};
use serde_json::{Value, json};

/// A pit, 1 m deep in the middle of 2 m x 2 m. Around (0.05, -0.05), its side is the plane
/// z = x - y.
fn pit() -> Value {
    json!({"type": "HeightField", "heights": [[1, 1, 1], [1, 0, 1], [1, 1, 1]], "size": [2, 2],
           "base_depth": 0.1})
}

/// A body above the point (0.05, -0.05) of the pit.
fn above(shape: &Value, height: f64) -> Value {
    let body = geometry("body", shape, &[1.0, 0.0, 0.0, 0.0, 0.05, -0.05, height]);
    let mut pit = geometry("pit", &pit(), &AT_ORIGIN);
    pit["anchored"] = json!(true);
    json!({"geometries": [body, pit]})
}

#[test]
fn bodies_in_a_pit_are_as_far_from_its_side_as_its_plane() {
    let third = 1.0 / 3.0_f64.sqrt();
    let ball = json!({"type": "Sphere", "radius": 0.05});
    let mut apart = above(&ball, 0.5);
    apart["point"] = json!([0.05, -0.05, 0.9]);
    let mut with_derivatives = above(&ball, 0.16);
    with_derivatives["scalar"] = json!("autodiff");
    let deep = above(&ball, 0.02);
    let answers = ask(&[apart, above(&ball, 0.16), with_derivatives, deep]);
    assert!(answers.iter().all(|a| a["error"].is_null()), "{answers:?}");

    // In the hull, but above the surface.
    assert_eq!(answers[0]["penetration"], json!([]));
    let distance = number(&answers[0]["signed_distance"][0]["distance"]);
    assert!(
        (distance - (0.4 * third - 0.05)).abs() < 1e-15,
        "{distance}"
    );
    let point = &answers[0]["point"][1];
    assert_eq!(point["g"], "pit");
    assert!((number(&point["distance"]) - 0.8 * third).abs() < 1e-15);
    let gradient: [f64; 3] = numbers(&point["grad_w"]);
    let normal = [-third, third, third];
    let same = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
    assert!(same(gradient, normal), "{gradient:?}");

    // The plane is at a height of 0.1 m here.
    for (answer, height) in [(&answers[1], 0.16), (&answers[3], 0.02)] {
        let contact = &answer["penetration"][0];
        let depth = 0.05 - (height - 0.1) * third;
        let found = number(&contact["depth"]);
        assert!((found - depth).abs() < 1e-15, "{found} {depth}");
        assert!(same(numbers(&contact["nhat_ba_w"]), normal), "{contact}");
        let on_field: [f64; 3] = numbers(&contact["p_wcb"]);
        assert!((on_field[2] - on_field[0] + on_field[1]).abs() < 1e-15);
    }

    // The derivatives of the distance are the normal, and none by the orientation of a ball.
    let distance = &answers[2]["signed_distance"][0]["distance"];
    let derivatives: [f64; 6] = numbers(&distance["d"]);
    assert!(same([0, 1, 2].map(|i| derivatives[i]), normal));
    assert!(
        derivatives[3..].iter().all(|d| d.abs() < 1e-15),
        "{distance}"
    );
}

#[test]
fn heights_that_are_no_grid_are_explained() {
    let mut uneven = pit();
    uneven["heights"][1] = json!([1, 0]);
    let answer = &ask(&[above(&uneven, 0.5)])[0];
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("heights"), "{error}");
}
