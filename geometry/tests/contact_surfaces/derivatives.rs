//! Derivatives of contact surfaces by the pose of one geometry.

use super::*;
use tarragon_framework::AutoDiff;
use tarragon_geometry::{HalfSpace, Sphere};

/// Returns the surface with the derivatives by the depth of the first geometry.
pub(super) fn dual_surface(
    scene: &PairScene,
    [moving, other]: [Isometry3<f64>; 2],
    representation: HydroelasticContactRepresentation,
) -> ContactSurface<AutoDiff> {
    let mut builder = DiagramBuilder::new();
    let graph = builder.add("scene_graph", scene.graph.clone());
    let dual = builder.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&graph).unwrap();
    let mut context = dual.default_context();
    let depth = AutoDiff::variable(0.0, 0);
    let mut moved = moving.cast::<AutoDiff>();
    moved.translation.z -= depth;
    let poses = scene.frames.into_iter().zip([moved, other.cast()]);
    let port = ports.source_pose_port(scene.source).unwrap();
    context
        .fix(port, FramePoseVector::from_iter(poses))
        .unwrap();
    let query = context.eval(ports.query).unwrap();
    let mut found = query.compute_contact_surfaces(representation).unwrap();
    found.swap_remove(0)
}

/// Pressures, of faces that share vertices and of others, change as their differences do.
#[test]
fn pressures_have_the_derivatives_of_the_pose() {
    let ball = Solid::compliant(Sphere::new(0.2).unwrap(), 1e6, 0.06);
    let floor = Solid::rigid(HalfSpace, 1.0);
    let mut soft_floor = Solid::compliant(HalfSpace, 1e5, 1.0);
    soft_floor.properties = soft_floor.properties.with_slab_thickness(0.1).unwrap();
    let stone = Solid::rigid(Sphere::new(0.2).unwrap(), 0.06);
    let plate = Solid::rigid(cube(1.0), 0.2);
    let block = Solid::compliant(cube(0.4), 1e6, 0.2);
    let low = |depth: f64| at(0.013, 0.021, 0.2 - depth);
    let pairs = [
        ([&ball, &floor], at(0.0, 0.0, 0.0)),
        ([&stone, &soft_floor], at(0.0, 0.0, 0.0)),
        ([&ball, &plate], at(0.0, 0.0, -0.5)),
        ([&ball, &block], at(0.0, 0.0, -0.2)),
    ];
    for (k, (solids, other)) in pairs.into_iter().enumerate() {
        for representation in [POLYGON, TRIANGLE] {
            let mut scene = PairScene::new(solids, false).unwrap();
            let mut pressures = |depth: f64| {
                let surface = scene.surface([low(depth), other], representation);
                let surface = surface.unwrap().unwrap();
                surface.vertex_pressures().to_vec()
            };
            let (depth, h) = (0.0317, 1e-6);
            let [before, now, after] = [depth - h, depth, depth + h].map(&mut pressures);
            let found = dual_surface(&scene, [low(depth), other], representation);
            let found = found.vertex_pressures();
            assert_eq!(found.len(), now.len(), "{k}");
            let mut largest = 0.0_f64;
            for (v, (found, now)) in found.iter().zip(now).enumerate() {
                // A vertex is moved to its own place, but for rounding.
                assert!(
                    (found.re - now).abs() <= 1e-9,
                    "{k}: {} and {now}",
                    found.re
                );
                let difference = (after[v] - before[v]) / (2.0 * h);
                let error = (found.eps[0] - difference).abs();
                // Of derivatives of up to 5e6 Pa/m, rounding over 2 h hides some 1e-8.
                assert!(error <= 0.5, "{k}: {} and {difference}", found.eps[0]);
                largest = largest.max(difference.abs());
            }
            assert!(largest > 1e4, "{k}: {largest}");
        }
    }
}
