//! A simulation with a server, driven by its page.

use super::{Log, model, said, simulate};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

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
    assert!(said.contains("\nerror: ") && said.contains("'r::a' must be positive definite"));
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
