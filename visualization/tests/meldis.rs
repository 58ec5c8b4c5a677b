//! Drake's meldis receives our messages by UDP multicast, and shows the right objects.
//!
//! `TARRAGON_PYDRAKE` names a Python program that can import pydrake 1.51. Without it, or without a
//! multicast route, these tests report it and pass.

use crate::drake_visualizer::contacts::{ball_on_floor, soft_ball};
use crate::drake_visualizer::scene::{Form, Frame, Geometry, Look, Scene, Touch, pose};
use crate::support::soft::{self, SoftScene};
use crate::support::{Page, field};
use nalgebra::{Isometry3, Matrix4, Vector3};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tarragon_framework::prelude::*;
use tarragon_geometry::{Role, Sphere};
use tarragon_lcm::{Lcm, LcmBuses};
use tarragon_visualization::{
    DrakeVisualizer, VisualizationConfig, VisualizationConnections, apply_visualization_config,
    connect_contact_results_to_drake_visualizer,
};

/// Time limit for meldis to show something: it starts Python, and polls.
const PATIENCE: Duration = Duration::from_secs(60);

/// A meldis process, and the messages that its page receives.
struct Meldis {
    process: Child,
    /// Lines that meldis has printed.
    log: Arc<Mutex<String>>,
    lcm: Lcm,
    page: Page,
    objects: BTreeMap<String, rmpv::Value>,
    poses: BTreeMap<String, Matrix4<f64>>,
}

