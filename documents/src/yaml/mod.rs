//! YAML into values, with errors for the authors of files.
//!
//! Every reader of YAML goes through [`read_yaml`], so that all say the same about a mistake: its
//! line and column, the path of keys that leads to it, what was found, what it must be, and the
//! cure.

mod mistake;
mod reader;
mod scalar;
mod tree;
mod wrappers;

use reader::NodeReader;
use serde::de::DeserializeOwned;
use std::cell::Cell;
use tree::Tree;
use wrappers::{PLACED, TAGGED};
pub use wrappers::{Placed, Tagged};

/// A mistake in a YAML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Line, from 1; 0 if it is unknown.
    pub line: u32,
    /// Column, from 1; 0 if it is unknown.
    pub column: u32,
    /// Path of the keys, what is wrong, and the cure.
    pub message: String,
}

impl std::fmt::Display for YamlError {
    /// Writes `LINE:COLUMN: MESSAGE`, without a place that is unknown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

/// Reads one YAML document.
///
/// Numbers have no underscores: `1_000` is a number in YAML 1.1 only, and neither in YAML 1.2 nor
/// for Drake. As text, such as a name, it is accepted.
///
/// ```
/// use tarragon_documents::yaml::read_yaml;
/// use std::collections::BTreeMap;
/// let error = read_yaml::<BTreeMap<String, f64>>("near: 0.1\nfar: inf").unwrap_err();
/// assert_eq!((error.line, error.column), (2, 6));
/// assert!(error.to_string().starts_with("2:6: far: must be a number"));
/// assert_eq!(error.message, "far: must be a number, got inf; YAML writes infinity as .inf");
/// ```
///
/// # Errors
/// Returns an error if the text is not YAML, is not one document, repeats a key, or does not fit
/// the type.
pub fn read_yaml<V: DeserializeOwned>(text: &str) -> Result<V, YamlError> {
    let tree = Tree::of(text);
    let root = root(&tree, text)?;
    let num_read = Cell::new(0);
    V::deserialize(NodeReader::new(&tree, root, &num_read)).map_err(|m| m.explain(&tree))
}

/// Returns the node of the only document.
fn root(tree: &Tree, text: &str) -> Result<usize, YamlError> {
    if let Some(failure) = &tree.failure {
        return Err(failure.explain(text));
    }
    let (place, message) = match *tree.documents {
        [root] => return Ok(root),
        [] => {
            let message = "the text must be a YAML document, got nothing; add the keys";
            ((1, 1), message)
        }
        [_, second, ..] => (
            tree.nodes[second].place,
            "the text must be one YAML document, got a second one; remove it and the line '---' \
             before it, or put it into a file",
        ),
    };
    Err(YamlError {
        line: place.0,
        column: place.1,
        message: message.into(),
    })
}

/// Returns line and column of the value at a path of keys, such as `cameras.left.fps`, for messages
/// about values that are checked after they are read.
pub fn place_of(text: &str, path: &str) -> Option<(u32, u32)> {
    let tree = Tree::of(text);
    // The key comes first, and its value next.
    let mut nodes = tree.nodes.iter().rev();
    nodes.find(|node| node.path == path).map(|node| node.place)
}

#[cfg(test)]
mod tests;
