//! `<attach>`: elements of other models.

use super::expander::{Expander, attribute};
use super::read_document;
use super::renaming::{self, REFERRING, is_reference};
use crate::mjcf::read::compiler::CompilerOptions;
use crate::mjcf::read::defaults::MAIN;
use crate::mjcf::read::tree::{Attribute, ElementRef, ElementTree, ExpandedFrame, MjcfElement};
use crate::reading::mjcf_semantics::UNNAMED;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tarragon_documents::xml::Parsed;
use tarragon_documents::{ModelInput, read_file};

/// Maximum depth of models that attach models.
const MAX_ATTACHED: usize = 8;
/// Assets that take their names from their files.
const NAMED_BY_FILE: [&str; 3] = ["hfield", "mesh", "texture"];

impl Expander<'_> {
    /// Returns the elements that an `<attach>` stands for, in place of it, and adds the sections of
    /// the attached model that belong to them.
    pub(super) fn attach(&mut self, attach: usize) -> Parsed<Vec<usize>> {
        let node = self.node(attach);
        let Some(model) = node.own_text("model").map(String::from) else {
            return Err(node.error("<attach> has no attribute 'model'"));
        };
        let body = node.own_text("body").map(String::from);
        let prefix = node.own_text("prefix").unwrap_or_default().to_owned();
        let asset = self
            .sections("asset")
            .into_iter()
            .flat_map(|section| self.tree.elements[section].children.clone())
            .filter(|a| self.tag(*a) == "model")
            .find(|a| self.is_model(*a, &model));
        let Some(asset) = asset else {
            let message = format!("<attach>: there is no <model> asset '{model}'");
            return Err(self.node(attach).error_at("model", message));
        };
        let mut tree = self.load(asset)?;
        self.read_keys(&mut tree, &prefix);
        let source = &tree.elements;
        let sections = |tag: &str| {
            let sections = source[0].children.iter().copied();
            let sections = sections.filter(|s| source[*s].tag == tag);
            sections.collect::<Vec<usize>>()
        };
        let roots: Vec<usize> = match &body {
            None => {
                let worlds = sections("worldbody").into_iter();
                worlds.flat_map(|w| source[w].children.clone()).collect()
            }
            Some(name) => {
                let all = below(source, &sections("worldbody"));
                let is_it = |e: &usize| source[*e].tag == "body" && own_name(&source[*e]) == name;
                let Some(found) = all.into_iter().find(is_it) else {
                    let message = format!("<attach>: model '{model}' has no body '{name}'");
                    return Err(self.node(attach).error_at("body", message));
                };
                vec![found]
            }
        };
        let named: BTreeSet<&str> = below(source, &roots)
            .into_iter()
            .map(|e| own_name(&source[e]))
            .collect();
        let main = format!("{prefix}{MAIN}");
        let mut copies = vec![];
        for root in roots {
            copies.push(self.copy_prefixed(source, root, &prefix)?);
        }
        self.set_class(&copies, &main);
        let is_own = |section: &usize| source[*section].document == source[0].document;
        if !sections("default").iter().any(is_own) {
            // MuJoCo has a main class in every model.
            let class = vec![("class", main.clone())];
            let section = self.make("default", attach, class, vec![])?;
            self.tree.elements[section].document = source[0].document;
            self.tree.elements[0].children.push(section);
        }
        for section in sections("default") {
            let copy = self.copy_prefixed(source, section, &prefix)?;
            // Those of models that the model attaches keep their classes.
            if is_own(&section) {
                let place = self.tree.elements[copy].place;
                let attributes = &mut self.tree.elements[copy].attributes;
                attributes.retain(|a| a.name != "class");
                attributes.push(attribute("class", main.clone(), place));
            }
            self.tree.elements[0].children.push(copy);
        }
        for section in sections("asset") {
            let copy = self.copy_prefixed(source, section, &prefix)?;
            self.name_assets(copy, &prefix);
            let children = self.tree.elements[copy].children.clone();
            self.set_class(&children, &main);
            self.tree.elements[0].children.push(copy);
        }
        for section in sections("extension") {
            let copy = self.copy_prefixed(source, section, &prefix)?;
            self.tree.elements[0].children.push(copy);
        }
        for section in sections("keyframe") {
            self.attach_keys(&tree, section)?;
        }
        for section in REFERRING.into_iter().flat_map(sections) {
            let copy = self.copy_prefixed(source, section, &prefix)?;
            if body.is_some() {
                // Elements that refer to anything else stay behind.
                let is_inside = |element: &usize| {
                    let references = below(source, &[*element]);
                    let references = references.iter().flat_map(|e| &source[*e].attributes);
                    let mut references = references.filter(|a| is_reference(a));
                    references.all(|a| named.contains(a.value.trim()))
                };
                let inside = source[section].children.iter().map(is_inside);
                let children = self.tree.elements[copy].children.iter();
                let kept = children.zip(inside).filter(|(_, inside)| *inside);
                let kept = kept.map(|(child, _)| *child).collect();
                self.tree.elements[copy].children = kept;
            }
            let children = self.tree.elements[copy].children.clone();
            self.set_class(&children, &main);
            self.tree.elements[0].children.push(copy);
        }
        Ok(copies)
    }

    /// Copies an element of an attached model with everything below it under the prefix of the
    /// model.
    fn copy_prefixed(
        &mut self,
        source: &[MjcfElement],
        element: usize,
        prefix: &str,
    ) -> Parsed<usize> {
        let rename = |attribute: &mut Attribute| renaming::prefix(attribute, prefix);
        let copy = self.copy_from(source, element, &rename)?;
        for index in below(&self.tree.elements, &[copy]) {
            let frame = self.tree.elements[index].frame.as_mut();
            if let Some(class) = frame.and_then(|frame| frame.class.as_mut()) {
                class.insert_str(0, prefix);
            }
        }
        Ok(copy)
    }

    /// Sets the class of elements that name none and have none from frames.
    fn set_class(&mut self, elements: &[usize], class: &str) {
        let frame = ExpandedFrame {
            class: Some(class.into()),
            ..ExpandedFrame::default()
        };
        self.move_all(elements, &frame);
    }

    /// Gives the assets of a section names that are those of their files in MuJoCo.
    fn name_assets(&mut self, section: usize, prefix: &str) {
        for asset in self.tree.elements[section].children.clone() {
            let element = &self.tree.elements[asset];
            let stem = self
                .asset_name(asset)
                .filter(|_| own_name(element).is_empty());
            if let Some(stem) = stem.filter(|_| NAMED_BY_FILE.contains(&&*element.tag)) {
                let name = attribute("name", format!("{prefix}{stem}"), element.place);
                self.tree.elements[asset].attributes.push(name);
            }
        }
    }

    /// Returns the name of an asset, which may be the stem of its file.
    fn asset_name(&self, asset: usize) -> Option<String> {
        let node = self.node(asset);
        let stem = || Path::new(node.own_text("file")?).file_stem();
        let stem = || stem().map(|s| s.to_string_lossy().into_owned());
        node.name().map(String::from).or_else(stem)
    }

    /// Returns true if a `<model>` asset has a name: its own, else that of its file's model, else
    /// the stem of the file.
    fn is_model(&self, asset: usize, name: &str) -> bool {
        let node = self.node(asset);
        if self.asset_name(asset).is_some_and(|own| own == name) {
            return true;
        }
        let (None, Some(file)) = (node.name(), node.own_text("file")) else {
            return false;
        };
        // Errors in the file are reported when it is attached.
        let path = (self.resolve)(file, self.directory.as_deref()).ok();
        let bytes = path.and_then(|path| read_file(&path).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = text else {
            return false;
        };
        let document = roxmltree::Document::parse(&text).ok();
        let root = document.as_ref().map(|document| document.root_element());
        let own = root.and_then(|root| root.attribute("model")).map(str::trim);
        own.unwrap_or(UNNAMED) == name
    }

    /// Reads and expands the model of a `<model>` asset.
    fn load(&mut self, asset: usize) -> Parsed<ElementTree> {
        let node = self.node(asset);
        let Some(file) = node.own_text("file") else {
            return Err(node.error("<model> has no attribute 'file'"));
        };
        let path = (self.resolve)(file, self.directory.as_deref());
        let path = path.map_err(|why| node.error_at("file", why))?;
        let canonical = path.canonicalize().unwrap_or(path.clone());
        let is_open = |open: &PathBuf| open.canonicalize().ok().as_ref() == Some(&canonical);
        if self.open.iter().any(is_open) || self.open.len() > MAX_ATTACHED {
            let message = format!(
                "<model> '{file}': a model must not attach itself, and models must be attached at \
                 most {MAX_ATTACHED} deep"
            );
            return Err(node.error_at("file", message));
        }
        let bytes = read_file(&path).map_err(|e| node.error_at("file", e))?;
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let input = ModelInput {
            file: &path.display().to_string(),
            bytes: &bytes,
            directory: Some(&directory),
            origins: None,
        };
        let semantics = self.compilers[0].semantics;
        let (tree, log) = read_document(&input, semantics, std::mem::take(&mut self.log));
        let document = self.compilers.len();
        let mut inner = Expander {
            tree,
            log,
            compilers: std::mem::take(&mut self.compilers),
            document,
            directory: Some(directory.clone()),
            open: self.open.clone(),
            made: self.made,
            bytes: self.bytes,
            key_numbers: self.key_numbers,
            renamings: vec![],
            resolve: self.resolve,
        };
        inner.open.push(path);
        let mut result = Ok(());
        if inner.tree.elements.is_empty() {
            result = Err(tarragon_documents::xml::Reported);
        } else {
            inner
                .tree
                .elements
                .iter_mut()
                .for_each(|e| e.document = document);
            let root = ElementRef::root(&inner.tree, &inner.log);
            let mut compiler = CompilerOptions::read(root, semantics);
            compiler.prepend_directory(&directory);
            inner.compilers.push(compiler);
            result = result.and(inner.expand_document());
        }
        self.log = std::mem::take(&mut inner.log);
        self.compilers = std::mem::take(&mut inner.compilers);
        (self.made, self.bytes) = (inner.made, inner.bytes);
        self.key_numbers = inner.key_numbers;
        result.map(|()| inner.tree)
    }
}

fn own_name(element: &MjcfElement) -> &str {
    let name = element.attributes.iter().find(|a| a.name == "name");
    name.map_or("", |a| a.value.trim())
}

/// Returns elements with everything below them.
fn below(elements: &[MjcfElement], roots: &[usize]) -> Vec<usize> {
    let mut all = roots.to_vec();
    let mut next = 0;
    while let Some(&element) = all.get(next) {
        all.extend(&elements[element].children);
        next += 1;
    }
    all
}
