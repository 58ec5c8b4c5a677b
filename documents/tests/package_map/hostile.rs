//! Malicious and damaged archives.

use crate::package_map::archives::{ALL, Archive, Kind};
use crate::package_map::{Place, files};
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use tarragon_documents::ArchiveType;

const TAR_AND_ZIP: [ArchiveType; 2] = [ArchiveType::Tar, ArchiveType::Zip];

/// Checks that unpacking fails with an error that contains `what`, and that nothing is left in the
/// cache or added outside of it.
fn refused(place: &Place, kind: ArchiveType, archive: &Archive, what: &str) {
    let error = place.unpacked(kind, &archive.pack(kind)).unwrap_err();
    assert!(error.contains(what), "'{what}' in: {error}");
    assert_eq!(place.cached(), [] as [&str; 0]);
    let beside = fs::read_dir(place.dir.path()).unwrap().count();
    assert_eq!(beside, 2, "only the archive and the cache may exist");
}

#[test]
fn paths_that_lead_out_are_refused() {
    let place = Place::new();
    let path = place.dir.path().join("evil").display().to_string();
    for name in ["../evil", "a/../../evil", "a/../b", &*path] {
        for kind in TAR_AND_ZIP {
            let archive = Archive::new().file("good", "").file(name, "evil");
            refused(&place, kind, &archive, "must not lead out of the archive");
        }
        let folder = Archive::new().folder(name);
        refused(
            &place,
            ArchiveType::Tar,
            &folder,
            "must not lead out of the archive",
        );
    }
}

#[test]
fn links_that_lead_out_are_refused() {
    let place = Place::new();
    let outside = place.dir.path().display().to_string();
    let is_link = "must not lead out of the archive";
    for target in ["..", "../../x", &*outside, "/etc/passwd", "a/../../x"] {
        for kind in TAR_AND_ZIP {
            let archive = Archive::new().file("a/b", "").link("link", target);
            refused(&place, kind, &archive, is_link);
        }
    }
    // As text, each link stays inside on its own; together they lead out.
    let archive = Archive::new()
        .file("p/q/file", "")
        .link("p/q/root", "../..")
        .link("out", "p/q/root/..");
    refused(&place, ArchiveType::Tar, &archive, is_link);
    // A file must not be written through a link.
    let through = Archive::new().link("a", ".").file("a/evil", "");
    refused(
        &place,
        ArchiveType::Tar,
        &through,
        "must be either a folder or a file or link",
    );
    let hard = Archive::new().with(Kind::HardLink, "a", "/etc/passwd");
    refused(&place, ArchiveType::Tar, &hard, "must not lead out");
    let hard = Archive::new().link("a", "b").with(Kind::HardLink, "c", "a");
    refused(
        &place,
        ArchiveType::Tar,
        &hard,
        "must lead to a file unpacked before",
    );
}

#[cfg(unix)]
#[test]
fn links_that_stay_inside_work() {
    let place = Place::new();
    for kind in TAR_AND_ZIP {
        let archive = Archive::new()
            .file("top/meshes/a.obj", "a")
            .file("outside", "")
            .link("top/b.obj", "meshes/a.obj")
            .link("top/more", "meshes")
            .link("top/chain", "more/../b.obj")
            .link("top/dangling", "nothing")
            .link("top/dropped", "../outside")
            .link("top/round", "round");
        let mut params = place.archive("unnamed", &archive.pack(kind));
        params.archive_type = Some(kind);
        params.strip_prefix = Some("top".into());
        let folder = place.map(params).path("p").unwrap();
        let names: Vec<String> = files(&folder).into_iter().map(|f| f.0).collect();
        assert_eq!(names, ["b.obj", "chain", "meshes/a.obj", "more/a.obj"]);
        for name in names {
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "a");
        }
    }
}

#[test]
fn hard_links_are_copies() {
    let place = Place::new();
    let archive = Archive::new()
        .file("a", "content")
        .with(Kind::HardLink, "sub/b", "a");
    let folder = place.unpacked(ArchiveType::Tar, &archive.pack(ArchiveType::Tar));
    let expected = [("a", "content"), ("sub/b", "content")];
    assert_eq!(
        files(&folder.unwrap()),
        expected.map(|(n, c)| (n.into(), c.into()))
    );
}

