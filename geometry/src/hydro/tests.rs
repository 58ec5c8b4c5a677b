//! Meshes of random shapes.

use super::{HydroelasticMesh, make_hydroelastic_mesh};
use crate::error::Result;
use crate::mesh::{TriangleSurfaceMesh, VolumeMeshFieldLinear};
use crate::properties::ProximityProperties;
use crate::shape::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, Mesh, Shape, Sphere, calc_volume,
};
use crate::{InMemoryMesh, MemoryFile};
use nalgebra::Vector3;
use proptest::prelude::*;
use std::sync::Arc;
use tarragon_framework::warnings::collect;

fn rigid_properties(hint: f64) -> ProximityProperties {
    let properties = ProximityProperties::new().with_rigid_hydroelastic();
    properties.with_resolution_hint(hint).unwrap()
}

fn compliant_properties(hint: f64, margin: f64) -> ProximityProperties {
    let properties = ProximityProperties::new().with_compliant_hydroelastic(1e6);
    let properties = properties.and_then(|p| p.with_resolution_hint(hint));
    let properties = properties.and_then(|p| p.with_hydroelastic_margin(margin));
    properties.unwrap()
}

fn surface_of(shape: &Shape, properties: &ProximityProperties) -> Arc<TriangleSurfaceMesh> {
    match make_hydroelastic_mesh(shape, properties).unwrap() {
        Some(HydroelasticMesh::Surface(surface)) => surface,
        other => panic!("{other:?}"),
    }
}

fn try_field(
    shape: &Shape,
    properties: &ProximityProperties,
) -> Result<Arc<VolumeMeshFieldLinear>> {
    match make_hydroelastic_mesh(shape, properties)? {
        Some(HydroelasticMesh::Volume(field)) => Ok(field),
        other => panic!("{other:?}"),
    }
}

fn rigid(shape: &Shape, hint: f64) -> Arc<TriangleSurfaceMesh> {
    surface_of(shape, &rigid_properties(hint))
}

pub(super) fn compliant(shape: &Shape, hint: f64, margin: f64) -> Arc<VolumeMeshFieldLinear> {
    try_field(shape, &compliant_properties(hint, margin)).unwrap()
}

fn volumes_of(field: &VolumeMeshFieldLinear) -> Vec<f64> {
    let mesh = field.mesh();
    let volumes = (0..mesh.num_elements()).map(|e| mesh.calc_tetrahedron_volume(e));
    volumes.collect()
}

/// Returns how far outside a point is, relative to the size of the shape; 0 on its surface.
fn outside(shape: &Shape, p: &Vector3<f64>) -> f64 {
    let beyond = |z: f64, half: f64| (z.abs() - half).max(0.0);
    match shape {
        Shape::Box(b) => p.abs().component_div(&b.half_size()).max() - 1.0,
        Shape::Sphere(s) => p.norm() / s.radius() - 1.0,
        Shape::Ellipsoid(e) => p.component_div(&e.semi_axes()).norm() - 1.0,
        Shape::Cylinder(c) => {
            let around = p.xy().norm() / c.radius();
            around.max(2.0 * p.z.abs() / c.length()) - 1.0
        }
        Shape::Capsule(c) => {
            let z = beyond(p.z, 0.5 * c.length());
            Vector3::new(p.x, p.y, z).norm() / c.radius() - 1.0
        }
        other => panic!("{other:?}"),
    }
}

pub(super) fn shapes() -> impl Strategy<Value = Shape> {
    let sizes = || prop::array::uniform3(0.05..2.0);
    prop_oneof![
        sizes().prop_map(|[x, y, z]| BoxShape::new(x, y, z).unwrap().into()),
        sizes().prop_map(|[x, y, _]| BoxShape::new(y, x, y).unwrap().into()),
        sizes().prop_map(|[r, ..]| Sphere::new(r).unwrap().into()),
        sizes().prop_map(|[x, y, z]| Ellipsoid::new(x, y, z).unwrap().into()),
        sizes().prop_map(|[r, l, _]| Cylinder::new(r, l).unwrap().into()),
        sizes().prop_map(|[r, ..]| Cylinder::new(r, 2.0 * r).unwrap().into()),
        sizes().prop_map(|[r, l, _]| Capsule::new(r, l).unwrap().into()),
    ]
}

