//! Tests of surfaces, volumes and fields, in all scalars.

use super::MeshFieldLinear;
use super::PolygonSurfaceMesh;
use super::TriangleSurfaceMesh;
use super::VolumeMesh;
use super::convert_volume_to_surface_mesh;
use crate::error::Error;
use nalgebra::Point3;
use nalgebra::{Isometry3, Vector3, Vector4};
use proptest::prelude::*;
use std::sync::Arc;
use tarragon_framework::{AutoDiff, Scalar, math};

type V = Vector3<f64>;

/// Returns the vertices of an oblique tetrahedron, and one more.
fn tetrahedron() -> Vec<V> {
    vec![
        V::new(0.1, -0.2, 0.3),
        V::new(1.2, 0.1, -0.1),
        V::new(0.2, 1.4, 0.2),
        V::new(-0.1, 0.3, 1.1),
        V::new(1.5, 1.1, 0.9),
    ]
}
fn pose() -> Isometry3<f64> {
    math::pose(math::rpy(0.3, -1.1, 2.0), V::new(0.5, -7.0, 2.0))
}
fn moved(p: &V) -> V {
    (pose() * Point3::from(*p)).coords
}
fn volume<T: Scalar>(vertices: &[Vector3<T>]) -> VolumeMesh<T> {
    VolumeMesh::new([[0, 1, 2, 3], [1, 2, 3, 4]], vertices.to_vec()).unwrap()
}
fn triangles<T: Scalar>(vertices: &[Vector3<T>]) -> TriangleSurfaceMesh<T> {
    TriangleSurfaceMesh::new([[0, 1, 2], [2, 1, 4]], vertices.to_vec()).unwrap()
}
fn polygons<T: Scalar>(vertices: &[Vector3<T>]) -> PolygonSurfaceMesh<T> {
    // The fourth corner of a parallelogram keeps the face planar.
    let mut vertices = vertices.to_vec();
    vertices.push(vertices[0] + vertices[2] - vertices[1]);
    PolygonSurfaceMesh::new(vec![4, 0, 1, 2, 5, 3, 1, 4, 2], vertices).unwrap()
}

#[test]
fn a_rectangle_has_the_known_measures() {
    let square = [[0., 0.], [2., 0.], [2., 1.], [0., 1.]].map(|[x, y]| V::new(x, y, 5.0));
    let mesh = TriangleSurfaceMesh::new([[0, 1, 2], [0, 2, 3]], square.to_vec()).unwrap();
    assert_eq!((mesh.area(0), mesh.total_area()), (1.0, 2.0));
    assert_eq!(mesh.centroid(), V::new(1.0, 0.5, 5.0));
    assert_eq!(mesh.face_normal(1), V::z());
    let (center, size) = mesh.calc_bounding_box();
    assert_eq!(
        (center, size),
        (V::new(1.0, 0.5, 5.0), V::new(2.0, 1.0, 0.0))
    );
    let mut reversed = mesh.clone();
    reversed.reverse_face_winding();
    assert_eq!(reversed.face_normal(1), -V::z());
    assert!(!reversed.equal(&mesh));
    reversed.reverse_face_winding();
    assert!(reversed.equal(&mesh));

    let mesh = PolygonSurfaceMesh::new(vec![4, 0, 1, 2, 3], square.to_vec()).unwrap();
    assert_eq!(
        (mesh.area(0), mesh.element_centroid(0)),
        (2.0, V::new(1.0, 0.5, 5.0))
    );
    let mut reversed = mesh.clone();
    reversed.reverse_face_winding();
    assert_eq!(reversed.face_data(), [4, 0, 3, 2, 1]);
    assert_eq!(
        PolygonSurfaceMesh::new(reversed.face_data().to_vec(), square.to_vec())
            .unwrap()
            .face_normal(0),
        -V::z()
    );
    assert_eq!(reversed.face_normal(0), -V::z());
    assert_eq!(mesh.to_triangles().total_area(), 2.0);
}

