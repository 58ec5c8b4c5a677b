//! The shortest way out of all faces that meet at a vertex.

use nalgebra::{Matrix3, Vector3};

/// Tolerance, relative to the length of the displacement, within which a face counts as left
/// behind. The normals of coplanar faces differ by rounding.
const ROUNDING: f64 = 1e-12;

/// Threshold below which faces that bound the displacement have no common point.
const PARALLEL: f64 = 1e-14;

/// Returns the shortest vector `u` with `u . n >= 1` for all of these unit vectors; `None` if there
/// is none.
///
/// Solves for a few of the constraints, adds the one that the solution violates most, and so on.
/// The length of the solution grows with each.
pub(super) fn shortest_displacement(normals: &[Vector3<f64>]) -> Option<Vector3<f64>> {
    let mut used: Vec<Vector3<f64>> = vec![];
    loop {
        let u = shortest_with(&used, &[])?;
        let least = normals
            .iter()
            .min_by(|a, b| a.dot(&u).total_cmp(&b.dot(&u)));
        match least {
            // One that is used already is violated by rounding alone.
            Some(normal) if violates(&u, normal) && !used.contains(normal) => used.push(*normal),
            _ => return Some(u),
        }
    }
}

fn violates(u: &Vector3<f64>, normal: &Vector3<f64>) -> bool {
    normal.dot(u) < 1.0 - ROUNDING * (1.0 + u.norm())
}

/// Returns the shortest vector with `u . n >= 1` for `normals` and `u . n = 1` for `active`.
///
/// At most three of the constraints are active, and they are found by adding one constraint after
/// the other: one that the solution so far violates is active in the next solution (R. Seidel,
/// "Small-dimensional linear programming and convex hulls made easy", 1991; the argument holds for
/// every strictly convex objective).
fn shortest_with(normals: &[Vector3<f64>], active: &[Vector3<f64>]) -> Option<Vector3<f64>> {
    let mut u = match active {
        [] => Vector3::zeros(),
        [a] => *a,
        [a, b] => shortest_on_line(a, b)?,
        [a, b, c] => {
            let rows = Matrix3::from_rows(&[a.transpose(), b.transpose(), c.transpose()]);
            let determinant = rows.determinant();
            if determinant.abs() <= PARALLEL {
                return None;
            }
            (b.cross(c) + c.cross(a) + a.cross(b)) / determinant
        }
        _ => return None,
    };
    for (i, normal) in normals.iter().enumerate() {
        if violates(&u, normal) {
            let next: Vec<Vector3<f64>> = active.iter().chain([normal]).copied().collect();
            u = shortest_with(&normals[..i], &next)?;
        }
    }
    Some(u)
}

/// Returns the shortest vector on the line of intersection of two planes.
fn shortest_on_line(a: &Vector3<f64>, b: &Vector3<f64>) -> Option<Vector3<f64>> {
    let scale = 1.0 + a.dot(b);
    (scale > PARALLEL).then(|| (a + b) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the shortest of the solutions for all sets of active constraints that satisfy all.
    fn by_enumeration(normals: &[Vector3<f64>]) -> Option<Vector3<f64>> {
        let n = normals.len();
        let mut sets = vec![];
        for i in 0..n {
            sets.push(vec![normals[i]]);
            for j in 0..i {
                sets.push(vec![normals[i], normals[j]]);
                sets.extend((0..j).map(|k| vec![normals[i], normals[j], normals[k]]));
            }
        }
        let candidates = sets.iter().filter_map(|set| shortest_with(&[], set));
        let feasible = |u: &Vector3<f64>| normals.iter().all(|n| n.dot(u) >= 1.0 - 1e-9);
        let feasible = candidates.filter(feasible);
        feasible.min_by(|u, v| u.norm().total_cmp(&v.norm()))
    }

    proptest! {
        #[test]
        fn the_displacement_is_the_shortest_of_all_active_sets(
            normals in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 1..8),
            tilt in 0.0..2.0,
        ) {
            let normals = normals.iter().map(|n| Vector3::from(*n) + Vector3::z() * tilt);
            let normals: Vec<_> = normals.filter_map(|n: Vector3<f64>| n.try_normalize(1e-3)).collect();
            prop_assume!(!normals.is_empty());
            let expected = by_enumeration(&normals);
            match (shortest_displacement(&normals), expected) {
                (Some(u), Some(expected)) => {
                    prop_assert!((u - expected).norm() < 1e-6 * expected.norm().powi(2), "{u} {expected}");
                }
                (found, expected) => prop_assert_eq!(found.is_some(), expected.is_some()),
            }
        }
    }

    #[test]
    fn opposite_faces_have_no_way_out() {
        let [x, y, z] = [0, 1, 2].map(|axis| Vector3::ith(axis, 1.0));
        assert_eq!(shortest_displacement(&[x, y, z]), Some(x + y + z));
        assert_eq!(shortest_displacement(&[x, x, y]), Some(x + y));
        assert_eq!(shortest_displacement(&[x, -x]), None);
        assert_eq!(
            shortest_displacement(&[x, y, z, -(x + y + z).normalize()]),
            None
        );
    }

    #[test]
    fn tips_of_cones_with_many_faces_move_along_the_axis() {
        for n in [3, 100, 100_000] {
            let around = (0..n).map(|i| std::f64::consts::TAU * f64::from(i) / f64::from(n));
            let normals = around.map(|a| Vector3::new(a.cos(), a.sin(), 0.75) / 1.25);
            let normals: Vec<Vector3<f64>> = normals.collect();
            let u = shortest_displacement(&normals).unwrap();
            assert!((u - Vector3::new(0.0, 0.0, 1.0 / 0.6)).norm() < 1e-9, "{u}");
        }
    }
}
