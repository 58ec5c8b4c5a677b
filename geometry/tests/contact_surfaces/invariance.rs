//! Surfaces of the same relative pose anywhere in the world.

use super::checks::{Bounds, check, rounding_of_force, tolerance};
use super::solids::{quietly, solid};
use super::{POLYGON, PairScene, Random, Sums};
use proptest::prelude::*;
use tarragon_framework::random::RandomGenerator;

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
        let Ok(here) = scene.surface(poses, POLYGON) else {
            // Types without a surface.
            return Ok(());
        };
        let there = scene.surface(moved_poses, POLYGON).unwrap();
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
        let area_rounding = 1e-12 * a.area + there.num_faces() as f64 * size * own.position;
        let area = (a.area - b.area).abs();
        prop_assert!(area <= area_rounding, "area {area} {area_rounding}");
        let centroid = (moved * nalgebra::Point3::from(a.centroid)).coords - b.centroid;
        // A mean over areas, each of which is off.
        let centroid_rounding = own.position + size * area_rounding / a.area;
        prop_assert!(centroid.norm() <= centroid_rounding, "{centroid} {centroid_rounding}");
    }
}
