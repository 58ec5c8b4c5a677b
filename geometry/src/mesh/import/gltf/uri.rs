//! Resolution of the URIs in a glTF file.

use super::origin::GltfOrigin;
use crate::error::short;
use crate::error::{Error, Result};
use crate::mesh::FileSource;
use crate::mesh::import::origin::percent;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use tarragon_framework::git_lfs_pointer;

/// Resolved URI.
#[derive(Debug, PartialEq)]
pub(super) enum Uri {
    /// Data, contained in the URI itself or in memory.
    Data(Vec<u8>),
    /// File; its path is relative to the working directory.
    File(PathBuf),
}

/// Resolves a URI of the file `at`; `what` names it in messages.
pub(super) fn parse(at: GltfOrigin<'_>, what: &str, uri: &str) -> Result<Uri> {
    if let Some(data) = uri.strip_prefix("data:") {
        let decoded = data.split_once(',').and_then(|(kind, data)| {
            if kind.ends_with(";base64") {
                base64(data)
            } else {
                Some(percent(data).into_owned())
            }
        });
        return decoded.map(Uri::Data).ok_or_else(|| {
            at.error(format!(
                "{what}: the URI must have valid base64 after 'data:...;base64,', got '{}'",
                short(uri)
            ))
        });
    }
    // A single letter before the colon is a drive letter.
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(at.error(format!(
            "{what}: the URI must be a relative path or begin with 'data:', got '{}'",
            short(uri)
        )));
    }
    let name = String::from_utf8_lossy(&percent(uri)).into_owned();
    match at.0.find(uri, &name) {
        Ok(FileSource::Path(path)) => Ok(Uri::File(path)),
        Ok(FileSource::Memory(file)) => Ok(Uri::Data(file.contents().to_vec())),
        Err(why) => Err(at.error(format!("{what}: '{}' {why}", short(uri)))),
    }
}

/// Reads the data that a URI refers to; of a file, at most the first `max` bytes.
pub(super) fn read(at: GltfOrigin<'_>, what: &str, uri: &str, max: u64) -> Result<Vec<u8>> {
    let path = match parse(at, what, uri)? {
        Uri::Data(bytes) => return Ok(bytes),
        Uri::File(path) => path,
    };
    let io = |e| Error::io(&path, e).at(format!("{}: {what}", at.0.path.display()));
    // Devices and pipes may block or never end.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(at.error(format!("{what}: {} is not a file", path.display())));
    }
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(io)?;
    file.take(max).read_to_end(&mut bytes).map_err(io)?;
    if let Some(why) = git_lfs_pointer(&bytes) {
        return Err(at.error(format!("{what}: {}: {why}", path.display())));
    }
    Ok(bytes)
}

/// Decodes base64 (RFC 4648, section 4); padding is optional. `None` if the text is invalid.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for four in text.chunks(4) {
        let mut bits = 0u32;
        for b in four {
            let six = match b {
                b'A'..=b'Z' => b - b'A',
                b'a'..=b'z' => b - b'a' + 26,
                b'0'..=b'9' => b - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(six);
        }
        bits <<= 6 * (4 - four.len());
        out.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::import::origin::FileOrigin;
    use std::path::Path;

    fn parsed(uri: &str) -> Result<Uri> {
        parse(
            GltfOrigin(FileOrigin::on_disk(Path::new("/m/x.gltf"))),
            "buffers[0]",
            uri,
        )
    }

    #[test]
    fn base64_matches_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm8", "fo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(base64(text).unwrap(), bytes.as_bytes(), "{text}");
        }
        assert_eq!(base64("+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
        for wrong in ["Z", "Zm9vY", "Zm 9", "Zm\u{e9}"] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn uris_of_files_and_data_are_resolved() {
        assert_eq!(
            parsed("sub/my%20mesh%.bin").unwrap(),
            Uri::File("/m/sub/my mesh%.bin".into())
        );
        assert_eq!(
            parsed("data:application/octet-stream;base64,AAEC").unwrap(),
            Uri::Data(vec![0, 1, 2])
        );
        assert_eq!(parsed("data:,a%00b").unwrap(), Uri::Data(b"a\0b".to_vec()));
        for wrong in ["http://a/b", "file:///b", "data:x", "data:;base64,A"] {
            let text = parsed(wrong).unwrap_err().to_string();
            assert!(
                text.contains("/m/x.gltf: buffers[0]: the URI must "),
                "{text}"
            );
            assert!(text.contains(", got '"), "{text}");
        }
    }

    #[test]
    fn only_regular_files_are_read() {
        for wrong in ["/", "/dev/zero", "/no/such/file"] {
            let text = read(
                GltfOrigin(FileOrigin::on_disk(Path::new("x.gltf"))),
                "buffers[0]",
                wrong,
                9,
            )
            .unwrap_err()
            .to_string();
            assert!(text.starts_with("x.gltf: buffers[0]: "), "{text}");
        }
    }
}
