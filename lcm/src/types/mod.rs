//! The message types of Drake, defined with [`lcm_types!`](crate::lcm_types).
//!
//! Names, members and constants are those of Drake's `.lcm` files, so peers in any language
//! understand them.
//!
//! ```
//! use tarragon_lcm::{Lcm, Subscriber, types::LcmtRobotState};
//! let lcm = Lcm::with_url("memq://")?;
//! let states = Subscriber::<LcmtRobotState>::new(&lcm, "ARM_STATE")?;
//! let state = LcmtRobotState {
//!     utime: 1_500_000,
//!     joint_name: vec!["shoulder".into(), "elbow".into()],
//!     joint_position: vec![0.5, -1.0],
//! };
//! lcm.publish("ARM_STATE", &state)?;
//! lcm.handle_subscriptions(std::time::Duration::ZERO)?;
//! assert_eq!(states.message(), Some(state));
//! # Ok::<(), tarragon_lcm::Error>(())
//! ```

mod contact;
mod image;
mod point_cloud;
mod robot;
mod viewer;

pub use contact::*;
pub use image::*;
pub use point_cloud::*;
pub use robot::*;
pub use viewer::*;

#[cfg(test)]
mod tests;
