//! How remote packages are fetched.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where remote packages are kept, and how much of the network, of time and of the disk they may
/// take.
///
/// ```
/// use std::time::Duration;
/// use tarragon_multibody::RemoteSettings;
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
    /// Where packages are unpacked; `None` leaves it to the environment, see
    /// [`Self::cache_directory`].
    pub cache_directory: Option<PathBuf>,
    /// Whether `http://` and `https://` may be used at all; by default they may. What is in the
    /// cache and what `file://` leads to is there without. The environment variable
    /// `DRAKE_ALLOW_NETWORK` forbids them too, where it names other things and not `package_map`.
    pub allow_network: bool,
    /// How long a server may take to say something, at the start or in between; 30 s by default.
    pub stall_timeout: Duration,
    /// How long one download may take; an hour by default.
    pub download_timeout: Duration,
    /// How often one download may be sent elsewhere; 10 times by default.
    pub max_redirects: u32,
    /// How large an archive may be (bytes); 4 GiB by default.
    pub max_archive_bytes: u64,
    /// How large everything in an archive may be, unpacked (bytes); 16 GiB by default.
    pub max_unpacked_bytes: u64,
    /// How many files, folders and links an archive may have; 500,000 by default.
    pub max_entries: u64,
    /// How many times larger than the archive everything in it may be; 250 by default. Counts from
    /// 64 MiB of unpacked data on.
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

/// The environment variable by which Drake is kept from using the network.
pub(super) const NETWORK_VARIABLE: &str = "DRAKE_ALLOW_NETWORK";

/// Highly packed small files are no danger.
const RATIO_FLOOR: u64 = 64 << 20;

impl RemoteSettings {
    /// The directory that remote packages are kept in: the field of this name if it is given, else
    /// the environment variable `TARRAGON_PACKAGE_CACHE`, else `tarragon/package_map` in
    /// `XDG_CACHE_HOME` (XDG Base Directory Specification), else `.cache/tarragon/package_map` in
    /// `TEST_TMPDIR` (which Bazel sets) or the home directory. `None` if there is none of these.
    pub fn cache_directory(&self) -> Option<PathBuf> {
        let configured = self.cache_directory.clone();
        configured.or_else(|| cache_from(|variable| env::var_os(variable).map(PathBuf::from)))
    }

    /// The reason why the network is forbidden, if it is; `variable` is the value of the
    /// environment variable.
    pub(super) fn network_ban(&self, variable: Option<&str>) -> Option<String> {
        if !self.allow_network {
            return Some("the package map's RemoteSettings do not allow the network".into());
        }
        let list = variable.filter(|list| !list.is_empty())?;
        let allowed = list.split(':').any(|name| name == "package_map");
        (!allowed).then(|| {
            format!("{NETWORK_VARIABLE} must have 'package_map' among its names, got '{list}'")
        })
    }

    /// How large what is in an archive of so many bytes may be.
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
    // The specification has relative paths ignored.
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
    fn the_environment_says_where_the_cache_is() {
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
    fn the_environment_can_forbid_downloads() {
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
    fn limits_grow_with_the_archive() {
        let settings = RemoteSettings::default();
        assert_eq!(settings.max_bytes_of(10), 64 << 20);
        assert_eq!(settings.max_bytes_of(1 << 20), 250 << 20);
        assert_eq!(settings.max_bytes_of(u64::MAX), 16 << 30);
    }
}
