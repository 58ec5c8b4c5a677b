//! The form of a request: camera, image type and scene.

use crate::refusal::Refusal;
use bytes::Bytes;
use multer::{Constraints, Multipart, SizeLimit};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
};

/// Maximum size of a text field (bytes). Numbers and the hash are shorter.
const MOST_TEXT: u64 = 1024;
/// Maximum number of fields; the protocol has 16.
const MOST_FIELDS: usize = 64;
/// Clipping plane that stands for a distance which six decimals cannot show (m).
const NEAREST: f64 = 5e-7;

/// Image that a client asks for, with its camera.
#[derive(Clone, Debug)]
pub(crate) enum Camera {
    Color(ColorRenderCamera),
    Depth(DepthRenderCamera),
    Label(ColorRenderCamera),
}

/// Type of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ImageType {
    Color,
    Depth,
    Label,
}

impl Camera {
    pub(crate) fn image_type(&self) -> ImageType {
        match self {
            Self::Color(_) => ImageType::Color,
            Self::Depth(_) => ImageType::Depth,
            Self::Label(_) => ImageType::Label,
        }
    }
    pub(crate) fn core(&self) -> &RenderCameraCore {
        match self {
            Self::Color(camera) | Self::Label(camera) => camera.core(),
            Self::Depth(camera) => camera.core(),
        }
    }
}

/// Fields of a request as they were received.
#[derive(Debug, Default)]
pub(crate) struct Form {
    texts: BTreeMap<String, String>,
    scene: Option<Bytes>,
}

/// A checked request.
#[derive(Clone, Debug)]
pub(crate) struct RenderRequest {
    pub(crate) camera: Camera,
    /// The glTF document.
    pub(crate) scene: Bytes,
    /// SHA-256 of the document, equal to that of the form.
    pub(crate) hash: [u8; 32],
}

