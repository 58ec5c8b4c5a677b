//! Mesh files: bounds, faces, whether the surface is closed, and mass properties.

use super::report::{number, numbers};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use tarragon::documents::names::shown_suffix;
use tarragon::formats::MODEL_SUFFIXES;
use tarragon::framework::counted;
use tarragon::geometry::MassProperties;
use tarragon::geometry::MeshSource;
use tarragon::geometry::mesh::{self, MESH_SUFFIXES, RenderMesh, TriangleSurfaceMesh, VolumeMesh};

/// Density (kg/m^3) for which masses and inertias are reported: water.
const DENSITY: f64 = 1000.0;

/// Returns true if a file is a mesh and no model.
pub(super) fn is_mesh_only(file: &Path) -> bool {
    is_mesh(file) && !is_mesh_and_model(file)
}

fn is_mesh(file: &Path) -> bool {
    MESH_SUFFIXES.iter().any(|suffix| has_suffix(file, suffix))
}

/// Returns what is wrong with the suffix of a file that is neither a model nor a mesh.
pub(super) fn unknown_suffix(file: &Path) -> Option<String> {
    let name = file.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_lowercase();
    let is_model = |suffix: &&str| name.ends_with(&format!(".{suffix}"));
    if is_mesh(file) || MODEL_SUFFIXES.iter().any(is_model) {
        return None;
    }
    let meshes: Vec<&str> = MESH_SUFFIXES.into_iter().filter(|s| *s != "obj").collect();
    Some(format!(
        "{}: the suffix must be that of a model (.{}) or of a mesh (.{}), got {}",
        file.display(),
        MODEL_SUFFIXES.join(", ."),
        meshes.join(", ."),
        shown_suffix(file)
    ))
}

/// Returns true if a file is a mesh that is read as a model, too.
pub(super) fn is_mesh_and_model(file: &Path) -> bool {
    has_suffix(file, "obj")
}

fn has_suffix(file: &Path, suffix: &str) -> bool {
    let extension = file.extension().map(|e| e.eq_ignore_ascii_case(suffix));
    extension.unwrap_or(false)
}

/// Properties of a mesh file.
pub(super) struct InspectedMesh {
    vertices: usize,
    faces: usize,
    lower: Vector3<f64>,
    upper: Vector3<f64>,
    area: f64,
    edges: Edges,
    tetrahedra: Option<Tetrahedra>,
    /// Mass properties, or the reason why there are none.
    solid: Result<MassProperties, String>,
}

/// Edges of a surface, whose vertices are the same if they are at the same place.
#[derive(Debug, Default, PartialEq)]
struct Edges {
    /// Edges of one face alone.
    open: usize,
    /// Edges of more than two faces.
    crowded: usize,
    /// Edges whose faces disagree about which side is outside.
    twisted: usize,
}

struct Tetrahedra {
    count: usize,
    /// Those whose corners all lie on the boundary: a field that vanishes there is zero in them.
    flat: usize,
}

impl InspectedMesh {
    /// Reads a file.
    pub(super) fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let read = mesh::read(file)?;
        let volume = if has_suffix(file, "vtk") {
            let volume = mesh::read_volume(&MeshSource::from(file))?;
            mesh::warn_of_faulty_tetrahedra(file, &volume);
            Some(volume)
        } else {
            None
        };
        let surface = TriangleSurfaceMesh::new(
            read.triangles.iter().copied(),
            read.positions.iter().map(|p| p.coords).collect(),
        )?;
        let edges = Edges::of(&read);
        let (lower, upper) = match &volume {
            Some(volume) => bounds(volume.vertices()),
            None => bounds(surface.vertices()),
        };
        let solid = match &volume {
            Some(volume) => MassProperties::of_volume(volume, DENSITY).map_err(|e| e.to_string()),
            None if !edges.is_closed() => Err("the surface is not closed".into()),
            None => MassProperties::of_surface(&surface, DENSITY).map_err(|e| e.to_string()),
        };
        Ok(Self {
            vertices: match &volume {
                Some(volume) => volume.num_vertices(),
                None => surface.num_vertices(),
            },
            faces: surface.num_triangles(),
            lower,
            upper,
            area: surface.total_area(),
            edges,
            tetrahedra: volume.as_ref().map(Tetrahedra::of),
            solid,
        })
    }

    /// Text of several lines.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let point = |p: &Vector3<f64>| format!("[{} {} {}]", p.x, p.y, p.z);
        // Below a nanometre, there is only rounding.
        let rounded = |p: &Vector3<f64>| point(&p.map(|x| (x * 1e9).round() / 1e9));
        let mut line = |what: &str, value: String| {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "  {what:<22}{value}");
        };
        let size = self.upper - self.lower;
        line(
            "bounds (m)",
            format!("{} to {}", point(&self.lower), point(&self.upper)),
        );
        line("size (m)", rounded(&size));
        let (vertices, faces) = (
            counted(self.vertices, "vertex"),
            counted(self.faces, "face"),
        );
        line("mesh", format!("{vertices}, {faces}"));
        if let Some(tetrahedra) = &self.tetrahedra {
            let count = counted(tetrahedra.count, "tetrahedron");
            let flat = tetrahedra.flat;
            line(
                "tetrahedra",
                format!("{count}, {flat} with all corners on the boundary"),
            );
        }
        line("surface", self.edges.text());
        line("area (m^2)", format!("{:.6e}", self.area));
        match &self.solid {
            Ok(solid) => {
                line("volume (m^3)", format!("{:.6e}", solid.volume()));
                line("centre of mass (m)", rounded(&solid.center_of_mass()));
                line(
                    "mass (kg)",
                    format!("{:.6e} at {DENSITY} kg/m^3", solid.mass()),
                );
                let inertia = solid.inertia_about_center_of_mass();
                let shown = |list: [f64; 3]| list.map(|x| format!("{x:.6e}")).join(" ");
                let (diagonal, products) = (moments(&inertia), products(&inertia));
                line(
                    "inertia (kg m^2)",
                    "about the centre of mass, at that density".into(),
                );
                line("  ixx iyy izz", shown(diagonal));
                line("  ixy ixz iyz", shown(products));
            }
            Err(why) => line("volume", format!("none: {why}")),
        }
        text.trim_end().into()
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Value {
        let mut found = json!({
            "num_vertices": self.vertices,
            "num_faces": self.faces,
            "bounds": [numbers(&self.lower), numbers(&self.upper)],
            "area": number(self.area),
            "closed": self.edges.is_closed(),
            "num_open_edges": self.edges.open,
            "num_edges_of_many_faces": self.edges.crowded,
            "num_edges_of_opposed_faces": self.edges.twisted,
        });
        if let Some(tetrahedra) = &self.tetrahedra {
            found["num_tetrahedra"] = tetrahedra.count.into();
            found["num_tetrahedra_on_boundary"] = tetrahedra.flat.into();
        }
        match &self.solid {
            Ok(solid) => {
                let inertia = solid.inertia_about_center_of_mass();
                found["volume"] = number(solid.volume());
                found["density"] = number(DENSITY);
                found["mass"] = number(solid.mass());
                found["com"] = numbers(&solid.center_of_mass());
                found["I_cm_moments"] = numbers(&moments(&inertia));
                found["I_cm_products"] = numbers(&products(&inertia));
            }
            Err(why) => {
                found["volume"] = Value::Null;
                found["volume_error"] = why.as_str().into();
            }
        }
        found
    }
}

