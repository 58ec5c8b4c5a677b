//! Reading the bytes of messages.

use super::encoded::LEAST_SHARED;
use super::refill;
use super::wire::Wire;
use crate::error::{Error, Result};
use bytes::Bytes;

/// How deep messages may be in messages: those of a type that holds itself could exhaust the stack.
const MOST_DEPTH: usize = 64;
/// How many elements of no bytes the arrays of a message may have together: nothing else bounds
/// them.
const MOST_OF_NOTHING: usize = 1 << 16;

/// Where a message is read from.
///
/// ```
/// use tarragon_lcm::message::wire::{Decoder, Wire};
/// let mut from = Decoder::new(&[0, 2, 5, 6]);
/// let n = from.size::<i16>("n")?;
/// let mut data: Vec<u8> = vec![];
/// from.member("data", &mut data, &[n])?;
/// assert_eq!(data, [5, 6]);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder<'a> {
    /// What comes next, up to the next shared array.
    run: &'a [u8],
    bytes: &'a [u8],
    /// Where the run ends in `bytes`.
    end: usize,
    /// What `bytes` are, where arrays may share them.
    owner: Option<&'a Bytes>,
    /// Arrays that are not among the bytes, from the next one on, and how many bytes they have
    /// together.
    shared: &'a [(usize, Bytes)],
    shared_bytes: usize,
    depth: usize,
    /// Elements without bytes so far.
    nothing: usize,
}

impl<'a> Decoder<'a> {
    /// Reads `bytes` from their start.
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
    /// Reads `bytes` with `shared` among them; arrays that are read share their memory.
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
        Error::invalid(what)
    }
    /// Bytes that are left, all of them.
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
    /// That there are this many bytes.
    pub(super) fn check(&self, count: usize) -> Result<()> {
        match count <= self.left() {
            true => Ok(()),
            false => Err(self.missing(count)),
        }
    }
    /// That there may be so many more elements of no bytes.
    pub(super) fn nothing(&mut self, count: usize) -> Result<()> {
        self.nothing = self.nothing.saturating_add(count);
        if self.nothing <= MOST_OF_NOTHING {
            return Ok(());
        }
        Err(self.wrong(format!(
            "makes {} elements without a byte, expected at most {MOST_OF_NOTHING} in a message",
            self.nothing
        )))
    }
    /// The next bytes, if so many come before the next shared array.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self
            .run
            .split_at_checked(count)
            .ok_or_else(|| self.missing(count))?;
        self.run = rest;
        Ok(bytes)
    }
    /// The array that comes next, if it is one of so many bytes that is not among the others.
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
    /// Replaces `array` by so many bytes, without a copy where they can be shared.
    pub(super) fn byte_array(&mut self, count: usize, array: &mut Bytes) -> Result<()> {
        if let Some(shared) = self.take_shared(count) {
            array.clone_from(shared);
            return Ok(());
        }
        let bytes = self.take(count)?;
        match self.owner {
            Some(owner) if count >= LEAST_SHARED => *array = owner.slice_ref(bytes),
            _ => refill(array, |array| array.extend_from_slice(bytes)),
        }
        Ok(())
    }
    /// Leaves an array of so many bytes out.
    pub(super) fn pass_byte_array(&mut self, count: usize) -> Result<()> {
        match self.take_shared(count) {
            Some(_) => Ok(()),
            None => self.pass(count, 1),
        }
    }
    /// Leaves `count` elements of `size` bytes out.
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
        let found = found.map_err(|e| Error::invalid(format!("the fingerprint {e}")))?;
        if found == expected {
            return Ok(());
        }
        Err(self.wrong(format!(
            "the fingerprint is {found:016x}, expected {expected:016x}; the sender has another type, or another \
             version of it"
        )))
    }
    pub(super) fn finish(&self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => Err(self.wrong(format!(
                "{left} bytes are left over after the last member, expected none"
            ))),
        }
    }

    /// A struct begins.
    ///
    /// # Errors
    /// Returns an error if there are too many in each other.
    pub fn enter(&mut self, name: &str) -> Result<()> {
        if self.depth == MOST_DEPTH {
            return Err(self.wrong(format!(
                "{name} is {MOST_DEPTH} structs deep, expected less"
            )));
        }
        self.depth += 1;
        Ok(())
    }
    /// A struct ends.
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
    /// The member `name`.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a value.
    pub fn member<V: Wire>(&mut self, name: &str, value: &mut V, sizes: &[usize]) -> Result<()> {
        let read = value.read(self, sizes);
        read.map_err(|e| Error::invalid(format!("member '{name}' {e}")))
    }
    /// The member `name` of type `V`, checked but not kept.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a value.
    pub fn skip<V: Wire>(&mut self, name: &str, sizes: &[usize]) -> Result<()> {
        let skipped = V::skip(1, self, sizes);
        skipped.map_err(|e| Error::invalid(format!("member '{name}' {e}")))
    }
    /// The member `name`, which is the size of others.
    ///
    /// # Errors
    /// Returns an error if it is negative, or bytes are missing.
    pub fn size<I>(&mut self, name: &str) -> Result<usize>
    where
        I: Wire + Copy + Into<i64>,
    {
        let mut size = I::zero();
        self.member(name, &mut size, &[])?;
        let size: i64 = size.into();
        usize::try_from(size).map_err(|_| {
            self.wrong(format!(
                "member '{name}' is {size}, expected a length of at least 0"
            ))
        })
    }
}
