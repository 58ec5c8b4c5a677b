//! `tarragon simulate`, run as by a user.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/models")
        .join(name)
}

/// The command without a browser.
fn simulate(model: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("simulate").arg(model).arg("--no-browser");
    command.args(options).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A log: columns by name.
struct Log {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Log {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let header: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
        let row = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
        let rows: Vec<Vec<f64>> = lines.map(row).collect();
        assert!(rows.iter().all(|row| row.len() == header.len()));
        Self { header, rows }
    }
    fn column(&self, name: &str) -> Vec<f64> {
        let i = self.header.iter().position(|n| n == name);
        let i = i.unwrap_or_else(|| panic!("no column '{name}' in {:?}", self.header));
        self.rows.iter().map(|row| row[i]).collect()
    }
    fn last(&self, name: &str) -> f64 {
        *self.column(name).last().unwrap()
    }
}

/// Runs a simulation without a browser and returns its log.
fn log_of(model: &Path, options: &[&str]) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let output = simulate(model, options).arg("--log").arg(&log).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", said(&output));
    Log::read(&log)
}

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
    let log = log_of(&model("humanoid/humanoid.xml"), &["--until", "5"]);
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
    assert_eq!(log.header, ["time"]);
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

#[test]
fn a_scenario_is_a_whole_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let mut command = simulate(&model("scenes/drop.yaml"), &["--until", "0.8"]);
    command.arg("--images").arg(folder.path().join("images"));
    let output = command.arg("--log").arg(&log).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let log = Log::read(&log);
    assert_eq!(log.column("arm::joint2.q")[0], 0.6, "initial_position");
    // The controllers hold the arm: its weight bends it by a fraction of what it would fall.
    assert!((log.last("arm::joint2.q") - 0.6).abs() < 0.1);
    // Things fall on the table, whose top is at z = 0.
    assert_eq!(log.column("ball::ball_z.q")[0], 0.3);
    assert!(log.last("ball::ball_z.q").abs() < 1e-3);
    // A camera at 2 Hz took pictures at 0 and 0.5 s.
    let mut pictures: Vec<String> = std::fs::read_dir(folder.path().join("images/overview"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    pictures.sort();
    assert_eq!(
        pictures,
        [
            "color_0000.png",
            "color_0001.png",
            "depth_0000.tiff",
            "depth_0001.tiff"
        ]
    );
}

/// Two balls of different materials, which are deformable links, fall on the ground.
#[test]
fn deformable_bodies_fall_and_rest() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, z: f64, model: &str| {
        format!(
            "<link name='{name}'><pose>0 0 {z} 0 0 0</pose><collision name='c'><geometry><sphere>
             <radius>0.1</radius></sphere></geometry><drake:proximity_properties>
             <drake:mesh_resolution_hint>0.1</drake:mesh_resolution_hint>
             </drake:proximity_properties></collision><drake:deformable_properties>
             <drake:youngs_modulus>1e5</drake:youngs_modulus><drake:mass_density>1000
             </drake:mass_density><drake:poissons_ratio>0.3</drake:poissons_ratio>
             <drake:stiffness_damping>0.02</drake:stiffness_damping>
             <drake:material_model>{model}</drake:material_model></drake:deformable_properties>
             </link>"
        )
    };
    let text = format!(
        "<sdf version='1.9' xmlns:drake='http://drake.mit.edu'><world name='w'><model name='m'>{}
         </model><model name='n'><pose>0.5 0 0 0 0 0</pose>{}</model></world></sdf>",
        link("low", 0.0, "linear_corotated"),
        link("high", 0.3, "neohookean"),
    );
    let file = folder.path().join("soft.sdf");
    std::fs::write(&file, text).unwrap();
    let log = log_of(&file, &["--until", "0.6", "--time-step", "0.005"]);
    let (low, high) = (log.column("m::low.z"), log.column("n::high.z"));
    // The lower ball starts 0.1 m above the ground.
    assert!((low[0] - 0.2).abs() < 1e-9 && (high[0] - 0.5).abs() < 1e-9);
    for z in [&low, &high] {
        let last = z[z.len() - 1];
        assert!((0.08..0.1).contains(&last), "{last}");
    }
    assert!((log.last("n::high.x") - 0.5).abs() < 0.01);
    let output = simulate(&file, &["--until", "0.1", "--time-step", "0"]).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let expected =
        ":1:87: error: deformable body 'low': the time step of the plant must be positive";
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn scenarios_of_one_file_are_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.yaml");
    std::fs::write(
        &file,
        "short: {simulation_duration: 0.1}\nlong: {simulation_duration: 0.2}\n",
    )
    .unwrap();
    let output = simulate(&file, &["--scenario-name", "long"])
        .output()
        .unwrap();
    assert!(
        said(&output).starts_with("simulated 0.200 s"),
        "{}",
        said(&output)
    );
    let output = simulate(&file, &["--scenario-name", "wide"])
        .output()
        .unwrap();
    let expected =
        "--scenario-name must be the name of a scenario in the file, 'long' or 'short', got 'wide'";
    assert!(said(&output).contains(expected), "{}", said(&output));
}

