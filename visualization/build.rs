//! Builds the viewer page in `viewer/` with Node.js, or a substitute page that says how to get it.
//! The published crate has no `viewer/`, but the page that `.ci/package` built, in `page/`, and
//! needs no Node.js.
//!
//! `OUT_DIR/dist` always holds `page.html`, `viewer.js`, `viewer.js.gz`, `boot.js`, `LICENSES.txt`
//! and `built` ("yes" or "no"). Nothing is written outside `OUT_DIR`. Packages are installed by
//! `npm ci`, with the versions and checksums of `package-lock.json` and without running their
//! scripts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Environment variable; "off" skips the viewer. Any other change of its value makes cargo try
/// again, which it would not do after an installation of Node.js.
const SWITCH: &str = "TARRAGON_VIEWER_BUILD";

/// Entries of `viewer/` that are not sources of the page.
const NOT_SOURCES: [&str; 6] = [
    ".gitignore",
    "README.md",
    "dist",
    "node_modules",
    "test.mjs",
    "tests",
];

/// Files of a built page.
const PAGE: [&str; 5] = [
    "page.html",
    "viewer.js",
    "viewer.js.gz",
    "boot.js",
    "LICENSES.txt",
];

/// Copy of the lock file that the packages were installed from, kept next to it.
const INSTALLED: &str = "installed-lock.json";

fn main() {
    println!("cargo:rerun-if-env-changed={SWITCH}");
    println!("cargo:rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let (source, dist) = (root.join("viewer"), out.join("dist"));
    let made = if source.is_dir() {
        build(&source, &out.join("viewer"), &dist)
    } else {
        take(&root.join("page"), &dist)
    };
    if let Err(reason) = made {
        println!(
            "cargo:warning=the Meshcat viewer was not built: {reason}. Programs will serve a page that says \
             how to get it: install Node.js 20 or newer with npm and build again with {SWITCH}=on, or set \
             TARRAGON_VIEWER to the directory of a built viewer when running them"
        );
        if let Err(error) = write_substitute(&dist, &reason) {
            // Without these files the crate would fail to compile with a less helpful message.
            println!("cargo:warning={}: {error}", dist.display());
            std::process::exit(1);
        }
    }
}

/// Builds the page of `source` in `work` and writes it to `dist`. The error is the reason, on one
/// line.
fn build(source: &Path, work: &Path, dist: &Path) -> Result<(), String> {
    watch(source).map_err(|e| format!("{}: {e}", source.display()))?;
    if env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return Err(format!("{SWITCH} is off"));
    }
    check_node()?;
    copy(source, work).map_err(|e| format!("{}: {e}", work.display()))?;
    install(work)?;
    // Leftovers of an interrupted or older build must not pass for its result.
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

/// Copies the built page of a published crate to `dist`. The error is the reason, on one line.
fn take(page: &Path, dist: &Path) -> Result<(), String> {
    println!("cargo:rerun-if-changed={}", page.display());
    remove(dist).map_err(|e| format!("{}: {e}", dist.display()))?;
    fs::create_dir_all(dist).map_err(|e| format!("{}: {e}", dist.display()))?;
    for name in PAGE.into_iter().chain(["built"]) {
        let file = page.join(name);
        fs::copy(&file, dist.join(name)).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

/// Makes cargo build again when a source of the page changes, appears or disappears.
fn watch(directory: &Path) -> io::Result<()> {
    // Watching the whole directory would include the installed packages.
    for (path, _) in entries(directory)? {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// Returns the sources in a directory, each with whether it is a directory.
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

/// Makes the sources in `to` equal to those in `from`, and leaves what npm installed there.
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
            "Node.js must be version 20 or newer, got {}",
            found.trim()
        )),
    }
}

/// Installs the packages of the lock file, unless they are installed already.
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
    // Written last, so that an interrupted installation is repeated.
    fs::write(&mark, lock).map_err(name)
}

/// Runs a program and returns its standard output.
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

/// Writes a page that takes the place of the viewer.
fn write_substitute(dist: &Path, reason: &str) -> io::Result<()> {
    remove(dist)?;
    fs::create_dir_all(dist)?;
    let reason = reason.replace('&', "&amp;").replace('<', "&lt;");
    fs::write(
        dist.join("page.html"),
        SUBSTITUTE.replace("REASON", &reason),
    )?;
    for name in PAGE.into_iter().filter(|name| *name != "page.html") {
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
<p>The server runs, and programs can talk to it. The page that shows the scene is missing from this build of tarragon. To get it, do one of the following:</p>
<ol>
<li>Install <a href="https://nodejs.org">Node.js</a> 20 or newer, with npm, and build the program again with the environment variable <code>TARRAGON_VIEWER_BUILD=on</code>, so that cargo looks for Node.js. The first build fetches the page's packages.</li>
<li>Set the environment variable <code>TARRAGON_VIEWER</code> to a directory with a built viewer (made by <code>node build.mjs DIRECTORY</code> in <code>visualization/viewer</code>), and start the program again.</li>
</ol>
<p><small>Reason: REASON</small></p>
<!--TARRAGON_STATIC-->
<!--TARRAGON_SCRIPT-->
</body>
</html>
"#;
