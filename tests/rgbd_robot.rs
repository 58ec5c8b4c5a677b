//! Checks the images and messages of the `rgbd_robot` example.
//!
//! Runs the example in a scratch directory, or reads the images of an earlier run from the
//! directory named by `TARRAGON_SMOKE_IMAGES`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tarragon::sensors::{Depth32F, Label16I, Rgba8U, load_image};

/// Path of the example's binary, which `cargo test` builds next to the tests.
fn example() -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop(); // deps
    folder.pop();
    folder
        .join("examples")
        .join(format!("rgbd_robot{}", std::env::consts::EXE_SUFFIX))
}

fn run(arguments: &[&str]) -> Output {
    let path = example();
    assert!(
        path.is_file(),
        "{} is not built; run `cargo test` without --test",
        path.display()
    );
    Command::new(path).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks that a directory holds `count` images of each kind and nothing else.
fn check_images(folder: &Path, count: usize) {
    let names: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected = (0..count).flat_map(|i| {
        [
            format!("color_{i:04}.png"),
            format!("depth_{i:04}.tiff"),
            format!("label_{i:04}.png"),
        ]
    });
    assert_eq!(names, expected.collect());
    let mut pictures = BTreeSet::new();
    for i in 0..count {
        let color = load_image::<Rgba8U>(&folder.join(format!("color_{i:04}.png"))).unwrap();
        let depth = load_image::<Depth32F>(&folder.join(format!("depth_{i:04}.tiff"))).unwrap();
        let label = load_image::<Label16I>(&folder.join(format!("label_{i:04}.png"))).unwrap();
        assert_eq!((color.width(), color.height()), (640, 480));
        pictures.insert(color.data().to_vec());
        // Labelled pixels have a depth within the scene, all others are infinitely far.
        let mut labels = BTreeSet::new();
        let (mut seen, mut far) = (0, 0);
        for (label, depth) in label.data().iter().zip(depth.data()) {
            if *label == 32766 {
                far += 1;
                assert_eq!(*depth, f32::INFINITY);
            } else {
                seen += 1;
                labels.insert(*label);
                assert!((0.3..4.0).contains(depth), "depth {depth}");
            }
        }
        assert!(
            seen > 100_000 && far > 50_000,
            "{seen} pixels of the scene, {far} of the background"
        );
        assert!(
            labels.len() >= 12,
            "arm links, table and objects: {labels:?}"
        );
    }
    assert_eq!(pictures.len(), count, "the arm moves between images");
}

#[test]
fn images_of_the_example_are_consistent() {
    if let Some(folder) = std::env::var_os("TARRAGON_SMOKE_IMAGES") {
        check_images(Path::new(&folder), 21);
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("new/images");
    let output = run(&["--out", folder.to_str().unwrap(), "--duration", "0.2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    check_images(&folder, 3);
    let printed = text(&output.stdout);
    assert!(
        printed.contains("all gradients agree with central differences"),
        "{printed}"
    );
    let said = format!("the images are in {}", folder.display());
    assert!(printed.contains(&said), "{printed}");
}

#[test]
fn mistakes_end_with_one_clear_line() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let fails = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(!output.status.success());
        let message = text(&output.stderr);
        assert!(
            message.contains("error: ") && !message.contains("panicked"),
            "{message}"
        );
        message
    };
    let message = fails(&["no_such.urdf", "--out", out.to_str().unwrap()]);
    assert!(message.contains("no_such.urdf"), "{message}");
    assert!(
        !out.exists(),
        "nothing is written before the model is loaded"
    );
    for duration in ["nan", "inf", "-1"] {
        let message = fails(&[
            "--out",
            out.to_str().unwrap(),
            &format!("--duration={duration}"),
        ]);
        assert!(message.contains("--duration"), "{message}");
    }
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let inside = file.join("images");
    let message = fails(&["--out", inside.to_str().unwrap()]);
    assert!(message.contains("cannot create the directory"), "{message}");
}
