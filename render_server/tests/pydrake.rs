//! Drake's own client as the peer.
//!
//! `TARRAGON_PYDRAKE` names a Python interpreter that can import pydrake 1.51; without it this test
//! prints that it is skipped, and passes.

use crate::support::{Mirror, assets, looks, server_with, skip};
use nalgebra::{Isometry3, Translation3};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tarragon_framework::math::rpy;
use tarragon_geometry::render::RenderView;

/// A Python program that draws with Drake's client; see `pydrake_client.py`.
struct Drake {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Drake {
    fn start(url: &str, assets: &Path, out: &Path) -> Option<Self> {
        let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
            skip("no pydrake (set TARRAGON_PYDRAKE to a Python interpreter that has it)");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pydrake_client.py");
        let mut process = Command::new(python)
            .arg(script)
            .arg(url)
            .args([assets, out])
            .env_remove("DRAKE_ALLOW_NETWORK")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Some(Self { process, answers })
    }
    /// Draws the three images of a camera pose.
    fn draw(&mut self, numbers: [f64; 6]) {
        let line = numbers.map(|x| format!("{x:?}")).join(" ");
        let input = self.process.stdin.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), "done", "Drake's process has failed");
    }
}

impl Drop for Drake {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Splits the pixels of the three images that Drake's process wrote.
fn images(bytes: &[u8], pixels: usize) -> (Vec<u8>, Vec<f32>, Vec<i16>) {
    assert_eq!(bytes.len(), pixels * (4 + 4 + 2));
    let (color, rest) = bytes.split_at(4 * pixels);
    let (depth, label) = rest.split_at(4 * pixels);
    let depth = depth
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    let label = label
        .chunks_exact(2)
        .map(|b| i16::from_le_bytes(b.try_into().unwrap()));
    (color.to_vec(), depth.collect(), label.collect())
}

#[test]
fn drakes_client_receives_what_the_engine_draws_in_process() {
    let assets = assets();
    let out = assets.path().join("images.raw");
    for look in looks(assets.path()) {
        let server = server_with(Default::default(), look.clone());
        let Some(mut drake) = Drake::start(&server.url(), assets.path(), &out) else {
            return;
        };
        let mirror = Mirror::with(assets.path(), look);
        let views = [
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.3, -0.2, 0.4, 0.2, 0.1, 0.3],
            [-0.6, 0.1, 0.2, -0.1, 0.3, 2.0],
        ];
        for (number, view) in views.into_iter().enumerate() {
            drake.draw(view);
            let (color, depth, label) = images(&std::fs::read(&out).unwrap(), mirror.pixels());
            let [x, y, z, roll, pitch, yaw] = view;
            let x_wc = Isometry3::from_parts(Translation3::new(x, y, z), rpy(roll, pitch, yaw));
            let poses = |id| mirror.poses.get(&id).copied();
            mirror.compare(&RenderView::new(x_wc, &poses), &color, &depth, &label);
            let stats = server.stats();
            assert_eq!(
                (stats.images(), stats.refused),
                (3 * (number as u64 + 1), 0)
            );
            // Only the first images bring meshes. The tile has two materials in colour images only.
            assert_eq!(stats.read_meshes, 31, "{stats}");
        }
    }
}
