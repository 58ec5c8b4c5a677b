//! Where `package://` URLs lead.
//!
//! `package_map` is the map and `location` an entry of it. `manifest` reads `package.xml`, `crawl`
//! searches folders for it, `url` resolves, `remote` says what a package in an archive is, `fetch`
//! brings it into the cache, `download` and `archive` do the work; `defaults` are the packages that
//! a map knows from the start.

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
