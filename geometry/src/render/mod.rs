//! Simulated cameras: images, camera models and render engines.

pub mod appearance;
mod batch;
mod camera;
mod camera_info;
mod cpu;
mod engine;
mod environment;
mod gpu_params;
mod image;
mod light;
mod look_at;
pub mod projection;

pub use self::batch::{BatchTicket, CameraBatch, ImageArray, ImageBatch};
pub use self::camera::{
    ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
};
pub use self::camera_info::CameraInfo;
pub use self::cpu::{RenderEngineCpu, RenderEngineCpuParams};
pub use self::engine::{
    DeformedMesh, RenderEngine, RenderView, accepts_renderer, check_image_size, label_to_register,
};
pub use self::environment::{
    CubeMap, EnvironmentMap, EnvironmentTexture, EquirectangularMap, NullTexture,
};
pub use self::gpu_params::RenderEngineGpuParams;
pub use self::image::{
    Bgr8U, Bgra8U, Depth16U, Depth32F, Grey8U, Image, ImageAny, ImageBgr8U, ImageBgra8U,
    ImageDepth16U, ImageDepth32F, ImageGrey8U, ImageLabel16I, ImageRef, ImageRgb8U, ImageRgba8U,
    Label16I, PixelFormat, PixelScalar, PixelType, Rgb8U, Rgba8U, convert_depth_16u_to_32f,
    convert_depth_32f_to_16u,
};
pub use self::light::{LightFrame, LightParameter, LightType};
pub use self::look_at::{look_at, look_at_box};
