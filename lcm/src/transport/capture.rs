//! Recorded datagrams of Drake.

use serde::Deserialize;

/// A line of `raw_udp_packets.jsonl`.
#[derive(Debug, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) kind: String,
    pub(crate) seq: u32,
    pub(crate) len: usize,
    pub(crate) channel: Option<String>,
    pub(crate) payload_len: Option<usize>,
    pub(crate) msg_size: Option<usize>,
    pub(crate) frag_offset: Option<u32>,
    pub(crate) frag_no: Option<u16>,
    hex: Option<String>,
    hexhead: Option<String>,
}

impl Recorded {
    /// Bytes of the datagram, or of its start.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let hex = self.hex.as_ref().or(self.hexhead.as_ref()).unwrap();
        (0..hex.len() / 2)
            .map(|k| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).unwrap())
            .collect()
    }
}

/// The recording.
pub(crate) fn packets() -> Vec<Recorded> {
    let lines = include_str!("../../tests/captures/raw_udp_packets.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
