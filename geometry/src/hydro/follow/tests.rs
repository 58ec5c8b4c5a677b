//! Following against the comparison of all tetrahedra.

use super::*;
use crate::hydro::clip::position;
use crate::hydro::tests::{compliant, shapes, vtk};
use crate::mesh::cube_grid::CubeGrid;
use crate::mesh::{VolumeElement, VolumeMesh, VolumeMeshFieldLinear};
use crate::shape::{Mesh, Shape};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::sync::Arc;
use tarragon_framework::math;

/// Returns the faces as bits of their vertices, and the area of each (m^2), in order.
fn faces(surface: &RawSurface) -> Vec<(Vec<u64>, f64)> {
    let (mut faces, mut at) = (Vec::<(Vec<u64>, f64)>::new(), 0);
    for face in &surface.faces {
        let corners = surface.vertices[at..][..face.num_vertices as usize].iter();
        let corners: Vec<Vector3<f64>> = corners.map(position).collect();
        at += corners.len();
        let sides = corners.windows(2).map(|ends| {
            let (p, q) = (ends[0] - corners[0], ends[1] - corners[0]);
            p.cross(&q).dot(&face.normal) / 2.0
        });
        let bits = corners.iter().flat_map(|p| p.iter().map(|x| x.to_bits()));
        faces.push((bits.collect(), sides.sum()));
    }
    faces.sort_by(|a, b| a.0.cmp(&b.0));
    faces
}

/// Result of following a surface.
#[derive(PartialEq)]
enum Followed {
    No,
    /// Without any face.
    Empty,
    Yes,
}

/// Follows the surface between two meshes and checks that no face is missing.
fn follow(meshes: &PosedMeshes<'_>) -> Result<Followed, TestCaseError> {
    let (mut followed, mut found) = (RawSurface::default(), RawSurface::default());
    meshes.search(&mut found);
    let adjacencies = meshes.s.adjacency().zip(meshes.r.adjacency());
    let walk = &mut WalkSpace::default();
    if !adjacencies.is_some_and(|(s, r)| meshes.follow(&mut followed, walk, [s, r])) {
        return Ok(Followed::No);
    }
    let (followed, found) = (faces(&followed), faces(&found));
    let is_missing =
        |face: &&(Vec<u64>, f64)| followed.binary_search_by(|f| f.0.cmp(&face.0)).is_err();
    let missing: f64 = found.iter().filter(is_missing).map(|f| f.1.abs()).sum();
    // Slivers between sides that are shorter than those that are followed.
    prop_assert!(
        missing <= 1e-9 * meshes.reach.powi(2),
        "{missing} of {}",
        found.len()
    );
    prop_assert!(followed.len() <= found.len());
    Ok(if found.is_empty() {
        Followed::Empty
    } else {
        Followed::Yes
    })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

/// Returns a pose from six numbers between -1 and 1: the directions of a turn and of the position,
/// which has some length (m).
fn pose(x: &[f64; 6], length: f64) -> Isometry3<f64> {
    let turn = math::rotation_exp(&(Vector3::new(x[0], x[1], x[2]) * 3.0));
    math::pose(turn, Vector3::new(x[3], x[4], x[5]).normalize() * length)
}

/// Faces found from face to face are those found by comparing all tetrahedra.
#[test]
fn following_finds_all_faces() {
    let followed_pairs = Cell::new(0);
    let side = || {
        let margin = prop_oneof![Just(0.0), 0.0..0.1_f64];
        (shapes(), 0.1..2.0_f64, margin, 1e5..1e7_f64)
    };
    // From where boxes around both touch to where their centres are the same.
    let depth = prop_oneof![Just(0.0), Just(1.0), 0.0..0.6_f64];
    let random = (
        [side(), side()],
        prop::array::uniform6(-1.0..1.0_f64),
        depth,
    );
    type Side = (Shape, f64, f64, f64);
    let test = |(sides, x, depth): ([Side; 2], [f64; 6], f64)| {
        let [s, r] = sides
            .each_ref()
            .map(|(shape, hint, margin, _)| CompliantMesh::new(compliant(shape, *hint, *margin)));
        let x_sr = pose(&x, (s.reach + r.reach) * (1.0 - depth));
        let meshes = PosedMeshes::new(&s, sides[0].3, &r, sides[1].3, &x_sr);
        if follow(&meshes)? == Followed::Yes {
            followed_pairs.set(followed_pairs.get() + 1);
        }
        Ok(())
    };
    runner(500).run(&random, test).unwrap();
    // Others do not touch.
    assert!(followed_pairs.into_inner() > 50);
}

/// Kinds of grids of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grid {
    Box,
    /// With random inner vertices.
    Jittered,
    Ball,
    /// In the shape of an L.
    Bent,
    /// Around an empty cube.
    Hollow,
    /// Around an empty column.
    Ring,
}

