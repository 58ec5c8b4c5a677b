//! Lines about deformable bodies and geometry.

use super::ask;
use serde_json::{Value, json};

#[test]
fn a_sphere_is_described_with_and_without_a_configuration() {
    let ball = json!({"type": "Sphere", "radius": 0.1});
    // The octahedron of radius 0.1, stretched along x.
    let r = 0.1;
    let vertices = [
        [0.0, 0.0, 0.0],
        [r, 0.0, 0.0],
        [0.0, r, 0.0],
        [-r, 0.0, 0.0],
        [0.0, -r, 0.0],
        [0.0, 0.0, r],
        [0.0, 0.0, -r],
    ];
    let stretched: Vec<f64> = vertices
        .iter()
        .flat_map(|[x, y, z]| [3.0 * x, *y, *z])
        .collect();
    let answers = ask(&[
        json!({"deformable_geometry": {"shape": ball, "resolution_hint": 0.06}}),
        json!({"deformable_geometry": {"shape": ball, "configuration": stretched,
            "points": [0.02, 0.01, -0.03]}}),
    ]);
    let fine = &answers[0]["deformable_geometry"];
    assert_eq!(
        (&fine["vertices"], &fine["elements"]),
        (&json!(129), &json!(512))
    );
    assert_eq!(fine["surface_triangles"], 128);
    assert!(fine.get("aabb").is_none() && answers[0]["error"].is_null());
    let moved = &answers[1]["deformable_geometry"];
    assert_eq!(moved["elements"], 8);
    let near = |found: &Value, expected: &[f64]| {
        let found = found.as_array().unwrap();
        found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a.as_f64().unwrap() - b).abs() < 1e-15)
    };
    assert!(near(&moved["aabb"][0], &[-0.3, -0.1, -0.1]), "{moved}");
    assert!(
        near(&moved["driven_points"], &[0.06, 0.01, -0.03]),
        "{moved}"
    );
}

#[test]
fn errors_name_the_place() {
    let ball = || json!({"type": "Sphere", "radius": 0.1});
    let cases = [
        (
            json!({}),
            "deformable_geometry.shape: this field is missing",
        ),
        (
            json!({"shape": ball(), "resolution_hint": 0}),
            "must be positive, got 0.0 m",
        ),
        (
            json!({"shape": ball(), "configuration": [1, 2]}),
            "three for each point, got [1,2]",
        ),
        (
            json!({"shape": ball(), "configuration": [1, 2, 3]}),
            "must have 21 coordinates",
        ),
        (
            json!({"shape": ball(), "points": [1, 2, 3]}),
            "deformable_geometry.configuration: this field is missing",
        ),
        (
            json!({"shape": ball(), "hint": 1}),
            "deformable_geometry.hint: unknown field",
        ),
        (
            json!({"shape": {"type": "Box", "size": [1, 1, 1]}}),
            "must be a Sphere or a Mesh of a VTK file, got a Box",
        ),
        (
            json!({"shape": ball(), "configuration": vec![0.0; 21], "points": [1, 2, 3]}),
            "point 0 must be inside the undeformed mesh",
        ),
    ];
    let lines: Vec<_> = cases
        .iter()
        .map(|(c, _)| json!({"deformable_geometry": c}))
        .collect();
    for (answer, (_, message)) in ask(&lines).iter().zip(&cases) {
        let error = answer["error"].as_str().unwrap();
        assert!(
            error.starts_with("line ") && error.contains(message),
            "{error}"
        );
    }
}

/// A line with a ball that falls on a box, with changes.
fn scene(change: impl Fn(&mut Value)) -> Value {
    let mut scene = json!({"deformable": {
        "time_step": 0.01, "steps": [0, 10],
        "bodies": [{"name": "ball", "shape": {"type": "Sphere", "radius": 0.1}, "resolution_hint": 0.2,
            "pose": [1, 0, 0, 0, 0, 0, 0.5], "material": {"youngs_modulus": 1e5,
            "poissons_ratio": 0.3, "mass_density": 1000}}],
        "rigid": [{"name": "box", "shape": {"type": "Box", "size": [1, 1, 0.2]},
            "pose": [1, 0, 0, 0, 0, 0, -0.1], "hydro": {"modulus": 1e7}},
            {"name": "stone", "shape": {"type": "Sphere", "radius": 0.05}, "mass": 1,
            "pose": [1, 0, 0, 0, 9, 0, 1], "hydro": {"modulus": 1e7}}]}});
    change(&mut scene["deformable"]);
    scene
}

