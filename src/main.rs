//! The `tarragon` command.

mod render;

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
    /// Makes one picture of a model: colour, depth and label image.
    Render(render::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Render(args) => render::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
