//! Storage of computed values: slots with validity, and the cache made of them.

mod cache;
mod slots;

pub(crate) use cache::{Cache, Lists, Mask};
pub use cache::{CacheMode, CacheStatistics};
