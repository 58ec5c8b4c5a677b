//! Files that refer to other files.

use super::*;
use std::fs;
use tarragon_documents::PackageMap;
use tarragon_formats::directives::{ModelDirectives, flatten_model_directives};

/// A model that refers to a file twice.
fn reference(format: &str, file: &str) -> String {
    match format {
        "sdf" => format!(
            "<sdf version='1.9'><model name='r'><link name='a'/><include><uri>{file}</uri></include>\
             <include><uri>{file}</uri><name>second</name></include></model></sdf>"
        ),
        "xml" => format!(
            "<mujoco model='r'><worldbody><include file='{file}'/><include file='{file}'/></worldbody></mujoco>"
        ),
        _ => format!(
            "directives: [{{add_directives: {{file: {file}}}}}, {{add_directives: {{file: {file}}}}}]"
        ),
    }
}

/// The formats that can include files.
const INCLUDING: [&str; 3] = ["sdf", "xml", "dmd.yaml"];

#[test]
fn cycles_are_errors() {
    for format in INCLUDING {
        let dir = tempfile::tempdir().unwrap();
        let name = |i: usize| format!("m{i}.{format}");
        for n in [1, 2, 20] {
            for i in 0..n {
                let text = reference(format, &name((i + 1) % n));
                fs::write(dir.path().join(name(i)), text).unwrap();
            }
            let found = load_file(&dir.path().join(name(0)));
            assert!(
                found.error.contains("itself"),
                "{format} {n}: {}",
                found.error
            );
        }
        // The same file by another path.
        let text = reference(
            format,
            &format!(
                "./../{}/m0.{format}",
                dir.path().file_name().unwrap().to_str().unwrap()
            ),
        );
        fs::write(dir.path().join(name(0)), text).unwrap();
        assert!(!load_file(&dir.path().join(name(0))).is_ok(), "{format}");
    }
}

#[test]
fn exponentially_growing_includes_are_bounded() {
    for format in INCLUDING {
        let dir = tempfile::tempdir().unwrap();
        let name = |i: usize| format!("m{i}.{format}");
        // 2^30 or 2^60 files.
        for n in [30, 60] {
            for i in 0..n {
                fs::write(dir.path().join(name(i)), reference(format, &name(i + 1))).unwrap();
            }
            let end = match format {
                "sdf" => "<sdf version='1.9'><model name='e'><link name='a'/></model></sdf>",
                "xml" => "<mujocoinclude/>",
                _ => "directives: []",
            };
            fs::write(dir.path().join(name(n)), end).unwrap();
            load_file(&dir.path().join(name(0))).says(&["1000"]);
        }
        if format == "dmd.yaml" {
            let mut packages = PackageMap::make_empty();
            packages.add("p", dir.path()).unwrap();
            for i in 0..30 {
                fs::write(
                    dir.path().join(name(i)),
                    reference(format, &format!("package://p/{}", name(i + 1))),
                )
                .unwrap();
            }
            fs::write(dir.path().join(name(30)), "directives: []").unwrap();
            let nested = ModelDirectives::load(dir.path().join(name(0))).unwrap();
            let e = flatten_model_directives(&nested, &packages).unwrap_err();
            assert!(e.to_string().contains("more than 1000 files"), "{e}");
        }
    }
}

#[test]
fn references_to_anything_but_a_file_are_errors() {
    for format in INCLUDING {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("m.{format}"));
        let folder = dir.path().join(format!("folder.{format}"));
        fs::create_dir(&folder).unwrap();
        let folder = folder.display().to_string();
        for file in [
            "nowhere",
            "/dev/zero",
            "/dev/null",
            "/",
            ".",
            &folder,
            "package://no/x",
            "http://[",
            "://",
            "%00",
        ] {
            fs::write(&path, reference(format, file)).unwrap();
            let found = load_file(&path);
            assert!(!found.is_ok(), "{format} {file}");
            found.says(&[path.to_str().unwrap()]);
        }
        let e = load_file(Path::new(&folder)).error;
        assert!(e.contains("must be a regular file, got a folder"), "{e}");
        let e = load_file(&dir.path().join(format!("none.{format}"))).error;
        assert!(e.contains("none."), "{e}");
    }
}

/// Names of devices have no suffix, so the device is reached through a link.
#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read() {
    for format in ["urdf", "sdf", "xml", "dmd.yaml", "obj"] {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join(format!("zero.{format}"));
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        load_file(&link).says(&["must be a regular file, got a device or a pipe"]);
        if !INCLUDING.contains(&format) {
            continue;
        }
        let path = dir.path().join(format!("m.{format}"));
        fs::write(&path, reference(format, &format!("zero.{format}"))).unwrap();
        assert!(!load_file(&path).is_ok());
    }
    let dir = tempfile::tempdir().unwrap();
    let mesh = dir.path().join("zero.msh");
    std::os::unix::fs::symlink("/dev/zero", mesh).unwrap();
    let path = dir.path().join("m.xml");
    let text = "<mujoco model='m'><asset><mesh name='z' file='zero.msh'/></asset><worldbody>\
                <geom type='mesh' mesh='z'/></worldbody></mujoco>";
    fs::write(&path, text).unwrap();
    load_file(&path);
}

/// The file is one byte too long. It is sparse, so it takes no space.
#[test]
fn a_file_that_is_too_long_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.urdf");
    fs::File::create(&path)
        .unwrap()
        .set_len((256 << 20) + 1)
        .unwrap();
    load_file(&path).says(&["long.urdf", "it has more than 268435456 bytes"]);
}

#[test]
fn missing_meshes_are_reported() {
    for (format, text) in [
        (
            "urdf",
            "<link name='a'><visual><geometry><mesh filename='no.obj'/></geometry></visual></link>",
        ),
        (
            "sdf",
            "<link name='a'><visual name='v'><geometry><mesh><uri>no.obj</uri></mesh></geometry></visual></link>",
        ),
        ("xml", "<body><geom type='mesh' mesh='no'/></body>"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("m.{format}"));
        fs::write(&path, model(format, text)).unwrap();
        let found = load_file(&path);
        let said = found.diagnostics.iter().any(|d| d.message.contains("no"));
        assert!(said, "{format}: {:?}", found.diagnostics);
    }
}
