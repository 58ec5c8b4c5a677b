//! Bad models: each gives a clear error with its place, without panics or partial results.

use std::path::{Path, PathBuf};
use std::process::Command;
use tarragon::formats::Parser;
use tarragon::geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon::multibody::MultibodyPlantBuilder;
use tarragon::prelude::*;
use tarragon::{Error, ErrorKind};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models")
}

/// Loads a model as programs do: with a renderer, and builds the plant.
fn load(path: &Path) -> Result<String, String> {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("cpu", engine).unwrap();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let parsed = parser
        .add_models(path)
        .map(|_| ())
        .map_err(|e| e.to_string());
    let warnings: Vec<String> = parser.diagnostics().iter().map(|d| d.to_string()).collect();
    if parsed.is_err() {
        assert_eq!(
            plant.num_bodies(),
            1,
            "only the world is left after a failed parse"
        );
        assert_eq!(scene.model_inspector().num_geometries(), 0);
        parsed?;
    }
    plant.build().map_err(|e| e.to_string())?;
    Ok(warnings.join("\n"))
}

#[test]
fn every_broken_model_is_explained() {
    // File names, and words that the message must contain.
    let cases: [(&str, &[&str]); 15] = [
        ("malformed_xml.urdf", &["malformed_xml.urdf:"]),
        (
            "unknown_joint_type.urdf",
            &["unknown_joint_type.urdf:", "type"],
        ),
        (
            "missing_mesh.urdf",
            &["missing_mesh.urdf:", "does not exist"],
        ),
        ("loop.urdf", &["loop.urdf:"]),
        ("nan_mesh.urdf", &["nan.obj:"]),
        ("bad_number.urdf", &["bad_number.urdf:"]),
        ("missing_parent.urdf", &["missing_parent.urdf:"]),
        ("missing_child.urdf", &["missing_child.urdf:"]),
        ("duplicate_link.urdf", &["duplicate_link.urdf:"]),
        ("duplicate_joint.urdf", &["duplicate_joint.urdf:"]),
        ("empty.urdf", &["empty.urdf"]),
        ("zero_axis.urdf", &["zero_axis.urdf:", "axis"]),
        ("bad_index_mesh.urdf", &["bad_index"]),
        ("not_a_robot.xml", &["not_a_robot.xml:", "must be <mujoco>"]),
        ("no_such_file.urdf", &["no_such_file.urdf"]),
    ];
    for (file, words) in cases {
        let message = load(&models().join("bad").join(file)).expect_err(file);
        for word in words {
            assert!(
                message.contains(word),
                "{file}: '{word}' is missing in: {message}"
            );
        }
    }
    // Models that Drake only warns about give a warning here too, with its place.
    for file in ["negative_mass.urdf", "bad_inertia.urdf"] {
        match load(&models().join("bad").join(file)) {
            Ok(said) | Err(said) => assert!(said.contains(&format!("{file}:")), "{file}: {said}"),
        }
    }
}

#[test]
fn our_own_models_load_without_diagnostics() {
    for file in [
        "arm7/arm7.urdf",
        "gripper/gripper.urdf",
        "humanoid/humanoid.xml",
        "mobile_base/mobile_base.urdf",
        "table_top/table.urdf",
        "table_top/mug.urdf",
        "table_top/box.urdf",
        "table_top/can.urdf",
        "table_top/bottle.urdf",
        "table_top/ball.urdf",
        "table_top/block.urdf",
    ] {
        assert_eq!(load(&models().join(file)), Ok(String::new()), "{file}");
    }
}

#[test]
fn the_render_command_draws_and_explains_errors() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("pictures");
    let render = |model: &str, out: &Path| {
        Command::new(env!("CARGO_BIN_EXE_tarragon"))
            .args([
                "render",
                models().join(model).to_str().unwrap(),
                "--out",
                out.to_str().unwrap(),
            ])
            .args(["--width", "160", "--height", "120"])
            .output()
            .unwrap()
    };
    let output = render("gripper/gripper.urdf", &out);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let color =
        tarragon::sensors::load_image::<tarragon::sensors::Rgba8U>(&out.join("color.png")).unwrap();
    let background = color.at(0, 0).to_vec();
    let seen = color
        .data()
        .chunks_exact(4)
        .filter(|p| *p != background)
        .count();
    assert!(
        seen > 160 * 120 / 10,
        "the gripper fills the picture: {seen} pixels"
    );
    assert!(out.join("depth.tiff").is_file() && out.join("label.png").is_file());

    for arguments in [
        ["--width", "0"],
        ["--height", "1000000000"],
        ["--direction", "0,0,0"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tarragon"))
            .args(["render", "any.urdf", "--out", "anywhere"])
            .args(arguments)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(
            message.contains(arguments[0]) && message.contains("must be"),
            "{message}"
        );
    }

    let nothing = scratch.path().join("nothing");
    let output = render("bad/loop.urdf", &nothing);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && message.contains("loop.urdf:"),
        "{message}"
    );
    assert!(!nothing.exists(), "nothing is written for a broken model");
}

/// `?` converts errors of every crate in systems and Monte Carlo samples, which add the place.
#[test]
fn errors_of_every_crate_convert_to_the_framework_error() {
    use tarragon::framework::analysis::{MonteCarloConfig, monte_carlo};
    use tarragon::framework::{Error, Result, primitives::VectorSystem};
    fn geometry() -> Result<()> {
        Sphere::new(-1.0)?;
        Ok(())
    }
    fn multibody() -> Result<()> {
        MultibodyPlantBuilder::new(-1.0)?;
        Ok(())
    }
    fn lcm() -> Result<()> {
        tarragon::lcm::Lcm::with_url("nonsense")?;
        Ok(())
    }
    fn sensors() -> Result<()> {
        tarragon::sensors::ImageFileFormat::of_path(Path::new("a.gif"))?;
        Ok(())
    }
    fn visualization() -> Result<()> {
        tarragon::visualization::MeshcatAnimation::new(-1.0)?;
        Ok(())
    }
    type Fails = fn() -> Result<()>;
    let all: [(Fails, &str); 5] = [
        (geometry, "Sphere"),
        (multibody, "-1"),
        (lcm, "LCM URL 'nonsense'"),
        (sensors, "a.gif"),
        (visualization, "MeshcatAnimation"),
    ];
    for (fails, words) in all {
        let system = VectorSystem::new(0, 1, move |_, _, _, _| fails());
        let mut b = DiagramBuilder::new();
        let system = b.add_f64("system", system);
        let ctx = b.build().unwrap().default_context();
        let message = ctx.eval(system.y).unwrap_err().to_string();
        let place = "computing 'system.y0': ";
        assert!(
            message.starts_with(place) && message.contains(words),
            "{message}"
        );
        let sample = |_: &mut _| fails();
        let error: Error = monte_carlo(sample, 1, 1, &MonteCarloConfig::default()).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("sample 0") && message.contains(words),
            "{message}"
        );
    }
}

#[test]
fn a_cause_is_shown_once_and_kept_for_downcasting() {
    let error = ImageIo::new().load("no/such/image.png").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let cause = error
        .cause()
        .and_then(|cause| cause.downcast_ref::<std::io::Error>())
        .unwrap();
    assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(
        error.to_string().matches(&cause.to_string()).count(),
        1,
        "{error}"
    );
    // Reporters print the chain of sources after the message.
    assert!(std::error::Error::source(&error).is_none());
    // Wrapped as a user's error, it stays what it is.
    assert_eq!(Error::custom(error.clone()).to_string(), error.to_string());
    assert_eq!(Error::custom(error).kind(), ErrorKind::Io);
}
