//! Textures of materials: embedded images and their place on the surface.

use super::buffer::Buffer;
use super::json::Numbers;
use crate::images::io::{ImageFileFormat, ImageIo};
use crate::{Error, Result};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::{Texture, TextureImage, Wrap};

/// Largest part of the scales by which an affine map may depart from a rotation and scales. Numbers
/// of a file have seven digits.
const SHEAR: f64 = 1e-6;

/// Image file as it is sent.
#[derive(Debug)]
pub(super) struct EmbeddedImage {
    pub(super) mime_type: &'static str,
    pub(super) buffer: Buffer,
}

impl EmbeddedImage {
    /// Reads an image file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::of_content(&path.display().to_string(), &bytes)
    }
    /// Embeds the content of an image file; `name` is for messages.
    fn of_content(name: &str, bytes: &[u8]) -> Result<Self> {
        let metadata = ImageIo::new().metadata_of_buffer(bytes);
        let mime_type = match metadata.map(|m| m.format) {
            Ok(ImageFileFormat::Png) => "image/png",
            Ok(ImageFileFormat::Jpeg) => "image/jpeg",
            Ok(found) => {
                return Err(Error::unsupported(format!(
                    "image {name}: textures must be PNG or JPEG to be sent, got {found}"
                )));
            }
            Err(error) => return Err(error.at(format!("image {name}"))),
        };
        Ok(Self {
            mime_type,
            buffer: Buffer::of_bytes(bytes),
        })
    }
}

/// Turns an error into a warning.
pub(super) fn or_warn(image: Result<EmbeddedImage>) -> Option<EmbeddedImage> {
    match image {
        Ok(image) => Some(image),
        Err(e) => {
            warn(format!("{e}; the texture is left out"));
            None
        }
    }
}

/// Embedded image with its place on the surface.
#[derive(Clone, Debug)]
pub(super) struct SentTexture {
    pub(super) image: Arc<EmbeddedImage>,
    /// Wrapping modes in u and in v.
    pub(super) wrap: [Wrap; 2],
    /// Set of texture coordinates, 0 or 1.
    pub(super) uv_set: usize,
    /// Transformation of the coordinates; `None` for the identity.
    transform: Option<SentTransform>,
}

/// Parameters of `KHR_texture_transform`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SentTransform {
    offset: [f64; 2],
    rotation: f64,
    scale: [f64; 2],
}

impl SentTransform {
    /// Finds the parameters of a map of `(u, v, 1)` with v up; `None` if it is not a rotation of
    /// scaled coordinates.
    fn of([[a, b, c], [d, e, f]]: [[f64; 3]; 2]) -> Option<Self> {
        // Rows for v down, as in glTF: (cos su, sin sv) and (-sin su, cos sv).
        let (u, v) = ([a, -b], [-d, e]);
        let su = u[0].hypot(v[0]);
        let rotation = if su > 0.0 {
            (-v[0]).atan2(u[0])
        } else {
            u[1].atan2(v[1])
        };
        let (sin, cos) = rotation.sin_cos();
        let sv = sin * u[1] + cos * v[1];
        let off = (cos * u[1] - sin * v[1]).abs();
        let offset = [b + c, 1.0 - e - f];
        let is_finite = offset.iter().all(|x| x.is_finite());
        (off <= SHEAR * (su + sv.abs()) && is_finite).then_some(Self {
            offset,
            rotation,
            scale: [su, sv],
        })
    }
}

