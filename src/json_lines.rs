//! Commands that read one JSON value per line and write one answer per line, in the same order.

use rayon::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Maximum length of a line (bytes), so that memory is bounded.
const LONGEST_LINE: u64 = 64 << 20;
/// Number of lines that are read ahead, per thread.
const READ_AHEAD: usize = 8;

/// Where lines come from and answers go.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct LinesArgs {
    /// File of lines, JSON Lines; `-` or none reads standard input.
    input: Option<PathBuf>,
    /// File for the answers, written as they are computed; standard output by default.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exits with status 1 if any line could not be answered; by default only if the input cannot
    /// be read or the output cannot be written.
    #[arg(long)]
    strict: bool,
    /// Number of threads [default: all cores]. The answers do not depend on it.
    #[arg(long, value_name = "N", value_parser = positive_count)]
    threads: Option<NonZeroUsize>,
}

/// One line of the input with its number.
pub(crate) struct InputLine {
    pub(crate) number: usize,
    pub(crate) text: Vec<u8>,
}

impl LinesArgs {
    /// Returns the input file; `None` for standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.input.as_deref().filter(|path| *path != Path::new("-"))
    }
}

/// Answers lines until the input ends or the reader of the output goes away.
pub(crate) fn run(
    args: &LinesArgs,
    answer: impl Fn(&InputLine) -> Result<Answered, String> + Sync,
    failed: impl Fn(&str) -> Answered + Sync,
) -> Result<ExitCode, Box<dyn Error>> {
    let file = args.file();
    let name = file.map_or("standard input".into(), |path| {
        format!("'{}'", path.display())
    });
    let unreadable = |e: io::Error| format!("cannot read {name}: {e}");
    let input: Box<dyn BufRead + Send> = match file {
        None => Box::new(BufReader::new(io::stdin())),
        Some(path) => {
            let file = File::open(path).map_err(unreadable)?;
            Box::new(BufReader::new(file))
        }
    };
    let mut output = open_output(args.output.as_deref(), file)?;
    let to = args
        .output
        .as_ref()
        .map_or("standard output".into(), |path| {
            format!("'{}'", path.display())
        });

    let threads = args.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let ahead = READ_AHEAD * pool.current_num_threads();
    let (sender, lines) = sync_channel(ahead);
    // Never joined: it may still be waiting for input when nobody reads answers.
    std::thread::spawn(move || read_lines(input, &sender));

    let answer = |line: &InputLine| answer_line(line, &answer, &failed);
    let mut any_failed = false;
    while let Some(batch) = next_batch(&lines, ahead) {
        let good: Vec<&InputLine> = batch.iter().flatten().collect();
        let answers: Vec<Answered> =
            pool.install(|| good.par_iter().map(|line| answer(line)).collect());
        any_failed |= answers.iter().any(|answered| answered.failed);
        match write(&answers, &mut output) {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written.map_err(|e| format!("cannot write {to}: {e}"))?,
        }
        if let Some(e) = batch.into_iter().find_map(Result::err) {
            return Err(unreadable(e).into());
        }
    }
    Ok(if any_failed && args.strict {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes lines and flushes them, so that waiting readers get them immediately.
fn write(answers: &[Answered], output: &mut dyn Write) -> io::Result<()> {
    for answered in answers {
        writeln!(output, "{}", answered.json)?;
    }
    output.flush()
}

/// Opens the output, a file or standard output. A file must not be the input.
fn open_output(path: Option<&Path>, input: Option<&Path>) -> Result<Box<dyn Write>, String> {
    let Some(path) = path else {
        return Ok(Box::new(BufWriter::new(io::stdout().lock())));
    };
    let problem = |e| format!("cannot write '{}': {e}", path.display());
    let same = |input: &Path| match (path.canonicalize(), input.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && b.is_file(),
        _ => false,
    };
    if input.is_some_and(same) {
        return Err(format!(
            "cannot write '{}': it is the input; choose another file for --output",
            path.display()
        ));
    }
    Ok(Box::new(BufWriter::new(
        File::create(path).map_err(problem)?,
    )))
}

/// Sends non-blank lines until the input ends or fails, or the receiver goes away.
fn read_lines(mut input: impl BufRead, lines: &SyncSender<io::Result<InputLine>>) {
    for number in 1.. {
        let mut text = Vec::new();
        let read = (&mut input)
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut text);
        let rest = match read {
            Ok(0) => return,
            Ok(_) if text.len() as u64 > LONGEST_LINE && !text.ends_with(b"\n") => {
                input.skip_until(b'\n').map(|_| ())
            }
            read => read.map(|_| ()),
        };
        let is_blank = text.iter().all(u8::is_ascii_whitespace);
        if rest.is_ok() && is_blank {
            continue;
        }
        let failed = rest.is_err();
        let line = rest.map(|()| InputLine { number, text });
        if lines.send(line).is_err() || failed {
            return;
        }
    }
}

/// Waits for a line, and takes further lines that are ready; None at the end of the input.
fn next_batch(
    lines: &Receiver<io::Result<InputLine>>,
    most: usize,
) -> Option<Vec<io::Result<InputLine>>> {
    let mut batch = vec![lines.recv().ok()?];
    batch.extend(lines.try_iter().take(most - 1));
    Some(batch)
}

/// One line of the output.
pub(crate) struct Answered {
    pub(crate) json: String,
    pub(crate) failed: bool,
}

/// Answers one line, whatever it contains.
fn answer_line(
    line: &InputLine,
    answer: &impl Fn(&InputLine) -> Result<Answered, String>,
    failed: &impl Fn(&str) -> Answered,
) -> Answered {
    let solve = || {
        if line.text.len() as u64 > LONGEST_LINE {
            return Err(format!("the line must have at most {LONGEST_LINE} bytes"));
        }
        answer(line)
    };
    // No panic is known; should one occur, the other lines are still answered.
    let solved = std::panic::catch_unwind(std::panic::AssertUnwindSafe(solve));
    let solved = solved.unwrap_or_else(|_| {
        Err("internal error, described on standard error; please report it with this line".into())
    });
    solved.unwrap_or_else(|error| failed(&format!("line {}: {error}", line.number)))
}

/// Parses a number of threads.
fn positive_count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.trim().parse();
    count.map_err(|_| "must be a whole number of at least 1; leave it out to use all cores".into())
}

/// Returns the message of serde with the column, because its line counts within this line.
pub(crate) fn json_error(e: &serde_json::Error) -> String {
    let (message, column) = (e.to_string(), e.column());
    let message = message.rsplit_once(" at line ").map_or(&*message, |m| m.0);
    if e.is_data() {
        format!("column {column}: the JSON does not have the required structure: {message}")
    } else {
        format!("column {column}: invalid JSON: {message}")
    }
}
