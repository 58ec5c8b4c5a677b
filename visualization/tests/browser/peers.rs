//! Drake's page with our server, and our page with Drake's server.
//!
//! `TARRAGON_PYDRAKE` names a Python program that can import pydrake 1.51. Without it, these tests
//! report it and pass.

use crate::browser::can_run;
use crate::browser::chromium::Tab;
use crate::support;
use crate::support::soft::plate;
use nalgebra::Isometry3;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tarragon_geometry::{BoxShape, Rgba, Sphere};
use tarragon_visualization::{Meshcat, MeshcatAnimation, MeshcatParams};

fn python() -> Option<Command> {
    let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
        support::skip("no pydrake (TARRAGON_PYDRAKE names a Python that has it)");
        return None;
    };
    Some(Command::new(python))
}

/// Returns the directory of Drake's page.
fn drakes_viewer() -> Option<PathBuf> {
    let code = "import pydrake, os; print(os.path.join(os.path.dirname(pydrake.__file__), 'share/drake/geometry'))";
    let output = python()?.args(["-c", code]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().trim().into())
}

#[test]
fn our_server_drives_drakes_page() {
    if !can_run() {
        return;
    }
    let Some(viewer) = drakes_viewer() else {
        return;
    };
    let meshcat = Meshcat::new(MeshcatParams {
        port: Some(0),
        viewer_dir: Some(viewer),
        ..Default::default()
    })
    .unwrap();
    let red = Rgba::new(1.0, 0.0, 0.0, 0.5).unwrap();
    meshcat
        .set_object("ball", &Sphere::new(0.5).unwrap().into(), red)
        .unwrap();
    meshcat.set_transform("ball", &Isometry3::translation(1.0, 2.0, 3.0));
    meshcat.add_slider("s", 0.0, 1.0, 0.5, 0.0).unwrap();
    meshcat.add_button("b", "KeyB").unwrap();
    let mut tab = Tab::open(&meshcat.web_url());
    let ball = "viewer.scene_tree.find(['drake', 'ball'])";
    tab.wait(&format!("{ball}.object.matrix.elements[12] === 1"));
    let object =
        format!("{ball}.object.children.find(c => c.name === '<object>' || c.type === 'Mesh')");
    tab.wait(&object);
    assert_eq!(tab.eval(&format!("{object}.material.opacity")), 0.5);
    // Live changes, an animation, and messages from the page.
    meshcat.set_property("ball", "visible", false);
    tab.wait(&format!("{ball}.object.visible === false"));
    let mut animation = MeshcatAnimation::new(30.0).unwrap();
    for frame in [0, 15] {
        let x = Isometry3::translation(0.0, 0.0, f64::from(frame));
        animation.set_transform(frame, "ball", &x).unwrap();
    }
    meshcat.set_animation(&animation);
    tab.wait(&format!("{ball}.object.position.z > 0"));
    tab.press("KeyB", "b");
    support::wait_for("the key reaches the server", || {
        meshcat.button_clicks("b").unwrap() == 1
    });
    meshcat.set_slider_value("s", 1.0).unwrap();
    tab.wait("Object.values(viewer.gui_controllers).some(c => c.getValue && c.getValue() === 1)");
    meshcat.delete("ball");
    tab.wait(&format!("!{ball}.object.children.length"));
}

/// Drake's page gets deformable geometry as objects that are set again.
#[test]
fn drakes_page_shows_deformable_geometry() {
    if !can_run() {
        return;
    }
    let Some(viewer) = drakes_viewer() else {
        return;
    };
    let meshcat = Meshcat::new(MeshcatParams {
        port: Some(0),
        viewer_dir: Some(viewer),
        ..Default::default()
    })
    .unwrap();
    let mut soft = plate(&meshcat, 5);
    soft.context.force_publish().unwrap();
    let mut tab = Tab::open(&meshcat.web_url());
    let object = "viewer.scene_tree.find(['drake', 'visualizer', 'deformable_geometries', 'plate', \
                  '<object>']).object";
    let height = format!("{object}.geometry.attributes.position.array[2]");
    tab.wait(&format!("{height} === 0"));
    for z in [0.5, 0.25] {
        soft.deform(0, |p| p + nalgebra::Vector3::new(0.0, 0.0, z));
        soft.context.force_publish().unwrap();
        tab.wait(&format!("{height} === {z}"));
        let flat = format!("{object}.material.flatShading && {object}.geometry.index.count");
        let triangles = soft.boundary(0).triangles.len();
        assert_eq!(tab.eval(&flat), 3 * triangles);
    }
    // A recording leaves the vertices out, but nothing fails.
    meshcat.start_recording(64.0, true).unwrap();
    soft.context.force_publish().unwrap();
    meshcat.publish_recording();
    soft.deform(0, |p| p + nalgebra::Vector3::new(0.0, 0.0, 0.75));
    soft.context.force_publish().unwrap();
    tab.wait(&format!("{height} === 0.75"));
}

/// A process that runs Drake's server until its input ends.
struct Drake {
    process: Child,
    port: u16,
}

