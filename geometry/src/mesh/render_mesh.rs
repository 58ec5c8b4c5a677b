//! Triangle meshes for rendering.

use super::material::{Material, MaterialGroup};
use super::surface::TriangleSurfaceMesh;
use crate::error::{Error, Result};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use std::ops::Range;
use tarragon_framework::counted;

/// Triangle mesh with normals, texture coordinates, colours and materials.
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
    /// Vertices (m), in the order of the file. Equal vertices of an STL file are merged; those of a
    /// glTF or Collada file are repeated for every node that instantiates them.
    pub positions: Vec<Point3<f64>>,
    /// Unit normals.
    pub normals: Vec<Vector3<f64>>,
    /// Texture coordinates: u to the right, v up.
    pub uvs: Vec<[f64; 2]>,
    /// Triangles as indices into `positions`, counter-clockwise as seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Per triangle, the indices of its corners' normals.
    pub triangle_normals: Vec<[u32; 3]>,
    /// Per triangle, the indices of its corners' texture coordinates, [`RenderMesh::NO_UV`] for
    /// corners without any; empty if the whole mesh has none.
    pub triangle_uvs: Vec<[u32; 3]>,
    /// The same for textures with `uv_set` 1; empty if no texture uses a second set.
    pub triangle_second_uvs: Vec<[u32; 3]>,
    /// Per triangle, the tangents of its corners for normal maps: unit vectors along u, then 1 or
    /// -1, the sign of `(normal x tangent) . (direction of v)`, or [`RenderMesh::NO_TANGENT`];
    /// empty if the file has none. Engines compute those that they need and the file lacks.
    pub triangle_tangents: Vec<[[f32; 4]; 3]>,
    /// Colours of `positions` (red, green, blue and opacity, linear), which are multiplied by those
    /// of the material; empty if the file has none.
    pub colors: Vec<[f32; 4]>,
    /// Materials of the triangles; the groups cover all triangles, in order.
    pub groups: Vec<MaterialGroup>,
    /// The materials.
    pub materials: Vec<Material>,
    /// Names of the extensions that a glTF file uses and that are ignored.
    pub ignored_extensions: Vec<String>,
}

impl RenderMesh {
    /// Marker in `triangle_uvs` for corners without texture coordinates.
    pub const NO_UV: u32 = u32::MAX;
    /// Marker in `triangle_tangents` for corners without a tangent.
    pub const NO_TANGENT: [f32; 4] = [0.0; 4];

