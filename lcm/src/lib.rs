//! LCM (Lightweight Communications and Marshalling): messages between the processes of a lab, in pure Rust.

pub mod error;
pub mod statistics;
mod transport;

pub use error::{Error, Result};
pub use statistics::LcmStatistics;

mod log;
pub use log::{LogEvent, LogReader, LogWriter};
