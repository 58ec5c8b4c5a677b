//! Peers that try to exhaust the memory, and how much they get.
//!
//! The tests measure the whole process, so they run one at a time. The bounds leave room for what
//! an allocator retains.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

mod support;

use nalgebra::Isometry3;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use support::raw::{big_mesh, masked, upgrade};
use support::{Page, field, is, server, wait_for};
use tarragon_geometry::{BoxShape, Rgba};
use tarragon_visualization::Meshcat;

const MB: usize = 1 << 20;

fn alone() -> MutexGuard<'static, ()> {
    static PROCESS: Mutex<()> = Mutex::new(());
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the resident memory of this process (bytes). `statm` counts pages of 4 KiB (proc(5)).
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
/// Returns the growth of memory since `before`; memory freed earlier may be reused.
fn growth(before: usize) -> usize {
    resident().saturating_sub(before)
}

/// Returns how many connections a test may open, with two file descriptors each.
fn connections(wanted: usize) -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|l| l.starts_with("Max open files"));
    let limit = line.and_then(|l| l.split_whitespace().nth(3)?.parse().ok());
    wanted.min(limit.map_or(wanted, |l: usize| l.saturating_sub(200) / 2))
}

#[test]
fn thousands_of_connections_take_bounded_memory() {
    let _alone = alone();
    let meshcat = server();
    for i in 0..100 {
        meshcat.set_transform(&format!("n{i}"), &Isometry3::identity());
    }
    drop(Page::connect(&meshcat).replay());
    wait_for("it left", || meshcat.num_active_connections() == 0);
    let before = resident();
    let wanted = connections(3000);
    let mut pages: Vec<TcpStream> = Vec::new();
    let mut others: Vec<TcpStream> = Vec::new();
    for i in 0..wanted {
        if i % 3 == 2 {
            // These connections send no request.
            others.push(TcpStream::connect(("127.0.0.1", meshcat.port())).unwrap());
        } else if let Ok(page) = upgrade(&meshcat, if i % 2 == 0 { "/" } else { "/?batch=1" }) {
            pages.push(page);
        }
    }
    assert!(pages.len() <= 1000, "{}", pages.len());
    assert!(pages.len() > wanted / 4, "{} of {wanted}", pages.len());
    wait_for("they are counted", || {
        meshcat.num_active_connections() == pages.len()
    });
    // None of the pages reads.
    let mut slowest = Duration::ZERO;
    for frame in 0..100 {
        let start = Instant::now();
        for i in 0..100 {
            let x = Isometry3::translation(f64::from(frame), 0.0, 0.0);
            meshcat.set_transform(&format!("n{i}"), &x);
        }
        slowest = slowest.max(start.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    let grown = growth(before);
    println!(
        "{} pages of {wanted}, publish {slowest:?}, {} KB",
        pages.len(),
        grown >> 10
    );
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    // 40 KB for each page: its task, its read buffer and its initial scene.
    assert!(grown < 64 * MB + pages.len() * 64 * 1024, "{grown}");
    drop((pages, others));
    wait_for("all left", || meshcat.num_active_connections() == 0);
    let left = growth(before);
    println!("{} KB remain", left >> 10);
    assert!(left < 64 * MB, "{left}");
    let mut page = Page::connect(&meshcat);
    assert!(page.replay().len() > 100);
}

/// All ways to fill the memory kept for a page that does not read, next to a page that reads.
#[test]
fn a_page_that_never_reads_takes_little() {
    let _alone = alone();
    let meshcat = server();
    let stuck = upgrade(&meshcat, "/").unwrap();
    let mut reader = Page::connect_to(&meshcat, "/?batch=1");
    reader.replay();
    big_mesh(&meshcat, "big", 4 * MB, 0);
    reader.until(is("set_object"));
    let before = resident();
    // 800 MB of objects.
    for i in 1..=200 {
        big_mesh(&meshcat, "big", 4 * MB, i);
        reader.until(is("set_object"));
    }
    let objects = growth(before);
    // 300 000 deletions, with long names.
    for i in 0..300_000 {
        meshcat.delete(&format!("{i} {}", "x".repeat(100)));
    }
    meshcat.set_property("end", "visible", true);
    let grown = growth(before);
    println!("objects {} MB, deletions {} MB", objects / MB, grown / MB);
    // The newest version, some versions being sent, and a few batches.
    assert!(objects < 64 * MB, "{objects}");
    // 100 000 deletions of 200 bytes, encoded twice.
    assert!(grown < 200 * MB, "{grown}");
    drop(stuck);
}

#[test]
fn many_pages_share_a_large_object() {
    let _alone = alone();
    let meshcat = server();
    big_mesh(&meshcat, "big", 100 * MB, 0);
    let before = resident();
    let mut pages: Vec<TcpStream> = (0..20).map(|_| upgrade(&meshcat, "/").unwrap()).collect();
    let mut buffer = vec![0; MB];
    let mut most = 0;
    for page in &mut pages {
        page.read_exact(&mut buffer).unwrap();
        most = growth(before).max(most);
    }
    for page in &mut pages {
        for _ in 0..99 {
            page.read_exact(&mut buffer).unwrap();
        }
        most = growth(before).max(most);
    }
    println!("{} MB for 20 pages", most / MB);
    assert!(most < 64 * MB, "{most}");
}

/// Pages that connect together share one encoded scene, even a scene of many small parts that
/// changes all the time.
#[test]
fn pages_that_never_read_share_the_scene() {
    let _alone = alone();
    let meshcat = server();
    let block = BoxShape::new(1.0, 1.0, 1.0).unwrap().into();
    for i in 0..10_000 {
        let colour = Rgba::new(1.0, 0.0, 0.0, 1.0).unwrap();
        meshcat
            .set_object(&format!("n{i}"), &block, colour)
            .unwrap();
    }
    let before = resident();
    let mut stuck = Vec::new();
    for i in 0..100 {
        stuck.push(upgrade(&meshcat, "/").unwrap());
        meshcat.set_transform("n0", &Isometry3::translation(f64::from(i), 0.0, 0.0));
    }
    wait_for("they are counted", || {
        meshcat.num_active_connections() == 100
    });
    let grown = growth(before);
    println!("{} MB", grown / MB);
    // The scene has 4 MB of messages; 100 copies would be 400 MB. There may be several, since
    // connecting can take seconds.
    assert!(grown < 80 * MB, "{grown}");
}

/// Pages that send much and read nothing are disconnected.
#[test]
fn flooding_pages_are_disconnected() {
    let _alone = alone();
    let meshcat = server();
    meshcat.add_slider("s", 0.0, 1e9, 1.0, 0.0).unwrap();
    let before = resident();
    let ping = masked(0x89, &[7; 125]).repeat(500);
    let mut flood = upgrade(&meshcat, "/").unwrap();
    let limit = Instant::now() + Duration::from_secs(20);
    // The answers fill the system buffers, then the outbox; then the server closes the connection.
    while flood.write_all(&ping).is_ok() {
        assert!(Instant::now() < limit, "the flood was not stopped");
    }
    wait_for("it left", || meshcat.num_active_connections() == 0);
    // A page that moves a slider, next to a page that does not read.
    let stuck = upgrade(&meshcat, "/").unwrap();
    big_mesh(&meshcat, "big", 12 * MB, 0);
    let mut mover = Page::connect(&meshcat);
    mover.replay();
    for value in 0..30_000 {
        mover.send(&[
            ("type", "slider".into()),
            ("name", "s".into()),
            ("value", value.into()),
        ]);
        mover.send(&[("type", "button".into()), ("name", "no such button".into())]);
    }
    wait_for("the slider moved", || {
        meshcat.slider_value("s").unwrap() == 29_999.0
    });
    let grown = growth(before);
    println!("{} MB", grown / MB);
    // Twice the object, one of them in the scene.
    assert!(grown < 100 * MB, "{grown}");
    drop(stuck);
    check(&meshcat);
}

fn check(meshcat: &Meshcat) {
    let mut page = Page::connect(meshcat);
    page.replay();
    meshcat.set_property("alive", "visible", true);
    page.until(|m| field(m, "path") == Some("/drake/alive".into()));
}
