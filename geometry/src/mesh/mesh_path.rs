//! Paths of mesh files, with the packages that their textures may lie in.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Function from a URI `package://NAME/FILE` or `model://NAME/FILE` to a path.
type Lookup = Arc<dyn Fn(&str) -> Option<PathBuf> + Send + Sync>;

/// Path of a mesh file, relative to the working directory. It may carry a lookup of packages for
/// the textures of its materials. The lookup does not take part in comparisons.
///
/// ```
/// use tarragon_geometry::{MeshPath, MeshSource};
/// let lookup = |uri: &str| uri.strip_prefix("package://arm/").map(|file| file.into());
/// let source = MeshSource::Path(MeshPath::new("arm.obj").with_packages(lookup));
/// assert_eq!(source, MeshSource::from("arm.obj"));
/// ```
#[derive(Clone)]
pub struct MeshPath {
    path: PathBuf,
    packages: Option<Lookup>,
}

impl MeshPath {
    /// Creates a path without packages.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            packages: None,
        }
    }

    /// Adds a function that resolves URIs `package://` and `model://`; it may be called at any time
    /// and from any thread.
    #[must_use]
    pub fn with_packages(
        self,
        lookup: impl Fn(&str) -> Option<PathBuf> + Send + Sync + 'static,
    ) -> Self {
        Self {
            packages: Some(Arc::new(lookup)),
            ..self
        }
    }

    /// Returns the existing file of a URI in one of the packages.
    pub fn file_in_package(&self, uri: &str) -> Option<PathBuf> {
        let lookup = self.packages.as_ref()?;
        lookup(uri).filter(|file| file.is_file())
    }
}

impl Deref for MeshPath {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for MeshPath {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl PartialEq for MeshPath {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}
impl Eq for MeshPath {}

impl fmt::Debug for MeshPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}
