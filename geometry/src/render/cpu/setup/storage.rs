//! Storage that images use one after the other.

use super::chunk::PreparedChunk;
use super::tile_lists::TileLists;
use crate::render::cpu::raster::{ClusterVertices, Tile};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a scene is prepared in and drawn with.
#[derive(Default)]
pub(crate) struct SceneStorage {
    pub(crate) chunks: Vec<OnceLock<PreparedChunk>>,
    pub(crate) spare: Vec<PreparedChunk>,
    pub(crate) layout: TileLists,
    pub(crate) workers: Workers,
}

/// What a thread draws with.
pub(crate) struct Worker {
    pub(crate) tile: Tile,
    pub(crate) vertices: ClusterVertices,
}

/// As many as have been at work at the same time; each is large and stays where it is.
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

/// A worker that goes home when it is dropped.
pub(crate) struct BorrowedWorker<'a> {
    worker: Option<Box<Worker>>,
    home: &'a Workers,
}

impl Deref for BorrowedWorker<'_> {
    type Target = Worker;
    fn deref(&self) -> &Worker {
        self.worker.as_ref().expect("it is there until dropped")
    }
}

impl DerefMut for BorrowedWorker<'_> {
    fn deref_mut(&mut self) -> &mut Worker {
        self.worker.as_mut().expect("it is there until dropped")
    }
}

impl Drop for BorrowedWorker<'_> {
    fn drop(&mut self) {
        let mut idle = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.worker.take());
    }
}
