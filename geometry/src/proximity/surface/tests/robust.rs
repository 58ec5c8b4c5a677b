//! Defective meshes, and positions where the direction is not unique.

use super::*;
use crate::proximity::distance_to_point;
use proptest::prelude::*;

/// Returns triangles with corners on a coarse grid: flat, duplicated, crossing and inside out.
fn soup(random: &mut Random, count: usize) -> Mesh {
    let mut on_grid = || (random.vector() * 2.0).map(f64::round) * 0.05;
    let vertices: Vec<_> = (0..8).map(|_| on_grid()).collect();
    let mut index = || ((random.number() + 1.0) * 4.0) as usize;
    let mut faces: Vec<_> = (0..count)
        .map(|_| vec![index(), index(), index()])
        .collect();
    faces.push(vec![0, 1, 2]);
    mesh(&(vertices, faces))
}

fn grid_pose(random: &mut Random) -> Isometry3<f64> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let turns = (random.vector() * 2.0).map(f64::round) * quarter;
    let p = (random.vector() * 2.0).map(f64::round) * 0.05;
    math::pose(math::rpy(turns.x, turns.y, turns.z), p)
}

fn all_finite(d: &PairDistance<AutoDiff>) -> bool {
    let numbers = [d.nhat_ba_w, d.p_wca, d.p_wcb];
    let all = numbers.iter().flat_map(|v| v.iter()).chain([&d.distance]);
    all.into_iter()
        .all(|x| x.re.is_finite() && x.eps.iter().all(|e| e.is_finite()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Results are never NaN, normals are unit vectors, and the witnesses are consistent with them.
    #[test]
    fn results_are_never_nan(seed: u64, count in 1_usize..12, other in 0..BODIES + 1) {
        let mut random = Random::new(seed);
        let m = soup(&mut random, count);
        let b = match other {
            0..BODIES => body(&mut random, other),
            _ => soup(&mut random, count).into(),
        };
        let (x_wa, x_wb) = (grid_pose(&mut random), grid_pose(&mut random));
        let mut dual = x_wb.cast::<AutoDiff>();
        for i in 0..3 {
            dual.translation.vector[i] = AutoDiff::variable(x_wb.translation.vector[i], i);
        }
        let a: Shape = m.clone().into();
        let inf = f64::INFINITY;
        let found = signed_distance_true_surface(&a, true, &x_wa.cast(), &b, true, &dual, inf);
        match found {
            Ok(d) => {
                let d = d.unwrap();
                prop_assert!(all_finite(&d), "{d:?}");
                prop_assert!((d.nhat_ba_w.map(|x| x.re).norm() - 1.0).abs() < 1e-12, "{d:?}");
            }
            // All triangles may be flat.
            Err(e) => prop_assert!(e.to_string().contains("area"), "{e}"),
        }
        let q = x_wb.translation.vector;
        if let Ok(d) = distance_to_point(&a, &x_wa, &q) {
            prop_assert!(d.distance.is_finite());
            prop_assert!((d.grad_w.norm() - 1.0).abs() < 1e-12);
            let n = (x_wa * nalgebra::Point3::from(d.p_gn)).coords;
            prop_assert!((n + d.grad_w * d.distance - q).norm() < 1e-12);
        }
    }
}

/// A body in the middle of a mesh of its own shape.
#[test]
fn concentric_bodies_have_the_expected_depth() {
    let o = Isometry3::<f64>::identity();
    let m = mesh(&block(Vector3::repeat(0.1)));
    let bodies: [Shape; 3] = [
        BoxShape::new(0.1, 0.1, 0.1).unwrap().into(),
        m.clone().into(),
        Cylinder::new(0.05, 0.1).unwrap().into(),
    ];
    for b in bodies {
        let d = true_distance(&m, &o, &b, &o);
        check(&d);
        // The centre is at depth 0.05; the edges of a mesh are at the surface.
        let expected = if matches!(b, Shape::Mesh(_)) {
            0.0
        } else {
            -0.05
        };
        assert!((d.distance - expected).abs() < 1e-4, "{d:?}");
    }
}

/// One solid inside another, and one around it.
#[test]
fn nested_solids_have_the_depth_of_the_deepest_corner() {
    let o = Isometry3::<f64>::identity();
    let outer = mesh(&block(Vector3::repeat(1.0)));
    let inner = mesh(&block(Vector3::repeat(0.2)));
    let x = Isometry3::translation(0.2, 0.0, 0.0);
    // The deepest corners and edges are 0.4 below the nearest face.
    let d = true_distance(&outer, &o, &inner.clone().into(), &x);
    assert!((d.distance + 0.4).abs() < 1e-3, "{d:?}");
    let d = true_distance(&inner, &x, &outer.into(), &o);
    assert!((d.distance + 0.4).abs() < 1e-3, "{d:?}");
}
