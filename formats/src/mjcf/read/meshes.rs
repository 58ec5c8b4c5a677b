//! `<mesh>` of `<asset>`: meshes from files, from numbers and from plugins.

use super::asset_context::AssetContext;
use super::assets::Assets;
use super::compiler::CompilerOptions;
use super::distance_plugin;
use super::mesh_asset::{MeshAsset, has_statement};
use super::mesh_inertia::MeshInertia;
use super::msh;
use super::obj_text::{to_obj, vertices_of};
use super::tree::ElementRef;
use crate::reading::obj_objects::first_object;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_framework::{counted, math};
use tarragon_geometry::mesh::{PolygonSurfaceMesh, TriangleSurfaceMesh, convex_hull};
use tarragon_geometry::{Mesh, MeshSource};

/// Attributes of `<mesh>` without a meaning for the plant, with the reasons.
const IGNORED: [(&str, &str); 2] = [
    ("maxhullvert", "convex hulls are exact"),
    ("smoothnormal", "normals are those of the file"),
];
/// Attributes of `<mesh>` that Drake ignores in addition.
const IGNORED_BY_DRAKE: [(&str, &str); 6] = [
    ("face", "meshes are read from files only"),
    ("params", "meshes are read from files only"),
    ("refpos", "vertices are used as they are in the file"),
    ("refquat", "vertices are used as they are in the file"),
    ("vertex", "meshes are read from files only"),
    ("builtin", "meshes are read from files only"),
];
/// Maximum number of vertices, and of faces, of a mesh whose numbers are in the model file.
const MAX_INLINE: usize = 4_000_000;

impl Assets {
    pub(super) fn read_mesh(
        &mut self,
        node: ElementRef<'_>,
        context: &AssetContext<'_>,
    ) -> Parsed<()> {
        let compiler = context.compiler(node);
        node.ignore_attributes(&IGNORED);
        if compiler.as_drake() {
            node.lost().ignore_attributes(&IGNORED_BY_DRAKE);
        }
        let name = node.name();
        let file = node.own_text("file");
        let builtin = node
            .text("builtin")
            .map(str::trim)
            .filter(|_| !compiler.as_drake());
        let inline = node.text("vertex").is_some() && !compiler.as_drake();
        let plugin = node.first("plugin").filter(|_| !compiler.as_drake());
        if let (Some(_), Some(plugin)) = (file, plugin) {
            plugin.ignored("the mesh is read from its file");
        }
        let plugin = plugin.filter(|_| file.is_none());
        if file.is_none() && plugin.is_none() && !inline && builtin != Some("sphere") {
            let name = name.unwrap_or_default();
            let why = match node.text("builtin") {
                Some(builtin) if !compiler.as_drake() => {
                    format!("builtin '{builtin}' is not supported")
                }
                _ => "meshes are read from files only".into(),
            };
            node.lost_if(compiler.as_drake()).warning(format!(
                "mesh '{name}' has no attribute 'file'; it is left out: {why}"
            ));
            return Ok(());
        }
        let inertia = mesh_inertia_of(node, compiler)?;
        let stem = file.and_then(|file| Path::new(file).file_stem());
        let name = name.map_or_else(
            || {
                stem.map(|s| s.to_string_lossy().into_owned())
                    .unwrap_or_default()
            },
            String::from,
        );
        let scale = node.vector::<3>("scale")?.unwrap_or([1.0; 3]);
        let source = match (file, plugin) {
            (Some(file), _) => {
                let uri = compiler.file_name(&compiler.mesh_directory, file);
                let path = match (context.resolve)(&uri) {
                    // A mesh that is needed after all is an error where it is read.
                    Err(_) if !context.mesh_geometry => PathBuf::from(uri),
                    path => path.map_err(|why| node.error_at("file", why))?,
                };
                mesh_of_file(node, path, compiler)?
            }
            (None, Some(plugin)) => match distance_plugin::read(node, plugin, &name)? {
                Some(source) => source,
                None => return Ok(()),
            },
            (None, None) if inline => inline_mesh(node, &name)?,
            (None, None) => builtin_sphere(node, &name)?,
        };
        let mut asset = place(node, compiler, source, scale.into(), inertia)?;
        asset.is_generated = plugin.is_some();
        self.meshes.insert(name, asset);
        Ok(())
    }
}

/// Returns the mesh of a file, which is read only if its format asks for it.
fn mesh_of_file(
    node: ElementRef<'_>,
    path: PathBuf,
    compiler: &CompilerOptions,
) -> Parsed<MeshSource> {
    let suffix = path.extension().map(|s| s.to_string_lossy().to_lowercase());
    match suffix.as_deref() {
        Some("msh") if path.exists() => msh::read(&path).map_err(|why| node.error_at("file", why)),
        Some("obj") if !compiler.as_drake() => mesh_of_obj(node, path),
        _ => Ok(path.into()),
    }
}

