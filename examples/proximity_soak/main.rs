//! Runs random and adversarial scenes through all proximity queries, and reports failures so that
//! they can be replayed: `cargo run --release --example proximity_soak [COUNT] [SEED] [FIRST]`.
//!
//! Scene number N of a seed is always the same, whichever scenes are run. Failing scenes are
//! appended as lines for `tarragon query` to `target/proximity_soak/findings.jsonl`, with their
//! meshes next to it.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

mod checks;
mod scenes;
#[path = "../support/truth.rs"]
#[allow(dead_code, reason = "shared with proximity_accuracy")]
mod truth;

use scenes::{AnyError, Scene};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Number of findings of one kind that are shown and written.
const SHOWN: usize = 5;

fn main() -> Result<ExitCode, AnyError> {
    let number = |text: String| {
        let usage = "proximity_soak [COUNT] [SEED] [FIRST]";
        text.parse::<u64>().map_err(|e| {
            format!("arguments must be whole numbers, got '{text}': {e}; usage: {usage}")
        })
    };
    let mut args = std::env::args().skip(1).map(number);
    let mut next = |default: u64| args.next().unwrap_or(Ok(default));
    let (count, seed, first) = (next(100_000)?, next(1)?, next(0)?);
    let folder = Path::new("target/proximity_soak");
    create_dir_all(folder)?;
    // An absolute path, so that lines can be replayed from any directory.
    let folder = folder.canonicalize()?;
    let mut findings: BTreeMap<String, usize> = BTreeMap::new();
    let mut file: Option<File> = None;
    let (start, mut pairs) = (Instant::now(), 0);
    for number in first..first + count {
        let scene = Scene::random(seed, number)?;
        let checked = catch_unwind(AssertUnwindSafe(|| checks::check(&scene)));
        let found = match checked {
            Ok(Ok((tested, found))) => {
                pairs += tested;
                found
            }
            Ok(Err(finding)) => vec![finding],
            Err(_) => vec![checks::Finding {
                kind: "panic".into(),
                what: "see standard error".into(),
            }],
        };
        for finding in found {
            let seen = findings.entry(finding.kind.clone()).or_default();
            *seen += 1;
            if *seen > SHOWN {
                continue;
            }
            let line = scene.line(&folder, &format!("seed{seed}_scene{number}"))?;
            println!(
                "seed {seed} scene {number}: {}: {}\n{line}",
                finding.kind, finding.what
            );
            let file = match &mut file {
                Some(file) => file,
                none => {
                    let mut options = OpenOptions::new();
                    let path = folder.join("findings.jsonl");
                    none.insert(options.create(true).append(true).open(path)?)
                }
            };
            writeln!(file, "{line}")?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{count} scenes, {pairs} pairs, {seconds:.1} s, {:.0} scenes/s; findings: {findings:?}",
        count as f64 / seconds
    );
    Ok(if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