#[test]
fn degenerate_faces_have_finite_measures() {
    let line = vec![V::zeros(), V::x(), V::x() * 2.0];
    let mesh = TriangleSurfaceMesh::new([[0, 1, 2]], line.clone()).unwrap();
    assert_eq!((mesh.area(0), mesh.face_normal(0)), (0.0, V::zeros()));
    assert_eq!(
        (mesh.centroid(), mesh.element_centroid(0)),
        (V::zeros(), V::x())
    );
    assert_eq!(mesh.calc_barycentric(&V::x(), 0), V::repeat(1.0 / 3.0));
    let field = MeshFieldLinear::new(vec![0.0, 1.0, 2.0], mesh.into()).unwrap();
    assert!(field.is_degenerate(0));
    let e = field.evaluate_gradient(0).unwrap_err().to_string();
    assert!(
        e.contains("no gradient on triangle 0, which is degenerate"),
        "{e}"
    );
    assert!(field.evaluate_cartesian(0, &V::x()).is_err());
    assert_eq!(field.evaluate(0, &V::new(0.0, 0.5, 0.5)), 1.5);
    // The derivatives are finite, too.
    let line = line
        .iter()
        .map(|p| p.map(|x| AutoDiff::variable(x, 0)))
        .collect();
    let mesh = TriangleSurfaceMesh::new([[0, 1, 2]], line).unwrap();
    let parts = [
        mesh.area(0),
        mesh.total_area(),
        mesh.face_normal(0).x,
        mesh.centroid().x,
    ];
    assert!(parts.iter().all(|d| d.eps.iter().all(|x| x.is_finite())));
}

#[test]
fn bad_meshes_are_refused() {
    let v = tetrahedron();
    let text = |e: Result<(), Error>| e.unwrap_err().to_string();
    let e = text(TriangleSurfaceMesh::new([[0, 1, 5]], v.clone()).map(|_| ()));
    assert_eq!(
        e,
        "TriangleSurfaceMesh: vertex indices of triangle 0 must be below 5, got 5"
    );
    let e = text(VolumeMesh::new([[0; 4]; 0], v.clone()).map(|_| ()));
    assert!(
        e.contains("VolumeMesh: the mesh must have at least one tetrahedron, got none"),
        "{e}"
    );
    for (data, expected) in [
        (
            vec![],
            "PolygonSurfaceMesh: the mesh must have at least one face, got none",
        ),
        (
            vec![2, 0, 1],
            "face 0 must have at least 3 vertices and at most the 2 numbers that follow in its face data, got 2",
        ),
        (
            vec![3, 0, 1, 2, 3, 0, 1],
            "face 1 must have at least 3 vertices and at most the 2 numbers that follow in its face data, got 3",
        ),
        (
            vec![3, 0, 1, 9],
            "vertex indices of face 0 must be below 5, got 9",
        ),
        (
            vec![u32::MAX],
            "face 0 must have at least 3 vertices and at most the 0 numbers that follow in its face data, got 4294967295",
        ),
    ] {
        let e = text(PolygonSurfaceMesh::new(data, v.clone()).map(|_| ()));
        assert!(e.contains(expected), "{e}");
    }
    let mesh = Arc::new(triangles(&v));
    let e = text(MeshFieldLinear::new(vec![0.0; 4], mesh.clone()).map(|_| ()));
    assert!(
        e.contains("number of values must equal the number of vertices, 5, got 4"),
        "{e}"
    );
    let e = text(MeshFieldLinear::with_gradients(vec![0.0; 5], vec![], mesh).map(|_| ()));
    assert!(
        e.contains("number of gradients must equal the number of elements, 2, got 0"),
        "{e}"
    );
}

#[test]
fn equality_compares_all_coordinates() {
    let (mut v, a) = (tetrahedron(), volume(&tetrahedron()));
    v[3].x += 1e-6;
    let b = volume(&v);
    assert!(a.equal(&a.clone(), 0.0) && !a.equal(&b, 0.0));
    assert!(a.equal(&b, 2e-6) && !a.equal(&b, 0.5e-6));
    v[3].x = f64::NAN;
    let c = volume(&v);
    assert!(!c.equal(&c.clone(), 0.0) && !c.equal(&c.clone(), 1.0) && c != c.clone());
    let d = VolumeMesh::new([[0, 1, 2, 3]], tetrahedron()).unwrap();
    assert!(!a.equal(&d, 1.0));
    // As for scalars, derivatives are not compared.
    let flat = a.cast::<AutoDiff>();
    let mut with = flat.vertices().to_vec();
    with[0].x = AutoDiff::variable(with[0].x.re, 0);
    assert!(flat.equal(&volume(&with), 0.0) && flat == volume(&with));
}

