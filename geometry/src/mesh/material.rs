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
    /// Texture of normals, if the file names one; used with `metallic_roughness` only.
    pub normal_map: Option<NormalMap>,
    /// Meaning of the opacity.
    pub alpha_mode: AlphaMode,
    /// Reflection by glTF's metallic-roughness model; `None` is matt, as for OBJ files.
    pub metallic_roughness: Option<MetallicRoughness>,
    /// True if the base colour is shown as it is, whatever the light (`KHR_materials_unlit`);
    /// used with `metallic_roughness` only.
    pub unlit: bool,
}

impl Material {
    /// Returns all textures of the material.
    pub fn textures(&self) -> impl Iterator<Item = &Texture> {
        let normal = self.normal_map.as_ref().map(|map| &map.texture);
        let model = self.metallic_roughness.as_ref();
        let of_model = model.map(|model| {
            let occlusion = model.occlusion_map.as_ref().map(|map| &map.texture);
            [model.map.as_ref(), occlusion, model.emissive_map.as_ref()]
        });
        [self.diffuse_map.as_ref(), self.opacity_map.as_ref(), normal]
            .into_iter()
            .chain(of_model.into_iter().flatten())
            .flatten()
    }
}

/// Texture image, its wrapping outside of `[0, 1]`, and its place on the surface.
///
/// ```
/// use tarragon_geometry::mesh::{Texture, Wrap};
/// let wood = Texture::file("wood.png");
/// assert_eq!((wood.wrap, wood.uv_set), ([Wrap::Repeat; 2], 0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// PNG or JPEG image: a file or its content.
    pub image: TextureImage,
    /// Wrapping outside of `[0, 1]` in u and in v.
    pub wrap: [Wrap; 2],
    /// Set of texture coordinates: 0 for those of `RenderMesh::triangle_uvs`, 1 for those of
    /// `RenderMesh::triangle_second_uvs`.
    pub uv_set: usize,
    /// Rows of the matrix that maps `(u, v, 1)`, with v up, to the coordinates in the image
    /// (`KHR_texture_transform`).
    pub uv_transform: [[f64; 3]; 2],
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
    /// Value of `uv_transform` for textures whose coordinates are those of the surface.
    pub const UNTRANSFORMED: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

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
            uv_set: 0,
            uv_transform: Self::UNTRANSFORMED,
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
#[derive(Clone, Debug, PartialEq)]
pub struct MetallicRoughness {
    /// Metalness: 0 for non-metals, 1 for metals.
    pub metallic: f64,
    /// Roughness: 0 for mirrors, 1 for matt surfaces.
    pub roughness: f64,
    /// Light emitted by the surface (linear red, green, blue), without an upper limit.
    pub emissive: [f64; 3],
    /// Texture whose blue channel is a factor of the metalness, and whose green channel is one of
    /// the roughness.
    pub map: Option<Texture>,
    /// Texture of the part of the light that reaches the surface.
    pub occlusion_map: Option<OcclusionMap>,
    /// Texture whose colour is a factor of the emitted light.
    pub emissive_map: Option<Texture>,
}

/// Texture of normals (glTF 2.0, material.normalTexture): red, green and blue are the components
/// of unit vectors, from -1 to 1, along u, along v and out of the surface.
///
/// ```
/// use tarragon_geometry::mesh::{NormalMap, Texture};
/// let bumps = NormalMap { texture: Texture::file("bumps.png"), scale: 0.5 };
/// assert_eq!(bumps.texture.uv_set, 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NormalMap {
    /// The texture.
    pub texture: Texture,
    /// Factor of the components along u and v.
    pub scale: f64,
}

/// Texture of the light that reaches a surface (glTF 2.0, material.occlusionTexture).
///
/// ```
/// use tarragon_geometry::mesh::{OcclusionMap, Texture};
/// let folds = OcclusionMap { texture: Texture::file("folds.png"), strength: 1.0 };
/// assert_eq!(folds.texture.uv_set, 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OcclusionMap {
    /// The texture; its red channel is the part of the light that arrives.
    pub texture: Texture,
    /// Weight of the texture, from 0 (no effect) to 1.
    pub strength: f64,
}

impl Default for MetallicRoughness {
    fn default() -> Self {
        Self {
            metallic: 1.0,
            roughness: 1.0,
            emissive: [0.0; 3],
            map: None,
            occlusion_map: None,
            emissive_map: None,
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
