//! Unpacks arbitrary bytes as a package archive. A package stays within its folder and the limits;
//! an error leaves no files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tarragon_documents::{ArchiveType, PackageMap, RemoteParams, RemoteSettings};

const MAX_BYTES: u64 = 1 << 20;
const MAX_ENTRIES: u64 = 50;

const KINDS: [ArchiveType; 5] = [
    ArchiveType::Zip,
    ArchiveType::Tar,
    ArchiveType::Gztar,
    ArchiveType::Bztar,
    ArchiveType::Xztar,
];

/// Returns the total size of the files (bytes), and the number of files, folders and links; checks
/// that all are below `root`.
fn measure(root: &Path, folder: &Path) -> (u64, u64) {
    let (mut bytes, mut count) = (0, 0);
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
        count += 1;
        if kind.is_dir() {
            let below = measure(root, &path);
            bytes += below.0;
            count += below.1;
        } else if kind.is_symlink() {
            let target = path.canonicalize().expect("no dangling links");
            assert!(target.starts_with(root), "{path:?} leads to {target:?}");
        } else {
            assert!(kind.is_file(), "{path:?} is not a file");
            bytes += entry.metadata().expect("metadata").len();
        }
    }
    (bytes, count)
}

fuzz_target!(|input: (u8, bool, &[u8])| {
    let (kind, strip, bytes) = input;
    static PLACE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let place = PLACE.get_or_init(|| tempfile::tempdir().expect("a folder"));
    let place = place.path().canonicalize().expect("a path");
    let archive = place.join("archive");
    fs::write(&archive, bytes).expect("a file");
    let mut map = PackageMap::make_empty();
    map.set_remote_settings(RemoteSettings {
        cache_directory: Some(place.join("cache")),
        allow_network: false,
        max_unpacked_bytes: MAX_BYTES,
        max_entries: MAX_ENTRIES,
        ..RemoteSettings::default()
    });
    let digits = Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let params = RemoteParams {
        urls: vec![format!("file://{}", archive.display())],
        sha256: digits,
        archive_type: Some(KINDS[usize::from(kind) % KINDS.len()]),
        strip_prefix: strip.then(|| "a".into()),
    };
    map.add_remote("p", params).expect("valid parameters");
    if let Ok(folder) = map.path("p") {
        let root = folder.canonicalize().expect("a path");
        let (bytes, count) = measure(&root, &root);
        assert!(
            bytes <= MAX_BYTES && count <= 200 * MAX_ENTRIES,
            "{bytes} {count}"
        );
        fs::remove_dir_all(folder).expect("a folder");
    }
    let cache = fs::read_dir(place.join("cache")).expect("a folder");
    for entry in cache.flatten() {
        let name = entry.file_name();
        assert!(
            name.to_string_lossy().ends_with(".lock"),
            "{name:?} was not removed"
        );
        fs::remove_file(entry.path()).expect("a file");
    }
    assert_eq!(fs::read_dir(&place).expect("a folder").count(), 2);
});