impl Meldis {
    /// Starts meldis on a bus that only this test uses; reports and returns `None` without pydrake.
    fn start(test: u32) -> Option<Self> {
        let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
            crate::support::skip("no pydrake (TARRAGON_PYDRAKE names a Python that has it)");
            return None;
        };
        // The route that liblcm needs, found by the same call; connecting a UDP socket sends
        // nothing.
        let route = UdpSocket::bind("0.0.0.0:0").and_then(|s| s.connect("239.255.76.67:7667"));
        if let Err(error) = route {
            crate::support::skip(&format!(
                "no multicast route, which Drake needs to receive messages: {error}"
            ));
            return None;
        }
        let port = 20_000 + (4 * std::process::id() + test) % 40_000;
        let url = format!("udpm://239.255.76.67:{port}?ttl=0");
        let mut process = Command::new(python)
            .args(["-m", "pydrake.visualization.meldis"])
            .args(["--host", "localhost", "-p", "0", "--idle-timeout", "0"])
            .env("LCM_DEFAULT_URL", &url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        let web_port = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "meldis ended");
            if let Some((_, port)) = line.trim().rsplit_once("http://localhost:") {
                break port.parse::<u16>().unwrap();
            }
        };
        // Meldis must not block on a full log pipe.
        let printed = Arc::new(Mutex::new(line));
        let all = printed.clone();
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                *all.lock().unwrap() += &(line + "\n");
            }
        });
        let stream = TcpStream::connect(("localhost", web_port)).unwrap();
        let (socket, _) =
            tungstenite::client(format!("ws://localhost:{web_port}/"), stream).unwrap();
        let timeout = Some(Duration::from_millis(100));
        socket.get_ref().set_read_timeout(timeout).unwrap();
        let mut meldis = Self {
            process,
            log: printed,
            lcm: Lcm::with_url(&url).unwrap(),
            page: Page(socket),
            objects: BTreeMap::new(),
            poses: BTreeMap::new(),
        };
        // Meldis may not have subscribed yet.
        let lcm = meldis.lcm.clone();
        let mut radius = 0.0;
        meldis.wait(
            "meldis listens",
            || {
                radius += 1.0; // otherwise meldis would ignore the load message as unchanged
                let mut scene = Scene::anchored();
                scene.geometries[0].shape = Form::Sphere(radius);
                scene.publish(&lcm);
            },
            |m| m.objects.contains_key("/DRAKE_VIEWER/0/world/0"),
        );
        Some(meldis)
    }

    /// Publishes until `done`. Meldis builds geometry at the first draw message after a load
    /// message, and polls.
    fn wait(&mut self, what: &str, mut publish: impl FnMut(), done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        let mut pause = Duration::from_millis(300);
        loop {
            publish();
            let next = Instant::now() + pause;
            // On a busy machine, meldis would fall ever further behind.
            pause *= 2;
            while Instant::now() < next {
                self.read();
                if done(self) {
                    return;
                }
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{what}: {:#?}; meldis ended: {:?}; it printed:\n{}",
                self.objects.keys(),
                self.process.try_wait(),
                self.log.lock().unwrap()
            );
        }
    }

    /// Reads one message to the page, if there is one.
    fn read(&mut self) {
        use tungstenite::Message;
        let bytes = match self.page.0.read() {
            Ok(Message::Binary(bytes)) => bytes,
            Ok(_) => return,
            Err(tungstenite::Error::Io(error)) if is_timeout(&error) => return,
            Err(error) => panic!("{error}"),
        };
        let message = rmpv::decode::read_value(&mut &bytes[..]).unwrap();
        let text = |key| field(&message, key).and_then(|v| v.as_str().map(String::from));
        let Some(path) = text("path") else { return };
        match &*text("type").unwrap() {
            "set_object" => {
                self.objects
                    .insert(path, field(&message, "object").unwrap());
            }
            "set_transform" => {
                let numbers = field(&message, "matrix").unwrap();
                let numbers = numbers.as_array().unwrap().iter();
                let numbers = numbers.map(|x| x.as_f64().unwrap());
                self.poses.insert(path, Matrix4::from_iterator(numbers));
            }
            "delete" => {
                let is_below = |p: &String| p.starts_with(&path);
                self.objects.retain(|p, _| !is_below(p));
                self.poses.retain(|p, _| !is_below(p));
            }
            _ => {}
        }
    }

    /// Returns the number of objects that are not ours.
    fn others(&self) -> usize {
        let others = self
            .objects
            .keys()
            .filter(|p| !p.starts_with("/DRAKE_VIEWER/"));
        others.count()
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

impl Drop for Meldis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const DENT: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .1 .1 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n";

fn every_shape() -> Scene {
    let obj = || String::from(DENT);
    let shapes = [
        Form::HalfSpace,
        Form::Box([1.0, 2.0, 3.0]),
        Form::Sphere(0.25),
        Form::Cylinder([0.1, 0.4]),
        Form::Capsule([0.2, 0.6]),
        Form::Ellipsoid([0.1, 0.2, 0.3]),
        Form::ConvexOf {
            obj: obj(),
            scale: [2.0; 3],
        },
        Form::MeshOf {
            obj: obj(),
            scale: [1.0, 2.0, 3.0],
        },
        Form::MeshAt {
            path: concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/drake_visualizer/tetrahedron.obj"
            )
            .into(),
            scale: [0.5; 3],
        },
    ];
    let geometries = shapes.into_iter().enumerate().map(|(i, shape)| {
        let mut g = Geometry::new((i > 0).then_some(0), &format!("g{i}"), shape);
        let i = i as f64;
        g.pose = [0.6, 0.8, 0.0, 0.0, i, -i, 0.5 * i];
        let diffuse = Some([1.0, 0.0, 0.1 * i, 1.0 - 0.05 * i]);
        g.illustration = Some(Look { diffuse });
        g
    });
    Scene {
        frames: vec![Frame {
            source: 0,
            name: "model::body".into(),
            group: 3,
            parent: None,
            pose: [0.8, 0.0, 0.6, 0.0, 1.0, 2.0, 3.0],
        }],
        geometries: geometries.collect(),
        ..Scene::anchored()
    }
}

/// Appearance of an object: type, sizes, colour, and diagonal of its matrix.
#[derive(Debug, PartialEq)]
struct Looks {
    kind: String,
    sizes: Vec<f32>,
    color: [f32; 4],
    scale: [f32; 3],
}

fn looks(object: &rmpv::Value) -> Looks {
    let first = |key| field(object, key).unwrap().as_array().unwrap()[0].clone();
    let number = |map: &rmpv::Value, key| field(map, key)?.as_f64();
    let (geometry, material) = (first("geometries"), first("materials"));
    let keys = ["width", "height", "depth", "radius", "radiusTop"];
    let sizes = keys.iter().filter_map(|key| number(&geometry, key));
    let color = number(&material, "color").unwrap() as u32;
    let channel = |shift: u32| (color >> shift & 0xff) as f32 / 255.0;
    let opacity = number(&material, "opacity").unwrap() as f32;
    let matrix = field(object, "object")
        .and_then(|o| field(&o, "matrix"))
        .unwrap();
    let matrix = matrix.as_array().unwrap();
    Looks {
        kind: field(&geometry, "type").unwrap().as_str().unwrap().into(),
        sizes: sizes.map(|size| size as f32).collect(),
        color: [channel(16), channel(8), channel(0), opacity],
        scale: [0, 5, 10].map(|i| {
            let factor = matrix[i].as_f64().unwrap() as f32;
            if factor.abs() < 1e-6 { 0.0 } else { factor } // the cosine of a right angle
        }),
    }
}

fn assert_close(a: &Matrix4<f64>, b: &Matrix4<f64>) {
    // Messages use f32.
    assert!((a - b).amax() < 1e-6, "{a} must equal {b}");
}

#[test]
fn meldis_shows_every_shape_where_it_is() {
    let Some(mut meldis) = Meldis::start(0) else {
        return;
    };
    let (scene, lcm) = (every_shape(), meldis.lcm.clone());
    let body = "/DRAKE_VIEWER/3/toys/model/body";
    let world = "/DRAKE_VIEWER/0/world/0".to_string();
    let on_body = (0..8).map(|i| format!("{body}/{i}"));
    let paths: Vec<String> = std::iter::once(world).chain(on_body).collect();
    meldis.wait(
        "every shape is shown",
        || scene.publish(&lcm),
        |m| {
            let has_objects = paths.iter().all(|p| m.objects.contains_key(p));
            let has_poses = paths.iter().all(|p| m.poses.contains_key(p));
            has_objects && has_poses && m.poses.contains_key(body)
        },
    );
    assert_eq!(meldis.objects.len(), paths.len() + meldis.others());
    let expected: [(&str, &[f32], [f32; 3]); 9] = [
        ("BoxGeometry", &[50.0, 50.0, 1.0], [1.0; 3]),
        ("BoxGeometry", &[1.0, 2.0, 3.0], [1.0; 3]),
        ("SphereGeometry", &[0.25], [1.0; 3]),
        // Cylinders and capsules of the page have their axis along y.
        ("CylinderGeometry", &[0.4, 0.1], [1.0, 0.0, 0.0]),
        ("CapsuleGeometry", &[0.6, 0.2], [1.0, 0.0, 0.0]),
        ("SphereGeometry", &[1.0], [0.1, 0.2, 0.3]),
        ("BufferGeometry", &[], [1.0; 3]),
        ("_meshfile_geometry", &[], [1.0, 2.0, 3.0]),
        ("_meshfile_geometry", &[], [0.5; 3]),
    ];
    for (i, (path, (kind, sizes, scale))) in paths.iter().zip(expected).enumerate() {
        let found = looks(&meldis.objects[path]);
        let blue = (0.1 * i as f32 * 255.0).floor() / 255.0;
        let color = [1.0, 0.0, blue, 1.0 - 0.05 * i as f32];
        assert_eq!(
            (&*found.kind, &found.sizes[..], found.scale),
            (kind, sizes, scale),
            "{path}"
        );
        let error = std::array::from_fn::<f32, 4, _>(|c| (found.color[c] - color[c]).abs());
        // A colour has 8 bits.
        assert!(
            error[..3].iter().all(|e| *e <= 1.0 / 255.0) && error[3] < 1e-6,
            "{path}: {found:?}, {color:?}"
        );
    }
    for (path, geometry) in paths.iter().zip(&scene.geometries) {
        let mut x_fg = pose(&geometry.pose);
        if matches!(geometry.shape, Form::HalfSpace) {
            x_fg *= Isometry3::translation(0.0, 0.0, -0.5);
        }
        assert_close(&meldis.poses[path], &x_fg.to_homogeneous());
    }
    let x_wb = pose(&scene.frames[0].pose).to_homogeneous();
    assert_close(&meldis.poses[body], &x_wb);
}

#[test]
fn meldis_follows_poses_roles_contacts_and_new_geometry() {
    let Some(mut meldis) = Meldis::start(1) else {
        return;
    };
    let mut scene = every_shape();
    scene.geometries.truncate(3);
    scene.frames[0].pose = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2];
    for (g, shape) in
        scene
            .geometries
            .iter_mut()
            .zip([Form::HalfSpace, Form::Sphere(0.25), Form::Sphere(0.25)])
    {
        g.shape = shape;
        g.pose = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        g.proximity = Some(Touch::default());
    }
    let mut buses = LcmBuses::new();
    buses.add("default", meldis.lcm.clone()).unwrap();
    let config = VisualizationConfig {
        enable_meshcat_creation: false,
        ..Default::default()
    };
    let start = || {
        let (graph, sources, frames) = scene.register();
        let mut b = DiagramBuilder::new();
        let graph = b.add("scene_graph", graph);
        let on = VisualizationConnections {
            lcm_buses: Some(&buses),
            ..Default::default()
        };
        apply_visualization_config(&config, &mut b, on).unwrap();
        let mut ctx = b.build().unwrap().default_context();
        let port = graph.source_pose_port(sources[0]).unwrap();
        ctx.fix(port, scene.poses(0, &frames)).unwrap();
        (graph, port, frames, ctx)
    };
    let (mut graph, mut port, mut frames, mut ctx) = start();
    let both = ["/DRAKE_VIEWER", "/Collision Geometry"];
    let contact = "/CONTACT_RESULTS/point/world(0)+body(3)";
    let is_at = |m: &Meldis, path: &str, expected: [f64; 3]| {
        let found = m
            .poses
            .get(path)
            .map(|x| x.fixed_view::<3, 1>(0, 3).into_owned());
        found.is_some_and(|p| (p - Vector3::from(expected)).amax() < 1e-6)
    };
    let bodies = both.map(|root| format!("{root}/3/toys/model/body"));
    let publish = |ctx: &mut Context<f64>| {
        ctx.force_publish().unwrap();
    };
    meldis.wait(
        "both roles and the contact are shown",
        || {
            // A visualizer sends geometry once, and a busy meldis loses messages.
            (graph, port, frames, ctx) = start();
            publish(&mut ctx);
        },
        |m| {
            let has_balls = bodies
                .iter()
                .all(|b| m.objects.contains_key(&format!("{b}/1")));
            let has_arrow = m.objects.contains_key(&format!("{contact}/cylinder"));
            // 5 cm deep, with the contact point in the middle.
            has_balls && has_arrow && is_at(m, contact, [0.0, 0.0, -0.025])
        },
    );
    for path in bodies.iter().map(|b| format!("{b}/0")) {
        let found = looks(&meldis.objects[&path]);
        assert_eq!(
            (&*found.kind, &found.sizes[..]),
            ("SphereGeometry", &[0.25][..])
        );
    }
    // The collision geometry has no colour of its own, and uses the illustration colour.
    let colors = bodies
        .each_ref()
        .map(|b| looks(&meldis.objects[&format!("{b}/0")]).color);
    assert_eq!(colors[0], colors[1]);
    scene.frames[0].pose[4..].copy_from_slice(&[1.0, 2.0, 3.0]);
    ctx.fix(port, scene.poses(0, &frames)).unwrap();
    let follows = |m: &Meldis| bodies.iter().all(|b| is_at(m, b, [1.0, 2.0, 3.0]));
    meldis.wait("poses are followed", || publish(&mut ctx), follows);

    let (source, ball) = {
        let inspector = ctx.eval(graph.query).unwrap().inspector();
        let ball = inspector
            .geometry_id_by_name(frames[0], Role::Proximity, "g1")
            .unwrap();
        (inspector.source_id(ball).unwrap(), ball)
    };
    let is_small = |m: &Meldis| {
        bodies.iter().all(|b| {
            let object = m.objects.get(&format!("{b}/0"));
            object.is_some_and(|object| looks(object).sizes == [0.125])
        })
    };
    meldis.wait(
        "new geometry is shown",
        || {
            // A change sends all geometry again.
            let state = graph.geometry_mut(&mut ctx).unwrap();
            let small = Sphere::new(0.125).unwrap();
            state.change_shape(source, ball, small, None).unwrap();
            publish(&mut ctx);
        },
        is_small,
    );
}

