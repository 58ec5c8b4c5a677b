use super::ProjectedTexture;
use crate::mesh::{RenderMesh, TextureImage, Wrap};
use crate::rgba::Rgba;
use crate::shape::{
    BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, MeshcatCone, Shape, Sphere,
};
use crate::{InMemoryMesh, MemoryFile};
use nalgebra::{Point3, Vector3};
use std::f64::consts::PI;
use tarragon_framework::math;

fn image(name: &str) -> TextureImage {
    TextureImage::File(name.into())
}
fn six() -> [TextureImage; 6] {
    ["px", "nx", "py", "ny", "pz", "nz"].map(image)
}
fn solids() -> [(Shape, f64); 5] {
    [
        (
            BoxShape::new(0.2, 0.4, 0.6).unwrap().into(),
            0.2 * 0.4 * 0.6,
        ),
        (Sphere::new(0.3).unwrap().into(), 4.0 / 3.0 * PI * 0.027),
        (
            Ellipsoid::new(0.1, 0.2, 0.3).unwrap().into(),
            4.0 / 3.0 * PI * 0.006,
        ),
        (Cylinder::new(0.2, 0.5).unwrap().into(), PI * 0.04 * 0.5),
        (
            Capsule::new(0.2, 0.5).unwrap().into(),
            PI * 0.04 * 0.5 + 4.0 / 3.0 * PI * 0.008,
        ),
    ]
}

/// Returns the volume within a closed mesh whose triangles face outwards (m^3).
fn volume(mesh: &RenderMesh) -> f64 {
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize].coords);
        a.cross(&b).dot(&c) / 6.0
    };
    mesh.triangles.iter().map(of).sum()
}

fn check(mesh: &RenderMesh) {
    mesh.check().unwrap();
    for (t, n) in mesh.triangles.iter().zip(&mesh.triangle_normals) {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        let flat = (b - a).cross(&(c - a));
        for k in n {
            let normal = mesh.normals[*k as usize];
            assert!((normal.norm() - 1.0).abs() < 1e-12, "{normal:?}");
            // The angle between a facet and the normals of its corners is below a step around.
            assert!(normal.dot(&flat) >= 0.9 * flat.norm(), "{t:?}");
        }
    }
}

/// Both projections make the same closed surfaces, whose volumes converge with the square of the
/// number of segments.
#[test]
fn surfaces_are_closed_and_face_outwards() {
    for (shape, exact) in solids() {
        let along = ProjectedTexture::along_z(image("a.png"), [1.0, 1.0]).unwrap();
        let around = ProjectedTexture::from_center(six(), Vector3::new(3.0, 2.0, 1.0)).unwrap();
        for texture in [along, around] {
            let error = |segments| {
                let mesh = texture.render_mesh(&shape, segments).unwrap().unwrap();
                check(&mesh);
                (exact - volume(&mesh)) / exact
            };
            let (coarse, fine) = (error(32), error(64));
            assert!((-1e-12..0.02).contains(&coarse), "{shape:?}: {coarse}");
            // A quarter but for terms of higher order.
            assert!(fine < 0.27 * coarse.max(1e-12), "{shape:?}: {fine}");
        }
    }
}

/// Returns the image on a point of a mesh with its place, by the nearest triangle.
fn seen(mesh: &RenderMesh, at: [f64; 3]) -> (usize, [f64; 2]) {
    let point = Point3::from(at);
    for group in &mesh.groups {
        for t in group.triangles.clone() {
            let [a, b, c] = mesh.triangles[t].map(|v| mesh.positions[v as usize]);
            let normal = (b - a).cross(&(c - a));
            let area = normal.norm_squared();
            let weight = |p: Point3<f64>, q: Point3<f64>| {
                (p - point).cross(&(q - point)).dot(&normal) / area
            };
            let weights = [weight(b, c), weight(c, a), weight(a, b)];
            let height = (point - a).dot(&normal) / area.sqrt();
            if height.abs() < 1e-9 && weights.iter().all(|w| *w >= -1e-9) {
                let uv = mesh.triangle_uvs[t].map(|i| mesh.uvs[i as usize]);
                let at = [0, 1].map(|k| (0..3).map(|i| weights[i] * uv[i][k]).sum());
                return (group.material.unwrap(), at);
            }
        }
    }
    panic!("no triangle at {at:?}");
}

#[test]
fn images_along_z_repeat_from_the_centre() {
    let texture = ProjectedTexture::along_z(image("a.png"), [2.0, 0.5]).unwrap();
    let shape = BoxShape::new(2.0, 4.0, 1.0).unwrap().into();
    let mesh = texture.render_mesh(&shape, 8).unwrap().unwrap();
    for z in [0.5, -0.5] {
        let (material, [u, v]) = seen(&mesh, [0.3, -1.2, z]);
        assert_eq!(material, 0);
        assert!(
            (u - 1.1).abs() < 1e-12 && (v + 0.1).abs() < 1e-12,
            "{u} {v}"
        );
    }
}