/// Returns a shape that is larger on each side.
fn with_margin(shape: &Shape, margin: f64) -> Shape {
    let both = 2.0 * margin;
    match shape {
        Shape::Box(b) => {
            let size = b.size().add_scalar(both);
            BoxShape::new(size.x, size.y, size.z).unwrap().into()
        }
        Shape::Sphere(s) => Sphere::new(s.radius() + margin).unwrap().into(),
        Shape::Ellipsoid(e) => {
            let axes = e.semi_axes().add_scalar(margin);
            Ellipsoid::new(axes.x, axes.y, axes.z).unwrap().into()
        }
        Shape::Cylinder(c) => {
            let cylinder = Cylinder::new(c.radius() + margin, c.length() + both);
            cylinder.unwrap().into()
        }
        Shape::Capsule(c) => Capsule::new(c.radius() + margin, c.length())
            .unwrap()
            .into(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Vertices lie on the shape, triangles face outwards, the surface is closed, and finer meshes
    /// fill more of the volume.
    #[test]
    fn surfaces_inscribe_their_shapes(shape in shapes(), fineness in 0.05..1.0) {
        let exact = calc_volume(&shape).unwrap();
        let mut last = 0.0;
        for hint in [4.0 * fineness, fineness] {
            let mesh = rigid(&shape, hint);
            for vertex in mesh.vertices() {
                prop_assert!(outside(&shape, vertex).abs() < 1e-12, "{vertex}");
            }
            let areas = (0..mesh.num_triangles()).map(|t| mesh.face_normal(t) * mesh.area(t));
            // The area vectors of a closed surface sum to zero.
            prop_assert!(areas.sum::<Vector3<f64>>().norm() < 1e-12 * mesh.total_area());
            let volume = mesh.calc_enclosed_volume();
            prop_assert!(volume > 0.0 && volume <= exact * (1.0 + 1e-12));
            prop_assert!(volume >= last * (1.0 - 1e-12), "{volume}, {last}");
            last = volume;
        }
    }

    /// Tetrahedra fill the surface once, and the pressure is that of the shape at the vertices: 0
    /// at the surface, 1 where it is deepest.
    #[test]
    fn volumes_fill_their_surfaces(shape in shapes(), hint in 0.05..1.0) {
        let (field, surface) = (compliant(&shape, hint, 0.0), rigid(&shape, hint));
        let volumes = volumes_of(&field);
        prop_assert!(volumes.iter().all(|v| *v > 0.0));
        // Overlaps or gaps would change the sum.
        let total = volumes.iter().sum::<f64>();
        prop_assert!((total / surface.calc_enclosed_volume() - 1.0).abs() < 1e-11);
        for (p, pressure) in field.mesh().vertices().iter().zip(field.values()) {
            let is_outside = outside(&shape, p).abs() < 1e-12;
            prop_assert_eq!(*pressure, if is_outside { 0.0 } else { 1.0 });
        }
    }

    /// Polyhedra of equal volume, with a margin or not, have the volume of the shape. They are
    /// otherwise as the inscribed ones: closed, with the same elements and pressures.
    #[test]
    fn tessellations_have_equal_volume_on_request(
        shape in shapes(),
        hint in 0.05..4.0,
        margin in prop_oneof![Just(0.0), 0.001..0.1],
    ) {
        let exact = calc_volume(&shape).unwrap();
        let inscribed = rigid(&shape, hint);
        let equal = rigid_properties(hint).with_equal_volume_tessellation();
        let surface = surface_of(&shape, &equal);
        prop_assert_eq!(surface.triangles(), inscribed.triangles());
        prop_assert!((surface.calc_enclosed_volume() / exact - 1.0).abs() < 1e-12);
        let areas = (0..surface.num_triangles()).map(|t| surface.face_normal(t) * surface.area(t));
        prop_assert!(areas.sum::<Vector3<f64>>().norm() < 1e-12 * surface.total_area());
        if matches!(shape, Shape::Box(_)) {
            prop_assert_eq!(&surface, &inscribed);
        }

        let exact = calc_volume(&with_margin(&shape, margin)).unwrap();
        let inscribed = compliant(&shape, hint, margin);
        let equal = compliant_properties(hint, margin).with_equal_volume_tessellation();
        let field = try_field(&shape, &equal).unwrap();
        prop_assert_eq!(field.mesh().tetrahedra(), inscribed.mesh().tetrahedra());
        let pressures = field.values().iter().zip(inscribed.values());
        // The direction from the centre of an ellipsoid is rounded.
        prop_assert!(pressures.into_iter().all(|(p, q)| (p - q).abs() < 1e-14));
        let volumes = volumes_of(&field);
        prop_assert!(volumes.iter().all(|v| *v > 0.0));
        prop_assert!((volumes.iter().sum::<f64>() / exact - 1.0).abs() < 1e-12);
    }

    /// With a margin, the pressure is 0 at the true surface where faces are flat: on boxes.
    #[test]
    fn margins_move_the_surface_of_no_pressure(
        size in prop::array::uniform3(0.05..2.0),
        (margin, along) in (0.001..0.1, 0..3_usize),
    ) {
        let size = Vector3::from(size);
        let shape = BoxShape::new(size.x, size.y, size.z).unwrap().into();
        let field = compliant(&shape, 1.0, margin);
        let on_face = Vector3::ith(along, size[along] / 2.0);
        let pressures = (0..field.mesh().num_elements()).filter(|e| {
            field.mesh().calc_barycentric(&on_face, *e).min() > -1e-9
        });
        let pressures: Vec<f64> = pressures.map(|e| field.evaluate_cartesian(e, &on_face).unwrap()).collect();
        prop_assert!(!pressures.is_empty());
        prop_assert!(pressures.iter().all(|p| p.abs() < 1e-9), "{pressures:?}");
    }
}

/// An ellipsoid for which equality to the last bit once failed: scaling the mesh rounds the
/// vertices, so that the pressures differ by a few times the rounding of 1.
#[test]
fn equal_volume_keeps_the_pressures_of_an_ellipsoid_with_a_margin() {
    let shape = Ellipsoid::new(0.05, 0.05, 0.05).unwrap().into();
    let (hint, margin) = (0.05, 0.04628706794388803);
    let inscribed = compliant(&shape, hint, margin);
    let equal = compliant_properties(hint, margin).with_equal_volume_tessellation();
    let field = try_field(&shape, &equal).unwrap();
    let pairs = field.values().iter().zip(inscribed.values());
    let largest = pairs.map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
    assert!(largest > 0.0 && largest < 1e-15, "{largest:e}");
}

fn in_memory(content: &str, extension: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(content, extension, "shape"))
}

/// Returns a VTK file.
pub(super) fn vtk(vertices: &[[f64; 3]], tetrahedra: &[[u32; 4]]) -> InMemoryMesh {
    let (n, m) = (vertices.len(), tetrahedra.len());
    let mut text = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_string();
    text += &format!("POINTS {n} double\n");
    for [x, y, z] in vertices {
        text += &format!("{x:?} {y:?} {z:?}\n");
    }
    text += &format!("CELLS {m} {}\n", 5 * m);
    for [a, b, c, d] in tetrahedra {
        text += &format!("4 {a} {b} {c} {d}\n");
    }
    text += &format!("CELL_TYPES {m}\n{}", "10\n".repeat(m));
    in_memory(&text, ".vtk")
}

/// A tetrahedron that is divided at an inner vertex.
const CORNERS: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.25, 0.25, 0.25],
];
const DIVIDED: [[u32; 4]; 4] = [[4, 1, 2, 3], [0, 4, 2, 3], [0, 1, 4, 3], [0, 1, 2, 4]];

