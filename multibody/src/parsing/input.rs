//! What a format's parser is given to read.

use std::path::Path;

/// The content of a model file.
pub(crate) struct Input<'a> {
    /// Its name, for messages.
    pub(crate) file: &'a str,
    pub(crate) bytes: &'a [u8],
    /// Where relative names start; none for a model given as text.
    pub(crate) directory: Option<&'a Path>,
}

/// What the caller wants a model to be called.
#[derive(Clone, Copy, Default)]
pub(crate) struct Naming<'a> {
    /// Instead of the name that the file gives.
    pub(crate) name: Option<&'a str>,
    /// In front of all names of model instances, without the `::`; may be empty.
    pub(crate) scope: &'a str,
}

/// `scope::name`, or the name alone.
pub(crate) fn scoped(scope: &str, name: &str) -> String {
    match scope {
        "" => name.into(),
        scope => format!("{scope}::{name}"),
    }
}
