//! A server of Drake's glTF render protocol.
//!
//! A client, such as Drake's `RenderEngineGltfClient`, posts one glTF scene with a camera for each
//! image and receives a PNG or TIFF file. [`RenderServer`] draws with any
//! [`RenderEngine`](tarragon_geometry::render::RenderEngine).
//!
//! Scenes are as Drake 1.51 sends them, or any self-contained glTF 2.0 document with a camera:
//! * Nodes below a node named `Renderer Node` are matt, and their colours are screen colours, as
//!   Drake writes them. Other nodes follow glTF's metallic-roughness model.
//! * Meshes without normals below `Renderer Node` get smooth ones, except across edges where the
//!   sender split vertices.
//! * Spheres, ellipsoids, capsules, cylinders, boxes and half spaces in the tessellation of Drake
//!   are drawn exactly.
//! * Opacity counts only if the material has an `alphaMode`; Drake sends none, so its scenes are
//!   opaque.
//! * Lights, background and environment are those of the engine, because the protocol has none.
//!
//! Not supported: files outside of the document, sparse accessors, required extensions, skins,
//! morph targets and cameras other than perspective ones (whose projection is that of the form).

mod draw;
mod form;
mod http;
mod keeper;
mod listen;
mod params;
mod refusal;
mod scene;
mod server;
mod shared;
mod stats;

pub use params::RenderServerParams;
pub use server::RenderServer;
pub use stats::RenderServerStats;
pub use tarragon_framework::{Error, ErrorKind, Result};

/// Entry points for fuzzing; not part of the API.
#[cfg(fuzzing)]
pub mod fuzzing {
    use crate::form::Form;
    use crate::scene::{Drawable, Part, Scene};
    use bytes::Bytes;
    use http_body_util::{BodyDataStream, Full};

    /// Reads bytes as the body of a request with the boundary `X`, and the meshes of its scene.
    pub fn request(body: &[u8]) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let stream = BodyDataStream::new(Full::new(Bytes::copy_from_slice(body)));
        let Ok(runtime) = runtime else { return };
        let form = runtime.block_on(Form::read(stream, "X".into(), 1 << 20));
        let Some(request) = form
            .ok()
            .and_then(|form| form.into_unchecked_request(1 << 16))
        else {
            return;
        };
        if let Ok(scene) = Scene::read(&request, 1 << 12) {
            let parts: Vec<&Part> = scene.parts.iter().collect();
            let _ = Drawable::read(&request.scene, &parts, true);
        }
    }
}
