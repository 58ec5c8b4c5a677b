//! Input of the parsers: the bytes of a model file, read within limits.

use crate::diagnostic::{Diagnostic, Severity};
use crate::xml::TextOrigins;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tarragon_framework::git_lfs_pointer;

/// Maximum size of a model file (bytes); the largest published files have about ten million bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Reads a model file. Its size is limited, because a device or a pipe may never end.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MAX_FILE_BYTES)
}

fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    // Opening a pipe would block until another process writes to it.
    if !metadata.is_file() {
        let found = if metadata.is_dir() {
            "a folder"
        } else {
            "a device or a pipe"
        };
        return Err(io::Error::other(format!(
            "it must be a regular file, got {found}"
        )));
    }
    // The length in the metadata may be wrong, for example for the kernel's virtual files. One byte
    // more lets the end be seen without a larger buffer.
    let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize + 1);
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if let Some(why) = git_lfs_pointer(&bytes) {
        return Err(io::Error::other(why));
    }
    if bytes.len() as u64 > limit {
        Err(io::Error::other(format!(
            "it has more than {limit} bytes, the limit for model files; keep meshes and images in \
         files of their own, to which the model refers by name"
        )))
    } else {
        Ok(bytes)
    }
}

/// Decodes the bytes of a text file, without a byte order mark. Bytes that are not UTF-8 are
/// replaced, with a warning.
pub fn decode<'b>(file: &str, bytes: &'b [u8]) -> (Cow<'b, str>, Option<Diagnostic>) {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(text) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(error) => {
            let at = bytes.len() - text.len() + error.valid_up_to();
            let message = format!("byte {at} is not UTF-8; it is replaced");
            let warning = Diagnostic {
                severity: Severity::Warning,
                ..Diagnostic::of_file(file, message)
            };
            (String::from_utf8_lossy(text), Some(warning))
        }
    }
}

/// Content of a model file.
pub struct ModelInput<'a> {
    /// Name of the file, for messages.
    pub file: &'a str,
    /// Content, in UTF-8.
    pub bytes: &'a [u8],
    /// Directory of relative file names; `None` for a model given as text.
    pub directory: Option<&'a Path>,
    /// Places from which the bytes were generated, if they are not those of the file.
    pub origins: Option<&'a TextOrigins>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.sdf");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read_at_most(&path, 8).unwrap(), b"12345678");
        let e = read_at_most(&path, 7).unwrap_err().to_string();
        assert!(e.starts_with("it has more than 7 bytes"), "{e}");
        let e = read_file(folder.path()).unwrap_err().to_string();
        assert_eq!(e, "it must be a regular file, got a folder");
        assert!(read_file(&folder.path().join("none")).is_err());
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        for (bytes, text, at) in [
            (&b"<a>"[..], "<a>", None),
            (b"\xef\xbb\xbf<a>", "<a>", None),
            (b"<\xff>", "<\u{fffd}>", Some(1)),
            (b"\xef\xbb\xbf<\xff>", "<\u{fffd}>", Some(4)),
        ] {
            let (decoded, warning) = decode("f", bytes);
            assert_eq!(decoded, text);
            let expected =
                at.map(|at| format!("f: warning: byte {at} is not UTF-8; it is replaced"));
            assert_eq!(warning.map(|w| w.to_string()), expected);
        }
    }

    #[test]
    fn pointers_of_git_lfs_are_refused_with_the_cure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.urdf");
        std::fs::write(&path, "version https://git-lfs.github.com/spec/v1\n").unwrap();
        let e = read_file(&path).unwrap_err().to_string();
        assert!(e.contains("Git LFS") && e.contains("'git lfs pull'"), "{e}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_refused() {
        for device in ["/dev/zero", "/dev/null"] {
            let e = read_file(Path::new(device)).unwrap_err().to_string();
            assert_eq!(e, "it must be a regular file, got a device or a pipe");
        }
    }
}
