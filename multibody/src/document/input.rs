//! What a format's parser is given to read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest model file that is read (bytes); the longest published ones have some ten million.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The content of a model file, whose length is bounded: a device or a pipe never ends.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MAX_FILE_BYTES)
}

fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    // Opening a pipe would wait for somebody who writes.
    if !metadata.is_file() {
        let found = if metadata.is_dir() {
            "a folder"
        } else {
            "a device or a pipe"
        };
        return Err(io::Error::other(format!(
            "it is {found}, a file is expected"
        )));
    }
    let mut bytes = vec![];
    // The length of what looks like a file may be claimed, as that of those of the kernel.
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::other(format!(
            "it has more than {limit} bytes, the most that a model file may have; a model refers to its \
             meshes and images by name, it does not hold them"
        ))),
        false => Ok(bytes),
    }
}

/// The content of a model file.
pub(crate) struct ModelInput<'a> {
    /// Its name, for messages.
    pub(crate) file: &'a str,
    pub(crate) bytes: &'a [u8],
    /// Where relative names start; none for a model given as text.
    pub(crate) directory: Option<&'a Path>,
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
        assert_eq!(e, "it is a folder, a file is expected");
        assert!(read_file(&folder.path().join("none")).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_never_ends_is_not_read() {
        for device in ["/dev/zero", "/dev/null"] {
            let e = read_file(Path::new(device)).unwrap_err().to_string();
            assert_eq!(e, "it is a device or a pipe, a file is expected");
        }
    }
}
