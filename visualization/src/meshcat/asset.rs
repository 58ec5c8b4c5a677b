//! Files that objects refer to by the hash of their content: `cas-v1/<sha256>`.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Path prefix of assets, relative to the page.
pub(crate) const PREFIX: &str = "cas-v1/";

/// One file, served for as long as an `Arc` of it exists.
#[derive(Debug)]
pub(crate) struct Asset {
    key: String,
    pub(crate) content: Bytes,
}

impl Asset {
    /// Returns the hash: 64 hexadecimal digits.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }
    /// Returns the relative URL: `cas-v1/<sha256>`.
    pub(crate) fn url(&self) -> String {
        format!("{PREFIX}{}", self.key)
    }
}

/// All assets that are referenced.
#[derive(Debug, Default)]
pub(crate) struct AssetStore(Mutex<BTreeMap<String, Weak<Asset>>>);

impl AssetStore {
    /// Stores `content`, or returns the existing asset with the same content.
    pub(crate) fn add(&self, content: impl Into<Bytes>) -> Arc<Asset> {
        let content = content.into();
        let mut key = String::with_capacity(64);
        for byte in Sha256::digest(&content) {
            write!(key, "{byte:02x}").expect("writing to a string cannot fail");
        }
        let mut assets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asset) = assets.get(&key).and_then(Weak::upgrade) {
            return asset;
        }
        assets.retain(|_, asset| asset.strong_count() > 0);
        let asset = Arc::new(Asset { key, content });
        assets.insert(asset.key.clone(), Arc::downgrade(&asset));
        asset
    }
    /// Returns the asset with a hash, if it is still referenced.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Asset>> {
        let assets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        assets.get(key)?.upgrade()
    }
}

/// Returns whether `key` has the form of a hash.
pub(crate) fn is_key(key: &str) -> bool {
    key.len() == 64 && key.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_shared_and_disappear_with_the_last_reference() {
        let store = AssetStore::default();
        let a = store.add("abc");
        // Example of FIPS 180-4.
        assert_eq!(
            a.key(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(is_key(a.key()) && !is_key("ba78") && !is_key(&"g".repeat(64)));
        let again = store.add("abc");
        assert!(Arc::ptr_eq(&a, &again));
        let key = a.key().to_owned();
        drop(a);
        assert_eq!(store.get(&key).unwrap().content, "abc");
        drop(again);
        assert!(store.get(&key).is_none());
    }
}
