//! Pinhole projection of poses, shapes and boxes, shared by render engines.

mod bounds;
mod pixels;
mod pose;
mod rect;

pub use bounds::{ImageBounds, box_corners, shape_bounds};
pub use pixels::Pixels;
pub(crate) use pixels::{LinearFunction, QuadraticFunction};
pub use pose::PoseInCamera;
pub use rect::PixelRect;
