//! Numbers in the answers.

use crate::query::{AT_ORIGIN, answers, ask, ball_above_floor, geometry, output};
use crate::support::{self, number, numbers};
use nalgebra::{Isometry3, Point3, Vector3};
use serde_json::{Value, json};
use tarragon::framework::math;
use tarragon::geometry::proximity::{distance_to_point, signed_distance};
use tarragon::geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, Shape, Sphere,
};

/// Builds a shape from its JSON.
fn shape(spec: &Value) -> Shape {
    let length = |key: &str| number(&spec[key]);
    let file = || spec["file"].as_str().unwrap();
    let scale3 = || Vector3::from(numbers::<3>(&spec["scale3"]));
    match spec["type"].as_str().unwrap() {
        "Box" => {
            let [x, y, z] = numbers(&spec["size"]);
            BoxShape::new(x, y, z).unwrap().into()
        }
        "Capsule" => Capsule::new(length("radius"), length("length"))
            .unwrap()
            .into(),
        "Cylinder" => Cylinder::new(length("radius"), length("length"))
            .unwrap()
            .into(),
        "Ellipsoid" => {
            let [a, b, c] = numbers(&spec["abc"]);
            Ellipsoid::new(a, b, c).unwrap().into()
        }
        "Sphere" => Sphere::new(length("radius")).unwrap().into(),
        "Convex" => Convex::with_scale(file(), scale3()).unwrap().into(),
        "Mesh" => Mesh::with_scale(file(), scale3()).unwrap().into(),
        _ => HalfSpace.into(),
    }
}

fn pose(p: &[f64; 7]) -> Isometry3<f64> {
    let q = math::quaternion_wxyz([p[0], p[1], p[2], p[3]]).unwrap();
    math::pose(q, Vector3::new(p[4], p[5], p[6]))
}

#[test]
fn the_example_in_the_help_is_correct() {
    let output = output(&["--help"], "");
    let help = String::from_utf8(output.stdout).unwrap();
    let between = |start: &str, end: &str| {
        let (_, rest) = help.split_once(start).unwrap();
        serde_json::from_str::<Value>(rest.split_once(end).unwrap().0).unwrap()
    };
    let scene = between("on one line of the input:\n", "One answer");
    let answer = between("on one line of the output:\n", "Scene:\n");
    assert_eq!(ask(&[scene])[0], answer);
}

#[test]
fn contacts_and_distances_match_closed_forms() {
    let mut scene = ball_above_floor(0.0625);
    scene["point"] = json!([0.0, 0.0, 1.0]);
    let far = ball_above_floor(1.125);
    let mut near_only = far.clone();
    near_only["max_distance"] = json!(0.875);
    let [mut as_deep, mut deeper] = [scene.clone(), scene.clone()];
    as_deep["max_distance"] = json!(-0.0625);
    deeper["max_distance"] = json!(-0.07);
    let answers = ask(&[scene, far, near_only, as_deep, deeper]);
    let contact = &answers[0]["penetration"][0];
    assert_eq!(
        contact,
        &json!({"a": "ball", "b": "floor", "depth": 0.0625, "nhat_ba_w": [0.0, 0.0, 1.0],
                "p_wca": [0.0, 0.0, -0.0625], "p_wcb": [0.0, 0.0, 0.0]})
    );
    assert_eq!(answers[0]["signed_distance"][0]["distance"], json!(-0.0625));
    let to_ball = &answers[0]["point"][0];
    assert_eq!(to_ball["g"], "ball");
    assert_eq!(to_ball["distance"], json!(0.8125));
    assert_eq!(to_ball["p_gn"], json!([0.0, 0.0, 0.125]));
    assert_eq!(answers[0]["point"][1]["distance"], json!(1.0));
    assert_eq!(answers[1]["penetration"], json!([]));
    assert_eq!(answers[1]["signed_distance"][0]["distance"], json!(1.0));
    assert_eq!(answers[2]["signed_distance"], json!([]));
    let overlap = answers[0]["signed_distance"].clone();
    assert_eq!(answers[3]["signed_distance"], overlap);
    assert_eq!(answers[4]["signed_distance"], json!([]));
    assert_eq!(answers[4]["penetration"][0], *contact);
    assert!(answers.iter().all(|answer| answer["error"].is_null()));
}