const GRIDS: [Grid; 6] = [
    Grid::Box,
    Grid::Jittered,
    Grid::Ball,
    Grid::Bent,
    Grid::Hollow,
    Grid::Ring,
];

/// Returns the vertices (m) and tetrahedra of a grid of up to `n^3` cubes, scaled from the cube
/// from -1 to 1.
fn grid(kind: Grid, n: usize, size: &[f64; 3], seed: u64) -> (Vec<[f64; 3]>, Vec<[u32; 4]>) {
    let grid = CubeGrid { cubes: [n; 3] };
    let mut random = tarragon_framework::random::RandomGenerator::new(seed);
    let vertices = grid.vertices().map(|p| {
        let is_inside = p.iter().all(|i| *i > 0 && *i < n);
        let mut x = Vector3::from(p.map(|i| 2.0 * i as f64 / n as f64 - 1.0));
        if kind == Grid::Jittered && is_inside {
            x += Vector3::from_fn(|_, _| random.uniform(-0.3, 0.3) / n as f64);
        }
        if kind == Grid::Ball && x != Vector3::zeros() {
            x *= x.amax() / x.norm();
        }
        [x.x * size[0], x.y * size[1], x.z * size[2]]
    });
    let is_middle = |i: usize| 2 * i + 1 == n || 2 * i + 2 == n || 2 * i == n;
    let is_present = |[i, j, k]: &[usize; 3]| match kind {
        Grid::Bent => 2 * i < n || 2 * j < n,
        Grid::Hollow => !(is_middle(*i) && is_middle(*j) && is_middle(*k)),
        Grid::Ring => !(is_middle(*i) && is_middle(*j)),
        Grid::Box | Grid::Jittered | Grid::Ball => true,
    };
    (vertices.collect(), grid.tetrahedra(is_present))
}

fn grid_mesh(kind: Grid, n: usize, size: &[f64; 3], margin: f64) -> CompliantMesh {
    // Thinner walls have no vertex inside.
    let n = match kind {
        Grid::Hollow | Grid::Ring => n.max(5),
        _ => n,
    };
    let (vertices, tetrahedra) = grid(kind, n, size, n as u64);
    let shape = Mesh::new(vtk(&vertices, &tetrahedra)).into();
    CompliantMesh::new(compliant(&shape, 1.0, margin))
}

