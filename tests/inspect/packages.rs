//! Packages of a model.

use super::{box_obj, json_of, model, run, run_with, said, write};
use serde_json::json;
use std::path::{Path, PathBuf};

#[test]
fn packages_come_from_options_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let urdf = "<robot name='r'><link name='a'><visual><geometry>\
                <mesh filename='package://hand/meshes/finger.obj'/></geometry></visual></link></robot>";
    let file = folder.path().join("r.urdf");
    std::fs::write(&file, urdf).unwrap();
    let file = file.to_str().unwrap();
    let hand = model("gripper");
    assert_eq!(run(&[file]).status.code(), Some(1));
    let option = format!("hand={hand}");
    assert!(run(&[file, "--package", &option]).status.success());
    let map = folder.path().join("packages.json");
    std::fs::write(&map, json!({ "hand": hand }).to_string()).unwrap();
    let map = map.to_str().unwrap();
    let report = json_of(&run(&[file, "--packages", map, "--json"]));
    assert_eq!(report["geometries"][0]["shape"]["basename"], "finger.obj");
    std::fs::write(map, "[]").unwrap();
    let output = run(&[file, "--packages", map]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("the file must hold a JSON object from names to directories"),
        "{said}"
    );
}

#[test]
fn packages_come_from_the_paths_of_ros_and_gazebo() {
    let folder = tempfile::tempdir().unwrap();
    let obj = box_obj(6);
    let (ros, gazebo) = (folder.path().join("ros"), folder.path().join("gz"));
    write(
        &ros,
        "deep/arm/package.xml",
        "<package><name>arm</name></package>",
    );
    write(&ros, "deep/arm/a.obj", &obj);
    write(
        &gazebo,
        "cup/model.config",
        "<model><name>A Cup</name></model>",
    );
    write(&gazebo, "cup/a.obj", &obj);
    // Gazebo needs no model.config to find a file.
    write(&gazebo, "plain/a.obj", &obj);
    let robot = |uri: &str| {
        let name = uri.replace([':', '/'], "_");
        let urdf = format!(
            "<robot name='r'><link name='a'><visual><geometry><mesh filename='{uri}'/></geometry>\
             </visual></link></robot>"
        );
        write(folder.path(), &format!("{name}.urdf"), &urdf)
    };
    let list = std::env::join_paths([Path::new("/no/such/folder"), &ros]).unwrap();
    let list = PathBuf::from(list);
    for (uri, variable) in [
        ("package://arm/a.obj", ("ROS_PACKAGE_PATH", &*list)),
        ("model://cup/a.obj", ("GZ_SIM_RESOURCE_PATH", &*gazebo)),
        ("model://plain/a.obj", ("GZ_SIM_RESOURCE_PATH", &*gazebo)),
        ("package://cup/a.obj", ("GZ_SIM_RESOURCE_PATH", &*gazebo)),
    ] {
        let file = robot(uri);
        let output = run_with(&[&file], &[variable]);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            said(&output)
        );
        let missing = run(&[&file]);
        assert_eq!(missing.status.code(), Some(1), "{uri}");
        let name = uri.split('/').nth(2).unwrap();
        let cure = format!("--package {name}=DIR");
        assert!(said(&missing).contains(&cure), "{}", said(&missing));
    }
    let file = robot("model://cup/a.obj");
    assert!(
        run(&[&file, "--package", gazebo.to_str().unwrap()])
            .status
            .success()
    );
    // An option comes before the paths.
    let other = folder.path().join("other");
    write(&other, "a.obj", &obj);
    let option = format!("cup={}", other.display());
    let output = run_with(
        &[&file, "--json", "--package", &option],
        &[("GZ_SIM_RESOURCE_PATH", &gazebo)],
    );
    let found = json_of(&output)["geometries"][0]["shape"]["file"].clone();
    assert_eq!(found, other.join("a.obj").to_str().unwrap());
}