    /// Checks that all lists fit together, as engines require of meshes in memory. Those of readers
    /// always do.
    ///
    /// ```
    /// use tarragon_geometry::mesh::RenderMesh;
    /// let mesh = RenderMesh { triangles: vec![[0, 1, 2]], ..RenderMesh::default() };
    /// let error = mesh.check().unwrap_err().to_string();
    /// assert!(error.contains("triangles[0] must refer to positions below 0, got [0, 1, 2]"));
    /// ```
    ///
    /// # Errors
    /// Returns an error that names the first list, index or range that does not fit.
    pub fn check(&self) -> Result<()> {
        let n = self.triangles.len();
        let wrong = |what: String| Err(Error::invalid(format!("RenderMesh: {what}")));
        let counts = [
            ("triangle_normals", self.triangle_normals.len(), false),
            ("triangle_uvs", self.triangle_uvs.len(), true),
            ("triangle_second_uvs", self.triangle_second_uvs.len(), true),
            ("triangle_tangents", self.triangle_tangents.len(), true),
        ];
        let indices = [
            (
                "triangles",
                &self.triangles,
                "positions",
                self.positions.len(),
            ),
            (
                "triangle_normals",
                &self.triangle_normals,
                "normals",
                self.normals.len(),
            ),
            ("triangle_uvs", &self.triangle_uvs, "uvs", self.uvs.len()),
            (
                "triangle_second_uvs",
                &self.triangle_second_uvs,
                "uvs",
                self.uvs.len(),
            ),
        ];
        for (name, list, of, most) in indices {
            let has_markers = of == "uvs";
            let fits = |i: &u32| (*i as usize) < most || has_markers && *i == Self::NO_UV;
            if let Some(t) = list.iter().position(|t| !t.iter().all(fits)) {
                let found = list[t];
                return wrong(format!(
                    "{name}[{t}] must refer to {of} below {most}, got {found:?}"
                ));
            }
        }
        for (name, count, may_be_empty) in counts {
            if count != n && !(may_be_empty && count == 0) {
                return wrong(format!(
                    "{name} must have as many elements as triangles, {n}, got {count}"
                ));
            }
        }
        if !self.colors.is_empty() && self.colors.len() != self.positions.len() {
            return wrong(format!(
                "colors must be empty or have as many elements as positions, {}, got {}",
                self.positions.len(),
                self.colors.len()
            ));
        }
        let mut next = 0;
        for (g, group) in self.groups.iter().enumerate() {
            let Range { start, end } = group.triangles;
            if start != next || end < start || end > n {
                return wrong(format!(
                    "groups[{g}].triangles must be a range from {next} to at most {n}, got \
                    {start}..{end}"
                ));
            }
            if let Some(m) = group.material.filter(|m| *m >= self.materials.len()) {
                return wrong(format!(
                    "groups[{g}].material must be below the number of materials, {}, got {m}",
                    self.materials.len()
                ));
            }
            next = end;
        }
        if next == n {
            Ok(())
        } else {
            wrong(format!(
                "groups must cover all {triangles}, got {next}",
                triangles = counted(n, "triangle")
            ))
        }
    }

    /// Returns one mesh of several whose lists fit together.
    pub(crate) fn joined(meshes: &[&Self]) -> Self {
        let mut all = Self::default();
        for mesh in meshes {
            let [p, n, uv] =
                [all.positions.len(), all.normals.len(), all.uvs.len()].map(|count| count as u32);
            let (first, material) = (all.triangles.len(), all.materials.len());
            let count = mesh.triangles.len();
            let shifted = |i: u32| if i == Self::NO_UV { i } else { i + uv };
            for (list, own) in [
                (&mut all.triangle_uvs, &mesh.triangle_uvs),
                (&mut all.triangle_second_uvs, &mesh.triangle_second_uvs),
            ] {
                if !list.is_empty() || !own.is_empty() {
                    list.resize(first, [Self::NO_UV; 3]);
                    list.extend(own.iter().map(|t| t.map(shifted)));
                    list.resize(first + count, [Self::NO_UV; 3]);
                }
            }
            if !all.triangle_tangents.is_empty() || !mesh.triangle_tangents.is_empty() {
                let tangents = &mut all.triangle_tangents;
                tangents.resize(first, [Self::NO_TANGENT; 3]);
                tangents.extend(&mesh.triangle_tangents);
                tangents.resize(first + count, [Self::NO_TANGENT; 3]);
            }
            if !all.colors.is_empty() || !mesh.colors.is_empty() {
                all.colors.resize(p as usize, [1.0; 4]);
                all.colors.extend(&mesh.colors);
                all.colors
                    .resize(p as usize + mesh.positions.len(), [1.0; 4]);
            }
            all.positions.extend(&mesh.positions);
            all.normals.extend(&mesh.normals);
            all.uvs.extend(&mesh.uvs);
            let triangles = mesh.triangles.iter().map(|t| t.map(|v| v + p));
            all.triangles.extend(triangles);
            let normals = mesh.triangle_normals.iter().map(|t| t.map(|v| v + n));
            all.triangle_normals.extend(normals);
            all.materials.extend(mesh.materials.iter().cloned());
            all.groups
                .extend(mesh.groups.iter().map(|group| MaterialGroup {
                    material: group.material.map(|m| m + material),
                    triangles: group.triangles.start + first..group.triangles.end + first,
                }));
        }
        all
    }

