//! Datagrams of LCM's UDP multicast protocol.
//!
//! All numbers are big-endian. A message that fits is one datagram, `"LC02" u32 sequence, channel,
//! NUL, data`; a longer one is fragments, `"LC03" u32 sequence, u32 size, u32 offset, u16 number,
//! u16 count`, then in fragment 0 only `channel, NUL`, then data. Size and offset count data only.
//! Source: "LCM UDP Multicast Protocol Description",
//! <https://lcm-proj.github.io/lcm/content/udp-multicast-protocol.html>.

use crate::message::encoded::{Parts, Pieces};
use smallvec::SmallVec;

/// Longest datagram in IPv4 (bytes).
pub(crate) const MAX_DATAGRAM: usize = 65507;
/// Longest channel name (bytes).
pub(crate) const MAX_CHANNEL: usize = 63;
/// Most fragments of a message.
pub(crate) const MAX_FRAGMENTS: usize = u16::MAX as usize;
const SHORT: &[u8; 4] = b"LC02";
const FRAGMENT: &[u8; 4] = b"LC03";
const SHORT_HEADER: usize = 8;
const FRAGMENT_HEADER: usize = 20;
const FRAGMENT_ROOM: usize = MAX_DATAGRAM - FRAGMENT_HEADER;

/// A parsed datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Datagram<'a> {
    /// A whole message.
    Short {
        sequence: u32,
        channel: &'a str,
        data: &'a [u8],
    },
    /// A part of a message.
    Fragment(Fragment<'a>),
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fragment<'a> {
    pub(crate) sequence: u32,
    /// Length of the whole message (bytes).
    pub(crate) size: u32,
    /// Position of `data` in the message; `offset + data.len() <= size`.
    pub(crate) offset: u32,
    /// Index of the fragment, less than `count`.
    pub(crate) number: u16,
    pub(crate) count: u16,
    /// The channel, in fragment 0 only.
    pub(crate) channel: Option<&'a str>,
    pub(crate) data: &'a [u8],
}

/// Why a datagram is not LCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("it starts with neither 'LC02' nor 'LC03'")]
    Magic,
    #[error("it ends within its header")]
    Header,
    #[error("its channel is empty, longer than 63 bytes, or not ended by a zero")]
    Channel,
    #[error("its channel is not UTF-8")]
    Utf8,
    #[error("its fragment number is not below the number of fragments")]
    Number,
    #[error("its data extends beyond the size of the message")]
    Range,
    #[error("its number of fragments is too small for the size of the message")]
    Size,
}

/// Parses a datagram.
pub(crate) fn parse(datagram: &[u8]) -> Result<Datagram<'_>, Malformed> {
    let (magic, rest) = datagram.split_first_chunk().ok_or(Malformed::Magic)?;
    match magic {
        SHORT => {
            let (sequence, rest) = u32_of(rest)?;
            let (channel, data) = channel_of(rest)?;
            Ok(Datagram::Short {
                sequence,
                channel,
                data,
            })
        }
        FRAGMENT => fragment(rest).map(Datagram::Fragment),
        _ => Err(Malformed::Magic),
    }
}

fn fragment(rest: &[u8]) -> Result<Fragment<'_>, Malformed> {
    let (sequence, rest) = u32_of(rest)?;
    let (size, rest) = u32_of(rest)?;
    let (offset, rest) = u32_of(rest)?;
    let (number, rest) = rest.split_first_chunk().ok_or(Malformed::Header)?;
    let (count, rest) = rest.split_first_chunk().ok_or(Malformed::Header)?;
    let (number, count) = (u16::from_be_bytes(*number), u16::from_be_bytes(*count));
    if number >= count {
        return Err(Malformed::Number);
    }
    let (channel, data) = match number {
        0 => channel_of(rest).map(|(channel, data)| (Some(channel), data))?,
        _ => (None, rest),
    };
    if u64::from(offset) + data.len() as u64 > u64::from(size) {
        return Err(Malformed::Range);
    }
    if u64::from(size) > u64::from(count) * FRAGMENT_ROOM as u64 {
        return Err(Malformed::Size);
    }
    Ok(Fragment {
        sequence,
        size,
        offset,
        number,
        count,
        channel,
        data,
    })
}

fn u32_of(bytes: &[u8]) -> Result<(u32, &[u8]), Malformed> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Malformed::Header)?;
    Ok((u32::from_be_bytes(*number), rest))
}

