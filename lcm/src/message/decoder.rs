//! Decoding messages.

use super::refill_bytes;
use super::shared_arrays::LEAST_SHARED;
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;

/// Maximum nesting depth of structs: a type that contains itself could exhaust the stack.
const MOST_DEPTH: usize = 64;
/// Maximum number of zero-size elements in a message's arrays together; the length of the message
/// does not bound it.
const MOST_OF_NOTHING: usize = 1 << 16;

/// Cursor over an encoded message.
///
/// ```
/// use tarragon_lcm::wire::{Decoder, Wire};
/// let mut from = Decoder::new(&[0, 2, 5, 6]);
/// let n = from.size::<i16>("n")?;
/// let mut data: Vec<u8> = vec![];
/// from.member("data", &mut data, &[n])?;
/// assert_eq!(data, [5, 6]);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder<'a> {
    /// Unread bytes up to the next shared array.
    run: &'a [u8],
    bytes: &'a [u8],
    /// End of `run` in `bytes`.
    end: usize,
    /// Owner of `bytes`, if arrays may share its memory.
    owner: Option<&'a Bytes>,
    /// Unread arrays that are stored separately, each with its position in `bytes`; and their total
    /// length (bytes).
    shared: &'a [(usize, Bytes)],
    shared_bytes: usize,
    depth: usize,
    /// Number of zero-size elements so far.
    nothing: usize,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            run: bytes,
            bytes,
            end: bytes.len(),
            owner: None,
            shared: &[],
            shared_bytes: 0,
            depth: 0,
            nothing: 0,
        }
    }
    /// Creates a decoder for `bytes` with the `shared` arrays among them; decoded arrays share
    /// their memory.
    pub(super) fn sharing(bytes: &'a Bytes, shared: &'a [(usize, Bytes)]) -> Self {
        let end = shared.first().map_or(bytes.len(), |(at, _)| *at);
        Self {
            run: &bytes[..end],
            end,
            owner: Some(bytes),
            shared,
            shared_bytes: shared.iter().map(|(_, array)| array.len()).sum(),
            ..Self::new(bytes)
        }
    }
    #[cold]
    pub(super) fn wrong(&self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Parse, what)
    }
    /// Number of unread bytes, shared arrays included.
    fn left(&self) -> usize {
        self.run.len() + (self.bytes.len() - self.end) + self.shared_bytes
    }
    #[cold]
    fn missing(&self, count: usize) -> Error {
        let (position, left) = (self.end - self.run.len(), self.left());
        self.wrong(format!(
            "needs {count} bytes at byte {position}, {left} are left"
        ))
    }
    /// Checks that `count` bytes are left.
    pub(super) fn check(&self, count: usize) -> Result<()> {
        if count <= self.left() {
            Ok(())
        } else {
            Err(self.missing(count))
        }
    }
    /// Charges `count` zero-size elements against the message limit.
    pub(super) fn nothing(&mut self, count: usize) -> Result<()> {
        self.nothing = self.nothing.saturating_add(count);
        if self.nothing <= MOST_OF_NOTHING {
            return Ok(());
        }
        Err(self.wrong(format!(
            "must have at most {MOST_OF_NOTHING} zero-size elements with those before it, got {}",
            self.nothing
        )))
    }
    /// Takes `count` bytes, which must come before the next shared array.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self
            .run
            .split_at_checked(count)
            .ok_or_else(|| self.missing(count))?;
        self.run = rest;
        Ok(bytes)
    }
    /// Takes the next array if it has `count` bytes and is stored separately.
    fn take_shared(&mut self, count: usize) -> Option<&'a Bytes> {
        let ((_, array), rest) = self.shared.split_first()?;
        if !self.run.is_empty() || array.len() != count {
            return None;
        }
        let start = self.end;
        self.end = rest.first().map_or(self.bytes.len(), |(at, _)| *at);
        self.run = &self.bytes[start..self.end];
        self.shared = rest;
        self.shared_bytes -= count;
        Some(array)
    }
    /// Replaces `array` by the next `count` bytes, sharing memory where possible.
    pub(super) fn byte_array(&mut self, count: usize, array: &mut Bytes) -> Result<()> {
        if let Some(shared) = self.take_shared(count) {
            array.clone_from(shared);
            return Ok(());
        }
        let bytes = self.take(count)?;
        match self.owner {
            Some(owner) if count >= LEAST_SHARED => *array = owner.slice_ref(bytes),
            _ => refill_bytes(array, |array| array.extend_from_slice(bytes)),
        }
        Ok(())
    }
    /// Skips an array of `count` bytes.
    pub(super) fn pass_byte_array(&mut self, count: usize) -> Result<()> {
        match self.take_shared(count) {
            Some(_) => Ok(()),
            None => self.pass(count, 1),
        }
    }
    /// Skips `count` elements of `size` bytes.
    pub(super) fn pass(&mut self, count: usize, size: usize) -> Result<()> {
        self.take(count.saturating_mul(size)).map(drop)
    }
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self
            .run
            .split_first_chunk()
            .ok_or_else(|| self.missing(N))?;
        self.run = rest;
        Ok(*array)
    }

    pub(super) fn fingerprint(&mut self, expected: u64) -> Result<()> {
        let found = self.array().map(u64::from_be_bytes);
        let found = found.map_err(|e| e.at("the fingerprint"))?;
        if found == expected {
            return Ok(());
        }
        Err(self.wrong(format!(
            "the fingerprint must be {expected:016x}, got {found:016x}; the sender uses another type, or another \
             version of it"
        )))
    }
    pub(super) fn finish(&self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => Err(self.wrong(format!("{left} bytes are left over after the last member"))),
        }
    }

    /// Enters a struct.
    ///
    /// # Errors
    /// Returns an error if structs are nested too deeply.
    pub fn enter(&mut self, name: &str) -> Result<()> {
        if self.depth == MOST_DEPTH {
            return Err(self.wrong(format!(
                "{name} must be nested in fewer than {MOST_DEPTH} structs"
            )));
        }
        self.depth += 1;
        Ok(())
    }
    /// Leaves a struct.
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
