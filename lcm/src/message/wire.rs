//! Encodings of the types that [`lcm_types!`](crate::lcm_types) supports. Used by its expansion,
//! not meant for use by hand.

pub use super::decoder::Decoder;
pub use super::encoder::Encoder;
#[doc(hidden)]
pub use tarragon_lcm_macros::lcm_types_in;

use crate::{Error, LcmMessage, Result};
use bytes::Bytes;
use std::any::TypeId;

/// A value that can be part of a message. `sizes` are the lengths of the nested `Vec`s and `Bytes`,
/// from the outside in.
///
/// ```
/// use tarragon_lcm::wire::Wire;
/// assert_eq!(<[f32; 3] as Wire>::MIN, 12);
/// assert_eq!(vec![[0.0_f32; 3]; 5].size(0), Some(5));
/// ```
pub trait Wire: Sized {
    /// Minimum length of the encoding (bytes).
    const MIN: usize;
    /// Default value of a member.
    fn zero() -> Self;
    /// Appends the value's encoding.
    ///
    /// # Errors
    /// Returns an error if the length of an array differs from `sizes`.
    fn write(&self, out: &mut Encoder<'_>, sizes: &[usize]) -> Result<()>;
    /// Decodes the next value.
    ///
    /// # Errors
    /// Returns an error if the bytes do not encode such a value.
    fn read(&mut self, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()>;
    /// Skips `count` values, checking their bytes.
    ///
    /// # Errors
    /// Same as [`Wire::read`].
    fn skip(count: usize, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()>;

    /// Minimum length of the encoding (bytes) for these sizes.
    fn least(_sizes: &[usize]) -> usize {
        Self::MIN
    }
    /// Length of the `Vec` or `Bytes` at nesting depth `depth`; of the first one if there are
    /// several.
    fn size(&self, _depth: usize) -> Option<usize> {
        None
    }
    /// [`Wire::write`] for a slice.
    ///
    /// # Errors
    /// Same as [`Wire::write`].
    fn write_all(all: &[Self], out: &mut Encoder<'_>, sizes: &[usize]) -> Result<()> {
        all.iter().try_for_each(|one| one.write(out, sizes))
    }
    /// [`Wire::read`] for a slice.
    ///
    /// # Errors
    /// Same as [`Wire::read`].
    fn read_all(all: &mut [Self], from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        all.iter_mut().try_for_each(|one| one.read(from, sizes))
    }
    /// Replaces `all` by `size` decoded values; the caller has checked that enough bytes are left.
    ///
    /// # Errors
    /// Same as [`Wire::read`].
    fn read_vec(
        all: &mut Vec<Self>,
        size: usize,
        from: &mut Decoder<'_>,
        sizes: &[usize],
    ) -> Result<()> {
        all.resize_with(size, Self::zero);
        Self::read_all(all, from, sizes)
    }
}

impl Encoder<'_> {
    /// Writes the member `name`.
    ///
    /// # Errors
    /// Returns an error if the length of an array differs from `sizes`.
    pub fn member<V: Wire>(&mut self, name: &str, value: &V, sizes: &[usize]) -> Result<()> {
        let written = value.write(self, sizes);
        written.map_err(|e| e.at(format!("member '{name}'")))
    }
    /// Writes the member `name`, which is the size of other members, as an integer `I`.
    ///
    /// # Errors
    /// Returns an error if `I` cannot hold the size.
    pub fn size<I: Wire + TryFrom<usize>>(&mut self, name: &str, size: usize) -> Result<()> {
        let Ok(integer) = I::try_from(size) else {
            return Err(Error::invalid(format!(
                "member '{name}' is the length {size}, which does not fit into {} bits",
                8 * I::MIN
            )));
        };
        integer.write(self, &[])
    }
}

impl Decoder<'_> {
    /// Reads the member `name` into `value`.
    ///
    /// # Errors
    /// Returns an error if the bytes do not encode such a value.
    pub fn member<V: Wire>(&mut self, name: &str, value: &mut V, sizes: &[usize]) -> Result<()> {
        let read = value.read(self, sizes);
        read.map_err(|e| e.at(format!("member '{name}'")))
    }
    /// Skips the member `name` of type `V`, checking its bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes do not encode such a value.
    pub fn skip<V: Wire>(&mut self, name: &str, sizes: &[usize]) -> Result<()> {
        let skipped = V::skip(1, self, sizes);
        skipped.map_err(|e| e.at(format!("member '{name}'")))
    }
    /// Reads the member `name`, which is the size of other members.
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
                "member '{name}' is a length and must be at least 0, got {size}"
            ))
        })
    }
}

