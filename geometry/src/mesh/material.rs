//! Materials: the appearance of parts of a mesh.

use crate::rgba::Rgba;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Appearance of a part of a mesh.
///
/// ```
/// use std::path::Path;
/// use tarragon_geometry::mesh::{Material, parse_obj};
/// let mesh = parse_obj(Path::new("t.obj"), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
/// assert_eq!(mesh.materials, Vec::<Material>::new()); // the file names none
/// assert_eq!(Material::default().diffuse, None);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Name in the file.
    pub name: String,
    /// Diffuse or base colour and opacity in display (not linear) values, if the file gives them.
    pub diffuse: Option<Rgba>,
    /// Diffuse or base colour texture, if the file names one.
    pub diffuse_map: Option<Texture>,
    /// Texture whose red channel is the opacity (`map_d`), if the file names one.
    pub opacity_map: Option<Texture>,
    /// Meaning of the opacity.
    pub alpha_mode: AlphaMode,
    /// Reflection by glTF's metallic-roughness model; `None` is matt, as for OBJ files.
    pub metallic_roughness: Option<MetallicRoughness>,
}

/// Texture image and its wrapping outside of `[0, 1]`.
///
/// ```
/// use tarragon_geometry::mesh::{Texture, Wrap};
/// let wood = Texture::file("wood.png");
/// assert_eq!(wood.wrap, [Wrap::Repeat; 2]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// PNG or JPEG image: a file or its content.
    pub image: TextureImage,
    /// Wrapping outside of `[0, 1]` in u and in v.
    pub wrap: [Wrap; 2],
}

/// Image of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureImage {
    /// Image file; its path is relative to the working directory.
    File(PathBuf),
    /// Content of an image file that the mesh file embeds.
    Content(Arc<[u8]>),
}

impl Texture {
    /// Creates a repeating texture from an image file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        TextureImage::File(path.into()).into()
    }
}

impl From<TextureImage> for Texture {
    fn from(image: TextureImage) -> Self {
        Self {
            image,
            wrap: [Wrap::Repeat; 2],
        }
    }
}

/// Wrapping mode of a texture outside of `[0, 1]` (glTF 2.0, sampler.wrapS).
///
/// ```
/// assert_eq!(tarragon_geometry::mesh::Wrap::default(), tarragon_geometry::mesh::Wrap::Repeat);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// Repeats the image.
    #[default]
    Repeat,
    /// Repeats the image, mirroring every other repetition.
    MirroredRepeat,
    /// Extends the edge of the image.
    ClampToEdge,
}

/// Meaning of a material's opacity (glTF 2.0, material.alphaMode).
///
/// ```
/// use tarragon_geometry::mesh::AlphaMode;
/// assert_eq!(AlphaMode::default(), AlphaMode::Blend);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// The opacity is ignored: the surface is opaque.
    Opaque,
    /// The surface is opaque where the opacity is at least this value, and invisible elsewhere.
    Mask(f64),
    /// Alpha blending: the background shows with weight `1 - opacity`. All materials of OBJ files
    /// have this mode.
    #[default]
    Blend,
}

/// Reflection of glTF's metallic-roughness model (glTF 2.0, appendix B).
///
/// ```
/// let default = tarragon_geometry::mesh::MetallicRoughness::default();
/// assert_eq!((default.metallic, default.roughness), (1.0, 1.0)); // the defaults of the format
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetallicRoughness {
    /// Metalness: 0 for non-metals, 1 for metals.
    pub metallic: f64,
    /// Roughness: 0 for mirrors, 1 for matt surfaces.
    pub roughness: f64,
    /// Light emitted by the surface (linear red, green, blue).
    pub emissive: [f64; 3],
}

impl Default for MetallicRoughness {
    fn default() -> Self {
        Self {
            metallic: 1.0,
            roughness: 1.0,
            emissive: [0.0; 3],
        }
    }
}

/// Consecutive triangles with the same material.
///
/// ```
/// use std::path::Path;
/// use tarragon_geometry::mesh::{MaterialGroup, parse_obj};
/// let mesh = parse_obj(Path::new("t.obj"), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n")?;
/// assert_eq!(mesh.groups, [MaterialGroup { material: None, triangles: 0..2 }]);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialGroup {
    /// Index into [`RenderMesh::materials`](super::RenderMesh::materials).
    pub material: Option<usize>,
    /// Range of triangles.
    pub triangles: Range<usize>,
}
