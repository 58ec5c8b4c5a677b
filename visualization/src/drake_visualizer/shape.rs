//! Geometry in the form of viewer messages.

use super::params::DrakeVisualizerParams;
use crate::convex_pieces::pieces_to_show;
use crate::hydroelastic::hydroelastic_surface;
use crate::{Error, Result};
use base64::prelude::{BASE64_STANDARD, Engine};
use nalgebra::{Isometry3, Vector3};
use serde_json::json;
use std::path::Path;
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{
    FileSource, GeometryId, GeometryProperties, InMemoryMesh, MemoryFile, Mesh, MeshSource,
    MeshcatCone, Rgba, Role, SceneGraphInspector, Shape,
};
use tarragon_lcm::types::LcmtViewerGeometryData as Data;

/// Width (m) of the box that represents a half space; the box is 1 m high.
const HALF_SPACE_WIDTH: f32 = 50.0;
/// Number of sides of a tessellated cone; viewers have no cone shape.
const CONE_SIDES: u32 = 64;

/// Returns the message of a geometry that has the role.
pub(super) fn of_geometry(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    params: &DrakeVisualizerParams,
) -> Result<Data> {
    let shape = inspector.shape(id)?;
    let properties = inspector.properties(id, params.role)?;
    let mut data = match properties {
        Some(properties) if params.role == Role::Proximity => {
            colliding(inspector, id, properties, params)
        }
        _ => plain(shape),
    }?;
    let mut x_fg = *inspector.pose_in_frame(id)?;
    if matches!(shape, Shape::HalfSpace(_)) {
        x_fg *= Isometry3::translation(0.0, 0.0, -0.5);
    }
    data.position = position(&x_fg);
    data.quaternion = quaternion(&x_fg);
    let illustration = inspector.properties(id, Role::Illustration)?;
    let color = color([properties, illustration], params.default_color)?;
    data.color = color.rgba().map(|channel| channel as f32);
    Ok(data)
}

/// Returns the colour of the first properties that have one.
fn color(properties: [Option<&GeometryProperties>; 2], default: Rgba) -> Result<Rgba> {
    let (group, name) = ("phong", "diffuse");
    let mut colored = properties.into_iter().flatten();
    match colored.find(|p| p.has(group, name)) {
        Some(properties) => Ok(*properties.get::<Rgba>(group, name)?),
        None => Ok(default),
    }
}

/// Returns the message of a geometry with the proximity role, as it collides.
fn colliding(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    properties: &GeometryProperties,
    params: &DrakeVisualizerParams,
) -> Result<Data> {
    let shape = inspector.shape(id)?;
    if params.show_hydroelastic
        && let Some(surface) = hydroelastic_surface(inspector, id)?
    {
        return Ok(inline(&surface));
    }
    if let Some(surface) = pieces_to_show(inspector, id)? {
        return Ok(inline(&surface));
    }
    match shape {
        Shape::Mesh(mesh) if properties.get_or("mesh", "true_surface", false)? => {
            Ok(inline(&*mesh.surface()?))
        }
        Shape::Mesh(mesh) => Ok(inline(&mesh.convex_hull()?.to_triangles())),
        _ => plain(shape),
    }
}

/// Returns the message of a shape as it is.
fn plain(shape: &Shape) -> Result<Data> {
    let primitive = |r#type, sizes: &[f64]| Data {
        r#type,
        float_data: sizes.iter().map(|size| *size as f32).collect(),
        ..Data::default()
    };
    Ok(match shape {
        Shape::Box(b) => primitive(Data::BOX, b.size().as_slice()),
        Shape::Sphere(s) => primitive(Data::SPHERE, &[s.radius()]),
        Shape::Cylinder(c) => primitive(Data::CYLINDER, &[c.radius(), c.length()]),
        Shape::Capsule(c) => primitive(Data::CAPSULE, &[c.radius(), c.length()]),
        Shape::Ellipsoid(e) => primitive(Data::ELLIPSOID, e.semi_axes().as_slice()),
        Shape::HalfSpace(_) => Data {
            r#type: Data::BOX,
            float_data: vec![HALF_SPACE_WIDTH, HALF_SPACE_WIDTH, 1.0],
            ..Data::default()
        },
        Shape::Mesh(mesh) => file(mesh)?,
        Shape::Convex(convex) => inline(&convex.convex_hull()?.to_triangles()),
        Shape::HeightField(field) => inline(&field.surface()?),
        Shape::MeshcatCone(cone) => inline(&triangles_of_cone(cone)?),
        other => {
            let shape = other.type_name();
            return Err(Error::unsupported(format!(
                "viewers do not support shapes of type {shape}"
            )));
        }
    })
}

