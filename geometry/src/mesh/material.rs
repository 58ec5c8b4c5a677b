//! How the parts of a mesh look.

use crate::rgba::Rgba;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// How a part of a mesh looks.
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
    /// Diffuse or base colour and opacity as on the screen (not linear), if the file gives one.
    pub diffuse: Option<Rgba>,
    /// Diffuse or base colour texture, if the file names one.
    pub diffuse_map: Option<Texture>,
    /// Texture whose red is the opacity (`map_d`), if the file names one.
    pub opacity_map: Option<Texture>,
    /// What opacities mean.
    pub alpha_mode: AlphaMode,
    /// How it reflects, if it follows glTF's model; `None` is matt, as OBJ is drawn.
    pub metallic_roughness: Option<MetallicRoughness>,
}

/// Where a texture is, and how it goes on outside of `[0, 1]`.
///
/// ```
/// use tarragon_geometry::mesh::{Texture, Wrap};
/// let wood = Texture::file("wood.png");
/// assert_eq!(wood.wrap, [Wrap::Repeat; 2]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The image, PNG or JPEG: a file relative to the working directory, or its content.
    pub image: TextureImage,
    /// What is outside of `[0, 1]` in u and in v.
    pub wrap: [Wrap; 2],
}

/// An image of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureImage {
    /// In a file, relative to the working directory.
    File(PathBuf),
    /// The content of such a file, where the mesh file contains it.
    Content(Arc<[u8]>),
}

impl Texture {
    /// A file, repeating.
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

/// What a texture shows outside of `[0, 1]` (glTF 2.0, sampler.wrapS).
///
/// ```
/// assert_eq!(tarragon_geometry::mesh::Wrap::default(), tarragon_geometry::mesh::Wrap::Repeat);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// The same again.
    #[default]
    Repeat,
    /// The same again, every other time mirrored.
    MirroredRepeat,
    /// Its edge.
    ClampToEdge,
}

/// What the opacity of a material means (glTF 2.0, material.alphaMode).
///
/// ```
/// assert_eq!(tarragon_geometry::mesh::AlphaMode::default(), tarragon_geometry::mesh::AlphaMode::Blend);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// Nothing: the surface is opaque.
    Opaque,
    /// Opaque from this opacity on, else not there.
    Mask(f64),
    /// As much of what is behind is seen as is missing to 1. Everything of an OBJ file is meant so.
    #[default]
    Blend,
}

/// Reflection of glTF's metallic-roughness model (glTF 2.0, appendix B).
///
/// ```
/// let default = tarragon_geometry::mesh::MetallicRoughness::default();
/// assert_eq!((default.metallic, default.roughness), (1.0, 1.0)); // as the format has it
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetallicRoughness {
    /// 0 for what is no metal, 1 for metals.
    pub metallic: f64,
    /// 0 for mirrors, 1 for matt.
    pub roughness: f64,
    /// Light that the surface itself gives, linear.
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

/// Consecutive triangles of one material.
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
    /// Which triangles.
    pub triangles: Range<usize>,
}