impl Form {
    /// Reads the parts of a body, whatever their order. Names that the protocol does not have are
    /// ignored.
    pub(crate) async fn read<S, E>(
        stream: S,
        boundary: String,
        max_bytes: u64,
    ) -> Result<Self, Refusal>
    where
        S: futures_core::Stream<Item = Result<Bytes, E>> + Send,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let limits = SizeLimit::new()
            .whole_stream(max_bytes)
            .per_field(MOST_TEXT)
            .for_field("scene", max_bytes);
        let constraints = Constraints::new().size_limit(limits);
        let mut parts = Multipart::with_constraints(stream, boundary, constraints);
        let mut form = Self::default();
        let mut count = 0;
        while let Some(part) = parts
            .next_field()
            .await
            .map_err(|e| refused(&e, max_bytes))?
        {
            count += 1;
            if count > MOST_FIELDS {
                return Err(Refusal::bad(format!(
                    "the form must have at most {MOST_FIELDS} fields, got more"
                )));
            }
            let name = part.name().unwrap_or_default().to_owned();
            let content = part.bytes().await.map_err(|e| refused(&e, max_bytes))?;
            let is_new = if name == "scene" {
                form.scene.replace(content).is_none()
            } else {
                let text = String::from_utf8_lossy(&content).trim().to_owned();
                form.texts.insert(name.clone(), text).is_none()
            };
            if !is_new {
                return Err(Refusal::bad(format!(
                    "the form must have each field once, got '{}' twice",
                    short(&name)
                )));
            }
        }
        Ok(form)
    }

    /// Returns the size of what was received (bytes).
    pub(crate) fn bytes(&self) -> usize {
        let texts = self
            .texts
            .iter()
            .map(|(name, text)| name.len() + text.len());
        texts.sum::<usize>() + self.scene.as_ref().map_or(0, Bytes::len)
    }

    /// Checks the fields and the hash of the scene.
    pub(crate) fn into_request(self, max_pixels: usize) -> Result<RenderRequest, Refusal> {
        let camera = self.camera(max_pixels)?;
        let declared = self.text("scene_sha256")?;
        let scene = self.scene.clone().ok_or_else(|| missing("scene"))?;
        let hash: [u8; 32] = Sha256::digest(&scene).into();
        if !is_hash(declared, &hash) {
            let computed: String = hash.iter().map(|b| format!("{b:02x}")).collect();
            return Err(Refusal::bad(format!(
                "scene_sha256 must be the SHA-256 of the scene, {computed}, got '{}'; the scene was \
                 damaged on its way",
                short(declared)
            )));
        }
        Ok(RenderRequest {
            camera,
            scene,
            hash,
        })
    }

    /// Returns what is asked for whatever the hash, without which a fuzzer would get no farther.
    #[cfg(fuzzing)]
    pub(crate) fn into_unchecked_request(self, max_pixels: usize) -> Option<RenderRequest> {
        Some(RenderRequest {
            camera: self.camera(max_pixels).ok()?,
            scene: self.scene?,
            hash: [0; 32],
        })
    }

    fn camera(&self, max_pixels: usize) -> Result<Camera, Refusal> {
        let kind = self.text("image_type")?;
        let image_type = match kind {
            "color" => ImageType::Color,
            "depth" => ImageType::Depth,
            "label" => ImageType::Label,
            other => {
                return Err(Refusal::bad(format!(
                    "image_type must be 'color', 'depth' or 'label', got '{}'",
                    short(other)
                )));
            }
        };
        let (width, height) = (self.side("width")?, self.side("height")?);
        if width.saturating_mul(height) > max_pixels {
            return Err(Refusal::too_large(format!(
                "width x height must be at most {max_pixels} pixels, got {width} x {height}; start the \
                 server with a larger --max-pixels"
            )));
        }
        let intrinsics = CameraInfo::new(
            width,
            height,
            self.number("focal_x")?,
            self.number("focal_y")?,
            self.number("center_x")?,
            self.number("center_y")?,
        )?;
        let clipping = ClippingRange::new(self.number("near")?.max(NEAREST), self.number("far")?)?;
        let pose = nalgebra::Isometry3::identity();
        let core = RenderCameraCore::new("server", intrinsics, clipping, pose);
        Ok(match image_type {
            ImageType::Color => Camera::Color(ColorRenderCamera::from_core(core)),
            ImageType::Label => Camera::Label(ColorRenderCamera::from_core(core)),
            ImageType::Depth => {
                let nearest = self.number("min_depth")?;
                let range = DepthRange::new(nearest.max(NEAREST), self.number("max_depth")?)?;
                Camera::Depth(DepthRenderCamera::from_core(core, range)?)
            }
        })
    }

    fn text(&self, name: &str) -> Result<&str, Refusal> {
        let found = self.texts.get(name).map(String::as_str);
        found.ok_or_else(|| missing(name))
    }
    fn number(&self, name: &str) -> Result<f64, Refusal> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|x: &f64| x.is_finite());
        number.ok_or_else(|| {
            Refusal::bad(format!(
                "{name} must be a finite number, got '{}'",
                short(text)
            ))
        })
    }
    fn side(&self, name: &str) -> Result<usize, Refusal> {
        let text = self.text(name)?;
        let side = text.parse().ok().filter(|side| *side > 0);
        side.ok_or_else(|| {
            Refusal::bad(format!(
                "{name} must be a positive number of pixels, got '{}'",
                short(text)
            ))
        })
    }
}

/// Returns true if the hexadecimal digits are those of the hash.
fn is_hash(digits: &str, hash: &[u8; 32]) -> bool {
    let byte = |k: usize| digits.get(2 * k..2 * k + 2);
    digits.len() == 64
        && hash
            .iter()
            .enumerate()
            .all(|(k, b)| byte(k).and_then(|two| u8::from_str_radix(two, 16).ok()) == Some(*b))
}

fn missing(name: &str) -> Refusal {
    Refusal::bad(format!(
        "the form must have the field '{name}', which is missing"
    ))
}

/// Returns the start of a text from outside, without control characters.
fn short(text: &str) -> String {
    text.chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect()
}

fn refused(error: &multer::Error, max_bytes: u64) -> Refusal {
    match error {
        multer::Error::FieldSizeExceeded { field_name, .. }
            if field_name.as_deref() != Some("scene") =>
        {
            Refusal::bad(format!(
                "the field '{}' must be text of at most {MOST_TEXT} bytes",
                short(field_name.as_deref().unwrap_or_default())
            ))
        }
        multer::Error::FieldSizeExceeded { .. } | multer::Error::StreamSizeExceeded { .. } => {
            too_large(max_bytes)
        }
        other => Refusal::bad(format!(
            "the body must be a multipart form that ends with its boundary: {other}"
        )),
    }
}

/// Returns the refusal of a body with too many bytes.
pub(crate) fn too_large(max_bytes: u64) -> Refusal {
    Refusal::too_large(format!(
        "the request must have at most {max_bytes} bytes; start the server with a larger \
         --max-request-mib, or simplify the meshes"
    ))
}
