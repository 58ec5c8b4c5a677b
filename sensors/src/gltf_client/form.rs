//! The form of a request: multipart text with the camera and the scene.

use super::kind::ImageKind;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_geometry::render::{DepthRange, RenderCameraCore};

/// Number of requests of this process.
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// Number of random-looking characters at the end of a boundary.
const BOUNDARY_TAIL: usize = 22;

/// Body of a request.
#[derive(Debug)]
pub(super) struct Form {
    /// Name of the request, from which those of its files are made: a number and the kind.
    pub(super) name: RequestName,
    boundary: String,
    /// Everything before the scene.
    head: String,
    /// The scene as glTF text.
    pub(super) scene: String,
    /// Everything after the scene.
    tail: String,
}

/// Number of a request in this process, and the kind of its image.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestName {
    pub(super) number: u64,
    pub(super) kind: ImageKind,
}

impl RequestName {
    /// Returns the name of a file, with 19 digits as in Drake.
    pub(super) fn file(self, extension: &str) -> String {
        format!("{:019}-{}.{extension}", self.number, self.kind.name())
    }
}

impl Form {
    /// Creates the form of the next request of this process.
    pub(super) fn new(
        scene: String,
        core: &RenderCameraCore,
        depth_range: Option<&DepthRange>,
        kind: ImageKind,
    ) -> Self {
        let number = 1 + REQUESTS.fetch_add(1, Ordering::Relaxed);
        let name = RequestName { number, kind };
        let sha256 = Sha256::digest(scene.as_bytes());
        // Boundaries follow from the content, so that equal processes send equal requests. The
        // scene never contains one, because it has no two hyphens in a row.
        let tail = Sha256::new_with_prefix(sha256).chain_update(number.to_le_bytes());
        let boundary = format!("{:->24}{}", "", alphanumeric(&tail.finalize()));

        let info = core.intrinsics();
        let clipping = core.clipping();
        let mut head = String::new();
        let mut part = |name: &str, value: &str| {
            let _ = write!(
                head,
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
        };
        let number = |x: f64| format!("{x:.6}");
        // In alphabetical order, as Drake's client sends them. Some servers reject other parts.
        part("center_x", &number(info.center_x()));
        part("center_y", &number(info.center_y()));
        part("far", &number(clipping.far()));
        part("focal_x", &number(info.focal_x()));
        part("focal_y", &number(info.focal_y()));
        part("fov_x", &number(info.fov_x()));
        part("fov_y", &number(info.fov_y()));
        part("height", &info.height().to_string());
        part("image_type", kind.name());
        if let Some(range) = depth_range {
            part("max_depth", &number(range.max_depth()));
            part("min_depth", &number(range.min_depth()));
        }
        part("near", &number(clipping.near()));
        part("scene_sha256", &hex(&sha256));
        part("submit", "Render");
        part("width", &info.width().to_string());
        let _ = write!(
            head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"scene\"; filename=\"{}\"\r\n\
             Content-Type: model/gltf+json\r\n\r\n",
            name.file("gltf")
        );
        Self {
            name,
            tail: format!("\r\n--{boundary}--\r\n"),
            boundary,
            head,
            scene,
        }
    }
    /// Returns the value of the `Content-Type` header.
    pub(super) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }
    /// Returns the number of bytes.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.scene.len() + self.tail.len()
    }
    /// Returns a reader of all bytes.
    pub(super) fn reader(&self) -> impl Read + '_ {
        let scene = self.scene.as_bytes();
        self.head
            .as_bytes()
            .chain(scene)
            .chain(self.tail.as_bytes())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns letters and digits that follow from a hash.
fn alphanumeric(hash: &[u8]) -> String {
    const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let characters = hash.iter().take(BOUNDARY_TAIL);
    characters
        .map(|byte| char::from(CHARACTERS[usize::from(*byte) % CHARACTERS.len()]))
        .collect()
}
