//! Surfaces of the same relative pose anywhere in the world.

use super::checks::{Bounds, check, rounding_of_force, tolerance};
use super::solids::{quietly, solid};
use super::{POLYGON, PairScene, Random, Solid, Sums, at, cube};
use nalgebra::Isometry3;
use proptest::prelude::*;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::Sphere;

/// Factor by which areas and centroids are off more than planes. The sides of a face are where
/// planes meet, and rounding moves them by the inverse of the sine of the angle: of 26 000 pairs,
/// it was above 10 for two and below 40 for all. Forces do not depend on it, for there is no
/// pressure outside.
const ANGLE: f64 = 1e4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Force, torque, area and centroid move with the pair. Differences are those of rounding
    /// coordinates, which grow with the distance from the origin and with the flatness of the
    /// elements.
    #[test]
    fn surfaces_move_with_the_pair(seed in any::<u64>(), far in 0.0..100.0) {
        let mut r = Random(RandomGenerator::new(seed));
        let size = r.magnitude(1e-3, 1e3);
        let solids = [solid(&mut r, size), solid(&mut r, size)].map(Result::unwrap);
        let scene = quietly(|| PairScene::new(solids.each_ref(), false));
        let mut scene = scene.unwrap();
        let bounds = [0, 1].map(|k| {
            let mesh = scene.mesh(k);
            mesh.map(|mesh| Bounds::of(&mesh, &solids[k].properties))
        });
        let poses = [r.pose(0.2 * size), r.pose(0.2 * size)];
        let moved = r.pose(far * size);
        let moved_poses = poses.map(|x| moved * x);
        let [here, there] = [poses, moved_poses].map(|poses| scene.surface(poses, POLYGON));
        let (Ok(here), Ok(there)) = (here, there) else {
            // Types without a surface, where bounding boxes overlap.
            return Ok(());
        };
        let (Some(here), Some(there)) = (&here, &there) else {
            // A sliver may vanish.
            let left = Sums::of(here.as_ref().or(there.as_ref()));
            prop_assert!(left.area <= 1e-12 * size * size, "{left:?}");
            return Ok(());
        };
        let own = tolerance(there, &bounds, &moved_poses);
        let checked = check(there, &bounds, &moved_poses, &own);
        prop_assert!(checked.is_ok(), "{checked:?}");
        let rounding = rounding_of_force(there, size, &own);
        let (a, b) = (Sums::of(Some(here)), Sums::of(Some(there)));
        let force = (moved.rotation * a.force - b.force).norm();
        prop_assert!(force <= rounding, "force {force} {rounding}");
        // About the world's origin, which does not move along.
        let expected = moved.rotation * a.torque + moved.translation.vector.cross(&b.force);
        let torque = (expected - b.torque).norm();
        let arm = moved.translation.vector.norm() + size;
        prop_assert!(torque <= arm * rounding, "torque {torque} {rounding}");
        let side = ANGLE * own.plane;
        let area_rounding = 1e-12 * a.area + there.num_faces() as f64 * size * side;
        let area = (a.area - b.area).abs();
        prop_assert!(area <= area_rounding, "area {area} {area_rounding}");
        let centroid = (moved * nalgebra::Point3::from(a.centroid)).coords - b.centroid;
        // A mean over areas, each of which is off.
        let centroid_rounding = side + size * area_rounding / a.area;
        prop_assert!(centroid.norm() <= centroid_rounding, "{centroid} {centroid_rounding}");
    }
}

/// Meshes of the same volume as the shape reach beyond it, and so does their contact, however the
/// pair is turned in the world.
#[test]
fn corners_beyond_the_shape_touch() {
    let octahedron = Solid::compliant(Sphere::new(0.1).unwrap(), 1e6, 1.0);
    let octahedron = Solid {
        properties: octahedron.properties.with_equal_volume_tessellation(),
        ..octahedron
    };
    let probe = Solid::rigid(cube(0.01), 1.0);
    let mut scene = PairScene::new([&octahedron, &probe], false).unwrap();
    let mut force_at = |z: f64, turned: Isometry3<f64>| {
        let poses = [turned, turned * at(0.0, 0.0, z)];
        let surface = scene.surface(poses, POLYGON).unwrap();
        Sums::of(surface.as_ref()).size
    };
    let mut r = Random(RandomGenerator::new(1));
    let still = force_at(0.13, Isometry3::identity());
    assert!(still > 0.0);
    for _ in 0..100 {
        let turned = r.pose(1.0);
        // Rounding of coordinates of 1 m against a depth of 0.01 m.
        assert!((force_at(0.13, turned) / still - 1.0).abs() < 1e-11);
        assert_eq!(force_at(0.16, turned), 0.0);
    }
}
