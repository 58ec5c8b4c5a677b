//! How messages get from one process to another: URLs, datagrams, sockets, logs that are played back.

pub(crate) mod datagram;
mod numbering;
pub(crate) mod playback;
pub(crate) mod reassembly;
pub(crate) mod udpm;
pub(crate) mod url;

/// The longest message that is taken from a network or a file (bytes): what somebody else claims must not
/// decide how much memory is used.
pub(crate) const MAX_MESSAGE: usize = 256 << 20;

#[cfg(test)]
mod capture;

#[cfg(test)]
mod allocations;
