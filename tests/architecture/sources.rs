//! The modules of a crate: what each defines, imports and shows to users.

use super::text::{Module, ModulePath, parse, without_comments, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct Sources {
    pub(super) modules: BTreeMap<ModulePath, Module>,
}

pub(super) fn root() -> &'static Path {
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
    pub(super) fn read(name: &str) -> Self {
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
    pub(super) fn add_public(
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
    pub(super) fn imports(&self) -> Vec<(ModulePath, ModulePath, String)> {
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
