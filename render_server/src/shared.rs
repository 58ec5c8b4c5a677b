//! State that connections share.

use crate::RenderServerParams;
use crate::keeper::Keeper;
use crate::stats::Counters;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use tokio::sync::{Notify, Semaphore};

/// Unit in which memory for requests is counted (bytes).
pub(crate) const BODY_UNIT: u64 = 1 << 10;

/// The server as seen by its connections.
pub(crate) struct Shared {
    pub(crate) params: RenderServerParams,
    pub(crate) keeper: Keeper,
    pub(crate) counters: Arc<Counters>,
    /// Memory for requests, in units.
    pub(crate) bodies: Arc<Semaphore>,
    /// Requests that may be read and drawn now.
    pub(crate) workers: Arc<Semaphore>,
    pub(crate) is_stopping: AtomicBool,
    /// Wakes the thread when the server is to stop.
    pub(crate) stop: Notify,
    /// Number of open connections.
    pub(crate) connections: AtomicUsize,
}

impl Shared {
    /// Returns the units of memory for a request of this size.
    pub(crate) fn body_units(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(BODY_UNIT).max(1)).unwrap_or(u32::MAX)
    }
    /// Returns a text for people who open the address in a browser.
    pub(crate) fn about(&self) -> String {
        format!(
            "tarragon render server: POST glTF scenes to /{}\n{}\n",
            self.params.endpoint.trim_matches('/'),
            self.counters.stats()
        )
    }
}