/// Two divided tetrahedra that share a vertex only. Numbers are those of Drake 1.51.1, whose solver
/// gives five digits here.
#[test]
fn a_vertex_without_a_way_out_is_split() {
    let mut corners = vec![
        [1.0, 1.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, 0.0, 1.0],
        [-1.0, 1.0, 0.0],
        [-1.0, -1.0, 0.0],
        [-1.0, 0.0, 1.0],
        [0.0, 0.0, 0.0],
    ];
    corners.extend([[0.75, 0.0, 0.25], [-0.75, 0.0, 0.25]]);
    let tetrahedra = [
        [7, 6, 1, 2],
        [8, 3, 4, 5],
        [0, 7, 1, 2],
        [0, 6, 7, 2],
        [0, 6, 1, 7],
        [6, 8, 4, 5],
        [6, 3, 8, 5],
        [6, 3, 4, 8],
    ];
    let bow_tie = Mesh::new(vtk(&corners, &tetrahedra)).into();
    let ((), warnings) = collect(|| {
        let field = compliant(&bow_tie, 1.0, 0.1);
        let mesh = field.mesh();
        assert_eq!((mesh.num_vertices(), mesh.num_elements()), (14, 8));
        assert!((mesh.calc_volume() - 1.5059618617).abs() < 1e-7);
        assert!((mesh.vertex(0) - Vector3::new(1.1, 1.37321, -0.1)).norm() < 1e-5);
        let split = [
            (6, [-0.05774, -0.05774, 0.05774]),
            (9, [-0.05774, 0.05774, 0.05774]),
            (10, [0.0, 0.0, -0.1]),
            (11, [0.05774, -0.05774, 0.05774]),
            (12, [0.05774, 0.05774, 0.05774]),
            (13, [0.0, 0.0, -0.1]),
        ];
        for (v, expected) in split {
            assert!(
                (mesh.vertex(v) - Vector3::from(expected)).norm() < 1e-5,
                "{v}"
            );
            assert_eq!(field.values()[v], field.values()[0]);
        }
    });
    assert_eq!(warnings, [""; 0]);
}

