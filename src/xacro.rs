//! `tarragon xacro`: prints the XML that a xacro file stands for.

use crate::model;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `tarragon xacro`.
#[derive(clap::Args)]
pub(crate) struct XacroArgs {
    /// Xacro file.
    file: PathBuf,
    /// Values of the file's arguments, as NAME:=VALUE.
    #[arg(value_name = "NAME:=VALUE")]
    arguments: Vec<String>,
    #[command(flatten)]
    options: model::SourceOptions,
    /// Prints the files that were read instead, one a line.
    #[arg(long)]
    deps: bool,
}

pub(crate) fn run(args: &XacroArgs) -> Result<ExitCode, Box<dyn Error>> {
    let (text, files) = args.options.expand(&args.file, &args.arguments)?;
    let text = if args.deps {
        files
            .iter()
            .map(|file| format!("{}\n", file.display()))
            .collect()
    } else {
        text
    };
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        // The reader has seen enough.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        other => Ok(other.map(|()| ExitCode::SUCCESS)?),
    }
}
