//! The numbered examples end well and write what they say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;
use tarragon::sensors::{Depth32F, ImageRgba8U, Label16I, Rgba8U, load_image, load_point_cloud};
use tempfile::TempDir;

/// The binary of an example, which `cargo test` builds beside the tests.
fn binary(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop(); // deps
    folder.pop();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    folder.join("examples").join(file)
}

/// Runs an example in a scratch directory; its output and the directory that it wrote to.
fn run(name: &str) -> (String, TempDir) {
    run_with(name, &[])
}

fn run_with(name: &str, arguments: &[&str]) -> (String, TempDir) {
    let (path, scratch) = (binary(name), tempfile::tempdir().unwrap());
    assert!(
        path.is_file(),
        "{} is not built; run `cargo test` without --test",
        path.display()
    );
    let output = Command::new(path)
        .args(arguments)
        .current_dir(&scratch)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    (text(&output.stdout), scratch)
}

/// The files of an example, by name.
fn files(scratch: &TempDir, example: &str) -> Vec<String> {
    let folder = scratch.path().join("target").join(example);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn read(scratch: &TempDir, path: &str) -> String {
    std::fs::read_to_string(scratch.path().join("target").join(path)).unwrap()
}

/// Header and rows of a table of numbers.
fn csv(text: &str) -> (Vec<&str>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert!(rows.iter().all(|row| row.len() == header.len()));
    assert!(
        rows.windows(2).all(|w| w[0][0] <= w[1][0]),
        "in order of time"
    );
    (header, rows)
}

/// A picture with at least this many lines, and these texts.
fn check_svg(text: &str, lines: usize, texts: &[&str]) {
    let picture = roxmltree::Document::parse(text).unwrap();
    let named = |name: &'static str| {
        picture
            .descendants()
            .filter(move |n| n.tag_name().name() == name)
    };
    let drawn = named("polyline").filter(|n| n.attribute("points").unwrap().len() > 1000);
    assert!(drawn.count() >= lines);
    let written: Vec<&str> = named("text")
        .filter_map(|n| n.text())
        .map(str::trim)
        .collect();
    for text in texts {
        assert!(written.contains(text), "'{text}' is not in {written:?}");
    }
}

#[test]
fn feedback_loop() {
    let (_, scratch) = run("03_feedback_loop");
    assert_eq!(
        files(&scratch, "03_feedback_loop"),
        ["state.csv", "step.svg"]
    );
    let text = read(&scratch, "03_feedback_loop/state.csv");
    let (header, rows) = csv(&text);
    assert_eq!(header, ["time", "state[0]", "state[1]"]);
    assert_eq!(rows.len(), 301);
    let end = rows[300][1].to_degrees();
    assert!((end - 60.0).abs() < 0.6, "{end} degrees");
    let picture = read(&scratch, "03_feedback_loop/step.svg");
    check_svg(
        &picture,
        1,
        &["time (s)", "angle (degrees)", "angle", "goal"],
    );
}

#[test]
fn hybrid_events() {
    let (printed, _) = run("04_hybrid_events");
    assert!(
        printed.starts_with("the ball is at rest after 21 impacts and 4.022067 s"),
        "{printed}"
    );
}

#[test]
fn nested_diagrams() {
    let (printed, scratch) = run("05_nested_diagrams");
    assert!(printed.contains("robot::follower::pid"), "{printed}");
    let text = read(&scratch, "05_nested_diagrams/robot.dot");
    assert!(text.starts_with("digraph"), "{text}");
    assert_eq!(
        text.matches("->").count(),
        2 * 12,
        "one arrow and one label per wire"
    );
}

#[test]
fn linearize() {
    let (printed, scratch) = run("06_linearize");
    assert!(printed.contains("19.620"), "{printed}");
    assert!(!scratch.path().join("target").exists(), "it writes nothing");
}

#[test]
fn monte_carlo() {
    let (printed, _) = run("07_monte_carlo");
    assert!(
        printed.contains("caught: 5") && printed.contains("falls"),
        "{printed}"
    );
}

#[test]
fn logging() {
    let (_, scratch) = run("08_logging");
    let tables = [
        "late.csv",
        "marks.csv",
        "spring.svg",
        "steps.csv",
        "timed.csv",
    ];
    assert_eq!(files(&scratch, "08_logging"), tables);
    let times = |name: &str| -> Vec<f64> {
        let text = read(&scratch, &format!("08_logging/{name}.csv"));
        let (header, rows) = csv(&text);
        assert_eq!(header, ["time", "position[0]"]);
        rows.iter().map(|row| row[0]).collect()
    };
    assert_eq!(
        times("late"),
        (0..10)
            .map(|k| 0.25 + 0.5 * f64::from(k))
            .collect::<Vec<_>>()
    );
    assert_eq!(times("marks").len(), 5);
    assert_eq!(
        times("timed").len(),
        101 + 5,
        "periods and forced publishes"
    );
    assert!(
        times("steps").len() > 106,
        "events and the integrator end steps"
    );
    let picture = read(&scratch, "08_logging/spring.svg");
    check_svg(
        &picture,
        1,
        &["time (s)", "position (m)", "timed", "late", "marks"],
    );
}

