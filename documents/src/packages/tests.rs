use super::crawl::CrawlRules;
use super::*;
use std::fs;
use std::path::{Path, PathBuf};

fn package(root: &Path, folder: &str, name: &str) -> PathBuf {
    let folder = root.join(folder);
    fs::create_dir_all(&folder).unwrap();
    let text = format!("<?xml version='1.0'?><package><name> {name} </name></package>");
    fs::write(folder.join("package.xml"), text).unwrap();
    folder
}

fn names(map: &PackageMap) -> Vec<&str> {
    map.package_names().collect()
}

#[test]
fn folders_are_crawled_downwards_and_upwards() {
    let dir = tempfile::tempdir().unwrap();
    let b = package(dir.path(), "x/y/b", "b");
    package(dir.path(), "a", "a");
    package(dir.path(), "a/.git/c", "hidden");
    let inner = package(dir.path(), "a/deep/inner", "inner");
    let mut map = PackageMap::make_empty();
    map.populate_from_folder(dir.path()).unwrap();
    assert_eq!(names(&map), ["a", "b", "inner"]);
    assert_eq!(map.path("b").unwrap(), b);

    fs::write(dir.path().join("x/COLCON_IGNORE"), "").unwrap();
    let mut map = PackageMap::make_empty();
    map.crawl_all([dir.path().into()], CrawlRules::Ros).unwrap();
    assert_eq!(names(&map), ["a"]);
    assert!(map.populate_from_environment("ROS_PACKAGE_PATH").is_err());
    assert!(map.populate_from_environment("").is_err());

    let mut map = PackageMap::make_empty();
    map.populate_upstream(&inner.join("urdf").join("robot.urdf"));
    assert_eq!(names(&map), ["a", "inner"]);
    // As in Drake, a missing folder is only a warning.
    map.populate_from_folder(dir.path().join("nowhere"))
        .unwrap();
    assert_eq!(map.len(), 2);
}

#[cfg(unix)]
#[test]
fn links_are_followed_once() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    package(elsewhere.path(), "out", "out");
    package(dir.path(), "a", "a");
    std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("link")).unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).unwrap();
    let mut map = PackageMap::make_empty();
    map.populate_from_folder(dir.path()).unwrap();
    assert_eq!(names(&map), ["a", "out"]);
    assert_eq!(map.path("out").unwrap(), dir.path().join("link/out"));
}

#[test]
fn a_bad_manifest_adds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    package(dir.path(), "a", "a");
    fs::create_dir(dir.path().join("b")).unwrap();
    fs::write(dir.path().join("b/package.xml"), "junk").unwrap();
    let mut map = PackageMap::make_empty();
    let error = map.populate_from_folder(dir.path()).unwrap_err();
    assert!(error.to_string().contains("malformed XML"), "{error}");
    assert!(map.is_empty());
}

#[test]
fn conflicts_and_unknown_names_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (package(dir.path(), "a", "p"), package(dir.path(), "b", "p"));
    let mut map = PackageMap::make_empty();
    map.add("p", &a).unwrap();
    map.add("p", dir.path().join("b/../a")).unwrap();
    assert!(map.add("p", &b).is_err());
    assert!(map.add_package_xml(b.join("package.xml")).is_err());
    assert!(map.add("q", dir.path().join("nowhere")).is_err());
    let error = map.path("q").unwrap_err().to_string();
    assert!(error.contains("known packages are: p"), "{error}");
    let mut other = PackageMap::make_empty();
    other.add("new", &b).unwrap();
    other.add("p", &b).unwrap();
    assert!(map.add_map(&other).is_err());
    assert_eq!(names(&map), ["p"]);
    map.remove("p").unwrap();
    assert!(map.is_empty() && map.remove("p").is_err());
    map.add_map(&other).unwrap();
    assert_eq!(map, other);
}

