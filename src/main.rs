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
    /// Reports what a parser reads from a model file: bodies, joints, masses, geometries and
    /// diagnostics.
    Inspect(inspect::Args),
    /// Computes distances and contacts: reads one scene per line (JSON) and writes one answer per
    /// line.
    Query(query::Args),
    /// Draws a model: colour, depth and label images, and a video of it turning.
    Render(render::Args),
    /// Moves the joints of a model through their ranges and records the positions of its bodies.
    /// Ctrl-C ends it early and keeps what was recorded.
    Sweep(sweep::Args),
    /// Shows models in a browser, with sliders for their joints and the distance between their
    /// closest parts, and reloads them when their files change. Ctrl-C ends it.
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
