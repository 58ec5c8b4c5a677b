//! Files that are kept for inspection.

use super::recorder::{Answer, Recorder, http};
use super::{color_with, depth_with, label_with, nothing};
use std::fs;
use std::path::Path;
use tarragon_sensors::*;

fn keeping(server: &Recorder) -> RenderEngineGltfClient {
    let params = RenderEngineGltfClientParams {
        base_url: server.base_url(),
        cleanup: false,
        verbose: true,
        ..Default::default()
    };
    RenderEngineGltfClient::new(params).unwrap()
}

/// Names of the files after their numbers, in the order of the numbers.
fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(
        names.iter().all(|n| n[..19].parse::<u64>().is_ok()),
        "{names:?}"
    );
    names.iter().map(|n| n[19..].to_owned()).collect()
}

#[test]
fn scenes_and_images_are_kept_on_request() {
    let server = Recorder::of_images();
    let engine = keeping(&server);
    let directory = engine.files_directory().unwrap().to_owned();
    color_with(&engine, &nothing()).unwrap();
    depth_with(&engine, &nothing()).unwrap();
    // Copies share the directory.
    label_with(&engine.clone(), &nothing()).unwrap();
    assert_eq!(
        files(&directory),
        [
            "-color.gltf",
            "-color.png",
            "-depth.gltf",
            "-depth.tiff",
            "-label.gltf",
            "-label.png",
        ]
    );
    for request in server.requests() {
        let head = request.parts().pop().unwrap().0;
        let name = head.split("filename=\"").nth(1).unwrap();
        let name = name.split('"').next().unwrap();
        assert_eq!(
            fs::read_to_string(directory.join(name)).unwrap(),
            request.scene()
        );
    }
    let other = keeping(&server);
    assert_ne!(other.files_directory().unwrap(), directory);
    drop(engine);
    assert!(directory.is_dir(), "the files outlive the engine");
    fs::remove_dir_all(&directory).unwrap();
    fs::remove_dir_all(other.files_directory().unwrap()).unwrap();
}

#[test]
fn replies_that_are_no_images_are_kept_too() {
    let server = Recorder::new(|_| Answer::Bytes(http("200 OK", b"hello")));
    let engine = keeping(&server);
    color_with(&engine, &nothing()).unwrap_err();
    let directory = engine.files_directory().unwrap();
    assert_eq!(files(directory), ["-color.gltf", ".curl"]);
    let reply = fs::read_dir(directory).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.extension()
            .is_some_and(|e| e == "curl")
            .then_some(path)
    });
    assert_eq!(fs::read(reply.unwrap()).unwrap(), b"hello");
    fs::remove_dir_all(directory).unwrap();
    // After an error of the server, the scene is there to look at.
    let server = Recorder::new(|_| Answer::Bytes(http("400 Bad Request", b"no")));
    let engine = keeping(&server);
    color_with(&engine, &nothing()).unwrap_err();
    assert_eq!(files(engine.files_directory().unwrap()), ["-color.gltf"]);
    fs::remove_dir_all(engine.files_directory().unwrap()).unwrap();
}

#[test]
fn nothing_is_written_by_default() {
    let server = Recorder::of_images();
    let engine = super::engine(&server);
    color_with(&engine, &nothing()).unwrap();
    assert_eq!(engine.files_directory(), None);
}