#[test]
fn mistakes_in_scenarios_are_errors_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    for (text, expected) in [
        ("random_sed: 1", ":1:1: unknown field `random_sed`"),
        (
            "plant_config:\n  time_stop: 1",
            ":2:3: unknown field `time_stop`",
        ),
        ("simulator_config:\n  step: 1", ":2:3: unknown field `step`"),
        (
            "cameras:\n  top:\n    hight: 4",
            ":3:5: unknown field `hight`",
        ),
        (
            "visualization: {period: 4}",
            ":1:17: unknown field `period`",
        ),
        (
            "lcm_buses: {default: {url: ''}}",
            ":1:23: unknown field `url`",
        ),
        (
            "directives:\n- add_robot: {}",
            ":2:3: unknown variant `add_robot`",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\n- add_model: {name: a, file: no.urdf}",
            ":3:3: add_model: ",
        ),
        (
            "scene_graph_config: {default_proximity_properties: {stiffness: 1}}",
            ":1:53: unknown field `stiffness`",
        ),
        (
            "scene_graph_config: {default_proximity_properties: {point_stiffness: -1}}",
            "point_contact_stiffness must be positive, got -1.0",
        ),
        (
            "model_drivers:\n  iiwa: !ZeroForceDriver {gain: 3}",
            "ZeroForceDriver has no key 'gain'",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\nmodel_drivers:\n  a: !IiwaDriver {}",
            ":4:18: model_drivers: a: IiwaDriver is not supported; use !JointStiffnessDriver",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\nmodel_drivers:\n  \
             a: !JointStiffnessDriver {gains: {motor: {p: 1, d: 1}}}",
            "gains: 'motor' must be an actuator of the model, one of []",
        ),
        (
            "initial_position: {arm: {elbow: [1]}}",
            ":1:33: initial_position: arm: elbow: there is no model instance named 'arm'",
        ),
        (
            "cameras:\n  top: {fps: -1}",
            "cameras: top: camera 'preview_camera': fps must be positive",
        ),
        (
            "simulation_duration: -1",
            "simulation_duration must be at least 0 s, got -1.0 s",
        ),
        (
            "simulator_config: {integration_scheme: euler}",
            "simulator_config: Simulator: there is no integration scheme 'euler'",
        ),
        (
            "simulator_config: {target_realtime_rate: -1}",
            "target_realtime_rate must be positive, or 0 for as fast as possible, got -1.0",
        ),
        (
            "plant_config: {contact_model: soft}",
            "contact_model must be 'point'",
        ),
        ("visualization: {publish_period: 0}", "visualization: "),
        (
            "lcm_buses: {default: {lcm_url: 'a://'}}",
            "lcm_buses: default: LCM URL 'a://'",
        ),
        ("- 1", ":1:1: "),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = simulate(&file, &["--until", "0.1"]).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}: {said}");
        let place = format!("error: {}", file.display());
        let known = said.starts_with(&place) && said.contains(expected);
        assert!(known, "{text}: {said}");
    }
}

