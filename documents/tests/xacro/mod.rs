//! Xacro files as `xacro` expands them.
//!
//! `TARRAGON_XACRO` names a Python program that can import xacro 2; without it, these tests are
//! skipped. They compare our own files, random expressions and random documents, and the files
//! below the folders that `TARRAGON_XACRO_MODELS` lists (separated by colons), which hold packages
//! of robot vendors.

mod canonical;
mod documents;
mod expressions;
mod random;

use canonical::canonical;
use random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tarragon_documents::{PackageMap, xacro};

/// Number of random expressions and of random documents.
const EXPRESSIONS: usize = 4000;
const DOCUMENTS: usize = 2000;

/// A running `xacro`.
struct Peer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts xacro, or says that the test is skipped.
    fn start() -> Option<Self> {
        let Some(python) = std::env::var_os("TARRAGON_XACRO") else {
            let why = "no xacro (TARRAGON_XACRO names a Python that has it)";
            let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xacro/peer.py");
        let mut command = Command::new(python);
        command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let requests = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Some(Self {
            child,
            requests,
            answers,
        })
    }

    /// Returns the expanded text, or the error.
    fn expand(&mut self, case: &XacroCase) -> Result<String, String> {
        let folder = |name: &str| case.packages.path(name).unwrap().display().to_string();
        let names: Vec<&str> = case.packages.package_names().collect();
        let local = names.into_iter().filter(|n| !n.starts_with("drake"));
        let packages: BTreeMap<&str, String> = local.map(|n| (n, folder(n))).collect();
        let request = json!({
            "file": case.file, "arguments": case.arguments, "packages": packages
        });
        writeln!(self.requests, "{request}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        match answer["text"].as_str() {
            Some(text) => Ok(text.into()),
            None => Err(answer["error"].as_str().unwrap().into()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file to expand.
struct XacroCase {
    file: PathBuf,
    arguments: BTreeMap<String, String>,
    packages: PackageMap,
}

impl XacroCase {
    fn new(file: PathBuf) -> Self {
        Self {
            file,
            arguments: BTreeMap::new(),
            packages: PackageMap::make_empty(),
        }
    }

    /// Compares both expansions; returns the difference, if any.
    fn compare(&self, peer: &mut Peer) -> Result<bool, String> {
        let ours = xacro::expand(&self.file, &self.arguments, &self.packages);
        match (ours, peer.expand(self)) {
            (Ok(ours), Ok(theirs)) => {
                let (ours, theirs) = (canonical(&ours.text), canonical(&theirs));
                match ours.iter().zip(&theirs).find(|(a, b)| a != b) {
                    Some((a, b)) => Err(format!("{a} instead of {b}")),
                    None if ours.len() != theirs.len() => Err("the length differs".into()),
                    None => Ok(true),
                }
            }
            (Err(_), Err(_)) => Ok(false),
            (Ok(_), Err(theirs)) => Err(format!("only xacro refuses: {theirs}")),
            (Err(ours), Ok(_)) => Err(format!("refused: {ours}")),
        }
    }
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xacro")
}

/// Lists the xacro files of a folder and, if `deep`, of all below it.
fn xacro_files(folder: &Path, deep: bool) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && deep {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "xacro") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn our_files_are_expanded_as_by_xacro() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let mut cases = 0;
    for file in xacro_files(&here().join("files"), false) {
        let mut case = XacroCase::new(file);
        let parts = here().join("files/parts");
        case.packages.add("xacro_parts", parts).unwrap();
        let name = case.file.display().to_string();
        assert_eq!(case.compare(&mut peer), Ok(true), "{name}");
        case.arguments.insert("side".into(), "right".into());
        case.arguments.insert("count".into(), "4".into());
        assert_eq!(case.compare(&mut peer), Ok(true), "{name} with arguments");
        cases += 2;
    }
    assert!(cases > 40, "{cases}");
    println!("xacro files: {cases} cases, 0 failed");
}

#[test]
fn our_mistakes_are_errors_of_xacro_too() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let files = xacro_files(&here().join("bad"), false);
    assert!(files.len() > 20);
    for file in &files {
        let case = XacroCase::new(file.clone());
        assert_eq!(case.compare(&mut peer), Ok(false), "{}", file.display());
    }
    println!("xacro mistakes: {} cases, 0 failed", files.len());
}

#[test]
fn single_features_are_those_of_xacro() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(here().join("cases")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let file = folder.path().join("case.xacro");
    let (mut cases, mut different) = (0, vec![]);
    // Each line is `ok` or `error`, and the content of a root element; \n is a line break.
    for line in std::fs::read_to_string(here().join("cases.txt"))
        .unwrap()
        .lines()
    {
        let (outcome, body) = line.split_once(' ').unwrap();
        let body = body.replace("\\n", "\n");
        let address = "http://www.ros.org/wiki/xacro";
        let text = format!("<robot name=\"r\" xmlns:xacro=\"{address}\">{body}</robot>");
        std::fs::write(&file, text).unwrap();
        let same = XacroCase::new(file.clone()).compare(&mut peer);
        if same != Ok(outcome == "ok") {
            different.push(format!("{line}: {same:?}"));
        }
        cases += 1;
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    println!("xacro features: {cases} cases, 0 failed");
}

/// Compares random texts; returns how many both expand, and the differences. `None` without xacro.
fn compare_random(
    count: usize,
    make: impl Fn(&mut Random) -> String,
) -> Option<(usize, Vec<String>)> {
    let mut peer = Peer::start()?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("random.xacro");
    let mut random = Random::new(20);
    let (mut expanded, mut different) = (0, vec![]);
    for _ in 0..count {
        let text = make(&mut random);
        std::fs::write(&file, &text).unwrap();
        match XacroCase::new(file.clone()).compare(&mut peer) {
            Ok(both) => expanded += usize::from(both),
            Err(difference) => different.push(format!("{difference}:\n{text}")),
        }
    }
    Some((expanded, different))
}

#[test]
fn random_expressions_have_the_values_of_xacro() {
    let Some((expanded, different)) = compare_random(EXPRESSIONS, expressions::document) else {
        return;
    };
    let failed = different.len();
    println!("random xacro expressions: {EXPRESSIONS} cases, {expanded} expanded, {failed} failed");
    assert!(
        different.is_empty(),
        "{failed} differ, first: {}",
        different[0]
    );
    assert!(expanded > EXPRESSIONS / 2);
}

#[test]
fn random_documents_are_expanded_as_by_xacro() {
    let Some((expanded, different)) = compare_random(DOCUMENTS, documents::document) else {
        return;
    };
    let failed = different.len();
    println!("random xacro documents: {DOCUMENTS} cases, {expanded} expanded, {failed} failed");
    assert!(
        different.is_empty(),
        "{failed} differ, first: {}",
        different[0]
    );
    assert!(expanded > DOCUMENTS / 2);
}

#[test]
fn files_of_vendors_are_expanded_as_by_xacro() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let Some(folders) = std::env::var_os("TARRAGON_XACRO_MODELS") else {
        let why = "no xacro files of vendors (TARRAGON_XACRO_MODELS lists folders)";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
        return;
    };
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let mut packages = PackageMap::make_empty();
    for folder in &folders {
        packages.populate_from_folder(folder).unwrap();
    }
    let (mut cases, mut expanded, mut failed) = (0, 0, 0);
    for file in folders.iter().flat_map(|folder| xacro_files(folder, true)) {
        let mut case = XacroCase::new(file);
        case.packages = packages.clone();
        cases += 1;
        match case.compare(&mut peer) {
            Ok(both) => expanded += usize::from(both),
            Err(difference) => {
                failed += 1;
                println!("DIFFERENT {}: {difference}", case.file.display());
            }
        }
    }
    println!("xacro files of vendors: {cases} cases, {expanded} expanded, {failed} failed");
    assert_eq!(failed, 0, "{failed} of {cases} files differ");
    assert!(expanded > 0, "{cases} files in {folders:?}");
}
