//! Remote packages: archives at URLs.

use super::file_url::local_file;
use crate::yaml::read_yaml;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use tarragon_framework::FileLocation;

/// URLs, checksum and layout of a remote package (Drake's `PackageMap::RemoteParams`). It is read
/// from and written to YAML and JSON with these field names.
///
/// ```
/// use tarragon_documents::{ArchiveType, RemoteParams};
/// let params = RemoteParams::from_yaml(
///     "urls: [https://example.com/download?id=7, file:///mirror/arm.zip]\n\
///      sha256: 0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d\n\
///      archive_type: zip\n",
/// )?;
/// assert_eq!(params.archive_type, Some(ArchiveType::Zip));
/// assert_eq!(RemoteParams::from_yaml(&params.to_json())?, params);
/// # Ok::<(), tarragon_documents::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteParams {
    /// Addresses of the same archive: `http://`, `https://` or `file://`. They are tried in this
    /// order.
    pub urls: Vec<String>,
    /// The SHA-256 checksum of the archive: 64 hexadecimal digits.
    pub sha256: String,
    /// Type of the archive; by default, it follows from the first URL with a known suffix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive_type: Option<ArchiveType>,
    /// A folder within the archive, such as `robot-1.2.3`, whose content is the package. The
    /// archive must have this folder; everything outside it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strip_prefix: Option<String>,
}

impl RemoteParams {
    /// Reads one set of parameters; JSON is YAML.
    ///
    /// # Errors
    /// Returns an error if the text is not YAML, a key is unknown or repeated, or `urls` or
    /// `sha256` is missing; the message gives the line.
    pub fn from_yaml(text: &str) -> Result<Self> {
        read_yaml(text).map_err(|e| {
            let file = "parameters of a remote package".into();
            let location = FileLocation {
                file,
                line: e.line,
                column: e.column,
            };
            Error::parse(location, e.message)
        })
    }

    /// Returns the parameters as JSON on one line, keys in alphabetical order, without optional
    /// fields that are not given (Drake's `ToJson`).
    pub fn to_json(&self) -> String {
        // The map inside `Value` sorts its keys.
        serde_json::to_value(self).map_or_else(|_| String::new(), |value| value.to_string())
    }
}

/// Type of an archive, named as in Python's `shutil`.
///
/// ```
/// use tarragon_documents::ArchiveType;
/// assert_eq!("gztar".parse::<ArchiveType>()?, ArchiveType::Gztar);
/// assert_eq!(ArchiveType::of_name("arm-1.0.TAR.XZ"), Some(ArchiveType::Xztar));
/// assert_eq!(ArchiveType::of_name("arm-1.0"), None);
/// # Ok::<(), tarragon_documents::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArchiveType {
    /// ZIP, with files stored, deflated or compressed by bzip2.
    Zip,
    /// Tape archive: POSIX ustar and pax, GNU, and older.
    Tar,
    /// `Tar` compressed by gzip.
    Gztar,
    /// `Tar` compressed by bzip2.
    Bztar,
    /// `Tar` compressed by xz.
    Xztar,
}

/// Suffixes of file names: those of Python's `shutil`, and `.tbz`.
const SUFFIXES: [(&str, ArchiveType); 9] = [
    (".zip", ArchiveType::Zip),
    (".tar", ArchiveType::Tar),
    (".tar.gz", ArchiveType::Gztar),
    (".tgz", ArchiveType::Gztar),
    (".tar.bz2", ArchiveType::Bztar),
    (".tbz2", ArchiveType::Bztar),
    (".tbz", ArchiveType::Bztar),
    (".tar.xz", ArchiveType::Xztar),
    (".txz", ArchiveType::Xztar),
];

impl ArchiveType {
    /// Returns the type for the suffix of a file name, in upper or lower case; `None` if it is
    /// unknown.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let known = SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix));
        known.map(|&(_, kind)| kind)
    }
}

impl fmt::Display for ArchiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::Gztar => "gztar",
            Self::Bztar => "bztar",
            Self::Xztar => "xztar",
        })
    }
}

impl FromStr for ArchiveType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let all = [Self::Zip, Self::Tar, Self::Gztar, Self::Bztar, Self::Xztar];
        let found = all.into_iter().find(|kind| kind.to_string() == name);
        found.ok_or_else(|| {
            Error::invalid(format!(
                "the archive type must be zip, tar, gztar, bztar or xztar, got '{name}'"
            ))
        })
    }
}

/// Location of an archive, by the scheme of its URL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ArchiveLocation {
    File(PathBuf),
    Http,
    Https,
}

impl ArchiveLocation {
    pub(super) fn of(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        match &*scheme.to_ascii_lowercase() {
            "http" if !rest.is_empty() => Ok(Self::Http),
            "https" if !rest.is_empty() => Ok(Self::Https),
            "file" => {
                let path = percent_encoding::percent_decode_str(local_file(rest)?);
                let path = path
                    .decode_utf8()
                    .map_err(|_| "the percent-decoded path must be UTF-8".to_string())?;
                Ok(Self::File(PathBuf::from(&*path)))
            }
            _ => Err("the address must start with http://, https:// or file://".into()),
        }
    }
}

