//! Where a mesh file finds the files that it refers to.

use crate::mesh::FileSource;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// A file that is read: its name for messages, and where its supporting files are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) path: &'a Path,
    /// Supporting files by the names that refer to them; `None` if they are beside `path`.
    supporting: Option<&'a BTreeMap<String, FileSource>>,
}

impl<'a> Origin<'a> {
    pub(super) fn on_disk(path: &'a Path) -> Self {
        Self {
            path,
            supporting: None,
        }
    }
    pub(super) fn in_memory(path: &'a Path, supporting: &'a BTreeMap<String, FileSource>) -> Self {
        Self {
            path,
            supporting: Some(supporting),
        }
    }
    /// A file that this one refers to and that refers to others in turn.
    pub(super) fn of(self, path: &'a Path) -> Self {
        Self { path, ..self }
    }

    /// What `name` refers to, or why it is nothing; `relative` is the same as a path beside the
    /// file.
    pub(super) fn find(self, name: &str, relative: &str) -> Result<FileSource, String> {
        let Some(supporting) = self.supporting else {
            let folder = self.path.parent().unwrap_or(Path::new(""));
            return Ok(FileSource::Path(folder.join(relative)));
        };
        supporting.get(name).cloned().ok_or_else(|| {
            let known: Vec<String> = supporting
                .keys()
                .take(8)
                .map(|k| format!("'{k}'"))
                .collect();
            let known = if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            };
            format!("is not among the supporting files of this mesh in memory, which are: {known}")
        })
    }
}

/// Replaces `%20` and the like; what is no escape stays.
pub(super) fn percent(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let mut bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    while let Some((&first, rest)) = bytes.split_first() {
        match (first, digit(rest.first()), digit(rest.get(1))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                bytes = &rest[2..];
            }
            _ => {
                out.push(first);
                bytes = rest;
            }
        }
    }
    Cow::Owned(out)
}
