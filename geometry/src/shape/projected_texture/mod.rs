//! Images projected onto shapes, or placed at the texture coordinates of meshes.

mod cube;
mod outline;
#[cfg(test)]
mod tests;

use self::cube::CubeFaces;
pub(crate) use self::cube::{face_of, place_in};
use self::outline::Outline;
use super::any_shape::Shape;
use crate::error::{Error, Result};
use crate::mesh::{Material, MaterialGroup, RenderMesh, Texture, TextureImage, Wrap, read_source};
use crate::rgba::Rgba;
use nalgebra::{Isometry3, Point3, Vector3};

/// Images on a shape, as MuJoCo projects them: one image along the z axis of the shape, six from
/// its centre, or none. It is the property `("phong", "projected_texture")` of perception and
/// illustration; Drake has none like it.
///
/// Render engines and Meshcat draw a shape with such a property as triangles, so the silhouette
/// and the depth of a round primitive are off by 0.12 % of its radius in images and by 0.5 % in a
/// browser. On a mesh, the images take the place of its own materials.
///
/// ```
/// use tarragon_geometry::{HalfSpace, PerceptionProperties, ProjectedTexture, Rgba, Shape};
/// use tarragon_geometry::mesh::TextureImage;
/// // Tiles of half a metre on a floor of 4 m x 6 m.
/// let tiles = TextureImage::File("tiles.png".into());
/// let floor = ProjectedTexture::along_z(tiles, [2.0, 2.0])?.with_half_extents([2.0, 3.0])?;
/// let mesh = floor.render_mesh(&Shape::from(HalfSpace), 32)?.ok_or("no surface")?;
/// assert_eq!((mesh.triangles.len(), mesh.uvs[0]), (2, [-3.5, -5.5]));
/// let properties = PerceptionProperties::phong(Rgba::WHITE).with_projected_texture(floor);
/// assert!(properties.has("phong", "projected_texture"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectedTexture {
    projection: Projection,
    color: Rgba,
    half_extents: [f64; 2],
    /// Pose of the shape in the frame of the projection.
    x_ps: Isometry3<f64>,
}

/// Images and the way in which they lie on a shape.
#[derive(Clone, Debug, PartialEq)]
enum Projection {
    AlongZ {
        image: Option<TextureImage>,
        /// Per metre along x and y.
        repeats: [f64; 2],
    },
    FromCenter {
        images: Box<[TextureImage; 6]>,
        /// Factors of the coordinates of a point, which give its direction.
        scale: Vector3<f64>,
    },
    AtCoordinates {
        image: TextureImage,
    },
}

impl ProjectedTexture {
    /// Half of the edges of the square that is drawn of a half space (m), if nothing else is given.
    pub const HALF_SPACE_EXTENT: f64 = 50.0;

    /// Projects an image along z: its right is along x, its top along y, and its centre is at the
    /// origin. `repeats` are the images per metre along x and y.
    ///
    /// # Errors
    /// Returns an error if a number of repeats is not finite.
    pub fn along_z(image: TextureImage, repeats: [f64; 2]) -> Result<Self> {
        if repeats.iter().any(|x| !x.is_finite()) {
            return Err(Error::invalid(format!(
                "ProjectedTexture: repeats must be finite numbers of images per metre, got \
                 {repeats:?}"
            )));
        }
        let image = Some(image);
        Ok(Self::new(Projection::AlongZ { image, repeats }))
    }
    /// Has no image, but a colour and, for a half space, a limited size.
    pub fn plain() -> Self {
        Self::new(Projection::AlongZ {
            image: None,
            repeats: [0.0; 2],
        })
    }
    /// Projects six images from the centre: those in the directions x, -x, y, -y, z and -z, each
    /// placed as the cube map of OpenGL ("OpenGL Specification", version 4.6, table 8.19).
    /// `scale` are the factors by which the coordinates of a point are multiplied to give its
    /// direction: the inverses of its half lengths make a cube of any box.
    ///
    /// # Errors
    /// Returns an error if a factor is not positive and finite.
    pub fn from_center(images: [TextureImage; 6], scale: Vector3<f64>) -> Result<Self> {
        if scale.iter().any(|x| *x <= 0.0 || !x.is_finite()) {
            return Err(Error::invalid(format!(
                "ProjectedTexture: scale must be three positive and finite factors, got {:?}",
                <[f64; 3]>::from(scale)
            )));
        }
        let images = Box::new(images);
        Ok(Self::new(Projection::FromCenter { images, scale }))
    }
    /// Places an image at the texture coordinates of a mesh, and repeats it beyond them. Shapes
    /// without such coordinates are drawn as if they had no image.
    pub fn at_coordinates(image: TextureImage) -> Self {
        Self::new(Projection::AtCoordinates { image })
    }
    fn new(projection: Projection) -> Self {
        Self {
            projection,
            color: Rgba::WHITE,
            half_extents: [Self::HALF_SPACE_EXTENT; 2],
            x_ps: Isometry3::identity(),
        }
    }
    /// Sets the pose `X_SP` of the frame P of the projection in the frame S of the shape, the
    /// identity otherwise: the z axis and the centre are those of P.
    #[must_use]
    pub fn with_pose(mut self, x_sp: &Isometry3<f64>) -> Self {
        self.x_ps = x_sp.inverse();
        self
    }
    /// Sets the colour by which the images are multiplied, white otherwise. It takes the place of
    /// `("phong", "diffuse")`.
    #[must_use]
    pub fn with_color(mut self, color: Rgba) -> Self {
        self.color = color;
        self
    }
    /// Sets half of the edges of the rectangle that is drawn of a half space (m), along x and y.
    ///
    /// # Errors
    /// Returns an error if a length is not positive and finite.
    pub fn with_half_extents(mut self, half_extents: [f64; 2]) -> Result<Self> {
        if half_extents.iter().any(|x| *x <= 0.0 || !x.is_finite()) {
            return Err(Error::invalid(format!(
                "ProjectedTexture: half_extents must be two positive and finite lengths, got \
                 {half_extents:?} m"
            )));
        }
        self.half_extents = half_extents;
        Ok(self)
    }