#[test]
fn bad_arguments_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (ball, drop) = (model("table_top/ball.urdf"), model("scenes/drop.yaml"));
    for (model, options, expected) in [
        (&ball, &[][..], "--no-browser must come with --until"),
        (
            &ball,
            &["--until", "-1"],
            "must be a positive finite number",
        ),
        (
            &ball,
            &["--until", "NaN"],
            "must be a positive finite number",
        ),
        (
            &ball,
            &["--until", "1", "--realtime-rate", "-1"],
            "must be a finite number of at least 0",
        ),
        (
            &ball,
            &["--until", "1", "--time-step", "-1"],
            "must be a finite number of at least 0",
        ),
        (
            &ball,
            &["--until", "1", "--rate", "0"],
            "must be a positive finite number",
        ),
        (
            &ball,
            &["--until", "1", "--port", "7001"],
            "cannot be used with",
        ),
        (
            &ball,
            &["--until", "1", "--images", "x"],
            "--images must come with a scenario",
        ),
        (
            &drop,
            &["--weld"],
            "--weld must come with a model, got the scenario",
        ),
        (
            &drop,
            &["--no-ground"],
            "--no-ground must come with a model",
        ),
        (
            &model("bad/malformed_xml.urdf"),
            &["--until", "1"],
            "nothing was loaded",
        ),
        (&model("no/such.urdf"), &["--until", "1"], "no/such.urdf"),
        (&model("no/such.yaml"), &["--until", "1"], "no/such.yaml"),
    ] {
        let mut command = simulate(model, options);
        command.arg("--log").arg(folder.path().join("log.csv"));
        let output = command.output().unwrap();
        let said = said(&output);
        assert!(!output.status.success(), "{options:?}");
        assert!(said.contains(expected), "{options:?}: {said}");
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(
            left, 0,
            "a simulation that fails leaves no file: {options:?}"
        );
    }
    let nowhere = folder.path().join("no/such/folder/log.csv");
    let mut command = simulate(&ball, &["--until", "1"]);
    let output = command.arg("--log").arg(&nowhere).output().unwrap();
    assert!(said(&output).contains("cannot write"), "{}", said(&output));
}

/// Ctrl-C sends SIGINT.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_simulation_and_keeps_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let options = ["--until", "1000", "--realtime-rate", "1"];
    let mut command = simulate(&model("table_top/ball.urdf"), &options);
    let child = command.arg("--log").arg(&log).spawn().unwrap();
    let begin = Instant::now();
    // A temporary file appears shortly before the program listens for Ctrl-C.
    while std::fs::read_dir(&folder).unwrap().next().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.starts_with("interrupted at "), "{said}");
    let rows = Log::read(&log).rows.len();
    assert!((1..10_000).contains(&rows), "{rows} rows");
}

/// A simulation with a server, and one page of it.
struct Session {
    process: Child,
    page: TcpStream,
    errors: ChildStderr,
}