/// Faces and places are those of the table of OpenGL.
#[test]
fn images_from_the_centre_are_those_of_a_cube_map() {
    let texture = ProjectedTexture::from_center(six(), Vector3::repeat(1.0)).unwrap();
    let shape = BoxShape::new(2.0, 2.0, 2.0).unwrap().into();
    let mesh = texture.render_mesh(&shape, 32).unwrap().unwrap();
    // On each face, the place right of the centre by 0.25 and above it by 0.1.
    let cases = [
        (0, [1.0, 0.2, -0.5]),
        (1, [-1.0, 0.2, 0.5]),
        (2, [0.5, 1.0, -0.2]),
        (3, [0.5, -1.0, 0.2]),
        (4, [0.5, 0.2, 1.0]),
        (5, [-0.5, 0.2, -1.0]),
    ];
    for (face, point) in cases {
        let (found, [u, v]) = seen(&mesh, point);
        assert_eq!(found, face);
        assert!(
            (u - 0.75).abs() < 1e-12 && (v - 0.6).abs() < 1e-12,
            "{face}: {u} {v}"
        );
    }
    // In a flat box, most of the sides belongs to the images of the top and the bottom.
    let flat = BoxShape::new(2.0, 2.0, 0.5).unwrap().into();
    let mesh = texture.render_mesh(&flat, 32).unwrap().unwrap();
    assert_eq!(seen(&mesh, [0.5, 0.2, 0.25]).0, 0);
    assert_eq!(seen(&mesh, [0.1, 0.2, 0.25]).0, 4);
    // With the inverses of its half lengths, they are as on a cube.
    let scaled = ProjectedTexture::from_center(six(), Vector3::new(1.0, 1.0, 4.0)).unwrap();
    let mesh = scaled.render_mesh(&flat, 32).unwrap().unwrap();
    let (face, [u, v]) = seen(&mesh, [0.5, 0.2, 0.25]);
    assert_eq!(face, 4);
    assert!((u - 0.75).abs() < 1e-12 && (v - 0.6).abs() < 1e-12);
}

#[test]
fn other_shapes_and_bad_numbers() {
    let texture = ProjectedTexture::along_z(image("a.png"), [1.0, 1.0]).unwrap();
    let cone = MeshcatCone::new(1.0, 1.0, 1.0).unwrap().into();
    assert_eq!(texture.render_mesh(&cone, 8).unwrap(), None);
    let missing = texture.render_mesh(&Mesh::new("no such file.obj").into(), 8);
    let message = missing.unwrap_err().to_string();
    assert!(message.contains("no such file.obj"), "{message}");
    let floor = texture.clone().with_half_extents([1.0, 2.0]).unwrap();
    let mesh = floor.render_mesh(&HalfSpace.into(), 8).unwrap().unwrap();
    check(&mesh);
    assert_eq!(mesh.positions[0], Point3::new(-1.0, -2.0, 0.0));
    let plain = ProjectedTexture::plain().with_color(Rgba::new(0.1, 0.2, 0.3, 0.4).unwrap());
    let mesh = plain.render_mesh(&HalfSpace.into(), 8).unwrap().unwrap();
    assert_eq!(mesh.positions[0], Point3::new(-50.0, -50.0, 0.0));
    let [material] = mesh.materials.try_into().unwrap();
    assert_eq!(material.diffuse.unwrap().rgba(), [0.1, 0.2, 0.3, 0.4]);
    assert_eq!(material.diffuse_map, None);
    let point = floor.render_mesh(&Sphere::new(0.0).unwrap().into(), 8);
    let point = point.unwrap().unwrap();
    point.check().unwrap();
    assert!(point.normals.iter().all(|n| (n.norm() - 1.0).abs() < 1e-12));
    let error = |result: crate::Result<ProjectedTexture>| result.unwrap_err().to_string();
    let message = error(ProjectedTexture::along_z(image("a.png"), [f64::NAN, 1.0]));
    assert!(message.contains("repeats must be finite"), "{message}");
    let message = error(ProjectedTexture::from_center(six(), Vector3::zeros()));
    assert!(
        message.contains("scale must be three positive"),
        "{message}"
    );
    let message = error(texture.with_half_extents([0.0, 1.0]));
    assert!(
        message.contains("half_extents must be two positive"),
        "{message}"
    );
}

