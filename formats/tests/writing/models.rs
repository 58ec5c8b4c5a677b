//! The models of the reference set and of the examples, written in every format and read back.
//!
//! The models are those below `models` of the directory named by `TARRAGON_REFERENCE`, else
//! `../shared/reference`; without it, only the examples are written, and a line that begins with
//! `SKIPPED` says so. With `TARRAGON_WRITING_TABLE=FILE`, the outcomes are listed there.

use super::compare::Model;
use super::{FORMATS, RoundTrip, round_trip};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;

pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// All files below a folder whose names end as those of models do, in the order of their paths.
pub(super) fn model_files(folder: &Path) -> Vec<PathBuf> {
    let is_model = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
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

/// Packages of the reference models.
fn packages(models: &Path) -> Vec<(String, PathBuf)> {
    let Ok(text) = std::fs::read(models.join("packages.json")) else {
        return vec![];
    };
    let map: std::collections::BTreeMap<String, PathBuf> = serde_json::from_slice(&text).unwrap();
    map.into_iter()
        .map(|(name, p)| (name, models.join(p)))
        .collect()
}

/// The models of the examples and, where there are some, of the reference set, with its packages.
pub(super) fn examples_and_reference_models() -> (Vec<PathBuf>, Vec<(String, PathBuf)>) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("TARRAGON_REFERENCE").map(|named| here.join(named));
    let models = named
        .unwrap_or(here.join("../../shared/reference"))
        .join("models");
    let mut files = model_files(&here.join("../examples/models"));
    let mut all = vec![];
    if models.is_dir() {
        files.extend(model_files(&models));
        all = packages(&models);
    } else {
        say(&format!(
            "SKIPPED reference models: no {}",
            models.display()
        ))
    }
    (files, all)
}

/// Loads a model; `None` if it is refused.
pub(super) fn load(file: &Path, packages: &[(String, PathBuf)]) -> Option<Model> {
    load_as(file, packages, MjcfSemantics::default())
}

/// Same as [`load`], with a reading of MJCF.
pub(super) fn load_as(
    file: &Path,
    packages: &[(String, PathBuf)],
    semantics: MjcfSemantics,
) -> Option<Model> {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001).ok()?, SceneGraph::new());
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_mjcf_semantics(semantics);
    for (name, folder) in packages {
        parser.package_map_mut().add(name, folder).ok()?;
    }
    parser.add_models(file).ok()?;
    let plant = plant.build_with_scene(&mut scene).ok()?;
    Some(Model { plant, scene })
}

#[test]
fn models_are_read_back_as_they_were() {
    let (files, all) = examples_and_reference_models();
    let read_in_two_ways = files.into_iter().flat_map(|file| {
        let is_mjcf = file.extension().is_some_and(|suffix| suffix == "xml");
        let as_drake = is_mjcf.then(|| (file.clone(), MjcfSemantics::Drake));
        [(file, MjcfSemantics::MuJoCo)].into_iter().chain(as_drake)
    });
    let cases: Vec<(PathBuf, MjcfSemantics)> = read_in_two_ways.collect();
    let outcomes: Vec<(PathBuf, Vec<RoundTrip>)> = cases
        .into_par_iter()
        .filter_map(|(file, semantics)| {
            let model = load_as(&file, &all, semantics)?;
            let trips = FORMATS.map(|(format, _)| round_trip(&model, format));
            Some((file, trips.into()))
        })
        .collect();
    let mut table = String::new();
    let mut failures = vec![];
    for (i, (_, name)) in FORMATS.iter().enumerate() {
        let (mut equal, mut told, mut failed) = (0, 0, 0);
        for (file, trips) in &outcomes {
            let file = file.display();
            match &trips[i] {
                RoundTrip::Equal => equal += 1,
                RoundTrip::Told(messages) => {
                    told += 1;
                    let _ = writeln!(table, "TOLD {name} {file}: {}", messages.join("; "));
                }
                RoundTrip::Wrong(differences) => {
                    failed += 1;
                    let few = &differences[..differences.len().min(4)];
                    let _ = writeln!(table, "WRONG {name} {file}: {}", differences.join("; "));
                    failures.push(format!("{name} {file}: {}", few.join("; ")));
                }
            }
        }
        say(&format!(
            "writing {name}: {equal} equal, {told} with diagnostics"
        ));
        say(&format!(
            "writing {name}: {} cases, {failed} failed",
            outcomes.len()
        ));
    }
    if let Some(path) = std::env::var_os("TARRAGON_WRITING_TABLE") {
        std::fs::write(path, table).unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
