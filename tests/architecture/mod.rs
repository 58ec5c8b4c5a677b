//! The order of rooms in `ARCHITECTURE.md` against the sources: within a crate, modules import
//! downwards, siblings never import each other in a circle, a type name means one thing, and users
//! find it at one path.
//!
//! The sources are read as text. Paths that begin with `crate::`, `super::` or `self::` count as
//! imports of the module that defines the last name, re-exports followed; code under
//! `#[cfg(test)]` may import anything.

mod sources;
mod text;

use sources::{Sources, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use text::{ModulePath, without_comments};

const CRATES: [&str; 13] = [
    "contact_solvers",
    "documents",
    "fem",
    "formats",
    "framework",
    "geometry",
    "gpu",
    "lcm",
    "multibody",
    "render_server",
    "sensors",
    "visualization",
    "tarragon",
];

/// The rows of the table under "Order of rooms": crate -> its modules, bottom to top.
fn order_of_rooms() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let section = text
        .split("\n## Order of rooms\n")
        .nth(1)
        .expect("section `Order of rooms`");
    let section = section.split("\n## ").next().unwrap_or(section);
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let mut names = line.split('`').skip(1).step_by(2).map(str::to_string);
            (names.next().expect("a crate"), names.collect())
        })
        .collect()
}

/// A circle of `edges`, or none.
fn circle(edges: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        node: &String,
        edges: &BTreeMap<String, BTreeSet<String>>,
        done: &mut BTreeSet<String>,
        trail: &mut Vec<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = trail.iter().position(|n| n == node) {
            return Some(trail[start..].to_vec());
        }
        if !done.insert(node.clone()) {
            return None;
        }
        trail.push(node.clone());
        let found = edges
            .get(node)
            .into_iter()
            .flatten()
            .find_map(|n| visit(n, edges, done, trail));
        trail.pop();
        found
    }
    let mut done = BTreeSet::new();
    edges
        .keys()
        .find_map(|node| visit(node, edges, &mut done, &mut Vec::new()))
}

#[test]
fn crates_import_downwards() {
    let order = order_of_rooms();
    let mut wrong = Vec::new();
    for name in CRATES {
        let sources = Sources::read(name);
        let rooms = &order[name];
        let modules = &sources.modules[&Vec::new()].children;
        for module in modules.iter().filter(|m| !rooms.contains(m)) {
            wrong.push(format!("{name}: `{module}` is missing in the table"));
        }
        for room in rooms.iter().filter(|r| !modules.contains(*r)) {
            wrong.push(format!("{name}: `{room}` of the table does not exist"));
        }
        let place = |module: &ModulePath| {
            module
                .first()
                .and_then(|m| rooms.iter().position(|r| r == m))
        };
        for (from, to, at) in sources.imports() {
            if let (Some(upper), Some(lower)) = (place(&from), place(&to))
                && upper < lower
            {
                wrong.push(format!(
                    "{at}: `{}` imports `{}` above it",
                    from.join("::"),
                    to.join("::")
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} imports against the order:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn siblings_do_not_import_in_circles() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let sources = Sources::read(name);
        // Parent module -> sibling -> siblings it imports, with one place for each.
        let mut levels: BTreeMap<ModulePath, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for (from, to, at) in sources.imports() {
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                let parent = from[..shared].to_vec();
                places
                    .entry((parent.clone(), a.clone(), b.clone()))
                    .or_insert(at);
                levels
                    .entry(parent)
                    .or_default()
                    .entry(a.clone())
                    .or_default()
                    .insert(b.clone());
            }
        }
        for (parent, edges) in levels {
            if let Some(found) = circle(&edges) {
                let next = found.iter().cycle().skip(1);
                let steps: Vec<String> = found
                    .iter()
                    .zip(next)
                    .map(|(a, b)| {
                        let at = &places[&(parent.clone(), a.clone(), b.clone())];
                        format!("    {a} -> {b} ({at})")
                    })
                    .collect();
                wrong.push(format!(
                    "{name}::{}\n{}",
                    parent.join("::"),
                    steps.join("\n")
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} circles of modules:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_type_name_means_one_thing() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let sources = Sources::read(name);
        let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for module in sources.modules.values() {
            for found in &module.types {
                let file = module.file.strip_prefix(root()).unwrap_or(&module.file);
                places
                    .entry(found)
                    .or_default()
                    .push(file.display().to_string());
            }
        }
        for (found, files) in places.iter().filter(|(_, files)| files.len() > 1) {
            wrong.push(format!("{name}: `{found}` in {}", files.join(", ")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} names mean two things:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn users_find_an_item_at_one_path() {
    let mut wrong = Vec::new();
    for name in CRATES.into_iter().filter(|name| *name != "tarragon") {
        let mut paths = BTreeMap::new();
        Sources::read(name).add_public(&[], name, &mut paths);
        assert!(paths.len() > 3, "{name}: {} public items", paths.len());
        let twice = paths.into_values().filter(|paths| paths.len() > 1);
        wrong.extend(twice.map(|paths| paths.into_iter().collect::<Vec<_>>().join(" = ")));
    }
    assert!(
        wrong.is_empty(),
        "{} items are public at two paths:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn modules_with_children_are_folders() {
    let mut wrong = Vec::new();
    for name in CRATES {
        for module in Sources::read(name).modules.values() {
            let folder = module.file.with_extension("");
            if folder.is_dir() {
                let file = module.file.strip_prefix(root()).unwrap_or(&module.file);
                wrong.push(format!(
                    "{}: move to `mod.rs` in the folder",
                    file.display()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "two styles of modules:\n{}",
        wrong.join("\n")
    );
}

/// The same scene has the same bits with any features. Bits differ between processors, so no
/// number can be recorded, and a second build of all crates would take minutes. But a crate without
/// features is compiled from the same text in every build.
#[test]
fn crates_that_compute_steps_have_no_features() {
    let read = |name: &str| {
        let manifest = root().join(name).join("Cargo.toml");
        fs::read_to_string(&manifest).unwrap_or_else(|e| panic!("{}: {e}", manifest.display()))
    };
    for name in ["framework", "contact_solvers", "fem", "multibody"] {
        let text = read(name);
        assert!(!text.contains("[features]"), "{name} has features");
        assert!(
            !text.contains("optional = true"),
            "{name}: a dependency is optional"
        );
    }
    // Without it, asking for convex pieces is an error. Nothing else depends on it.
    let geometry = read("geometry");
    let section = geometry.split("[features]").nth(1).expect("features");
    let section = section.split("\n[").next().unwrap_or(section);
    let features = section.lines().filter(|line| line.contains(" = "));
    let names: Vec<&str> = features.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["default", "convex-decomposition"]);
    for (path, module) in Sources::read("geometry").modules {
        let text = fs::read_to_string(&module.file).expect("source");
        let has_features = without_comments(&text).contains("feature = \"");
        assert!(
            !has_features || path.starts_with(&["mesh".into(), "decomposition".into()]),
            "geometry: {} depends on a feature",
            path.join("::")
        );
    }
}