impl Session {
    fn start(model: &Path, options: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_tarragon"))
            .arg("simulate")
            .arg(model)
            .args(["--port", "0"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let out = process.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut url).unwrap();
        let port = url.trim().strip_prefix("http://localhost:").unwrap();
        let port: u16 = port.parse().unwrap();
        let mut page = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            page,
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        .unwrap();
        let errors = process.stderr.take().unwrap();
        Self {
            process,
            page,
            errors,
        }
    }
    /// Sends a message in one masked frame; the mask is 0.
    fn send(&mut self, message: &[u8]) {
        let mut frame = match message.len() {
            short @ 0..126 => vec![0x82, 0x80 | short as u8],
            long => {
                let [high, low] = u16::try_from(long).unwrap().to_be_bytes();
                vec![0x82, 0x80 | 126, high, low]
            }
        };
        frame.extend([0; 4]);
        frame.extend_from_slice(message);
        self.page.write_all(&frame).unwrap();
        // The command reads its buttons a hundred times per second.
        std::thread::sleep(Duration::from_millis(300));
    }
    fn click(&mut self, button: &str) {
        let mut message = b"\x82\xa4type\xa6button\xa4name".to_vec();
        message.push(0xa0 | button.len() as u8);
        message.extend_from_slice(button.as_bytes());
        self.send(&message);
    }
    fn slide(&mut self, slider: &str, value: f64) {
        let mut message = b"\x83\xa4type\xa6slider\xa4name".to_vec();
        message.push(0xa0 | slider.len() as u8);
        message.extend_from_slice(slider.as_bytes());
        message.extend_from_slice(b"\xa5value\xcb");
        message.extend_from_slice(&value.to_be_bytes());
        self.send(&message);
    }
    fn drag(&mut self, path: &str, point: [f64; 3], target: [f64; 3]) {
        let mut message = b"\x84\xa4type\xa4drag\xa4path\xd9".to_vec();
        message.push(path.len() as u8);
        message.extend_from_slice(path.as_bytes());
        for (key, numbers) in [(&b"\xa5point"[..], point), (b"\xa6target", target)] {
            message.extend_from_slice(key);
            message.push(0x93);
            for x in numbers {
                message.push(0xcb);
                message.extend_from_slice(&x.to_be_bytes());
            }
        }
        self.send(&message);
    }
    /// Waits for the end; returns what was written to standard error.
    fn end(mut self) -> String {
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        assert!(self.process.wait().unwrap().success(), "{said}");
        said
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn buttons_step_reset_and_stop() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let options = ["--paused", "--rate", "1000", "--log"];
    let options = [&options[..], &[log.to_str().unwrap()]].concat();
    let mut session = Session::start(&model("table_top/ball.urdf"), &options);
    for _ in 0..3 {
        session.click("Step");
    }
    // The log begins anew with the simulation.
    session.click("Reset");
    session.click("Step");
    session.click("Step");
    session.click("Stop");
    let said = session.end();
    assert_eq!(said, "simulated 0.002 s, 3 records\n");
    assert_eq!(Log::read(&log).column("time"), [0.0, 0.001, 0.002]);
}

#[test]
fn sliders_drive_actuators() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let options = ["--weld", "--paused", "--until", "0.2", "--log"];
    let options = [&options[..], &[log.to_str().unwrap()]].concat();
    let mut session = Session::start(&model("arm7/arm7.urdf"), &options);
    session.slide("joint1_motor (N m)", 20.0);
    session.click("Pause / Continue");
    let said = session.end();
    assert!(said.starts_with("simulated 0.200 s"), "{said}");
    let log = Log::read(&log);
    assert!(
        log.last("arm7::joint1.v") > 1.0,
        "{}",
        log.last("arm7::joint1.v")
    );
}

/// A failure pauses the simulation, and does not end what a user looks at.
#[test]
fn a_simulation_that_fails_can_be_reset() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("massless.urdf");
    let text = "<robot name='r'><link name='a'><collision><geometry><sphere radius='1'/>\
                </geometry></collision></link></robot>";
    std::fs::write(&file, text).unwrap();
    let mut session = Session::start(&file, &[]);
    session.click("Reset");
    session.click("Stop");
    let said = session.end();
    assert!(said.starts_with("error: ") && said.contains("'r::a' must be positive definite"));
    assert!(
        said.contains("paused; the button 'Reset' starts again"),
        "{said}"
    );
    let output = simulate(&file, &["--until", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", self::said(&output));
}

#[test]
fn a_dragged_body_follows_the_pointer() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let options = ["--paused", "--until", "2", "--realtime-rate", "0", "--log"];
    let options = [&options[..], &[log.to_str().unwrap()]].concat();
    let mut session = Session::start(&model("table_top/ball.urdf"), &options);
    // Held at its centre, which is 0.034 m above the origin of its frame.
    let path = "/drake/proximity/ball/ball/ball/Sphere";
    session.drag(path, [0.0; 3], [0.3, 0.2, 0.5]);
    session.click("Pause / Continue");
    session.end();
    let log = Log::read(&log);
    // The spring sags by g / (10 rad/s)^2 under the weight.
    let sag = 9.81 / 100.0;
    let at = ["x", "y", "z"].map(|axis| log.last(&format!("ball::ball_{axis}.q")));
    let expected = [0.3, 0.2, 0.5 - 0.034 - sag];
    let errors = at.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let far = errors.fold(0.0, f64::max);
    assert!(far < 0.01, "at {at:?}, but it is pulled to {expected:?}");
    assert!(log.last("ball::ball_vx.v").abs() < 1e-3);
}
