//! Sources of meshes: files on disk and in memory.

use super::mesh_path::MeshPath;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Content of a file in memory (Drake's `MemoryFile`). Cheap to clone.
///
/// ```
/// use tarragon_geometry::MemoryFile;
/// let file = MemoryFile::new(*b"v 0 0 0", ".OBJ", "a point");
/// assert_eq!((file.extension(), file.filename_hint()), (".obj", "a point"));
/// assert_eq!(file.contents().len(), 7);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MemoryFile {
    contents: Arc<[u8]>,
    extension: String,
    filename_hint: String,
}

impl MemoryFile {
    /// Creates a file from its content, the `extension` with its dot (`.obj`), which determines the
    /// format, and a name for messages, which may be empty.
    pub fn new(
        contents: impl AsRef<[u8]>,
        extension: impl AsRef<str>,
        filename_hint: impl Into<String>,
    ) -> Self {
        Self {
            contents: contents.as_ref().into(),
            extension: extension.as_ref().to_lowercase(),
            filename_hint: filename_hint.into(),
        }
    }
    /// Reads a file from disk. Its name for messages is its path.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read; the message names it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let contents = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Ok(Self::new(
            contents,
            extension(path),
            path.display().to_string(),
        ))
    }
    /// Returns the content.
    pub fn contents(&self) -> &Arc<[u8]> {
        &self.contents
    }
    /// Returns the extension, which determines the format: in lower case, with the dot.
    pub fn extension(&self) -> &str {
        &self.extension
    }
    /// Returns the name for messages; may be empty.
    pub fn filename_hint(&self) -> &str {
        &self.filename_hint
    }
}

impl fmt::Debug for MemoryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be huge, so only its length is shown.
        f.debug_struct("MemoryFile")
            .field("filename_hint", &self.filename_hint)
            .field("extension", &self.extension)
            .field("bytes", &self.contents.len())
            .finish()
    }
}

/// File that a mesh refers to (Drake's `FileSource`).
///
/// ```
/// use tarragon_geometry::{FileSource, MemoryFile};
/// let on_disk = FileSource::from("textures/wood.png");
/// let in_memory = FileSource::from(MemoryFile::new(*b"newmtl wood", ".mtl", ""));
/// assert_ne!(on_disk, in_memory);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// File on disk; its path is relative to the working directory.
    Path(PathBuf),
    /// File in memory.
    Memory(MemoryFile),
}

impl From<&str> for FileSource {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}
impl From<&Path> for FileSource {
    fn from(path: &Path) -> Self {
        Self::Path(path.into())
    }
}
impl From<PathBuf> for FileSource {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}
impl From<MemoryFile> for FileSource {
    fn from(file: MemoryFile) -> Self {
        Self::Memory(file)
    }
}

/// Mesh file in memory with the files that it refers to (Drake's `InMemoryMesh`).
///
/// Supporting files have the names by which the referring file calls them: `x.mtl` for `mtllib
/// x.mtl`, a URI for glTF. Files that are not listed are missing, because no folder is searched;
/// whether that is an error depends on their use.
///
/// ```
/// use tarragon_geometry::{InMemoryMesh, Mesh, MemoryFile};
/// let obj = "mtllib red.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let mut mesh = InMemoryMesh::new(MemoryFile::new(obj, ".obj", "leaf"));
/// let red = MemoryFile::new("newmtl red\nKd 1 0 0\n", ".mtl", "red");
/// mesh.supporting_files.insert("red.mtl".into(), red.into());
/// let shape = Mesh::new(mesh);
/// assert_eq!((shape.source().description(), shape.extension()), ("leaf".into(), ".obj".into()));
/// assert_eq!(shape.surface()?.num_triangles(), 1);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InMemoryMesh {
    /// Mesh file itself.
    pub mesh_file: MemoryFile,
    /// Files that the mesh file refers to, by the names that it uses.
    pub supporting_files: BTreeMap<String, FileSource>,
}

impl InMemoryMesh {
    /// Creates a mesh without supporting files.
    pub fn new(mesh_file: MemoryFile) -> Self {
        Self {
            mesh_file,
            supporting_files: BTreeMap::new(),
        }
    }
}

/// Source of a mesh: a file on disk or in memory (Drake's `MeshSource`).
///
/// ```
/// use std::path::Path;
/// use tarragon_geometry::{InMemoryMesh, MemoryFile, MeshSource};
/// let file = MeshSource::from("robot/Hand.STL"); // need not exist until it is used
/// assert_eq!((file.extension(), file.path()), (".stl".into(), Some(Path::new("robot/Hand.STL"))));
/// let memory = MeshSource::from(InMemoryMesh::new(MemoryFile::new("", ".obj", "")));
/// assert!(memory.is_in_memory() && !memory.is_path());
/// assert_eq!(memory.description(), "a mesh in memory without a name");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshSource {
    /// File on disk; its path is relative to the working directory.
    Path(MeshPath),
    /// File in memory, reference-counted so that shapes are cheap to clone.
    InMemory(Arc<InMemoryMesh>),
}

impl MeshSource {
    /// Returns true for a file on disk.
    pub fn is_path(&self) -> bool {
        matches!(self, Self::Path(_))
    }
    /// Returns true for a file in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(self, Self::InMemory(_))
    }
    /// Returns the path of a file on disk.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::InMemory(_) => None,
        }
    }
    /// Returns the mesh in memory.
    pub fn in_memory(&self) -> Option<&InMemoryMesh> {
        match self {
            Self::Path(_) => None,
            Self::InMemory(mesh) => Some(mesh),
        }
    }
    /// Returns the extension, which determines the format, in lower case with its dot (`.obj`);
    /// empty if there is none.
    pub fn extension(&self) -> String {
        match self {
            Self::Path(path) => extension(path),
            Self::InMemory(mesh) => mesh.mesh_file.extension.clone(),
        }
    }
    /// Returns the name for messages: the path, or the hint of a file in memory. It is never empty.
    pub fn description(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::InMemory(mesh) if mesh.mesh_file.filename_hint.is_empty() => {
                "a mesh in memory without a name".into()
            }
            Self::InMemory(mesh) => mesh.mesh_file.filename_hint.clone(),
        }
    }
}

fn extension(path: &Path) -> String {
    let found = path.extension();
    found.map_or_else(String::new, |e| {
        format!(".{}", e.to_string_lossy().to_lowercase())
    })
}

/// Converts every type that denotes a path.
macro_rules! from_path {
    ($($t:ty),*) => {$(
        impl From<$t> for MeshSource {
            fn from(path: $t) -> Self {
                Self::Path(MeshPath::new(path))
            }
        }
    )*};
}
from_path!(&str, String, &String, &Path, PathBuf, &PathBuf);

impl From<InMemoryMesh> for MeshSource {
    fn from(mesh: InMemoryMesh) -> Self {
        Self::InMemory(Arc::new(mesh))
    }
}
impl From<&MeshSource> for MeshSource {
    fn from(source: &MeshSource) -> Self {
        source.clone()
    }
}
