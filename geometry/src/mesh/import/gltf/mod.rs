//! Reader of glTF 2.0 files, text and binary.
//!
//! The `gltf` crate parses and iterates, but panics on some invalid files that its validation
//! accepts; the code here checks for these first.

mod attributes;
mod colors;
mod document;
mod materials;
mod origin;
mod texture_transform;
mod uri;

use self::document::{GltfDocument, PlacedMesh};
use self::materials::GltfMaterials;
use self::origin::GltfOrigin;
use super::origin::FileOrigin;
use crate::error::Result;
use crate::mesh::normals::{Smoothing, add_missing};
use crate::mesh::triangulate::strip;
use crate::mesh::{Material, MaterialGroup, RenderMesh};
use gltf::accessor::{DataType, Dimensions};
use gltf::mesh::Mode;
use gltf::{Accessor, Primitive, Semantic};
use std::collections::BTreeMap;
use std::path::Path;
use tarragon_framework::counted;

/// Maximum number of vertices and of triangles of a scene: a few gigabytes when rendered. Nodes can
/// instantiate meshes many times, so even a small file could ask for any amount of memory.
const MAX_ELEMENTS: usize = 1 << 25;

/// Reads the content of a glTF 2.0 file, text or binary (`.glb`); buffers are looked up in the
/// folder of `path`.
///
/// The result merges the meshes of all nodes of the default scene (of the first scene if there is
/// no default, of all nodes if there is no scene). It is rotated by 90 degrees about x, because y
/// is up in glTF and z is up here, as in Drake. Triangles without normals are flat, as the
/// specification demands.
///
/// All properties of materials are read: base colour, metalness, roughness, emitted light, alpha
/// mode, and the textures of these, of normals and of occlusion (PNG or JPEG, with wrapping modes
/// and up to two sets of texture coordinates per material); vertex colours and tangents are read,
/// too, and the extensions `KHR_texture_transform`, `KHR_materials_unlit` and
/// `KHR_materials_emissive_strength`. Images of other
/// formats, such as KTX2, are left out with a warning. Primitives without a material are white
/// plastic. Animations, points, lines and [other extensions](RenderMesh::ignored_extensions) are
/// ignored.
///
/// # Errors
/// Returns an error if the content is not valid glTF 2.0, a buffer cannot be read, a number is not
/// finite, an accessor is sparse, or there are no triangles; an error of kind
/// [`Unsupported`](crate::ErrorKind::Unsupported) if another extension is required, or there are
/// skins or morph targets.
pub fn parse_gltf(path: &Path, bytes: &[u8]) -> Result<RenderMesh> {
    parse(FileOrigin::on_disk(path), bytes)
}

/// Reads a glTF file as [`parse_gltf`] does, with buffers and images from any origin.
pub(super) fn parse(origin: FileOrigin<'_>, bytes: &[u8]) -> Result<RenderMesh> {
    let document = GltfDocument::open(GltfOrigin(origin), bytes)?;
    let placed = document.placed_meshes()?;
    check_size(&document, placed.iter().flat_map(|p| p.mesh.primitives()))?;
    let materials = GltfMaterials::read(&document);
    let mut reader = GltfReader::new(&document, &materials, materials.materials.clone());
    for placed in &placed {
        for primitive in placed.mesh.primitives() {
            reader.primitive(placed, &primitive)?;
        }
    }
    reader.finish()
}