/// Meldis shows the surface of deformable geometry, and takes it away with the role.
#[test]
fn meldis_shows_deformable_geometry() {
    let Some(mut meldis) = Meldis::start(3) else {
        return;
    };
    let red = Some([1.0, 0.0, 0.0, 0.5]);
    let mut scene = SoftScene::new([(soft::soft_ball("soft ball", 0.1, red), 0.1)]);
    let lcm = Some(meldis.lcm.clone());
    let (builder, query) = (&mut scene.builder, scene.graph.query);
    DrakeVisualizer::add_to_builder(builder, query, lcm, Default::default()).unwrap();
    let mut soft = scene.build();
    let path = "/DRAKE_VIEWER/0/deformable_geometries/soft ball";
    let shows = |m: &Meldis, expected: &[f32]| {
        let object = m.objects.get(path);
        object.is_some_and(|object| positions(object) == expected)
    };
    for scale in [1.0, 2.0] {
        soft.deform(0, |p| scale * p + Vector3::new(0.1, 0.2, 0.3));
        let vertices = soft.vertices(0);
        let expected: Vec<f32> = vertices.iter().flatten().map(|x| *x as f32).collect();
        meldis.wait(
            "the surface is shown",
            || {
                soft.context.force_publish().unwrap();
            },
            |m| shows(m, &expected),
        );
    }
    let found = looks(&meldis.objects[path]);
    assert_eq!(found.kind, "BufferGeometry");
    assert_eq!(found.color, [1.0, 0.0, 0.0, 0.5]);
    let (graph, source, ball) = (soft.graph.clone(), soft.source, soft.balls[0]);
    let state = graph.geometry_mut(&mut soft.context).unwrap();
    state.remove_role(source, ball, Role::Illustration).unwrap();
    meldis.wait(
        "the surface is gone",
        || {
            soft.context.force_publish().unwrap();
        },
        |m| shows(m, &[]),
    );
}

