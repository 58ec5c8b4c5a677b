//! Storage that images use one after the other.

use super::layout::Layout;
use super::part::Part;
use super::raster::Vertices;
use super::shade::Shader;
use super::tile::Tile;
use crate::render::image::ImageRgba8U;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What one image needs while it is drawn.
#[derive(Default)]
pub(super) struct Storage {
    pub(super) scene: SceneStorage,
    pub(super) shaders: Vec<OnceLock<Shader<'static>>>,
    /// The image of several samples per pixel.
    pub(super) fine: ImageRgba8U,
}

/// What a scene is prepared in and drawn with.
#[derive(Default)]
pub(super) struct SceneStorage {
    pub(super) parts: Vec<OnceLock<Part>>,
    pub(super) spare: Vec<Part>,
    pub(super) layout: Layout,
    pub(super) workers: Workers,
}

/// What a thread draws with.
pub(super) struct Worker {
    pub(super) tile: Tile,
    pub(super) vertices: Vertices,
}

/// As many as have been at work at the same time; each is large and stays where it is.
#[derive(Default)]
pub(super) struct Workers(Mutex<Vec<Box<Worker>>>);

impl Workers {
    pub(super) fn borrow(&self) -> Borrowed<'_> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let new = || {
            Box::new(Worker {
                tile: Tile::new(),
                vertices: Vertices::new(),
            })
        };
        Borrowed {
            worker: Some(idle.unwrap_or_else(new)),
            home: self,
        }
    }
}

/// A worker that goes home when it is dropped.
pub(super) struct Borrowed<'a> {
    worker: Option<Box<Worker>>,
    home: &'a Workers,
}

impl Deref for Borrowed<'_> {
    type Target = Worker;
    fn deref(&self) -> &Worker {
        self.worker.as_ref().expect("it is there until dropped")
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Worker {
        self.worker.as_mut().expect("it is there until dropped")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let mut idle = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.worker.take());
    }
}

/// An empty list in the storage of another one, whose items may live for another time: collecting
/// from a vector of items of the same layout keeps its storage.
pub(super) fn recycled<A, B>(mut list: Vec<A>) -> Vec<B> {
    list.clear();
    let none = |_| unreachable!("the list is empty");
    list.into_iter().map(none).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recycled_lists_keep_their_storage() {
        let words: Vec<&str> = Vec::with_capacity(100);
        let storage = words.as_ptr().cast::<u8>();
        let others: Vec<&[u8]> = recycled(words);
        assert!(others.is_empty() && others.capacity() == 100);
        assert_eq!(others.as_ptr().cast::<u8>(), storage);
    }
}
