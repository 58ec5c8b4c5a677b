//! Settings for fetching remote packages.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Cache directory of remote packages, and limits on network access, time and disk space for
/// fetching them.
///
/// ```
/// use std::time::Duration;
/// use tarragon_documents::RemoteSettings;
/// let settings = RemoteSettings {
///     cache_directory: Some("/var/cache/robots".into()),
///     stall_timeout: Duration::from_secs(5),
///     ..RemoteSettings::default()
/// };
/// assert!(settings.allow_network);
/// assert_eq!(settings.cache_directory().unwrap(), std::path::Path::new("/var/cache/robots"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Folder that packages are unpacked into; `None` leaves the choice to the environment, see
    /// [`Self::cache_directory`].
    pub cache_directory: Option<PathBuf>,
    /// Whether `http://` and `https://` may be used; true by default. Cached packages and `file://`
    /// URLs work without them. The environment variable `DRAKE_ALLOW_NETWORK` also forbids them if
    /// it lists names but not `package_map`.
    pub allow_network: bool,
    /// Maximum time that a server may stay silent, at the start or in between, where whole seconds
    /// count; 30 s by default.
    pub stall_timeout: Duration,
    /// Maximum time of one download; an hour by default.
    pub download_timeout: Duration,
    /// Maximum number of redirections of one download; 10 by default.
    pub max_redirects: u32,
    /// Maximum size of an archive (bytes); 4 GiB by default.
    pub max_archive_bytes: u64,
    /// Maximum total size of an archive's content when unpacked (bytes); 16 GiB by default.
    pub max_unpacked_bytes: u64,
    /// Maximum number of files, folders and links in an archive; 500,000 by default.
    pub max_entries: u64,
    /// Maximum ratio of the unpacked size to the size of the archive; 250 by default. Up to 64 MiB
    /// of unpacked data are always allowed.
    pub max_ratio: u64,
}

impl Default for RemoteSettings {
    fn default() -> Self {
        Self {
            cache_directory: None,
            allow_network: true,
            stall_timeout: Duration::from_secs(30),
            download_timeout: Duration::from_secs(3600),
            max_redirects: 10,
            max_archive_bytes: 4 << 30,
            max_unpacked_bytes: 16 << 30,
            max_entries: 500_000,
            max_ratio: 250,
        }
    }
}

/// Environment variable that keeps Drake from using the network.
pub(super) const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";

/// Unpacked size (bytes) up to which the ratio is not limited, because small files do no harm.
const RATIO_FLOOR: u64 = 64 << 20;

impl RemoteSettings {
    /// Returns the cache directory of remote packages: the field of this name if it is given, else
    /// the environment variable `TARRAGON_PACKAGE_CACHE`, else `tarragon/package_map` in
    /// `XDG_CACHE_HOME` (XDG Base Directory Specification), else `.cache/tarragon/package_map` in
    /// `TEST_TMPDIR` (which Bazel sets) or the home directory. `None` if there is none of these.
    pub fn cache_directory(&self) -> Option<PathBuf> {
        let configured = self.cache_directory.clone();
        configured.or_else(|| cache_from(|variable| env::var_os(variable).map(PathBuf::from)))
    }

    /// Returns the reason why the network is forbidden, if it is; `variable` is the value of the
    /// environment variable [`NETWORK_VARIABLE`].
    pub(super) fn network_ban(&self, variable: Option<&str>) -> Option<String> {
        if !self.allow_network {
            return Some(
                "the package map's RemoteSettings must allow the network; set allow_network".into(),
            );
        }
        let list = variable.filter(|list| !list.is_empty())?;
        let allowed = list.split(':').any(|name| name == "package_map");
        (!allowed).then(|| {
            format!("{NETWORK_VARIABLE} must have 'package_map' among its names, got '{list}'")
        })
    }

    /// Returns the maximum unpacked size (bytes) of an archive of `archive_bytes` bytes.
    pub(super) fn max_bytes_of(&self, archive_bytes: u64) -> u64 {
        let by_ratio = archive_bytes
            .saturating_mul(self.max_ratio)
            .max(RATIO_FLOOR);
        by_ratio.min(self.max_unpacked_bytes)
    }
}

fn cache_from(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let filled = |name| variable(name).filter(|path| !path.as_os_str().is_empty());
    let below = Path::new("tarragon").join("package_map");
    // The specification says that relative paths are ignored.
    let xdg = || filled("XDG_CACHE_HOME").filter(|p| p.is_absolute());
    let home = || filled("TEST_TMPDIR").or_else(env::home_dir);
    filled("TARRAGON_PACKAGE_CACHE")
        .or_else(|| xdg().map(|cache| cache.join(&below)))
        .or_else(|| home().map(|home| home.join(".cache").join(&below)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_determines_the_cache_directory() {
        let cache = |variables: &[(&str, &str)]| {
            cache_from(|name| {
                let found = variables.iter().find(|v| v.0 == name);
                found.map(|v| PathBuf::from(v.1))
            })
        };
        let all = [
            ("TARRAGON_PACKAGE_CACHE", "/own"),
            ("XDG_CACHE_HOME", "/xdg"),
            ("TEST_TMPDIR", "/bazel"),
        ];
        for (from, expected) in [
            (0, "/own"),
            (1, "/xdg/tarragon/package_map"),
            (2, "/bazel/.cache/tarragon/package_map"),
        ] {
            assert_eq!(cache(&all[from..]).unwrap(), Path::new(expected));
        }
        let ignored = [
            ("TARRAGON_PACKAGE_CACHE", ""),
            ("XDG_CACHE_HOME", "relative"),
            all[2],
        ];
        assert_eq!(
            cache(&ignored).unwrap(),
            Path::new("/bazel/.cache/tarragon/package_map")
        );
    }

    #[test]
    fn environment_can_forbid_downloads() {
        let settings = RemoteSettings::default();
        for allowed in [None, Some(""), Some("package_map"), Some("lcm:package_map")] {
            assert_eq!(settings.network_ban(allowed), None, "{allowed:?}");
        }
        let ban = settings.network_ban(Some("lcm:meshcat")).unwrap();
        assert!(
            ban.contains("DRAKE_ALLOW_NETWORK") && ban.contains("'lcm:meshcat'"),
            "{ban}"
        );
        let offline = RemoteSettings {
            allow_network: false,
            ..settings
        };
        assert!(offline.network_ban(Some("package_map")).is_some());
    }

    #[test]
    fn unpacked_limit_grows_with_the_archive() {
        let settings = RemoteSettings::default();
        assert_eq!(settings.max_bytes_of(10), 64 << 20);
        assert_eq!(settings.max_bytes_of(1 << 20), 250 << 20);
        assert_eq!(settings.max_bytes_of(u64::MAX), 16 << 30);
    }
}
