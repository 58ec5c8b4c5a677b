//! Whether files have changed.

use std::collections::{BTreeMap, BTreeSet};
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
    let inspector = scene_graph.model_inspector();
    let ids = inspector.geometry_ids();
    let meshes = ids.into_iter().filter_map(|id| match inspector.shape(id) {
        Ok(Shape::Mesh(mesh)) => Some(mesh.source()),
        Ok(Shape::Convex(convex)) => Some(convex.source()),
        _ => None,
    });
    let meshes = meshes.filter_map(|source| match source {
        MeshSource::Path(path) => Some(path.clone()),
        _ => None,
    });
    with_models_beside(models.iter().cloned().chain(meshes).collect())
}

fn with_models_beside(mut files: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
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

/// Files, as they were before they were read: what is written while they are being read is seen,
/// too.
pub(super) struct Watch {
    files: BTreeMap<PathBuf, Option<State>>,
    last: Instant,
    /// Since when they have been read.
    begin: SystemTime,
}

/// What changes when a file is written.
type State = (SystemTime, u64);

fn state(path: &Path) -> Option<State> {
    let file = path.metadata().ok()?;
    Some((file.modified().ok()?, file.len()))
}

impl Watch {
    /// Of models that are read after this.
    pub(super) fn new(models: &[PathBuf]) -> Self {
        let files = with_models_beside(models.iter().cloned().collect());
        let mut watch = Self {
            files: BTreeMap::new(),
            last: Instant::now(),
            begin: SystemTime::now(),
        };
        watch.follow(&files);
        watch
    }
    /// Looks at these files from now on, of which those that were not known have just been read.
    pub(super) fn follow(&mut self, files: &BTreeSet<PathBuf>) {
        self.files.retain(|path, _| files.contains(path));
        let read = self.begin..=SystemTime::now();
        for path in files {
            if !self.files.contains_key(path) {
                // One that was written meanwhile may have been read before.
                let sure = state(path).filter(|(written, _)| !read.contains(written));
                self.files.insert(path.clone(), sure);
            }
        }
    }
    /// Whether one of them has changed since the last such answer, and all of them have stayed as
    /// they are for a moment since.
    pub(super) fn has_changed(&mut self) -> bool {
        if self.last.elapsed() < PERIOD {
            return false;
        }
        self.last = Instant::now();
        if !self.look() {
            return false;
        }
        // Whoever writes several files, or a long one, may not be done yet; one that never is, is
        // not waited for.
        for _ in 0..MAX_WAITS {
            std::thread::sleep(Duration::from_millis(50));
            if !self.look() {
                break;
            }
        }
        self.begin = SystemTime::now();
        true
    }
    /// Whether one of them is not as it was at the last look.
    fn look(&mut self) -> bool {
        let mut changed = false;
        for (path, old) in &mut self.files {
            let new = state(path);
            changed |= new != *old;
            *old = new;
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_is_written_while_files_are_read_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let [model, part, mesh] = ["m.urdf", "part.sdf", "m.obj"].map(|f| folder.path().join(f));
        for file in [&model, &part, &mesh] {
            std::fs::write(file, "1").unwrap();
        }
        let mut watch = Watch::new(std::slice::from_ref(&model));
        // The model is being read; the meshes are known only afterwards. Times of files may be a
        // little behind.
        std::thread::sleep(Duration::from_millis(50));
        std::fs::write(&part, "12").unwrap();
        let files = BTreeSet::from([model.clone(), part.clone(), mesh.clone()]);
        watch.follow(&files);
        assert!(watch.look() && !watch.look());
        let late = folder.path().join("late.obj");
        std::fs::write(&late, "1").unwrap();
        let files = &files | &BTreeSet::from([late]);
        watch.follow(&files);
        assert!(watch.look(), "it may have been read before it was written");
        watch.follow(&files);
        assert!(!watch.look());
        std::fs::write(&mesh, "12").unwrap();
        assert!(watch.look() && !watch.look());
        std::fs::remove_file(&model).unwrap();
        assert!(watch.look() && !watch.look());
        watch.follow(&BTreeSet::from([part]));
        std::fs::write(&mesh, "123").unwrap();
        assert!(!watch.look(), "it is not followed any more");
    }
}