/// All recorded pairs in the repository: the command gives the same bits as the library, and agrees
/// with the references to 1e-12 m.
#[test]
fn recorded_pairs_match_the_library_and_the_references() {
    const TYPES: [&str; 8] = [
        "Box",
        "Capsule",
        "Convex",
        "Cylinder",
        "Ellipsoid",
        "HalfSpace",
        "Mesh",
        "Sphere",
    ];
    let (mut scenes, mut expected) = (vec![], vec![]);
    for (a, b) in TYPES.into_iter().flat_map(|a| TYPES.map(|b| (a, b))) {
        let Some(references) = support::load(&format!("proximity/reference/ref_{a}_{b}.json.gz"))
        else {
            continue;
        };
        let file = support::load(&format!("proximity/drake/prox_{a}_{b}.json.gz")).unwrap();
        // A quarter of every pair.
        for r in references["refs"].as_array().unwrap().iter().step_by(4) {
            let config = &file["configs"][r["k"].as_u64().unwrap() as usize];
            let mut shapes = file["shapes"][config["s"].as_u64().unwrap() as usize].clone();
            for spec in shapes.as_array_mut().unwrap() {
                if let Some(name) = spec["file"].as_str() {
                    let path = support::find(&format!("proximity/meshes/{name}")).unwrap();
                    spec["file"] = json!(path);
                }
            }
            let pose = |q: &str, p: &str| {
                let (q, p) = (numbers::<4>(&config[q]), numbers::<3>(&config[p]));
                [q.as_slice(), p.as_slice()].concat()
            };
            scenes.push(json!({"geometries": [
                geometry("a", &shapes[0], &pose("qA", "pA")),
                geometry("b", &shapes[1], &pose("qB", "pB"))],
                "point": config["pQ"]}));
            expected.push(number(&r["phi"]));
        }
    }
    assert!(
        expected.len() >= 30,
        "{} are in the repository",
        expected.len()
    );
    for ((scene, answer), phi) in scenes.iter().zip(ask(&scenes)).zip(expected) {
        let bodies = [0, 1].map(|i| {
            let geometry = &scene["geometries"][i];
            (shape(&geometry["shape"]), pose(&numbers(&geometry["pose"])))
        });
        let [(a, x_wa), (b, x_wb)] = &bodies;
        let d = signed_distance(a, x_wa, b, x_wb).unwrap();
        let found = &answer["signed_distance"][0];
        assert!(
            (number(&found["distance"]) - phi).abs() < 1e-12,
            "{scene} {found}"
        );
        assert_eq!(number(&found["distance"]).to_bits(), d.distance.to_bits());
        assert_eq!(
            numbers::<3>(&found["nhat_ba_w"]),
            <[f64; 3]>::from(d.nhat_ba_w)
        );
        let p_aca = x_wa.inverse_transform_point(&Point3::from(d.p_wca));
        // Computed without the world frame, whose rounding errors grow with the distance from its
        // origin.
        let off = (Vector3::from(numbers::<3>(&found["p_aca"])) - p_aca.coords).norm();
        let rounding = 1e-15 * (d.p_wca.norm() + x_wa.translation.vector.norm() + 1.0);
        assert!(off <= rounding, "{off:e} {scene}");
        assert_eq!(
            answer["penetration"].as_array().unwrap().len(),
            usize::from(d.distance < 0.0)
        );
        if d.distance < 0.0 {
            let contact = &answer["penetration"][0];
            assert_eq!(number(&contact["depth"]), -d.distance);
            assert_eq!(numbers::<3>(&contact["p_wca"]), <[f64; 3]>::from(d.p_wca));
        }
        let q = Vector3::from(numbers::<3>(&scene["point"]));
        for (i, (shape, x_wg)) in bodies.iter().enumerate() {
            let d = distance_to_point(shape, x_wg, &q).unwrap();
            let found = &answer["point"][i];
            assert_eq!(number(&found["distance"]), d.distance, "{scene}");
            assert_eq!(numbers::<3>(&found["p_gn"]), <[f64; 3]>::from(d.p_gn));
        }
    }
}

/// Collects all numbers of an answer: values, and derivatives if there are any.
fn flat(value: &Value, values: &mut Vec<f64>, derivatives: &mut Vec<[f64; 6]>) {
    match value {
        Value::Number(n) => values.push(n.as_f64().unwrap()),
        Value::Array(items) => items.iter().for_each(|v| flat(v, values, derivatives)),
        Value::Object(fields) if fields.contains_key("v") => {
            values.push(number(&fields["v"]));
            derivatives.push(numbers(&fields["d"]));
        }
        Value::Object(fields) => fields.values().for_each(|v| flat(v, values, derivatives)),
        _ => {}
    }
}