impl Drake {
    fn start(code: &str) -> Option<Self> {
        let script = format!(
            "import sys\nfrom pydrake.all import *\nimport numpy as np\nm = Meshcat()\n{code}\n\
             print('port', m.port(), flush=True)\n\
             for line in sys.stdin:\n    print(eval(line), flush=True)\n"
        );
        let mut process = python()?
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("port ") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "Drake ended");
        }
        let port = line[5..].trim().parse().unwrap();
        process.stdout = Some(out.into_inner());
        Some(Self { process, port })
    }
    /// Returns the value of a Python expression as text.
    fn eval(&mut self, expression: &str) -> String {
        let input = self.process.stdin.as_mut().unwrap();
        writeln!(input, "{expression}").unwrap();
        input.flush().unwrap();
        let mut answer = Vec::new();
        let out = self.process.stdout.as_mut().unwrap();
        while answer.last() != Some(&b'\n') {
            let mut byte = [0];
            out.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        String::from_utf8(answer).unwrap().trim().into()
    }
}

impl Drop for Drake {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves our page, and forwards its websocket to another server.
fn relay(meshcat: &Meshcat, to: u16) -> u16 {
    let ours = meshcat.port();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut from = stream.unwrap();
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut buffer = [0; 4096];
                while !head.ends_with(b"\r\n\r\n") {
                    match from.read(&mut buffer) {
                        Ok(n) if n > 0 => head.extend_from_slice(&buffer[..n]),
                        _ => return,
                    }
                }
                let is_socket = String::from_utf8_lossy(&head)
                    .to_lowercase()
                    .contains("upgrade: websocket");
                let mut server =
                    TcpStream::connect(("127.0.0.1", if is_socket { to } else { ours })).unwrap();
                server.write_all(&head).unwrap();
                let (mut a, mut b) = (from.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut a, &mut b));
                let _ = std::io::copy(&mut server, &mut from);
            });
        }
    });
    port
}

#[test]
fn our_page_shows_drakes_scene() {
    if !can_run() {
        return;
    }
    let code = "m.SetObject('ball', Sphere(0.5), Rgba(1, 0, 0, 0.5))\n\
                m.SetTransform('ball', RigidTransform([1, 2, 3]))\n\
                m.SetObject('box', Box(1, 2, 3), Rgba(0, 1, 0, 1))\n\
                m.PlotSurface('plot', *np.meshgrid([0., 1, 2], [0., 1, 2]), np.ones((3, 3)))\n\
                m.AddSlider('s', 0, 1, 0.5, 0.0, 'KeyD', 'KeyI')\nm.AddButton('b', 'KeyB')";
    let Some(mut drake) = Drake::start(code) else {
        return;
    };
    let meshcat = support::server();
    let port = relay(&meshcat, drake.port);
    let mut tab = Tab::open(&format!("http://localhost:{port}/"));
    tab.wait("window.tarragon.connected && window.tarragon.node('/drake/plot/<object>')");
    let ball = "window.tarragon.node('/drake/ball')";
    assert_eq!(
        tab.eval(&format!("{ball}.matrix.elements.slice(12, 15)")),
        json!([1, 2, 3])
    );
    let opacity = "window.tarragon.node('/drake/ball/<object>').material.opacity";
    assert_eq!(tab.eval(opacity), 0.5);
    drake.eval("m.SetProperty('ball', 'visible', False)");
    tab.wait(&format!("{ball}.visible === false"));
    tab.press("KeyB", "b");
    tab.press("KeyI", "i");
    support::wait_for("Drake hears of the key", || {
        drake.eval("m.GetButtonClicks('b')") == "1"
    });
    support::wait_for("Drake hears of the slider", || {
        drake.eval("m.GetSliderValue('s')") == "0.5"
    });
    drake.eval("m.SetSliderValue('s', 1.0)");
    tab.wait("document.querySelector('input[aria-label=\"s, value\"]').valueAsNumber === 1");
    drake.eval("m.Delete('ball')");
    tab.wait(&format!("{ball} === null"));
    assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
}

/// Both servers encode the same box in the same way.
#[test]
fn our_box_equals_drakes_box() {
    let Some(mut drake) = Drake::start("m.SetObject('box', Box(1, 2, 3), Rgba(0, 1, 0, 1))") else {
        return;
    };
    assert_eq!(drake.eval("m.HasPath('/drake/box')"), "True");
    let meshcat = support::server();
    let green = Rgba::new(0.0, 1.0, 0.0, 1.0).unwrap();
    meshcat
        .set_object("box", &BoxShape::new(1.0, 2.0, 3.0).unwrap().into(), green)
        .unwrap();
    let ours = support::Page::connect(&meshcat).next_bytes();
    let stream = TcpStream::connect(("127.0.0.1", drake.port)).unwrap();
    let url = format!("ws://localhost:{}/", drake.port);
    let (socket, _) = tungstenite::client(url, stream).unwrap();
    let theirs = support::Page(socket).next_bytes();
    // Identifiers differ, but have the same length.
    let without_ids = |bytes: &[u8]| {
        let value = rmpv::decode::read_value(&mut &bytes[..]).unwrap();
        let text = value.to_string();
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("\"uuid\": \"") {
            out.push_str(&rest[..at + 9]);
            rest = &rest[at + 9 + 36..];
        }
        // References to the identifiers.
        out + rest
    };
    assert_eq!(ours.len(), theirs.len());
    let (ours, theirs) = (without_ids(&ours), without_ids(&theirs));
    let head = |s: &str| s.split("\"object\": {\"uuid\"").next().unwrap().to_owned();
    assert_eq!(head(&ours), head(&theirs));
}
