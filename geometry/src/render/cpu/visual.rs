//! What is registered with the engine.

use super::clusters::{ClusteredMesh, Surface};
use super::texture::Texture;
use crate::error::Result;
use crate::mesh::{self, Material};
use crate::properties::PerceptionProperties;
use crate::render::RenderLabel;
use crate::rgba::Rgba;
use crate::shapes::{MeshSource, Shape};
use nalgebra::Vector3;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// How a visual is drawn.
#[derive(Debug)]
pub(super) enum Form {
    /// Exactly, from its equation.
    Shape { shape: Shape, diffuse: [f32; 3] },
    /// As triangles.
    Mesh(ClusteredMesh),
}

/// One registered geometry.
#[derive(Debug)]
pub(super) struct Visual {
    pub(super) label: RenderLabel,
    pub(super) form: Form,
}

impl Visual {
    /// Reads what the properties and files say; `None` for shapes that can not be drawn.
    pub(super) fn new(
        shape: &Shape,
        properties: &PerceptionProperties,
        label: RenderLabel,
        default_diffuse: Rgba,
    ) -> Result<Option<Self>> {
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let map = properties.try_get::<String>("phong", "diffuse_map")?;
        let form = match shape {
            Shape::Mesh(m) => Form::Mesh(read(
                m.source(),
                &m.scale3(),
                diffuse,
                map,
                default_diffuse,
            )?),
            // Of the file, only the vertices count.
            Shape::Convex(m) => {
                let hull = mesh::render_mesh_of_hull(&*m.convex_hull()?);
                let material = Surface {
                    diffuse: rgb(diffuse.unwrap_or(default_diffuse)),
                    texture: None,
                };
                Form::Mesh(ClusteredMesh::new(&hull, vec![material]))
            }
            Shape::MeshcatCone(_) => return Ok(None),
            Shape::Box(_)
            | Shape::Capsule(_)
            | Shape::Cylinder(_)
            | Shape::Ellipsoid(_)
            | Shape::HalfSpace(_)
            | Shape::Sphere(_) => Form::Shape {
                shape: shape.clone(),
                diffuse: rgb(diffuse.unwrap_or(default_diffuse)),
            },
        };
        Ok(Some(Self { label, form }))
    }
    /// How many ids its parts need.
    pub(super) fn parts(&self) -> usize {
        match &self.form {
            Form::Shape { .. } => 1,
            Form::Mesh(mesh) => mesh.triangles.len(),
        }
    }
}

fn rgb(color: Rgba) -> [f32; 3] {
    [color.r(), color.g(), color.b()].map(|x| x as f32)
}

/// A mesh with its materials. What the file says about a face comes first; `phong` properties, or a PNG
/// file of the mesh's name, are for faces that it says nothing about (as in Drake).
fn read(
    source: &MeshSource,
    scale3: &Vector3<f64>,
    diffuse: Option<Rgba>,
    map: Option<&String>,
    default_diffuse: Rgba,
) -> Result<ClusteredMesh> {
    let mesh = mesh::read_source(source)?.scaled(scale3);
    let beside = source.path().map(|p| p.with_extension("png"));
    // An image that no face asks for is not worth reading.
    let wanted = mesh.groups.iter().any(|g| g.material.is_none());
    let texture = match map {
        _ if !wanted => None,
        Some(map) => texture(Path::new(map)),
        None => beside
            .filter(|p| p.is_file() && !mesh.triangle_uvs.is_empty())
            .and_then(|p| texture(&p)),
    };
    let otherwise = if texture.is_some() {
        Rgba::WHITE
    } else {
        default_diffuse
    };
    let mut materials = vec![Surface {
        diffuse: rgb(diffuse.unwrap_or(otherwise)),
        texture,
    }];
    materials.extend(mesh.materials.iter().map(surface));
    Ok(ClusteredMesh::new(&mesh, materials))
}

fn surface(material: &Material) -> Surface {
    Surface {
        diffuse: rgb(material.diffuse.unwrap_or(Rgba::WHITE)),
        texture: match (&material.diffuse_image, &material.diffuse_map) {
            (Some(png), _) => or_warn(Texture::decode(&material.name, Cursor::new(&png[..]))),
            (None, Some(path)) => texture(path),
            (None, None) => None,
        },
    }
}

fn texture(path: &Path) -> Option<Arc<Texture>> {
    or_warn(Texture::read(path))
}

/// A texture that can not be read leaves the diffuse colour, as in Drake.
fn or_warn(texture: Result<Texture>) -> Option<Arc<Texture>> {
    match texture {
        Ok(texture) => Some(Arc::new(texture)),
        Err(e) => {
            tracing::warn!("{e}; the diffuse colour is used instead");
            None
        }
    }
}
