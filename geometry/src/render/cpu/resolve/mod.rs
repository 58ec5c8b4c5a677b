//! Conversion of drawn tiles into images.
//!
//! `draw` distributes strips of tiles over threads. A pass turns inverse depths and ids into
//! depths, labels or colours. `color_pass` adds the options: translucent layers, the sky, tone
//! mapping.

mod color_pass;
mod depth_and_label;
mod draw;
mod frame_storage;
mod opaque_colors;
mod pass;
mod supersampling;
mod tone;

pub(super) use color_pass::ColorPass;
pub(super) use depth_and_label::{DepthPass, LabelPass};
pub(super) use draw::draw;
pub(super) use frame_storage::FrameStorage;
pub(super) use opaque_colors::OpaqueColors;
pub(super) use pass::Pass;
pub(super) use supersampling::average;
