//! Client of a render server: scenes as glTF over HTTP, images back.
//!
//! A visual is encoded when it is registered (`tessellation`, `primitive`, `material`, `visual`). A
//! frame is written as text (`scene`), wrapped in a form (`form`), posted (`server`) and decoded
//! (`reply`).

mod buffer;
mod engine;
mod files;
mod form;
mod json;
mod kind;
mod material;
mod params;
mod primitive;
mod reply;
mod scene;
mod server;
mod tessellation;
mod texture;
mod visual;

pub use self::engine::{RenderEngineGltfClient, make_render_engine_gltf_client};
pub use self::params::RenderEngineGltfClientParams;
