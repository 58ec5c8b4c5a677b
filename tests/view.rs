//! `tarragon view`, run as by a user. `tarragon-visualization` tests the page in a browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest wait for a viewer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/models")
        .join(name)
}

fn view() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("view");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Whether this program was built with the viewer page; prints a line if not.
fn has_viewer(output: &Output) -> bool {
    let missing = text(&output.stderr).contains("a static page needs the viewer");
    if missing {
        // Shown even though the test passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: no viewer page (install Node.js and build again)"
        );
    }
    !missing
}

/// Receives the lines of a stream as they come.
fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (line, lines) = channel();
    let all = BufReader::new(stream).lines();
    std::thread::spawn(move || all.map_while(Result::ok).try_for_each(|l| line.send(l)));
    lines
}

/// A running viewer process; it ends when this is dropped.
struct View {
    process: Child,
    port: u16,
    /// Lines of its standard error.
    errors: Receiver<String>,
}

impl View {
    fn start(command: &mut Command) -> Self {
        let mut process = command
            .args(["--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let urls = lines_of(process.stdout.take().unwrap());
        let mut view = Self {
            errors: lines_of(process.stderr.take().unwrap()),
            process,
            port: 0,
        };
        let url = urls
            .recv_timeout(PATIENCE)
            .expect("the viewer prints its URL");
        let port = url.strip_prefix("http://localhost:").unwrap();
        view.port = port.parse().unwrap();
        view
    }
    /// Waits until the viewer has written a line containing `what` to its standard error.
    fn error_until(&self, what: &str) {
        let end = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        while !said.last().is_some_and(|line: &String| line.contains(what)) {
            let left = end.saturating_duration_since(Instant::now());
            match self.errors.recv_timeout(left) {
                Ok(line) => said.push(line),
                Err(error) => panic!("the viewer did not write '{what}' ({error}): {said:?}"),
            }
        }
    }
    /// Collects messages to a page until all of `what` have been sent, in any order.
    fn messages_until(&self, what: &[&str]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        .unwrap();
        let start = Instant::now();
        let (mut all, mut buffer) = (Vec::new(), [0; 1 << 16]);
        loop {
            let n = stream.read(&mut buffer).unwrap();
            assert!(n > 0, "the viewer hung up");
            all.extend_from_slice(&buffer[..n]);
            let text = String::from_utf8_lossy(&all);
            let missing: Vec<_> = what.iter().filter(|what| !text.contains(**what)).collect();
            if missing.is_empty() {
                return text.into_owned();
            }
            // The viewer keeps sending changes.
            assert!(start.elapsed() < PATIENCE, "{missing:?} were not sent");
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_static_page_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("arm.html");
    let command = || {
        let mut command = view();
        command
            .arg(model("arm7/arm7.urdf"))
            .args(["--port", "0", "--static"]);
        command
    };
    let output = command().arg(&file).output().unwrap();
    if !has_viewer(&output) {
        return;
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("id=\"tarragon-static\"") && page.len() > 300_000);
    // A page that cannot be written leaves no file.
    let nowhere = folder.path().join("no/such/arm.html");
    let output = command().arg(&nowhere).output().unwrap();
    assert!(!output.status.success());
    let error = text(&output.stderr);
    assert!(
        error.contains("cannot write") && error.contains("no/such/arm.html"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_recording_of_a_sweep_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sweep.html");
    let output = view()
        .arg(model("arm7/arm7.urdf"))
        .arg(model("table_top/table.urdf"))
        .args(["--port", "0", "--sweep", "1", "--duration", "1", "--record"])
        .arg(&file)
        .output()
        .unwrap();
    if !has_viewer(&output) {
        return;
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let still = view()
        .arg(model("arm7/arm7.urdf"))
        .arg(model("table_top/table.urdf"))
        .args(["--port", "0", "--static"])
        .arg(folder.path().join("still.html"))
        .output()
        .unwrap();
    assert!(still.status.success());
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    // 33 frames of poses of a dozen bodies.
    assert!(size("sweep.html") > size("still.html") + 10_000);
}

#[test]
fn skyboxes_color_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sky.xml");
    let text = "<mujoco model='sky'><asset>
        <texture type='skybox' builtin='gradient' rgb1='1 0 0' rgb2='0 0 1' width='16'/>
      </asset><worldbody><geom size='.1'/></worldbody></mujoco>";
    std::fs::write(&file, text).unwrap();
    let view = View::start(view().arg(&file));
    view.messages_until(&["/Background/<object>", "top_color", "bottom_color"]);
}

#[test]
fn joints_have_sliders_and_parts_distances() {
    let mut command = view();
    command
        .arg(model("arm7/arm7.urdf"))
        .arg(model("table_top/table.urdf"));
    let view = View::start(&mut command);
    view.messages_until(&[
        "joint1/arm7",
        "show collision geometry",
        "/drake/illustration",
        "/drake/proximity",
        "/drake/distance/line",
        "/drake/distance/label",
        " mm",
    ]);
}

#[test]
fn models_are_reloaded_when_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.urdf");
    let robot = |link: &str| {
        format!(
            "<robot name='m'><link name='{link}'><visual><geometry><box size='1 1 1'/></geometry></visual></link></robot>"
        )
    };
    std::fs::write(&file, robot("before")).unwrap();
    let mut command = view();
    command.arg(&file);
    let view = View::start(&mut command);
    assert!(
        view.messages_until(&["show_realtime_rate"])
            .contains("before")
    );
    // A file that is invalid for a while changes nothing.
    std::fs::write(&file, "<robot").unwrap();
    view.error_until("m.urdf");
    assert!(
        view.messages_until(&["show_realtime_rate"])
            .contains("before")
    );
    std::fs::write(&file, robot("afterwards")).unwrap();
    view.error_until("reloaded the models");
    let seen = view.messages_until(&["show_realtime_rate"]);
    assert!(
        seen.contains("afterwards") && !seen.contains("/before"),
        "{seen}"
    );
}

#[test]
fn files_that_a_failed_expansion_has_read_are_watched() {
    let [folder, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (file, part) = (
        folder.path().join("m.xacro"),
        parts.path().join("part.xacro"),
    );
    let robot = |body: &str| {
        let address = "http://www.ros.org/wiki/xacro";
        format!("<robot name='m' xmlns:xacro='{address}'>{body}</robot>")
    };
    std::fs::write(&file, robot("<link name='before'/>")).unwrap();
    std::fs::write(&part, robot("<link name='${missing}'/>")).unwrap();
    let mut command = view();
    command.arg(&file);
    let view = View::start(&mut command);
    let include = format!("<xacro:include filename='{}'/>", part.display());
    std::fs::write(&file, robot(&include)).unwrap();
    view.error_until("name 'missing' is not defined");
    std::fs::write(&part, robot("<link name='afterwards'/>")).unwrap();
    view.error_until("reloaded the models");
}

#[test]
fn errors_come_before_the_server() {
    let output = view().arg("no/such/robot.urdf").output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(text(&output.stderr).contains("no/such/robot.urdf"));
    let output = view()
        .arg(model("arm7/arm7.urdf"))
        .args(["--port", "80"])
        .output()
        .unwrap();
    let error = text(&output.stderr);
    assert!(
        !output.status.success()
            && error.contains("port must be 0 (any free port) or at least 1024, got 80"),
        "{error}"
    );
}

#[test]
fn missing_parts_give_warnings_and_errors_if_strict() {
    let folder = tempfile::tempdir().unwrap();
    let obj = "mtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(folder.path().join("a.obj"), obj).unwrap();
    let model = folder.path().join("robot.urdf");
    let visual = "<visual><geometry><mesh filename='a.obj'/></geometry></visual>";
    let robot = format!("<robot name='r'><link name='a'>{visual}</link></robot>");
    std::fs::write(&model, robot).unwrap();
    let page = folder.path().join("page.html");
    let run = |more: &[&str]| {
        let mut command = view();
        command.arg(&model).arg("--static").arg(&page).args(more);
        command.output().unwrap()
    };
    let output = run(&[]);
    if !has_viewer(&output) {
        return;
    }
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told: Vec<&str> = said.lines().filter(|l| l.contains("none.mtl")).collect();
    assert!(
        told.len() == 1 && told[0].starts_with("warning: "),
        "{said}"
    );
    std::fs::remove_file(&page).unwrap();
    let strict = run(&["--strict"]);
    let said = text(&strict.stderr);
    assert_eq!(strict.status.code(), Some(1), "{said}");
    assert!(
        said.contains("error: ") && said.contains("none.mtl"),
        "{said}"
    );
    assert!(!page.exists());
}

/// A page without visuals would be empty.
#[test]
fn models_without_visuals_show_their_collision_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let urdf = |name: &str, kind: &str| {
        let file = folder.path().join(format!("{name}.urdf"));
        let text = format!(
            "<robot name='{name}'><link name='a'><inertial><mass value='1'/><inertia ixx='1' \
             iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial><{kind}><geometry>\
             <sphere radius='.1'/></geometry></{kind}></link></robot>"
        );
        std::fs::write(&file, text).unwrap();
        file
    };
    let (bare, seen) = (urdf("bare", "collision"), urdf("seen", "visual"));
    let note = "note: model 'bare' has no visuals; its collision shapes are shown";
    let mut viewer = View::start(view().args([&bare, &seen]));
    viewer.error_until(note);
    // The visualizer sends it among the visuals.
    viewer.messages_until(&["illustration/bare", "illustration/seen"]);
    let _ = viewer.process.kill();

    let simulate = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
        command.arg("simulate").arg(&bare).args(["--until", "0.01"]);
        let output = command.args(options).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output.stderr)
    };
    assert!(simulate(&["--port", "0"]).contains(note));
    assert!(
        !simulate(&["--no-browser"]).contains("note:"),
        "no page is shown"
    );
}
