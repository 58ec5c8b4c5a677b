//! `tarragon query`: computes distances and contacts of scenes, one scene per line.

mod answer;
mod fields;
mod scene;

use rayon::prelude::*;
use scene::{MeshFiles, Scene};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Description of the formats, for `--help`.
const FORMAT: &str = r#"One scene, on one line of the input:
  {"geometries": [
     {"name": "ball",  "shape": {"type": "Sphere", "radius": 0.125}, "pose": [1,0,0,0, 0,0,0.375]},
     {"name": "floor", "shape": {"type": "HalfSpace"}, "pose": [1,0,0,0, 0,0,0], "anchored": true}],
   "queries": ["signed_distance"]}
One answer, on one line of the output:
  {"penetration": [], "signed_distance": [{"a": "ball", "b": "floor", "distance": 0.25,
    "nhat_ba_w": [0.0,0.0,1.0], "p_aca": [0.0,0.0,-0.125], "p_bcb": [0.0,0.0,0.0]}], "point": [], "error": null}

Scene:
  geometries    each has a unique name, a shape, a pose in the world [qw,qx,qy,qz,x,y,z] (m; the quaternion
                is normalized), and may be anchored (default false). Pairs of anchored geometries are not tested.
  queries       any of "penetration", "signed_distance", "point"; by default the first two, and the third if
                there is a point
  max_distance  pairs farther apart (m), or overlapping less if negative, are left out of signed_distance;
                default null: no limit
  point         [x,y,z] in the world (m), for the query "point"
  scalar        "f64" (default) or "autodiff"
Shapes (m):
  {"type": "Box", "size": [x,y,z]}                {"type": "Sphere", "radius": r}
  {"type": "Ellipsoid", "abc": [a,b,c]}           {"type": "HalfSpace"}: all of z <= 0
  {"type": "Cylinder", "radius": r, "length": l}  {"type": "Capsule", "radius": r, "length": l}
  {"type": "Convex", "file": path, "scale3": s}   {"type": "Mesh", "file": path, "scale3": s}
  s is one factor or three, default 1. A relative path is searched in the current directory, then in that of the
  input file. Every file is read once.
Answer:
  penetration      a, b, depth, nhat_ba_w (unit normal out of B into A), p_wca, p_wcb (in the world)
  signed_distance  a, b, distance, nhat_ba_w, p_aca (in the frame of A), p_bcb (in that of B)
  point            g, distance, grad_w, p_gn (in the frame of the geometry)
  error            null, or "line N: ..." with the place in the scene; the lists then hold what could be answered
Pairs and geometries are in the order of "geometries". Numbers have enough digits to read back the same
double (at most 17); infinities are "inf" and "-inf". With autodiff every number is {"v": value, "d": [...]}, d
being the six derivatives by the position in the world (3), then by a rotation vector about the world's axes at
the frame's origin (3), of the first geometry, anchored or not.
Blank lines are skipped. Every other line gets one answer, in the order of the input, as soon as it is known."#;

/// Maximum length of a line (bytes), so that memory is bounded.
const LONGEST_LINE: u64 = 64 << 20;
/// Number of lines that are read ahead, per thread.
const READ_AHEAD: usize = 8;

/// Arguments of `tarragon query`.
#[derive(clap::Args)]
#[command(after_long_help = FORMAT)]
pub(crate) struct Args {
    /// File of scenes, JSON Lines; `-` or none reads standard input.
    input: Option<PathBuf>,
    /// File for the answers, written as they are computed; standard output by default.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exits with status 1 if any line could not be answered; by default only if the input cannot
    /// be read or the output cannot be written.
    #[arg(long)]
    strict: bool,
    /// Number of threads [default: all cores]. The answers do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// One line of the input with its number.
struct Line {
    number: usize,
    text: Vec<u8>,
}

/// Answers lines until the input ends or the reader of the output goes away.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let file = args.input.as_deref().filter(|path| *path != Path::new("-"));
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
    let folder = file.and_then(Path::parent).map(Path::to_path_buf);
    let meshes = MeshFiles::new(folder);
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

    let mut failed = false;
    while let Some(batch) = next_batch(&lines, ahead) {
        let good: Vec<&Line> = batch.iter().flatten().collect();
        let answers: Vec<Answered> =
            pool.install(|| good.par_iter().map(|line| answer(line, &meshes)).collect());
        failed |= answers.iter().any(|answered| answered.failed);
        match write(&answers, &mut output) {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written.map_err(|e| format!("cannot write {to}: {e}"))?,
        }
        if let Some(e) = batch.into_iter().find_map(Result::err) {
            return Err(unreadable(e).into());
        }
    }
    Ok(if failed && args.strict {
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
fn read_lines(mut input: impl BufRead, lines: &SyncSender<io::Result<Line>>) {
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
        let line = rest.map(|()| Line { number, text });
        if lines.send(line).is_err() || failed {
            return;
        }
    }
}

/// Waits for a line, and takes further lines that are ready; None at the end of the input.
fn next_batch(lines: &Receiver<io::Result<Line>>, most: usize) -> Option<Vec<io::Result<Line>>> {
    let mut batch = vec![lines.recv().ok()?];
    batch.extend(lines.try_iter().take(most - 1));
    Some(batch)
}

/// One line of the output.
struct Answered {
    json: String,
    failed: bool,
}

/// Answers one line, whatever it contains.
fn answer(line: &Line, meshes: &MeshFiles) -> Answered {
    let solve = || {
        if line.text.len() as u64 > LONGEST_LINE {
            return Err(format!("the line must have at most {LONGEST_LINE} bytes"));
        }
        Scene::parse(&line.text, meshes).and_then(|scene| answer::answer(&scene, line.number))
    };
    // No panic is known; should one occur, the other lines are still answered.
    let solved = std::panic::catch_unwind(std::panic::AssertUnwindSafe(solve));
    let solved = solved.unwrap_or_else(|_| {
        Err("internal error, described on standard error; please report it with this line".into())
    });
    solved.unwrap_or_else(|error| answer::failed(&format!("line {}: {error}", line.number)))
}
