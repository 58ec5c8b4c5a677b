//! Triangle meshes of OBJ, STL and glTF files.

mod gltf;
mod lines;
mod mtl;
mod normals;
mod obj;
mod stl;
mod triangulate;

use crate::error::{Error, Result};
use crate::rgba::Rgba;
use nalgebra::{Point3, Vector3};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::gltf::parse_gltf;
pub use obj::parse_obj;
pub use stl::parse_stl;

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
    /// Diffuse colour and opacity, if the file gives one.
    pub diffuse: Option<Rgba>,
    /// File of the diffuse texture, if the file names one; relative to the working directory.
    pub diffuse_map: Option<PathBuf>,
    /// Content of the PNG file of the diffuse texture, where the mesh file contains it.
    pub diffuse_image: Option<Arc<[u8]>>,
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
    /// Index into [`RenderMesh::materials`].
    pub material: Option<usize>,
    /// Which triangles.
    pub triangles: Range<usize>,
}

/// A triangle mesh with what is needed to draw it.
///
/// Corners index positions, normals and texture coordinates separately, so that `positions` and
/// `triangles` alone are the surface as the file describes it, with shared vertices.
///
/// ```
/// use nalgebra::Vector3;
/// use std::path::Path;
/// use tarragon_geometry::mesh::{RenderMesh, parse_obj};
/// let mesh: RenderMesh = parse_obj(Path::new("t.obj"), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
/// assert_eq!((mesh.positions.len(), mesh.triangles[0]), (3, [0, 1, 2]));
/// let mirrored = mesh.scaled(&Vector3::new(-2.0, 1.0, 1.0));
/// assert_eq!((mirrored.positions[1].x, mirrored.triangles[0]), (-2.0, [0, 2, 1]));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderMesh {
    /// Vertices (m), in the order of the file; those of an STL file are merged where equal, those of
    /// a glTF file come once for every node that shows them.
    pub positions: Vec<Point3<f64>>,
    /// Unit normals.
    pub normals: Vec<Vector3<f64>>,
    /// Texture coordinates: u to the right, v up.
    pub uvs: Vec<[f64; 2]>,
    /// Triangles as indices into `positions`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Per triangle, the indices of its corners' normals.
    pub triangle_normals: Vec<[u32; 3]>,
    /// Per triangle, the indices of its corners' texture coordinates, [`RenderMesh::NO_UV`] where
    /// there are none; empty if the whole mesh has none.
    pub triangle_uvs: Vec<[u32; 3]>,
    /// Which triangles have which material; covers all triangles, in order.
    pub groups: Vec<MaterialGroup>,
    /// The materials.
    pub materials: Vec<Material>,
}

impl RenderMesh {
    /// Stands in `triangle_uvs` for "no texture coordinates".
    pub const NO_UV: u32 = u32::MAX;

    /// The mesh with its coordinates multiplied by `scale3`. Normals are adapted; where the factors
    /// mirror, the winding of every triangle is turned so that outside stays outside.
    pub fn scaled(mut self, scale3: &Vector3<f64>) -> Self {
        for p in &mut self.positions {
            p.coords.component_mul_assign(scale3);
        }
        for n in &mut self.normals {
            let scaled = n.component_div(scale3);
            *n = scaled.try_normalize(0.0).unwrap_or(*n);
        }
        if scale3.product() < 0.0 {
            for indices in [
                &mut self.triangles,
                &mut self.triangle_normals,
                &mut self.triangle_uvs,
            ] {
                indices.iter_mut().for_each(|t| t.swap(1, 2));
            }
        }
        self
    }
}

/// Reads a mesh file: `.obj` (with its `.mtl`), `.stl`, `.gltf` (with its buffers) or `.glb`.
///
/// # Errors
/// If the file can not be read, its suffix is not supported, or its content is wrong; the message
/// gives the file and the line, the byte of a binary file or the place in a glTF document.
pub fn read(path: &Path) -> Result<RenderMesh> {
    let suffix = path.extension().map(|s| s.to_string_lossy().to_lowercase());
    let parse = match suffix.as_deref() {
        Some("obj") => parse_obj,
        Some("stl") => parse_stl,
        Some("gltf" | "glb") => parse_gltf,
        other => {
            return Err(Error::invalid(format!(
                "{}: mesh files ending in '{}' are not supported yet, .obj, .stl, .gltf or .glb \
                 is expected",
                path.display(),
                other.map_or(String::new(), |s| format!(".{s}"))
            )));
        }
    };
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    parse(path, &bytes)
}

#[cfg(test)]
mod tests;
