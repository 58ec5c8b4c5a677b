//! Computation of missing vertex normals.

use super::RenderMesh;
use foldhash::fast::RandomState;
use nalgebra::Vector3;
use std::collections::HashMap;

/// Rule for which triangles share a normal at a common vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Smoothing {
    /// The triangle shares its normals with no other: it is flat.
    Flat,
    /// Triangles of the same group share normals.
    Group(u32),
    /// Triangles whose planes differ by less than 30 degrees share normals (VTK's default feature
    /// angle).
    Auto,
}

/// Cosine of the feature angle.
const COS_FEATURE: f64 = 0.866_025_403_784_438_6;

/// Number of triangles around a vertex up to which they are smoothed. Above it they stay flat:
/// comparing all pairs would take too long, and no smooth surface has so many.
const MAX_AROUND: usize = 2048;

/// Gives a normal to every corner of the listed triangles.
///
/// A corner's normal is the sum of the normals of the triangles that it is smoothed with, each
/// weighted by its angle at the vertex (Thürmer & Wüthrich, "Computing Vertex Normals from
/// Polygonal Facets", 1998).
pub(super) fn add_missing(mesh: &mut RenderMesh, triangles: &[(usize, Smoothing)]) {
    let unit: Vec<Vector3<f64>> = triangles
        .iter()
        .map(|&(t, _)| face_normal(mesh, t))
        .collect();
    // For each vertex, the listed triangles around it (a CSR table).
    let mut start = vec![0u32; mesh.positions.len() + 1];
    for &(t, _) in triangles {
        for v in mesh.triangles[t] {
            start[v as usize + 1] += 1;
        }
    }
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut around = vec![(0u32, 0u8); 3 * triangles.len()];
    let mut next = start.clone();
    for (i, &(t, _)) in triangles.iter().enumerate() {
        for (k, v) in mesh.triangles[t].into_iter().enumerate() {
            let at = &mut next[v as usize];
            around[*at as usize] = (i as u32, k as u8);
            *at += 1;
        }
    }
    // Each triangle's normal, weighted by its angle at each corner.
    let weighted: Vec<[Vector3<f64>; 3]> = triangles
        .iter()
        .zip(&unit)
        .map(|(&(t, _), unit)| std::array::from_fn(|k| unit * corner_angle(mesh, t, k)))
        .collect();
    // Equal normals at a vertex are stored once.
    let mut known: HashMap<(u32, [u64; 3]), u32, RandomState> = HashMap::default();
    known.reserve(mesh.positions.len());
    for (i, &(t, smoothing)) in triangles.iter().enumerate() {
        for k in 0..3 {
            let v = mesh.triangles[t][k];
            let mut sum = Vector3::zeros();
            let others = &around[start[v as usize] as usize..start[v as usize + 1] as usize];
            let others = if others.len() <= MAX_AROUND {
                others
            } else {
                &[]
            };
            for &(j, corner) in others {
                let other_smoothing = triangles[j as usize].1;
                let together = j as usize == i
                    || smoothing == other_smoothing
                        && match smoothing {
                            Smoothing::Flat => false,
                            Smoothing::Group(_) => true,
                            Smoothing::Auto => unit[i].dot(&unit[j as usize]) >= COS_FEATURE,
                        };
                if together {
                    sum += weighted[j as usize][corner as usize];
                }
            }
            let n = sum.try_normalize(1e-12).unwrap_or(unit[i]);
            let key = (v, [n.x.to_bits(), n.y.to_bits(), n.z.to_bits()]);
            mesh.triangle_normals[t][k] = *known.entry(key).or_insert_with(|| {
                mesh.normals.push(n);
                mesh.normals.len() as u32 - 1
            });
        }
    }
}

/// Returns the unit normal of a triangle; +z if it has no area, in which case no pixel shows it.
fn face_normal(mesh: &RenderMesh, t: usize) -> Vector3<f64> {
    let [a, b, c] = mesh.triangles[t].map(|v| mesh.positions[v as usize]);
    let n = (b - a).cross(&(c - a));
    n.try_normalize(0.0)
        .filter(|n| n.iter().all(|x| x.is_finite()))
        .unwrap_or_else(Vector3::z)
}

/// Returns the angle of a triangle at one of its corners (rad).
fn corner_angle(mesh: &RenderMesh, t: usize, k: usize) -> f64 {
    let p = mesh.triangles[t].map(|v| mesh.positions[v as usize]);
    let (a, b) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
    let angle = a.cross(&b).norm().atan2(a.dot(&b));
    if angle.is_finite() { angle } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;

    /// Creates two triangles with a common edge along y, folded by `angle` (rad).
    fn fold(angle: f64) -> RenderMesh {
        RenderMesh {
            positions: vec![
                Point3::new(0.0, 0.0, 0.0),
                Point3::new(0.0, 1.0, 0.0),
                Point3::new(-1.0, 0.0, 0.0),
                Point3::new(angle.cos(), 0.0, -angle.sin()),
            ],
            triangles: vec![[0, 1, 2], [0, 3, 1]],
            triangle_normals: vec![[0; 3]; 2],
            ..RenderMesh::default()
        }
    }

    #[test]
    fn only_triangles_below_the_feature_angle_share_normals() {
        for (angle, shared) in [(0.5, true), (0.55, false)] {
            let mut mesh = fold(angle);
            add_missing(&mut mesh, &[(0, Smoothing::Auto), (1, Smoothing::Auto)]);
            let n = &mesh.triangle_normals;
            assert_eq!(n[0][0] == n[1][0], shared, "{angle}");
        }
    }

    #[test]
    fn groups_are_smoothed_at_any_angle() {
        let mut mesh = fold(1.5);
        add_missing(
            &mut mesh,
            &[(0, Smoothing::Group(1)), (1, Smoothing::Group(1))],
        );
        assert_eq!(mesh.triangle_normals[0][0], mesh.triangle_normals[1][0]);
        let mut mesh = fold(0.1);
        add_missing(&mut mesh, &[(0, Smoothing::Group(1)), (1, Smoothing::Flat)]);
        assert_ne!(mesh.triangle_normals[0][0], mesh.triangle_normals[1][0]);
        assert!((mesh.normals[mesh.triangle_normals[0][0] as usize] - Vector3::z()).norm() < 1e-15);
    }
}