#[test]
fn camera() {
    let (printed, scratch) = run("09_camera");
    let names = ["color", "depth", "label"]
        .map(|kind| (kind, if kind == "depth" { "tiff" } else { "png" }));
    let all = names
        .iter()
        .flat_map(|(kind, end)| (0..5).map(move |k| format!("{kind}_{k}.{end}")));
    assert_eq!(files(&scratch, "09_camera"), all.collect::<Vec<_>>());
    let file = |name: &str| scratch.path().join("target/09_camera").join(name);
    let depth = load_image::<Depth32F>(&file("depth_4.tiff")).unwrap();
    let label = load_image::<Label16I>(&file("label_4.png")).unwrap();
    assert_eq!((depth.width(), depth.height()), (640, 480));
    let board = label.data().iter().filter(|l| **l == 1).count();
    assert!(
        printed.starts_with(&format!("board: {board} pixels\n")),
        "{printed}"
    );
    // Both cameras coincide: what has a label has a depth.
    let agree = |(d, l): (&f32, &i16)| d.is_finite() == (*l < 6);
    assert!(depth.data().iter().zip(label.data()).all(agree));
}

#[test]
fn point_cloud() {
    let (_, scratch) = run("10_point_cloud");
    assert_eq!(files(&scratch, "10_point_cloud"), ["table.ply"]);
    let cloud = load_point_cloud(scratch.path().join("target/10_point_cloud/table.ply")).unwrap();
    assert!(cloud.size() > 1000 && cloud.has_rgbs() && cloud.has_normals());
    assert!(cloud.xyzs().iter().all(|p| p.z > 0.7 && p.z < 1.0));
    // The ball at (0.25, 0, 0.85): points on it have normals along their radius.
    let center = nalgebra::Vector3::new(0.25, 0.0, 0.85);
    let radii = cloud.xyzs().iter().map(|p| p - center).zip(cloud.normals());
    let on_ball: Vec<f32> = radii
        .filter(|(r, _)| (r.norm() - 0.05).abs() < 0.002)
        .map(|(r, normal)| r.normalize().dot(normal))
        .collect();
    let aligned = on_ball.iter().filter(|cos| **cos > 0.9).count();
    // At the silhouette the neighbours are all on one side.
    assert!(
        on_ball.len() > 100 && aligned * 10 > on_ball.len() * 8,
        "{aligned} of {}",
        on_ball.len()
    );
}

#[test]
fn async_cameras() {
    let (printed, scratch) = run("11_async_cameras");
    assert!(
        printed.contains("  0.500     0.400     0.267     0.333\n"),
        "{printed}"
    );
    let all = (0..3).flat_map(|camera| (0..5).map(move |k| format!("camera{camera}_{k}.png")));
    assert_eq!(files(&scratch, "11_async_cameras"), all.collect::<Vec<_>>());
    let image = |name: &str| {
        load_image::<Rgba8U>(&scratch.path().join("target/11_async_cameras").join(name)).unwrap()
    };
    assert_ne!(
        image("camera0_0.png"),
        image("camera0_1.png"),
        "the ball moves"
    );
}

#[test]
fn proximity_accuracy() {
    let (printed, scratch) = run_with("proximity_accuracy", &["2", "accuracy.md"]);
    assert_eq!(printed, "accuracy.md: the contract is kept\n");
    let text = std::fs::read_to_string(scratch.path().join("accuracy.md")).unwrap();
    let rows = |first: &str| text.matches(&format!("\n| {first}")).count();
    assert_eq!(rows("Cylinder-Ellipsoid |"), 2, "one in each table");
    assert_eq!(text.matches("\n| ").count(), 2 * (1 + 27), "{text}");
    assert!(!text.contains("none"), "every setting was measured: {text}");
}

#[test]
fn proximity_soak() {
    let (printed, scratch) = run_with("proximity_soak", &["100", "7"]);
    assert!(printed.starts_with("100 scenes, "), "{printed}");
    assert!(printed.ends_with("findings: {}\n"), "{printed}");
    assert!(files(&scratch, "proximity_soak").is_empty());
}

#[test]
fn a_render_engine_of_ones_own_draws_normals() {
    let (_, scratch) = run("12_render_engine");
    assert_eq!(files(&scratch, "12_render_engine"), ["normals.png"]);
    let path = scratch.path().join("target/12_render_engine/normals.png");
    let image: ImageRgba8U = load_image(&path).unwrap();
    // The middle of the ball looks to the camera, so that blue is most.
    let facing = image.data().chunks(4).filter(|p| p[2] > 250).count();
    assert!(facing > 50, "{facing} pixels look to the camera");
    let background = image.data().chunks(4).filter(|p| p[..3] == [0; 3]).count();
    assert!((40_000..70_000).contains(&background), "{background}");
}
