//! A page without a browser: a websocket client that reads the server's messages.
#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod raw;
pub(crate) mod soft;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tarragon_visualization::{Meshcat, MeshcatParams};
use tungstenite::protocol::{Message, WebSocket};

/// Reports that a test is skipped. Printing macros are not used, because their output is hidden for
/// tests that pass.
pub(crate) fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Starts a server on any free port.
pub(crate) fn server() -> Meshcat {
    Meshcat::new(MeshcatParams {
        port: Some(0),
        ..Default::default()
    })
    .unwrap()
}

/// A connected page.
pub(crate) struct Page(pub(crate) WebSocket<TcpStream>);

impl Page {
    pub(crate) fn connect(meshcat: &Meshcat) -> Self {
        Self::connect_to(meshcat, "/")
    }
    pub(crate) fn connect_to(meshcat: &Meshcat, path: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", meshcat.port())).unwrap();
        let url = format!("ws://localhost:{}{path}", meshcat.port());
        let (socket, _) = tungstenite::client(url, stream).unwrap();
        socket
            .get_ref()
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        Self(socket)
    }
    /// Returns the bytes of the next message.
    pub(crate) fn next_bytes(&mut self) -> Vec<u8> {
        loop {
            match self.0.read().unwrap() {
                Message::Binary(bytes) => return bytes.to_vec(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    /// Returns the next message.
    pub(crate) fn next(&mut self) -> rmpv::Value {
        let bytes = self.next_bytes();
        rmpv::decode::read_value(&mut &bytes[..]).unwrap()
    }
    /// Returns all messages up to and including the first one for which `last` is true.
    pub(crate) fn until(&mut self, last: impl Fn(&rmpv::Value) -> bool) -> Vec<rmpv::Value> {
        let mut messages = Vec::new();
        loop {
            messages.push(self.next());
            if last(&messages[messages.len() - 1]) {
                return messages;
            }
        }
    }
    /// Returns the messages that a page receives when it connects.
    pub(crate) fn replay(&mut self) -> Vec<rmpv::Value> {
        self.until(|m| field(m, "type") == Some("show_realtime_rate".into()))
    }
    pub(crate) fn send(&mut self, fields: &[(&str, rmpv::Value)]) {
        let map = fields.iter().map(|(k, v)| ((*k).into(), v.clone()));
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &rmpv::Value::Map(map.collect())).unwrap();
        self.0.send(Message::binary(bytes)).unwrap();
    }
}

pub(crate) fn field(message: &rmpv::Value, key: &str) -> Option<rmpv::Value> {
    let map = message.as_map()?;
    let found = map.iter().find(|(k, _)| k.as_str() == Some(key));
    found.map(|(_, v)| v.clone())
}
/// Returns `type path` of messages and `type name` of controls.
pub(crate) fn outline(messages: &[rmpv::Value]) -> Vec<String> {
    let line = |m: &rmpv::Value| {
        let part = |key| field(m, key).and_then(|v| v.as_str().map(str::to_owned));
        let what = part("path").or_else(|| part("name"));
        let property = part("property");
        let parts = [part("type"), what, property];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    messages.iter().map(line).collect()
}
pub(crate) fn is(kind: &str) -> impl Fn(&rmpv::Value) -> bool {
    move |m| field(m, "type").is_some_and(|t| t.as_str() == Some(kind))
}

/// Waits until another thread has done something.
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends one HTTP request and returns the head of the answer and its body.
pub(crate) fn http(meshcat: &Meshcat, request: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", meshcat.port())).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    (String::from_utf8(answer).unwrap(), body)
}
pub(crate) fn get(meshcat: &Meshcat, path: &str) -> (String, Vec<u8>) {
    let host = format!("localhost:{}", meshcat.port());
    http(
        meshcat,
        &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
    )
}
