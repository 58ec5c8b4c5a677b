//! Two buses that write one log.
//!
//! Source of the right answer: a log is a sequence of whole events (LCM log file format). Two
//! writers that do not know each other overwrite each other's events: a new user lost 2529 of 6000.

use tarragon_framework::ErrorKind;
use tarragon_lcm::{Lcm, LogReader, LogWriter};

#[test]
fn a_log_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.lcm");
    let other_spelling = dir.path().join(".").join("a.lcm");
    let url = |path: &std::path::Path, mode| format!("file://{}?mode={mode}", path.display());

    let first = Lcm::with_url(&url(&path, "w")).unwrap();
    first.publish_bytes("POSE", b"kept", Some(1.0)).unwrap();
    for mode in ["w", "a"] {
        let error = Lcm::with_url(&url(&other_spelling, mode)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let error = error.to_string();
        let condition = "a log must have one writer, got a second one while '";
        assert!(error.contains(condition), "{error}");
        assert!(error.contains(&path.display().to_string()), "{error}");
        assert!(error.contains("; choose another file, or share"), "{error}");
    }
    assert!(LogWriter::create(&path).is_err());
    // Clones share the bus, and another file is free.
    first.clone().publish_bytes("POSE", b"too", None).unwrap();
    Lcm::with_url(&url(&dir.path().join("b.lcm"), "w")).unwrap();
    drop(first);
    let events = LogReader::open(&path).unwrap().map(Result::unwrap);
    let data: Vec<_> = events.map(|event| event.data).collect();
    assert_eq!(data, [b"kept".to_vec(), b"too".to_vec()]);

    // The end of a writer, and a refused file, leave nothing behind.
    drop(LogWriter::append(&path).unwrap());
    drop(LogWriter::create(&path).unwrap());
    std::fs::write(&path, "not a log, but a text").unwrap();
    assert!(LogWriter::append(&path).is_err());
    LogWriter::create(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn links_to_a_log_are_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let [path, hard, soft] = ["a.lcm", "hard.lcm", "soft.lcm"].map(|name| dir.path().join(name));
    let _first = LogWriter::create(&path).unwrap();
    std::fs::hard_link(&path, &hard).unwrap();
    std::os::unix::fs::symlink(&path, &soft).unwrap();
    assert!(LogWriter::create(&hard).is_err());
    assert!(LogWriter::create(&soft).is_err());
    // The name of a removed file is free.
    std::fs::remove_file(&path).unwrap();
    assert!(LogWriter::create(&path).is_ok());
}