#[test]
fn remote_and_local_packages_do_not_mix() {
    let remote = |urls: &[&str]| RemoteParams {
        urls: urls.iter().map(ToString::to_string).collect(),
        sha256: "0".repeat(64),
        ..RemoteParams::default()
    };
    let mut map = PackageMap::make_empty();
    map.add_remote("r", remote(&["http://x/a.zip"])).unwrap();
    map.add_remote("r", remote(&["http://x/a.zip"])).unwrap();
    let error = map
        .add_remote("r", remote(&["http://y/a.zip"]))
        .unwrap_err();
    assert!(error.to_string().contains(r#""urls":["http://y/a.zip"]"#));
    assert!(map.add("r", "/").is_err());
    map.add("l", "/").unwrap();
    assert!(map.add_remote("l", remote(&["http://x/a.zip"])).is_err());
    assert_eq!(map.clone(), map);
}

#[test]
fn deprecations_are_kept_when_a_package_is_added_again() {
    // As in Drake 1.51.1, adding a package again may add a message but never removes one.
    let dir = tempfile::tempdir().unwrap();
    let text = "<package><name>p</name><export><deprecated>Use q</deprecated></export></package>";
    let manifest = dir.path().join("package.xml");
    fs::write(&manifest, text).unwrap();
    let mut plain = PackageMap::make_empty();
    plain.add("p", dir.path()).unwrap();
    let mut map = plain.clone();
    map.add_package_xml(&manifest).unwrap();
    assert_eq!(map.deprecation("p").unwrap(), Some("Use q"));
    map.add("p", dir.path()).unwrap();
    assert_eq!(map.deprecation("p").unwrap(), Some("Use q"));
    let mut merged = plain.clone();
    merged.add_map(&map).unwrap();
    assert_eq!(merged.deprecation("p").unwrap(), Some("Use q"));
    let mut crawled = plain;
    crawled.populate_from_folder(dir.path()).unwrap();
    assert_eq!(crawled.deprecation("p").unwrap(), None);
    assert!(crawled.deprecation("q").is_err());
}

#[test]
fn urls_resolve_as_in_drake() {
    let mut map = PackageMap::make_empty();
    map.add("p", "/").unwrap();
    let dir = tempfile::tempdir().unwrap();
    map.add("d", dir.path()).unwrap();
    let resolved = map.resolve_url("package://d/../e/./f").unwrap();
    assert_eq!(resolved, dir.path().parent().unwrap().join("e/f"));
    for (url, path) in [
        ("package://p/a/b.obj", "/a/b.obj"),
        ("model://p//b.obj", "/b.obj"),
        ("file:///tmp/x", "/tmp/x"),
        ("file://localhost/tmp/x", "/tmp/x"),
        ("file:///tmp/../x/./y", "/x/y"),
        ("file:///a%20b?c#d", "/a%20b?c#d"),
        ("package://p/../../x", "/x"),
        ("package://p/a%20b", "/a%20b"),
        ("package://p", "/"),
        ("package:///p/x", "/x"),
    ] {
        assert_eq!(map.resolve_url(url).unwrap(), Path::new(path), "{url}");
    }
    for url in [
        "x.obj",
        "http://p/x",
        "file://x",
        "file://host/x",
        "package://",
        "PACKAGE://p/x",
        " package://p/x",
    ] {
        assert!(map.resolve_url(url).is_err(), "{url}");
    }
}

#[test]
fn maps_are_send_and_sync() {
    fn shared<T: Clone + Send + Sync>() {}
    shared::<PackageMap>();
}

/// As Gazebo resolves `model://NAME` in the folders of `GZ_SIM_RESOURCE_PATH`: by the name of the
/// folder, not by the `<name>` of its `model.config`.
#[test]
fn models_of_gazebo_are_found_by_the_names_of_their_folders() {
    let dir = tempfile::tempdir().unwrap();
    let model = |folder: &str| {
        let folder = dir.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let text = "<model><name>Another Name</name></model>";
        fs::write(folder.join("model.config"), text).unwrap();
        folder
    };
    let (cup, _) = (model("deep/models/cup"), model("deep/.git/hidden"));
    model("models/arm");
    let arm = package(dir.path(), "ws/arm_pkg", "arm");
    let mut map = PackageMap::make_empty();
    map.add_argument(dir.path().to_str().unwrap()).unwrap();
    assert_eq!(names(&map), ["arm", "cup"]);
    assert_eq!(map.path("arm").unwrap(), arm, "package.xml comes first");
    assert_eq!(
        map.resolve_url("model://cup/a.obj").unwrap(),
        cup.join("a.obj")
    );
    // The folder of a single model is that model.
    let mut map = PackageMap::make_empty();
    map.add_argument(cup.to_str().unwrap()).unwrap();
    assert_eq!(names(&map), ["cup"]);
    // Drake's rule finds packages only.
    let mut map = PackageMap::make_empty();
    map.populate_from_folder(dir.path()).unwrap();
    assert_eq!(names(&map), ["arm"]);
}

#[test]
fn arguments_without_packages_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("meshes")).unwrap();
    let mut map = PackageMap::make_empty();
    let add = |map: &mut PackageMap| {
        let path = dir.path().to_str().unwrap();
        tarragon_framework::warnings::collect(|| map.add_argument(path)).1
    };
    let warnings = add(&mut map);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("give NAME=DIR"), "{warnings:?}");
    let error = map.path("arm").unwrap_err().to_string();
    assert!(error.contains("--package arm=DIR"), "{error}");
    package(dir.path(), "arm", "arm");
    assert!(add(&mut map).is_empty() && add(&mut map).is_empty());
}