/// Returns the positions of the vertices of an object.
fn positions(object: &rmpv::Value) -> Vec<f32> {
    let first = field(object, "geometries").unwrap()[0].clone();
    let attributes = field(&first, "data").and_then(|data| field(&data, "attributes"));
    let position = attributes.and_then(|all| field(&all, "position")).unwrap();
    let Some(rmpv::Value::Ext(_, bytes)) = field(&position, "array") else {
        panic!("{position}");
    };
    let (floats, _) = bytes.as_chunks();
    floats.iter().map(|x| f32::from_le_bytes(*x)).collect()
}

/// A soft ball that rests on a floor has a surface, a force and no moment to speak of.
#[test]
fn meldis_shows_contact_surfaces() {
    let Some(mut meldis) = Meldis::start(2) else {
        return;
    };
    let mut b = DiagramBuilder::new();
    let (plant, scene) = ball_on_floor(&mut b, soft_ball);
    let lcm = Some(meldis.lcm.clone());
    connect_contact_results_to_drake_visualizer(&mut b, &plant, &scene, lcm, None).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.5).unwrap();
    let root = "/CONTACT_RESULTS/hydroelastic/";
    let below = |m: &Meldis, name: &str| {
        let paths = m.objects.keys();
        let mut found = paths.filter(|p| p.starts_with(root) && p.contains(name));
        found.next().cloned()
    };
    let mut publish = || {
        sim.context_mut().force_publish().unwrap();
    };
    meldis.wait("the surface and its force are shown", &mut publish, |m| {
        below(m, "/contact_surface").is_some() && below(m, "/force_C_W").is_some()
    });
    let surface = below(&meldis, "/contact_surface").unwrap();
    let mesh = looks(&meldis.objects[&surface]);
    assert_eq!(mesh.kind, "BufferGeometry", "{surface}");
    assert!(surface.contains("ball"), "{surface}");
}