/// Returns the message of a mesh that the viewer reads itself.
fn file(mesh: &Mesh) -> Result<Data> {
    let string_data = match mesh.source() {
        MeshSource::Path(path) => absolute(path)?,
        MeshSource::InMemory(mesh) => in_memory(mesh)?,
    };
    let scale = mesh.scale3().map(|factor| factor as f32);
    Ok(Data {
        r#type: Data::MESH,
        string_data,
        float_data: scale.as_slice().to_vec(),
        ..Data::default()
    })
}

/// Returns an absolute path, because viewers have other working directories.
fn absolute(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io(path, e))?;
    let text = absolute.to_str().ok_or_else(|| {
        Error::invalid(format!(
            "{}: the path must be UTF-8 to be sent to viewers; rename the file",
            absolute.display()
        ))
    })?;
    Ok(text.into())
}

fn in_memory(mesh: &InMemoryMesh) -> Result<String> {
    let file = |file: &MemoryFile| {
        json!({
            "contents": BASE64_STANDARD.encode(file.contents()),
            "extension": file.extension(),
            "filename_hint": file.filename_hint(),
        })
    };
    let mut parts = json!({ "mesh_file": file(&mesh.mesh_file) });
    if !mesh.supporting_files.is_empty() {
        let files = mesh.supporting_files.iter();
        let files = files.map(|(name, source)| {
            let source = match source {
                FileSource::Memory(memory) => file(memory),
                FileSource::Path(path) => json!({ "path": absolute(path)? }),
            };
            Ok((name.clone(), source))
        });
        let files: serde_json::Map<_, _> = files.collect::<Result<_>>()?;
        parts["supporting_files"] = files.into();
    }
    Ok(json!({ "in_memory_mesh": parts }).to_string())
}

/// Returns a message that contains the triangles. Each has its own vertices, so that viewers show
/// edges.
fn inline(surface: &TriangleSurfaceMesh) -> Data {
    let corners = 3 * surface.num_triangles();
    let mut floats = Vec::with_capacity(2 + 4 * corners);
    floats.extend([corners as f32, surface.num_triangles() as f32]);
    for triangle in surface.triangles() {
        for vertex in triangle.vertices() {
            let vertex = surface.vertex(vertex as usize);
            floats.extend(vertex.iter().map(|x| *x as f32));
        }
    }
    floats.extend((0..corners).map(|i| i as f32));
    Data {
        r#type: Data::MESH,
        float_data: floats,
        ..Data::default()
    }
}

/// Returns a cone as triangles.
fn triangles_of_cone(cone: &MeshcatCone) -> Result<TriangleSurfaceMesh> {
    let angle = |i: u32| std::f64::consts::TAU * f64::from(i) / f64::from(CONE_SIDES);
    let rim = (0..CONE_SIDES).map(|i| {
        let (sin, cos) = angle(i).sin_cos();
        Vector3::new(cone.a() * cos, cone.b() * sin, cone.height())
    });
    let mut vertices: Vec<Vector3<f64>> = rim.collect();
    let (tip, base) = (CONE_SIDES, CONE_SIDES + 1);
    vertices.extend([Vector3::zeros(), Vector3::new(0.0, 0.0, cone.height())]);
    let sides = (0..CONE_SIDES).map(|i| (i, (i + 1) % CONE_SIDES));
    let triangles = sides.flat_map(|(i, j)| [[j, i, tip], [i, j, base]]);
    TriangleSurfaceMesh::new(triangles, vertices)
}

/// Returns the position of a pose in message form.
pub(super) fn position(pose: &Isometry3<f64>) -> [f32; 3] {
    pose.translation.vector.map(|x| x as f32).into()
}

/// Returns the rotation of a pose in message form: w, x, y, z with w >= 0.
pub(super) fn quaternion(pose: &Isometry3<f64>) -> [f32; 4] {
    let q = &pose.rotation.coords;
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    [q.w, q.x, q.y, q.z].map(|x| (sign * x) as f32)
}
