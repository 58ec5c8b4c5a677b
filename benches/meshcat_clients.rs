//! Benches many pages that follow a moving scene: `taskset -c 1 cargo bench --bench
//! meshcat_clients`.
//!
//! A process that may be pinned to one core sets 1000 poses 60 times per second; another one runs
//! the pages, which read everything that they are sent. Each frame carries the time at which it was
//! set, so that the pages know which frames they missed and how late the others came. Drake has no
//! counterpart: its server also sends every message to every page from one thread, but does not
//! limit the backlog.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tarragon::visualization::{Meshcat, MeshcatParams};

const NODES: usize = 1000;
const PAGES: usize = 50;
const RATE: f64 = 60.0;
const SECONDS: f64 = 5.0;

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("the clock is past 1970").as_secs_f64()
}

fn main() {
    let mut args = std::env::args().skip_while(|a| a != "--pages").skip(1);
    if let (Some(port), Some(path)) = (args.next(), args.next()) {
        pages(port.parse().expect("a port"), &path);
        return;
    }
    for (name, path) in [("standard", "/"), ("batched", "/?batch=1")] {
        serve(name, path);
    }
}

/// The server's side.
fn serve(name: &str, path: &str) {
    let port = Some(0);
    let meshcat = Meshcat::new(MeshcatParams {
        port,
        ..Default::default()
    })
    .expect("a free port");
    let program = std::env::current_exe().expect("this program");
    let mut pages = Command::new("taskset");
    // The pages run on the other cores.
    pages.args(["-c", "0,2,3"]).arg(program);
    let pages = pages
        .arg("--pages")
        .arg(meshcat.port().to_string())
        .arg(path);
    let mut pages = pages.stdin(Stdio::null()).spawn().expect("taskset runs");
    while meshcat.num_active_connections() < PAGES {
        std::thread::sleep(Duration::from_millis(10));
    }
    let nodes: Vec<String> = (0..NODES).map(|i| format!("visualizer/body{i}")).collect();
    let frames = (RATE * SECONDS) as u32;
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut busy = Duration::ZERO;
    for frame in 0..frames {
        let due = start + Duration::from_secs_f64(f64::from(frame) / RATE);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let begin = Instant::now();
        for (i, node) in nodes.iter().enumerate() {
            let x = nalgebra::Isometry3::translation(f64::from(frame), i as f64, 0.5);
            meshcat.set_transform(node, &x);
        }
        meshcat.set_property("frame", "time", now());
        busy += begin.elapsed();
    }
    let wall = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;
    meshcat.flush();
    meshcat.set_property("end", "time", 0.0);
    meshcat.flush();
    pages.wait().expect("the pages end");
    eprintln!(
        "{name}: {frames} frames of {NODES} poses to {PAGES} pages in {wall:.2} s, {:.0} us to set a \
         frame, {:.0} % of one core for everything",
        1e6 * busy.as_secs_f64() / f64::from(frames),
        100.0 * cpu / wall
    );
}

/// Processor time of this process so far (s).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |i: usize| {
        fields
            .get(i)
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(12) + ticks(13)) / 100.0
}

/// The pages' side.
fn pages(port: u16, path: &str) {
    let threads: Vec<_> = (0..PAGES)
        .map(|_| {
            let path = path.to_owned();
            std::thread::spawn(move || page(port, &path))
        })
        .collect();
    let mut late = Vec::new();
    let mut fewest = usize::MAX;
    let mut bytes = 0;
    for thread in threads {
        let (times, n) = thread.join().expect("the page ends");
        fewest = fewest.min(times.len());
        late.extend(times);
        bytes += n;
    }
    late.sort_by(f64::total_cmp);
    let at = |q: f64| 1e3 * late[((late.len() - 1) as f64 * q) as usize];
    eprintln!(
        "pages: at least {fewest} frames each, {:.0} MB in all; late by {:.1} ms in the median, {:.1} ms for \
         99 %, {:.1} ms at most",
        bytes as f64 / 1e6,
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// Reads until the end; returns the delay of each frame (s), and the number of bytes read.
fn page(port: u16, path: &str) -> (Vec<f64>, usize) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut buffer = vec![0; 512 << 10];
    let (mut start, mut end, mut total) = (0, 0, 0);
    let mut upgraded = false;
    let mut times = Vec::new();
    loop {
        if end == buffer.len() {
            buffer.copy_within(start..end, 0);
            (start, end) = (0, end - start);
        }
        let n = stream.read(&mut buffer[end..]).expect("the server sends");
        (end, total) = (end + n, total + n);
        if n == 0 {
            return (times, total);
        }
        if !upgraded {
            let head = buffer[..end].windows(4).position(|w| w == b"\r\n\r\n");
            let Some(head) = head else { continue };
            (start, upgraded) = (head + 4, true);
        }
        while let Some((header, length)) = frame(&buffer[start..end]) {
            let payload = &buffer[start + header..start + header + length];
            // The time of a frame: a `set_property` message that ends with a number.
            if payload.get(1..18) == Some(b"\xa4type\xacset_property".get(..17).expect("17 bytes"))
            {
                let (_, number) = payload.split_at(length - 8);
                let time = f64::from_be_bytes(number.try_into().expect("8 bytes"));
                if time == 0.0 {
                    return (times, total);
                }
                times.push(now() - time);
            }
            start += header + length;
        }
    }
}

/// Lengths of a frame's header and payload, if the frame is complete.
fn frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let (header, length) = match *bytes.get(1)? {
        126 => (
            4,
            usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)),
        ),
        127 => (
            10,
            u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?) as usize,
        ),
        n => (2, usize::from(n)),
    };
    (bytes.len() >= header + length).then_some((header, length))
}
