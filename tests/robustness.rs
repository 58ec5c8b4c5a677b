//! Every model of the reference set loads and moves without a panic and without NaN, or is refused
//! with a message; and a pile of bodies is simulated in constant memory.
//!
//! The models are those below `models` of the directory named by `TARRAGON_REFERENCE`, else
//! `../shared/reference`; without it, the test is skipped with a line that begins with `SKIPPED`.
//! With `TARRAGON_SOAK_SECONDS`, models are simulated for 1 s instead of 0.1 s, and the pile for
//! that many seconds instead of 1 s.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it has counted and skipped"
)]

use crate::support::{find, read_json};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use tarragon::framework::Simulator;
use tarragon::multibody::compute_default_scene_aabb;
use tarragon::prelude::*;

/// Step of all plants (s). Stiff models need small steps to stay accurate, but none may fail.
const TIME_STEP: f64 = 0.001;
/// Number of models in the complete reference set, and how many of them must be simulated.
const COMPLETE: usize = 293;
const MINIMUM: usize = 205;

fn soak_seconds() -> Option<f64> {
    std::env::var("TARRAGON_SOAK_SECONDS").ok()?.parse().ok()
}

/// All files below a folder whose names end as those of models do, in the order of their paths.
fn model_files(folder: &Path) -> Vec<PathBuf> {
    let is_model = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A package's own description is no model.
        name != "package.xml"
            && [".urdf", ".sdf", ".xml", ".dmd.yaml"]
                .iter()
                .any(|end| name.ends_with(end))
    };
    let (mut files, mut folders) = (vec![], vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if is_model(&path) => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// Outcome for one model.
enum Outcome {
    Simulated {
        warnings: usize,
    },
    /// The parser, the plant or the simulation refuses it, with this message.
    Refused {
        stage: &'static str,
        why: String,
    },
    Panicked(String),
    NotFinite,
}

/// Directives that load a file under a name; JSON is valid YAML.
fn named(file: &Path) -> String {
    let url = format!("file://{}", file.display());
    let add = serde_json::json!({ "add_model": { "name": "part", "file": url } });
    serde_json::json!({ "directives": [add] }).to_string()
}

/// Loads a model on a ground below its lowest point.
fn load(
    file: &Path,
    packages: &[(String, PathBuf)],
) -> Result<(MultibodyPlantBuilder, SceneGraph, usize)> {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(TIME_STEP)?, SceneGraph::new());
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    for (name, folder) in packages {
        parser.package_map_mut().add(name, folder)?;
    }
    let added = parser.add_models(file);
    // Parts of MJCF models have no name of their own.
    match added
        .as_ref()
        .err()
        .map(|e| e.to_string().contains("load the model under a name"))
    {
        Some(true) => parser.add_models_from_string(&named(file), "dmd.yaml")?,
        _ => added?,
    };
    let warnings = parser.diagnostics().len();
    let bounds = compute_default_scene_aabb(&plant, &scene, Role::Proximity);
    if let Ok(Some(bounds)) = bounds {
        let pose = Isometry3::translation(0.0, 0.0, bounds.lower().z);
        let (world, properties) = (BodyIndex::WORLD, ProximityProperties::new());
        let name = "ground of the test";
        plant.register_collision_geometry(&mut scene, world, pose, HalfSpace, name, properties)?;
    }
    Ok((plant, scene, warnings))
}

/// Simulates a plant; returns its state at the end, `[q; v]`.
fn simulate(plant: MultibodyPlantBuilder, scene: SceneGraph, seconds: f64) -> Result<Vec<f64>> {
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.advance_to(seconds)?;
    let mut state = plant.positions(sim.context())?.to_vec();
    state.extend(plant.velocities(sim.context())?.iter());
    Ok(state)
}

fn outcome(file: &Path, packages: &[(String, PathBuf)], seconds: f64) -> Outcome {
    let run = || {
        let refused = |stage| {
            move |why: Error| Outcome::Refused {
                stage,
                why: why.to_string(),
            }
        };
        let (plant, scene, warnings) = load(file, packages).map_err(refused("load"))?;
        let state = simulate(plant, scene, seconds).map_err(refused("simulate"))?;
        if state.iter().all(|x| x.is_finite()) {
            Ok(Outcome::Simulated { warnings })
        } else {
            Err(Outcome::NotFinite)
        }
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(outcome) | Err(outcome)) => outcome,
        Err(cause) => Outcome::Panicked(match cause.downcast::<String>() {
            Ok(text) => *text,
            Err(cause) => cause
                .downcast_ref::<&str>()
                .copied()
                .unwrap_or_default()
                .into(),
        }),
    }
}

