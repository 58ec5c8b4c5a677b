//! Models that move without a browser.

use super::{Log, log_of, model, said, simulate};
use std::io::Write;

#[test]
fn a_free_fall_is_that_of_the_discrete_closed_form() {
    let options = ["--until", "0.5", "--no-ground", "--rate", "50"];
    let log = log_of(&model("table_top/ball.urdf"), &options);
    assert_eq!(log.rows.len(), 26, "0.02 s apart, both ends included");
    let (time, z) = (log.column("time"), log.column("ball::ball_z.q"));
    let v = log.column("ball::ball_vz.v");
    for ((t, z), v) in time.iter().zip(z).zip(v) {
        // Velocities first, then positions, in steps of 1 ms.
        let (n, dt, g) = ((t / 0.001).round(), 0.001, 9.81);
        assert!((z + g * dt * dt * n * (n + 1.0) / 2.0).abs() < 1e-12);
        assert!((v + g * dt * n).abs() < 1e-12);
    }
}

/// Multiples of 0.1 s and of 0.002 s round differently, and rows had the state of the step before.
#[test]
fn rows_on_steps_have_the_state_of_their_step() {
    for rate in ["10", "20", "60", "150"] {
        let options = [
            "--until",
            "3",
            "--no-ground",
            "--time-step",
            "0.002",
            "--rate",
            rate,
        ];
        let log = log_of(&model("table_top/ball.urdf"), &options);
        let rows = 3 * rate.parse::<usize>().unwrap() + 1;
        assert_eq!(log.rows.len(), rows, "at {rate} rows per second");
        let (dt, g) = (0.002, 9.81);
        for (t, v) in log.column("time").iter().zip(log.column("ball::ball_vz.v")) {
            let steps = t / dt;
            // Between two steps, the first of them has been taken.
            let n = if (steps - steps.round()).abs() < 1e-6 {
                steps.round()
            } else {
                steps.floor() + 1.0
            };
            // Rounding of 1500 sums; a step more or less would be 0.02 m/s.
            assert!(
                (v + g * dt * n).abs() < 1e-11,
                "at {t} s, {rate} rows per second: {v}"
            );
        }
    }
}

#[test]
fn a_free_model_starts_above_the_ground_and_comes_to_rest_on_it() {
    let options = ["--until", "1", "--height", "0.25"];
    let log = log_of(&model("table_top/block.urdf"), &options);
    let z = log.column("block::block_z.q");
    assert!((z[0] - 0.25).abs() < 1e-9, "its frame is at its bottom");
    assert!(z.last().unwrap().abs() < 1e-4, "{:?}", z.last());
    assert!(log.last("block::block_vz.v").abs() < 1e-4);
}

#[test]
fn the_humanoid_collapses_and_lies_still() {
    // A foot that leans on its edge creeps down for six seconds.
    let log = log_of(&model("humanoid/humanoid.xml"), &["--until", "8"]);
    let z = log.column("humanoid::pelvis_z.q");
    assert!(z[0] > 0.9 && *z.last().unwrap() < 0.3, "{:?}", z.last());
    let speeds = log.header.iter().filter(|name| name.ends_with(".v"));
    let fastest = speeds.map(|name| log.last(name).abs()).fold(0.0, f64::max);
    assert!(fastest < 0.05, "{fastest}");
    // No joint is beyond its limits by more than a step's worth.
    assert!(
        log.column("humanoid::left_knee.q")
            .iter()
            .all(|q| *q > -0.02 && *q < 2.52)
    );
}

#[test]
fn a_welded_model_stays_where_it_is() {
    let log = log_of(
        &model("table_top/block.urdf"),
        &["--until", "0.1", "--weld"],
    );
    assert_eq!(log.header, ["time", "energy", "contacts"]);
}

#[test]
fn joints_start_within_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (
        folder.path().join("door.urdf"),
        folder.path().join("log.csv"),
    );
    let text = "<robot name='r'><link name='world'/><link name='door'><inertial><mass value='1'/>\
                <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\
                <joint name='hinge' type='revolute'><parent link='world'/><child link='door'/>\
                <axis xyz='0 0 1'/><limit lower='1' upper='2' effort='1' velocity='1'/></joint>\
                </robot>";
    std::fs::write(&file, text).unwrap();
    let mut command = simulate(&file, &["--until", "0.1"]);
    let output = command.arg("--log").arg(&log).output().unwrap();
    assert!(said(&output).starts_with("warning: joints whose default positions violate"));
    let log = Log::read(&log);
    assert_eq!(log.column("r::hinge.q")[0], 1.0);
    assert!(log.last("r::hinge.v").abs() < 1e-9);
}

#[test]
fn continuous_time_is_a_time_step_of_zero() {
    let options = ["--until", "0.3", "--no-ground", "--time-step", "0"];
    let log = log_of(&model("table_top/ball.urdf"), &options);
    let fallen = -9.81 * 0.3 * 0.3 / 2.0;
    assert!((log.last("ball::ball_z.q") - fallen).abs() < 1e-9);
}

#[test]
fn a_recording_plays_the_motion() {
    let folder = tempfile::tempdir().unwrap();
    let size = |until: &str| {
        let page = folder.path().join(format!("{until}.html"));
        let mut command = simulate(&model("humanoid/humanoid.xml"), &["--until", until]);
        let output = command.arg("--record").arg(&page).output().unwrap();
        if said(&output).contains("a static page needs the viewer") {
            // Shown even though the test passes.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no viewer page (install Node.js and build again)"
            );
            return None;
        }
        assert!(output.status.success(), "{}", said(&output));
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("id=\"tarragon-static\""));
        Some(page.len())
    };
    if let Some(still) = size("0.001") {
        // 33 frames of poses of 15 bodies.
        assert!(size("1").unwrap() > still + 10_000);
    }
}

/// A servo on a tendon holds the length of the tendon, and a scenario without sliders does as well.
#[test]
fn servos_of_tendons_hold_the_default_positions() {
    let folder = tempfile::tempdir().unwrap();
    let (file, scenario) = (
        folder.path().join("sleds.xml"),
        folder.path().join("scenario.yaml"),
    );
    let sled = |joint: &str, z: f64, start: f64| {
        format!(
            "<body pos='0 0 {z}'><joint name='{joint}' type='slide' axis='1 0 0' ref='{start}'/>
             <geom size='.1'/></body>"
        )
    };
    let text = format!(
        "<mujoco model='m'><worldbody>{}{}</worldbody>
         <tendon><fixed name='t'><joint joint='j' coef='1'/><joint joint='k' coef='-2'/></fixed>
         </tendon><actuator><position tendon='t' kp='500' kv='20'/></actuator></mujoco>",
        sled("j", 1.0, 0.5),
        sled("k", 2.0, 0.75)
    );
    std::fs::write(&file, text).unwrap();
    let yaml = format!(
        "directives:\n- add_model: {{name: m, file: '{}'}}\n\
         model_drivers:\n  m: !ZeroForceDriver {{}}\n",
        file.display()
    );
    std::fs::write(&scenario, yaml).unwrap();
    for source in [&file, &scenario] {
        let log = log_of(source, &["--until", "0.5", "--mjcf-semantics", "mujoco"]);
        let ends = [log.last("m::j.q"), log.last("m::k.q")];
        let errors = [(ends[0] - 0.5).abs(), (ends[1] - 0.75).abs()];
        assert!(errors.iter().all(|e| *e < 1e-9), "{source:?}: {ends:?}");
    }
}
