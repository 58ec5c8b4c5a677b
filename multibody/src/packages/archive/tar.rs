//! Tape archives (POSIX.1-2017, pax, section "ustar Interchange Format" and its pax extensions; GNU
//! tar).

use super::tree::UnpackedTree;
use ::tar::{Archive, EntryType};
use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

/// How many bytes may lie between the content of two entries: headers, and the long names and
/// attributes that are held in memory.
const MAX_HEADER: u64 = 1 << 20;

/// Passes on at most as many bytes as somebody else allows.
struct MeteredReader<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for MeteredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other(format!(
                "a header has more than {MAX_HEADER} bytes"
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
        let mut entry = entry.map_err(|e| format!("this is no whole tar archive: {e}"))?;
        let path = entry.path().map_err(|e| e.to_string())?.into_owned();
        let folder = entry.path_bytes().ends_with(b"/");
        // What is content is counted by the tree.
        left.set(u64::MAX);
        let link = || match entry.link_name() {
            Ok(Some(target)) => Ok(target.into_owned()),
            Ok(None) => Err(format!("the link {path:?} has no target")),
            Err(error) => Err(format!("the link {path:?}: {error}")),
        };
        match entry.header().entry_type() {
            EntryType::Directory => tree.add_folder(&path)?,
            // Before POSIX there was no type for folders.
            EntryType::Regular if folder => tree.add_folder(&path)?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                tree.add_file(&path, &mut entry)?;
            }
            EntryType::Symlink => tree.add_link(&path, &link()?)?,
            EntryType::Link => tree.add_same_file(&path, Path::new(&link()?))?,
            EntryType::XGlobalHeader => {}
            EntryType::Char | EntryType::Block | EntryType::Fifo => {
                return Err(format!("{path:?} is a device or pipe; files are expected"));
            }
            other => {
                let kind = char::from(other.as_byte()).escape_default().to_string();
                return Err(format!("{path:?} is of a type that is not known, '{kind}'"));
            }
        }
    }
}
