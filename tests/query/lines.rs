//! Lines in, lines out: bad lines, pipes, files, threads.

use crate::query::{AT_ORIGIN, answers, ask, ball_above_floor, command, geometry, message, output};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};

#[test]
fn a_bad_line_is_explained_and_does_not_stop_the_rest() {
    let good = ball_above_floor(1.125).to_string();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut scene = ball_above_floor(1.125);
        change(&mut scene);
        scene.to_string()
    };
    let ball = |key: &'static str, value: Value| {
        with(&move |scene: &mut Value| scene["geometries"][0][key] = value.clone())
    };
    let bad = [
        ("nonsense".into(), "column 2: invalid JSON: expected ident"),
        (good.replace("0.125", "NaN"), "invalid JSON: expected value"),
        ("[1, 2]".into(), "scene must be an object, got [1,2]"),
        ("{}".into(), "geometries: this field is missing"),
        (
            with(&|s| s["gravity"] = json!(1)),
            "gravity: unknown field; known fields are geometries",
        ),
        (
            with(&|s| s["queries"] = json!(["distance"])),
            "queries[0] must be \"penetration\"",
        ),
        (
            with(&|s| s["queries"] = json!(["point"])),
            "point: this field is missing",
        ),
        (
            with(&|s| s["point"] = json!([0, 1])),
            "point must be an array of 3 numbers",
        ),
        (
            with(&|s| s["max_distance"] = json!("near")),
            "max_distance must be a number (m) or null",
        ),
        (
            with(&|s| s["scalar"] = json!("f32")),
            "scalar must be \"f64\" or \"autodiff\"",
        ),
        (
            with(&|s| s["geometries"][1]["name"] = json!("ball ")),
            "geometries[1].name must be unique, got 'ball '",
        ),
        (
            ball("name", json!("")),
            "geometries[0].name must not be empty",
        ),
        (
            ball("colour", json!("red")),
            "geometry 'ball': colour: unknown field; known fields are name, shape",
        ),
        (
            ball("pose", json!([0, 0, 0, 0, 1, 2, 3])),
            "geometry 'ball': pose: the first four numbers",
        ),
        (
            ball("pose", json!([1, 0, 0, 0, "x", 2, 3])),
            "geometry 'ball': pose[4] must be a number, got \"x\"",
        ),
        (
            ball("anchored", json!("yes")),
            "geometry 'ball': anchored must be true or false",
        ),
        (
            ball("shape", json!({"type": "Torus"})),
            "geometry 'ball': shape.type must be one of Box",
        ),
        (
            ball("shape", json!({"type": "Sphere"})),
            "geometry 'ball': shape.radius: this field is missing",
        ),
        (
            ball("shape", json!({"type": "Sphere", "radius": -1})),
            "geometry 'ball': shape: Sphere: radius must be positive and finite, got -1.0 m",
        ),
        (
            ball("shape", json!({"type": "Sphere", "radius": 1, "length": 2})),
            "geometry 'ball': shape.length: unknown field",
        ),
        (
            ball("shape", json!({"type": "Convex", "file": "none.obj"})),
            "geometry 'ball': shape.file: there is no 'none.obj'",
        ),
    ];
    let mut input = String::new();
    for (line, _) in &bad {
        input += &format!("{good}\n{line}\n");
    }
    // The last line needs no newline; blank lines count but are not answered.
    input += &format!("\n  \t\r\n{good}");
    let output = output(&[], &input);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        message(&output)
    );
    let answers = answers(&output);
    assert_eq!(answers.len(), 2 * bad.len() + 1);
    for (i, answer) in answers.iter().enumerate() {
        if i % 2 == 0 {
            assert!(answer["error"].is_null());
            assert_eq!(answer["signed_distance"][0]["distance"], json!(1.0));
        } else {
            let error = answer["error"].as_str().unwrap();
            let expected = format!("line {}: ", i + 1);
            assert!(error.starts_with(&expected), "{error}");
            assert!(error.contains(bad[i / 2].1), "{error}");
            for list in ["penetration", "signed_distance", "point"] {
                assert_eq!(answer[list], json!([]));
            }
        }
    }
}

