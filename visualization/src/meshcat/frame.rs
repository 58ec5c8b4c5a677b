//! Websocket frames of whole messages (RFC 6455, section 5.2), unmasked as servers send them.

use bytes::{BufMut, Bytes, BytesMut};

/// Opcode of a binary message, with the bit for a final frame.
const BINARY: u8 = 0x82;

/// Appends a frame with `payload` as one binary message.
pub(crate) fn append(buffer: &mut BytesMut, payload: &[u8]) {
    append_header(buffer, payload.len());
    buffer.extend_from_slice(payload);
}

fn append_header(buffer: &mut impl BufMut, len: usize) {
    buffer.put_u8(BINARY);
    match len {
        0..=125 => buffer.put_u8(len as u8),
        126..=0xffff => {
            buffer.put_u8(126);
            buffer.put_u16(len as u16);
        }
        _ => {
            buffer.put_u8(127);
            buffer.put_u64(len as u64);
        }
    }
}

/// One message with its frame header, shared by all pages it is sent to.
#[derive(Clone, Debug)]
pub(crate) struct Framed {
    bytes: Bytes,
    header: usize,
}

impl Framed {
    pub(crate) fn new(payload: &[u8]) -> Self {
        Self::concat(&[payload])
    }
    /// Creates a message from the parts of its payload.
    pub(crate) fn concat(parts: &[&[u8]]) -> Self {
        let len = parts.iter().map(|part| part.len()).sum();
        let header = match len {
            0..=125 => 2,
            126..=0xffff => 4,
            _ => 10,
        };
        // A buffer of exactly this capacity is shared without another allocation.
        let mut bytes = Vec::with_capacity(header + len);
        append_header(&mut bytes, len);
        for part in parts {
            bytes.extend_from_slice(part);
        }
        Self {
            bytes: bytes.into(),
            header,
        }
    }
    /// Returns header and payload.
    pub(crate) fn frame(&self) -> &Bytes {
        &self.bytes
    }
    /// Returns the payload without copying it.
    pub(crate) fn shared_payload(&self) -> Bytes {
        self.bytes.slice(self.header..)
    }
    /// Returns the payload.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.bytes[self.header..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tungstenite::protocol::{Message, Role, WebSocket};

    #[test]
    fn frames_are_read_by_another_implementation() {
        for len in [0, 1, 125, 126, 127, 65535, 65536, 200_000] {
            let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let framed = Framed::new(&payload);
            assert_eq!(framed.payload(), payload);
            let stream = std::io::Cursor::new(framed.frame().to_vec());
            let mut client = WebSocket::from_raw_socket(stream, Role::Client, None);
            assert_eq!(client.read().unwrap(), Message::binary(payload.clone()));
            let mut appended = BytesMut::new();
            append(&mut appended, &payload);
            assert_eq!(appended, framed.frame());
        }
    }
}
