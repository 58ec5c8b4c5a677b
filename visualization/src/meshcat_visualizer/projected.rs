//! Shapes with projected textures, as OBJ meshes with their images.

use crate::Result;
use std::fmt::Write;
use tarragon_geometry::mesh::{RenderMesh, TextureImage};
use tarragon_geometry::{
    FileSource, GeometryId, InMemoryMesh, MemoryFile, Mesh, MeshSource, ProjectedTexture, Role,
    SceneGraphInspector, Shape,
};

/// Number of triangles around a round shape: a page holds all of them as text.
const SEGMENTS: u32 = 32;
/// Name of the material file.
const MATERIALS: &str = "images.mtl";

/// Returns the mesh that is shown of a shape with a projected texture; `None` if it has none.
pub(super) fn projected_shape(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    role: Role,
) -> Result<Option<Shape>> {
    let Some(properties) = inspector.properties(id, role)? else {
        return Ok(None);
    };
    let projected = properties.try_get::<ProjectedTexture>("phong", "projected_texture")?;
    let shape = inspector.shape(id)?;
    let Some(projected) = projected else {
        return Ok(None);
    };
    let mesh = projected.render_mesh(shape, SEGMENTS)?;
    let to_shape = |mesh| Mesh::new(obj_of(&mesh, inspector.name(id).unwrap_or_default()));
    Ok(mesh.map(to_shape).map(Shape::from))
}

/// Returns a mesh with its materials and images as an OBJ file in memory.
fn obj_of(mesh: &RenderMesh, name: &str) -> MeshSource {
    let mut obj = format!("mtllib {MATERIALS}\n");
    // Writing to a string cannot fail.
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = obj.write_fmt(text);
    };
    for p in &mesh.positions {
        line(format_args!(
            "v {} {} {}\n",
            p.x as f32, p.y as f32, p.z as f32
        ));
    }
    for [u, v] in &mesh.uvs {
        line(format_args!("vt {} {}\n", *u as f32, *v as f32));
    }
    for n in &mesh.normals {
        line(format_args!("vn {:.4} {:.4} {:.4}\n", n.x, n.y, n.z));
    }
    for group in &mesh.groups {
        if let Some(material) = group.material {
            line(format_args!("usemtl image{material}\n"));
        }
        for t in group.triangles.clone() {
            line(format_args!("f"));
            for k in 0..3 {
                let [p, uv, n] = [
                    mesh.triangles[t][k],
                    mesh.triangle_uvs[t][k],
                    mesh.triangle_normals[t][k],
                ];
                line(format_args!(" {}/{}/{}", p + 1, uv + 1, n + 1));
            }
            line(format_args!("\n"));
        }
    }
    let mut mtl = String::new();
    let mut source = InMemoryMesh::new(MemoryFile::new(obj, ".obj", name));
    for (i, material) in mesh.materials.iter().enumerate() {
        let _ = writeln!(mtl, "newmtl image{i}");
        if let Some(color) = material.diffuse {
            let [r, g, b, a] = [color.r(), color.g(), color.b(), color.a()];
            let _ = writeln!(mtl, "Kd {r} {g} {b}\nd {a}");
        }
        if let Some(texture) = &material.diffuse_map {
            let file = format!("image{i}.png");
            let _ = writeln!(mtl, "map_Kd {file}");
            let image = match &texture.image {
                TextureImage::File(path) => FileSource::Path(path.clone()),
                TextureImage::Content(content) => MemoryFile::new(content, ".png", &file).into(),
            };
            source.supporting_files.insert(file, image);
        }
    }
    let materials = MemoryFile::new(mtl, ".mtl", name);
    source
        .supporting_files
        .insert(MATERIALS.into(), materials.into());
    source.into()
}
