//! Files, folders and links of an archive on disk.

use crate::packages::settings::RemoteSettings;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Maximum number of parts of a path.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathKind {
    Folder,
    File,
    Link,
}

/// A symbolic link to be created at the end.
struct PendingLink {
    /// Path within the archive.
    path: PathBuf,
    target: PathBuf,
}

/// A folder that receives the content of an archive.
pub(super) struct UnpackedTree<'a> {
    root: &'a Path,
    /// The folder of the archive that becomes `root`.
    prefix: &'a Path,
    prefix_found: bool,
    /// Unpacked entries and their kinds, relative to `root`.
    known: BTreeMap<PathBuf, PathKind>,
    /// Links to be created at the end, by path relative to `root`.
    links: BTreeMap<PathBuf, PendingLink>,
    bytes_left: u64,
    max_bytes: u64,
    entries_left: u64,
    max_entries: u64,
}

impl<'a> UnpackedTree<'a> {
    pub(super) fn new(
        root: &'a Path,
        prefix: &'a Path,
        settings: &RemoteSettings,
        archive_bytes: u64,
    ) -> Self {
        let max_bytes = settings.max_bytes_of(archive_bytes);
        Self {
            root,
            prefix,
            prefix_found: prefix.as_os_str().is_empty(),
            known: BTreeMap::new(),
            links: BTreeMap::new(),
            bytes_left: max_bytes,
            max_bytes,
            entries_left: settings.max_entries,
            max_entries: settings.max_entries,
        }
    }

