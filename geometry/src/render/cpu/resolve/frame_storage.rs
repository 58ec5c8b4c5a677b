//! Storage that images use one after the other.

use crate::render::cpu::setup::SceneStorage;
use crate::render::cpu::shade::Shader;
use crate::render::image::ImageRgba8U;
use std::sync::OnceLock;

/// What one image needs while it is drawn.
#[derive(Default)]
pub(crate) struct FrameStorage {
    pub(crate) scene: SceneStorage,
    pub(crate) shaders: Vec<OnceLock<Shader<'static>>>,
    /// The image of several samples per pixel.
    pub(crate) fine: ImageRgba8U,
}

/// An empty list in the storage of another one, whose items may live for another time: collecting
/// from a vector of items of the same layout keeps its storage.
pub(crate) fn recycled<A, B>(mut list: Vec<A>) -> Vec<B> {
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