/// Compares every derivative with fourth-order differences of the answers for moved poses: some
/// third derivatives are 1e5. With steps of 1e-5 m or rad, rounding of witness points on curved
/// surfaces (1e-14 m) causes errors of 1e-9.
#[test]
fn derivatives_match_differences_of_moved_poses() {
    const STEP: f64 = 1e-5;
    let first = [0.9, 0.1, -0.3, 0.2, 0.05, -0.02, 0.1];
    let shapes = [
        json!({"type": "Box", "size": [0.2, 0.3, 0.1]}),
        json!({"type": "Capsule", "radius": 0.05, "length": 0.2}),
        json!({"type": "Cylinder", "radius": 0.1, "length": 0.15}),
        json!({"type": "Ellipsoid", "abc": [0.1, 0.15, 0.07]}),
        json!({"type": "Sphere", "radius": 0.1}),
    ];
    for (k, shape) in shapes.iter().enumerate() {
        for anchored in [false, true] {
            let scene = |first: &[f64], scalar: &str| {
                let mut a = geometry("a", shape, first);
                a["anchored"] = json!(anchored);
                let mut geometries = vec![
                    a,
                    // Overlapping, apart, and a plane that the first geometry penetrates.
                    geometry(
                        "b",
                        &shapes[(k + 2) % 5],
                        &[0.8, 0.3, 0.1, 0.4, 0.1, 0.05, 0.17],
                    ),
                    geometry(
                        "c",
                        &shapes[(k + 3) % 5],
                        &[0.5, -0.6, 0.2, 0.1, 0.5, 0.3, -0.2],
                    ),
                ];
                let plane = [0.98, 0.1, 0.15, 0.0, 0.0, 0.0, 0.06];
                geometries.push(geometry("d", &json!({"type": "HalfSpace"}), &plane));
                json!({"geometries": geometries, "point": [0.3, -0.25, 0.4], "scalar": scalar})
            };
            let mut scenes = vec![scene(&first, "autodiff"), scene(&first, "f64")];
            for direction in 0..6 {
                for step in [STEP, -STEP, 2.0 * STEP, -2.0 * STEP] {
                    let mut x = pose(&first);
                    if direction < 3 {
                        x.translation.vector[direction] += step;
                    } else {
                        let mut turn = Vector3::zeros();
                        turn[direction - 3] = step;
                        x.rotation = math::rotation_exp(&turn) * x.rotation;
                    }
                    let (q, p) = (x.rotation, x.translation);
                    scenes.push(scene(&[q.w, q.i, q.j, q.k, p.x, p.y, p.z], "f64"));
                }
            }
            let answers = ask(&scenes);
            let numbers = |answer: &Value| {
                let (mut values, mut derivatives) = (vec![], vec![]);
                flat(answer, &mut values, &mut derivatives);
                (values, derivatives)
            };
            let (values, derivatives) = numbers(&answers[0]);
            assert!(!answers[0]["penetration"].as_array().unwrap().is_empty());
            assert_eq!(derivatives.len(), values.len());
            let plain = numbers(&answers[1]).0;
            assert!(support::difference(&values, &plain) < 1e-15);
            let mut largest = 0.0_f64;
            for direction in 0..6 {
                let moved = &answers[2 + 4 * direction..6 + 4 * direction];
                let moved: Vec<Vec<f64>> = moved.iter().map(|answer| numbers(answer).0).collect();
                assert!(moved.iter().all(|m| m.len() == values.len()));
                for (i, d) in derivatives.iter().enumerate() {
                    let [up, down, up2, down2] = [0, 1, 2, 3].map(|k| moved[k][i]);
                    let expected = (8.0 * (up - down) - (up2 - down2)) / (12.0 * STEP);
                    let error = (d[direction] - expected).abs();
                    let what = format!("{shape} number {i}: {} {expected}", d[direction]);
                    assert!(error < 1e-8 * (1.0 + expected.abs()), "{what}");
                    largest = largest.max(expected.abs());
                }
            }
            assert!(largest > 0.9, "some value depends on the pose");
        }
    }
}

#[test]
fn anchored_geometries_are_not_tested_with_each_other() {
    for scalar in ["f64", "autodiff"] {
        let mut scene = ball_above_floor(0.0625);
        scene["geometries"][0]["anchored"] = json!(true);
        scene["scalar"] = json!(scalar);
        let mut moving = geometry("other", &json!({"type": "Sphere", "radius": 1}), &AT_ORIGIN);
        moving["pose"][4] = json!(0.5);
        scene["geometries"].as_array_mut().unwrap().push(moving);
        let answer = &ask(&[scene])[0];
        let pairs = answer["signed_distance"].as_array().unwrap();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|p| (p["a"].as_str(), p["b"].as_str()))
            .collect();
        let other = Some("other");
        assert_eq!(pairs, [(Some("ball"), other), (Some("floor"), other)]);
    }
}

#[test]
fn meshes_are_found_next_to_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::create_dir(folder.path().join("meshes")).unwrap();
    std::fs::write(folder.path().join("meshes/corner.obj"), tetrahedron).unwrap();
    let input = folder.path().join("scenes.jsonl");
    let scene = |scale3: Value| {
        let mut shape = json!({"type": "Convex", "file": "meshes/corner.obj", "scale3": scale3});
        if shape["scale3"].is_null() {
            shape.as_object_mut().unwrap().remove("scale3");
        }
        let point = geometry(
            "p",
            &json!({"type": "Sphere", "radius": 0}),
            &[1., 0., 0., 0., -1., 0., 3.],
        );
        json!({"geometries": [geometry("c", &shape, &AT_ORIGIN), point]}).to_string()
    };
    let lines = [json!(null), json!(2), json!([1, 1, 3])].map(scene);
    std::fs::write(&input, lines.join("\n")).unwrap();
    let output = output(&[input.to_str().unwrap()], "");
    let distances = answers(&output);
    let distances = distances
        .iter()
        .map(|a| number(&a["signed_distance"][0]["distance"]));
    // Distance to the tip on the z axis, whose height is the scale.
    let expected = [5.0_f64.sqrt(), 2.0_f64.sqrt(), 1.0];
    for (found, expected) in distances.zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
}