    /// Returns the images.
    pub fn images(&self) -> &[TextureImage] {
        match &self.projection {
            Projection::AlongZ { image, .. } => image.as_slice(),
            Projection::FromCenter { images, .. } => &**images,
            Projection::AtCoordinates { image } => std::slice::from_ref(image),
        }
    }

    /// Returns the triangles of a shape with its images as materials, in the frame of the shape
    /// (m), with `segments` around a round shape; `None` for convex hulls and cones, and for shapes
    /// without the texture coordinates that the image has its place at.
    ///
    /// # Errors
    /// Returns an error if the file of a mesh cannot be read or is invalid.
    pub fn render_mesh(&self, shape: &Shape, segments: u32) -> Result<Option<RenderMesh>> {
        let surface = match shape {
            Shape::Mesh(m) => Some(read_source(m.source())?.scaled(&m.scale3())),
            Shape::HeightField(f) => Some(f.render_mesh()),
            _ => None,
        };
        let rows = match self.projection {
            Projection::FromCenter { .. } => segments / 4,
            _ => 1,
        };
        let outline = || match &surface {
            Some(mesh) => Some(Outline::of_mesh(mesh)),
            None => Outline::of(shape, segments.max(3), rows.max(1), self.half_extents),
        };
        let mut mesh = RenderMesh::default();
        let wrap = match &self.projection {
            Projection::AlongZ { repeats, .. } => {
                let Some(outline) = outline() else {
                    return Ok(None);
                };
                let uv = |p: &Vector3<f64>| {
                    let p = self.x_ps * Point3::from(*p);
                    [0, 1].map(|k| 0.5 + p[k] * repeats[k])
                };
                mesh.uvs = outline.vertices.iter().map(|v| uv(&v.position)).collect();
                mesh.triangles.clone_from(&outline.triangles);
                mesh.triangle_uvs.clone_from(&outline.triangles);
                mesh.groups.push(whole(outline.triangles.len()));
                set_vertices(&mut mesh, &outline);
                Wrap::Repeat
            }
            Projection::FromCenter { scale, .. } => {
                let Some(outline) = outline() else {
                    return Ok(None);
                };
                CubeFaces::new(outline, *scale, self.x_ps).add_to(&mut mesh);
                Wrap::ClampToEdge
            }
            Projection::AtCoordinates { .. } => {
                let Some(mut own) = surface.filter(|mesh| !mesh.triangle_uvs.is_empty()) else {
                    return Ok(None);
                };
                // Corners without coordinates have those that engines give them.
                let origin = own.uvs.len() as u32;
                own.uvs.push([0.0; 2]);
                let corners = own.triangle_uvs.iter_mut().flatten();
                corners.for_each(|uv| *uv = (*uv).min(origin));
                mesh = RenderMesh {
                    groups: vec![whole(own.triangles.len())],
                    positions: own.positions,
                    normals: own.normals,
                    uvs: own.uvs,
                    triangles: own.triangles,
                    triangle_normals: own.triangle_normals,
                    triangle_uvs: own.triangle_uvs,
                    ..RenderMesh::default()
                };
                Wrap::Repeat
            }
        };
        let material = |i: usize| Material {
            name: format!("image{i}"),
            diffuse: Some(self.color),
            diffuse_map: self.images().get(i).map(|image| Texture {
                wrap: [wrap; 2],
                ..image.clone().into()
            }),
            ..Material::default()
        };
        mesh.materials = (0..self.images().len().max(1)).map(material).collect();
        Ok(Some(mesh))
    }
}

/// Returns the group of all triangles of a surface with one image.
fn whole(num_triangles: usize) -> MaterialGroup {
    MaterialGroup {
        material: Some(0),
        triangles: 0..num_triangles,
    }
}

/// Sets positions and normals; corners of triangles have the same index for both.
fn set_vertices(mesh: &mut RenderMesh, outline: &Outline) {
    let vertices = outline.vertices.iter();
    mesh.positions = vertices.clone().map(|v| v.position.into()).collect();
    mesh.normals = vertices.map(|v| v.normal).collect();
    mesh.triangle_normals.clone_from(&mesh.triangles);
}