/// Numbers whose encoding is big-endian.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Wire for $number {
            const MIN: usize = size_of::<$number>();
            fn zero() -> Self {
                Self::default()
            }
            fn write(&self, out: &mut Encoder<'_>, _: &[usize]) -> Result<()> {
                out.bytes(&self.to_be_bytes());
                Ok(())
            }
            fn read(&mut self, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
                *self = Self::from_be_bytes(from.array()?);
                Ok(())
            }
            fn skip(count: usize, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
                from.pass(count, size_of::<$number>())
            }
            fn write_all(all: &[Self], out: &mut Encoder<'_>, _: &[usize]) -> Result<()> {
                let to = out.room(size_of_val(all));
                for (to, number) in to.as_chunks_mut().0.iter_mut().zip(all) {
                    *to = number.to_be_bytes();
                }
                Ok(())
            }
            fn read_all(all: &mut [Self], from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
                let bytes = from.take(size_of_val(all))?;
                for (number, bytes) in all.iter_mut().zip(bytes.as_chunks().0) {
                    *number = Self::from_be_bytes(*bytes);
                }
                Ok(())
            }
            fn read_vec(
                all: &mut Vec<Self>,
                size: usize,
                from: &mut Decoder<'_>,
                _: &[usize],
            ) -> Result<()> {
                let bytes = from.take(size * size_of::<$number>())?.as_chunks().0;
                all.clear();
                all.extend(bytes.iter().map(|bytes| Self::from_be_bytes(*bytes)));
                Ok(())
            }
        }
    )*};
}
numbers! { i8 i16 i32 i64 f32 f64 }

impl Wire for u8 {
    const MIN: usize = 1;
    fn zero() -> Self {
        0
    }
    fn write(&self, out: &mut Encoder<'_>, _: &[usize]) -> Result<()> {
        out.bytes(&[*self]);
        Ok(())
    }
    fn read(&mut self, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        [*self] = from.array()?;
        Ok(())
    }
    fn skip(count: usize, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        from.pass(count, 1)
    }
    fn write_all(all: &[Self], out: &mut Encoder<'_>, _: &[usize]) -> Result<()> {
        out.bytes(all);
        Ok(())
    }
    fn read_all(all: &mut [Self], from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        all.copy_from_slice(from.take(all.len())?);
        Ok(())
    }
}

impl Wire for bool {
    const MIN: usize = 1;
    fn zero() -> Self {
        false
    }
    fn write(&self, out: &mut Encoder<'_>, _: &[usize]) -> Result<()> {
        out.bytes(&[(*self).into()]);
        Ok(())
    }
    fn read(&mut self, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        *self = from.array()? != [0];
        Ok(())
    }
    fn skip(count: usize, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        from.pass(count, 1)
    }
}

/// A string: its length with the terminating NUL, its bytes, and the NUL.
impl Wire for String {
    const MIN: usize = 5;
    fn zero() -> Self {
        Self::new()
    }
    fn write(&self, out: &mut Encoder<'_>, _: &[usize]) -> Result<()> {
        let length = u32::try_from(self.len() + 1)
            .map_err(|_| Error::invalid("must hold strings shorter than 4 GiB"))?;
        out.bytes(&length.to_be_bytes());
        out.bytes(self.as_bytes());
        out.bytes(&[0]);
        Ok(())
    }
    fn read(&mut self, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        let text = bytes_of_string(from)?;
        // Names usually stay the same from message to message, so equal text is not copied.
        if self.as_bytes() != text {
            self.clear();
            self.push_str(utf8(text, from)?);
        }
        Ok(())
    }
    fn skip(count: usize, from: &mut Decoder<'_>, _: &[usize]) -> Result<()> {
        for _ in 0..count {
            let text = bytes_of_string(from)?;
            if !text.is_ascii() {
                utf8(text, from)?;
            }
        }
        Ok(())
    }
}

/// Reads a string's bytes, without the NUL at its end.
fn bytes_of_string<'a>(from: &mut Decoder<'a>) -> Result<&'a [u8]> {
    let length = u32::from_be_bytes(from.array()?);
    match from.take(length as usize)?.split_last() {
        Some((0, text)) => Ok(text),
        _ => Err(from.wrong("has a string that does not end in a zero byte")),
    }
}

fn utf8<'a>(text: &'a [u8], from: &Decoder<'_>) -> Result<&'a str> {
    let wrong = |e| from.wrong("has a string that is not UTF-8").with_cause(e);
    str::from_utf8(text).map_err(wrong)
}

