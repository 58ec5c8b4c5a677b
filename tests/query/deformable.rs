//! Lines that describe one deformable geometry.

use super::ask;
use serde_json::json;

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
    let near = |found: &serde_json::Value, expected: &[f64]| {
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
