//! Tests of the distance to a point.

use super::*;
use crate::proximity::convex::{ConvexCore, RelativePose, convex_features};
use crate::proximity::distance_to_point;

fn point<T: Scalar>(m: &Mesh, x: &Isometry3<T>, q: &Vector3<T>) -> [T; 7] {
    let d = distance_to_point(&m.clone().into(), x, q).unwrap();
    let (n, p) = (d.grad_w, d.p_gn);
    [d.distance, n.x, n.y, n.z, p.x, p.y, p.z]
}

fn signed(m: &Mesh, q: &Vector3<f64>) -> f64 {
    point(m, &Isometry3::identity(), q)[0]
}

/// Returns the distance from the general kernel, applied to every triangle.
fn brute_force(surface: &IndexedSurface, q: &Vector3<f64>) -> f64 {
    let x = Isometry3::translation(q.x, q.y, q.z);
    let distances = surface.triangles().map(|t| {
        let active = convex_features(
            &ConvexCore::Triangle(&t),
            &ConvexCore::Point,
            &x,
            f64::INFINITY,
        );
        active
            .unwrap()
            .evaluate(&RelativePose::new(&x))
            .distance
            .abs()
    });
    distances.fold(f64::INFINITY, f64::min)
}

#[test]
fn distance_matches_all_triangles_and_has_the_right_sign() {
    let mut random = Random::new(1);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        let s = surface(&m);
        assert!(s.is_solid);
        for k in 0..300 {
            let q = random.vector() * [0.1, 0.2, 5.0][k % 3];
            let d = signed(&m, &q);
            assert!(
                (d.abs() - brute_force(s, &q)).abs() < 1e-15 * (1.0 + q.norm()),
                "{q:?}"
            );
            // Sum of solid angles: 1 inside, 0 outside.
            let turns: f64 = s.triangles().map(|t| solid_angle(&t, &q)).sum();
            let turns = turns / (4.0 * std::f64::consts::PI);
            assert_eq!(d < 0.0, turns > 0.5, "{q:?} {d} {turns}");
        }
    }
}

/// Returns the solid angle by L'Huilier's theorem, with the sign of the side.
fn solid_angle(t: &crate::accel::triangle_index::Triangle, q: &Vector3<f64>) -> f64 {
    let [a, b, c] = t.corners.map(|v| (v - q).normalize());
    let (x, y, z) = (b.angle(&c), c.angle(&a), a.angle(&b));
    let s = 0.5 * (x + y + z);
    let product =
        (0.5 * s).tan() * (0.5 * (s - x)).tan() * (0.5 * (s - y)).tan() * (0.5 * (s - z)).tan();
    4.0 * product.max(0.0).sqrt().atan() * (-t.height(q)).signum()
}

#[test]
fn block_mesh_matches_a_box() {
    let size = Vector3::new(0.2, 0.15, 0.1);
    let m = mesh(&block(size));
    let b = BoxShape::new(size.x, size.y, size.z).unwrap().into();
    let mut random = Random::new(2);
    for _ in 0..1000 {
        let (x, q) = (random.pose(0.1), random.vector() * 0.2);
        let d = distance_to_point(&b, &x, &q).unwrap();
        let found = point(&m, &x, &q);
        assert!((found[0] - d.distance).abs() < 1e-15);
        assert!((Vector3::new(found[1], found[2], found[3]) - d.grad_w).norm() < 1e-12);
        assert!((Vector3::new(found[4], found[5], found[6]) - d.p_gn).norm() < 1e-15);
    }
    // On the surface: a face (on its diagonal), an edge, a vertex.
    let h = size / 2.0;
    for (q, n) in [
        (Vector3::new(0.0, 0.0, h.z), Vector3::z()),
        (Vector3::new(h.x, h.y, 0.01), Vector3::new(1.0, 1.0, 0.0)),
        (h, Vector3::repeat(1.0)),
    ] {
        let found = point(&m, &Isometry3::identity(), &q);
        assert_eq!(found[0], 0.0);
        assert!((Vector3::new(found[1], found[2], found[3]) - n.normalize()).norm() < 1e-15);
    }
}