/// Returns the file name at the end of a URL, without query and fragment.
fn file_name(url: &str) -> &str {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let path = &url[..end];
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A remote package of a map, with checked parameters.
#[derive(Debug)]
pub(super) struct RemotePackage {
    params: RemoteParams,
    kind: ArchiveType,
    /// The folder within the archive that becomes the package; empty for the whole archive.
    prefix: PathBuf,
    /// Held by the thread that fetches the package.
    pub(super) fetching: Mutex<()>,
}

impl RemotePackage {
    /// Checks everything that can be checked without access to the archive.
    pub(super) fn new(name: &str, params: RemoteParams) -> Result<Self> {
        let invalid = |what: String| Error::invalid(format!("remote package '{name}': {what}"));
        if params.urls.is_empty() {
            return Err(invalid("there must be at least one URL, got none".into()));
        }
        for url in &params.urls {
            ArchiveLocation::of(url).map_err(|what| invalid(format!("the URL '{url}': {what}")))?;
        }
        let digits = params.sha256.bytes().all(|c| c.is_ascii_hexdigit());
        if params.sha256.len() != 64 || !digits {
            return Err(invalid(format!(
                "sha256 must be 64 hexadecimal digits, got '{}'",
                params.sha256
            )));
        }
        let of_urls = || {
            let mut names = params.urls.iter().map(|url| file_name(url));
            names.find_map(ArchiveType::of_name)
        };
        let kind = params.archive_type.or_else(of_urls).ok_or_else(|| {
            invalid(format!(
                "the URL must end in .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz, got '{}'; \
                 otherwise set archive_type",
                params.urls[0]
            ))
        })?;
        let prefix = params.strip_prefix.as_deref().unwrap_or_default();
        let within = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
        if !Path::new(prefix).components().all(within) {
            return Err(invalid(format!(
                "strip_prefix must be the path of a folder within the archive, without '..', got \
                 '{prefix}'"
            )));
        }
        let parts = Path::new(prefix).components();
        let prefix = parts.filter(|c| *c != Component::CurDir).collect();
        Ok(Self {
            params,
            kind,
            prefix,
            fetching: Mutex::new(()),
        })
    }

    pub(super) fn params(&self) -> &RemoteParams {
        &self.params
    }
    pub(super) fn kind(&self) -> ArchiveType {
        self.kind
    }
    pub(super) fn prefix(&self) -> &Path {
        &self.prefix
    }
    /// Returns the checksum in lower case.
    pub(super) fn sha256(&self) -> String {
        self.params.sha256.to_ascii_lowercase()
    }
    /// Returns the name of the package's folder in the cache. As in Drake, it depends on the
    /// prefix, so that one archive can be cached with several prefixes.
    pub(super) fn cache_key(&self) -> String {
        let prefix = Sha256::digest(self.prefix.as_os_str().as_encoded_bytes());
        format!("{}-{}", self.sha256(), hex(&prefix))
    }
}

/// Formats bytes as hexadecimal digits in lower case.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(url: &str) -> RemoteParams {
        RemoteParams {
            urls: vec![url.into()],
            sha256: "aB".repeat(32),
            ..RemoteParams::default()
        }
    }

    #[test]
    fn parameters_are_checked_before_anything_is_fetched() {
        let good = params("https://example.com/a.tar.gz?raw=1");
        let package = RemotePackage::new("p", good.clone()).unwrap();
        assert_eq!(package.kind(), ArchiveType::Gztar);
        assert_eq!(package.sha256(), "ab".repeat(32));
        // The checksum of the empty prefix, as in the folder names of Drake's cache.
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(
            package.cache_key(),
            format!("{}-{nothing}", "ab".repeat(32))
        );
        type Change = fn(&mut RemoteParams);
        let changes: [(Change, &str); 10] = [
            (|p| p.urls.clear(), "at least one"),
            (|p| p.urls.push("ftp://x/a.zip".into()), "ftp://x/a.zip"),
            (|p| p.urls.push("/a.zip".into()), "http://"),
            (
                |p| p.urls.push("file://elsewhere/a.zip".into()),
                "this machine",
            ),
            (|p| p.urls.push("file:///%ff".into()), "UTF-8"),
            (|p| p.sha256.truncate(63), "64 hexadecimal"),
            (|p| p.sha256 = "g".repeat(64), "64 hexadecimal"),
            (
                |p| p.urls = vec!["http://x/download".into()],
                "archive_type",
            ),
            (|p| p.strip_prefix = Some("/a".into()), "strip_prefix"),
            (|p| p.strip_prefix = Some("a/../..".into()), "strip_prefix"),
        ];
        for (change, what) in changes {
            let mut params = good.clone();
            change(&mut params);
            let error = RemotePackage::new("p", params).unwrap_err().to_string();
            assert!(error.starts_with("remote package 'p': "), "{error}");
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn types_follow_suffixes_and_prefixes_are_normalised() {
        let mut mirrored = params("http://x/download");
        mirrored.urls.push("file:///a%20b/c.TBZ2".into());
        let package = RemotePackage::new("p", mirrored.clone()).unwrap();
        assert_eq!(package.kind(), ArchiveType::Bztar);
        let file = ArchiveLocation::of(&mirrored.urls[1]).unwrap();
        assert_eq!(file, ArchiveLocation::File("/a b/c.TBZ2".into()));
        let key = |prefix: &str| {
            let mut params = params("http://x/a.zip");
            params.strip_prefix = Some(prefix.into());
            RemotePackage::new("p", params).unwrap().cache_key()
        };
        assert_eq!(key("a/b"), key("./a/b/"));
        assert_ne!(key("a"), key(""));
    }

    #[test]
    fn json_is_sorted_and_bad_yaml_is_rejected() {
        let mut params = params("http://x/a.zip");
        params.strip_prefix = Some("x".into());
        let sha256 = "aB".repeat(32);
        assert_eq!(
            params.to_json(),
            format!(r#"{{"sha256":"{sha256}","strip_prefix":"x","urls":["http://x/a.zip"]}}"#)
        );
        for (text, what) in [
            ("urls: []", "sha256"),
            ("urls: []\nsha256: a\nsha: b", "sha"),
            ("urls: []\nsha256: a\narchive_type: rar", "rar"),
        ] {
            let error = RemoteParams::from_yaml(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
