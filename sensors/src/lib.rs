//! Simulated cameras and sensors of model files as systems, and image files.
//!
//! Images and camera models are defined by `tarragon-geometry`, whose render engines fill them, and
//! are re-exported here.

mod cameras;
mod gltf_client;
mod images;
mod lcm;
mod model_sensors;
mod point_cloud;
mod rotary_encoders;

pub use cameras::config::{
    AppliedCamera, CameraConfig, CameraConnections, CameraSensor, Focal, GltfExtension,
    RenderEngineGlParams, RenderEngineVtkParams, RendererClass, Rotation, SsaoParameter, Transform,
    add_camera_renderers, add_camera_renderers_with_environment, apply_camera_config,
    apply_camera_config_with, make_render_engine_gl, make_render_engine_vtk,
};
pub use cameras::rgbd_sensor::{RgbdSensor, RgbdSensorPorts};
pub use cameras::rgbd_sensor_async::{
    RgbdSensorAsync, RgbdSensorAsyncConfig, RgbdSensorAsyncPorts,
};
pub use cameras::rgbd_sensor_discrete::{RgbdSensorDiscrete, RgbdSensorDiscretePorts};
pub use gltf_client::{
    RenderEngineGltfClient, RenderEngineGltfClientParams, make_render_engine_gltf_client,
};
pub use images::color_map;
pub use images::io::{
    ImageFileFormat, ImageFilePixel, ImageIo, ImageMetadata, load_image, save_image,
};
pub use images::video::{VideoFile, VideoFileFormat, VideoWriter, VideoWriterPorts};
pub use images::writer::{ImagePortIndex, ImageWriter, ImageWriterPorts};
pub use lcm::image::{
    ImageToLcmImageArrayT, ImageToLcmImageArrayTPorts, LcmImageArrayToImages,
    LcmImageArrayToImagesPorts, LcmImagePixel, decode_image, encode_image,
};
pub use lcm::point_cloud::{
    LcmToPointCloud, LcmToPointCloudPorts, PointCloudToLcm, PointCloudToLcmPorts,
    decode_point_cloud, encode_point_cloud,
};
pub use model_sensors::{
    MeasuredSensor, ModelSensors, ModelSensorsPorts, UnmeasuredSensor, add_sensors_from_model,
};
pub use point_cloud::from_depth_image::{
    DepthImageToPointCloud, DepthImageToPointCloudPorts, DepthPixel,
};
pub use point_cloud::{
    BaseField, DescriptorType, Fields, PointCloud, PointCloudEncoding, PointCloudFileFormat,
    load_point_cloud, parse_point_cloud, save_point_cloud,
};
pub use rotary_encoders::{RotaryEncoders, RotaryEncodersPorts};
pub use tarragon_framework::{Error, ErrorKind, Result};
pub use tarragon_geometry::render::{
    Bgr8U, Bgra8U, CameraInfo, ClippingRange, ColorRenderCamera, CubeMap, Depth16U, Depth32F,
    DepthRange, DepthRenderCamera, EnvironmentMap, EnvironmentTexture, EquirectangularMap, Grey8U,
    Image, ImageAny, ImageBgr8U, ImageBgra8U, ImageDepth16U, ImageDepth32F, ImageGrey8U,
    ImageLabel16I, ImageRef, ImageRgb8U, ImageRgba8U, Label16I, NullTexture, PixelFormat,
    PixelScalar, PixelType, RenderCameraCore, Rgb8U, Rgba8U, convert_depth_16u_to_32f,
    convert_depth_32f_to_16u,
};