/// The same for grids with the pressures of VTK files, which are not concave.
#[test]
fn following_finds_all_faces_of_grids() {
    // By kind: shallow pairs that touch, and those that are followed.
    let counts = Cell::new([[0; 2]; GRIDS.len()]);
    let side = || {
        let modulus = prop_oneof![Just(1e6), 1e5..1e7_f64];
        let margin = prop_oneof![4 => Just(0.0), 1 => 0.0..0.05_f64];
        let size = prop_oneof![Just([1.0; 3]), prop::array::uniform3(0.3..1.5_f64)];
        (0..GRIDS.len(), 4..7_usize, size, margin, modulus)
    };
    let depth = prop_oneof![Just(1.0), 0.0..0.3_f64, 0.3..1.0_f64];
    // Where axes are aligned, vertices and faces of both grids may be the same.
    let aligned =
        prop_oneof![3 => Just(None), 1 => prop::array::uniform3(-8..9_i32).prop_map(Some)];
    let random = (
        [side(), side()],
        prop::array::uniform6(-1.0..1.0_f64),
        depth,
        aligned,
    );
    type Side = (usize, usize, [f64; 3], f64, f64);
    type Aligned = Option<[i32; 3]>;
    let test = |(sides, x, depth, aligned): ([Side; 2], [f64; 6], f64, Aligned)| {
        let [s, r] = sides
            .each_ref()
            .map(|(kind, n, size, margin, _)| grid_mesh(GRIDS[*kind], *n, size, *margin));
        let x_sr = match aligned {
            Some(steps) => Isometry3::from(steps.map(|i| f64::from(i) * 0.25)),
            None => pose(&x, (s.reach + r.reach) * (1.0 - depth)),
        };
        // Between plateaus and ridges of the same pressure, rounding alone makes faces, and both
        // searches may find others.
        let modulus = sides[1].4 * 1.01;
        let meshes = PosedMeshes::new(&s, sides[0].4, &r, modulus, &x_sr);
        let followed = follow(&meshes)?;
        let mut all = counts.get();
        if followed != Followed::Empty && depth < 0.3 && aligned.is_none() {
            for (kind, ..) in sides {
                all[kind][0] += 1;
                all[kind][1] += usize::from(followed == Followed::Yes);
            }
        }
        counts.set(all);
        Ok(())
    };
    runner(300).run(&random, test).unwrap();
    for (kind, [touching, followed]) in GRIDS.iter().zip(counts.into_inner()) {
        // About seventeen pairs each, of which rounding stops one or two.
        assert!(
            touching > 2 && 2 * followed >= touching,
            "{kind:?}: {followed}/{touching}"
        );
    }
}

/// A block whose pressure has a peak within another block, next to a surface that ends at their
/// boundaries.
#[test]
fn closed_surfaces_are_found() {
    let blunt = grid_mesh(Grid::Box, 8, &[1.0; 3], 0.0);
    let (vertices, tetrahedra) = grid(Grid::Box, 8, &[1.0; 3], 0);
    let peak = Vector3::new(0.25, 0.0, 0.0);
    let values = vertices.iter().zip(blunt.field.values()).map(|(p, value)| {
        if Vector3::from(*p) == peak {
            1.0
        } else {
            0.1 * value
        }
    });
    let values = values.collect();
    let vertices = vertices.into_iter().map(Vector3::from).collect();
    let elements = tetrahedra
        .into_iter()
        .map(|[a, b, c, d]| VolumeElement::new(a, b, c, d));
    let mesh = VolumeMesh::new(elements, vertices).unwrap();
    let field = VolumeMeshFieldLinear::new(values, Arc::new(mesh)).unwrap();
    let peaked = CompliantMesh::new(Arc::new(field));
    for angle in [0.0, 0.1] {
        let x_sr = math::pose(math::rpy(angle, angle, 0.0), Vector3::new(0.9, 0.05, 0.03));
        let meshes = PosedMeshes::new(&peaked, 1e6, &blunt, 1e6, &x_sr);
        assert!(follow(&meshes).unwrap() == Followed::Yes);
        let (mut surface, walk) = (RawSurface::default(), &mut WalkSpace::default());
        intersect(&mut surface, walk, &peaked, 1e6, &blunt, 1e6, &x_sr);
        let (mut at, mut around_peak) = (0, 0);
        for face in &surface.faces {
            let corner = position(&surface.vertices[at]);
            at += face.num_vertices as usize;
            around_peak += usize::from((corner - peak).norm() < 0.4);
        }
        assert!(around_peak > 20, "{around_peak} of {}", surface.faces.len());
        assert!(around_peak < surface.faces.len());
    }
}
