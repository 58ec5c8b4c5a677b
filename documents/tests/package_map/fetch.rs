//! Fetching of packages, from servers and caches that work and from those that fail.

use crate::package_map::archives::{ALL, Archive, sha256};
use crate::package_map::server::{Answer, Server};
use crate::package_map::{Place, files, robot};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tarragon_documents::{ArchiveType, PackageMap, RemoteParams, RemoteSettings};

const SUFFIXES: [&str; 5] = ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"];

#[test]
fn archives_of_all_types_are_unpacked_on_demand() {
    let place = Place::new();
    let manifest = "<package><name>robot</name></package>";
    for (kind, suffix) in ALL.into_iter().zip(SUFFIXES) {
        let mut params = place.archive(&format!("a.{suffix}"), &robot().pack(kind));
        let before = place.cached();
        let map = place.map(params.clone());
        assert!(map.contains("p"));
        assert_eq!(place.cached(), before, "adding fetches nothing");
        let path = map
            .resolve_url("package://p/robot-1.0/meshes/arm.obj")
            .unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "v 1 2 3\n", "{kind}");

        params.strip_prefix = Some("robot-1.0/".into());
        let folder = place.map(params.clone()).path("p").unwrap();
        let expected = [("meshes/arm.obj", "v 1 2 3\n"), ("package.xml", manifest)];
        let expected = expected.map(|(n, c)| (n.to_string(), c.to_string()));
        assert_eq!(files(&folder), expected, "{kind}");

        for wrong in ["robot", "robot-1.0/package.xml", "LICENSE"] {
            params.strip_prefix = Some(wrong.into());
            let error = place.map(params.clone()).path("p").unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
    assert_eq!(
        place.cached().len(),
        10,
        "failed packages must leave nothing behind"
    );
}

#[test]
fn cached_packages_are_not_fetched_again() {
    let place = Place::new();
    let params = place.archive("a.zip", &robot().pack(ArchiveType::Zip));
    let map = place.map(params.clone());
    let folder = map.path("p").unwrap();
    fs::remove_file(place.dir.path().join("a.zip")).unwrap();
    assert_eq!(map.path("p").unwrap(), folder);
    assert_eq!(place.map(params.clone()).path("p").unwrap(), folder);
    // The folder is looked up on every call, so that a cache may be emptied.
    fs::remove_dir_all(folder).unwrap();
    assert!(map.path("p").is_err());
}

#[test]
fn urls_are_tried_in_order() {
    let place = Place::new();
    let bytes = robot().pack(ArchiveType::Gztar);
    let server = Server::new(&[("/a.tar.gz", Answer::Body(bytes.clone()))]);
    let mut params = place.archive("wrong.tar.gz", b"something else");
    params.urls.insert(0, "file:///nowhere/a.tar.gz".into());
    params.urls.push(format!("{}/missing.tar.gz", server.url));
    params.sha256 = sha256(&bytes).to_uppercase();
    let error = place.map(params.clone()).path("p").unwrap_err().to_string();
    for part in [
        "package 'p' cannot be fetched",
        "file:///nowhere/a.tar.gz: /nowhere/a.tar.gz: ",
        &format!(
            "checksum of the file must be {}, got {}",
            sha256(&bytes),
            sha256(b"something else")
        ),
        "missing.tar.gz: the server must answer 200 OK, got 404",
    ] {
        assert!(error.contains(part), "'{part}' in: {error}");
    }
    assert_eq!(place.cached(), [] as [&str; 0]);
    params.urls.push(format!("{}/a.tar.gz", server.url));
    let folder = place.map(params).path("p").unwrap();
    assert_eq!(files(&folder).len(), 3);
}

/// A server with the given answers, and a map whose package `p` comes from its path `/a.zip`.
fn served(place: &Place, answers: &[(&str, Answer)], bytes: &[u8]) -> (Server, PackageMap) {
    let server = Server::new(answers);
    let map = place.map(RemoteParams {
        urls: vec![format!("{}/a.zip", server.url)],
        sha256: sha256(bytes),
        ..RemoteParams::default()
    });
    (server, map)
}

#[test]
fn servers_may_redirect_and_send_chunks() {
    let bytes = robot().pack(ArchiveType::Zip);
    for answers in [
        vec![("/a.zip", Answer::Chunked(bytes.clone()))],
        vec![
            ("/a.zip", Answer::Redirect("b/c?d=/e".into())),
            ("/b/c?d=/e", Answer::Redirect("x".into())),
            ("/b/x", Answer::Redirect("/y".into())),
            ("/y", Answer::Body(bytes.clone())),
        ],
        vec![("/a.zip", Answer::Drip(bytes[..].into()))],
    ] {
        let place = Place::new();
        let (server, map) = served(&place, &answers, &bytes);
        let folder = map.path("p").unwrap();
        assert_eq!(files(&folder).len(), 3);
        assert_eq!(server.requests(), answers.len());
    }
}

#[test]
fn failing_servers_are_reported_and_leave_nothing_behind() {
    let bytes = robot().pack(ArchiveType::Zip);
    let half = bytes.len() / 2;
    for (answer, what) in [
        (
            Answer::Status(404),
            "the server must answer 200 OK, got 404",
        ),
        (Answer::Status(503), "200 OK, got 503"),
        (Answer::Status(204), "200 OK, got 204"),
        (Answer::Status(304), "200 OK, got 304"),
        (Answer::Truncated(bytes.clone(), half), "bytes remaining"),
        (Answer::WrongLength(bytes.clone(), half), "checksum"),
        (
            Answer::WrongLength(bytes.clone(), 2 * half + 10),
            "bytes remaining",
        ),
        (Answer::Body(vec![0; 10]), "checksum"),
        (
            Answer::Redirect("/a.zip".into()),
            "redirect at most 3 times",
        ),
        (
            Answer::Redirect("file:///etc/passwd".into()),
            "Protocol \"file\"",
        ),
        (Answer::Garbage, "/a.zip: "),
        (Answer::Silence, "timeout"),
        (Answer::Drip(vec![0; 1000]), "timeout"),
        (Answer::Body(vec![0; 100_000]), "at most 90000 bytes"),
    ] {
        let mut place = Place::new();
        place.settings = RemoteSettings {
            stall_timeout: Duration::from_millis(300),
            download_timeout: Duration::from_secs(2),
            max_redirects: 3,
            max_archive_bytes: 90_000,
            ..place.settings
        };
        let (_server, map) = served(&place, &[("/a.zip", answer)], &bytes);
        let start = Instant::now();
        let error = map.path("p").unwrap_err().to_string();
        assert!(error.contains(what), "'{what}' in: {error}");
        // The bound is generous, because machines may be busy.
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        assert_eq!(place.cached(), [] as [&str; 0]);
    }
}

#[test]
fn the_network_can_be_forbidden() {
    let mut place = Place::new();
    place.settings.allow_network = false;
    let bytes = robot().pack(ArchiveType::Zip);
    let answers = [("/a.zip", Answer::Body(bytes.clone()))];
    let (server, map) = served(&place, &answers, &bytes);
    let error = map.path("p").unwrap_err().to_string();
    assert!(error.contains("must allow the network"), "{error}");
    assert_eq!(server.requests(), 0);
    let map = place.map(place.archive("a.zip", &bytes));
    assert!(map.path("p").is_ok());
}

#[test]
fn threads_fetch_once() {
    let place = Place::new();
    let bytes = robot().pack(ArchiveType::Zip);
    let answers = [("/a.zip", Answer::Drip(bytes.clone()))];
    let (server, map) = served(&place, &answers, &bytes);
    // Clones share fetched packages; independent maps share the cache.
    let clone = map.clone();
    let stranger = place.map(RemoteParams {
        urls: vec![format!("{}/a.zip", server.url)],
        sha256: sha256(&bytes),
        ..RemoteParams::default()
    });
    let maps = [&map, &map, &clone, &stranger];
    let folders = std::thread::scope(|scope| {
        let threads = maps.map(|map| scope.spawn(|| map.path("p").unwrap()));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(folders.iter().all(|f| *f == folders[0]));
    assert_eq!(files(&folders[0]).len(), 3);
    assert_eq!(server.requests(), 1);
    assert_eq!(place.cached().len(), 1);
}

/// Environment variable that holds the task of the other processes in [`processes_fetch_once`].
const TASK: &str = "TARRAGON_TEST_FETCH";

#[test]
fn processes_fetch_once() {
    let place = Place::new();
    let bytes = robot().pack(ArchiveType::Zip);
    let answers = [("/a.zip", Answer::Drip(bytes.clone()))];
    let (server, map) = served(&place, &answers, &bytes);
    let params = RemoteParams {
        urls: vec![format!("{}/a.zip", server.url)],
        sha256: sha256(&bytes),
        ..RemoteParams::default()
    };
    // The remains of a killed process are cleared away.
    let key = format!("{}-", params.sha256);
    let cache = place.dir.path().join("cache");
    let nothing = sha256(b"");
    fs::create_dir_all(cache.join(format!(".{key}{nothing}.tmp-dead/content"))).unwrap();
    let mut others: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "package_map::fetch::process_that_fetches",
                    "--nocapture",
                ])
                .env(TASK, params.to_json())
                .env("TARRAGON_PACKAGE_CACHE", &cache)
                .spawn()
                .unwrap()
        })
        .collect();
    let folder = map.path("p").unwrap();
    for other in &mut others {
        assert!(other.wait().unwrap().success());
    }
    assert_eq!(files(&folder).len(), 3);
    assert_eq!(server.requests(), 1);
    assert_eq!(place.cached().len(), 1);
}