#[test]
fn every_reference_model_is_simulated_or_refused_with_a_message() {
    let Some(map) = find("models/packages.json") else {
        return;
    };
    let models = map.parent().unwrap();
    let folders = read_json(&map);
    let folders = folders.as_object().unwrap().iter();
    let mut packages: Vec<(String, PathBuf)> = folders
        .map(|(name, folder)| (name.clone(), models.join(folder.as_str().unwrap())))
        .collect();
    packages.push(("corpus_root".into(), models.into()));
    let seconds = if soak_seconds().is_some() { 1.0 } else { 0.1 };
    let files = model_files(models);
    let outcomes: Vec<(&PathBuf, Outcome)> = files
        .par_iter()
        .map(|file| (file, outcome(file, &packages, seconds)))
        .collect();
    let (mut simulated, mut warned, mut refused) = (0, 0, 0);
    let mut wrong = vec![];
    for (file, outcome) in &outcomes {
        let name = file.strip_prefix(models).unwrap_or(file).display();
        match outcome {
            Outcome::Simulated { warnings } => {
                simulated += 1;
                warned += usize::from(*warnings > 0);
            }
            Outcome::Refused { stage, why } => {
                refused += 1;
                println!("refused {name} ({stage}): {why}");
                if why.trim().is_empty() {
                    wrong.push(format!("{name}: an error without a message"));
                }
            }
            Outcome::Panicked(why) => wrong.push(format!("{name} panicked: {why}")),
            Outcome::NotFinite => wrong.push(format!("{name}: the state is not finite")),
        }
    }
    println!(
        "robustness: {} models, {simulated} simulated for {seconds} s ({warned} with warnings), \
         {refused} refused with a message, {} wrong",
        files.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        files.len() < COMPLETE || simulated >= MINIMUM,
        "{simulated} of {} models are simulated, but at least {MINIMUM} must be",
        files.len()
    );
}

/// Resident memory of this process in pages; `None` where the system does not tell.
fn resident_pages() -> Option<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split_whitespace().nth(1)?.parse().ok()
}

/// Variable that is set in the process that simulates the pile.
const IN_OWN_PROCESS: &str = "TARRAGON_TEST_PILE";

#[test]
fn a_pile_is_simulated_in_constant_memory() {
    if resident_pages().is_none() {
        println!("SKIPPED pile: /proc/self/statm is unavailable");
        return;
    }
    if std::env::var_os(IN_OWN_PROCESS).is_none() {
        // Other tests of this binary run at the same time and allocate.
        let name = "robustness::a_pile_is_simulated_in_constant_memory";
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args([name, "--exact", "--nocapture", "--test-threads=1"]);
        let output = alone.env(IN_OWN_PROCESS, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.lines()
            .filter(|l| l.contains("pile:"))
            .for_each(|l| println!("{l}"));
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{complaint}");
        assert!(
            said.contains("pile:"),
            "the pile must have been simulated: {said}"
        );
        return;
    }
    pile(soak_seconds().unwrap_or(1.0));
}

/// Simulates 20 spheres and boxes that fall onto each other, and compares the memory at the end
/// with that after the first half.
fn pile(seconds: f64) {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    for i in 0..20 {
        let shape = ["<sphere radius='.05'/>", "<box size='.1 .1 .1'/>"][i % 2];
        let model = format!(
            "<robot name='thing{i}'><link name='thing{i}'><inertial><mass value='1'/>
             <inertia ixx='.002' iyy='.002' izz='.002'/></inertial>
             <collision><geometry>{shape}</geometry></collision></link></robot>"
        );
        parser.add_models_from_string(&model, "urdf").unwrap();
    }
    let (world, identity) = (BodyIndex::WORLD, Isometry3::identity());
    let properties = ProximityProperties::new();
    plant
        .register_collision_geometry(&mut scene, world, identity, HalfSpace, "ground", properties)
        .unwrap();
    for i in 0..20 {
        let body = plant.body_by_name(&format!("thing{i}")).unwrap();
        // Five layers of four; the layers overlap sideways, so that the things roll off each other.
        let (layer, place) = ((i / 4) as f64, i % 4);
        let x = 0.11 * (place % 2) as f64 + 0.02 * layer;
        let y = 0.11 * (place / 2) as f64 - 0.03 * layer;
        let pose = Isometry3::translation(x, y, 0.06 + 0.11 * layer);
        plant.set_default_free_body_pose(body, pose).unwrap();
    }
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(seconds / 2.0).unwrap();
    let before = resident_pages().unwrap();
    sim.advance_to(seconds).unwrap();
    let after = resident_pages().unwrap();
    let velocities = plant.velocities(sim.context()).unwrap();
    assert!(velocities.iter().all(|v| v.is_finite()));
    println!("pile: {seconds} s, {before} pages after the first half, {after} at the end");
    // Room for the work space of contacts that appear late, and for the allocator: a leak of a
    // contact or a state per step is several times as large.
    assert!(
        after <= 1.05 * before,
        "the memory grew from {before} to {after} pages"
    );
}
