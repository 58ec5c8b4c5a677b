//! The numbered examples succeed, and their output is checked.

mod contact;

use std::path::PathBuf;
use std::process::Command;
use tarragon::sensors::{Depth32F, ImageRgba8U, Label16I, Rgba8U, load_image, load_point_cloud};
use tempfile::TempDir;

/// Path of an example's binary, which `cargo test` builds next to the tests.
fn binary(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop(); // deps
    folder.pop();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    folder.join("examples").join(file)
}

/// Runs an example in a scratch directory; returns its output and that directory.
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

/// Files that an example wrote, by name.
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

/// Header and rows of a numeric table.
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

/// Checks that a picture has at least this many lines, and these texts.
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
fn feedback_loop_reaches_its_goal() {
    let (_, scratch) = run("03_feedback_loop");
    assert_eq!(
        files(&scratch, "03_feedback_loop"),
        ["state.csv", "step.svg"]
    );
    let text = read(&scratch, "03_feedback_loop/state.csv");
    let (header, rows) = csv(&text);
    assert_eq!(header, ["time", "angle", "rate"]);
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
fn hybrid_events_end_with_the_ball_at_rest() {
    let (printed, _) = run("04_hybrid_events");
    assert!(
        printed.starts_with("the ball is at rest after 21 impacts and 4.022067 s"),
        "{printed}"
    );
}

#[test]
fn nested_diagrams_are_drawn_completely() {
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
fn linearize_writes_nothing() {
    let (printed, scratch) = run("06_linearize");
    assert!(printed.contains("19.620"), "{printed}");
    assert!(
        !scratch.path().join("target").exists(),
        "the example writes no files"
    );
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
    // Both cameras coincide: a pixel has a depth exactly if it has a label.
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
    // The ball is at (0.25, 0, 0.85): points on it have radial normals.
    let center = nalgebra::Vector3::new(0.25, 0.0, 0.85);
    let radii = cloud.xyzs().iter().map(|p| p - center).zip(cloud.normals());
    let on_ball: Vec<f32> = radii
        .filter(|(r, _)| (r.norm() - 0.05).abs() < 0.002)
        .map(|(r, normal)| r.normalize().dot(normal))
        .collect();
    let aligned = on_ball.iter().filter(|cos| **cos > 0.9).count();
    // At the silhouette, all neighbours are on one side.
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
fn a_user_defined_render_engine_draws_normals() {
    let (_, scratch) = run("12_render_engine");
    assert_eq!(files(&scratch, "12_render_engine"), ["normals.png"]);
    let path = scratch.path().join("target/12_render_engine/normals.png");
    let image: ImageRgba8U = load_image(&path).unwrap();
    // The middle of the ball faces the camera, so it is mostly blue.
    let facing = image.data().chunks(4).filter(|p| p[2] > 250).count();
    assert!(facing > 50, "{facing} pixels face the camera");
    let background = image.data().chunks(4).filter(|p| p[..3] == [0; 3]).count();
    assert!((40_000..70_000).contains(&background), "{background}");
}

#[test]
fn inspect_robot() {
    let (printed, _) = run("13_inspect_robot");
    let has = |text: &str| assert!(printed.contains(text), "'{text}' is not in {printed}");
    has("bodies: 12, 20.160 kg in all; positions: 7; motors: 7\n");
    has("\n          link4 2.100 kg, revolute 'joint4' -2.4 to 2.4\n");
    has("\njoint1   |");
    // The first joint turns about the vertical, so gravity exerts no torque on it.
    has(" |    0.000 |   0.0000   0.0000   1.0000 ");
    // A free body has six velocities, mass and weight, and the identity as its Jacobian.
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models");
    let block = format!("{models}/table_top/block.urdf");
    let (printed, _) = run_with("13_inspect_robot", &[&block]);
    assert!(printed.contains("bodies: 1, 0.090 kg in all; positions: 7; motors: 0"));
    let row = printed.lines().find(|line| line.starts_with("block_vz"));
    let cells: Vec<f64> = row
        .unwrap()
        .split(['|', ' '])
        .filter_map(|cell| cell.parse().ok())
        .collect();
    assert_eq!(cells, [0.09, -0.883, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // Packages may be named; a missing model is an error.
    let package = format!("table_top={models}/table_top");
    run_with("13_inspect_robot", &[&block, &package]);
}

/// Rows of a printed table without its header; cells are separated by bars.
fn rows(printed: &str) -> Vec<Vec<&str>> {
    let rows = printed.lines().skip(1);
    rows.map(|row| row.split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn inverse_kinematics() {
    let (printed, _) = run("14_inverse_kinematics");
    let rows = rows(&printed);
    assert_eq!(rows.len(), 5, "{printed}");
    let limits = [2.9, 2.0, 2.9, 2.4, 2.9, 2.1, 3.0];
    for row in &rows {
        let q: Vec<f64> = row[4]
            .split_whitespace()
            .map(|q| q.parse().unwrap())
            .collect();
        assert!(q.iter().zip(limits).all(|(q, limit)| q.abs() <= limit));
    }
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    for row in &rows[..4] {
        assert!(number(row[1]) <= 20.0, "quadratic convergence: {row:?}");
        assert!(number(row[2]) < 1e-10, "{row:?}");
        // The remaining difference is the residual's own curvature times the residual.
        assert!(number(row[3]) < 1e-9, "{row:?}");
    }
    // The goal is 1.27 m from the shoulder and the hand 0.92 m, so at least 0.35 m is missing.
    let out_of_reach = number(rows[4][2]);
    assert!((0.34..0.6).contains(&out_of_reach), "{printed}");
}

#[test]
fn scene_from_directives() {
    let (printed, scratch) = run_with("15_scene_from_directives", &["pictures"]);
    let has = |text: &str| assert!(printed.contains(text), "'{text}' is not in {printed}");
    has("models: table arm7 gripper mug box can bottle ball block\n");
    // The first link starts at the first joint, 0.16 m above the table. The bottle has a radius of
    // 35 mm and stands 0.4 m to the side of the foot, which is 180 mm wide.
    has("  160.00 mm  table::table - arm7::link1\n");
    has("  275.00 mm  arm7::base_link - bottle::bottle\n");
    has(" mm deep  table::table - gripper::left_finger\n");
    let image = |name: &str| -> ImageRgba8U {
        load_image(scratch.path().join("pictures").join(name)).unwrap()
    };
    let overview = image("overview_camera.png");
    assert_eq!((overview.width(), overview.height()), (640, 480));
    let count = |image: &ImageRgba8U, is: fn(&[u8]) -> bool| {
        image.data().chunks(4).filter(|pixel| is(pixel)).count()
    };
    // The red block is small in the overview; the blue mug is below the open fingers.
    let red = count(&overview, |p| p[0] > 120 && p[1] < 60 && p[2] < 60);
    assert!((200..5000).contains(&red), "{red}");
    let blue = count(&image("wrist_camera.png"), |p| p[2] > 30 && p[2] / 2 > p[0]);
    assert!(blue > 2000, "{blue}");
    let (_, scratch) = run("15_scene_from_directives");
    let both = ["overview_camera.png", "wrist_camera.png"];
    assert_eq!(files(&scratch, "15_scene_from_directives"), both);
}

#[test]
fn collision_free_path() {
    let (printed, _) = run("16_collision_free_path");
    let line = |name: &str| printed.lines().find(|l| l.starts_with(name)).unwrap();
    // examples/models/README.md: the motion passes the can at 1.7 cm.
    let over = line("over the things free ");
    assert!(over.contains(" 16.6 mm at 4 + 1.0000 of 5 edges"), "{over}");
    assert!(over.contains("gripper::right_finger - can::can"), "{over}");
    assert!(line("sweep           blocked").contains("ball::ball"));
    assert!(line("fold            blocked").contains("arm7::link1 - gripper"));
    line("up              free ");
    assert!(printed.ends_with("confirmed, by one thread and by dense samples\n"));
}

#[test]
fn meshcat() {
    let (printed, _) = run("17_meshcat");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with("look at http://localhost:7"),
        "{printed}"
    );
    assert_eq!(lines[1], "7 sliders");
    // Without the viewer page, the example explains how to get one.
    assert!(
        lines[2].contains("17_meshcat/arm.html") || lines[2].contains("Node.js"),
        "{printed}"
    );
}

#[test]
fn lcm() {
    let (printed, _) = run("18_lcm");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 12, "{printed}");
    for (k, line) in (1..=10).zip(&lines) {
        let time = 0.1 * f64::from(k);
        let (count, wave) = (10 * k + 1, (2.0 * time).sin());
        assert_eq!(
            *line,
            format!("message {count} is from {time:.2} s: {wave:.4}")
        );
    }
    let last = lines[10].strip_prefix("11 messages for scopes, the last one with [");
    let last: f64 = last.unwrap().trim_end_matches(']').parse().unwrap();
    assert_eq!(last, 2.0_f64.sin());
    assert!(lines[11].contains("published: 112, unsent: 0"), "{printed}");
}

#[test]
fn the_render_server_draws_what_is_drawn_in_process() {
    let (printed, scratch) = run("26_render_server");
    for seconds in ["0", "0.5", "1"] {
        let line =
            format!("{seconds} s: of 76800 pixels, 0 channels, 0 depths and 0 labels differ");
        assert!(printed.contains(&line), "{printed}");
    }
    assert!(printed.contains("0 refused"), "{printed}");
    assert_eq!(
        files(&scratch, "26_render_server"),
        ["here.png", "there.png"]
    );
}

#[test]
fn a_thousand_worlds_are_one_batch() {
    let (printed, scratch) = run("27_many_worlds");
    let arrays = "arrays: colour [1000, 64, 64, 4], depth [1000, 64, 64, 1]";
    assert!(printed.starts_with(arrays), "{printed}");
    assert_eq!(printed.matches("is in sight in").count(), 10, "{printed}");
    let path = scratch.path().join("target/27_many_worlds/worlds.png");
    let sheet = load_image::<Rgba8U>(&path).unwrap();
    assert_eq!((sheet.width(), sheet.height()), (2560, 1600));
}
