//! Builds the viewer page in `viewer/` with Node.js, or says in its place how to get it.
//!
//! `OUT_DIR/dist` always holds `page.html`, `viewer.js`, `viewer.js.gz`, `boot.js`, `LICENSES.txt`
//! and `built` ("yes" or "no"). Nothing is written outside of `OUT_DIR`; packages come by `npm ci`,
//! with the versions and checksums of `package-lock.json` and without running any of their scripts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// "off" skips the viewer. Any other change of it makes cargo try again, which does not notice a
/// new Node.js.
const SWITCH: &str = "TARRAGON_VIEWER_BUILD";

/// What is in `viewer/` besides what the page is made of.
const NOT_SOURCES: [&str; 6] = [
    ".gitignore",
    "README.md",
    "dist",
    "node_modules",
    "test.mjs",
    "tests",
];

/// The lock file that an installation was made from, beside it.
const INSTALLED: &str = "installed-lock.json";

fn main() {
    println!("cargo:rerun-if-env-changed={SWITCH}");
    println!("cargo:rerun-if-changed=build.rs");
    let source =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("viewer");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let dist = out.join("dist");
    if let Err(reason) = build(&source, &out.join("viewer"), &dist) {
        println!(
            "cargo:warning=the Meshcat viewer was not built: {reason}. Programs will serve a page that says \
             how to get it: install Node.js 20 or newer with npm and build again with {SWITCH}=on, or set \
             TARRAGON_VIEWER to the directory of a built viewer when running them"
        );
        if let Err(error) = write_substitute(&dist, &reason) {
            // Without the files the crate does not compile, and says so less clearly.
            println!("cargo:warning={}: {error}", dist.display());
            std::process::exit(1);
        }
    }
}

/// Builds the page of `source` in `work` and writes it to `dist`; an error is the reason, on one
/// line.
fn build(source: &Path, work: &Path, dist: &Path) -> Result<(), String> {
    watch(source).map_err(|e| format!("{}: {e}", source.display()))?;
    if env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return Err(format!("{SWITCH} is off"));
    }
    check_node()?;
    copy(source, work).map_err(|e| format!("{}: {e}", work.display()))?;
    install(work)?;
    // What an interrupted or older build has left is not to be taken for a result.
    remove(dist).map_err(|e| format!("{}: {e}", dist.display()))?;
    run(
        Command::new("node")
            .arg("build.mjs")
            .arg(dist)
            .current_dir(work),
        "node build.mjs",
    )?;
    fs::write(dist.join("built"), "yes").map_err(|e| format!("{}: {e}", dist.display()))
}

/// Asks cargo to build again when a file of the page changes, or comes or goes in a directory of
/// it.
fn watch(directory: &Path) -> io::Result<()> {
    // Of the directory itself cargo would look at everything, installed packages included.
    for (path, _) in entries(directory)? {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// The sources in a directory, and which of them are directories.
fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut out = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !NOT_SOURCES.iter().any(|name| entry.file_name() == *name) {
            out.push((entry.path(), entry.file_type()?.is_dir()));
        }
    }
    Ok(out)
}

/// Makes the sources in `to` what they are in `from`; what npm has installed there stays.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for (old, is_directory) in entries(to)? {
        let name = old.file_name().unwrap_or_default();
        if name == INSTALLED || from.join(name).exists() {
            continue;
        }
        if is_directory {
            fs::remove_dir_all(old)?;
        } else {
            fs::remove_file(old)?;
        }
    }
    for (path, is_directory) in entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if is_directory {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn check_node() -> Result<(), String> {
    let found = run(Command::new("node").arg("--version"), "node --version")?;
    let major = found
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|n| n.parse::<u32>().ok());
    match major {
        Some(20..) => Ok(()),
        _ => Err(format!(
            "Node.js 20 or newer is needed, found {}",
            found.trim()
        )),
    }
}

/// Installs the packages of the lock file, unless they are there.
fn install(work: &Path) -> Result<(), String> {
    let name = |e: io::Error| format!("{}: {e}", work.display());
    let lock = fs::read(work.join("package-lock.json")).map_err(name)?;
    let mark = work.join(INSTALLED);
    if fs::read(&mark).is_ok_and(|installed| installed == lock)
        && work.join("node_modules").is_dir()
    {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let arguments = [
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ];
    run(
        Command::new(npm).args(arguments).current_dir(work),
        "npm ci",
    )?;
    // Last, so that an installation that was interrupted is made again.
    fs::write(&mark, lock).map_err(name)
}

/// Runs a program and gives back what it wrote.
fn run(command: &mut Command, what: &str) -> Result<String, String> {
    let output = command.output().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("{what}: the program is not installed"),
        _ => format!("{what}: {e}"),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(4)
        .collect();
    Err(format!("{what}: {}: {}", output.status, lines.join("; ")))
}

/// A page in place of the viewer.
fn write_substitute(dist: &Path, reason: &str) -> io::Result<()> {
    remove(dist)?;
    fs::create_dir_all(dist)?;
    let reason = reason.replace('&', "&amp;").replace('<', "&lt;");
    fs::write(
        dist.join("page.html"),
        SUBSTITUTE.replace("REASON", &reason),
    )?;
    for name in ["viewer.js", "viewer.js.gz", "boot.js", "LICENSES.txt"] {
        fs::write(dist.join(name), "")?;
    }
    fs::write(dist.join("built"), "no")
}

const SUBSTITUTE: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tarragon: the viewer was not built</title>
<link rel="icon" href="data:,">
<style>
body { font: 16px/1.6 system-ui, sans-serif; max-width: 38em; margin: 12vh auto; padding: 0 1.5em }
code { background: rgb(128 128 128 / 18%); padding: .1em .35em; border-radius: 4px }
small { opacity: .7 }
</style>
</head>
<body>
<h1>The viewer was not built</h1>
<p>The server runs, and programs can talk to it. The page that shows the scene is missing from this build of tarragon. To get it, do one of these:</p>
<ol>
<li>Install <a href="https://nodejs.org">Node.js</a> 20 or newer, with npm, and build the program again with the environment variable <code>TARRAGON_VIEWER_BUILD=on</code>, so that cargo looks for it. The first build fetches the page's packages.</li>
<li>Set the environment variable <code>TARRAGON_VIEWER</code> to a directory with a built viewer (<code>node build.mjs DIRECTORY</code> in <code>visualization/viewer</code> makes one), and start the program again.</li>
</ol>
<p><small>Reason: REASON</small></p>
<!--TARRAGON_STATIC-->
<!--TARRAGON_SCRIPT-->
</body>
</html>
"#;
