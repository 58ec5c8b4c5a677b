//! Static pages open from disk, without any network.

use crate::browser::chromium::Tab;
use crate::browser::{can_run, open, settle, share};
use crate::support;
use nalgebra::{Isometry3, Vector3};
use serde_json::json;
use tarragon_geometry::{BoxShape, Rgba};

#[test]
fn a_static_page_opens_from_disk_offline() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let green = Rgba::new(0.0, 1.0, 0.0, 1.0).unwrap();
    meshcat
        .set_object("box", &BoxShape::new(1.0, 1.0, 1.0).unwrap().into(), green)
        .unwrap();
    meshcat.set_transform("box", &Isometry3::translation(0.0, 0.0, 0.5));
    meshcat.set_property("/Grid", "visible", false);
    // Left out of the static page, where it would have no effect.
    meshcat.add_slider("gain", 0.0, 1.0, 0.1, 0.5).unwrap();
    meshcat
        .set_camera_pose(&Vector3::new(3.0, -3.0, 2.0), &Vector3::new(0.0, 0.0, 0.5))
        .unwrap();
    let mut tab = open(&meshcat);
    settle(&meshcat, &mut tab);
    let is_green = |[r, g, b, _]: [u8; 4]| g > 60 && r < g / 2 && b < g / 2;
    let live = share(&tab.screenshot(), is_green);
    let html = meshcat.static_html().unwrap();
    drop(meshcat);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scene.html");
    std::fs::write(&file, html).unwrap();
    let mut tab = Tab::blank();
    tab.go_offline();
    tab.navigate(&format!("file://{}?controls=off", file.display()));
    tab.wait("window.tarragon.node('/drake/box') && window.tarragon.loading === 0");
    tab.eval("window.tarragon.renderNow()");
    assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
    assert_eq!(tab.eval("window.tarragon.node('/Grid').visible"), false);
    let slider = "document.querySelector('input[aria-label=gain]')";
    assert_eq!(tab.eval(slider), serde_json::Value::Null);
    assert_eq!(
        tab.eval("window.tarragon.node('/drake/box').matrix.elements[14]"),
        0.5
    );
    let offline = share(&tab.screenshot(), is_green);
    assert!(
        live > 0.02 && (live - offline).abs() < 0.002,
        "{live} and {offline}"
    );
    // No server was contacted.
    let asked = tab.eval(
        "performance.getEntriesByType('resource').filter(e => e.name.startsWith('http')).length",
    );
    assert_eq!(asked, 0);
}

#[test]
fn a_zip_contains_the_page_and_its_files() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let image = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(image.path(), b"no picture").unwrap();
    meshcat.set_environment_map(image.path()).unwrap();
    let archive = meshcat.static_zip().unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let names: Vec<String> = archive
        .file_names()
        .map(|n| n.unwrap().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.contains(&"meshcat.html".into()));
    let asset = names.iter().find(|n| n.starts_with("cas-v1/")).unwrap();
    let mut content = String::new();
    std::io::Read::read_to_string(&mut archive.by_name(asset).unwrap(), &mut content).unwrap();
    assert_eq!(content, "no picture");
}
