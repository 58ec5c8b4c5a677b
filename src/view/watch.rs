//! Detects changes of files.

use crate::files::folder_of;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tarragon::geometry::{MeshSource, SceneGraph, Shape};

/// Time between two checks.
const PERIOD: Duration = Duration::from_millis(300);
/// Number of checks, 50 ms apart, while files keep changing.
const MAX_WAITS: usize = 20;
/// Maximum number of watched files in the model directories.
const MAX_FILES: usize = 2000;
/// Maximum lag of modification times: Linux takes them from its last timer tick (1 to 10 ms),
/// Windows from one every 15.6 ms.
const LAG: Duration = Duration::from_millis(20);

/// The models, their meshes, and the model files in the same directories, which they may include.
pub(super) fn files_of(models: &[PathBuf], scene_graph: &SceneGraph) -> BTreeSet<PathBuf> {
    let inspector = scene_graph.model_inspector();
    let ids = inspector.geometry_ids();
    let meshes = ids.into_iter().filter_map(|id| match inspector.shape(id) {
        Ok(Shape::Mesh(mesh)) => Some(mesh.source()),
        Ok(Shape::Convex(convex)) => Some(convex.source()),
        _ => None,
    });
    let meshes = meshes.filter_map(|source| match source {
        MeshSource::Path(path) => Some(path.to_path_buf()),
        _ => None,
    });
    with_models_beside(models.iter().cloned().chain(meshes).collect())
}

fn with_models_beside(mut files: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let is_model = |path: &Path| {
        let extension = path.extension().and_then(|e| e.to_str());
        extension.is_some_and(|e| {
            [
                "urdf", "sdf", "world", "xml", "mjcf", "xacro", "yaml", "mtl",
            ]
            .contains(&e)
        })
    };
    let folders: BTreeSet<PathBuf> = files
        .iter()
        .map(|file| folder_of(file).to_owned())
        .collect();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let models = entries.map(|e| e.path()).filter(|p| is_model(p));
        files.extend(models.take(MAX_FILES));
    }
    files
}

/// Watched files with their states from before they were read, so that changes during reading are
/// noticed, too.
pub(super) struct Watch {
    files: BTreeMap<PathBuf, Option<State>>,
    last: Instant,
    /// Time when reading began.
    begin: SystemTime,
}

/// Modification time and size, which change when a file is written.
type State = (SystemTime, u64);

fn state(path: &Path) -> Option<State> {
    let file = path.metadata().ok()?;
    Some((file.modified().ok()?, file.len()))
}

impl Watch {
    /// Starts watching models that are about to be read.
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
    /// Watches exactly these files from now on; those that are new have just been read.
    pub(super) fn follow(&mut self, files: &BTreeSet<PathBuf>) {
        self.files.retain(|path, _| files.contains(path));
        let read = self.begin - LAG..=SystemTime::now();
        for path in files {
            if !self.files.contains_key(path) {
                // A file modified since reading began may have been read before the change.
                let sure = state(path).filter(|(written, _)| !read.contains(written));
                self.files.insert(path.clone(), sure);
            }
        }
    }
    /// Whether a file has changed since the last report, and no file has changed for a moment
    /// since.
    pub(super) fn has_changed(&mut self) -> bool {
        if self.last.elapsed() < PERIOD {
            return false;
        }
        self.last = Instant::now();
        if !self.look() {
            return false;
        }
        // A program may be writing several files, or a long one; the wait is bounded in case it
        // never ends.
        for _ in 0..MAX_WAITS {
            std::thread::sleep(Duration::from_millis(50));
            if !self.look() {
                break;
            }
        }
        self.begin = SystemTime::now();
        true
    }
    /// Whether a file differs from its state at the last check.
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
    use super::*;

    #[test]
    fn files_written_during_reading_count_as_changed() {
        let folder = tempfile::tempdir().unwrap();
        let [model, part, mesh] = ["m.urdf", "part.sdf", "m.obj"].map(|f| folder.path().join(f));
        for file in [&model, &part, &mesh] {
            std::fs::write(file, "1").unwrap();
        }
        let mut watch = Watch::new(std::slice::from_ref(&model));
        // The model is being read; its meshes become known only afterwards.
        std::thread::sleep(Duration::from_millis(50));
        std::fs::write(&part, "12").unwrap();
        let files = BTreeSet::from([model.clone(), part.clone(), mesh.clone()]);
        watch.follow(&files);
        assert!(watch.look() && !watch.look());
        let late = folder.path().join("late.obj");
        std::fs::write(&late, "1").unwrap();
        // As if written right after `begin`.
        let lagging = watch.begin - Duration::from_millis(10);
        let file = std::fs::File::options().write(true).open(&late).unwrap();
        file.set_modified(lagging).unwrap();
        let files = &files | &BTreeSet::from([late]);
        watch.follow(&files);
        assert!(watch.look(), "it may have been read before the change");
        watch.follow(&files);
        assert!(!watch.look());
        std::fs::write(&mesh, "12").unwrap();
        assert!(watch.look() && !watch.look());
        std::fs::remove_file(&model).unwrap();
        assert!(watch.look() && !watch.look());
        watch.follow(&BTreeSet::from([part]));
        std::fs::write(&mesh, "123").unwrap();
        assert!(!watch.look(), "it is no longer watched");
    }
}
