//! HTTP server that records requests as they arrive.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tarragon_sensors::*;

/// A request as it arrived.
#[derive(Clone)]
pub(super) struct Request {
    /// Request line and headers, with their line ends, up to the empty line.
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// Answer to a request.
pub(super) enum Answer {
    Bytes(Vec<u8>),
    /// Nothing: the connection is closed.
    Drop,
    /// Nothing, until the client hangs up.
    Silence,
}

type Reply = dyn Fn(&Request) -> Answer + Send + Sync;

/// The server; its threads end when it is dropped.
pub(super) struct Recorder {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    pub(super) fn new(reply: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, end) = (
            Arc::<Mutex<Vec<Request>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let reply: Arc<Reply> = Arc::new(reply);
        let (log, ended) = (requests.clone(), end.clone());
        let thread = std::thread::spawn(move || {
            let mut clients = Vec::new();
            for client in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                let (log, reply) = (log.clone(), reply.clone());
                clients.push(std::thread::spawn(move || {
                    serve(client.unwrap(), &log, &*reply);
                }));
            }
            for client in clients {
                client.join().unwrap();
            }
        });
        Self {
            address,
            requests,
            end,
            thread: Some(thread),
        }
    }
    /// A server that sends images of one value: colour (10, 20, 30, 99), 1.25 m, label 7.
    pub(super) fn of_images() -> Self {
        Self::new(|request| Answer::Bytes(http("200 OK", &good_image(request))))
    }
    pub(super) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
    pub(super) fn last(&self) -> Request {
        self.requests().pop().unwrap()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let joined = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            joined.unwrap();
        }
    }
}

/// Serves requests of one connection until the client hangs up.
fn serve(client: TcpStream, log: &Mutex<Vec<Request>>, reply: &Reply) {
    let mut reader = BufReader::new(&client);
    loop {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head += &line;
        }
        let length = head
            .lines()
            .find_map(|l| l.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let request = Request { head, body };
        log.lock().unwrap().push(request.clone());
        match reply(&request) {
            // The client may have hung up.
            Answer::Bytes(bytes) => {
                let _ = (&client).write_all(&bytes);
                if !bytes.windows(15).any(|w| w == b"Content-Length:") {
                    return;
                }
            }
            Answer::Drop => return,
            Answer::Silence => {}
        }
    }
}

impl Request {
    /// Headers and values of the parts of the form.
    pub(super) fn parts(&self) -> Vec<(String, Vec<u8>)> {
        let boundary = self.head.split("boundary=").nth(1).unwrap().trim();
        let body = String::from_utf8(self.body.clone()).unwrap();
        let separator = format!("--{boundary}\r\n");
        let body = body
            .strip_suffix(&format!("\r\n--{boundary}--\r\n"))
            .unwrap();
        let parts = body.strip_prefix(&separator).unwrap();
        parts
            .split(&format!("\r\n{separator}"))
            .map(|part| {
                let (head, value) = part.split_once("\r\n\r\n").unwrap();
                (head.to_owned(), value.as_bytes().to_vec())
            })
            .collect()
    }
    /// Value of the part with this name.
    pub(super) fn field(&self, name: &str) -> String {
        let wanted = format!("name=\"{name}\"");
        let parts = self.parts();
        let part = parts.iter().find(|(head, _)| head.contains(&wanted));
        String::from_utf8(part.unwrap().1.clone()).unwrap()
    }
    pub(super) fn scene(&self) -> String {
        self.field("scene")
    }
}

/// A response with a length.
pub(super) fn http(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

pub(super) fn png<'a>(image: impl Into<ImageRef<'a>>) -> Vec<u8> {
    ImageIo::new()
        .save_to_buffer(image, ImageFileFormat::Png)
        .unwrap()
}

pub(super) fn tiff<'a>(image: impl Into<ImageRef<'a>>) -> Vec<u8> {
    ImageIo::new()
        .save_to_buffer(image, ImageFileFormat::Tiff)
        .unwrap()
}

/// An image of the requested kind and size.
pub(super) fn good_image(request: &Request) -> Vec<u8> {
    let size = |name: &str| request.field(name).parse::<usize>().unwrap();
    let (w, h) = (size("width"), size("height"));
    match &*request.field("image_type") {
        "color" => png(&ImageRgba8U::from_data(w, h, [10, 20, 30, 99].repeat(w * h)).unwrap()),
        "depth" => tiff(&ImageDepth32F::with_value(w, h, 1.25)),
        "label" => png(&ImageRgb8U::from_data(w, h, [7, 0, 0].repeat(w * h)).unwrap()),
        other => panic!("{other}"),
    }
}
