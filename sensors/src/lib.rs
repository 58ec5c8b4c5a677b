//! Simulated cameras as systems, and image files.
//!
//! Images and camera models are defined by `tarragon-geometry`, whose render engines fill them, and
//! are re-exported here.

pub mod camera_config;
pub mod color_map;
pub mod depth_image_to_point_cloud;
mod file_name;
mod format_spec;
pub mod image_io;
pub mod image_writer;
pub mod lcm_image;
pub mod point_cloud;
mod render_job;
pub mod rgbd_sensor;
pub mod rgbd_sensor_async;
pub mod rgbd_sensor_discrete;
pub mod rotary_encoders;
pub mod video;

pub use camera_config::{
    AppliedCamera, CameraConfig, CameraConnections, CameraSensor, Focal, GltfExtension,
    RenderEngineGlParams, RenderEngineGltfClientParams, RenderEngineVtkParams, RendererClass,
    Rotation, SsaoParameter, Transform, add_camera_renderers, apply_camera_config,
    make_render_engine_gl, make_render_engine_vtk,
};
pub use depth_image_to_point_cloud::{
    DepthImageToPointCloud, DepthImageToPointCloudPorts, DepthPixel,
};
pub use image_io::{
    ImageFileFormat, ImageFilePixel, ImageIo, ImageMetadata, load_image, save_image,
};
pub use image_writer::{ImagePortIndex, ImageWriter, ImageWriterPorts};
pub use lcm_image::{
    ImageToLcmImageArrayT, ImageToLcmImageArrayTPorts, LcmImageArrayToImages,
    LcmImageArrayToImagesPorts, LcmImagePixel, decode_image, encode_image,
};
pub use point_cloud::{
    BaseField, DescriptorType, Fields, LcmToPointCloud, LcmToPointCloudPorts, PointCloud,
    PointCloudEncoding, PointCloudFileFormat, PointCloudToLcm, PointCloudToLcmPorts,
    decode_point_cloud, encode_point_cloud, load_point_cloud, parse_point_cloud, save_point_cloud,
};
pub use rgbd_sensor::{RgbdSensor, RgbdSensorPorts};
pub use rgbd_sensor_async::{RgbdSensorAsync, RgbdSensorAsyncConfig, RgbdSensorAsyncPorts};
pub use rgbd_sensor_discrete::{RgbdSensorDiscrete, RgbdSensorDiscretePorts};
pub use rotary_encoders::{RotaryEncoders, RotaryEncodersPorts};
pub use tarragon_framework::{Error, ErrorKind, Result};
pub use tarragon_geometry::render::{
    Bgr8U, Bgra8U, CameraInfo, ClippingRange, ColorRenderCamera, Depth16U, Depth32F, DepthRange,
    DepthRenderCamera, EnvironmentMap, EnvironmentTexture, EquirectangularMap, Grey8U, Image,
    ImageAny, ImageBgr8U, ImageBgra8U, ImageDepth16U, ImageDepth32F, ImageGrey8U, ImageLabel16I,
    ImageRef, ImageRgb8U, ImageRgba8U, Label16I, NullTexture, PixelFormat, PixelScalar, PixelType,
    RenderCameraCore, Rgb8U, Rgba8U, convert_depth_16u_to_32f, convert_depth_32f_to_16u,
};
pub use video::{VideoFile, VideoFileFormat, VideoWriter, VideoWriterPorts};
