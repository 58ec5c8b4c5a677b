//! Where a mesh file finds the files that it refers to.

use crate::shapes::FileSource;
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

    /// What `name` refers to, or why it is nothing; `relative` is the same as a path beside the file.
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
