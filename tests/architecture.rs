//! The order of rooms in `ARCHITECTURE.md` against the sources: within a crate, modules import
//! downwards, siblings never import each other in a circle, a type name means one thing, and users
//! find it at one path.
//!
//! The sources are read as text. Paths that begin with `crate::`, `super::` or `self::` count as
//! imports of the module that defines the last name, re-exports followed; code under
//! `#[cfg(test)]` may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 7] = [
    "framework",
    "geometry",
    "lcm",
    "multibody",
    "sensors",
    "visualization",
    "tarragon",
];

type ModulePath = Vec<String>;

/// One module: its own definitions, its imports, the names that it re-exports.
#[derive(Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    /// Names of items defined here, types apart from the others.
    types: Vec<String>,
    items: BTreeSet<String>,
    /// Absolute paths as written, with the line of each.
    paths: Vec<(ModulePath, usize)>,
    /// Name visible in this module -> absolute path it stands for.
    aliases: BTreeMap<String, ModulePath>,
    globs: Vec<ModulePath>,
    /// Names of public children and items, names of public re-exports, targets of public globs.
    public: BTreeSet<String>,
    public_aliases: BTreeSet<String>,
    public_globs: Vec<ModulePath>,
}

struct Sources {
    modules: BTreeMap<ModulePath, Module>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source_folder(name: &str) -> PathBuf {
    if name == "tarragon" {
        root().join("src")
    } else {
        root().join(name).join("src")
    }
}

impl Sources {
    fn read(name: &str) -> Self {
        let folder = source_folder(name);
        let mut sources = Self {
            modules: BTreeMap::new(),
        };
        let root = if name == "tarragon" {
            "main.rs"
        } else {
            "lib.rs"
        };
        sources.read_module(&folder.join(root), &folder, Vec::new());
        sources
    }

    /// Reads one file, its inline modules and, from `folder`, its children.
    fn read_module(&mut self, file: &Path, folder: &Path, path: ModulePath) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let code = without_tests(&without_comments(&text));
        let module = parse(file, &code, &path);
        let children: Vec<String> = module.children.iter().cloned().collect();
        self.modules.insert(path.clone(), module);
        for child in children {
            let mut child_path = path.clone();
            child_path.push(child.clone());
            let nested = folder.join(&child);
            let candidates = [folder.join(format!("{child}.rs")), nested.join("mod.rs")];
            if let Some(file) = candidates.iter().find(|f| f.exists()) {
                self.read_module(file, &nested, child_path);
            }
        }
    }

    /// The module that defines what `path` names: the longest prefix that is a module, with
    /// re-exports followed.
    fn resolve(&self, path: &[String], depth: usize) -> ModulePath {
        let mut at = Vec::new();
        for segment in path {
            let Some(module) = self.modules.get(&at) else {
                return at;
            };
            if module.children.contains(segment) {
                at.push(segment.clone());
                continue;
            }
            if depth < 8 && !module.items.contains(segment) {
                if let Some(target) = module.aliases.get(segment) {
                    return self.resolve(target, depth + 1);
                }
                for glob in &module.globs {
                    let target = self.resolve(glob, depth + 1);
                    let Some(found) = self.modules.get(&target) else {
                        continue;
                    };
                    if found.items.contains(segment) || found.aliases.contains_key(segment) {
                        let mut full = target.clone();
                        full.push(segment.clone());
                        return self.resolve(&full, depth + 1);
                    }
                }
            }
            return at;
        }
        at
    }

    /// Adds what users see in the module `at`, which they know as `shown`: for every public item,
    /// by the module that defines it and its name, the paths that lead to it.
    fn add_public(
        &self,
        at: &[String],
        shown: &str,
        all: &mut BTreeMap<(ModulePath, String), BTreeSet<String>>,
    ) {
        let Some(module) = self.modules.get(at) else {
            return;
        };
        let targets = module.public_aliases.iter().filter_map(|alias| {
            let target = module.aliases.get(alias)?; // other crates' items have no target
            Some((alias, target.clone()))
        });
        let own = module.public.iter().map(|name| {
            let target = at.iter().chain([name]).cloned().collect();
            (name, target)
        });
        for (alias, target) in targets.chain(own) {
            let (defined_in, path) = (self.resolve(&target, 0), format!("{shown}::{alias}"));
            // A function may share its name with a private module.
            let is_public_module = target.split_last().is_some_and(|(name, parent)| {
                let parent = self.modules.get(parent);
                parent.is_some_and(|m| m.children.contains(name) && m.public.contains(name))
            });
            if is_public_module {
                self.add_public(&target, &path, all);
            } else if let Some(name) = target.last() {
                all.entry((defined_in, name.clone()))
                    .or_default()
                    .insert(path);
            }
        }
        for glob in &module.public_globs {
            self.add_public(glob, shown, all);
        }
    }

