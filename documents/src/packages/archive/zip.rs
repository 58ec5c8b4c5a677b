//! ZIP archives (PKWARE, APPNOTE.TXT 6.3).

use super::tree::UnpackedTree;
use ::zip::ZipArchive;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Mask of the file type in the Unix mode, the upper half of the external attributes (POSIX,
/// `st_mode`).
const KIND_MASK: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Maximum length of a link target (bytes); systems do not allow longer ones.
const MAX_LINK: u64 = 4096;

pub(super) fn read(packed: BufReader<File>, tree: &mut UnpackedTree<'_>) -> Result<(), String> {
    let mut archive =
        ZipArchive::new(packed).map_err(|e| format!("the archive must be a zip archive: {e}"))?;
    for i in 0..archive.len() {
        let at = |e: ::zip::result::ZipError| format!("entry {}: {e}", i + 1);
        let mut entry = archive.by_index(i).map_err(at)?;
        let name = entry.name().map_err(at)?.into_owned();
        let path = Path::new(&name);
        match entry.unix_mode().unwrap_or(0) & KIND_MASK {
            LINK => {
                let mut target = String::new();
                let read = entry.take(MAX_LINK).read_to_string(&mut target);
                read.map_err(|e| format!("the link {path:?}: {e}"))?;
                tree.add_link(path, Path::new(&target))?;
            }
            _ if name.ends_with('/') => tree.add_folder(path)?,
            FOLDER => tree.add_folder(path)?,
            0 | REGULAR => tree.add_file(path, &mut entry)?,
            _ => {
                return Err(format!(
                    "{path:?} must be a file, folder or link, got a device, pipe or socket"
                ));
            }
        }
    }
    Ok(())
}