#[test]
fn bodies_fall_and_touch() {
    let answers = ask(&[
        scene(|_| {}),
        scene(|s| {
            s["bodies"][0]["pose"][6] = 0.099.into();
            s["steps"] = json!([400]);
        }),
    ]);
    let [start, end] = [0, 1].map(|i| &answers[0]["deformable"][i]);
    let height = |state: &Value, i: usize| {
        state["bodies"]["ball"]["positions"][3 * i + 2]
            .as_f64()
            .unwrap()
    };
    // Ten steps of Newmark's scheme are exact for a constant acceleration.
    let way = 9.81 * 0.1 * 0.1 / 2.0;
    assert!(
        (height(start, 0) - height(end, 0) - way).abs() < 1e-12,
        "{end}"
    );
    // The rigid body falls by symplectic steps, and the box is fixed.
    let z = end["rigid"]["stone"][6].as_f64().unwrap();
    assert!((z - (1.0 - 9.81 * 1e-4 * 55.0)).abs() < 1e-12, "{end}");
    assert!(end["rigid"].get("box").is_none() && end["contacts"] == json!([]));
    let rest = &answers[1]["deformable"][0];
    let contact = &rest["contacts"][0];
    assert_eq!(
        (&contact["a"], &contact["b"]),
        (&json!("ball"), &json!("box"))
    );
    // The octahedron of radius 0.1 has the volume 4 r^3 / 3.
    let weight = 9.81 * 1000.0 * 4.0 * 1e-3 / 3.0;
    let force = contact["force_on_a"][2].as_f64().unwrap();
    assert!(
        (force / weight - 1.0).abs() < 1e-3,
        "{force} N of {weight} N"
    );
}

#[test]
fn errors_in_scenes_name_the_field() {
    let at = |pointer: &'static str, value: Value| {
        scene(move |s| {
            let (place, key) = pointer.rsplit_once('/').unwrap();
            s.pointer_mut(place).unwrap()[key] = value.clone();
        })
    };
    let body = "deformable.bodies[0].";
    let cases = [
        (
            at("/time_step", json!(0)),
            "deformable.time_step must be positive, got 0.0 s".into(),
        ),
        (
            at("/steps", json!([3, 2])),
            "deformable.steps[1] must be at least".into(),
        ),
        (
            at("/steps", json!([0.5])),
            "deformable.steps[0] must be a non-negative integer".into(),
        ),
        (
            at("/colour", json!(1)),
            "deformable.colour: unknown field".into(),
        ),
        (
            at("/bodies/0/material/model", json!("rubber")),
            format!("{body}material.model must be"),
        ),
        (
            at("/bodies/0/material/poissons_ratio", json!(0.5)),
            format!("{body}material.poissons_ratio must be greater than -1"),
        ),
        (
            at("/bodies/0/material/subdivisions", json!(5)),
            format!("{body}material.subdivisions must be an integer from 0 to 4"),
        ),
        (
            at("/bodies/0/friction", json!(-1)),
            format!("{body}friction must be at least 0"),
        ),
        (
            at("/bodies/0/walls", json!([[[0, 0, 0]]])),
            format!("{body}walls[0] must be"),
        ),
        (
            at("/bodies/0/initial_velocities", json!([1, 2, 3])),
            format!("{body}initial_velocities: "),
        ),
        (
            at("/bodies/0/shape", json!({"type": "HalfSpace"})),
            "deformable.bodies[0]: ".into(),
        ),
        (
            at("/rigid/0/hydro", json!({"modulus": 0})),
            "deformable.rigid[0].hydro: ".into(),
        ),
        (
            at("/rigid/0/mass", json!(0)),
            "deformable.rigid[0].mass must be positive".into(),
        ),
        (
            json!({"deformable_forces": {"shape": {"type": "Sphere", "radius": 0.1},
                "material": {}, "positions": [1, 2, 3]}}),
            "deformable_forces.positions must have the coordinates of 7 vertices".into(),
        ),
    ];
    let lines: Vec<Value> = cases.iter().map(|(line, _)| line.clone()).collect();
    for (answer, (_, message)) in ask(&lines).iter().zip(&cases) {
        let error = answer["error"].as_str().unwrap();
        assert!(
            error.starts_with("line ") && error.contains(message),
            "{error}; {message}"
        );
    }
}