/// Reads single primitives of a self-contained glTF 2.0 document, text or binary: each as a mesh
/// with at most one material, with its coordinates as they are in the document, without the
/// transformations of nodes and with y up if the document has y up.
///
/// `primitives` are indices into `meshes`, each with an index into its `primitives`; `name` is that
/// of the document in messages. Buffers and images must be in the document: no file is read.
///
/// ```
/// use std::path::Path;
/// use tarragon_geometry::mesh::parse_gltf_primitives;
/// let document = br#"{"asset": {"version": "2.0"}}"#;
/// assert_eq!(parse_gltf_primitives(Path::new("empty"), document, &[])?, []);
/// let error = parse_gltf_primitives(Path::new("empty"), document, &[(1, 0)]).unwrap_err();
/// assert!(error.to_string().contains("meshes[1].primitives[0]"));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`parse_gltf`], and an error if a primitive does not exist, is made of
/// points or lines, or refers to a file.
pub fn parse_gltf_primitives(
    name: &Path,
    bytes: &[u8],
    primitives: &[(usize, usize)],
) -> Result<Vec<RenderMesh>> {
    let no_files = BTreeMap::new();
    let origin = GltfOrigin(FileOrigin::in_memory(name, &no_files));
    let document = GltfDocument::open(origin, bytes)?;
    // Looked up once, because finding the n-th of a document takes n steps.
    let meshes: Vec<gltf::Mesh<'_>> = document.gltf.meshes().collect();
    let mut opened: BTreeMap<usize, Vec<Primitive<'_>>> = BTreeMap::new();
    let find = |&(m, p): &(usize, usize)| {
        let found = meshes.get(m).and_then(|mesh| {
            let primitives = opened
                .entry(m)
                .or_insert_with(|| mesh.primitives().collect());
            Some((primitives.get(p)?.clone(), mesh.clone()))
        });
        found.ok_or_else(|| origin.error(format!("meshes[{m}].primitives[{p}] must exist")))
    };
    let found = primitives.iter().map(find).collect::<Result<Vec<_>>>()?;
    check_size(
        &document,
        found.iter().map(|(primitive, _)| primitive.clone()),
    )?;
    let materials = GltfMaterials::read(&document);
    let read = |(primitive, mesh): (Primitive<'_>, gltf::Mesh<'_>)| {
        let own = primitive.material().index();
        let own = own.and_then(|i| materials.materials.get(i));
        let own = own.cloned().into_iter().collect();
        let mut reader = GltfReader::new(&document, &materials, own);
        reader.primitive(&PlacedMesh::unplaced(mesh), &primitive)?;
        if let Some(group) = reader.mesh.groups.first_mut() {
            group.material = Some(0);
        }
        reader.finish()
    };
    found.into_iter().map(read).collect()
}

/// Returns the number of triangles that `corners` corners make in a mode; `None` for points and
/// lines.
fn triangle_count(mode: Mode, corners: usize) -> Option<usize> {
    match mode {
        Mode::Triangles => Some(corners / 3),
        Mode::TriangleStrip | Mode::TriangleFan => Some(corners.saturating_sub(2)),
        Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => None,
    }
}

/// Refuses scenes that are too large, before allocating memory for them.
fn check_size<'a>(
    document: &GltfDocument<'a>,
    primitives: impl Iterator<Item = Primitive<'a>>,
) -> Result<()> {
    let (mut vertices, mut triangles) = (0usize, 0usize);
    for primitive in primitives {
        let points = primitive.get(&Semantic::Positions).map_or(0, |a| a.count());
        let corners = primitive.indices().map_or(points, |a| a.count());
        if let Some(count) = triangle_count(primitive.mode(), corners) {
            vertices = vertices.saturating_add(points);
            triangles = triangles.saturating_add(count);
        }
    }
    if vertices.max(triangles) > MAX_ELEMENTS {
        return Err(document.at.error(format!(
            "the scene must have at most {num_vertices} and as many triangles, got \
            {needed} and {num_triangles}",
            num_vertices = counted(MAX_ELEMENTS, "vertex"),
            needed = counted(vertices, "vertex"),
            num_triangles = counted(triangles, "triangle")
        )));
    }
    Ok(())
}

/// Texture coordinates of a triangle that has none.
const NO_UVS: [u32; 3] = [RenderMesh::NO_UV; 3];