    /// Returns the mesh with its coordinates multiplied by `scale3`. Normals are adapted. If the
    /// factors mirror the mesh, the winding of every triangle is reversed so that its front stays
    /// outside.
    pub fn scaled(mut self, scale3: &Vector3<f64>) -> Self {
        for p in &mut self.positions {
            p.coords.component_mul_assign(scale3);
        }
        for n in &mut self.normals {
            let scaled = n.component_div(scale3);
            *n = scaled.try_normalize(0.0).unwrap_or(*n);
        }
        self.transform_tangents(&Matrix3::from_diagonal(scale3));
        if scale3.product() < 0.0 {
            self.reverse_winding();
        }
        self
    }

    /// Returns the mesh with its coordinates multiplied by a matrix. Normals and winding are
    /// adapted as in [`scaled`](Self::scaled).
    pub fn transformed(mut self, linear: &Matrix3<f64>) -> Self {
        for p in &mut self.positions {
            p.coords = linear * p.coords;
        }
        let mirrors = linear.determinant() < 0.0;
        let for_normals = cofactors(linear) * if mirrors { -1.0 } else { 1.0 };
        for n in &mut self.normals {
            *n = (for_normals * *n).try_normalize(0.0).unwrap_or(*n);
        }
        self.transform_tangents(linear);
        if mirrors {
            self.reverse_winding();
        }
        self
    }

    /// Returns the mesh of the frame B in the frame A.
    pub(crate) fn posed(self, x_ab: &Isometry3<f64>) -> Self {
        let mut posed = self.transformed(&x_ab.rotation.to_rotation_matrix().into_inner());
        for p in &mut posed.positions {
            p.coords += x_ab.translation.vector;
        }
        posed
    }

    /// Returns the texture coordinates of a triangle's corners in a set; (0, 0) for corners without
    /// any.
    pub fn uvs_of(&self, triangle: usize, uv_set: usize) -> [[f64; 2]; 3] {
        let corners = self.uv_indices(triangle, uv_set);
        corners.map(|i| self.uvs.get(i as usize).copied().unwrap_or_default())
    }
    /// Returns the indices of the texture coordinates of a triangle's corners in a set, or
    /// [`RenderMesh::NO_UV`].
    pub(crate) fn uv_indices(&self, triangle: usize, uv_set: usize) -> [u32; 3] {
        let of_set = match uv_set {
            0 => &self.triangle_uvs,
            _ => &self.triangle_second_uvs,
        };
        of_set.get(triangle).copied().unwrap_or([Self::NO_UV; 3])
    }

    fn transform_tangents(&mut self, linear: &Matrix3<f64>) {
        let sign = if linear.determinant() < 0.0 {
            -1.0
        } else {
            1.0
        };
        for tangent in self.triangle_tangents.iter_mut().flatten() {
            let [x, y, z, w] = *tangent;
            let t = (linear * Vector3::new(x, y, z).cast()).try_normalize(0.0);
            let t = t.map_or(Self::NO_TANGENT, |t| {
                let t: Vector3<f32> = t.cast();
                [t.x, t.y, t.z, w * sign]
            });
            *tangent = t;
        }
    }

    /// Reverses the winding of all triangles.
    fn reverse_winding(&mut self) {
        for indices in [
            &mut self.triangles,
            &mut self.triangle_normals,
            &mut self.triangle_uvs,
            &mut self.triangle_second_uvs,
        ] {
            indices.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self.triangle_tangents.iter_mut().for_each(|t| t.swap(1, 2));
    }
}

/// Returns the inverse transpose of a matrix times its determinant; it exists for singular
/// matrices, too.
pub(in crate::mesh) fn cofactors(linear: &Matrix3<f64>) -> Matrix3<f64> {
    let [a, b, c] = [0, 1, 2].map(|k| linear.column(k).into_owned());
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

/// Returns the triangles and positions of a render mesh as a surface.
pub(crate) fn surface_of(mesh: RenderMesh) -> Result<TriangleSurfaceMesh> {
    let vertices = mesh.positions.iter().map(|p| p.coords).collect();
    TriangleSurfaceMesh::new(mesh.triangles, vertices)
}
