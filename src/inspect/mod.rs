//! `tarragon inspect`: prints what a parser reads from a model file.

mod constraints;
mod geometry;
mod mesh;
mod report;
mod samples;
mod tree;

use crate::model;
use mesh::InspectedMesh;
use report::Inspected;
use samples::Positions;
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tarragon::documents::{Diagnostic, Severity};
use tarragon::formats::{MjcfSemantics, Parser};
use tarragon::framework::warnings::collect;
use tarragon::multibody::MultibodyPlantBuilder;
use tarragon::prelude::*;

/// Time step of the plant (s); it affects nothing that is printed.
const TIME_STEP: f64 = 0.001;

/// Arguments of `tarragon inspect`.
#[derive(clap::Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    model: model::ModelArgs,
    /// Positions as a JSON array of objects from `model::joint` to the list of its positions, for
    /// example `[{"arm::elbow": [0.5]}]`; omitted joints stay at their defaults. Prints poses,
    /// masses, gravity and contacts for each element.
    #[arg(long, value_name = "FILE")]
    q: Option<PathBuf>,
    /// Prints everything as one JSON object instead of a tree.
    #[arg(long)]
    json: bool,
}

/// The reason why a model cannot be inspected.
struct Failure {
    /// The stage that failed: `parse` or `finalize`.
    stage: &'static str,
    error: String,
    diagnostics: Vec<Diagnostic>,
}

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode, Box<dyn Error>> {
    let file = &args.model.model;
    if mesh::is_mesh_only(file) {
        let mesh = read_mesh(args)?;
        print(&mesh_answer(args, &mesh, None))?;
        return Ok(ExitCode::SUCCESS);
    }
    let positions = args.q.as_deref().map(samples::read).transpose()?;
    let answer = match load(args)? {
        Ok(inspected) => answer(args, &inspected, positions.as_deref())?,
        // A mesh need not be a model, for which it must have a mass.
        Err(failure) if mesh::is_mesh_and_model(file) && InspectedMesh::read(file).is_ok() => {
            mesh_answer(args, &read_mesh(args)?, Some(&failure.error))
        }
        Err(failure) => {
            if !args.json {
                args.model.options.print(&failure.diagnostics);
                if !failure.diagnostics.iter().any(is_error) {
                    eprintln!("error: {}", failure.error);
                }
                return Ok(ExitCode::FAILURE);
            }
            print(&failure.to_json().to_string())?;
            return Ok(ExitCode::FAILURE);
        }
    };
    print(&answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the file as a mesh. What the reader leaves out are warnings.
fn read_mesh(args: &InspectArgs) -> Result<InspectedMesh, Box<dyn Error>> {
    let (mesh, warnings) = collect(|| InspectedMesh::read(&args.model.model));
    args.model.options.report(&warnings)?;
    mesh
}

/// Describes a file that is a mesh and no model, for the given reason.
fn mesh_answer(args: &InspectArgs, mesh: &InspectedMesh, no_model: Option<&str>) -> String {
    let file = args.model.model.display();
    if args.json {
        return json!({
            "ok": true,
            "stage": "mesh",
            "file": file.to_string(),
            "mesh": mesh.json(),
            "model_error": no_model,
        })
        .to_string();
    }
    let mut text = format!("mesh {file}\n{}", mesh.text());
    if let Some(why) = no_model {
        text += &format!("\nnot usable as a model: {why}");
    }
    text
}

/// Writes a line. A closed pipe is not an error: the reader has seen enough.
fn print(text: &str) -> Result<(), Box<dyn Error>> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

fn load(args: &InspectArgs) -> Result<Result<Inspected, Failure>, Box<dyn Error>> {
    if let Some(error) = mesh::unknown_suffix(&args.model.model) {
        return Ok(Err(Failure {
            stage: "parse",
            error,
            diagnostics: vec![],
        }));
    }
    let mut plant = MultibodyPlantBuilder::new(TIME_STEP)?;
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    args.model.configure(&mut parser)?;
    let added = parser.add_models(&args.model.model);
    let diagnostics = parser.diagnostics().to_vec();
    let mjcf_semantics = parser.model_options().mjcf_semantics;
    let failed = |stage, error: String| Failure {
        stage,
        error,
        diagnostics: diagnostics.clone(),
    };
    let models = match added {
        Ok(models) => models,
        Err(error) => return Ok(Err(failed("parse", error.to_string()))),
    };
    let plant = match plant.build_with_scene(&mut scene) {
        Ok(plant) => plant,
        Err(error) => return Ok(Err(failed("finalize", error.to_string()))),
    };
    Ok(Ok(Inspected {
        plant,
        scene,
        models,
        diagnostics,
        mjcf_semantics,
    }))
}

fn answer(
    args: &InspectArgs,
    inspected: &Inspected,
    positions: Option<&[Positions]>,
) -> Result<String, Box<dyn Error>> {
    let samples = match positions {
        Some(positions) => inspected.samples(positions)?,
        None => vec![],
    };
    let mesh = if mesh::is_mesh_and_model(&args.model.model) {
        Some(InspectedMesh::read(&args.model.model)?)
    } else {
        None
    };
    if args.json {
        let mut report = inspected.report()?;
        report.insert("file".into(), args.model.model.display().to_string().into());
        if let Some(semantics) = inspected.mjcf_semantics {
            let name = match semantics {
                MjcfSemantics::MuJoCo => "mujoco",
                MjcfSemantics::Drake => "drake",
            };
            report.insert("mjcf_semantics".into(), name.into());
        }
        if positions.is_some() {
            report.insert("samples".into(), samples.into());
        }
        if let Some(mesh) = mesh {
            report.insert("mesh".into(), mesh.json());
        }
        return Ok(Value::Object(report).to_string());
    }
    let warnings = args.model.options.lines(&inspected.diagnostics);
    let mut text = tree::draw(inspected, &warnings)?;
    if let Some(mesh) = mesh {
        text += &format!("\nmesh {}\n{}", args.model.model.display(), mesh.text());
    }
    for (i, sample) in samples.iter().enumerate() {
        text += &format!("\nsample {i}: {}", serde_json::to_string_pretty(sample)?);
    }
    Ok(text)
}

impl Failure {
    fn to_json(&self) -> Value {
        let texts = |severity| -> Vec<String> {
            let all = self.diagnostics.iter();
            all.filter(|d| d.severity == severity)
                .map(|d| d.to_string())
                .collect()
        };
        let mut error = json!({ "type": self.stage, "text": self.error });
        if let Some(first) = self.diagnostics.iter().find(|d| is_error(d)) {
            error["file"] = first.file.clone().into();
            error["line"] = first.line.into();
            error["column"] = first.column.into();
        }
        json!({
            "ok": false,
            "stage": self.stage,
            "error": error,
            "errors": texts(Severity::Error),
            "warnings": texts(Severity::Warning),
        })
    }
}
