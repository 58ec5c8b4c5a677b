//! Symmetry and invariance of the results.

use super::*;
use crate::proximity::WitnessPair;
use crate::proximity::dispatch::closest;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Exchanging the bodies exchanges the results, bit for bit.
    #[test]
    fn exchanging_the_bodies_exchanges_the_results(seed: u64, i in 0..KINDS, j in 0..KINDS, same in proptest::bool::ANY) {
        prop_assume!((i, j) != (3, 3));
        let mut random = Random::new(seed);
        let a = random.shape(i);
        let b = if same { a.clone() } else { random.shape(j) };
        prop_assume!(!matches!((&a, &b), (Shape::HalfSpace(_), Shape::HalfSpace(_))));
        let (x_wa, x_wb) = (random.pose(0.3), random.pose(0.3));
        let ab = signed_distance(&a, &x_wa, &b, &x_wb).unwrap();
        let ba = signed_distance(&b, &x_wb, &a, &x_wa).unwrap();
        prop_assert_eq!(format!("{:?}", ab), format!("{:?}", ba.swapped()));
    }

    /// A common rigid motion changes the results only by rounding, also far from the origin.
    #[test]
    fn common_rigid_motion_preserves_the_results(seed: u64, i in 0..KINDS, j in 0..KINDS, reach in 0.0..1000.0) {
        prop_assume!((i, j) != (3, 3));
        let mut random = Random::new(seed);
        let (a, b) = (random.shape(i), random.shape(j));
        let (x_wa, x_wb, x_vw) = (random.pose(0.3), random.pose(0.3), random.pose(reach));
        let w = signed_distance(&a, &x_wa, &b, &x_wb).unwrap();
        let v = signed_distance(&a, &(x_vw * x_wa), &b, &(x_vw * x_wb)).unwrap();
        let tolerance = 2e-15 * (1.0 + reach);
        prop_assert!((w.distance - v.distance).abs() < tolerance);
    }
}

/// Exchanging concentric and coaxial bodies of the same type also exchanges the results.
#[test]
fn exchange_holds_for_concentric_and_coaxial_bodies() {
    let o = Isometry3::identity();
    let turned = math::pose(math::rotation_x(1.0), Vector3::zeros());
    let s = |r| Shape::from(Sphere::new(r).unwrap());
    let c = |r| Shape::from(Capsule::new(r, 1.0).unwrap());
    let pairs = [(s(1.0), s(2.0)), (s(1.0), s(1.0)), (c(1.0), c(2.0))];
    for (a, b) in pairs {
        for (x_wa, x_wb) in [(o, turned), (turned, o)] {
            let ab = signed_distance(&a, &x_wa, &b, &x_wb).unwrap();
            let ba = signed_distance(&b, &x_wb, &a, &x_wa).unwrap();
            assert_eq!(format!("{ab:?}"), format!("{:?}", ba.swapped()));
        }
    }
}

/// Witnesses in the frames of their bodies match those in the world, for every pair in both orders.
#[test]
fn body_frame_witnesses_match_world_witnesses() {
    let mut random = Random::new(21);
    for (i, j) in pairs() {
        for _ in 0..200 {
            let (a, b) = (random.shape(i), random.shape(j));
            let (x_wa, x_wb) = (random.pose(0.4), random.pose(0.4));
            let in_world = signed_distance(&a, &x_wa, &b, &x_wb).unwrap();
            let found = closest::<f64, WitnessPair<f64>>(&a, &x_wa, &b, &x_wb, f64::INFINITY);
            let in_bodies = found.unwrap().unwrap();
            assert_eq!(in_bodies.distance.to_bits(), in_world.distance.to_bits());
            assert_eq!(in_bodies.nhat_ba_w, in_world.nhat_ba_w);
            for (x_wg, p_gc, p_wc) in [
                (&x_wa, in_bodies.p_aca, in_world.p_wca),
                (&x_wb, in_bodies.p_bcb, in_world.p_wcb),
            ] {
                let off = (x_wg * nalgebra::Point3::from(p_gc)).coords - p_wc;
                // The rounding of two rotations at lengths of about 1 m; half spaces reach further.
                assert!(
                    off.norm() < 4e-15 * (1.0 + p_gc.norm()),
                    "{a:?} {b:?} {off}"
                );
            }
        }
    }
}
