//! Websocket frames without a socket: bytes in, messages and answer bytes out.

use std::io::{Read, Write};
use tungstenite::protocol::{Message, Role, WebSocket, WebSocketConfig};

/// Maximum number of bytes of one message from a page.
pub(crate) const MAX_MESSAGE: usize = 64 << 10;
/// Maximum number of bytes of a picture requested from a page.
pub(crate) const MAX_PICTURE: usize = 256 << 20;

/// Decodes what a page sends.
#[derive(Debug)]
pub(crate) struct Decoder(WebSocket<Pipe>);

impl Decoder {
    pub(crate) fn new() -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE))
            .read_buffer_size(4 << 10)
            .write_buffer_size(0);
        Self(WebSocket::from_raw_socket(
            Pipe::default(),
            Role::Server,
            Some(config),
        ))
    }
    /// Sets the maximum length of a message.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.0.set_config(|c| {
            c.max_message_size = Some(limit);
            c.max_frame_size = Some(limit);
        });
    }
    /// Adds bytes received from the page.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let pipe = self.0.get_mut();
        pipe.input.drain(..pipe.read);
        pipe.read = 0;
        pipe.input.extend_from_slice(bytes);
    }
    /// Returns the next complete message; `None` if more bytes are needed.
    ///
    /// # Errors
    /// Returns an error when the connection ends, or the bytes violate the protocol or a limit.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, tungstenite::Error> {
        match self.0.read() {
            Ok(message) => Ok(Some(message)),
            Err(tungstenite::Error::Io(e)) if e.kind() == std::io::ErrorKind::WouldBlock => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
    /// Takes the encoded answers to pings and closes.
    pub(crate) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0.get_mut().output)
    }
}

/// Substitute for a socket, for tungstenite.
#[derive(Debug, Default)]
struct Pipe {
    input: Vec<u8>,
    /// Number of bytes of the input that were read.
    read: usize,
    output: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.input[self.read..];
        if rest.is_empty() {
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.read += n;
        Ok(n)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a masked frame, as clients send it.
    fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x80 | opcode];
        match payload.len() {
            n @ 0..=125 => bytes.push(0x80 | n as u8),
            n => {
                bytes.push(0x80 | 127);
                bytes.extend_from_slice(&(n as u64).to_be_bytes());
            }
        }
        bytes.extend_from_slice(&[1, 2, 3, 4]);
        bytes.extend(
            payload
                .iter()
                .enumerate()
                .map(|(i, b)| b ^ [1, 2, 3, 4][i % 4]),
        );
        bytes
    }

    proptest! {
        /// Messages are decoded completely wherever the bytes are cut.
        #[test]
        fn messages_are_independent_of_cuts(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5), cut in 1usize..64) {
            let bytes: Vec<u8> = messages.iter().flat_map(|m| frame(2, m)).collect();
            let mut decoder = Decoder::new();
            let mut found = Vec::new();
            for part in bytes.chunks(cut) {
                decoder.feed(part);
                while let Some(message) = decoder.next().unwrap() {
                    found.push(message.into_data().to_vec());
                }
            }
            prop_assert_eq!(found, messages);
        }

        /// Any bytes result in an error or a wait for more, with little memory.
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut decoder = Decoder::new();
            decoder.feed(&bytes);
            while let Ok(Some(_)) = decoder.next() {}
            prop_assert!(decoder.take_output().len() <= 4 * bytes.len() + 200);
        }
    }

    #[test]
    fn pings_are_answered_and_long_messages_refused() {
        let mut decoder = Decoder::new();
        decoder.feed(&frame(9, b"hi"));
        assert!(matches!(decoder.next(), Ok(Some(Message::Ping(_)))));
        assert!(matches!(decoder.next(), Ok(None)));
        assert_eq!(decoder.take_output(), [0x8a, 2, b'h', b'i']);
        let mut lying = vec![0x82, 0xff];
        lying.extend_from_slice(&(1u64 << 40).to_be_bytes());
        lying.extend_from_slice(&[0; 4]);
        decoder.feed(&lying);
        assert!(matches!(
            decoder.next(),
            Err(tungstenite::Error::Capacity(_))
        ));
        let mut decoder = Decoder::new();
        decoder.set_limit(MAX_PICTURE);
        decoder.feed(&frame(1, &vec![b'a'; 100_000]));
        assert!(matches!(decoder.next(), Ok(Some(Message::Text(t))) if t.len() == 100_000));
    }
}
