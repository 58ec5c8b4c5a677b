//! Statistics of the server.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counts and times since the server started.
///
/// ```
/// let stats = tarragon_render_server::RenderServerStats::default();
/// assert_eq!((stats.images(), stats.refused), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderServerStats {
    /// Number of colour images sent.
    pub color: u64,
    /// Number of depth images sent.
    pub depth: u64,
    /// Number of label images sent.
    pub label: u64,
    /// Number of requests that were answered with an error.
    pub refused: u64,
    /// Number of scenes that were known by their hash and were not read again.
    pub known_scenes: u64,
    /// Number of meshes that were drawn from the cache.
    pub known_meshes: u64,
    /// Number of meshes that were read, with their textures.
    pub read_meshes: u64,
    /// Bytes received in requests.
    pub received_bytes: u64,
    /// Bytes sent in images.
    pub sent_bytes: u64,
    /// Memory of the meshes and textures in the cache (bytes, estimated).
    pub cache_bytes: u64,
    /// Time to read scenes, summed over requests.
    pub reading: Duration,
    /// Time to draw images, summed over requests.
    pub drawing: Duration,
    /// Time to compress images, summed over requests.
    pub encoding: Duration,
}

impl RenderServerStats {
    /// Returns the number of images of all types.
    pub fn images(&self) -> u64 {
        self.color + self.depth + self.label
    }
}

impl fmt::Display for RenderServerStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let ms = |time: Duration| 1e3 * time.as_secs_f64() / self.images().max(1) as f64;
        write!(
            f,
            "{} colour, {} depth, {} label images, {} refused; {} scenes and {} meshes known, {} \
             meshes read; {:.1} MiB received, {:.1} MiB sent, {:.1} MiB cached; per image {:.1} ms \
             reading, {:.1} ms drawing, {:.1} ms encoding",
            self.color,
            self.depth,
            self.label,
            self.refused,
            self.known_scenes,
            self.known_meshes,
            self.read_meshes,
            mib(self.received_bytes),
            mib(self.sent_bytes),
            mib(self.cache_bytes),
            ms(self.reading),
            ms(self.drawing),
            ms(self.encoding),
        )
    }
}

/// The counters, shared by all threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Images by type: colour, depth and label.
    pub(crate) images: [AtomicU64; 3],
    pub(crate) refused: AtomicU64,
    pub(crate) known_scenes: AtomicU64,
    pub(crate) known_meshes: AtomicU64,
    pub(crate) read_meshes: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
    pub(crate) cache_bytes: AtomicU64,
    /// Times for reading, drawing and encoding (ns).
    pub(crate) times: [AtomicU64; 3],
}

impl Counters {
    pub(crate) fn stats(&self) -> RenderServerStats {
        let time = |k: usize| Duration::from_nanos(self.times[k].load(Relaxed));
        RenderServerStats {
            color: self.images[0].load(Relaxed),
            depth: self.images[1].load(Relaxed),
            label: self.images[2].load(Relaxed),
            refused: self.refused.load(Relaxed),
            known_scenes: self.known_scenes.load(Relaxed),
            known_meshes: self.known_meshes.load(Relaxed),
            read_meshes: self.read_meshes.load(Relaxed),
            received_bytes: self.received_bytes.load(Relaxed),
            sent_bytes: self.sent_bytes.load(Relaxed),
            cache_bytes: self.cache_bytes.load(Relaxed),
            reading: time(0),
            drawing: time(1),
            encoding: time(2),
        }
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Relaxed);
}
