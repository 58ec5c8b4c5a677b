//! Meshes of random shapes.

use super::{HydroelasticMesh, make_hydroelastic_mesh};
use crate::mesh::{TriangleSurfaceMesh, VolumeMeshFieldLinear};
use crate::properties::ProximityProperties;
use crate::shape::{BoxShape, Capsule, Cylinder, Ellipsoid, Shape, Sphere, calc_volume};
use nalgebra::Vector3;
use proptest::prelude::*;
use std::sync::Arc;

fn rigid(shape: &Shape, hint: f64) -> Arc<TriangleSurfaceMesh> {
    let properties = ProximityProperties::new().with_rigid_hydroelastic();
    let properties = properties.with_resolution_hint(hint).unwrap();
    match make_hydroelastic_mesh(shape, &properties).unwrap() {
        Some(HydroelasticMesh::Surface(surface)) => surface,
        other => panic!("{other:?}"),
    }
}

fn compliant(shape: &Shape, hint: f64, margin: f64) -> Arc<VolumeMeshFieldLinear> {
    let properties = ProximityProperties::new().with_compliant_hydroelastic(1e6);
    let properties = properties.and_then(|p| p.with_resolution_hint(hint));
    let properties = properties.and_then(|p| p.with_hydroelastic_margin(margin));
    match make_hydroelastic_mesh(shape, &properties.unwrap()).unwrap() {
        Some(HydroelasticMesh::Volume(field)) => field,
        other => panic!("{other:?}"),
    }
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

fn shapes() -> impl Strategy<Value = Shape> {
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
        let volumes = (0..field.mesh().num_elements()).map(|e| field.mesh().calc_tetrahedron_volume(e));
        let volumes: Vec<f64> = volumes.collect();
        prop_assert!(volumes.iter().all(|v| *v > 0.0));
        // Overlaps or gaps would change the sum.
        let total = volumes.iter().sum::<f64>();
        prop_assert!((total / surface.calc_enclosed_volume() - 1.0).abs() < 1e-11);
        for (p, pressure) in field.mesh().vertices().iter().zip(field.values()) {
            let is_outside = outside(&shape, p).abs() < 1e-12;
            prop_assert_eq!(*pressure, if is_outside { 0.0 } else { 1.0 });
        }
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
