//! The `tarragon` command.

mod inspect;
mod model;
mod query;
mod render;
mod stop;
mod sweep;
mod view;
mod warnings;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Robot simulation as dataflow diagrams.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What a parser makes of a model file: bodies, joints, masses, geometries and what it
    /// complains about.
    Inspect(inspect::Args),
    /// Distances and contacts of scenes: reads one scene per line (JSON) and writes one answer per
    /// line.
    Query(query::Args),
    /// Makes pictures of a model, colour, depth and labels, and a video of it turning.
    Render(render::Args),
    /// Moves the joints of a model through their ranges and records where its bodies are. Ctrl-C
    /// ends it early; what was recorded is written all the same.
    Sweep(sweep::Args),
    /// Shows models in a browser, with sliders for their joints and the least distance between
    /// their parts, and reads them again when their files change. Ctrl-C ends it.
    View(view::Args),
}

fn main() -> ExitCode {
    warnings::print();
    let result = match Cli::parse().command {
        Command::Inspect(args) => inspect::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::View(args) => view::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