    /// Every import of one module by another, with the place of the import.
    fn imports(&self) -> Vec<(ModulePath, ModulePath, String)> {
        let mut all = Vec::new();
        for (from, module) in &self.modules {
            for (path, line) in &module.paths {
                let to = self.resolve(path, 0);
                if to != *from {
                    let place = module.file.strip_prefix(root()).unwrap_or(&module.file);
                    all.push((from.clone(), to, format!("{}:{line}", place.display())));
                }
            }
        }
        all
    }
}

/// Blanks comments and the content of string literals; keeps lines.
fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let keep = |b: u8| if b == b'\n' { b'\n' } else { b' ' };
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"//") {
            while at < bytes.len() && bytes[at] != b'\n' {
                out.push(b' ');
                at += 1;
            }
        } else if rest.starts_with(b"/*") {
            let end = text[at..].find("*/").map_or(bytes.len(), |e| at + e + 2);
            out.extend(bytes[at..end].iter().map(|b| keep(*b)));
            at = end;
        } else if rest[0] == b'r' && raw_string(rest).is_some() && !is_word(out.last().copied()) {
            let length = raw_string(rest).unwrap_or(1);
            out.extend(bytes[at..at + length].iter().map(|b| keep(*b)));
            at += length;
        } else if rest[0] == b'"' {
            out.push(b'"');
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                if bytes[at] == b'\\' {
                    out.push(b' ');
                    at += 1;
                }
                if at < bytes.len() {
                    out.push(keep(bytes[at]));
                    at += 1;
                }
            }
            out.push(b'"');
            at += 1;
        } else if rest.starts_with(b"'\"'") || rest.starts_with(b"'{'") || rest.starts_with(b"'}'")
        {
            out.extend(b"' '");
            at += 3;
        } else {
            out.push(rest[0]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn is_word(byte: Option<u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The length of the raw string literal at the start of `rest`.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|b| **b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let body = 2 + hashes;
    (body..rest.len())
        .find(|i| rest[*i..].starts_with(&close))
        .map(|i| i + close.len())
}

/// Blanks the items behind `#[cfg(test)]` and `#[cfg(all(test, ...))]`.
fn without_tests(code: &str) -> String {
    let mut out = code.to_string();
    for attribute in ["#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test"] {
        let mut from = 0;
        while let Some(found) = out[from..].find(attribute) {
            let start = from + found;
            let end = end_of_item(&out, start + attribute.len());
            let blank: String = out[start..end]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' })
                .collect();
            out.replace_range(start..end, &blank);
            from = start;
        }
    }
    out
}

/// The end of the item that begins after `from`: its closing brace, or a semicolon before any.
fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0usize;
    for (i, c) in code[from..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return from + i + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return from + i + 1,
            _ => {}
        }
    }
    code.len()
}

fn parse(file: &Path, code: &str, path: &[String]) -> Module {
    let mut module = Module {
        file: file.to_path_buf(),
        ..Module::default()
    };
    for line in code.lines() {
        let words: Vec<&str> = line
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|w| !w.is_empty())
            .skip_while(|w| ["pub", "crate", "super", "in", "unsafe", "async", "const"].contains(w))
            .collect();
        // `const` was skipped above: a constant's name follows it directly.
        let indented = line.starts_with(' ');
        if let Some(declared) = line.strip_prefix("pub ")
            && !declared.starts_with("use ")
        {
            let mut words = declared.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let kinds = [
                "mod", "struct", "enum", "union", "trait", "type", "fn", "static", "const",
            ];
            let name = words.by_ref().skip_while(|w| !kinds.contains(w));
            let name = name
                .into_iter()
                .find(|w| !kinds.contains(w) && !w.is_empty());
            module.public.extend(name.map(str::to_string));
        }
        match words[..] {
            ["mod", name, ..] if line.trim_end().ends_with(';') => {
                module.children.insert(name.to_string());
            }
            ["struct" | "enum" | "trait" | "union", name, ..] if !indented => {
                module.types.push(name.to_string());
                module.items.insert(name.to_string());
            }
            ["type", name, ..] if !indented => {
                module.types.push(name.to_string());
                module.items.insert(name.to_string());
            }
            ["fn" | "static" | "macro_rules", name, ..] if !indented => {
                module.items.insert(name.to_string());
            }
            [name, ..] if !indented && line.contains("const ") => {
                module.items.insert(name.to_string());
            }
            _ => {}
        }
    }
    collect_paths(code, path, &mut module);
    module
}

