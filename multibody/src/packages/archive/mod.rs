//! Unpacking archives that nobody vouches for.
//!
//! All paths are taken apart and must stay below the folder that is unpacked into; links are made
//! last, so that nothing is written through one, and checked against where they really lead. What
//! is unpacked is counted as it comes, whatever the archive claims.

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

/// xz takes 65 MiB at its strongest preset; a header may ask for 4 GiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Unpacks the folder `prefix` of an archive into the empty folder `into`. When that fails, any
/// part of it may be there.
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
