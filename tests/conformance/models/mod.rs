//! Robot models: the output of `tarragon inspect` for every model of the reference set, compared
//! with Drake's result.
//!
//! With `TARRAGON_MODEL_TABLE=FILE`, writes a table of all models there.

mod compare;

use crate::kinematics::{items, text};
use crate::support::{Family, find, read_json};
use compare::{ASPECTS, Comparison};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Number of models in the complete reference set, and how many of them must agree.
const COMPLETE: usize = 314;
const MINIMUM: usize = 314;

/// Models that Drake refuses because it lacks a feature, and that are accepted here.
const ACCEPTED: [(&str, &str); 8] = [
    ("unsupported extension '.stl'", "STL collision geometry"),
    (
        "only supports mesh files in .obj format",
        "STL meshes in MJCF",
    ),
    (
        "but also has a mesh attribute",
        "MJCF shapes fitted to meshes",
    ),
    (
        "this is not allowed for type 'sdf'",
        "MJCF shapes with signed distance functions",
    ),
    ("unsupported extension '.dae'", "Collada collision geometry"),
    (
        "not defined in SDF. Copying",
        "elements of vendors, which are reported",
    ),
    (
        "is greater than the given static friction",
        "friction by directions, of which the smaller one acts",
    ),
    (
        "velocity_decay/linear",
        "bad values of elements without effect, which are reported",
    ),
];

/// Result for one model.
enum Outcome {
    Compared(Comparison),
    /// Both refuse it.
    Refused {
        ours: String,
        drake: String,
    },
    /// Drake lacks a feature that the model needs.
    Accepted {
        because: &'static str,
    },
    /// Only one of them refuses it, without a good reason.
    Disputed {
        ours: String,
        drake: String,
    },
}

/// Runs `tarragon inspect` on a model of the reference set.
fn inspect(root: &Path, entry: &Value, truth: &Value, scratch: &TempDir) -> Value {
    let id = text(&entry["id"]);
    let models = root.join("models");
    let file = text(&entry["file"]);
    let mut model = models.join(file);
    if let Some(name) = entry["named"].as_str() {
        model = scratch
            .path()
            .join(format!("{}.dmd.yaml", id.replace('/', "_")));
        let url = format!("package://corpus_root/{file}");
        let directive = json!({ "directives": [{ "add_model": { "name": name, "file": url } }] });
        // JSON is valid YAML.
        std::fs::write(&model, directive.to_string()).unwrap();
    }
    let positions: Vec<&Value> = items(&truth["samples"])
        .iter()
        .map(|s| &s["q_by_joint"])
        .collect();
    let q = scratch
        .path()
        .join(format!("{}.q.json", id.replace('/', "_")));
    std::fs::write(&q, json!(positions).to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command
        .arg("inspect")
        .arg(model)
        .args(["--mjcf-semantics", "drake"])
        .arg("--json")
        .arg("--q")
        .arg(q);
    command
        .arg("--packages")
        .arg(scratch.path().join("packages.json"));
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        json!({ "ok": false, "crashed": true, "error": { "text": format!("{e}: {complaint}") } })
    })
}

fn judge(ours: &Value, truth: &Value) -> Outcome {
    let complaints = || {
        let drake = text(&truth["error"]["text"]).to_string();
        (text(&ours["error"]["text"]).to_string(), drake)
    };
    match (ours["ok"] == true, truth["ok"] == true) {
        (true, true) => Outcome::Compared(Comparison::new(ours, truth)),
        (true, false) => {
            let (ours, drake) = complaints();
            let known = ACCEPTED.iter().find(|(reason, _)| drake.contains(reason));
            match known {
                Some((_, because)) => Outcome::Accepted { because },
                None => Outcome::Disputed { ours, drake },
            }
        }
        (false, false) if ours["crashed"] != true => {
            let (ours, drake) = complaints();
            Outcome::Refused { ours, drake }
        }
        _ => {
            let (ours, drake) = complaints();
            Outcome::Disputed { ours, drake }
        }
    }
}

