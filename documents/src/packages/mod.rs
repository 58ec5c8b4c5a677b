//! Packages of `package://` URLs, local or remote.
//!
//! `package_map` is the map, and `location` is one of its entries. `manifest` reads `package.xml`,
//! `crawl` searches folders for it, `url` resolves URLs, `remote` describes a package in an
//! archive, `fetch` brings it into the cache by means of `download` and `archive`, and `defaults`
//! holds the packages that every new map has.

mod archive;
mod crawl;
mod defaults;
mod download;
mod fetch;
mod file_url;
mod location;
mod manifest;
mod package_map;
mod remote;
mod settings;
mod url;

pub use package_map::PackageMap;
pub use remote::{ArchiveType, RemoteParams};
pub use settings::RemoteSettings;
pub use url::ResolvedUrl;

#[cfg(test)]
mod tests;