/// A tetrahedron in an OBJ file, whose corners have texture coordinates or not.
fn tetrahedron(has_uvs: bool, scale3: [f64; 3]) -> Shape {
    let mut obj = String::from("v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 3\n");
    if has_uvs {
        obj += "vt 0 0\nvt 1 0\nvt 0 1\nvt 2.5 2.5\n";
    }
    for [a, b, c] in [[1, 3, 2], [1, 2, 4], [1, 4, 3], [2, 3, 4]] {
        obj += &if has_uvs {
            format!("f {a}/{a} {b}/{b} {c}/{c}\n")
        } else {
            format!("f {a} {b} {c}\n")
        };
    }
    let file = InMemoryMesh::new(MemoryFile::new(obj, ".obj", "tetrahedron.obj"));
    Mesh::with_scale(file, Vector3::from(scale3))
        .unwrap()
        .into()
}

/// Some corners of a mesh may have no coordinates, which the readers mark.
#[test]
fn corners_without_coordinates_are_at_the_origin_of_the_image() {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt .5 .5\nvt 1 0\nvt 0 1\n\
               f 1/1 2/2 3/3\nf 1 2 4\n";
    let file = InMemoryMesh::new(MemoryFile::new(obj, ".obj", "partial.obj"));
    let texture = ProjectedTexture::at_coordinates(image("a.png"));
    let drawn = texture.render_mesh(&Mesh::new(file).into(), 8).unwrap();
    let drawn = drawn.unwrap();
    drawn.check().unwrap();
    assert_eq!(drawn.uvs_of(0, 0), [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(drawn.uvs_of(1, 0), [[0.0; 2]; 3]);
    let indices = drawn.triangle_uvs.iter().flatten();
    assert!(indices.clone().all(|uv| (*uv as usize) < drawn.uvs.len()));
}

/// On a mesh, the projection is that on a primitive, in a frame of its own.
#[test]
fn meshes_are_projected_onto_in_a_frame() {
    let mesh = tetrahedron(false, [1.0, 2.0, 1.0]);
    // P's x axis is along S's y, its y axis along S's -x.
    let turn = math::axis_angle(&Vector3::z_axis(), PI / 2.0);
    let x_sp = math::pose(turn, Vector3::new(0.5, 0.25, 0.75));
    let along = ProjectedTexture::along_z(image("a.png"), [2.0, 3.0]).unwrap();
    let drawn = along.with_pose(&x_sp).render_mesh(&mesh, 8);
    let drawn = drawn.unwrap().unwrap();
    check(&drawn);
    assert!((volume(&drawn) - 2.0).abs() < 1e-12);
    for (p, [u, v]) in drawn.positions.iter().zip(&drawn.uvs) {
        let exact = [0.5 + 2.0 * (p.y - 0.25), 0.5 - 3.0 * (p.x - 0.5)];
        assert!((u - exact[0]).abs() < 1e-12 && (v - exact[1]).abs() < 1e-12);
    }
    let around = ProjectedTexture::from_center(six(), Vector3::repeat(1.0)).unwrap();
    let drawn = around.with_pose(&x_sp).render_mesh(&mesh, 8);
    let drawn = drawn.unwrap().unwrap();
    check(&drawn);
    assert!((volume(&drawn) - 2.0).abs() < 1e-12);
    for (group, t) in drawn.groups.iter().flat_map(|g| {
        let triangles = g.triangles.clone();
        triangles.map(move |t| (g.material.unwrap(), t))
    }) {
        let corners = drawn.triangles[t].map(|v| drawn.positions[v as usize].coords);
        let middle = corners.iter().sum::<Vector3<f64>>() / 3.0;
        let d = x_sp.inverse_transform_point(&middle.into());
        let axis = d.coords.iamax();
        assert_eq!(group, 2 * axis + usize::from(d[axis] < 0.0), "{middle:?}");
    }
}

#[test]
fn an_image_lies_at_the_coordinates_of_a_mesh() {
    let texture = ProjectedTexture::at_coordinates(image("a.png"));
    assert_eq!(texture.images(), [image("a.png")]);
    let drawn = texture.render_mesh(&tetrahedron(true, [1.0; 3]), 8);
    let drawn = drawn.unwrap().unwrap();
    check(&drawn);
    let uvs: Vec<_> = (0..4).flat_map(|t| drawn.uvs_of(t, 0)).collect();
    let at = |x: f64, y: f64| uvs.iter().filter(|uv| **uv == [x, y]).count();
    assert_eq!(
        at(0.0, 0.0) + at(1.0, 0.0) + at(0.0, 1.0) + at(2.5, 2.5),
        12
    );
    assert_eq!(
        drawn.materials[0].diffuse_map.as_ref().unwrap().wrap,
        [Wrap::Repeat; 2]
    );
    for shape in [
        tetrahedron(false, [1.0; 3]),
        Sphere::new(1.0).unwrap().into(),
    ] {
        assert_eq!(texture.render_mesh(&shape, 8).unwrap(), None);
    }
}