impl<V: Wire, const N: usize> Wire for [V; N] {
    const MIN: usize = N * V::MIN;
    fn zero() -> Self {
        std::array::from_fn(|_| V::zero())
    }
    fn write(&self, out: &mut Encoder<'_>, sizes: &[usize]) -> Result<()> {
        V::write_all(self, out, sizes)
    }
    fn read(&mut self, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        V::read_all(self, from, sizes)
    }
    fn skip(count: usize, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        V::skip(count.saturating_mul(N), from, sizes)
    }
    fn least(sizes: &[usize]) -> usize {
        V::least(sizes).saturating_mul(N)
    }
    fn size(&self, depth: usize) -> Option<usize> {
        self.first()?.size(depth)
    }
    fn write_all(all: &[Self], out: &mut Encoder<'_>, sizes: &[usize]) -> Result<()> {
        V::write_all(all.as_flattened(), out, sizes)
    }
    fn read_all(all: &mut [Self], from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        V::read_all(all.as_flattened_mut(), from, sizes)
    }
}

impl<V: Wire> Wire for Vec<V> {
    const MIN: usize = 0;
    fn zero() -> Self {
        Self::new()
    }
    fn write(&self, out: &mut Encoder<'_>, sizes: &[usize]) -> Result<()> {
        let (size, sizes) = split(sizes);
        check_length(self.len(), size)?;
        V::write_all(self, out, sizes)
    }
    fn read(&mut self, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        let (size, sizes) = split(sizes);
        // Checked before memory is allocated.
        check_room::<V>(size, from, sizes)?;
        V::read_vec(self, size, from, sizes)
    }
    fn skip(count: usize, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        let (size, sizes) = split(sizes);
        for _ in 0..count {
            check_room::<V>(size, from, sizes)?;
            V::skip(size, from, sizes)?;
        }
        Ok(())
    }
    fn least(sizes: &[usize]) -> usize {
        let (size, sizes) = split(sizes);
        V::least(sizes).saturating_mul(size)
    }
    fn size(&self, depth: usize) -> Option<usize> {
        match depth.checked_sub(1) {
            None => Some(self.len()),
            Some(depth) => self.first()?.size(depth),
        }
    }
}

/// Raw bytes; decoded bytes may share the memory of the message.
impl Wire for Bytes {
    const MIN: usize = 0;
    fn zero() -> Self {
        Self::new()
    }
    fn write(&self, out: &mut Encoder<'_>, sizes: &[usize]) -> Result<()> {
        check_length(self.len(), split(sizes).0)?;
        out.byte_array(self);
        Ok(())
    }
    fn read(&mut self, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        from.byte_array(split(sizes).0, self)
    }
    fn skip(count: usize, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
        let (size, _) = split(sizes);
        // For zero-size elements, only their count tells how many there are.
        if size == 0 {
            return Ok(());
        }
        (0..count).try_for_each(|_| from.pass_byte_array(size))
    }
    fn least(sizes: &[usize]) -> usize {
        split(sizes).0
    }
    fn size(&self, depth: usize) -> Option<usize> {
        (depth == 0).then_some(self.len())
    }
}

/// Checks that members with a common size have the same length.
fn check_length(found: usize, size: usize) -> Result<()> {
    if found == size {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "must have the same length as an earlier member of the same size, {size}, got {found}"
    )))
}

/// Checks that enough bytes are left for `size` elements, or that zero-size elements stay within
/// their limit.
fn check_room<V: Wire>(size: usize, from: &mut Decoder<'_>, sizes: &[usize]) -> Result<()> {
    let least = V::least(sizes);
    from.check(size.saturating_mul(least))?;
    match least {
        0 => from.nothing(size),
        _ => Ok(()),
    }
}

/// Splits off the size of a `Vec` from the sizes of its elements. The macro passes one size per
/// nested `Vec`.
fn split(sizes: &[usize]) -> (usize, &[usize]) {
    sizes
        .split_first()
        .map_or((0, sizes), |(size, sizes)| (*size, sizes))
}

/// The first known size: an empty array does not know the sizes of its elements.
pub fn first_size(sizes: &[Option<usize>]) -> usize {
    sizes.iter().flatten().next().copied().unwrap_or(0)
}

/// The chain of types being hashed, from the outermost to the current one.
///
/// ```
/// use tarragon_lcm::{LcmMessage, wire::Parents, types::LcmtPoint};
/// assert_eq!(LcmtPoint::hash(Parents::none()), LcmtPoint::fingerprint());
/// ```
#[derive(Clone, Copy)]
pub struct Parents<'a>(Option<&'a (TypeId, Parents<'a>)>);

impl Parents<'_> {
    /// The empty chain.
    pub const fn none() -> Self {
        Self(None)
    }
    /// Hashes `M` from its members inside the chain; zero if `M` is already in it.
    pub fn enter<M: LcmMessage>(self, hash: impl FnOnce(Parents<'_>) -> u64) -> u64 {
        let id = TypeId::of::<M>();
        let mut above = self;
        while let Some((parent, next)) = above.0 {
            if *parent == id {
                return 0;
            }
            above = *next;
        }
        hash(Parents(Some(&(id, self))))
    }
}