struct GltfReader<'a> {
    document: &'a GltfDocument<'a>,
    materials: &'a GltfMaterials,
    mesh: RenderMesh,
    without_normals: Vec<(usize, Smoothing)>,
    /// Index of the material of primitives that have none.
    default_material: Option<usize>,
}

impl<'a> GltfReader<'a> {
    /// Creates a reader of a mesh with the materials `used`, the document's or one of them.
    fn new(
        document: &'a GltfDocument<'a>,
        materials: &'a GltfMaterials,
        used: Vec<Material>,
    ) -> Self {
        Self {
            materials,
            default_material: None,
            mesh: RenderMesh {
                materials: used,
                ignored_extensions: document.ignored_extensions(),
                ..RenderMesh::default()
            },
            without_normals: Vec::new(),
            document,
        }
    }
    fn primitive(&mut self, placed: &PlacedMesh<'a>, primitive: &Primitive<'a>) -> Result<()> {
        let at = self.document.at;
        let place = format!(
            "meshes[{}].primitives[{}]",
            placed.mesh.index(),
            primitive.index()
        );
        if triangle_count(primitive.mode(), 0).is_none() {
            return Ok(());
        }
        let Some(positions) = primitive.get(&Semantic::Positions) else {
            return Err(at.error(format!("{place} must have the attribute POSITION")));
        };
        let count = positions.count();
        let mut triangles = self.triangles(&place, primitive, count)?;
        if placed.x_gn.mirrors() {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }

        let first = self.mesh.triangles.len();
        let base = self.positions(placed, positions)?;
        let shifted = |base: u32| triangles.iter().map(move |t| t.map(|i| i + base));
        self.mesh.triangles.extend(shifted(base));

        match primitive.get(&Semantic::Normals) {
            Some(normals) => {
                let base = self.normals(placed, normals, count)?;
                self.mesh.triangle_normals.extend(shifted(base));
            }
            None => {
                let new = first..self.mesh.triangles.len();
                self.mesh.triangle_normals.resize(new.end, [0; 3]);
                self.without_normals
                    .extend(new.map(|t| (t, Smoothing::Flat)));
            }
        }

        let material = primitive.material();
        let (set, second_set) = self.materials.uv_sets(material.index());
        let uvs = self.uvs(primitive, set, count)?;
        let more = uvs.map_or(vec![NO_UVS; triangles.len()], |base| {
            shifted(base).collect()
        });
        self.mesh.triangle_uvs.extend(more);
        if let Some(set) = second_set
            && let Some(base) = self.uvs(primitive, set, count)?
        {
            // Those of earlier primitives may have none.
            self.mesh.triangle_second_uvs.resize(first, NO_UVS);
            self.mesh.triangle_second_uvs.extend(shifted(base));
        }
        if self.materials.has_normal_map(material.index())
            && primitive.get(&Semantic::Normals).is_some()
            && let Some(tangents) = primitive.get(&Semantic::Tangents)
        {
            let tangents = self.tangents(placed, tangents, count)?;
            let none = [RenderMesh::NO_TANGENT; 3];
            self.mesh.triangle_tangents.resize(first, none);
            let of_corners = triangles.iter().map(|t| t.map(|v| tangents[v as usize]));
            self.mesh.triangle_tangents.extend(of_corners);
        }
        if let Some(colors) = primitive.get(&Semantic::Colors(0)) {
            self.same_count("COLOR_0", &colors, count)?;
            // Those of earlier primitives may have none.
            let base = self.mesh.positions.len() - count;
            self.mesh.colors.resize(base, [1.0; 4]);
            self.mesh
                .colors
                .extend(colors::read(self.document, colors)?);
        }
        self.group(material.index(), first);
        Ok(())
    }