#[test]
fn process_that_fetches() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let mut map = PackageMap::make_empty();
    let params = RemoteParams::from_yaml(&task).unwrap();
    map.add_remote("p", params).unwrap();
    assert_eq!(files(&map.path("p").unwrap()).len(), 3);
}

#[test]
fn a_missing_curl_is_reported_with_a_cure() {
    let params = RemoteParams {
        urls: vec!["https://example.com/a.zip".into()],
        sha256: "0".repeat(64),
        ..RemoteParams::default()
    };
    let place = Place::new();
    let other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "package_map::fetch::process_that_fetches"])
        .env(TASK, params.to_json())
        .env("TARRAGON_PACKAGE_CACHE", place.dir.path().join("cache"))
        .env("PATH", place.dir.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&other.stdout);
    assert!(
        printed.contains("program curl, which could not be started; install it, or"),
        "{printed}"
    );
}

#[test]
fn a_cache_that_cannot_be_created_is_reported() {
    let mut place = Place::new();
    let params = place.archive("a.zip", &robot().pack(ArchiveType::Zip));
    let file = place.dir.path().join("file");
    fs::write(&file, "").unwrap();
    place.settings.cache_directory = Some(file.join("cache"));
    let error = place.map(params).path("p").unwrap_err().to_string();
    assert!(
        error.contains(&*file.join("cache").display().to_string()),
        "{error}"
    );
}

#[test]
fn local_archives_must_be_files() {
    let place = Place::new();
    let params = RemoteParams {
        urls: vec![format!("file://{}/x.zip", place.dir.path().display())],
        sha256: "0".repeat(64),
        ..RemoteParams::default()
    };
    fs::create_dir(place.dir.path().join("x.zip")).unwrap();
    let error = place.map(params).path("p").unwrap_err().to_string();
    assert!(
        error.contains("must be a regular file") || error.contains("directory"),
        "{error}"
    );
    assert!(!Path::new("x.zip").exists());
}

#[test]
fn empty_archives_are_refused() {
    let place = Place::new();
    for kind in ALL {
        let error = place
            .unpacked(kind, &Archive::new().pack(kind))
            .unwrap_err();
        assert!(error.contains("it must have files"), "{error}");
    }
}