#[test]
fn dual_numbers_match_central_differences() {
    let mut random = Random::new(3);
    let h = 1e-6;
    let mut smooth = 0;
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for _ in 0..150 {
            let (x_wg, q) = (random.pose(0.1), random.vector() * 0.2);
            fn at<T: Scalar>(
                m: &Mesh,
                x_wg: &Isometry3<f64>,
                q: &Vector3<f64>,
                v: [T; 8],
            ) -> [T; 7] {
                let r = math::rotation_exp(&Vector3::new(v[3], v[4], v[5]));
                let x = x_wg.cast::<T>();
                let p = x.translation.vector + Vector3::new(v[0], v[1], v[2]);
                let q = q.map(T::from) + Vector3::new(v[6], v[7], T::zero());
                point(m, &math::pose(r * x.rotation, p), &q)
            }
            let exact = at(
                &m,
                &x_wg,
                &q,
                std::array::from_fn(|i| AutoDiff::variable(0.0, i)),
            );
            assert!((exact[0].eps[6] - exact[1].re).abs() < 1e-14);
            assert!((exact[0].eps[2] + exact[3].re).abs() < 1e-14);
            for i in 0..8 {
                let step = |s: f64| {
                    let mut v = [0.0; 8];
                    v[i] = s;
                    at(&m, &x_wg, &q, v)
                };
                let (up, down) = (step(h), step(-h));
                let sides = |k: usize| ((up[k] - exact[k].re) / h, (exact[k].re - down[k]) / h);
                // Another feature becomes the nearest within the step.
                if (0..7).any(|k| (sides(k).0 - sides(k).1).abs() > 1e-3) {
                    continue;
                }
                smooth += 1;
                for (k, value) in exact.iter().enumerate() {
                    let central = 0.5 * (sides(k).0 + sides(k).1);
                    assert!((value.eps[i] - central).abs() < 2e-6 * (1.0 + central.abs()));
                }
            }
        }
    }
    assert!(smooth > 4000, "{smooth} of 4800");
}

/// Four faces meet at the common edge of two cubes, and their normals cancel.
#[test]
fn edge_of_four_faces_has_the_right_sign() {
    let (mut vertices, mut faces) = block(Vector3::repeat(1.0));
    let (more, again) = block(Vector3::repeat(1.0));
    vertices.extend(more.iter().map(|v| v + Vector3::new(1.0, 1.0, 0.0)));
    faces.extend(again.iter().map(|f| f.iter().map(|i| i + 8).collect()));
    let m = mesh(&(vertices, faces));
    assert!(surface(&m).is_solid);
    let edge = Vector3::new(0.5, 0.5, 0.1);
    for (x, y, inside) in [
        (-1.0, -1.0, true),
        (1.0, 1.0, true),
        (-1.0, 1.0, false),
        (1.0, -1.0, false),
    ] {
        for tilt in [0.0, 0.3, -0.3] {
            let q = edge + Vector3::new(x + tilt, y - tilt, 0.0) * 1e-3;
            assert_eq!(signed(&m, &q) < 0.0, inside, "{q:?}");
        }
    }
}

/// As in the reference, the space behind the faces is inside, also beyond the boundary.
#[test]
fn open_sheet_has_two_sides() {
    let m = mesh(&sheet(1.0));
    assert!(!surface(&m).is_solid);
    assert_eq!(signed(&m, &Vector3::new(0.1, 0.2, 0.3)), 0.3);
    assert_eq!(signed(&m, &Vector3::new(0.1, 0.2, -0.3)), -0.3);
    assert!((signed(&m, &Vector3::new(0.8, 0.0, 0.4)) - 0.5).abs() < 1e-15);
    assert!((signed(&m, &Vector3::new(0.8, 0.0, -0.4)) + 0.5).abs() < 1e-15);
}

#[test]
fn repeated_vertices_are_merged() {
    let (vertices, faces) = solid(2);
    let mut soup: Faces = (vec![], vec![]);
    for f in &faces {
        let first = soup.0.len();
        soup.0.extend(f.iter().map(|i| vertices[*i]));
        soup.1.push((first..first + f.len()).collect());
    }
    // Triangles of zero area: a point, a segment, a needle.
    soup.1.extend([vec![0, 0, 1], vec![0, 1, 0], vec![2, 2, 2]]);
    let (connected, soup) = (mesh(&(vertices, faces)), mesh(&soup));
    assert!(surface(&soup).is_solid);
    let mut random = Random::new(4);
    for _ in 0..300 {
        let q = random.vector() * 0.2;
        assert_eq!(signed(&soup, &q), signed(&connected, &q));
    }
}

#[test]
fn mesh_of_zero_area_is_an_error() {
    let line = vec![Vector3::zeros(), Vector3::x(), Vector3::x() * 2.0];
    let m = mesh(&(line, vec![vec![0, 1, 2]]));
    let o = Isometry3::<f64>::identity();
    let e = distance_to_point(&m.into(), &o, &Vector3::zeros()).unwrap_err();
    let e = e.to_string();
    assert!(
        e.contains("test") && e.contains("must have a triangle with a positive area"),
        "{e}"
    );
}

#[test]
fn surface_of_tetrahedra_is_their_boundary() {
    // Two tetrahedra with a common face.
    let vtk = "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\n\
               POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 0 0 -1\n\
               CELLS 2 10\n4 0 1 2 3\n4 0 2 1 4\nCELL_TYPES 2\n10\n10\n";
    let m = Mesh::new(InMemoryMesh::new(MemoryFile::new(vtk, ".vtk", "two")));
    assert!(surface(&m).is_solid);
    // The common face is not part of the boundary.
    let q = Vector3::new(0.3, 0.3, 0.0);
    assert!((signed(&m, &q) + 0.4 / 3.0_f64.sqrt()).abs() < 1e-15);
}