/// Returns what MuJoCo reads of an OBJ file: the faces of its first object, or the convex hull of
/// the vertices if there are no faces. A file that cannot be read is an error where it is needed.
fn mesh_of_obj(node: ElementRef<'_>, path: PathBuf) -> Parsed<MeshSource> {
    let Ok(bytes) = read_file(&path) else {
        return Ok(path.into());
    };
    if !has_statement(&bytes, "f") {
        return hull_of_vertices(node, &path, &bytes);
    }
    let Some(first) = first_object(&path, &bytes) else {
        return Ok(path.into());
    };
    node.warning_at(
        "file",
        format!(
            "{}: MuJoCo reads only the faces of the first object, '{}'; {} of other objects are left \
             out; join the objects, or save each in a file of its own",
            path.display(),
            first.name,
            counted(first.left_out, "face")
        ),
    );
    Ok(first.mesh)
}

/// Returns the convex hull of the vertices of an OBJ file, which is what MuJoCo makes of a file
/// without faces.
fn hull_of_vertices(node: ElementRef<'_>, path: &Path, bytes: &[u8]) -> Parsed<MeshSource> {
    let hull = vertices_of(bytes).and_then(|vertices| {
        let hull = convex_hull(&vertices).and_then(PolygonSurfaceMesh::from_hull);
        hull.map_err(|e| format!("there are no faces, and the vertices have no hull: {e}"))
    });
    let name = path.display().to_string();
    let hull = hull.map_err(|why| node.error_at("file", format!("{name}: {why}")))?;
    Ok(source_of(&hull.to_triangles(), &name))
}

fn source_of(hull: &TriangleSurfaceMesh, name: &str) -> MeshSource {
    let faces: Vec<[u32; 3]> = hull.triangles().iter().map(|t| t.vertices()).collect();
    to_obj(hull.vertices(), &faces, &[], name)
}

/// Returns the distribution of mass that a `<mesh>` asks for.
fn mesh_inertia_of(node: ElementRef<'_>, compiler: &CompilerOptions) -> Parsed<MeshInertia> {
    if compiler.as_drake() {
        if let Some(other) = node
            .text("inertia")
            .map(str::trim)
            .filter(|i| *i != "exact" && *i != "legacy")
        {
            let message = format!("inertia '{other}' is ignored: meshes are solid");
            node.lost().warning_at("inertia", message);
        }
        return Ok(MeshInertia::Solid);
    }
    let words = ["exact", "convex", "legacy", "shell"];
    Ok(match node.choice("inertia", &words)? {
        Some("exact") => MeshInertia::Exact,
        Some("convex") => MeshInertia::Convex,
        Some("shell") => MeshInertia::Shell,
        None if compiler.exact_mesh_inertia => MeshInertia::Exact,
        _ => MeshInertia::Legacy,
    })
}

/// Applies `refpos`, `refquat` and `scale`: a vertex v becomes `scale * refquat^-1 (v - refpos)`.
fn place(
    node: ElementRef<'_>,
    compiler: &CompilerOptions,
    source: MeshSource,
    scale: Vector3<f64>,
    inertia: MeshInertia,
) -> Parsed<MeshAsset> {
    let scaled = |source: MeshSource, scale| {
        let mesh = Mesh::with_scale(source, scale);
        mesh.map_err(|e| node.error_at("scale", e))
    };
    let (mut position, mut turn) = (Vector3::zeros(), UnitQuaternion::identity());
    if !compiler.as_drake() {
        position = node.vector::<3>("refpos")?.unwrap_or_default().into();
        if let Some(q) = node.vector::<4>("refquat")? {
            let wrong = || node.error_at("refquat", "the quaternion must not be zero");
            turn = math::quaternion_wxyz(q).ok_or_else(wrong)?.inverse();
        }
    }
    let is_turned = turn.angle() != 0.0;
    // A missing file is allowed as long as nothing needs the mesh.
    let exists = source.path().is_none_or(Path::exists);
    if exists && is_turned && (scale.x != scale.y || scale.x != scale.z) {
        // The scale is along the axes after the rotation, which no shape can express.
        let mesh = scaled(source, Vector3::repeat(1.0))?;
        let surface = mesh.surface().map_err(|e| node.error(e))?;
        let vertices = surface.vertices().iter();
        let vertices: Vec<Vector3<f64>> = vertices
            .map(|v| (turn * (v - position)).component_mul(&scale))
            .collect();
        let faces: Vec<[u32; 3]> = surface.triangles().iter().map(|t| t.vertices()).collect();
        let name = mesh.source().description();
        let mesh = scaled(to_obj(&vertices, &faces, &[], &name), Vector3::repeat(1.0))?;
        return Ok(MeshAsset::new(mesh, Isometry3::identity(), inertia));
    }
    let shift = if is_turned {
        turn * position * scale.x
    } else {
        position.component_mul(&scale)
    };
    let mesh = scaled(source, scale)?;
    Ok(MeshAsset::new(mesh, math::pose(turn, -shift), inertia))
}

