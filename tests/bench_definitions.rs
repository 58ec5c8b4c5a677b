//! Definitions, engines, records and `BIAS.md` of the benches against each other and against the
//! sources of the benches.
//!
//! The definitions are read as text, in the form that they all have: one key per line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One row of a definition, or several whose ids match one pattern.
#[derive(Default)]
struct Row {
    family: String,
    bench: String,
    id: String,
    engines: Vec<String>,
    chosen_by: String,
}

fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files with the given suffix directly in a folder, or in its folders.
fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.retain(|path| path.extension().is_some_and(|x| x == suffix));
    found
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The strings of a value, which is one string or a list.
fn strings(value: &str) -> Vec<String> {
    let parts = value.split('"').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

fn one(value: &str) -> String {
    value.trim().trim_matches('"').replace("\\\\", "\\")
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = vec![];
    for path in files(&benches().join("definitions"), "toml") {
        let (family, mut bench) = (stem(&path), String::new());
        for line in text(&path).lines() {
            if line == "[[row]]" {
                rows.push(Row {
                    family: family.clone(),
                    bench: bench.clone(),
                    ..Row::default()
                });
            }
            let row = rows.last_mut().filter(|row| row.family == family);
            match (line.split_once(" = "), row) {
                (Some(("bench", value)), None) => bench = one(value),
                (Some(("id", value)), Some(row)) => row.id = one(value),
                (Some(("engines", value)), Some(row)) => row.engines = strings(value),
                (Some(("chosen_by", value)), Some(row)) => row.chosen_by = one(value),
                _ => {}
            }
        }
    }
    assert!(rows.len() > 50, "{} rows", rows.len());
    rows
}

/// The text of a pattern around its parts in braces, which stand for any text.
fn literals(pattern: &str) -> Vec<&str> {
    let mut parts = pattern.split('{');
    let first = parts.next();
    let rest = parts.map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    first.into_iter().chain(rest).collect()
}

fn matches(pattern: &str, id: &str) -> bool {
    let parts = literals(pattern);
    let [first, middle @ .., last] = parts.as_slice() else {
        return pattern == id;
    };
    let Some(mut rest) = id.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        // A part in braces is not empty.
        let Some(at) = rest.char_indices().nth(1).and_then(|(one, _)| {
            let found = rest[one..].find(part);
            found.map(|at| one + at)
        }) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.len() > last.len() && rest.ends_with(last)
}

/// The row that defines an id of a record: the first whose pattern matches.
fn definition<'a>(rows: &'a [Row], family: &str, id: &str) -> Option<&'a Row> {
    let mut rows = rows.iter().filter(|row| row.family == family);
    rows.find(|row| matches(&row.id, id))
}

/// String literals of a source that look like ids of criterion: the arguments of its functions, and
/// those that begin with the letter of a reference script, such as `A1.` or `B.`.
fn ids(source: &str) -> BTreeSet<&str> {
    let is_script = |literal: &str| {
        let mut chars = literal.chars();
        let begins = chars.next().is_some_and(|c| c.is_ascii_uppercase());
        let rest = chars
            .as_str()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        begins && rest.starts_with('.')
    };
    let mut found = BTreeSet::new();
    let mut before = "";
    for (i, part) in source.split('"').enumerate() {
        if i % 2 == 0 {
            before = part;
            continue;
        }
        let call = before.trim_end().trim_end_matches("&format!(");
        let call = call.trim_end().trim_end_matches("format!(").trim_end();
        let is_argument = call.ends_with("c.bench_function(") || call.ends_with("benchmark_group(");
        if is_script(part) || (is_argument && !part.starts_with('{')) {
            found.insert(part);
        }
    }
    found
}

#[test]
fn every_bench_id_has_a_definition() {
    let rows = rows();
    let mut wrong = vec![];
    let mut count = 0;
    for path in files(&benches(), "rs") {
        let bench = stem(&path);
        for id in ids(&text(&path)) {
            count += 1;
            let prefix = literals(id)[0];
            let agrees = |row: &Row| {
                let defined = literals(&row.id)[0];
                row.bench == bench && (defined.starts_with(prefix) || prefix.starts_with(defined))
            };
            if !rows.iter().any(agrees) {
                wrong.push(format!("{bench}.rs: no definition begins like `{id}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 60, "{count} ids");
}

#[test]
fn definitions_name_benches_and_engines_that_exist() {
    let manifest = text(&benches().join("Cargo.toml"));
    let engines = text(&benches().join("engines.toml"));
    let mut wrong = vec![];
    for row in rows() {
        let (family, id) = (&row.family, &row.id);
        if !manifest.contains(&format!("[[bench]]\nname = \"{}\"\n", row.bench)) {
            wrong.push(format!("{family}: no bench `{}` in Cargo.toml", row.bench));
        }
        for engine in &row.engines {
            if !engines.contains(&format!("\nname = \"{engine}\"\n")) {
                wrong.push(format!("{family}: `{id}`: no `{engine}` in engines.toml"));
            }
        }
        if row.engines.first().is_none_or(|first| first != "tarragon") {
            wrong.push(format!(
                "{family}: `{id}`: the first engine must be tarragon"
            ));
        }
        if !["script", "us"].contains(&row.chosen_by.as_str()) {
            let found = &row.chosen_by;
            wrong.push(format!(
                "{family}: `{id}`: chosen_by must be script or us, got {found}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recorded_row_has_a_definition() {
    let rows = rows();
    let mut wrong = vec![];
    let mut count = 0;
    let folders = fs::read_dir(benches().join("record")).unwrap();
    for folder in folders.map(|entry| entry.unwrap().path()) {
        assert!(folder.join("README.md").is_file(), "{}", folder.display());
        for path in files(&folder, "csv") {
            let family = stem(&path);
            // Figures that no bench prints.
            if family == "other" {
                continue;
            }
            let record = text(&path);
            let mut lines = record.lines();
            assert_eq!(
                lines.next(),
                Some("id,engine,version,median_ns"),
                "{family}"
            );
            for line in lines {
                count += 1;
                let fields: Vec<&str> = line.rsplitn(4, ',').collect();
                let [median, _, engine, id] = fields[..] else {
                    panic!("{}: {line}", path.display());
                };
                let row = definition(&rows, &family, id.trim_matches('"'));
                let is_defined = row.is_some_and(|row| row.engines.iter().any(|e| e == engine));
                if !is_defined || !median.parse::<f64>().is_ok_and(|ns| ns > 0.0) {
                    wrong.push(format!("{}: {line}", path.display()));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "no definition, engine or median:\n{}",
        wrong.join("\n")
    );
    assert!(count > 900, "{count} figures");
}

#[test]
fn bias_names_the_families_whose_work_we_chose() {
    let bias = text(&benches().join("BIAS.md"));
    let chosen = rows().into_iter().filter(|row| row.chosen_by == "us");
    let families: BTreeSet<String> = chosen.map(|row| row.family).collect();
    let missing = families
        .iter()
        .filter(|name| !bias.contains(&format!("`{name}`")));
    let missing: Vec<&String> = missing.collect();
    assert!(missing.is_empty(), "BIAS.md does not name {missing:?}");
}