#[test]
fn answerable_queries_of_a_failing_scene_are_answered() {
    for scalar in ["f64", "autodiff"] {
        let mut scene = ball_above_floor(0.0625);
        let wall = geometry("wall", &json!({"type": "HalfSpace"}), &AT_ORIGIN);
        scene["geometries"].as_array_mut().unwrap().push(wall);
        scene["point"] = json!([0.0, 0.0, 1.0]);
        scene["scalar"] = json!(scalar);
        let answer = &ask(&[scene])[0];
        let error = answer["error"].as_str().unwrap();
        let place = "line 1: geometries 'floor' and 'wall': ";
        assert!(error.starts_with(place), "{error}");
        assert_eq!(error.matches("'wall'").count(), 1, "said once: {error}");
        let names = |list: &str| -> Vec<String> {
            let pairs = answer[list].as_array().unwrap().iter();
            pairs
                .map(|p| format!("{}-{}", p["a"], p["b"]).replace('"', ""))
                .collect()
        };
        assert_eq!(names("penetration"), ["ball-floor", "ball-wall"]);
        assert_eq!(names("signed_distance"), ["ball-floor", "ball-wall"]);
        assert_eq!(answer["point"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn input_source_and_number_of_threads_do_not_change_the_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let heights = (0..300).map(|i| ball_above_floor(0.01 * f64::from(i)));
    let lines: String = heights.map(|scene| format!("{scene}\n")).collect();
    let (input, written) = (path("scenes.jsonl"), path("answers.jsonl"));
    std::fs::write(&input, &lines).unwrap();
    let expected = output(&["--threads", "1"], &lines).stdout;
    assert_eq!(expected.iter().filter(|c| **c == b'\n').count(), 300);
    assert_eq!(output(&["--threads", "7", "-"], &lines).stdout, expected);
    assert_eq!(output(&[&input], "").stdout, expected);
    let to_file = output(&[&input, "--output", &written, "--threads", "3"], "");
    assert!(to_file.status.success() && to_file.stdout.is_empty());
    assert_eq!(std::fs::read(&written).unwrap(), expected);
}

#[test]
fn answers_are_written_while_the_input_is_open() {
    let mut child = command(&[]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for height in [0.25, 0.5] {
        writeln!(stdin, "{}", ball_above_floor(height)).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            answer["signed_distance"][0]["distance"],
            json!(height - 0.125)
        );
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_early_is_not_an_error() {
    let mut child = command(&["--strict"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let writer = std::thread::spawn(move || {
        let line = format!("{}\n", ball_above_floor(1.0));
        // Runs until the reader has gone away.
        let mut lines = 0;
        while stdin.write_all(line.as_bytes()).is_ok() {
            lines += 1;
        }
        lines
    });
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("signed_distance"));
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        message(&output)
    );
    assert!(writer.join().unwrap() > 0);
}

#[test]
fn unusable_files_set_the_exit_status() {
    let bad = "nonsense\n";
    assert!(output(&[], bad).status.success());
    assert_eq!(output(&["--strict"], bad).status.code(), Some(1));
    let good = format!("{}\n", ball_above_floor(1.0));
    assert!(output(&["--strict"], &good).status.success());
    assert!(output(&["--strict"], "").status.success());

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let input = path("scenes.jsonl");
    std::fs::write(&input, &good).unwrap();
    let directory = folder.path().to_str().unwrap();
    for (arguments, expected) in [
        (vec![path("none.jsonl")], "cannot read"),
        (vec![directory.into()], "cannot read"),
        (
            vec![input.clone(), "--output".into(), input.clone()],
            "it is the input",
        ),
        (
            vec![input.clone(), "--output".into(), path("no/such/file")],
            "cannot write",
        ),
        (vec!["--threads".into(), "0".into()], "--threads"),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = output(&arguments, "");
        assert!(!output.status.success());
        assert!(message(&output).contains(expected), "{}", message(&output));
    }
    assert_eq!(
        std::fs::read_to_string(&input).unwrap(),
        good,
        "the input is unchanged"
    );
}

/// The squares of such distances overflow: the pair must neither be left out nor answered wrongly.
#[test]
fn distances_that_overflow_are_errors_with_the_pair() {
    let shapes = [
        json!({"type": "Sphere", "radius": 0.1}),
        json!({"type": "Box", "size": [1, 1, 1]}),
        json!({"type": "Capsule", "radius": 0.1, "length": 1}),
    ];
    for (i, a) in shapes.iter().enumerate() {
        for b in &shapes[i..] {
            let far = json!([1, 0, 0, 0, 1e308, 0, 0]);
            let scene = json!({"geometries": [
                {"name": "near", "shape": a, "pose": AT_ORIGIN},
                {"name": "far", "shape": b, "pose": far},
            ]});
            let answer = &ask(&[scene])[0];
            let error = answer["error"].as_str().unwrap();
            assert!(error.contains("'near' and 'far'"), "{error}");
            assert!(
                error.contains("must be within 1e150 m of each other, got 1e308 m"),
                "{error}"
            );
        }
    }
}

/// Each line reads a mesh with a vertex that is part of no face.
#[test]
fn warnings_that_are_alike_are_counted_unless_verbose() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..5)
        .map(|i| {
            let file = folder.path().join(format!("m{i}.obj"));
            let obj =
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 9 9\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
            std::fs::write(&file, obj).unwrap();
            let shape = json!({ "type": "Convex", "file": file.to_str().unwrap() });
            let scene = json!({
                "geometries": [geometry("m", &shape, &AT_ORIGIN)], "queries": ["penetration"],
            });
            format!("{scene}\n")
        })
        .collect();
    for (arguments, count, rest) in [(&[] as &[&str], 4, true), (&["--verbose"], 5, false)] {
        let output = output(arguments, &lines);
        assert_eq!(answers(&output).len(), 5);
        let said = message(&output);
        assert_eq!(said.matches("is part of no face").count(), count, "{said}");
        let has_rest = said.contains("(5 alike; --verbose lists all)");
        assert_eq!(has_rest, rest, "{said}");
    }
}
