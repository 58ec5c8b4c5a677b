//! Tape archives (POSIX.1-2017, pax, section "ustar Interchange Format" and its pax extensions; GNU
//! tar).

use super::tree::UnpackedTree;
use ::tar::{Archive, EntryType};
use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

/// Maximum number of bytes between the contents of two entries: headers, and the long names and
/// attributes that are held in memory.
const MAX_HEADER: u64 = 1 << 20;

/// Reader that passes on at most `left` bytes, which its owner sets.
struct MeteredReader<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for MeteredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other(format!(
                "a header must have at most {MAX_HEADER} bytes, got more"
            )));
        }
        let most = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let n = self.from.read(&mut buffer[..most])?;
        self.left.set(left - n as u64);
        Ok(n)
    }
}

pub(super) fn read(from: impl Read, tree: &mut UnpackedTree<'_>) -> Result<(), String> {
    let left = Rc::new(Cell::new(MAX_HEADER));
    let mut archive = Archive::new(MeteredReader {
        from,
        left: Rc::clone(&left),
    });
    let mut entries = archive.entries().map_err(|e| e.to_string())?;
    loop {
        left.set(MAX_HEADER);
        let entry = entries.next();
        tree.count_bytes(MAX_HEADER - left.get())?;
        let Some(entry) = entry else {
            return Ok(());
        };
        let mut entry =
            entry.map_err(|e| format!("the archive must be a complete tar archive: {e}"))?;
        let path = entry.path().map_err(|e| e.to_string())?.into_owned();
        let folder = entry.path_bytes().ends_with(b"/");
        // The tree counts the bytes of the content.
        left.set(u64::MAX);
        let link = || match entry.link_name() {
            Ok(Some(target)) => Ok(target.into_owned()),
            Ok(None) => Err(format!("the link {path:?} must have a target, got none")),
            Err(error) => Err(format!("the link {path:?}: {error}")),
        };
        match entry.header().entry_type() {
            EntryType::Directory => tree.add_folder(&path)?,
            // Formats before POSIX have no type for folders.
            EntryType::Regular if folder => tree.add_folder(&path)?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                tree.add_file(&path, &mut entry)?;
            }
            EntryType::Symlink => tree.add_link(&path, &link()?)?,
            EntryType::Link => tree.add_same_file(&path, Path::new(&link()?))?,
            EntryType::XGlobalHeader => {}
            EntryType::Char | EntryType::Block | EntryType::Fifo => {
                return Err(format!(
                    "{path:?} must be a file, folder or link, got a device or pipe"
                ));
            }
            other => {
                let kind = char::from(other.as_byte()).escape_default().to_string();
                return Err(format!(
                    "{path:?} must be of a known entry type, got '{kind}'"
                ));
            }
        }
    }
}
