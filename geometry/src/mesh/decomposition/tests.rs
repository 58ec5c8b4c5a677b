//! Pieces of prisms, pipes and surfaces that are not solids.

#![cfg(feature = "convex-decomposition")]

use super::*;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// Extrudes a polygon (counter-clockwise, with its triangles) from z = 0 to `height`.
fn prism(outline: &[[f64; 2]], triangles: &[[u32; 3]], height: f64) -> TriangleSurfaceMesh {
    let n = outline.len() as u32;
    let ring = |z: f64| outline.iter().map(move |p| Vector3::new(p[0], p[1], z));
    let vertices = ring(0.0).chain(ring(height)).collect();
    let mut faces = vec![];
    for [a, b, c] in triangles {
        faces.push([*a, *c, *b]);
        faces.push([a + n, b + n, c + n]);
    }
    for i in 0..n {
        let j = (i + 1) % n;
        faces.push([i, j, j + n]);
        faces.push([i, j + n, i + n]);
    }
    mesh(faces, vertices)
}

fn mesh(faces: Vec<[u32; 3]>, vertices: Vec<Vector3<f64>>) -> TriangleSurfaceMesh {
    TriangleSurfaceMesh::new(faces, vertices).unwrap()
}

/// A wall around the z axis between two radii, from z = 0 to 1.
fn pipe(inner: f64, outer: f64, sides: u32) -> TriangleSurfaceMesh {
    let mut vertices = vec![];
    for (radius, z) in [(inner, 0.0), (outer, 0.0), (outer, 1.0), (inner, 1.0)] {
        for i in 0..sides {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(sides)).sin_cos();
            vertices.push(Vector3::new(radius * cos, radius * sin, z));
        }
    }
    let mut faces = vec![];
    for ring in 0..4 {
        let (low, high) = (ring * sides, (ring + 1) % 4 * sides);
        for i in 0..sides {
            let j = (i + 1) % sides;
            faces.push([low + i, low + j, high + j]);
            faces.push([low + i, high + j, high + i]);
        }
    }
    mesh(faces, vertices)
}

fn l_shape() -> TriangleSurfaceMesh {
    let outline = [[0., 0.], [3., 0.], [3., 1.], [1., 1.], [1., 3.], [0., 3.]];
    prism(&outline, &[[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]], 1.0)
}

/// Returns how far a point is outside a hull (m), negative inside.
fn height(hull: &ConvexHull, p: &Vector3<f64>) -> f64 {
    let heights = hull.faces.iter().map(|face| {
        let [a, b, c] = [0, 1, 2].map(|i| hull.vertices[face[i] as usize]);
        (b - a).cross(&(c - a)).normalize().dot(&(p - a))
    });
    heights.fold(f64::NEG_INFINITY, f64::max)
}

fn least_height(pieces: &[ConvexHull], p: &Vector3<f64>) -> f64 {
    pieces
        .iter()
        .map(|hull| height(hull, p))
        .fold(f64::INFINITY, f64::min)
}

/// A surface and a test for points inside it, up to `slack` near the surface.
type Body = (TriangleSurfaceMesh, fn(&Vector3<f64>) -> bool);

#[test]
fn pieces_cover_the_body_and_leave_its_concavities_open() {
    let l: Body = (l_shape(), |p| p.x.max(p.y) < 3.0 && p.x.min(p.y) < 1.0);
    let pipe: Body = (pipe(0.8, 1.0, 48), |p| {
        // Between the circles inscribed in the outer polygon and around the inner one.
        let r = p.xy().norm();
        r < (PI / 48.0).cos() && r > 0.8
    });
    for (surface, contains) in [l, pipe] {
        let pieces = convex_decomposition(&surface, 16).unwrap();
        assert!((2..=16).contains(&pieces.len()), "{}", pieces.len());
        for p in surface.vertices() {
            assert!(least_height(&pieces, p) < 1e-12);
        }
        let (center, size) = surface.calc_bounding_box();
        let grid = (0..20).flat_map(|i| (0..20).map(move |j| [i, j]));
        for [i, j] in grid {
            let at = |i: i32, axis: usize| center[axis] + size[axis] * (f64::from(i) / 19.5 - 0.49);
            let p = Vector3::new(at(i, 0), at(j, 1), center.z);
            if contains(&p) {
                assert!(least_height(&pieces, &p) < 1e-9, "{p}");
            }
        }
        let open = Vector3::new(center.x.max(1.2), center.y.max(1.2), 0.5);
        let open = if contains(&Vector3::new(0.5, 0.5, 0.5)) {
            open
        } else {
            Vector3::z() * 0.5
        };
        assert!(least_height(&pieces, &open) > 0.15);
    }
}

