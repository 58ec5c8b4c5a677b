//! Meshes, in files that MuJoCo reads.

use super::MjcfWriter;
use super::height_fields::write_height_field;
use crate::reading::obj_objects::first_object;
use crate::writing::mesh_conversion::stem_of;
use nalgebra::Vector3;
use std::path::Path;
use tarragon_documents::read_file;
use tarragon_geometry::{MeshSource, Shape};

/// Volume of a convex hull (m^3) from which on MuJoCo computes with a mesh.
const LEAST_VOLUME: f64 = 1e-14;
/// Bytes of a binary STL file before its triangles, and per triangle; maximum number of triangles
/// that MuJoCo reads.
const STL: (u64, u64, u64) = (84, 50, 200_000);

/// A mesh of the assets.
struct WrittenMesh {
    name: String,
    file: String,
    scale: Vector3<f64>,
    is_flat: bool,
}

impl MjcfWriter<'_> {
    /// Writes the assets: all height fields and meshes of all bodies.
    pub(super) fn write_meshes(&mut self) {
        let plant = self.document.plant;
        let mut assets: Vec<WrittenMesh> = vec![];
        for (body, _) in plant.bodies() {
            for geom in self.geoms(body) {
                let shape = geom.visual.as_ref().or(geom.collision.as_ref());
                let Some((shape, (source, scale))) =
                    shape.and_then(|g| Some((g.shape, mesh_of(g.shape)?)))
                else {
                    continue;
                };
                let key = key(source, &scale);
                if self.meshes.contains_key(&key) {
                    continue;
                }
                let what = format!("mesh '{}'", source.description());
                let Some(file) = self.mesh_file(source, &what) else {
                    continue;
                };
                let clean = self.document.clean_name(&stem_of(source));
                let name = self.names.meshes.take(&clean);
                self.meshes.insert(key.clone(), name.clone());
                let is_flat = is_flat(shape);
                if is_flat {
                    self.flat_meshes.insert(key);
                }
                assets.push(WrittenMesh {
                    name,
                    file,
                    scale,
                    is_flat,
                });
            }
        }
        let fields = self.plan_height_fields();
        if assets.is_empty() && fields.is_empty() {
            return;
        }
        let xml = &mut self.document.xml;
        xml.start("asset");
        for (field, name) in &fields {
            write_height_field(xml, field, name);
        }
        self.height_fields = fields;
        let xml = &mut self.document.xml;
        for asset in assets {
            xml.start("mesh").attribute("name", &asset.name);
            xml.attribute("file", &asset.file);
            if asset.scale != Vector3::repeat(1.0) {
                xml.numbers("scale", asset.scale.as_slice());
            }
            if asset.is_flat {
                // MuJoCo refuses a mesh without volume otherwise.
                xml.attribute("inertia", "shell");
            }
            xml.end();
        }
        xml.end();
    }

    /// Returns the text that refers to the file of a mesh; a file that MuJoCo cannot read as it is
    /// meant is converted. `None` if the mesh is left out, which is reported.
    fn mesh_file(&mut self, source: &MeshSource, what: &str) -> Option<String> {
        let Some(path) = source.path() else {
            return self.document.uri_of_mesh_in_memory(source, what);
        };
        let Some(why) = why_not_in_mujoco(path) else {
            return self.document.uri(path, what);
        };
        match self.document.convert_mesh(source) {
            Ok(Some(name)) => Some(name),
            Ok(None) => {
                self.document.warn(format!(
                    "{what}: MuJoCo {why}; save the model to a file, which converts the mesh"
                ));
                self.document.uri(path, what)
            }
            Err(e) => {
                self.document.warn(format!(
                    "{what}: left out, because it cannot be converted for MuJoCo: {e}"
                ));
                None
            }
        }
    }

    /// Returns true for a mesh that is too flat for contact in MuJoCo, and reports it.
    pub(super) fn is_flat(&mut self, what: &str, shape: &Shape) -> bool {
        let mesh = mesh_of(shape);
        let is_flat =
            mesh.is_some_and(|(source, scale)| self.flat_meshes.contains(&key(source, &scale)));
        if is_flat {
            self.document.warn(format!(
                "{what}: gets no contact, because MuJoCo refuses contact of meshes without volume"
            ));
        }
        is_flat
    }
}

/// Returns what MuJoCo does to a mesh file that it does not read as it is meant; `None` if it does.
fn why_not_in_mujoco(path: &Path) -> Option<&'static str> {
    let suffix = path.extension().unwrap_or_default().to_string_lossy();
    match &*suffix.to_lowercase() {
        "obj" => {
            let bytes = read_file(path).ok()?;
            first_object(path, &bytes).map(|_| "reads only the first of its objects")
        }
        "msh" => None,
        "stl" => {
            let length = std::fs::metadata(path).map_or(0, |m| m.len());
            let (header, each, most) = STL;
            let triangles = length.saturating_sub(header) / each;
            let is_binary =
                count_in_header(path) == Some(triangles) && length == header + each * triangles;
            (!is_binary || triangles > most).then_some(
                "refuses it, because it reads only binary STL files of at most 200000 triangles",
            )
        }
        _ => Some("refuses it, because it reads only meshes in OBJ, STL and MSH files"),
    }
}

fn count_in_header(path: &Path) -> Option<u64> {
    use std::io::Read;
    let mut header = [0; 84];
    let mut file = std::fs::File::open(path).ok()?;
    file.read_exact(&mut header).ok()?;
    let count = header[80..].try_into().ok()?;
    Some(u64::from(u32::from_le_bytes(count)))
}

/// Returns true if the convex hull of a mesh has no volume. A mesh that cannot be read is not flat.
fn is_flat(shape: &Shape) -> bool {
    let hull = match shape {
        Shape::Mesh(mesh) => mesh.convex_hull(),
        Shape::Convex(mesh) => mesh.convex_hull(),
        _ => return false,
    };
    hull.is_ok_and(|hull| hull.to_triangles().calc_enclosed_volume().abs() < LEAST_VOLUME)
}

pub(super) fn mesh_of(shape: &Shape) -> Option<(&MeshSource, Vector3<f64>)> {
    match shape {
        Shape::Mesh(mesh) => Some((mesh.source(), mesh.scale3())),
        Shape::Convex(mesh) => Some((mesh.source(), mesh.scale3())),
        _ => None,
    }
}

/// Returns the text by which equal meshes are found.
pub(super) fn key(source: &MeshSource, scale: &Vector3<f64>) -> String {
    let kind = if source.is_path() { "file" } else { "memory" };
    format!("{:?} {kind} {}", scale.as_slice(), source.description())
}
