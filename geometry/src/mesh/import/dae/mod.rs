//! Reader of Collada 1.4 and 1.5 files (Khronos, "COLLADA - Digital Asset Schema", releases 1.4.1
//! and 1.5.0).

mod document;
mod geometry;
mod materials;
mod scene;

use self::document::DaeDocument;
use self::geometry::{DaeGeometry, MaterialTriangles};
use self::materials::DaeMaterials;
use self::scene::PlacedGeometry;
use super::affine::direction;
use super::origin::FileOrigin;
use crate::error::Result;
use crate::mesh::normals::{Smoothing, add_missing};
use crate::mesh::{MaterialGroup, RenderMesh};
use nalgebra::{Point3, Vector3};
use roxmltree::NodeId;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// Maximum number of vertices and of triangles of a scene: a few gigabytes when rendered. Nodes can
/// instantiate meshes many times, so even a small file could ask for any amount of memory.
const MAX_ELEMENTS: usize = 1 << 25;

/// Reads the content of a Collada file; textures are looked up in the folder of `path`.
///
/// The result merges the meshes of all nodes of the scene (of the first visual scene if the file
/// names none, of all geometries if there is no visual scene), in metres according to the `<unit>`
/// of the file. Coordinates are used as written, whatever `<up_axis>` says, and z is up. The reason
/// is that RViz and Gazebo have never rotated Collada meshes and robots' files are made to look
/// right there, although some claim another axis, or y by leaving the element out.
///
/// Triangles, polygons of all kinds, strips and fans are read; holes of polygons are filled. Parts
/// without normals are smooth between triangles that meet at less than 30 degrees. Materials
/// provide their diffuse colour or its texture (with its wrapping modes) and their opacity; the
/// texture coordinates are those of the lowest set. Some exporters write 0 for opaque, so a
/// completely transparent material is shown opaque. Skinned meshes are shown undeformed. Lines,
/// curves, vertex colours, lights, cameras and animations are ignored.
///
/// ```
/// use std::path::Path;
/// use tarragon_geometry::mesh::parse_dae;
/// let text = r##"<COLLADA version="1.4.1"><asset><unit meter="0.01"/></asset>
///     <library_geometries><geometry id="g"><mesh>
///         <source id="s"><float_array id="a" count="9">0 0 0 100 0 0 0 100 0</float_array>
///             <technique_common><accessor source="#a" count="3" stride="3"/></technique_common>
///         </source>
///         <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
///         <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/>
///             <p>0 1 2</p></triangles>
///     </mesh></geometry></library_geometries></COLLADA>"##;
/// let mesh = parse_dae(Path::new("triangle.dae"), text.as_bytes())?;
/// assert_eq!((mesh.positions[1].x, mesh.triangles[0]), (1.0, [0, 1, 2]));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the content is no XML document of that kind, a number is not finite, an
/// index is out of range, something that is referred to is missing, nodes contain themselves, or
/// there are no triangles; the message gives line and column.
pub fn parse_dae(path: &Path, bytes: &[u8]) -> Result<RenderMesh> {
    parse(FileOrigin::on_disk(path), bytes)
}

/// Reads a Collada file as [`parse_dae`] does, with textures from any origin.
pub(super) fn parse(origin: FileOrigin<'_>, bytes: &[u8]) -> Result<RenderMesh> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let xml = document::parse_xml(origin.path, text)?;
    let document = DaeDocument::new(origin, &xml)?;
    let mut reader = DaeReader {
        document: &document,
        geometries: HashMap::new(),
        materials: DaeMaterials::new(&document),
        mesh: RenderMesh::default(),
        without_normals: vec![],
    };
    for placed in scene::placed_geometries(&document)? {
        reader.add(&placed)?;
    }
    reader.finish()
}

struct DaeReader<'d, 'x> {
    document: &'d DaeDocument<'x>,
    /// Geometries read so far, by element.
    geometries: HashMap<NodeId, Rc<DaeGeometry<'x>>>,
    materials: DaeMaterials<'d, 'x>,
    mesh: RenderMesh,
    without_normals: Vec<(usize, Smoothing)>,
}

