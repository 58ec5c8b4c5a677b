//! `tarragon render` as users call it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};
use tarragon::geometry::render::RenderLabel;
use tarragon::sensors::{Depth32F, ImageIo, Label16I, Rgba8U, color_map::label_color};

/// Runs the command on our arm, with pictures in `out`.
fn render(out: &Path, more: &[&str]) -> Output {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models/arm7/arm7.urdf");
    Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .arg("render")
        .arg(model)
        .arg("--out")
        .arg(out)
        .args(more)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeds(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(Into::into).collect()
}

#[track_caller]
fn fails(output: &Output, expected: &[&str]) {
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && output.stdout.is_empty(),
        "{said}"
    );
    for part in expected {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
}

#[test]
fn all_pictures_show_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/pictures");
    let written = succeeds(&render(&out, &["--width", "160", "--height", "120"]));
    assert_eq!(written.len(), 5);
    let io = ImageIo::new();
    let color = io.load_as::<Rgba8U>(out.join("color.png")).unwrap();
    let depth = io.load_as::<Depth32F>(out.join("depth.tiff")).unwrap();
    let label = io.load_as::<Label16I>(out.join("label.png")).unwrap();
    let labels = io.load_as::<Rgba8U>(out.join("label_color.png")).unwrap();
    let depths = io.load_as::<Rgba8U>(out.join("depth_color.png")).unwrap();
    assert_eq!((color.width(), color.height()), (160, 120));
    let mut seen = 0;
    for y in 0..120 {
        for x in 0..160 {
            let l = label.at(x, y)[0];
            let empty = l == RenderLabel::EMPTY.value();
            assert_eq!(depth.at(x, y)[0].is_finite(), !empty, "({x}, {y})");
            assert_eq!(labels.at(x, y), label_color(l));
            assert_eq!(depths.at(x, y) == [255; 4], empty);
            seen += usize::from(!empty);
        }
    }
    // Upright and fitted: nine tenths of the height, about a tenth as wide.
    assert!((500..5000).contains(&seen), "{seen}");
}

#[test]
fn a_camera_file_decides() {
    let folder = tempfile::tempdir().unwrap();
    let camera = folder.path().join("camera.yaml");
    let yaml = "{name: front, width: 64, height: 48, focal: !FovDegrees {y: 60}, z_near: 0.2, z_far: 8,\n\
                clipping_near: 0.1, clipping_far: 9, background: {rgba: [1, 0, 0, 1]},\n\
                X_PB: {translation: [3, 0, 0.5], rotation: !Rpy {deg: [-90, 0, 90]}}}";
    std::fs::write(&camera, yaml).unwrap();
    let camera = camera.to_str().unwrap();
    let out = folder.path().join("out");
    let written = succeeds(&render(
        &out,
        &["--camera", camera, "--images", "color,depth"],
    ));
    assert_eq!(written.len(), 2);
    let color = ImageIo::new()
        .load_as::<Rgba8U>(out.join("color.png"))
        .unwrap();
    assert_eq!((color.width(), color.height()), (64, 48));
    assert_eq!(color.at(0, 0), [255, 0, 0, 255], "the background");
    let depth = ImageIo::new()
        .load_as::<Depth32F>(out.join("depth.tiff"))
        .unwrap();
    // The arm stands at the origin, 3 m before the camera, and is thinner than 0.3 m.
    let middle = depth.at(32, 30)[0];
    assert!((2.8..3.0).contains(&middle), "{middle}");
    let wide = ["--camera", camera, "--images", "color", "--width", "100"];
    succeeds(&render(&out, &wide));
    let color = ImageIo::new()
        .load_as::<Rgba8U>(out.join("color.png"))
        .unwrap();
    assert_eq!((color.width(), color.height()), (100, 48));

    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, "name: front\nwidth: -3\n").unwrap();
    fails(
        &render(&out, &["--camera", bad.to_str().unwrap()]),
        &["bad.yaml", "line 2", "-3"],
    );
    std::fs::write(&bad, "{name: front, X_PB: {base_frame: nowhere}}").unwrap();
    fails(
        &render(&out, &["--camera", bad.to_str().unwrap()]),
        &["nowhere"],
    );
    let missing = folder.path().join("missing.yaml");
    fails(
        &render(&out, &["--camera", missing.to_str().unwrap()]),
        &["missing.yaml"],
    );
}

#[test]
fn the_turntable_goes_around_once() {
    let folder = tempfile::tempdir().unwrap();
    let size = [
        "--width", "48", "--height", "36", "--images", "label", "--frames", "8",
    ];
    for (file, image) in [("turn.avi", "color"), ("turn.png", "depth-color")] {
        let path = folder.path().join(file);
        let video = [
            "--turntable",
            path.to_str().unwrap(),
            "--turntable-image",
            image,
        ];
        let written = succeeds(&render(folder.path(), &[&size[..], &video].concat()));
        assert_eq!(written.last().map(Path::new), Some(&*path));
        let bytes = std::fs::read(&path).unwrap();
        let count = |tag: &[u8]| bytes.windows(tag.len()).filter(|w| *w == tag).count();
        if file.ends_with("avi") {
            // Every JPEG picture starts with these bytes.
            assert_eq!((&bytes[..4], count(&[0xff, 0xd8, 0xff])), (&b"RIFF"[..], 8));
        } else {
            assert_eq!(count(b"fcTL"), 8);
        }
    }
    let path = folder.path().join("turn.mov");
    let video = ["--turntable", path.to_str().unwrap()];
    fails(
        &render(folder.path(), &[&size[..], &video].concat()),
        &["turn.mov", ".avi"],
    );
    assert!(!path.exists());
}

#[test]
fn arguments_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (["--engine", "quantum"], ["quantum", "cpu"]),
        (["--width", "0"], ["--width", "1 to 16384"]),
        (["--direction", "0,0,0"], ["--direction", "three numbers"]),
        (["--images", "colour"], ["colour", "label-color"]),
        (["--fps", "0"], ["--fps", "above 0"]),
    ] {
        fails(&render(folder.path(), &more), &expected);
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    fails(&render(&file, &[]), &["file", "directory"]);
}
