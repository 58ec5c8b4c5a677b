//! Simulated cameras: images, camera models and render engines.

mod camera;
mod camera_info;
pub mod cpu;
mod engine;
mod environment;
mod image;
mod label;
mod light;
mod look_at;

pub use camera::{
    ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
};
pub use camera_info::CameraInfo;
pub use cpu::{RenderEngineCpu, RenderEngineCpuParams};
pub use engine::{RenderEngine, RenderView, accepts_renderer, check_image_size};
pub use environment::{EnvironmentMap, EnvironmentTexture, EquirectangularMap, NullTexture};
pub use image::{
    Bgr8U, Bgra8U, Depth16U, Depth32F, Grey8U, Image, ImageAny, ImageBgr8U, ImageBgra8U,
    ImageDepth16U, ImageDepth32F, ImageGrey8U, ImageLabel16I, ImageRef, ImageRgb8U, ImageRgba8U,
    Label16I, PixelFormat, PixelScalar, PixelType, Rgb8U, Rgba8U, convert_depth_16u_to_32f,
    convert_depth_32f_to_16u,
};
pub use label::RenderLabel;
pub use light::{LightFrame, LightParameter, LightType};
pub use look_at::{look_at, look_at_box};
