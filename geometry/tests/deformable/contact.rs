//! Contact surfaces of deformable geometry.

use super::{Scene, ball, instance, near_identity};
use nalgebra::{DVector, Isometry3, Vector3};
use proptest::prelude::*;
use tarragon_framework::prelude::DiagramBuilder;
use tarragon_framework::{AutoDiff, Scalar, math};
use tarragon_geometry::{
    DefaultProximityProperties, DeformableContact, DeformableContactSurface,
    GeometryConfigurationVector, GeometryId, HalfSpace, ProximityProperties, SceneGraphConfig,
    Sphere, VertexWeights,
};

/// Where a point of a geometry is.
fn position(scene: &Scene, id: GeometryId, point: &VertexWeights) -> Vector3<f64> {
    let configuration = scene.configurations.value(id).unwrap();
    let parts = point.vertices().iter().zip(point.weights());
    parts.fold(Vector3::zeros(), |sum, (v, w)| {
        sum + Vector3::from_column_slice(&configuration.as_slice()[3 * *v as usize..][..3]) * *w
    })
}

/// Checks what holds for all surfaces.
fn check(scene: &Scene, contact: &DeformableContact) {
    for s in contact.surfaces() {
        for f in 0..s.num_faces() {
            let numbers = [s.area(f), s.normal(f).norm() - 1.0];
            assert!(numbers[0] >= 0.0 && numbers[1].abs() < 1e-12, "{numbers:?}");
            let c = s.centroid(f);
            assert!((position(scene, s.id_a(), s.point_of_a(f)) - c).norm() < 1e-12);
            if let Some(point) = s.point_of_b(f) {
                assert!((position(scene, s.id_b(), point) - c).norm() < 1e-12);
                assert!(s.signed_distance(f).unwrap() <= 1e-12);
                assert!(s.pressure(f).is_none() && s.pressure_gradient(f).is_none());
            } else {
                assert!(s.pressure(f).unwrap() > -1e-6 && s.signed_distance(f).is_none());
                assert!(
                    s.pressure_gradient(f)
                        .unwrap()
                        .iter()
                        .all(|x| x.is_finite())
                );
            }
            let vertices = contact.participating_vertices(s.id_a());
            let is_listed = |v: &u32| vertices.binary_search(v).is_ok();
            assert!(s.point_of_a(f).vertices().iter().all(is_listed));
        }
    }
}

fn sum_of_normals(s: &DeformableContactSurface) -> Vector3<f64> {
    (0..s.num_faces()).map(|f| s.normal(f) * s.area(f)).sum()
}

#[test]
fn a_flat_bottom_on_a_floor_has_the_pressure_of_its_depth() {
    let mut scene = Scene::new();
    let floor = scene.block(1.0, [0.0, 0.0, -0.5], "floor");
    let soft = scene.deformable(ball("soft"), 0.02);
    // The lower half of the ball is pressed flat, 1 mm below the surface of the floor.
    scene.move_vertices(soft, |p| {
        Vector3::new(p.x, p.y, (p.z + 0.1).max(-1e-3) - 0.05)
    });
    scene.move_vertices(soft, |p| Vector3::new(p.x, p.y, p.z.max(-1e-3)));
    let contact = scene.query().compute_deformable_contact().unwrap();
    check(&scene, &contact);
    let s = &contact.surfaces()[0];
    assert_eq!(
        (s.id_a(), s.id_b(), s.is_b_deformable()),
        (soft, floor, false)
    );
    // All of the lower half is folded into the bottom.
    for f in 0..s.num_faces() {
        let (p, g) = (s.pressure(f).unwrap(), s.pressure_gradient(f).unwrap());
        assert!((g - Vector3::new(0.0, 0.0, -2e6)).norm() < 1.0, "{g}");
        let depth = -s.centroid(f).z;
        assert!((p - 2e6 * depth).abs() < 1e-3, "{p} {depth}");
        assert!(-g.dot(&s.normal(f)) >= -1.0);
    }
    assert!(sum_of_normals(s).z > 0.02);
    let half = ProximityProperties::new().with_rigid_hydroelastic();
    let half = half.with_resolution_hint(1.0).unwrap();
    let plane = instance(HalfSpace, "plane").with_proximity(half);
    scene
        .graph
        .register_anchored_geometry(scene.source, plane)
        .unwrap();
    assert_eq!(
        scene
            .query()
            .compute_deformable_contact()
            .unwrap()
            .surfaces()
            .len(),
        1
    );
}

