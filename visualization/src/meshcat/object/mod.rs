//! What `set_object` sends: three.js objects, encoded once.

use super::asset::Asset;
use std::sync::Arc;

/// An object ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The value of the message's `object` field.
    pub(crate) encoded: Vec<u8>,
    /// The files that it refers to, kept for as long as the object is in the scene.
    pub(crate) assets: Vec<Arc<Asset>>,
}

/// Identifiers of three.js objects: unique within one server, the same in every run.
#[derive(Debug, Default)]
pub(crate) struct Uuids(std::sync::atomic::AtomicU64);

impl Uuids {
    /// The next identifier, in the form of a UUID of version 8 (RFC 9562, section 5.8).
    pub(crate) fn next(&self) -> String {
        let n = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("74617272-6167-8f6e-8000-{n:012x}")
    }
}
