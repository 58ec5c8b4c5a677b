//! Hostile files in every format. Each quickly gives a model that can be computed with, or an error
//! that leaves nothing behind. Statements about Drake are recorded from pydrake 1.51.1.

mod files;
mod many_models;
mod mutations;
mod numbers;
mod scale;
mod strays;
mod structure;

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tarragon_documents::Diagnostic;
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;

/// The XML formats.
const XML: [&str; 3] = ["urdf", "sdf", "xml"];

/// Upper limit of the time of each load, without optimization and alongside other tests.
const SOON: Duration = Duration::from_secs(10);

/// CPU time of this thread, which does not include waiting on a busy machine. Falls back to elapsed
/// time where the system does not report it.
fn worked() -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let begin = *BEGIN;
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .map_or_else(|| begin.elapsed(), Duration::from_nanos)
}

/// Result of loading a model.
struct Outcome {
    plant: MultibodyPlantBuilder,
    /// Message of the first error; empty if there is none.
    error: String,
    diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    fn is_ok(&self) -> bool {
        self.error.is_empty()
    }
    /// Checks that the error contains all of these words.
    fn says(&self, words: &[&str]) {
        for word in words {
            assert!(
                self.error.contains(word),
                "'{word}' is not in: {}",
                start(&self.error)
            );
        }
    }
}

/// First 300 characters of a text.
fn start(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Everything that a failed parse must leave unchanged.
fn description(plant: &MultibodyPlantBuilder, scene: &SceneGraph) -> String {
    let scene = scene.model_inspector();
    let geometries: Vec<_> = scene
        .geometry_ids()
        .map(|g| scene.name(g).unwrap())
        .collect();
    let frames: Vec<_> = scene
        .frame_ids()
        .map(|f| scene.frame_name(f).unwrap())
        .collect();
    format!(
        "{plant:?} {} {frames:?} {geometries:?}",
        scene.num_sources()
    )
}

/// Parses a model and, if that succeeds, computes with it.
fn load_with(parse: impl FnOnce(&mut Parser<'_>) -> Result<Vec<ModelInstanceIndex>>) -> Outcome {
    let begin = worked();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    plant
        .add_rigid_body("old", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())
        .unwrap();
    let before = description(&plant, &scene);
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let result = parse(&mut parser);
    let diagnostics = parser.diagnostics().to_vec();
    let error = match result {
        Err(error) => {
            assert_eq!(
                description(&plant, &scene),
                before,
                "an error must leave nothing behind"
            );
            error.to_string()
        }
        Ok(_) => {
            compute(plant.clone(), &mut scene);
            String::new()
        }
    };
    let taken = worked() - begin;
    assert!(taken < SOON, "{taken:?}: {}", start(&error));
    Outcome {
        plant,
        error,
        diagnostics,
    }
}

/// Builds a plant and computes its dynamics. Every plant that can be built can be computed with.
fn compute(plant: MultibodyPlantBuilder, scene: &mut SceneGraph) {
    let Ok(plant) = plant.build_with_scene(scene) else {
        return;
    };
    if plant.num_velocities() > 300 {
        return;
    }
    let q = plant.default_positions();
    let Ok(kinematics) = plant.calc_position_kinematics(&q) else {
        return;
    };
    let m = plant.calc_mass_matrix(&kinematics).unwrap();
    let tau = plant.calc_gravity_generalized_forces(&kinematics).unwrap();
    assert_eq!(
        (m.nrows(), tau.len()),
        (plant.num_velocities(), plant.num_velocities())
    );
}

fn load(text: &str, format: &str) -> Outcome {
    load_with(|p| p.add_models_from_string(text, format))
}

fn load_file(path: &Path) -> Outcome {
    load_with(|p| p.add_models(path))
}

/// A model `r` in the given format, with the given content.
fn model(format: &str, inner: &str) -> String {
    match format {
        "urdf" => format!("<robot name='r'>{inner}</robot>"),
        "sdf" => format!("<sdf version='1.9'><model name='r'>{inner}</model></sdf>"),
        _ => format!("<mujoco model='r'><worldbody>{inner}</worldbody></mujoco>"),
    }
}

/// A body with the given name.
fn body(format: &str, name: &str) -> String {
    match format {
        "xml" => format!("<body name='{name}'><geom size='1'/></body>"),
        _ => format!("<link name='{name}'/>"),
    }
}
