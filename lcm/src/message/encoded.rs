//! Encoded messages, whose long arrays are stored separately and shared.

use super::shared_arrays::SharedArrays;
use super::wire::{Decoder, Encoder};
use super::{LcmMessage, whole};
use crate::Result;
use bytes::Bytes;
use std::sync::OnceLock;

/// Encodes a message: its fingerprint, then its members.
pub(super) fn write<M: LcmMessage>(message: &M, mut out: Encoder<'_>) -> Result<()> {
    out.bytes(&M::fingerprint().to_be_bytes());
    let written = message.write(&mut out, &[]);
    written.map_err(|e| e.at(format!("LCM message of type {}", M::NAME)))
}

/// Reusable memory for encoding messages.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    shared: SharedArrays,
}

impl Scratch {
    /// Encodes a message, and passes its parts to `with`.
    ///
    /// # Errors
    /// Same as [`LcmMessage::encode`]; also returns errors of `with`.
    pub(crate) fn encode<M: LcmMessage>(
        &mut self,
        message: &M,
        with: impl FnOnce(Parts<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { bytes, shared } = self;
        bytes.clear();
        let done = write(message, Encoder::sharing(bytes, shared))
            .and_then(|()| with(Parts { bytes, shared }));
        // The arrays belong to the message, and must not outlive this call.
        shared.clear();
        done
    }
}

/// An encoded message in the queues of its subscribers.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    bytes: Bytes,
    shared: SharedArrays,
    /// All bytes in one slice, made on first use.
    whole: OnceLock<Vec<u8>>,
}

impl From<Vec<u8>> for Encoded {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }
}

impl Encoded {
    /// # Errors
    /// Same as [`LcmMessage::encode`].
    pub(crate) fn new<M: LcmMessage>(message: &M) -> Result<Self> {
        let (mut bytes, mut shared) = (vec![], vec![]);
        write(message, Encoder::sharing(&mut bytes, &mut shared))?;
        Ok(Self {
            bytes: bytes.into(),
            shared,
            whole: OnceLock::new(),
        })
    }
    pub(crate) fn len(&self) -> usize {
        self.parts().len()
    }
    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts {
            bytes: &self.bytes,
            shared: &self.shared,
        }
    }
    /// All bytes in one slice.
    pub(crate) fn as_slice(&self) -> &[u8] {
        if self.shared.is_empty() {
            return &self.bytes;
        }
        self.whole.get_or_init(|| self.parts().to_vec())
    }
    /// [`LcmMessage::check`].
    pub(crate) fn check<M: LcmMessage>(&self) -> Result<()> {
        self.read::<M>(|from| M::skip(1, from, &[]))
    }
    /// [`LcmMessage::decode_from`], without copying long byte arrays.
    pub(crate) fn decode_into<M: LcmMessage>(&self, message: &mut M) -> Result<()> {
        self.read::<M>(|from| message.read(from, &[]))
    }
    fn read<M: LcmMessage>(
        &self,
        mut read: impl FnMut(&mut Decoder<'_>) -> Result<()>,
    ) -> Result<()> {
        let done = whole::<M>(Decoder::sharing(&self.bytes, &self.shared), &mut read);
        if done.is_ok() || self.shared.is_empty() {
            return done;
        }
        // The message may be of another type than it was encoded from. The error must then refer to
        // positions among all bytes.
        whole::<M>(Decoder::new(self.as_slice()), read)
    }
}

/// An encoded message in pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    bytes: &'a [u8],
    shared: &'a [(usize, Bytes)],
}

impl<'a, B: AsRef<[u8]> + ?Sized> From<&'a B> for Parts<'a> {
    fn from(bytes: &'a B) -> Self {
        Self {
            bytes: bytes.as_ref(),
            shared: &[],
        }
    }
}

