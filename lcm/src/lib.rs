//! LCM (Lightweight Communications and Marshalling): messages between the processes of a lab, in pure Rust.

pub mod error;
pub mod statistics;
mod transport;

pub use error::{Error, Result};
pub use statistics::LcmStatistics;

mod log;
pub use log::{LogEvent, LogReader, LogWriter};

/// What fuzzing calls: not part of the API.
#[doc(hidden)]
pub mod fuzzing {
    /// Takes bytes for datagrams of a few senders.
    pub fn datagrams(bytes: &[u8]) {
        crate::transport::reassembly::fuzz(bytes);
    }
    /// Takes bytes for a log file.
    pub fn log(bytes: &[u8]) {
        crate::log::fuzz(bytes);
    }
}