#[test]
fn rigid_partners_need_a_hint_and_a_modulus() {
    let none = DefaultProximityProperties {
        hydroelastic_modulus: None,
        resolution_hint: None,
        ..DefaultProximityProperties::default()
    };
    let without_defaults = SceneGraphConfig {
        default_proximity_properties: none,
    };
    for (hint, modulus, touches) in [(true, true, 1), (true, false, 0), (false, true, 0)] {
        let mut scene = Scene::new();
        scene.graph.set_config(without_defaults).unwrap();
        scene.deformable(ball("soft"), 0.05);
        // Declared rigid, yet it takes part as a compliant mesh.
        let mut rigid = ProximityProperties::new();
        if hint {
            let with_hint = rigid.with_rigid_hydroelastic().with_resolution_hint(0.1);
            rigid = with_hint.unwrap();
        }
        if modulus {
            rigid.set_untyped("hydroelastic", "hydroelastic_modulus", 1e6);
        }
        let mut other = instance(Sphere::new(0.1).unwrap(), "other").with_proximity(rigid);
        other.set_pose(Isometry3::translation(0.15, 0.0, 0.0));
        scene
            .graph
            .register_anchored_geometry(scene.source, other)
            .unwrap();
        let contact = scene.query().compute_deformable_contact().unwrap();
        assert_eq!(contact.surfaces().len(), touches);
        check(&scene, &contact);
        // The defaults of scenes fill in both, as in Drake.
        scene.graph.set_config(SceneGraphConfig::default()).unwrap();
        let contact = scene.query().compute_deformable_contact().unwrap();
        assert_eq!(contact.surfaces().len(), 1);
    }
}

#[test]
fn two_balls_meet_halfway() {
    let mut scene = Scene::new();
    let a = scene.deformable(ball("a"), 0.03);
    let mut other = ball("b");
    other.set_pose(Isometry3::translation(0.0, 0.0, 0.15));
    let b = scene.deformable(other, 0.03);
    let contact = scene.query().compute_deformable_contact().unwrap();
    check(&scene, &contact);
    assert_eq!(contact.geometries().collect::<Vec<_>>(), [a, b]);
    let s = &contact.surfaces()[0];
    assert_eq!((s.id_a(), s.id_b(), s.is_b_deformable()), (a, b, true));
    let mut deepest = 0.0_f64;
    for f in 0..s.num_faces() {
        // By symmetry, between both.
        assert!((s.centroid(f).z - 0.075).abs() < 1e-3);
        deepest = deepest.min(s.signed_distance(f).unwrap());
    }
    assert!((deepest + 0.025).abs() < 4e-3, "{deepest}");
    assert!(sum_of_normals(s).z < -0.005, "out of B, which is above A");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Surfaces move with the scene, and nothing is NaN.
    #[test]
    fn contact_is_invariant_to_motion(
        numbers in any::<[i8; 9]>(),
        shift in [-0.1..0.1_f64, -0.1..0.1, -0.1..0.1],
        turn in [-3.0..3.0_f64, -3.0..3.0, -3.0..3.0],
        far in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0],
    ) {
        let map = near_identity(numbers.map(|x| f64::from(x) / 128.0));
        let shift = Vector3::from(shift);
        let x = math::pose(math::rotation_exp(&Vector3::from(turn)), Vector3::from(far));
        let mut areas = vec![];
        for x in [Isometry3::identity(), x] {
            let mut scene = Scene::new();
            let hard = ProximityProperties::new().with_compliant_hydroelastic(1e6).unwrap();
            let hard = hard.with_resolution_hint(0.05).unwrap();
            let mut rigid = instance(Sphere::new(0.1).unwrap(), "hard").with_proximity(hard);
            rigid.set_pose(x);
            scene.graph.register_anchored_geometry(scene.source, rigid).unwrap();
            for (name, sign) in [("a", 1.0), ("b", -1.0)] {
                let id = scene.deformable(ball(name), 0.06);
                scene.move_vertices(id, |p| (x * nalgebra::Point3::from(map * p + shift * sign)).coords);
            }
            let contact = scene.query().compute_deformable_contact().unwrap();
            check(&scene, &contact);
            let of = |s: &DeformableContactSurface| {
                (s.mesh().total_area(), x.inverse() * sum_of_normals(s))
            };
            areas.push(contact.surfaces().iter().map(of).collect::<Vec<_>>());
        }
        let area = |i: usize| areas[i].iter().map(|(area, _)| area).sum::<f64>();
        prop_assert!((area(0) - area(1)).abs() < 1e-9, "{} {}", area(0), area(1));
        for ((_, n), (_, m)) in areas[0].iter().zip(&areas[1]) {
            prop_assert!((n - m).norm() < 1e-9);
        }
    }
}

