//! Parameters of the server.

use crate::{Error, Result};
use std::time::Duration;

/// Parameters of a [`RenderServer`](crate::RenderServer).
///
/// ```
/// use tarragon_render_server::RenderServerParams;
/// let any_port = RenderServerParams { port: 0, ..RenderServerParams::default() };
/// assert_eq!((&*any_port.host, RenderServerParams::default().port), ("127.0.0.1", 8000));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RenderServerParams {
    /// Name or address to listen on; `*` means all networks of the machine.
    pub host: String,
    /// Port to listen on, 0 for any free port. The default is that of Drake's client.
    pub port: u16,
    /// Path of requests, without the slash at its start.
    pub endpoint: String,
    /// Maximum size of a request (bytes).
    pub max_request_bytes: usize,
    /// Maximum number of pixels of an image.
    pub max_pixels: usize,
    /// Maximum number of triangles of a scene, counted for every node that shows them.
    pub max_triangles: usize,
    /// Memory for meshes and textures that are kept for later requests (bytes, estimated). What one
    /// scene needs is kept while it is drawn, even if it is more.
    pub cache_bytes: usize,
    /// Maximum number of connections; further ones are closed at once.
    pub max_connections: usize,
    /// Time limit for receiving a request.
    pub request_time: Duration,
    /// Number of requests that are read and drawn at once; `None` for the number of processors.
    pub workers: Option<usize>,
    /// Draws the tessellated primitives of Drake's clients as the exact shapes that they stand for.
    pub exact_primitives: bool,
}

impl Default for RenderServerParams {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 8000,
            endpoint: "render".into(),
            max_request_bytes: 64 << 20,
            max_pixels: 1 << 26,
            max_triangles: 1 << 22,
            cache_bytes: 1 << 30,
            max_connections: 256,
            request_time: Duration::from_secs(60),
            workers: None,
            exact_primitives: true,
        }
    }
}

impl RenderServerParams {
    pub(crate) fn check(&self) -> Result<()> {
        let positive = [
            ("max_request_bytes", self.max_request_bytes),
            ("max_pixels", self.max_pixels),
            ("max_triangles", self.max_triangles),
            ("max_connections", self.max_connections),
            ("workers", self.workers.unwrap_or(1)),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(Error::invalid(format!(
                "RenderServerParams: {name} must be positive, got 0"
            )));
        }
        if self.request_time.is_zero() {
            return Err(Error::invalid(
                "RenderServerParams: request_time must be positive, got 0 s",
            ));
        }
        Ok(())
    }
}