#[test]
fn the_last_of_equal_paths_wins_and_case_matters() {
    let place = Place::new();
    let archive = Archive::new()
        .file("a", "old")
        .file("./a", "new")
        .link("l", "a")
        .file("l", "file")
        .folder("d/")
        .folder("d/");
    let folder = place
        .unpacked(ArchiveType::Tar, &archive.pack(ArchiveType::Tar))
        .unwrap();
    assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "new");
    assert!(!folder.join("l").is_symlink() && folder.join("d").is_dir());

    let archive = Archive::new().file("a", "lower").file("A", "upper");
    let unpacked = place.unpacked(ArchiveType::Tar, &archive.pack(ArchiveType::Tar));
    if place.dir.path().join("CACHE").exists() {
        assert!(unpacked.unwrap_err().contains("upper and lower case"));
    } else {
        assert_eq!(
            fs::read_to_string(unpacked.unwrap().join("a")).unwrap(),
            "lower"
        );
    }

    let place = Place::new();
    for (first, second) in [("a", "a/b"), ("a/b", "a"), ("a/b", "a/")] {
        let archive = Archive::new().file(first, "").file(second, "");
        let result = place.unpacked(ArchiveType::Tar, &archive.pack(ArchiveType::Tar));
        assert_eq!(
            result.is_ok(),
            second == "a/",
            "{first} {second}: {result:?}"
        );
    }
}

#[test]
fn devices_are_refused() {
    let place = Place::new();
    let archive = Archive::new().with(Kind::Device, "null", "");
    refused(&place, ArchiveType::Tar, &archive, "got a device or pipe");
}

#[test]
fn archive_bombs_are_refused() {
    let mut place = Place::new();
    place.settings.max_unpacked_bytes = 1 << 20;
    let large = Archive::new().file("a", vec![0; (1 << 20) + 1]);
    for kind in ALL {
        refused(
            &place,
            kind,
            &large,
            "its content must have at most 1048576 bytes",
        );
    }
    // Dropped entries count as well: they take time and, if they are links, memory.
    let bytes = Archive::new().file("x/y", "").file("a", vec![0; 2 << 20]);
    let mut params = place.archive("a.zip", &bytes.pack(ArchiveType::Zip));
    params.strip_prefix = Some("x".into());
    let error = place.map(params).path("p").unwrap_err().to_string();
    assert!(error.contains("its content must have at most"), "{error}");

    let mut place = Place::new();
    place.settings.max_entries = 10;
    let many = (0..11).fold(Archive::new(), |a, i| a.file(&format!("f{i}"), ""));
    for kind in TAR_AND_ZIP {
        refused(&place, kind, &many, "at most 10 entries");
    }

    // 80 MiB of zeros, compressed to 80 kB.
    let place = Place::new();
    let zeros = Archive::new().file("a", vec![0; 80 << 20]);
    refused(&place, ArchiveType::Gztar, &zeros, "at most 67108864 bytes");
    let deep = Archive::new()
        .file(&"a/".repeat(45), "")
        .folder(&"b/".repeat(45));
    let deep = deep.pack(ArchiveType::Tar);
    assert!(place.unpacked(ArchiveType::Tar, &deep).is_ok());
}

#[test]
fn deep_folders_are_refused() {
    let place = Place::new();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    let options = zip::write::SimpleFileOptions::default();
    writer.start_file("a/".repeat(101) + "b", options).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let error = place.unpacked(ArchiveType::Zip, &bytes).unwrap_err();
    assert!(error.contains("at most 100 parts"), "{error}");
}

#[test]
fn long_names_do_not_take_memory() {
    // A GNU long name of 256 MiB.
    let place = Place::new();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_path("././@LongLink").unwrap();
    header.set_size(256 << 20);
    header.set_cksum();
    let mut packed = GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(header.as_bytes()).unwrap();
    for _ in 0..256 {
        packed.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    let error = place.unpacked(ArchiveType::Gztar, &packed.finish().unwrap());
    assert!(
        error
            .unwrap_err()
            .contains("a header must have at most 1048576 bytes")
    );
}

#[test]
fn data_that_is_not_an_archive_is_refused() {
    let place = Place::new();
    for kind in ALL {
        for bytes in [&b""[..], b"hello", &[0xff; 2000]] {
            let error = place.unpacked(kind, bytes).unwrap_err();
            assert!(error.contains(&format!("(read as {kind})")), "{error}");
        }
        let whole = crate::package_map::robot().pack(kind);
        let error = place
            .unpacked(kind, &whole[..whole.len() / 3 + 7])
            .unwrap_err();
        assert!(error.contains("(read as"), "{error}");
    }
    assert_eq!(place.cached(), [] as [&str; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// An archive with some changed bytes is either unpacked below its folder or refused.
    #[test]
    fn damaged_archives_stay_in_their_folder(
        kind in 0usize..5,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let place = Place::new();
        let archive = crate::package_map::robot().link("robot-1.0/link", "package.xml");
        let mut bytes = archive.pack(ALL[kind]);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let unpacked = place.unpacked(ALL[kind], &bytes);
        prop_assert_eq!(place.cached().len(), usize::from(unpacked.is_ok()));
        prop_assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 2);
    }
}
