//! Images as LCM messages.
//!
//! Channels of several bytes are sent in little-endian order, as by Drake on its supported
//! machines. The wire formats are:
//!
//! | pixels | `pixel_format` | `channel_type` |
//! |---|---|---|
//! | [`Grey8U`] | `GRAY` | `UINT8` |
//! | [`Rgb8U`], [`Bgr8U`], [`Rgba8U`], [`Bgra8U`] | `RGB`, `BGR`, `RGBA`, `BGRA` | `UINT8` |
//! | [`Depth16U`], [`Depth32F`] | `DEPTH` | `UINT16`, `FLOAT32` |
//! | [`Label16I`] | `LABEL` | `INT16` |
//!
//! [`Grey8U`]: crate::Grey8U
//! [`Rgb8U`]: crate::Rgb8U
//! [`Bgr8U`]: crate::Bgr8U
//! [`Rgba8U`]: crate::Rgba8U
//! [`Bgra8U`]: crate::Bgra8U
//! [`Depth16U`]: crate::Depth16U
//! [`Depth32F`]: crate::Depth32F
//! [`Label16I`]: crate::Label16I

mod decode;
mod deflate;
mod encode;
mod image_to_lcm;
mod inflate;
mod layout;
mod lcm_to_image;

pub use decode::{LcmImagePixel, decode_image};
pub use encode::encode_image;
pub use image_to_lcm::{ImageToLcmImageArrayT, ImageToLcmImageArrayTPorts};
pub use lcm_to_image::{LcmImageArrayToImages, LcmImageArrayToImagesPorts};
