//! Simulated cameras as systems, and image files.
//!
//! Images and camera models are defined by `tarragon-geometry`, whose render engines fill them, and
//! are re-exported here.

pub mod color_map;
pub mod error;
mod file_name;
mod format_spec;
pub mod image_io;
pub mod image_writer;
pub mod rgbd_sensor;
pub mod video;

pub use error::{Error, Result};
pub use image_io::{
    ImageFileFormat, ImageFilePixel, ImageIo, ImageMetadata, load_image, save_image,
};
pub use image_writer::{ImagePortIndex, ImageWriter, ImageWriterPorts};
pub use rgbd_sensor::{RgbdSensor, RgbdSensorPorts};
pub use tarragon_geometry::render::{
    Bgr8U, Bgra8U, CameraInfo, ClippingRange, ColorRenderCamera, Depth16U, Depth32F, DepthRange,
    DepthRenderCamera, Grey8U, Image, ImageAny, ImageBgr8U, ImageBgra8U, ImageDepth16U,
    ImageDepth32F, ImageGrey8U, ImageLabel16I, ImageRef, ImageRgb8U, ImageRgba8U, Label16I,
    PixelFormat, PixelScalar, PixelType, RenderCameraCore, Rgb8U, Rgba8U, convert_depth_16u_to_32f,
    convert_depth_32f_to_16u,
};
pub use video::{VideoFile, VideoFileFormat, VideoWriter, VideoWriterPorts};