/// Pressures of a cube of size 1 are those of Drake 1.51.1.
#[test]
fn pressures_with_a_margin_are_those_of_drake() {
    let sides = [-0.5, 0.5];
    let corners = sides.iter().flat_map(|x| sides.iter().map(move |y| (x, y)));
    let corners = corners.flat_map(|(x, y)| sides.iter().map(move |z| format!("v {x} {y} {z}\n")));
    let obj = in_memory(&(corners.collect::<String>() + "f 1 2 3\n"), ".obj");
    for (shape, least) in [
        (Shape::from(Convex::new(obj.clone())), -0.16666666666666674),
        (Mesh::new(obj).into(), -0.2),
    ] {
        let field = compliant(&shape, 1.0, 0.1);
        assert_eq!(
            (field.mesh().num_vertices(), field.mesh().num_elements()),
            (9, 12)
        );
        for (p, pressure) in field.mesh().vertices().iter().zip(field.values()) {
            let (size, expected) = if p.norm() < 1e-12 {
                (0.0, 1.0)
            } else {
                (0.6, least)
            };
            assert!((p.abs() - Vector3::repeat(size)).amax() < 1e-12, "{p}");
            assert!((pressure - expected).abs() < 1e-12, "{pressure}");
        }
    }
}

#[test]
fn inverted_tetrahedra_are_turned_with_a_warning_unless_all_are() {
    let shape = |tetrahedra: &[[u32; 4]]| Mesh::new(vtk(&CORNERS, tetrahedra)).into();
    let right = compliant(&shape(&DIVIDED), 1.0, 0.0);
    let turned = |t: [u32; 4]| [t[1], t[0], t[2], t[3]];
    let (field, warnings) = collect(|| compliant(&shape(&DIVIDED.map(turned)), 1.0, 0.0));
    assert_eq!((&field, warnings), (&right, vec![]));

    let mut one = DIVIDED;
    one[2] = turned(one[2]);
    let (field, warnings) = collect(|| compliant(&shape(&one), 1.0, 0.0));
    assert_eq!(field, right);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.starts_with("shape: tetrahedron 2 at [1.0, 0.0, 0.0], "),
        "{warning}"
    );
    assert!(
        warning.contains("must have a positive volume, got -0.041"),
        "{warning}"
    );

    // A flat one is left out, with a margin or not, and its vertices stay.
    let flat = [DIVIDED.as_slice(), &[[0, 1, 2, 2]]].concat();
    let (field, warnings) = collect(|| compliant(&shape(&flat), 1.0, 0.0));
    assert_eq!((field.mesh(), warnings.len()), (right.mesh(), 1));
    let (error, warnings) = collect(|| {
        let only_flat = shape(&[[0, 1, 2, 2]]);
        try_field(&only_flat, &compliant_properties(1.0, 0.01)).unwrap_err()
    });
    assert_eq!(
        (error.to_string().starts_with("shape: "), warnings.len()),
        (true, 1)
    );
}

#[test]
fn rigid_meshes_that_are_open_are_a_warning() {
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    let warnings = |faces: &str| {
        let mesh = Mesh::new(in_memory(&format!("{vertices}{faces}"), ".obj")).into();
        collect(|| rigid(&mesh, 1.0)).1
    };
    assert_eq!(warnings("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"), [""; 0]);
    let open = warnings("f 1 3 2\nf 1 2 4\nf 2 3 4\n");
    assert_eq!(open.len(), 1);
    assert!(
        open[0].starts_with("shape: edges must belong to two triangles"),
        "{open:?}"
    );
    let inside_out = warnings("f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n");
    assert!(inside_out[0].contains("inside out"), "{inside_out:?}");
}

#[test]
fn compliant_shapes_without_volume_and_wrong_margins_are_refused() {
    let flat = in_memory("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", ".obj");
    for shape in [
        Shape::from(Convex::new(flat.clone())),
        Mesh::new(flat).into(),
    ] {
        for margin in [0.0, 0.1] {
            let error = try_field(&shape, &compliant_properties(1.0, margin)).unwrap_err();
            let error = error.to_string();
            assert!(
                error.starts_with("shape: the convex hull of a compliant"),
                "{error}"
            );
        }
    }
    let mut negative = compliant_properties(1.0, 0.0);
    negative.set_untyped("hydroelastic", "margin", -0.1);
    let error = try_field(&Sphere::new(1.0).unwrap().into(), &negative).unwrap_err();
    assert_eq!(
        error.to_string(),
        "property ('hydroelastic', 'margin') must be finite and at least 0, got -0.1"
    );
}