fn moments(i: &Matrix3<f64>) -> [f64; 3] {
    [i[(0, 0)], i[(1, 1)], i[(2, 2)]]
}

fn products(i: &Matrix3<f64>) -> [f64; 3] {
    [i[(0, 1)], i[(0, 2)], i[(1, 2)]]
}

fn bounds(vertices: &[Vector3<f64>]) -> (Vector3<f64>, Vector3<f64>) {
    let infinite = Vector3::repeat(f64::INFINITY);
    vertices
        .iter()
        .fold((infinite, -infinite), |(l, u), v| (l.inf(v), u.sup(v)))
}

impl Edges {
    fn of(mesh: &RenderMesh) -> Self {
        // glTF and Collada files repeat vertices that have several normals.
        let mut places: HashMap<[u64; 3], u32> = HashMap::new();
        let mut place = |v: u32| {
            let p = &mesh.positions[v as usize];
            // Zero has two signs.
            let bits = [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
            let next = places.len() as u32;
            *places.entry(bits).or_insert(next)
        };
        // Per edge, the numbers of faces along it and against it.
        let mut faces: HashMap<(u32, u32), [usize; 2]> = HashMap::new();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(&mut place);
            // A face without area closes nothing.
            if a == b || b == c || c == a {
                continue;
            }
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let count = faces.entry((from.min(to), from.max(to))).or_default();
                count[usize::from(from > to)] += 1;
            }
        }
        let mut edges = Self::default();
        for [along, against] in faces.into_values() {
            match (along + against, along == against) {
                (1, _) => edges.open += 1,
                (2, true) => {}
                (2, false) => edges.twisted += 1,
                _ => edges.crowded += 1,
            }
        }
        edges
    }

    /// Whether the surface bounds a solid.
    fn is_closed(&self) -> bool {
        self.open == 0
    }

    fn text(&self) -> String {
        let mut text = match self.open {
            0 => "closed".to_string(),
            n => format!("not closed: {}", counted(n, "open edge")),
        };
        for (count, what) in [
            (self.crowded, "of more than two faces"),
            (self.twisted, "of faces with opposite orientations"),
        ] {
            if count > 0 {
                text += &format!(", {} {what}", counted(count, "edge"));
            }
        }
        text
    }
}

impl Tetrahedra {
    fn of(mesh: &VolumeMesh) -> Self {
        let faces = |t: [u32; 4]| {
            [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]].map(|face: [usize; 3]| {
                let mut face = face.map(|i| t[i]);
                face.sort_unstable();
                face
            })
        };
        let tetrahedra = || mesh.tetrahedra().iter().map(|t| t.vertices());
        let mut counts: HashMap<[u32; 3], usize> = HashMap::new();
        for face in tetrahedra().flat_map(faces) {
            *counts.entry(face).or_default() += 1;
        }
        let mut is_outside = vec![false; mesh.num_vertices()];
        for (face, _) in counts.iter().filter(|(_, count)| **count == 1) {
            face.iter().for_each(|v| is_outside[*v as usize] = true);
        }
        let is_flat = |t: &[u32; 4]| t.iter().all(|v| is_outside[*v as usize]);
        Self {
            count: mesh.num_elements(),
            flat: tetrahedra().filter(is_flat).count(),
        }
    }
}
