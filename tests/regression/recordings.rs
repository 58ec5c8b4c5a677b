//! Recordings of the command.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

fn field(message: &rmpv::Value, key: &str) -> Option<rmpv::Value> {
    let map = message.as_map()?;
    let found = map.iter().find(|(k, _)| k.as_str() == Some(key));
    found.map(|(_, v)| v.clone())
}

/// Returns the messages in a static page: base64 of raw deflate, each after its length as u32.
fn messages(page: &str) -> Vec<rmpv::Value> {
    let start = "\"commands\":\"";
    let commands = &page[page.rfind(start).unwrap() + start.len()..];
    let commands = BASE64.decode(&commands[..commands.find('"').unwrap()]);
    let mut bytes = vec![];
    flate2::read::DeflateDecoder::new(&commands.unwrap()[..])
        .read_to_end(&mut bytes)
        .unwrap();
    let (mut rest, mut messages) = (&bytes[..], vec![]);
    while let Some((length, after)) = rest.split_first_chunk() {
        let (mut message, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        messages.push(rmpv::decode::read_value(&mut message).unwrap());
        rest = after;
    }
    messages
}

/// Simulates a free fall with a page as output. Returns the frames per second, and the number and
/// height (m) of each frame; `None` without a viewer.
fn fall(model: &Path, options: &[&str]) -> Option<(f64, Vec<(u64, f64)>)> {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("simulate").arg(model).arg("--no-browser");
    command.args(options).arg("--record").arg(&page);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("a static page needs the viewer") {
        // Shown even though the test passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: no viewer page (install Node.js and build again)"
        );
        return None;
    }
    assert!(output.status.success(), "{said}");
    let messages = messages(&std::fs::read_to_string(page).unwrap());
    let animations = messages
        .iter()
        .find_map(|m| field(m, "animations"))
        .unwrap();
    let list = |of: &rmpv::Value, key| field(of, key).unwrap().as_array().unwrap().clone();
    for animation in animations.as_array().unwrap() {
        let clip = field(animation, "clip").unwrap();
        let is_position = |t: &rmpv::Value| field(t, "name") == Some(".position".into());
        let tracks = list(&clip, "tracks");
        let Some(track) = tracks.iter().find(|t| is_position(t)) else {
            continue;
        };
        let key = |key: &rmpv::Value| {
            let frame = field(key, "time").unwrap().as_u64().unwrap();
            (frame, field(key, "value").unwrap()[2].as_f64().unwrap())
        };
        let rate = field(&clip, "fps").unwrap().as_f64().unwrap();
        return Some((rate, list(track, "keys").iter().map(key).collect()));
    }
    panic!("nothing moves in {said}");
}

/// Frame k has the height at k / rate, from the closed form `-g t^2 / 2` to within two time steps:
/// frame 0 had the pose at 1/64 s, and so on.
#[track_caller]
fn check(found: Option<(f64, Vec<(u64, f64)>)>, rate: f64, num_frames: usize) {
    let Some((found_rate, frames)) = found else {
        return;
    };
    assert!((found_rate - rate).abs() < 1e-12, "{found_rate}");
    assert_eq!(frames.len(), num_frames);
    assert_eq!(frames[0], (0, 0.0));
    for (k, (frame, z)) in frames.into_iter().enumerate() {
        let t = k as f64 / rate;
        assert_eq!(frame, k as u64);
        let error = (z + 9.81 * t * t / 2.0).abs();
        assert!(error <= 9.81 * 0.004 * t + 1e-12, "{k}: {z}");
    }
}

#[test]
fn a_recording_of_simulate_begins_with_the_initial_pose() {
    let ball = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models/table_top/ball.urdf");
    let options = ["--until", "0.5", "--no-ground"];
    check(fall(&ball, &options), 32.0, 17);

    // Publishes of the scenario's own period, from a start time of its own.
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("scenario.yaml");
    for (period, start, rate, num_frames) in [
        (1.0 / 24.0, 0.0, 24.0, 13),
        (0.01, 0.0, 25.0, 13),
        (0.1, 0.0, 10.0, 6),
        (0.0625, 2.0, 16.0, 9),
    ] {
        let yaml = format!(
            "directives:\n- add_model: {{name: ball, file: '{}'}}\n\
             plant_config: {{time_step: 0.001953125}}\n\
             simulator_config: {{start_time: {start:?}}}\n\
             visualization: {{publish_period: {period:?}}}\n",
            ball.display()
        );
        std::fs::write(&scenario, yaml).unwrap();
        check(fall(&scenario, &["--until", "0.5"]), rate, num_frames);
    }
}

/// The page would replace the log, or the log the page.
#[test]
fn outputs_of_simulate_are_different_files() {
    let ball = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models/table_top/ball.urdf");
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("simulate").arg(&ball);
    command.args([
        "--no-browser",
        "--until",
        "0.1",
        "--log",
        "a",
        "--record",
        "./a",
    ]);
    let output = command.current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("--log and --record must name different files, got './a' for both"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
