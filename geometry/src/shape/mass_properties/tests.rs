use super::*;
use crate::mesh::PolygonSurfaceMesh;
use crate::mesh::convex_hull;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::shape::{Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, MeshcatCone, Sphere};

/// Returns the convex hull of support points of a convex body in many directions.
fn tessellation(point: impl Fn(f64, f64) -> Vector3<f64>) -> TriangleSurfaceMesh {
    let (n, m) = (400, 400);
    let mut points = Vec::new();
    for i in 0..=n {
        for j in 0..m {
            points.push(point(
                f64::from(i) / f64::from(n),
                2.0 * PI * f64::from(j) / f64::from(m),
            ));
        }
    }
    PolygonSurfaceMesh::from_hull(convex_hull(&points).unwrap())
        .unwrap()
        .to_triangles()
}

/// Compares a shape with a mesh inscribed in it. The error of the mesh is of second order in the
/// angle between its vertices.
fn compare(shape: impl Into<Shape>, mesh: &TriangleSurfaceMesh) {
    let exact = calc_mass_properties(&shape.into(), 3.0).unwrap();
    let close = MassProperties::of_surface(mesh, 3.0).unwrap();
    let near = |a: f64, b: f64, unit: f64| assert!((a - b).abs() < 3e-4 * unit, "{a} {b}");
    near(exact.mass(), close.mass(), exact.mass());
    near((exact.center - close.center).norm(), 0.0, 1.0);
    for (a, b) in [
        (exact.inertia_about_origin(), close.inertia_about_origin()),
        (
            exact.inertia_about_center_of_mass(),
            close.inertia_about_center_of_mass(),
        ),
    ] {
        near((a - b).norm(), 0.0, a.norm());
    }
}

#[test]
fn fine_tessellations_match_the_exact_shapes() {
    let ball = |s: f64, phi: f64| {
        let theta = PI * s;
        Vector3::new(
            theta.sin() * phi.cos(),
            theta.sin() * phi.sin(),
            theta.cos(),
        )
    };
    compare(Sphere::new(1.0).unwrap(), &tessellation(ball));
    let axes = Vector3::new(0.5, 0.7, 1.1);
    let ellipsoid = tessellation(|s, phi| ball(s, phi).component_mul(&axes));
    compare(Ellipsoid::new(0.5, 0.7, 1.1).unwrap(), &ellipsoid);
    let capsule = tessellation(|s, phi| {
        let p = ball(s, phi) * 0.3;
        p + Vector3::z() * 0.4 * if s < 0.5 { 1.0 } else { -1.0 }
    });
    compare(Capsule::new(0.3, 0.8).unwrap(), &capsule);
    let cylinder = tessellation(|s, phi| {
        Vector3::new(
            0.3 * phi.cos(),
            0.3 * phi.sin(),
            if s < 0.5 { -0.5 } else { 0.5 },
        )
    });
    compare(Cylinder::new(0.3, 1.0).unwrap(), &cylinder);
    let cone = tessellation(|s, phi| {
        Vector3::new(0.3 * phi.cos(), 0.2 * phi.sin(), 1.5) * if s < 0.5 { 0.0 } else { 1.0 }
    });
    compare(MeshcatCone::new(1.5, 0.3, 0.2).unwrap(), &cone);
}

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

fn memory(text: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(text, ".obj", "cube"))
}

#[test]
fn a_scaled_cube_mesh_matches_the_exact_box() {
    let scale = Vector3::new(2.0, 3.0, -0.5);
    for shape in [
        Shape::from(Mesh::with_scale(memory(CUBE), scale).unwrap()),
        Convex::with_scale(memory(CUBE), scale).unwrap().into(),
    ] {
        let m = calc_mass_properties(&shape, 2.0).unwrap();
        assert!((m.mass() - 6.0).abs() < 1e-14 && (m.volume() - 3.0).abs() < 1e-14);
        assert!((m.center_of_mass() - scale / 2.0).norm() < 1e-15);
        let squares = scale.map(|x| x * x);
        let expected = Vector3::repeat(squares.sum()) - squares;
        let central = m.inertia_about_center_of_mass();
        assert!((central - Matrix3::from_diagonal(&expected) * (6.0 / 12.0)).norm() < 1e-13);
        // Parallel axis theorem.
        let c = m.center_of_mass();
        let shift = Matrix3::from_diagonal_element(c.norm_squared()) - c * c.transpose();
        assert!((m.inertia_about_origin() - central - shift * 6.0).norm() < 1e-13);
        assert!((calc_volume(&shape).unwrap() - 3.0).abs() < 1e-14);
    }
}

#[test]
fn tetrahedra_match_their_boundary_surface() {
    let vertices = vec![
        Vector3::new(5.0, 5.0, 5.0),
        Vector3::new(6.0, 5.0, 5.5),
        Vector3::new(5.0, 7.0, 5.0),
        Vector3::new(5.0, 5.0, 6.0),
        Vector3::new(6.0, 7.0, 6.0),
    ];
    let volume = VolumeMesh::new([[0, 1, 2, 3], [1, 2, 3, 4]], vertices).unwrap();
    // Flip the second tetrahedron if its volume is negative.
    let volume = if volume.calc_tetrahedron_volume(1) < 0.0 {
        VolumeMesh::new([[0, 1, 2, 3], [2, 1, 3, 4]], volume.vertices().to_vec()).unwrap()
    } else {
        volume
    };
    let surface = crate::mesh::convert_volume_to_surface_mesh(&volume).unwrap();
    let a = MassProperties::of_volume(&volume, 2.0).unwrap();
    let b = MassProperties::of_surface(&surface, 2.0).unwrap();
    assert!((a.volume() - volume.calc_volume()).abs() < 1e-14);
    assert!((a.mass() - b.mass()).abs() < 1e-14);
    assert!((a.center_of_mass() - b.center_of_mass()).norm() < 1e-14);
    assert!((a.inertia_about_origin() - b.inertia_about_origin()).norm() < 1e-11);
}

#[test]
fn bad_solids_are_refused() {
    let text = |shape: Shape, density: f64| {
        calc_mass_properties(&shape, density)
            .unwrap_err()
            .to_string()
    };
    let flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let e = text(Mesh::new(memory(flat)).into(), 1.0);
    assert!(
        e.starts_with("cube: the volume must be above ") && e.contains(" m^3, got 0e0 m^3;"),
        "{e}"
    );
    let e = text(Convex::new(memory(flat)).into(), 1.0);
    assert!(e.starts_with("cube: the volume must be above "), "{e}");
    let mirrored = CUBE.replace("v 1", "v -1");
    let e = text(Mesh::new(memory(&mirrored)).into(), 1.0);
    assert!(e.contains(" m^3, got -"), "{e}");
    let e = text(HalfSpace.into(), 1.0);
    assert!(e.starts_with("HalfSpace: "), "{e}");
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let e = text(Sphere::new(1.0).unwrap().into(), density);
        assert!(
            e.starts_with(&format!(
                "Sphere: the density must be positive and finite, got {density:?} kg/m^3"
            )),
            "{e}"
        );
    }
}
