//! Web server with scripted answers.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Answer of the server to requests for a path.
#[derive(Clone)]
pub(crate) enum Answer {
    Body(Vec<u8>),
    /// A body of which only the given number of bytes is sent.
    Truncated(Vec<u8>, usize),
    /// A body with the given, wrong length in the header.
    WrongLength(Vec<u8>, usize),
    /// A body sent in chunks, without a length.
    Chunked(Vec<u8>),
    Status(u16),
    Redirect(String),
    /// Half of the header, then nothing.
    Silence,
    /// A body sent at one byte every 5 ms.
    Drip(Vec<u8>),
    Garbage,
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn new(answers: &[(&str, Answer)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<_> = answers
            .iter()
            .map(|(p, a)| (p.to_string(), a.clone()))
            .collect();
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answers, count) = (answers.clone(), Arc::clone(&count));
                thread::spawn(move || {
                    count.fetch_add(1, Ordering::SeqCst);
                    // A client that has seen enough may hang up.
                    let _ = answer(stream.unwrap(), &answers);
                });
            }
        });
        Self { url, requests }
    }
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn answer(mut stream: TcpStream, answers: &[(String, Answer)]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap_or(Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = request.split(' ').nth(1).unwrap_or("");
    let found = answers.iter().find(|(p, _)| p == path);
    let head = |length: usize| {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
    };
    match found.map_or(Answer::Status(404), |(_, a)| a.clone()) {
        Answer::Body(body) => {
            stream.write_all(head(body.len()).as_bytes())?;
            stream.write_all(&body)
        }
        Answer::Truncated(body, sent) => {
            stream.write_all(head(body.len()).as_bytes())?;
            stream.write_all(&body[..sent])
        }
        Answer::WrongLength(body, length) => {
            stream.write_all(head(length).as_bytes())?;
            stream.write_all(&body)
        }
        Answer::Chunked(body) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            for chunk in body.chunks(100) {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(chunk)?;
                stream.write_all(b"\r\n")?;
            }
            stream.write_all(b"0\r\n\r\n")
        }
        Answer::Status(code) => {
            write!(
                stream,
                "HTTP/1.1 {code} x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        }
        Answer::Redirect(to) => write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ),
        Answer::Silence => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            thread::sleep(Duration::from_secs(30));
            Ok(())
        }
        Answer::Drip(body) => {
            stream.write_all(head(body.len()).as_bytes())?;
            for byte in body {
                stream.write_all(&[byte])?;
                thread::sleep(Duration::from_millis(5));
            }
            Ok(())
        }
        Answer::Garbage => stream.write_all(b"I am a teapot\r\n\r\n"),
    }
}