    /// Charges bytes against the limit on the unpacked size.
    pub(super) fn count_bytes(&mut self, bytes: u64) -> Result<(), String> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| {
            format!(
                "its content must have at most {} bytes (max_unpacked_bytes and max_ratio of the \
                 package map's RemoteSettings), got more",
                self.max_bytes
            )
        })?;
        Ok(())
    }

    /// Returns the destination of an entry, relative to the root; `None` if the entry is outside
    /// the prefix.
    fn place(&mut self, path: &Path) -> Result<Option<PathBuf>, String> {
        self.entries_left = self.entries_left.checked_sub(1).ok_or_else(|| {
            format!(
                "it must have at most {} entries (max_entries of the package map's \
                 RemoteSettings), got more",
                self.max_entries
            )
        })?;
        let path = within(path)?;
        Ok(path.strip_prefix(self.prefix).ok().map(Path::to_path_buf))
    }

    pub(super) fn add_folder(&mut self, path: &Path) -> Result<(), String> {
        if let Some(path) = self.place(path)? {
            self.prefix_found = true;
            self.make_folders(&path)?;
        }
        Ok(())
    }

    pub(super) fn add_file(&mut self, path: &Path, content: &mut dyn Read) -> Result<(), String> {
        // Dropped files count against the limits too.
        let mut file: Box<dyn Write> = match self.place(path)? {
            Some(place) => Box::new(self.make_file(&place)?),
            None => Box::new(io::sink()),
        };
        let at = |e: io::Error| format!("{path:?}: {e}");
        let mut buffer = vec![0; 1 << 16];
        loop {
            match content.read(&mut buffer) {
                Ok(0) => return file.flush().map_err(at),
                Ok(n) => {
                    self.count_bytes(n as u64)?;
                    file.write_all(&buffer[..n]).map_err(at)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(at(error)),
            }
        }
    }

    /// Adds a file with the content of an earlier one (a hard link).
    pub(super) fn add_same_file(&mut self, path: &Path, target: &Path) -> Result<(), String> {
        let inside = within(target)?;
        let Some(place) = self.place(path)? else {
            return Ok(());
        };
        let source = inside.strip_prefix(self.prefix).ok();
        let source = source.filter(|s| self.known.get(*s) == Some(&PathKind::File));
        let source = source.ok_or_else(|| {
            format!("the hard link {path:?} must lead to a file unpacked before, got {target:?}")
        })?;
        if source == place {
            return Ok(());
        }
        let at = |e: io::Error| format!("{path:?}: {e}");
        let mut from = fs::File::open(self.root.join(source)).map_err(at)?;
        self.count_bytes(from.metadata().map_err(at)?.len())?;
        let mut to = self.make_file(&place)?;
        io::copy(&mut from, &mut to).map_err(at)?;
        Ok(())
    }

    pub(super) fn add_link(&mut self, path: &Path, target: &Path) -> Result<(), String> {
        let Some(place) = self.place(path)? else {
            return Ok(());
        };
        if place.as_os_str().is_empty() {
            return Err(format!("{path:?} must be a folder, got a link"));
        }
        self.make_folders(place.parent().unwrap_or(Path::new("")))?;
        self.replace(&place)?;
        self.known.insert(place.clone(), PathKind::Link);
        let link = PendingLink {
            path: within(path)?,
            target: target.into(),
        };
        self.links.insert(place, link);
        Ok(())
    }

    /// Creates a folder and its parents.
    fn make_folders(&mut self, path: &Path) -> Result<(), String> {
        let mut at = PathBuf::new();
        for part in path.components() {
            at.push(part);
            match self.known.get(&at) {
                Some(PathKind::Folder) => continue,
                Some(_) => {
                    return Err(format!(
                        "{at:?} must be either a folder or a file or link, got both"
                    ));
                }
                None => {}
            }
            fs::create_dir(self.root.join(&at)).map_err(|e| collision(&at, &e))?;
            self.known.insert(at.clone(), PathKind::Folder);
        }
        Ok(())
    }

    /// Opens a new file. Of several entries with the same path, the last wins.
    fn make_file(&mut self, path: &Path) -> Result<fs::File, String> {
        if path.as_os_str().is_empty() {
            return Err(format!("{:?} must be a folder, got a file", self.prefix));
        }
        self.prefix_found = true;
        self.make_folders(path.parent().unwrap_or(Path::new("")))?;
        self.replace(path)?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.root.join(path))
            .map_err(|e| collision(path, &e))?;
        self.known.insert(path.into(), PathKind::File);
        Ok(file)
    }

    /// Removes the previous file or link at a path, if any.
    fn replace(&mut self, path: &Path) -> Result<(), String> {
        match self.known.get(path) {
            None => {}
            Some(PathKind::Folder) => {
                return Err(format!(
                    "{path:?} must be either a folder or a file, got both"
                ));
            }
            Some(PathKind::File) => {
                let removed = fs::remove_file(self.root.join(path));
                removed.map_err(|e| format!("{path:?}: {e}"))?;
            }
            Some(PathKind::Link) => {
                self.links.remove(path);
            }
        }
        self.known.remove(path);
        Ok(())
    }

    /// Creates the links, and checks that the result is not empty.
    pub(super) fn finish(mut self) -> Result<(), String> {
        if !self.prefix_found {
            let prefix = self.prefix;
            return Err(format!(
                "it must have the folder {prefix:?}, which strip_prefix names"
            ));
        }
        let mut made = vec![];
        for (place, link) in std::mem::take(&mut self.links) {
            if self.make_link(&place, &link)? {
                made.push(place);
            }
        }
        let root = self.root.canonicalize().map_err(|e| e.to_string())?;
        // Links may lead through other links, so only the file system can resolve them.
        for place in made {
            let path = self.root.join(&place);
            match path.canonicalize() {
                Ok(target) if target.starts_with(&root) => {}
                Ok(_) => return Err(leads_out(&place)),
                Err(_) => {
                    warn_of_dangling(&place);
                    fs::remove_file(&path).map_err(|e| format!("{place:?}: {e}"))?;
                }
            }
        }
        let mut entries = fs::read_dir(self.root).map_err(|e| e.to_string())?;
        match entries.next() {
            Some(_) => Ok(()),
            None => Err("it must have files, got none".into()),
        }
    }

    /// Creates a link; returns true if its target must still be checked.
    fn make_link(&mut self, place: &Path, link: &PendingLink) -> Result<bool, String> {
        // A link out of the archive is an error; a link out of the prefix leads to dropped files.
        let folder = link.path.parent().unwrap_or(Path::new(""));
        let target = joined(folder, &link.target).ok_or_else(|| leads_out(&link.path))?;
        let Ok(target) = target.strip_prefix(self.prefix) else {
            warn_of_dangling(place);
            return Ok(false);
        };
        #[cfg(unix)]
        {
            let _ = target;
            let path = self.root.join(place);
            let made = std::os::unix::fs::symlink(&link.target, path);
            made.map_err(|e| collision(place, &e))?;
            Ok(true)
        }
        // On other systems, links need privileges; a copy replaces them.
        #[cfg(not(unix))]
        {
            if self.known.get(target) != Some(&PathKind::File) {
                warn_of_dangling(place);
                return Ok(false);
            }
            let (from, to) = (self.root.join(target), self.root.join(place));
            let bytes = from
                .metadata()
                .map_err(|e| format!("{place:?}: {e}"))?
                .len();
            self.count_bytes(bytes)?;
            fs::copy(from, to).map_err(|e| collision(place, &e))?;
            Ok(false)
        }
    }
}

fn leads_out(path: &Path) -> String {
    format!("the link {path:?} must not lead out of the archive")
}

fn warn_of_dangling(path: &Path) {
    tracing::warn!("the link {path:?} of a package has no target and is left out");
}

fn collision(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::AlreadyExists => format!(
            "{path:?} must differ from other paths in more than upper and lower case, which this \
             file system does not distinguish"
        ),
        _ => format!("{path:?}: {error}"),
    }
}

/// Converts a path of an archive to a path below a root.
fn within(path: &Path) -> Result<PathBuf, String> {
    let mut inside = PathBuf::new();
    for (depth, part) in path.components().enumerate() {
        match part {
            Component::Normal(_) if depth >= MAX_DEPTH => {
                return Err(format!(
                    "a path must have at most {MAX_DEPTH} parts, got more"
                ));
            }
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            _ => {
                return Err(format!(
                    "the path {path:?} must not lead out of the archive"
                ));
            }
        }
    }
    Ok(inside)
}

/// Returns the target of a link in `folder`, assuming that no other link is on the way; `None` if
/// the target is not below the root.
fn joined(folder: &Path, target: &Path) -> Option<PathBuf> {
    let mut at = folder.to_path_buf();
    for part in target.components() {
        match part {
            Component::Normal(name) => at.push(name),
            Component::CurDir => {}
            Component::ParentDir if at.pop() => {}
            _ => return None,
        }
    }
    Some(at)
}