/// Sums over the faces of a surface: areas along normals, moments of areas, and what depends on
/// the partner; and points of A as sums of the indices of their vertices.
fn sums<T: Scalar>(s: &DeformableContactSurface<T>) -> Vec<T> {
    let mut sums = vec![T::zero(); 11];
    for f in 0..s.num_faces() {
        let (area, point) = (s.area(f), s.point_of_a(f));
        let along = s.normal(f) * area;
        let moment = s.centroid(f) * area;
        let depth = s.pressure(f).map(|p| p * 1e-6).or(s.signed_distance(f));
        let gradient = s.pressure_gradient(f).unwrap_or_else(Vector3::zeros) * T::from(1e-6);
        let vertices = point.vertices().iter().zip(point.weights());
        let place = vertices.fold(T::zero(), |sum, (v, w)| sum + *w * f64::from(*v));
        let numbers = along.iter().chain(&moment).copied();
        let numbers = numbers.chain([depth.unwrap() * area, place * area]);
        let numbers = numbers.chain(gradient.iter().map(|g| *g * area));
        sums.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
    }
    sums
}

#[test]
fn surfaces_have_the_derivatives_of_the_configurations() {
    let mut scene = Scene::new();
    scene.block(1.0, [0.05, 0.0, -0.58], "floor");
    let balls = [("low", 0.0), ("high", 0.17)].map(|(name, height)| {
        let mut soft = ball(name);
        soft.set_pose(math::pose(
            math::rpy(0.3, 0.2, 0.1 + height),
            Vector3::new(0.01, height / 8.0, height),
        ));
        scene.deformable(soft, 0.08)
    });
    let at = |h: f64, scene: &mut Scene| {
        for id in balls {
            scene.move_vertices(id, |p| {
                p + Vector3::new((20.0 * p.y).sin(), (30.0 * p.z).cos(), (40.0 * p.x).sin())
                    * (2e-3 + h)
            });
        }
        scene.configurations.clone()
    };
    let h = 1e-7;
    let [low, high] = [-h, h].map(|h| {
        at(h, &mut scene);
        let contact = scene.query().compute_deformable_contact().unwrap();
        contact.surfaces().iter().map(sums).collect::<Vec<_>>()
    });
    let (before, now) = (at(-1.0, &mut scene), at(0.0, &mut scene));
    let mut b = DiagramBuilder::new();
    let ports = b.add("scene_graph", scene.graph.clone());
    let dual = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let mut ctx = dual.default_context();
    let mut lifted = GeometryConfigurationVector::<AutoDiff>::new();
    for id in balls {
        let ends = now.value(id).unwrap().iter().zip(before.value(id).unwrap());
        let along = |(now, before): (&f64, &f64)| {
            AutoDiff::constant(*now) + AutoDiff::variable(0.0, 2) * (now - before)
        };
        lifted.set_value(id, DVector::from_vec(ends.map(along).collect()));
    }
    let dual_ports = dual.ports(&ports).unwrap();
    let port = dual_ports.source_configuration_port(scene.source).unwrap();
    ctx.fix(port, lifted).unwrap();
    let query = ctx.eval(dual_ports.query).unwrap();
    let found = query.compute_deformable_contact_with_derivatives().unwrap();
    assert_eq!(found.surfaces().len(), 2);
    for ((found, low), high) in found.surfaces().iter().zip(&low).zip(&high) {
        let wanted: Vec<f64> = high
            .iter()
            .zip(low)
            .map(|(a, b)| (a - b) / (2.0 * h))
            .collect();
        let largest = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (found, wanted) in sums(found).iter().zip(&wanted) {
            // Differences have an error of rounding over 2 h.
            let error = (found.eps[2] - wanted).abs();
            assert!(error < 1e-6 * largest, "{} {wanted}", found.eps[2]);
        }
    }
}