#[test]
fn pieces_of_two_walls_have_their_volume() {
    let pieces = convex_decomposition(&l_shape(), 16).unwrap();
    assert!(pieces.len() <= 3, "{}", pieces.len());
    let whole: f64 = pieces
        .into_iter()
        .map(|hull| merge::HullPiece::new(hull).volume)
        .sum();
    // The cut is on the grid of voxels, which leaves a sliver.
    assert!((whole - 5.0).abs() < 0.1, "{whole}");
}

#[test]
fn a_convex_body_is_one_piece_and_one_piece_is_the_hull() {
    let square = [[0., 0.], [1., 0.], [1., 1.], [0., 1.]];
    let cube = prism(&square, &[[0, 1, 2], [0, 2, 3]], 1.0);
    for (surface, count) in [(&cube, 32), (&l_shape(), 1)] {
        let pieces = convex_decomposition(surface, count).unwrap();
        assert_eq!(pieces, [convex_hull(surface.vertices()).unwrap()]);
    }
}

#[test]
fn pieces_do_not_depend_on_units_or_on_the_run() {
    let surface = pipe(0.8, 1.0, 24);
    let pieces = convex_decomposition(&surface, 12).unwrap();
    assert_eq!(pieces, convex_decomposition(&surface, 12).unwrap());
    // A power of two, so that nothing is rounded differently.
    let faces = surface.triangles().iter().map(|t| t.vertices()).collect();
    let vertices = surface
        .vertices()
        .iter()
        .map(|p| p * 2f64.powi(-10))
        .collect();
    let small = convex_decomposition(&mesh(faces, vertices), 12).unwrap();
    assert_eq!(small.len(), pieces.len());
    for (small, piece) in small.iter().zip(&pieces) {
        assert_eq!(small.faces, piece.faces);
    }
}

#[test]
fn sheets_open_surfaces_and_inverted_ones_are_decomposed() {
    let l = l_shape();
    let flat = mesh(
        vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]],
        l.vertices()[..6].to_vec(),
    );
    let faces = || l.triangles().iter().map(|t| t.vertices());
    let open = mesh(faces().skip(2).collect(), l.vertices().to_vec());
    let inverted = mesh(
        faces().map(|[a, b, c]| [a, c, b]).collect(),
        l.vertices().to_vec(),
    );
    for surface in [flat, open, inverted] {
        let pieces = convex_decomposition(&surface, 8).unwrap();
        assert!(pieces.len() <= 8);
        for p in surface.vertices() {
            assert!(least_height(&pieces, p).abs() < 1e-9);
        }
        // The heights of a flat hull say nothing about points in its plane.
        if surface.calc_bounding_box().1.z > 0.0 {
            assert!(least_height(&pieces, &Vector3::new(1.6, 1.6, 0.5)) > 0.3);
        }
    }
}

#[test]
fn wrong_arguments_are_refused_by_name() {
    for (count, message) in [
        (
            0,
            "convex decomposition: number of pieces must be from 1 to 256, got 0",
        ),
        (
            257,
            "convex decomposition: number of pieces must be from 1 to 256, got 257",
        ),
    ] {
        assert_eq!(
            convex_decomposition(&l_shape(), count)
                .unwrap_err()
                .to_string(),
            message
        );
    }
    let line = [0.0, 1.0, 2.0].map(|x| Vector3::new(x, 0.0, 0.0)).to_vec();
    let error = convex_decomposition(&mesh(vec![[0, 1, 2]], line), 4).unwrap_err();
    let message = "convex decomposition: the vertices must not all be on a line";
    assert_eq!(error.to_string(), message);
}
