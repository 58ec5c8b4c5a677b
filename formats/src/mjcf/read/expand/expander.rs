//! State of the expansion of one document.

use super::renaming::Renaming;
use crate::mjcf::read::compiler::CompilerOptions;
use crate::mjcf::read::tree::{
    Attribute, DiagnosticLog, ElementRef, ElementTree, FilePosition, MjcfElement,
};
use std::path::{Path, PathBuf};
use tarragon_documents::Severity;
use tarragon_documents::xml::{Parsed, Reported};

/// Maximum number of elements that are made by expansion.
pub(super) const MAX_ELEMENTS: usize = 300_000;
/// Maximum number of bytes of the attributes of these elements.
const MAX_BYTES: usize = 256 << 20;

/// Finds the file of a name relative to a directory.
pub(super) type Resolve<'a> = &'a dyn Fn(&str, Option<&Path>) -> Result<PathBuf, String>;

/// A document during its expansion.
pub(super) struct Expander<'a> {
    pub(super) tree: ElementTree,
    pub(super) log: DiagnosticLog,
    pub(super) compilers: Vec<CompilerOptions>,
    /// Number of the document in `tree`.
    pub(super) document: usize,
    /// Directory of the document.
    pub(super) directory: Option<PathBuf>,
    /// The files that are being read, each attached by the one before.
    pub(super) open: Vec<PathBuf>,
    /// Numbers of elements and bytes that expansion has made.
    pub(super) made: usize,
    pub(super) bytes: usize,
    /// Number of joints and actuators that keyframes of attached models refer to.
    pub(super) key_numbers: usize,
    /// Names that `<replicate>` has replaced, innermost first.
    pub(super) renamings: Vec<Renaming>,
    pub(super) resolve: Resolve<'a>,
}

impl Expander<'_> {
    pub(super) fn node(&self, index: usize) -> ElementRef<'_> {
        ElementRef::root(&self.tree, &self.log).at(index)
    }
    pub(super) fn tag(&self, index: usize) -> &str {
        &self.tree.elements[index].tag
    }

    /// Returns the elements of a name under the root.
    pub(super) fn sections(&self, tag: &str) -> Vec<usize> {
        let sections = self.tree.elements[0].children.iter();
        sections.copied().filter(|i| self.tag(*i) == tag).collect()
    }

    /// Adds an element that expansion makes; the error is reported at `place`.
    pub(super) fn add(&mut self, element: MjcfElement) -> Parsed<usize> {
        self.made += 1;
        let attributes = element.attributes.iter();
        self.bytes += attributes
            .map(|a| a.name.len() + a.value.len())
            .sum::<usize>();
        if self.made > MAX_ELEMENTS || self.bytes > MAX_BYTES {
            let message = format!(
                "the expanded model must have at most {MAX_ELEMENTS} copied elements and \
                 {MAX_BYTES} bytes in their attributes; reduce the number of copies"
            );
            let severity = Severity::Error;
            self.log.report(severity, element.place, message);
            return Err(Reported);
        }
        self.tree.elements.push(element);
        Ok(self.tree.elements.len() - 1)
    }

    /// Adds an element with given attributes and children at the place of another one.
    pub(super) fn make(
        &mut self,
        tag: &str,
        at: usize,
        attributes: Vec<(&str, String)>,
        children: Vec<usize>,
    ) -> Parsed<usize> {
        let (place, document) = (self.tree.elements[at].place, self.document);
        self.add(MjcfElement {
            tag: tag.into(),
            attributes: attributes
                .into_iter()
                .map(|(name, value)| attribute(name, value, place))
                .collect(),
            children,
            place,
            document,
            frame: None,
            key_number: None,
        })
    }
}

/// Returns an attribute that expansion adds.
pub(super) fn attribute(name: &str, value: String, place: FilePosition) -> Attribute {
    Attribute {
        name: name.into(),
        value,
        place,
    }
}

/// Returns numbers as the text of an attribute.
pub(super) fn text(numbers: &[f64]) -> String {
    let words: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
    words.join(" ")
}
