//! The `tarragon` command.

mod convert;
mod dynamics;
mod files;
#[cfg(feature = "gpu")]
mod gpu;
mod inspect;
mod json_lines;
mod model;
mod page;
mod query;
mod render;
mod render_server;
mod simulate;
mod sky;
mod stop;
mod sweep;
mod view;
mod warnings;
mod xacro;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Robot simulation as dataflow diagrams.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Prints every message. By default, one line summarizes similar messages.
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Writes a model as URDF, SDFormat or MJCF, with a warning for everything that the format
    /// cannot express. With --refine, writes a mesh whose tetrahedra all have hydroelastic contact.
    Convert(convert::ConvertArgs),
    /// Simulates models and computes accelerations, forces and gradients: reads one case per line
    /// (JSON) and writes one answer per line.
    Dynamics(dynamics::DynamicsArgs),
    /// Lists the adapters that the GPU render engine can use, and their limits.
    #[cfg(feature = "gpu")]
    Gpu,
    /// Reports what a parser reads from a model file: bodies, joints, masses, geometries,
    /// constraints and diagnostics. For a mesh file (.obj, .stl, .gltf, .glb, .dae, .vtk), reports
    /// bounds, faces, volume and inertia, and whether it is closed.
    Inspect(inspect::InspectArgs),
    /// Computes distances and contacts: reads one scene per line (JSON) and writes one answer per
    /// line.
    Query(query::QueryArgs),
    /// Draws a model: colour, depth and label images, and a video of it turning.
    Render(render::RenderArgs),
    /// Serves images to Drake's `RenderEngineGltfClient` and other clients of its glTF render
    /// protocol. The first line of output is its address. Ctrl-C ends it.
    RenderServer(render_server::RenderServerArgs),
    /// Simulates a model, which falls and moves in a browser, or a scenario, an experiment in YAML
    /// with the keys of Drake's `hardware_sim`. Ctrl-C ends it and keeps what was recorded.
    Simulate(simulate::SimulateArgs),
    /// Moves the joints of a model through their ranges and records the positions of its bodies.
    /// Ctrl-C ends it early and keeps what was recorded.
    Sweep(sweep::SweepArgs),
    /// Shows models in a browser, with sliders for their joints and the distance between their
    /// closest parts, and reloads them when their files change. Ctrl-C ends it.
    View(view::ViewArgs),
    /// Prints the XML that a xacro file stands for, as the program `xacro` of ROS 2 does.
    Xacro(xacro::XacroArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    warnings::print(cli.verbose);
    let result = match cli.command {
        Command::Convert(args) => convert::run(&args),
        Command::Dynamics(args) => dynamics::run(&args),
        #[cfg(feature = "gpu")]
        Command::Gpu => gpu::run(),
        Command::Inspect(args) => inspect::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Render(args) => render::run(&args),
        Command::RenderServer(args) => render_server::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::View(args) => view::run(&args),
        Command::Xacro(args) => xacro::run(&args),
    };
    warnings::print_rest();
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
