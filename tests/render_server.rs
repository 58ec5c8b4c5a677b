//! `tarragon render-server`, run as by a user. `tarragon-render-server` tests the protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("render-server");
    command
}

/// A running server; it ends when this is dropped.
struct Server {
    process: Child,
    out: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut process = command()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().to_owned();
        Self {
            process,
            out,
            address,
        }
    }
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{request}\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[cfg(unix)]
fn it_prints_its_address_serves_and_ends_by_a_signal() {
    let mut server = Server::start(&["--port", "0", "--endpoint", "draw", "--stats"]);
    assert!(server.address.starts_with("127.0.0.1:") && !server.address.ends_with(":0"));
    let about = server.ask("GET / HTTP/1.1");
    assert!(about.starts_with("HTTP/1.1 200") && about.contains("POST glTF scenes to /draw"));
    let missing = server.ask("GET /render HTTP/1.1");
    assert!(missing.starts_with("HTTP/1.1 404") && missing.contains("must be /draw"));
    let id = server.process.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    let status = server.process.wait().unwrap();
    assert!(status.success(), "{status}");
    let mut rest = String::new();
    server.out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    let mut errors = String::new();
    let mut stderr = server.process.stderr.take().unwrap();
    stderr.read_to_string(&mut errors).unwrap();
    assert!(
        errors.contains("0 colour, 0 depth, 0 label images, 1 refused"),
        "{errors}"
    );
}

#[test]
fn mistakes_are_errors_before_anything_is_served() {
    let taken = Server::start(&["--port", "0"]);
    let port = taken.address.rsplit(':').next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("params.yaml");
    std::fs::write(&file, "renderer_class: !RenderEngineGltfClientParams {}\n").unwrap();
    let cases = [
        (vec!["--port", port], "choose another port, or 0"),
        (
            vec!["--port", "0", "--host", "no.such.host.invalid"],
            "host must be a name",
        ),
        (
            vec!["--port", "0", "--params", "missing.yaml"],
            "missing.yaml",
        ),
        (
            vec!["--port", "0", "--params", file.to_str().unwrap()],
            "RenderEngineGltfClient",
        ),
        (vec!["--engine", "voxels"], "voxels"),
        (vec!["--max-request-mib", "0"], "0"),
    ];
    for (arguments, why) in cases {
        let Output {
            status,
            stdout,
            stderr,
        } = command().args(&arguments).output().unwrap();
        let errors = String::from_utf8(stderr).unwrap();
        assert!(
            !status.success() && errors.contains(why),
            "{arguments:?}: {errors}"
        );
        assert_eq!(stdout, b"", "{arguments:?}");
    }
}

/// Every command shortens long lists of similar messages, so every command has `--verbose`.
#[test]
fn every_command_has_the_option_for_all_messages() {
    for name in [
        "convert",
        "dynamics",
        "inspect",
        "query",
        "render",
        "render-server",
        "simulate",
        "sweep",
        "view",
        "xacro",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
        let help = command.args([name, "--help"]).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        assert_eq!(help.matches("--verbose").count(), 1, "{name}: {help}");
    }
}
