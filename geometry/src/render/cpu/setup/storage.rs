//! Storage that is reused from image to image.

use super::chunk::PreparedChunk;
use super::tile_lists::TileLists;
use crate::render::cpu::raster::{ClusterVertices, Tile};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Storage for preparing and drawing a scene.
#[derive(Default)]
pub(crate) struct SceneStorage {
    pub(crate) chunks: Vec<OnceLock<PreparedChunk>>,
    pub(crate) spare: Vec<PreparedChunk>,
    pub(crate) layout: TileLists,
    pub(crate) workers: Workers,
}

/// Working memory of one drawing thread.
pub(crate) struct Worker {
    pub(crate) tile: Tile,
    pub(crate) vertices: ClusterVertices,
}

/// Idle workers: as many as have been in use at once. Each is large, so it is boxed and never
/// moved.
#[derive(Default)]
pub(crate) struct Workers(Mutex<Vec<Box<Worker>>>);

impl Workers {
    pub(crate) fn borrow(&self) -> BorrowedWorker<'_> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let new = || {
            Box::new(Worker {
                tile: Tile::new(),
                vertices: ClusterVertices::new(),
            })
        };
        BorrowedWorker {
            worker: Some(idle.unwrap_or_else(new)),
            home: self,
        }
    }
}

/// A worker that returns to the idle ones when it is dropped.
pub(crate) struct BorrowedWorker<'a> {
    worker: Option<Box<Worker>>,
    home: &'a Workers,
}

impl Deref for BorrowedWorker<'_> {
    type Target = Worker;
    fn deref(&self) -> &Worker {
        self.worker
            .as_ref()
            .expect("the worker is present until drop")
    }
}

impl DerefMut for BorrowedWorker<'_> {
    fn deref_mut(&mut self) -> &mut Worker {
        self.worker
            .as_mut()
            .expect("the worker is present until drop")
    }
}

impl Drop for BorrowedWorker<'_> {
    fn drop(&mut self) {
        let mut idle = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.worker.take());
    }
}
