//! Pinhole projection of poses, shapes and boxes, shared by render engines.

mod bounds;
mod pixels;
mod pose;

pub use bounds::{ImageBounds, PixelRect, box_corners, shape_bounds};
pub use pixels::Pixels;
pub(crate) use pixels::{LinearFunction, QuadraticFunction};
pub use pose::PoseInCamera;