#[test]
fn transforming_a_mesh_also_transforms_its_fields_and_face_data() {
    let v = tetrahedron();
    let field = |p: &V| 0.3 + p.dot(&V::new(2.0, -1.0, 0.5));
    macro_rules! check {
        ($mesh:expr, $e:expr) => {{
            let mesh = Arc::new($mesh);
            let values: Vec<f64> = mesh.vertices().iter().map(field).collect();
            let original = MeshFieldLinear::new(values, mesh.clone()).unwrap();
            let mut there = original.clone();
            there.transform(&pose());
            let q = mesh.vertices()[1] * 0.2 + mesh.vertices()[2] * 0.8;
            let (at_q, at_moved) = (
                original.evaluate_cartesian($e, &q).unwrap(),
                there.evaluate_cartesian($e, &moved(&q)).unwrap(),
            );
            assert!((at_q - at_moved).abs() < 1e-14);
            assert!((at_q - field(&q)).abs() < 1e-14);
            let turned = pose() * original.evaluate_gradient($e).unwrap();
            assert!((turned - there.evaluate_gradient($e).unwrap()).norm() < 1e-14);
            assert!(!original.equal(&there) && original.equal(&original.clone()));
            (mesh, there.mesh().clone())
        }};
    }
    let (before, after) = check!(triangles(&v), 1);
    let fresh = TriangleSurfaceMesh::new(after.triangles().to_vec(), after.vertices().to_vec());
    let fresh = fresh.unwrap();
    for f in 0..2 {
        assert!((after.area(f) - before.area(f)).abs() < 1e-15);
        assert!((after.face_normal(f) - fresh.face_normal(f)).norm() < 1e-15);
        assert!((after.element_centroid(f) - fresh.element_centroid(f)).norm() < 1e-14);
    }
    assert!((after.centroid() - fresh.centroid()).norm() < 1e-14);
    let (_, after) = check!(polygons(&v), 0);
    let fresh = PolygonSurfaceMesh::new(after.face_data().to_vec(), after.vertices().to_vec());
    assert!((after.centroid() - fresh.unwrap().centroid()).norm() < 1e-14);
    let (before, after) = check!(volume(&v), 1);
    assert!((before.calc_volume() - after.calc_volume()).abs() < 1e-14);
}

#[test]
fn the_boundary_of_a_volume_encloses_it() {
    let v = tetrahedron();
    let mesh = volume(&v);
    let surface = convert_volume_to_surface_mesh(&mesh).unwrap();
    assert_eq!((surface.num_triangles(), surface.num_vertices()), (6, 5));
    // The vertices of the second tetrahedron are in the wrong order: its volume is negative.
    let all: f64 = (0..2).map(|e| mesh.calc_tetrahedron_volume(e).abs()).sum();
    assert!((surface.calc_enclosed_volume() - all).abs() < 1e-15);
    // An interior vertex is not part of the boundary.
    let center = (v[0] + v[1] + v[2] + v[3]) / 4.0;
    let inside = vec![center, v[0], v[1], v[2], v[3]];
    let four = [[1, 2, 3, 0], [1, 4, 2, 0], [1, 3, 4, 0], [2, 4, 3, 0]];
    let surface = convert_volume_to_surface_mesh(&VolumeMesh::new(four, inside).unwrap()).unwrap();
    assert_eq!(surface.vertices(), &v[..4]);
    let twice = VolumeMesh::new([[0, 1, 2, 3], [1, 0, 2, 3]], v).unwrap();
    assert!(
        convert_volume_to_surface_mesh(&twice)
            .unwrap_err()
            .to_string()
            .contains("must have a boundary")
    );
}

#[test]
fn inward_normals_and_edge_vectors_match_the_vertices() {
    let v = tetrahedron();
    let mesh = volume(&v);
    for f in 0..4 {
        let n = mesh.inward_normal(0, f);
        let on_face = [1, 2, 3].map(|k| v[(f + k) % 4]);
        assert!((n.norm() - 1.0).abs() < 1e-15);
        assert!(
            n.dot(&(v[f] - on_face[0])) > 0.0,
            "towards the opposite vertex"
        );
        assert!(
            on_face
                .iter()
                .all(|p| n.dot(&(p - on_face[0])).abs() < 1e-15)
        );
    }
    assert_eq!(mesh.edge_vector(1, 0, 3), v[4] - v[1]);
}

