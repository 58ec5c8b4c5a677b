//! Fuzz target of log files.

use super::HEADER;
use super::events::{Events, Trouble};
use super::reader::seek;
use std::io;

/// Reads arbitrary bytes as a log by every function of the reader.
pub(crate) fn fuzz(bytes: &[u8]) {
    let events = || Events::new(io::BufReader::with_capacity(16, io::Cursor::new(bytes)));
    let Ok(mut log) = events() else {
        return;
    };
    let (mut read, mut left_out) = (0_u64, false);
    let mut timestamps = Vec::new();
    loop {
        match log.next() {
            Ok(None) => break,
            Ok(Some(event)) => {
                read += (HEADER + event.channel.len() + event.data.len()) as u64;
                timestamps.push(event.timestamp);
            }
            Err(Trouble::Event(_)) => left_out = true,
            Err(Trouble::Io(error)) => panic!("memory does not fail: {error}"),
        }
    }
    let told = read + log.skipped;
    assert!(told <= log.len(), "{told} of {} bytes", log.len());
    assert!(left_out || log.cut.is_some() || told == log.len());
    let target = timestamps.get(timestamps.len() / 2).copied().unwrap_or(0);
    let Ok(mut log) = events() else {
        return;
    };
    if let Err(error) = seek(&mut log, target) {
        panic!("memory does not fail: {error}");
    }
    if let Ok(Some(header)) = log.peek() {
        assert!(header.timestamp >= target);
    }
}
