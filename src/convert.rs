//! `tarragon convert`: writes a model in another format, or a mesh with its tetrahedra refined.

use crate::model::{Extras, ModelArgs};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tarragon::documents::names::shown_suffix;
use tarragon::formats::{ModelOptions, ModelWriter, OutputFormat, WrittenModel};
use tarragon::framework::warnings::collect;
use tarragon::geometry::MeshSource;
use tarragon::geometry::mesh::{
    VolumeMesh, format_vtk, read_volume, refine_volume_mesh, warn_of_faulty_tetrahedra,
};
use tarragon::multibody::MultibodyPlantBuilder;
use tarragon::prelude::*;

/// Time step of the plant (s). It is never written; the output has the time step of the input file,
/// if that states one.
const TIME_STEP: f64 = 0.001;

/// Arguments of `tarragon convert`.
#[derive(clap::Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// File to write; its suffix selects the format: .urdf, .sdf, .xml or .mjcf, or .vtk with
    /// --refine.
    output: PathBuf,
    /// Reads a mesh of tetrahedra (.vtk) in place of a model, and divides the tetrahedra whose
    /// vertices are all on its boundary, which have no hydroelastic contact.
    #[arg(long)]
    refine: bool,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitCode, Box<dyn Error>> {
    if args.refine {
        return refine(args);
    }
    if let Some(mesh) = [&args.model.model, &args.output]
        .into_iter()
        .find(|file| is_vtk(file))
    {
        return Err(format!(
            "{}: a file to convert must be a model, got a mesh of tetrahedra; add --refine to refine \
             a mesh",
            mesh.display()
        )
        .into());
    }
    // An error before the model is loaded.
    OutputFormat::of_file(&args.output)?;
    let (plant, mut scene) = (MultibodyPlantBuilder::new(TIME_STEP)?, SceneGraph::new());
    let mut options = ModelOptions::default();
    let extras = Extras {
        model_options: Some(&mut options),
        ..Extras::default()
    };
    let plant = args.model.load_with(plant, &mut scene, extras)?;
    let mut writer = ModelWriter::with_scene_graph(&plant, &scene);
    if let Some(step) = options.time_step {
        writer.set_time_step(step);
    }
    let written = writer.write_for(&args.output)?;
    let file = args.output.display();
    let warnings: Vec<String> = written
        .diagnostics
        .iter()
        .map(|d| format!("{file}: {}", d.message))
        .collect();
    // Nothing is written if a warning is an error.
    args.model.options.report(&warnings)?;
    written.save(&args.output)?;
    Ok(ExitCode::SUCCESS)
}

fn is_vtk(file: &Path) -> bool {
    file.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("vtk"))
}

/// Refines a mesh and says how many tetrahedra it had and has.
fn refine(args: &ConvertArgs) -> Result<ExitCode, Box<dyn Error>> {
    let (mesh, output) = (&*args.model.model, &*args.output);
    for file in [mesh, output] {
        if !is_vtk(file) {
            return Err(format!(
                "{}: the suffix must be .vtk with --refine, got {}; name files with meshes of \
                 tetrahedra",
                file.display(),
                shown_suffix(file)
            )
            .into());
        }
    }
    let (given, warnings) = collect(|| {
        let given = read_volume(&MeshSource::from(mesh))?;
        warn_of_faulty_tetrahedra(mesh, &given);
        Ok::<_, tarragon::framework::Error>(given)
    });
    let given = given?;
    args.model.options.report(&warnings)?;
    let refined = refine_volume_mesh(&given);
    // A file that appears as a whole.
    let written = WrittenModel {
        text: format_vtk(&refined),
        diagnostics: vec![],
        files: vec![],
    };
    written.save(output)?;
    let counts = |mesh: &VolumeMesh| [mesh.num_elements(), mesh.num_vertices()];
    let ([tetrahedra, vertices], [tetrahedra_before, vertices_before]) =
        (counts(&refined), counts(&given));
    let file = output.display();
    let report = if tetrahedra == tetrahedra_before {
        format!("nothing to refine; tetrahedra: {tetrahedra}, vertices: {vertices}")
    } else {
        format!(
            "tetrahedra: {tetrahedra} (before: {tetrahedra_before}), vertices: {vertices} (before: \
         {vertices_before})"
        )
    };
    writeln!(std::io::stdout().lock(), "{file}: {report}")?;
    Ok(ExitCode::SUCCESS)
}
