//! Unpacking of untrusted archives.
//!
//! All paths are split into parts and must stay below the destination folder. Links are created
//! last, so that nothing is written through them, and the real target of each is checked. Unpacked
//! bytes are counted as they are read, whatever the archive claims.

mod tar;
mod tree;
mod zip;

use super::remote::ArchiveType;
use super::settings::RemoteSettings;
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tree::UnpackedTree;

/// Memory limit of the xz decoder (KiB). The strongest preset takes 65 MiB; a header may demand 4
/// GiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Unpacks the folder `prefix` of an archive into the empty folder `into`. After a failure, `into`
/// may hold any part of it.
pub(super) fn unpack(
    archive: File,
    kind: ArchiveType,
    prefix: &Path,
    into: &Path,
    settings: &RemoteSettings,
) -> Result<(), String> {
    let size = archive.metadata().map_err(|e| e.to_string())?.len();
    let mut tree = UnpackedTree::new(into, prefix, settings, size);
    let packed = BufReader::new(archive);
    let read = match kind {
        ArchiveType::Zip => zip::read(packed, &mut tree),
        ArchiveType::Tar => tar::read(packed, &mut tree),
        ArchiveType::Gztar => tar::read(MultiGzDecoder::new(packed), &mut tree),
        ArchiveType::Bztar => tar::read(MultiBzDecoder::new(packed), &mut tree),
        ArchiveType::Xztar => {
            let unpacked = XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB);
            tar::read(unpacked, &mut tree)
        }
    };
    read.and_then(|()| tree.finish())
        .map_err(|what| format!("{what} (read as {kind})"))
}
