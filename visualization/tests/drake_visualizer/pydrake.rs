//! Random scenes, published here and by pydrake.
//!
//! `TARRAGON_PYDRAKE` names a Python program that can import pydrake 1.51. Without it, these tests
//! report it and pass.

use crate::drake_visualizer::compare::{assert_same_draw, assert_same_load};
use crate::drake_visualizer::scene::{Form, Frame, Geometry, Look, Pose, Scene, Touch};
use crate::drake_visualizer::{Heard, Message};
use crate::support;
use std::io::Write;
use std::process::{Command, Stdio};
use tarragon_framework::random::{RandomDistribution, RandomGenerator};
use tarragon_lcm::LcmMessage;
use tarragon_lcm::types::{LcmtViewerDraw, LcmtViewerLinkData, LcmtViewerLoadRobot};

/// Returns the messages that Drake publishes for each scene; reports and returns `None` without
/// pydrake.
fn ask_drake(scenes: &[Scene]) -> Option<Vec<Vec<Message>>> {
    let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
        support::skip("no pydrake (TARRAGON_PYDRAKE names a Python that has it)");
        return None;
    };
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/drake_visualizer/scenes.py"
    );
    let mut process = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    input
        .write_all(&serde_json::to_vec(scenes).unwrap())
        .unwrap();
    drop(input);
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Vec<(String, String)>> = serde_json::from_slice(&output.stdout).unwrap();
    let bytes = |hex: String| -> Vec<u8> {
        let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect()
    };
    let decoded = answers.into_iter().map(|messages| {
        let messages = messages.into_iter();
        messages
            .map(|(channel, hex)| (channel, bytes(hex)))
            .collect()
    });
    Some(decoded.collect())
}

struct Chance(RandomGenerator);

impl Chance {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.sample(RandomDistribution::Uniform)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.between(0.0, n as f64) as usize).min(n - 1)
    }
    fn maybe<V>(&mut self, value: impl FnOnce(&mut Self) -> V) -> Option<V> {
        (self.below(2) == 0).then(|| value(self))
    }
    fn sizes<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.between(0.05, 1.0))
    }
    fn color(&mut self) -> [f64; 4] {
        std::array::from_fn(|_| self.between(0.0, 1.0))
    }
    fn pose(&mut self) -> Pose {
        let q: [f64; 4] = std::array::from_fn(|_| self.0.sample(RandomDistribution::Gaussian));
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        let [w, x, y, z] = q.map(|x| x / norm);
        let mut at = || self.between(-3.0, 3.0);
        [w, x, y, z, at(), at(), at()]
    }
    /// Points in general position, with a triangle for every three consecutive points.
    fn obj(&mut self) -> String {
        let n = 6 + self.below(20);
        let mut obj = String::new();
        for _ in 0..n {
            let [x, y, z] = self.sizes::<3>().map(|x| 2.0 * x - 1.0);
            obj += &format!("v {x} {y} {z}\n");
        }
        for i in 1..n - 1 {
            obj += &format!("f {} {} {}\n", i, i + 1, i + 2);
        }
        obj
    }
    fn shape(&mut self) -> Form {
        match self.below(9) {
            0 => Form::Box(self.sizes()),
            1 => Form::Sphere(self.sizes::<1>()[0]),
            2 => match (self.sizes(), self.below(4)) {
                ([r, _], 0) => Form::Cylinder([r, 2.0 * r]), // a special case
                (sizes, _) => Form::Cylinder(sizes),
            },
            3 => Form::Capsule(self.sizes()),
            4 => Form::Ellipsoid(self.sizes()),
            5 => Form::HalfSpace,
            6 => Form::MeshAt {
                path: concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/tests/drake_visualizer/tetrahedron.obj"
                )
                .into(),
                scale: self.sizes(),
            },
            7 => Form::MeshOf {
                obj: self.obj(),
                scale: self.sizes(),
            },
            _ => Form::ConvexOf {
                obj: self.obj(),
                scale: self.sizes(),
            },
        }
    }
    fn look(&mut self) -> Look {
        let diffuse = self.maybe(Self::color);
        Look { diffuse }
    }
    fn touch(&mut self) -> Touch {
        let hint = self.between(0.1, 0.6);
        let [mut rigid, mut compliant] = [None, None];
        match self.below(3) {
            0 => rigid = Some(hint),
            1 => compliant = Some(hint),
            _ => {}
        }
        let diffuse = self.maybe(Self::color);
        Touch {
            diffuse,
            rigid,
            compliant,
        }
    }
    fn scene(&mut self) -> Scene {
        let sources: Vec<String> = ["one", "two::inner", "three"].map(String::from).into();
        let mut frames: Vec<Frame> = Vec::new();
        for i in 0..self.below(6) {
            let parent = self.below(frames.len() + 1).checked_sub(1);
            let source = match parent {
                Some(parent) => frames[parent].source,
                None => self.below(sources.len()),
            };
            frames.push(Frame {
                source,
                name: format!("model::frame{i}"),
                group: self.below(5) as i32,
                parent,
                pose: self.pose(),
            });
        }
        let geometries = (0..self.below(12)).map(|i| {
            let frame = self.below(frames.len() + 1).checked_sub(1);
            let shape = self.shape();
            Geometry {
                source: frame.map_or(0, |f| frames[f].source),
                frame,
                name: format!("geometry{i}"),
                pose: self.pose(),
                illustration: self.maybe(Self::look),
                proximity: self.maybe(Self::touch),
                perception: self.maybe(Self::look),
                shape,
            }
        });
        let geometries = geometries.collect();
        Scene {
            sources,
            frames,
            geometries,
            role: ["illustration", "proximity", "perception"][self.below(3)],
            show_hydroelastic: self.below(2) == 0,
            use_role_channel_suffix: self.below(2) == 0,
            default_color: self.color(),
            time: self.between(0.0, 100.0),
        }
    }
}

#[test]
fn messages_of_random_scenes_equal_drakes() {
    let mut chance = Chance(RandomGenerator::new(20));
    let scenes: Vec<Scene> = (0..150).map(|_| chance.scene()).collect();
    let Some(answers) = ask_drake(&scenes) else {
        return;
    };
    assert_eq!(answers.len(), scenes.len());
    let mut inline = 0;
    for (scene, theirs) in scenes.iter().zip(answers) {
        let heard = Heard::new();
        scene.publish(&heard.lcm);
        let ours = heard.take();
        let channels = |messages: &[Message]| -> Vec<String> {
            messages.iter().map(|(c, _)| c.clone()).collect()
        };
        assert_eq!(channels(&ours), channels(&theirs));
        let loads = [&ours, &theirs].map(|m| LcmtViewerLoadRobot::decode(&m[0].1).unwrap());
        assert_same_load(&loads[0], &loads[1]);
        let draws = [&ours, &theirs].map(|m| LcmtViewerDraw::decode(&m[1].1).unwrap());
        assert_same_draw(&draws[0], &draws[1]);
        let deformables = [&ours, &theirs].map(|m| LcmtViewerLinkData::decode(&m[2].1).unwrap());
        assert_eq!(deformables[0], deformables[1]);
        let geometries = loads[1].link.iter().flat_map(|l| &l.geom);
        inline += geometries.filter(|g| g.float_data.len() > 3).count();
    }
    // Makes sure that the comparison included meshes.
    assert!(inline > 50, "{inline} meshes");
}
