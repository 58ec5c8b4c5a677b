//! Where meshes come from.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The content of a file in memory (Drake's `MemoryFile`). Cheap to clone.
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
    /// From the content, the `extension` with its dot (`.obj`), which says what the content is, and
    /// a name for messages, which may be empty.
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
    /// The content of a file on disk, named by its path.
    ///
    /// # Errors
    /// If the file can not be read; the message names it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let contents = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Ok(Self::new(
            contents,
            extension(path),
            path.display().to_string(),
        ))
    }
    /// The content.
    pub fn contents(&self) -> &Arc<[u8]> {
        &self.contents
    }
    /// What the content is: in lower case, with the dot.
    pub fn extension(&self) -> &str {
        &self.extension
    }
    /// The name for messages; may be empty.
    pub fn filename_hint(&self) -> &str {
        &self.filename_hint
    }
}

impl fmt::Debug for MemoryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nobody wants to see the content.
        f.debug_struct("MemoryFile")
            .field("filename_hint", &self.filename_hint)
            .field("extension", &self.extension)
            .field("bytes", &self.contents.len())
            .finish()
    }
}

/// A file that a mesh refers to (Drake's `FileSource`).
///
/// ```
/// use tarragon_geometry::{FileSource, MemoryFile};
/// let on_disk = FileSource::from("textures/wood.png");
/// let in_memory = FileSource::from(MemoryFile::new(*b"newmtl wood", ".mtl", ""));
/// assert_ne!(on_disk, in_memory);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// A file on disk, relative to the working directory.
    Path(PathBuf),
    /// A file in memory.
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

/// A mesh file in memory with the files that it refers to (Drake's `InMemoryMesh`).
///
/// The names of supporting files are those that stand in the file that refers to them: `x.mtl` for
/// `mtllib x.mtl`, a URI for glTF. What is missing here is missing, no folder is searched; whether
/// that is an error depends on what it is needed for.
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
    /// The mesh file itself.
    pub mesh_file: MemoryFile,
    /// Files that it refers to, by the name that it uses.
    pub supporting_files: BTreeMap<String, FileSource>,
}

impl InMemoryMesh {
    /// A mesh file without supporting files.
    pub fn new(mesh_file: MemoryFile) -> Self {
        Self {
            mesh_file,
            supporting_files: BTreeMap::new(),
        }
    }
}

/// Where a mesh comes from: a file on disk or one in memory (Drake's `MeshSource`).
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
    /// A file on disk, relative to the working directory.
    Path(PathBuf),
    /// A file in memory. Behind a pointer, so that shapes are cheap to clone.
    InMemory(Arc<InMemoryMesh>),
}

impl MeshSource {
    /// Whether it is a file on disk.
    pub fn is_path(&self) -> bool {
        matches!(self, Self::Path(_))
    }
    /// Whether it is a file in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(self, Self::InMemory(_))
    }
    /// The path of a file on disk.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::InMemory(_) => None,
        }
    }
    /// The file in memory.
    pub fn in_memory(&self) -> Option<&InMemoryMesh> {
        match self {
            Self::Path(_) => None,
            Self::InMemory(mesh) => Some(mesh),
        }
    }
    /// What kind of file it is: the extension in lower case with its dot (`.obj`); empty if there
    /// is none.
    pub fn extension(&self) -> String {
        match self {
            Self::Path(path) => extension(path),
            Self::InMemory(mesh) => mesh.mesh_file.extension.clone(),
        }
    }
    /// What to call it in messages: the path, or the hint of a file in memory. Never empty.
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

/// Everything that stands for a path does so here.
macro_rules! from_path {
    ($($t:ty),*) => {$(
        impl From<$t> for MeshSource {
            fn from(path: $t) -> Self {
                Self::Path(path.into())
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