fn channel_of(bytes: &[u8]) -> Result<(&str, &[u8]), Malformed> {
    let reach = &bytes[..bytes.len().min(MAX_CHANNEL + 1)];
    let end = reach.iter().position(|byte| *byte == 0);
    let end = end.filter(|end| *end > 0).ok_or(Malformed::Channel)?;
    let channel = std::str::from_utf8(&bytes[..end]).map_err(|_| Malformed::Utf8)?;
    Ok((channel, &bytes[end + 1..]))
}

/// Checks that a channel can be sent; otherwise returns what is wrong with it.
pub(crate) fn check_channel(channel: &str) -> Result<(), String> {
    let found = match channel.len() {
        0 => "''".into(),
        len if len > MAX_CHANNEL => format!("'{channel}' ({len} bytes)"),
        _ if channel.contains('\0') => {
            format!("'{}'", channel.escape_debug())
        }
        _ => return Ok(()),
    };
    Err(format!(
        "the channel must have 1 to {MAX_CHANNEL} bytes without a zero, got {found}"
    ))
}

/// Iterator over the datagrams of a message, in order; the data is not copied.
#[derive(Debug)]
pub(crate) struct Datagrams<'a> {
    sequence: u32,
    channel: &'a str,
    size: usize,
    /// Data from `offset` on.
    data: Pieces<'a>,
    /// Number of fragments; None for a short message.
    count: Option<u16>,
    number: usize,
    offset: usize,
}

/// Number of pieces that a packet holds without allocating.
pub(crate) const MOST_PIECES: usize = 6;

/// A datagram to send: a header and the data that follows it.
#[derive(Debug)]
pub(crate) struct Packet<'a> {
    header: [u8; FRAGMENT_HEADER + MAX_CHANNEL + 1],
    header_len: usize,
    pub(crate) data: SmallVec<[&'a [u8]; MOST_PIECES]>,
}

impl Packet<'_> {
    pub(crate) fn header(&self) -> &[u8] {
        &self.header[..self.header_len]
    }
    fn push(&mut self, bytes: &[u8]) {
        let end = self.header_len + bytes.len();
        self.header[self.header_len..end].copy_from_slice(bytes);
        self.header_len = end;
    }
}

impl<'a> Datagrams<'a> {
    /// Splits a message into datagrams.
    ///
    /// # Errors
    /// Returns an error if the channel cannot be sent, or the message needs too many fragments.
    pub(crate) fn new(
        sequence: u32,
        channel: &'a str,
        data: impl Into<Parts<'a>>,
    ) -> Result<Self, String> {
        check_channel(channel)?;
        let data = data.into();
        let len = channel.len() + 1 + data.len();
        let count = if len <= MAX_DATAGRAM - SHORT_HEADER {
            None
        } else {
            let count = u16::try_from(len.div_ceil(FRAGMENT_ROOM)).map_err(|_| {
                format!(
                    "the message on channel '{channel}' has {} bytes, but must have at most {}",
                    data.len(),
                    MAX_FRAGMENTS * FRAGMENT_ROOM - channel.len() - 1
                )
            })?;
            Some(count)
        };
        Ok(Self {
            sequence,
            channel,
            size: data.len(),
            data: data.pieces(),
            count,
            number: 0,
            offset: 0,
        })
    }
}

impl<'a> Iterator for Datagrams<'a> {
    type Item = Packet<'a>;

    fn next(&mut self) -> Option<Packet<'a>> {
        let (number, offset) = (self.number, self.offset);
        if number >= usize::from(self.count.unwrap_or(1)) {
            return None;
        }
        let mut packet = Packet {
            header: [0; FRAGMENT_HEADER + MAX_CHANNEL + 1],
            header_len: 0,
            data: SmallVec::new(),
        };
        packet.push(if self.count.is_some() {
            FRAGMENT
        } else {
            SHORT
        });
        packet.push(&self.sequence.to_be_bytes());
        if let Some(count) = self.count {
            // Both casts are safe: the number of fragments was checked, and they hold less than 4
            // GiB.
            packet.push(&(self.size as u32).to_be_bytes());
            packet.push(&(offset as u32).to_be_bytes());
            packet.push(&(number as u16).to_be_bytes());
            packet.push(&count.to_be_bytes());
        }
        if number == 0 {
            packet.push(self.channel.as_bytes());
            packet.push(&[0]);
        }
        let mut room = MAX_DATAGRAM - packet.header_len;
        while let Some(piece) = self.data.up_to(room) {
            packet.data.push(piece);
            room -= piece.len();
            self.offset += piece.len();
        }
        self.number += 1;
        Some(packet)
    }
}

#[cfg(test)]
pub(crate) mod tests;