#[test]
fn models_are_read_as_by_drake() {
    let Some(manifest) = find("manifest.json") else {
        return;
    };
    let root = manifest.parent().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let models = root.join("models");
    let mut packages = read_json(&models.join("packages.json"));
    for folder in packages.as_object_mut().unwrap().values_mut() {
        *folder = models
            .canonicalize()
            .unwrap()
            .join(text(folder))
            .display()
            .to_string()
            .into();
    }
    packages["corpus_root"] = models.canonicalize().unwrap().display().to_string().into();
    std::fs::write(scratch.path().join("packages.json"), packages.to_string()).unwrap();
    let manifest = read_json(&manifest);
    let mut family = Family::new("models");
    let outcomes: Vec<(&Value, Outcome)> = items(&manifest)
        .par_iter()
        .map(|entry| {
            let truth = format!("{}.json.gz", text(&entry["id"]));
            let truth = read_json(&root.join("truth_models").join(truth));
            (
                entry,
                judge(&inspect(root, entry, &truth, &scratch), &truth),
            )
        })
        .collect();
    let mut agreed = 0;
    for (entry, outcome) in &outcomes {
        let id = text(&entry["id"]);
        let errors = match outcome {
            Outcome::Compared(c) => {
                c.differences
                    .iter()
                    .for_each(|(aspect, d)| println!("DIFFERENT {id}: {aspect}: {d}"));
                vec![("differences", c.differences.len() as f64, 0.0)]
            }
            Outcome::Refused { ours, drake } => {
                println!("refused {id}: {ours}; Drake: {drake}");
                vec![]
            }
            Outcome::Accepted { because } => {
                println!("ACCEPTED {id}: {because}");
                vec![]
            }
            Outcome::Disputed { ours, drake } => {
                println!("DISPUTED {id}: ours: {ours}; Drake: {drake}");
                vec![("disputed", 1.0, 0.0)]
            }
        };
        agreed += usize::from(errors.iter().all(|(_, error, limit)| error <= limit));
        family.case(|| id.to_string(), &errors);
    }
    println!("{agreed} of {} models agree", outcomes.len());
    if let Some(path) = std::env::var_os("TARRAGON_MODEL_TABLE") {
        std::fs::write(path, table(&outcomes)).unwrap();
    }
    family.finish();
    assert!(
        outcomes.len() < COMPLETE || agreed >= MINIMUM,
        "{agreed} models agree, but at least {MINIMUM} must"
    );
}

/// The table: one line per model with the aspects that agree.
fn table(outcomes: &[(&Value, Outcome)]) -> String {
    let mut text = String::from(
        "# Models of the reference set\n\n\
         Written by `TARRAGON_MODEL_TABLE=docs/models.md cargo test --test conformance models`. `=` means\n\
         agreement with the values recorded from Drake 1.51.1: names, counts and limits exactly, poses to\n\
         1e-10, other numbers to 1e-9. \"Refused\" means that Drake refuses the file as well.\n\n",
    );
    writeln!(
        text,
        "| model | format | parsed | {} |",
        ASPECTS.join(" | ")
    )
    .unwrap();
    writeln!(text, "|---|---|---|{}", "---|".repeat(ASPECTS.len())).unwrap();
    for (entry, outcome) in outcomes {
        let parsed = match outcome {
            Outcome::Compared(_) => "yes".to_string(),
            Outcome::Refused { .. } => "refused".into(),
            Outcome::Accepted { because } => format!("yes; Drake lacks {because}"),
            Outcome::Disputed { .. } => "disputed".into(),
        };
        let aspects = ASPECTS.map(|aspect| match outcome {
            Outcome::Compared(c) => {
                match c.differences.iter().filter(|(a, _)| *a == aspect).count() {
                    0 => "=".to_string(),
                    n => format!("{n} differ"),
                }
            }
            _ => String::new(),
        });
        let (id, format) = (
            crate::kinematics::text(&entry["id"]),
            crate::kinematics::text(&entry["fmt"]),
        );
        writeln!(
            text,
            "| {id} | {format} | {parsed} | {} |",
            aspects.join(" | ")
        )
        .unwrap();
    }
    text.push('\n');
    text.push_str(include_str!("pictures.md"));
    text
}
