//! Storage that is reused from image to image.

use crate::render::cpu::setup::SceneStorage;
use crate::render::cpu::shade::Shader;
use crate::render::image::ImageRgba8U;
use std::sync::OnceLock;

/// Working memory of one image.
#[derive(Default)]
pub(crate) struct FrameStorage {
    pub(crate) scene: SceneStorage,
    pub(crate) shaders: Vec<OnceLock<Shader<'static>>>,
    /// The supersampled image, with several samples per pixel.
    pub(crate) fine: ImageRgba8U,
}

/// Empties a list and returns its storage for items of another lifetime: collecting
/// from a vector of items of the same layout keeps the allocation.
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