    /// Assigns the material to the triangles from `first` on.
    fn group(&mut self, material: Option<usize>, first: usize) {
        let end = self.mesh.triangles.len();
        if first == end {
            return;
        }
        // A default material, so that colours of a model file do not apply to glTF meshes (as in
        // Drake).
        let material = material.unwrap_or_else(|| {
            *self.default_material.get_or_insert_with(|| {
                self.mesh.materials.push(materials::default());
                self.mesh.materials.len() - 1
            })
        });
        match self.mesh.groups.last_mut() {
            Some(group) if group.material == Some(material) => group.triangles.end = end,
            _ => self.mesh.groups.push(MaterialGroup {
                material: Some(material),
                triangles: first..end,
            }),
        }
    }

    /// Returns the triangles as indices into the vertices of the primitive.
    fn triangles(
        &self,
        place: &str,
        primitive: &Primitive<'a>,
        vertices: usize,
    ) -> Result<Vec<[u32; 3]>> {
        let at = self.document.at;
        let corners = match primitive.indices() {
            None => (0..vertices as u32).collect(),
            Some(accessor) => self.indices(accessor, vertices)?,
        };
        let mode = primitive.mode();
        let n = corners.len();
        if n < 3 || mode == Mode::Triangles && !n.is_multiple_of(3) {
            return Err(at.error(format!(
                "{place}: number of corners must be {}, got {n}",
                if mode == Mode::Triangles {
                    "a positive multiple of three"
                } else {
                    "at least three"
                }
            )));
        }
        Ok(match mode {
            Mode::TriangleStrip => {
                // Degenerate triangles stitch strips together.
                let area = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
                strip(corners.len())
                    .map(|t| t.map(|k| corners[k]))
                    .filter(area)
                    .collect()
            }
            Mode::TriangleFan => {
                let pairs = corners[1..].windows(2);
                pairs.map(|w| [w[0], w[1], corners[0]]).collect()
            }
            _ => corners
                .chunks_exact(3)
                .map(|c| [c[0], c[1], c[2]])
                .collect(),
        })
    }

    fn indices(&self, accessor: Accessor<'a>, vertices: usize) -> Result<Vec<u32>> {
        let at = self.document.at;
        let (document, index) = (self.document, accessor.index());
        let (what, dimensions) = ("indices", Dimensions::Scalar);
        let all: Vec<u32> = match accessor.data_type() {
            DataType::U8 => document
                .elements::<u8>(what, accessor, dimensions)?
                .map(u32::from)
                .collect(),
            DataType::U16 => document
                .elements::<u16>(what, accessor, dimensions)?
                .map(u32::from)
                .collect(),
            DataType::U32 => document
                .elements::<u32>(what, accessor, dimensions)?
                .collect(),
            other => {
                return Err(at.error(format!(
                    "accessors[{index}]: indices must be U8, U16 or U32, got {other:?}"
                )));
            }
        };
        match all.iter().find(|i| **i as usize >= vertices) {
            Some(wrong) => Err(at.error(format!(
                "accessors[{index}]: indices must be below the number of vertices, {vertices}, got \
                {wrong}"
            ))),
            None => Ok(all),
        }
    }

    fn finish(self) -> Result<RenderMesh> {
        let mut mesh = self.mesh;
        if mesh.triangles.is_empty() {
            return Err(self
                .document
                .at
                .error("the scene must have at least one triangle, got none"));
        }
        if !self.without_normals.is_empty() {
            add_missing(&mut mesh, &self.without_normals);
        }
        if mesh.uvs.is_empty() {
            mesh.triangle_uvs = Vec::new();
        }
        // Those of later primitives may have none.
        let count = mesh.triangles.len();
        if !mesh.triangle_second_uvs.is_empty() {
            mesh.triangle_second_uvs.resize(count, NO_UVS);
        }
        if !mesh.triangle_tangents.is_empty() {
            let none = [RenderMesh::NO_TANGENT; 3];
            mesh.triangle_tangents.resize(count, none);
        }
        if !mesh.colors.is_empty() {
            mesh.colors.resize(mesh.positions.len(), [1.0; 4]);
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests;
