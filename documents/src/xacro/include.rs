//! Included files, and reading the first one.

use super::expander::{OUTERMOST, XacroError, XacroExpander, XacroResult, condition};
use super::glob;
use super::read;
use super::scopes::{Binding, MacroEntry, ScopePair};
use super::tree::{PlacedText, TreeIndex};
use crate::diagnostic::Diagnostic;
use crate::expression::PyValue;
use crate::input::read_file;
use crate::xml::OriginPlace;
use std::path::Path;

impl XacroExpander<'_> {
    /// Expands a document whose bytes were read already.
    pub(super) fn expand_document(&mut self, path: &Path, bytes: &[u8]) -> XacroResult<TreeIndex> {
        self.scopes.add_properties(None, false);
        let macros = self.scopes.add_macros(None);
        let document = self.parse(path, bytes)?;
        let Some(root) = self.tree.first_element(document) else {
            return Ok(document);
        };
        if let Some(target) = self.tree.attribute(root, "xacro:targetNamespace").cloned()
            && !target.text.is_empty()
        {
            self.tree.remove_attribute(root, "xacro:targetNamespace");
            self.tree.set_attribute(root, "xmlns", target);
        }
        self.open.push(path.into());
        self.expand(
            root,
            ScopePair {
                macros,
                properties: OUTERMOST,
            },
        )?;
        Ok(document)
    }

    fn parse(&mut self, path: &Path, bytes: &[u8]) -> XacroResult<TreeIndex> {
        let name = path.display().to_string();
        let file = self.file_index(name.clone());
        self.add_dependency(path);
        let top = OriginPlace {
            file,
            ..OriginPlace::default()
        };
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let message = format!("the file must be UTF-8, byte {} is not", e.valid_up_to());
            self.error(top, message)
        })?;
        let room = self.room();
        let (document, notes) =
            read::read(text, &name, file, &mut self.tree, room).map_err(|error| {
                let place = OriginPlace {
                    file,
                    line: error.line,
                    column: error.column,
                };
                self.error(place, error.message)
            })?;
        for note in notes {
            let place = self
                .tree
                .first_element(document)
                .map(|root| self.tree.place(root));
            self.warn(place.unwrap_or(top), note);
        }
        Ok(document)
    }

    /// Replaces an include by the content of its files.
    pub(super) fn include(&mut self, node: TreeIndex, scopes: ScopePair) -> XacroResult<()> {
        self.check_attributes(node, &["filename", "ns", "optional"]);
        let filename = self.required(node, "filename")?;
        let attribute = |name| self.tree.attribute(node, name).cloned();
        let (namespace, optional) = (attribute("ns"), attribute("optional"));
        let inner = match namespace.filter(|ns| !ns.text.is_empty()) {
            Some(namespace) => self.open_namespace(&namespace, scopes)?,
            None => scopes,
        };
        let optional = match &optional {
            None => false,
            Some(text) => condition(&PyValue::str(&text.text)).ok_or_else(|| {
                let found = &text.text;
                let message = format!("attribute 'optional' must be true or false, got '{found}'");
                self.error(text.place, message)
            })?,
        };
        if let Some(child) = self.tree.first_element(node) {
            let place = self.tree.place(child);
            self.warn(
                place,
                "<xacro:include> must have no elements; they are ignored",
            );
        }
        let name = self.evaluate_text(&filename, scopes.properties)?;
        let pattern = self.beside(&name);
        let files = if name.contains(['*', '?', '[']) {
            let found = glob::files(&pattern);
            let found = found.map_err(|message| self.error(filename.place, message))?;
            if found.is_empty() {
                let shown = pattern.display();
                let message = format!("attribute 'filename' must match files, got '{shown}'");
                self.warn(filename.place, message);
            }
            found
        } else {
            vec![pattern]
        };
        let mut roots = vec![];
        for file in files {
            match self.include_file(&file, &filename, inner) {
                Ok(root) => roots.extend(root),
                Err(error) if optional && error.is_missing_file => continue,
                Err(error) => {
                    // A file that is made or mended later may end the error.
                    self.add_dependency(&file);
                    return Err(error);
                }
            }
            if let Some(root) = roots.last() {
                self.lift_prefixes(node, *root);
            }
        }
        self.tree.remove_comments_before(node, self.stop);
        for root in roots {
            while let Some(child) = self.tree.first(root) {
                self.tree.insert_before(child, node);
            }
        }
        self.tree.detach(node);
        Ok(())
    }

    fn open_namespace(
        &mut self,
        namespace: &PlacedText,
        scopes: ScopePair,
    ) -> XacroResult<ScopePair> {
        let name = self.evaluate_text(namespace, scopes.properties)?;
        self.warn_if_global(&name, namespace.place);
        let inner = ScopePair {
            macros: self.scopes.add_macros(None),
            properties: self.scopes.add_properties(Some(scopes.properties), true),
        };
        let entries = &mut self.scopes.macros[scopes.macros as usize].entries;
        entries.insert(name.clone(), MacroEntry::Namespace(inner.macros));
        let value = Binding::Value(Self::namespace(inner.properties));
        let bindings = &mut self.scopes.scope_mut(scopes.properties).bindings;
        bindings.insert(name, value);
        Ok(inner)
    }

    fn include_file(
        &mut self,
        file: &Path,
        filename: &PlacedText,
        scopes: ScopePair,
    ) -> XacroResult<Option<TreeIndex>> {
        if let Some(message) = self.nested_too_deep(file) {
            return Err(self.error(filename.place, message));
        }
        let bytes = read_file(file).map_err(|e| {
            let shown = file.display();
            let error = self.error(
                filename.place,
                format!(
                    "'{shown}' cannot be read: {e}; names are relative to the file that includes \
                     them"
                ),
            );
            Box::new(XacroError {
                is_missing_file: true,
                ..*error
            })
        })?;
        let counted = self.spend(bytes.len() / 4);
        counted.map_err(|e| self.error(filename.place, e.message))?;
        let document = self.parse(file, &bytes)?;
        let Some(root) = self.tree.first_element(document) else {
            return Ok(None);
        };
        self.open.push(file.into());
        let expanded = self.expand(root, scopes);
        self.open.pop();
        expanded.map(|()| Some(root))
    }

    /// Creates an error about the expansion as a whole.
    pub(super) fn error_of_file(&self, path: &Path, message: &str) -> Box<XacroError> {
        Box::new(XacroError {
            diagnostic: Diagnostic::of_file(&path.display().to_string(), message),
            is_missing_file: false,
        })
    }
}