/// Reads `use` declarations as trees, and paths in expressions and types one by one.
fn collect_paths(code: &str, path: &[String], module: &mut Module) {
    let mut at = 0;
    let line_of = |at: usize| code[..at].matches('\n').count() + 1;
    while let Some(found) = ["crate::", "super::", "self::", "use "]
        .iter()
        .filter_map(|start| next_word(code, at, start))
        .min()
    {
        let line = line_of(found);
        if code[found..].starts_with("use ") {
            let end = code[found..].find(';').map_or(code.len(), |e| found + e);
            for (names, alias) in use_tree(&code[found + 4..end]) {
                let relative = module.children.contains(&names[0]);
                let Some(target) = absolute(&names, path, relative) else {
                    continue;
                };
                let is_public = code[..found].ends_with("\npub ");
                if is_public {
                    module.public_aliases.insert(alias.clone());
                }
                if names.last().is_some_and(|n| n == "*") {
                    let glob = target[..target.len() - 1].to_vec();
                    if is_public {
                        module.public_globs.push(glob.clone());
                    }
                    module.paths.push((glob.clone(), line));
                    module.globs.push(glob);
                } else {
                    module.paths.push((target.clone(), line));
                    module.aliases.insert(alias, target);
                }
            }
            at = end;
        } else {
            let text: String = code[found..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':')
                .collect();
            let names: Vec<String> = text
                .split("::")
                .filter(|n| !n.is_empty())
                .map(str::to_string)
                .collect();
            if let Some(target) = absolute(&names, path, false) {
                module.paths.push((target, line));
            }
            at = found + text.len();
        }
    }
}

/// The next place at or after `at` where `start` begins a word.
fn next_word(code: &str, at: usize, start: &str) -> Option<usize> {
    let mut from = at;
    loop {
        let found = from + code[from..].find(start)?;
        let before = code[..found].bytes().last();
        if !is_word(before) && before != Some(b':') && before != Some(b'$') {
            return Some(found);
        }
        from = found + start.len();
    }
}

/// Every path of a `use` tree with the name by which it is known.
fn use_tree(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let prefix: Vec<String> = tree[..open]
            .split("::")
            .map(|s| s.trim().to_string())
            .filter(|s| !s.is_empty())
            .collect();
        let inner = tree[open + 1..].trim_end().trim_end_matches('}');
        // Only the brace that closes this one may be cut off.
        let closing = tree[open + 1..].trim_end().len() - inner.len();
        let inner = format!("{inner}{}", "}".repeat(closing.saturating_sub(1)));
        return split_top(&inner)
            .into_iter()
            .flat_map(|part| use_tree(&part))
            .map(|(names, alias)| {
                let mut full = prefix.clone();
                if names != ["self"] {
                    full.extend(names);
                }
                let alias = if alias == "self" {
                    prefix.last().cloned().unwrap_or_default()
                } else {
                    alias
                };
                (full, alias)
            })
            .collect();
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let names: Vec<String> = path
        .split("::")
        .map(|s| s.trim().to_string())
        .filter(|s| !s.is_empty())
        .collect();
    let alias = if alias.is_empty() {
        names.last().cloned().unwrap_or_default()
    } else {
        alias.trim().to_string()
    };
    if names.is_empty() {
        Vec::new()
    } else {
        vec![(names, alias)]
    }
}

fn split_top(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

fn absolute(names: &[String], module: &[String], relative: bool) -> Option<ModulePath> {
    let mut base = module.to_vec();
    let mut rest = names;
    match names.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &names[1..];
        }
        "self" => rest = &names[1..],
        "super" => {
            while rest.first().is_some_and(|n| n == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        _ if relative => {}
        _ => return None,
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

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
        assert!(paths.len() > 10, "{name}: {} public items", paths.len());
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
