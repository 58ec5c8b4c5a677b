//! Reading the bytes of messages.

use super::wire::Wire;
use crate::error::{Error, Result};

/// How deep messages may be in messages: those of a type that holds itself could exhaust the stack.
const MOST_DEPTH: usize = 64;
/// How many elements of no bytes the arrays of a message may have together: nothing else bounds them.
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
    bytes: &'a [u8],
    position: usize,
    depth: usize,
    /// Elements without bytes so far.
    nothing: usize,
}

impl<'a> Decoder<'a> {
    /// Reads `bytes` from their start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            depth: 0,
            nothing: 0,
        }
    }
    #[cold]
    pub(super) fn wrong(&self, what: impl Into<String>) -> Error {
        Error::invalid(what)
    }
    /// That there are this many bytes.
    pub(super) fn check(&self, count: usize) -> Result<()> {
        let left = self.bytes.len() - self.position;
        if count <= left {
            return Ok(());
        }
        let position = self.position;
        Err(self.wrong(format!(
            "needs {count} bytes at byte {position}, {left} are left"
        )))
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
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        self.check(count)?;
        let start = self.position;
        self.position += count;
        Ok(&self.bytes[start..self.position])
    }
    /// Leaves `count` elements of `size` bytes out.
    pub(super) fn pass(&mut self, count: usize, size: usize) -> Result<()> {
        self.take(count.saturating_mul(size)).map(drop)
    }
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, _) = self.take(N)?.as_chunks();
        Ok(array[0])
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
        match self.bytes.len() - self.position {
            0 => Ok(()),
            left => Err(self.wrong(format!(
                "{left} bytes are left over after the last member, expected none"
            ))),
        }
    }

    /// A struct begins.
    ///
    /// # Errors
    /// If there are too many in each other.
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
    /// If the bytes are not such a value.
    pub fn member<V: Wire>(&mut self, name: &str, value: &mut V, sizes: &[usize]) -> Result<()> {
        let read = value.read(self, sizes);
        read.map_err(|e| Error::invalid(format!("member '{name}' {e}")))
    }
    /// The member `name` of type `V`, checked but not kept.
    ///
    /// # Errors
    /// If the bytes are not such a value.
    pub fn skip<V: Wire>(&mut self, name: &str, sizes: &[usize]) -> Result<()> {
        let skipped = V::skip(1, self, sizes);
        skipped.map_err(|e| Error::invalid(format!("member '{name}' {e}")))
    }
    /// The member `name`, which is the size of others.
    ///
    /// # Errors
    /// If it is negative, or bytes are missing.
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
