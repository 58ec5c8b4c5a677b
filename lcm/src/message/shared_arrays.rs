//! Long byte arrays, stored separately from the other bytes of an encoded message.

use bytes::Bytes;

/// Shortest array that is shared (bytes). Copying a shorter one costs less than another piece of a
/// datagram, and than keeping a long message alive for a short array.
pub(super) const LEAST_SHARED: usize = 4096;

/// Arrays stored separately, in order, each with the number of other bytes that precede it.
pub(super) type SharedArrays = Vec<(usize, Bytes)>;
