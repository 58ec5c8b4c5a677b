//! LCM (Lightweight Communications and Marshalling): messages between the processes of a lab, in
//! pure Rust.

// The expansion of `lcm_types!` refers to this crate by name.
extern crate self as tarragon_lcm;

mod bus;
mod inbox;
mod log;
mod log_bus;
mod message;
mod statistics;
mod subscriber;
mod systems;
mod transport;
pub mod types;

pub use bus::{Lcm, LcmParams};
pub use bytes::Bytes;
pub use inbox::Subscription;
pub use log::{LogEvent, LogReader, LogWriter};
pub use log_bus::LcmLog;
pub use message::{LcmMessage, refill_bytes, wire};
pub use statistics::LcmStatistics;
pub use subscriber::Subscriber;
pub use systems::buses::LcmBuses;
pub use systems::interface::{LcmInterfaceSystem, apply_lcm_bus_config};
pub use systems::playback::LcmLogPlaybackSystem;
pub use systems::publisher::{LcmPublisherSystem, LcmPublisherSystemPorts};
pub use systems::scope::{LcmScopeSystem, LcmScopeSystemPorts};
pub use systems::subscriber::{LcmSubscriberSystem, LcmSubscriberSystemPorts};
pub use tarragon_framework::{Error, ErrorKind, Result};

/// Entry points for fuzzing; not part of the API.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Feeds bytes to reassembly as datagrams of a few senders.
    pub fn datagrams(bytes: &[u8]) {
        crate::transport::reassembly::fuzz(bytes);
    }
    /// Reads bytes as a log file.
    pub fn log(bytes: &[u8]) {
        crate::log::fuzz(bytes);
    }
}
