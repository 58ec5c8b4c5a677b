//! Rust source as text: comments and tests blanked, items and paths found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) type ModulePath = Vec<String>;

/// One module: its own definitions, its imports, the names that it re-exports.
#[derive(Default)]
pub(super) struct Module {
    pub(super) file: PathBuf,
    pub(super) children: BTreeSet<String>,
    /// Names of items defined here, types apart from the others.
    pub(super) types: Vec<String>,
    pub(super) items: BTreeSet<String>,
    /// Absolute paths as written, with the line of each.
    pub(super) paths: Vec<(ModulePath, usize)>,
    /// Name visible in this module -> absolute path it stands for.
    pub(super) aliases: BTreeMap<String, ModulePath>,
    pub(super) globs: Vec<ModulePath>,
    /// Names of public children and items, names of public re-exports, targets of public globs.
    pub(super) public: BTreeSet<String>,
    pub(super) public_aliases: BTreeSet<String>,
    pub(super) public_globs: Vec<ModulePath>,
}

/// Blanks comments and the content of string literals; keeps lines.
pub(super) fn without_comments(text: &str) -> String {
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
pub(super) fn without_tests(code: &str) -> String {
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

pub(super) fn parse(file: &Path, code: &str, path: &[String]) -> Module {
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
