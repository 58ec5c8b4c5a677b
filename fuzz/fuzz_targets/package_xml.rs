//! Parses arbitrary bytes as a package manifest. An error changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::OnceLock;
use tarragon_documents::PackageMap;

fuzz_target!(|bytes: &[u8]| {
    static PLACE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let place = PLACE.get_or_init(|| tempfile::tempdir().expect("a folder"));
    let file = place.path().join("package.xml");
    fs::write(&file, bytes).expect("a file");
    let mut map = PackageMap::make_empty();
    let mut crawled = PackageMap::make_empty();
    let found = crawled.populate_from_folder(place.path());
    match map.add_package_xml(&file) {
        Ok(name) => {
            assert!(!name.trim().is_empty());
            assert_eq!(
                map.path(&name).expect("the package was added"),
                place.path()
            );
            assert!(found.is_ok());
            assert_eq!(map, crawled);
        }
        Err(_) => assert!(found.is_err() && map.is_empty() && crawled.is_empty()),
    }
});
