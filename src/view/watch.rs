//! Whether files have changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tarragon::geometry::{MeshSource, SceneGraph, Shape};

/// The time between two looks.
const PERIOD: Duration = Duration::from_millis(300);
/// Looks, 50 ms apart, at files that go on to change.
const MAX_WAITS: usize = 20;
/// Files beside a model that are looked at.
const MAX_FILES: usize = 2000;

/// The models, their meshes, and the model files beside them, which they may include.
pub(super) fn files_of(models: &[PathBuf], scene_graph: &SceneGraph) -> BTreeSet<PathBuf> {
    let mut files: BTreeSet<PathBuf> = models.iter().cloned().collect();
    let inspector = scene_graph.model_inspector();
    for id in inspector.geometry_ids() {
        let source = match inspector.shape(id) {
            Ok(Shape::Mesh(mesh)) => mesh.source(),
            Ok(Shape::Convex(convex)) => convex.source(),
            _ => continue,
        };
        if let MeshSource::Path(path) = source {
            files.insert(path.clone());
        }
    }
    let is_model = |path: &Path| {
        let extension = path.extension().and_then(|e| e.to_str());
        extension.is_some_and(|e| ["urdf", "sdf", "xml", "yaml", "mtl"].contains(&e))
    };
    let folders: BTreeSet<PathBuf> = files
        .iter()
        .filter_map(|f| Some(f.parent()?.to_owned()))
        .collect();
    for folder in folders {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &folder
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let models = entries.map(|e| e.path()).filter(|p| is_model(p));
        files.extend(models.take(MAX_FILES));
    }
    files
}

/// Files, as they were.
pub(super) struct Watch {
    files: Vec<(PathBuf, Option<State>)>,
    last: Instant,
}

/// What changes when a file is written.
type State = (SystemTime, u64);

fn state(path: &Path) -> Option<State> {
    let file = path.metadata().ok()?;
    Some((file.modified().ok()?, file.len()))
}

impl Watch {
    pub(super) fn new(files: &BTreeSet<PathBuf>) -> Self {
        let files = files.iter().map(|f| (f.clone(), state(f))).collect();
        let last = Instant::now();
        Self { files, last }
    }
    /// Whether one of them has changed, and all of them have stayed as they are for a moment since.
    pub(super) fn has_changed(&mut self) -> bool {
        if self.last.elapsed() < PERIOD {
            return false;
        }
        self.last = Instant::now();
        let changed = self.files.iter().any(|(path, old)| state(path) != *old);
        if changed {
            // Whoever writes several files, or a long one, may not be done yet; one that never is, is not
            // waited for.
            for _ in 0..MAX_WAITS {
                let before: Vec<Option<State>> = self.files.iter().map(|(p, _)| state(p)).collect();
                std::thread::sleep(Duration::from_millis(50));
                if self
                    .files
                    .iter()
                    .zip(before)
                    .all(|((p, _), old)| state(p) == old)
                {
                    break;
                }
            }
        }
        changed
    }
}
