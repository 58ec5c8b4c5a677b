//! Appearance of visuals before an engine prepares them: materials, textures, lights.
//!
//! Render engines share these, so that the pictures of one equal those of another.

mod cube_sky;
mod environment;
mod environment_light;
mod gamma;
mod placed_lights;
mod split_sum;
mod surface_material;
mod tangents;
mod texture;
mod tone_curve;
mod visual_appearance;

pub use cube_sky::{CubePicture, CubeSky};
pub use environment::{Environment, Sky};
pub use environment_light::{EnvironmentLevel, EnvironmentLight};
pub(crate) use environment_light::{basis, place};
pub use gamma::GAMMA;
pub(crate) use placed_lights::LightList;
pub use placed_lights::{Lights, PlacedLight};
pub use split_sum::SplitSum;
pub use surface_material::{ReflectionModel, SurfaceMaps, SurfaceMaterial};
pub use tangents::is_turned;
#[cfg(test)]
pub(crate) use texture::DecodedImage;
pub use texture::{MipLevel, PlacedTexture, SampledTexture};
pub use tone_curve::ToneCurve;
pub use visual_appearance::{Appearance, MeshAppearance};