impl SentTexture {
    /// Places an image on the surface with the coordinates as they are.
    pub(super) fn new(image: EmbeddedImage, wrap: Wrap) -> Self {
        Self {
            image: Arc::new(image),
            wrap: [wrap; 2],
            uv_set: 0,
            transform: None,
        }
    }
    /// Returns true if its place needs the extension `KHR_texture_transform`.
    pub(super) fn is_transformed(&self) -> bool {
        self.transform.is_some()
    }
    /// Returns the reference to the texture as JSON; `index` is its index, and `weight` is the name
    /// and the value of a further member.
    pub(super) fn json(&self, index: usize, weight: Option<(&str, f64)>) -> String {
        let mut json = String::from("{");
        if let Some(t) = &self.transform {
            let _ = write!(
                json,
                r#""extensions":{{"KHR_texture_transform":{{"offset":{},"rotation":{:?},"scale":{}}}}},"#,
                Numbers(&t.offset),
                t.rotation,
                Numbers(&t.scale)
            );
        }
        let _ = write!(json, r#""index":{index}"#);
        if let Some((name, value)) = weight.filter(|(_, value)| *value != 1.0) {
            let _ = write!(json, r#","{name}":{value:?}"#);
        }
        let _ = write!(json, r#","texCoord":{}}}"#, self.uv_set);
        json
    }
}

/// Images of a mesh that have been embedded, or could not be.
#[derive(Debug, Default)]
pub(super) struct ImageCache(Vec<(TextureImage, Option<Arc<EmbeddedImage>>)>);

impl ImageCache {
    /// Embeds the texture of a material, once per image. A texture that cannot be read or placed
    /// causes a warning and is left out.
    pub(super) fn embed(&mut self, material: &str, texture: &Texture) -> Option<SentTexture> {
        let is_moved = texture.uv_transform != Texture::UNTRANSFORMED;
        let transform = is_moved.then(|| SentTransform::of(texture.uv_transform));
        if transform == Some(None) {
            warn(format!(
                "material '{material}': uv_transform of a texture must be a rotation of scaled \
                coordinates to be sent, got {:?}; the texture is left out",
                texture.uv_transform
            ));
            return None;
        }
        let known = self.0.iter().find(|(image, _)| *image == texture.image);
        let image = match known {
            Some((_, image)) => image.clone(),
            None => {
                let read = match &texture.image {
                    TextureImage::File(path) => EmbeddedImage::read(path),
                    TextureImage::Content(bytes) => {
                        EmbeddedImage::of_content(&format!("of '{material}'"), bytes)
                    }
                };
                let image = or_warn(read).map(Arc::new);
                self.0.push((texture.image.clone(), image.clone()));
                image
            }
        };
        Some(SentTexture {
            image: image?,
            wrap: texture.wrap,
            uv_set: texture.uv_set,
            transform: transform.flatten(),
        })
    }
}

/// Returns glTF's number of a wrapping mode.
pub(super) fn wrap_number(wrap: Wrap) -> u16 {
    match wrap {
        Wrap::Repeat => 10497,
        Wrap::MirroredRepeat => 33648,
        Wrap::ClampToEdge => 33071,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transformations_are_recovered_and_shears_are_not() {
        for (rotation, scale) in [
            (0.0, [2.0, 3.0]),
            (0.7, [2.0, -0.5]),
            (-2.5, [0.25, 4.0]),
            (0.4, [0.0, 1.5]),
        ] {
            let (sin, cos) = f64::sin_cos(rotation);
            let [su, sv] = scale;
            let (u, v) = ([cos * su, sin * sv, 0.1], [-sin * su, cos * sv, -0.3]);
            let found =
                SentTransform::of([[u[0], -u[1], u[1] + u[2]], [-v[0], v[1], 1.0 - v[1] - v[2]]])
                    .unwrap();
            let pairs = [
                (found.offset[0], 0.1),
                (found.offset[1], -0.3),
                (found.rotation, rotation),
                (found.scale[0], su),
                (found.scale[1], sv),
            ];
            // Rounding of a few operations.
            assert!(
                pairs.iter().all(|(a, b)| (a - b).abs() < 1e-14),
                "{found:?}"
            );
        }
        for (shear, offset) in [(0.5, 0.0), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            let map = [[1.0, shear, offset], [0.0, 1.0, 0.0]];
            assert_eq!(SentTransform::of(map), None);
        }
    }
}