/// Returns the unit sphere of MuJoCo: an icosahedron that is refined `params` times.
fn builtin_sphere(node: ElementRef<'_>, name: &str) -> Parsed<MeshSource> {
    let level = node.number("params")?.unwrap_or(0.0);
    if !(0.0..=4.0).contains(&level) || level.fract() != 0.0 {
        let message = format!(
            "mesh '{name}': 'params' of a sphere must be an integer from 0 to 4, got {level:?}"
        );
        return Err(node.error_at("params", message));
    }
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut vertices: Vec<Vector3<f64>> = vec![];
    for (a, b) in [
        (1.0, golden),
        (-1.0, golden),
        (1.0, -golden),
        (-1.0, -golden),
    ] {
        vertices.push(Vector3::new(0.0, a, b).normalize());
        vertices.push(Vector3::new(a, b, 0.0).normalize());
        vertices.push(Vector3::new(b, 0.0, a).normalize());
    }
    for _ in 0..level as usize {
        // The midpoints of the edges of the hull, on the sphere.
        let hull = hull_of(node, &vertices)?;
        let mut seen = BTreeSet::new();
        let points = hull.vertices();
        for triangle in hull.triangles() {
            let [a, b, c] = triangle.vertices();
            for (a, b) in [(a, b), (b, c), (c, a)] {
                if seen.insert((a.min(b), a.max(b))) {
                    let middle = points[a as usize] + points[b as usize];
                    vertices.push(middle.normalize());
                }
            }
        }
    }
    Ok(source_of(&hull_of(node, &vertices)?, name))
}

fn hull_of(node: ElementRef<'_>, vertices: &[Vector3<f64>]) -> Parsed<TriangleSurfaceMesh> {
    let hull = convex_hull(vertices).and_then(PolygonSurfaceMesh::from_hull);
    let hull = hull.map_err(|e| node.error_at("vertex", e))?;
    Ok(hull.to_triangles())
}

/// Reads a mesh from `vertex` and `face`; without faces, it is the convex hull of the vertices.
fn inline_mesh(node: ElementRef<'_>, name: &str) -> Parsed<MeshSource> {
    let numbers = node.numbers("vertex")?.unwrap_or_default();
    let (points, rest) = numbers.as_chunks::<3>();
    if points.len() < 4 || !rest.is_empty() || points.len() > MAX_INLINE {
        let message = format!(
            "mesh '{name}': 'vertex' must have three numbers for each of 4 to {vertices}, got {numbers}",
            vertices = counted(MAX_INLINE, "vertex"),
            numbers = counted(numbers.len(), "number")
        );
        return Err(node.error_at("vertex", message));
    }
    if numbers.iter().any(|x| !x.is_finite()) {
        let message = format!("mesh '{name}': the vertices must be finite");
        return Err(node.error_at("vertex", message));
    }
    let vertices: Vec<Vector3<f64>> = points.iter().map(|p| (*p).into()).collect();
    let Some(indices) = node.numbers("face")? else {
        return Ok(source_of(&hull_of(node, &vertices)?, name));
    };
    let (triples, rest) = indices.as_chunks::<3>();
    let is_index = |x: &f64| *x >= 0.0 && *x < vertices.len() as f64 && x.fract() == 0.0;
    if triples.is_empty() || !rest.is_empty() || !indices.iter().all(is_index) {
        let message = format!(
            "mesh '{name}': 'face' must have three indices from 0 to {} for each face",
            vertices.len() - 1
        );
        return Err(node.error_at("face", message));
    }
    let faces: Vec<[u32; 3]> = triples.iter().map(|t| t.map(|i| i as u32)).collect();
    let numbers = node.numbers("texcoord")?.unwrap_or_default();
    let (coordinates, rest) = numbers.as_chunks::<2>();
    let fits = coordinates.len() == vertices.len() && rest.is_empty();
    if !(numbers.is_empty() || fits) || numbers.iter().any(|x| !x.is_finite()) {
        let message = format!(
            "mesh '{name}': 'texcoord' must have two finite numbers for each of {vertices}, got \
             {numbers}",
            vertices = counted(vertices.len(), "vertex"),
            numbers = counted(numbers.len(), "number")
        );
        return Err(node.error_at("texcoord", message));
    }
    Ok(to_obj(&vertices, &faces, coordinates, name))
}