impl<'a> Parts<'a> {
    pub(crate) fn len(self) -> usize {
        let shared = self.shared.iter().map(|(_, array)| array.len());
        self.bytes.len() + shared.sum::<usize>()
    }
    pub(crate) fn pieces(self) -> Pieces<'a> {
        Pieces {
            left: self,
            position: 0,
            array: &[],
        }
    }
    pub(crate) fn to_vec(self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len());
        self.pieces().for_each(|piece| all.extend_from_slice(piece));
        all
    }
}

/// Iterator over the non-empty pieces of an encoded message, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces<'a> {
    /// Bytes after `position` and `array`.
    left: Parts<'a>,
    position: usize,
    /// Unread rest of an array.
    array: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// The next contiguous bytes, at most `most`.
    pub(crate) fn up_to(&mut self, most: usize) -> Option<&'a [u8]> {
        if most == 0 {
            return None;
        }
        loop {
            if !self.array.is_empty() {
                let (piece, rest) = self.array.split_at(self.array.len().min(most));
                self.array = rest;
                return Some(piece);
            }
            let Parts { bytes, shared } = self.left;
            let start = self.position;
            let end = shared.first().map_or(bytes.len(), |(at, _)| *at);
            if start < end {
                self.position = end.min(start.saturating_add(most));
                return Some(&bytes[start..self.position]);
            }
            let ((_, array), rest) = shared.split_first()?;
            (self.array, self.left.shared) = (array, rest);
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.up_to(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared_arrays::LEAST_SHARED;
    use super::*;
    use crate::transport::datagram::{Datagrams, tests::bytes};
    use crate::types::{LcmtImage, LcmtImageArray, LcmtPoint};
    use crate::{Lcm, LogReader, Subscriber};
    use proptest::prelude::*;
    use std::time::Duration;

    fn image(size: usize) -> LcmtImage {
        LcmtImage {
            data: (0..size).map(|i| (i * i / 7) as u8).collect(),
            ..LcmtImage::default()
        }
    }

    fn array(sizes: &[usize]) -> LcmtImageArray {
        LcmtImageArray {
            images: sizes.iter().map(|size| image(*size)).collect(),
            ..LcmtImageArray::default()
        }
    }

    fn sizes() -> impl Strategy<Value = Vec<usize>> {
        let near = LEAST_SHARED - 1..LEAST_SHARED + 2;
        let size = prop_oneof![0_usize..40, near, 60_000_usize..150_000];
        prop::collection::vec(size, 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pieces_are_the_bytes(sizes in sizes(), most in 1_usize..70_000) {
            let message = array(&sizes);
            let whole = message.encode().unwrap();
            let encoded = Encoded::new(&message).unwrap();
            prop_assert_eq!(encoded.len(), whole.len());
            let long = sizes.iter().filter(|size| **size >= LEAST_SHARED).count();
            prop_assert_eq!(encoded.shared.len(), long);
            let (mut pieces, mut joined) = (encoded.parts().pieces(), vec![]);
            prop_assert!(pieces.up_to(0).is_none());
            while let Some(piece) = pieces.up_to(most) {
                prop_assert!((1..=most).contains(&piece.len()));
                joined.extend_from_slice(piece);
            }
            prop_assert!(joined == whole);
            prop_assert!(encoded.as_slice() == whole);

            let cut = |parts: Parts<'_>| -> Vec<Vec<u8>> {
                let datagrams = Datagrams::new(7, "IMAGES", parts).unwrap();
                datagrams.map(|packet| bytes(&packet)).collect()
            };
            prop_assert!(cut(encoded.parts()) == cut((&whole).into()));
        }

        #[test]
        fn decoded_arrays_share_memory(sizes in sizes()) {
            let message = array(&sizes);
            let together = Encoded::from(message.encode().unwrap());
            for encoded in [Encoded::new(&message).unwrap(), together] {
                encoded.check::<LcmtImageArray>().unwrap();
                // Decodes into other images, and into the same ones.
                let mut read = array(&[9, 5000]);
                for _ in 0..2 {
                    encoded.decode_into(&mut read).unwrap();
                    prop_assert!(read == message);
                }
                prop_assert!(encoded.whole.get().is_none());
                for (read, sent) in read.images.iter().zip(&message.images) {
                    let owned = |range: &Bytes| range.as_ptr_range().contains(&read.data.as_ptr());
                    let is_shared = if encoded.shared.is_empty() {
                        owned(&encoded.bytes)
                    } else {
                        owned(&sent.data)
                    };
                    prop_assert_eq!(is_shared, read.data.len() >= LEAST_SHARED);
                }
            }
        }
    }

    #[test]
    fn errors_refer_to_positions_among_all_bytes() {
        let message = array(&[5000, 6000]);
        let encoded = Encoded::new(&message).unwrap();
        let whole = message.encode().unwrap();
        let of_another = LcmtPoint::decode(&whole).unwrap_err().to_string();
        assert_eq!(
            encoded.check::<LcmtPoint>().unwrap_err().to_string(),
            of_another
        );
        // Other split points than those between members, and none: the same bytes are the same
        // message.
        for at in [0, 3, 8, 200] {
            for len in [0, 1, 100, 8000] {
                let end = at + len;
                let (mut bytes, array) = (whole.clone(), Bytes::from(whole[at..end].to_vec()));
                bytes.drain(at..end);
                let cut = Encoded {
                    bytes: bytes.into(),
                    shared: vec![(at, array)],
                    whole: OnceLock::new(),
                };
                let mut read = LcmtImageArray::default();
                cut.decode_into(&mut read).unwrap();
                assert!(read == message, "{len} bytes at {at}");
                cut.check::<LcmtImageArray>().unwrap();
            }
        }
        // One byte too short, and one too long.
        for (size, what) in [(5999, "are left"), (6001, "1 bytes are left over")] {
            let mut changed = Encoded::new(&message).unwrap();
            changed.shared[1].1 = vec![0; size].into();
            let why = changed
                .decode_into(&mut LcmtImageArray::default())
                .unwrap_err();
            assert!(why.to_string().contains(what), "{why}");
            let flat = LcmtImageArray::check(changed.as_slice()).unwrap_err();
            assert_eq!(why.to_string(), flat.to_string());
        }
    }

    #[test]
    fn buses_carry_all_bytes() {
        let message = array(&[10, 300_000, 5000]);
        let whole = message.encode().unwrap();
        let lcm = Lcm::with_url("memq://").unwrap();
        let heard = Subscriber::<LcmtImageArray>::new(&lcm, "IMAGES").unwrap();
        let (sender, bytes) = std::sync::mpsc::channel();
        let all = lcm.subscribe_all_channels(move |_, bytes| sender.send(bytes.to_vec()).unwrap());
        lcm.publish("IMAGES", &message).unwrap();
        assert_eq!(lcm.handle_subscriptions(Duration::ZERO).unwrap(), 2);
        assert!(bytes.try_recv().unwrap() == whole);
        let last = heard.message().unwrap();
        assert!(last == message);
        let memory = |message: &LcmtImageArray| message.images[1].data.as_ptr();
        assert_eq!(memory(&last), memory(&message));
        drop((all, last, heard));

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("images.lcm");
        let log = Lcm::with_url(&format!("file://{}?mode=w", path.display())).unwrap();
        for _ in 0..2 {
            log.publish("IMAGES", &message).unwrap();
            log.publish("SMALL", &array(&[4096])).unwrap();
        }
        log.flush().unwrap();
        let events = LogReader::open(&path).unwrap();
        let events: Vec<_> = events.collect::<Result<_>>().unwrap();
        assert_eq!(events.len(), 4);
        assert!(events[0].data == whole && events[2].data == whole);
        assert!(events[3].data == array(&[4096]).encode().unwrap());
        // Even while the buses live, they retain nothing of messages that were sent and handled.
        assert!(message.images.iter().all(|image| image.data.is_unique()));
        drop((lcm, log));
    }
}