/// Evaluates all quantities of the meshes as functions of coordinates and field values.
fn numbers<T: Scalar>(x: &[T]) -> Vec<T> {
    let vertices: Vec<_> = x[..15].chunks(3).map(Vector3::from_column_slice).collect();
    let q = Vector3::new(x[15], x[16], x[17]);
    let mut out = vec![];
    let mut push = |v: &Vector3<T>| out.extend(v.iter().copied());
    let t = triangles(&vertices);
    let p = polygons(&vertices);
    let v = volume(&vertices);
    for vector in [
        t.face_normal(0),
        t.centroid(),
        t.calc_barycentric(&q, 0),
        t.calc_cartesian_from_barycentric(1, &q),
        p.face_normal(0),
        p.element_centroid(0),
        p.centroid(),
        v.inward_normal(0, 1),
        v.edge_vector(0, 1, 2),
        v.calc_bounding_box().1,
    ] {
        push(&vector);
    }
    let b = v.calc_barycentric(&q, 1);
    push(&v.calc_cartesian_from_barycentric(0, &b));
    out.extend(b.iter());
    out.extend([
        t.area(1),
        t.total_area(),
        p.total_area(),
        v.calc_volume(),
        t.calc_enclosed_volume(),
    ]);
    let values = |n: usize| (0..n).map(|i| x[i] * x[i + 3]).collect::<Vec<T>>();
    let field = MeshFieldLinear::new(values(5), v.into()).unwrap();
    out.extend([
        field.evaluate(1, &b),
        field.evaluate_cartesian(0, &q).unwrap(),
    ]);
    out.extend(field.evaluate_gradient(1).unwrap().iter());
    let field = MeshFieldLinear::new(values(5), t.into()).unwrap();
    out.push(field.evaluate_cartesian(1, &q).unwrap());
    let field = MeshFieldLinear::new(values(6), p.into()).unwrap();
    out.extend(field.evaluate_gradient(1).unwrap().iter());
    out
}

#[test]
fn derivatives_match_central_differences() {
    let mut x: Vec<f64> = tetrahedron().iter().flat_map(|p| [p.x, p.y, p.z]).collect();
    x.extend([0.4, 0.3, 0.2]);
    let plain = numbers(&x);
    for k in 0..x.len() {
        let dual: Vec<_> = x
            .iter()
            .enumerate()
            .map(|(i, &v)| {
                if i == k {
                    AutoDiff::variable(v, 0)
                } else {
                    AutoDiff::from(v)
                }
            })
            .collect();
        let dual = numbers(&dual);
        let h = 1e-5;
        let shifted = |h: f64| {
            let mut x = x.clone();
            x[k] += h;
            numbers(&x)
        };
        let (low, high) = (shifted(-h), shifted(h));
        for (i, d) in dual.iter().enumerate() {
            let difference = (high[i] - low[i]) / (2.0 * h);
            // The truncation error is of order h^2, the rounding error of order 1e-16 / h.
            assert!(
                (d.eps[0] - difference).abs() < 2e-8,
                "number {i} by {k}: {} {difference}",
                d.eps[0]
            );
            assert!(
                (d.re - plain[i]).abs() < 1e-15 * (1.0 + plain[i].abs()),
                "value {i}"
            );
        }
    }
}

proptest! {
    #[test]
    fn barycentric_and_cartesian_coordinates_are_inverse_maps(w in proptest::array::uniform4(-2.0..2.0f64)) {
        let v = tetrahedron();
        let mut b = Vector4::from(w);
        b[0] = 1.0 - b[1] - b[2] - b[3];
        let mesh = volume(&v);
        let p = mesh.calc_cartesian_from_barycentric(0, &b);
        prop_assert!((mesh.calc_barycentric(&p, 0) - b).norm() < 1e-13);
        let mesh = triangles(&v);
        let b = V::new(1.0 - w[1] - w[2], w[1], w[2]);
        // Points off the plane are projected onto it.
        let p = mesh.calc_cartesian_from_barycentric(1, &b) + mesh.face_normal(1) * w[3];
        prop_assert!((mesh.calc_barycentric(&p, 1) - b).norm() < 1e-13);
    }
}