impl<'x> DaeReader<'_, 'x> {
    fn geometry(&mut self, placed: &PlacedGeometry<'x>) -> Result<Rc<DaeGeometry<'x>>> {
        let id = placed.geometry.id();
        if let Some(known) = self.geometries.get(&id) {
            return Ok(Rc::clone(known));
        }
        let geometry = Rc::new(DaeGeometry::read(self.document, placed.geometry)?);
        self.geometries.insert(id, Rc::clone(&geometry));
        Ok(geometry)
    }

    fn add(&mut self, placed: &PlacedGeometry<'x>) -> Result<()> {
        let geometry = self.geometry(placed)?;
        if geometry.parts.iter().all(|part| part.triangles.is_empty()) {
            return Ok(());
        }
        let triangles: usize = geometry.parts.iter().map(|p| p.triangles.len()).sum();
        let all = [
            self.mesh.triangles.len() + triangles,
            self.mesh.positions.len() + geometry.positions.len(),
            self.mesh.normals.len() + geometry.normals.len(),
            self.mesh.uvs.len() + geometry.uvs.len(),
        ];
        if all.into_iter().any(|n| n > MAX_ELEMENTS) {
            return Err(self.document.error(
                placed.instance,
                format!(
                    "the scene must have at most {MAX_ELEMENTS} vertices, normals, texture coordinates \
                    and triangles each"
                ),
            ));
        }
        let base = self.positions(placed, &geometry)?;
        let first_normal = self.mesh.normals.len() as u32;
        let map = placed.x_gn.for_normals();
        // Exporters write zeros and NaN for degenerate triangles, where any direction will do.
        let unit = |n: &Vector3<f64>| direction(map * n).unwrap_or_else(Vector3::z);
        self.mesh.normals.extend(geometry.normals.iter().map(unit));
        let first_uv = self.mesh.uvs.len() as u32;
        self.mesh.uvs.extend(&geometry.uvs);
        for part in &geometry.parts {
            self.add_part(placed, part, [base, first_normal, first_uv]);
        }
        Ok(())
    }

    /// Appends vertices and returns the index of the first.
    fn positions(
        &mut self,
        placed: &PlacedGeometry<'x>,
        geometry: &DaeGeometry<'_>,
    ) -> Result<u32> {
        let base = self.mesh.positions.len() as u32;
        for p in &geometry.positions {
            let p = placed.x_gn.linear * p + placed.x_gn.offset;
            if !p.iter().all(|x| x.is_finite()) {
                return Err(self.document.error(
                    placed.instance,
                    format!(
                        "coordinates of vertices must be finite, got ({:?}, {:?}, {:?})",
                        p.x, p.y, p.z
                    ),
                ));
            }
            self.mesh.positions.push(Point3::from(p));
        }
        Ok(base)
    }

    fn add_part(
        &mut self,
        placed: &PlacedGeometry<'x>,
        part: &MaterialTriangles<'x>,
        bases: [u32; 3],
    ) {
        let mirrors = placed.x_gn.mirrors();
        let first = self.mesh.triangles.len();
        for corners in &part.triangles {
            let [a, b, c] = *corners;
            let corners = if mirrors { [a, c, b] } else { [a, b, c] };
            let t = self.mesh.triangles.len();
            self.mesh
                .triangles
                .push(corners.map(|c| c.position + bases[0]));
            let normals = corners.map(|c| c.normal.map(|n| n + bases[1]));
            if normals.contains(&None) {
                self.without_normals.push((t, Smoothing::Auto));
            }
            let normals = normals.map(Option::unwrap_or_default);
            self.mesh.triangle_normals.push(normals);
            let uvs = corners.map(|c| c.uv.map_or(RenderMesh::NO_UV, |uv| uv + bases[2]));
            self.mesh.triangle_uvs.push(uvs);
        }
        let end = self.mesh.triangles.len();
        if first == end {
            return;
        }
        let material = part
            .material
            .and_then(|symbol| self.materials.bound(placed.instance, symbol));
        match self.mesh.groups.last_mut() {
            Some(group) if group.material == material => group.triangles.end = end,
            _ => self.mesh.groups.push(MaterialGroup {
                material,
                triangles: first..end,
            }),
        }
    }

    fn finish(self) -> Result<RenderMesh> {
        let mut mesh = self.mesh;
        if mesh.triangles.is_empty() {
            let root = self.document.root();
            return Err(self
                .document
                .error(root, "the scene must have at least one triangle, got none"));
        }
        mesh.materials = self.materials.into_materials();
        add_missing(&mut mesh, &self.without_normals);
        if mesh.uvs.is_empty() {
            mesh.triangle_uvs = vec![];
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests;
