//! Marching cubes: the surface on which samples of a function on a grid are zero.
//!
//! W. E. Lorensen, H. E. Cline, "Marching Cubes: A High Resolution 3D Surface Construction
//! Algorithm", 1987. Instead of a table of cases, the code traces the polygons of a cell from face
//! to face. On a face with two diagonally opposite corners inside, the surface separates these
//! corners. Polygons with more than three corners are seldom flat, so the enclosed volume depends
//! on the choice of their diagonals. We choose MuJoCo's.

/// Corners of the faces of a cell, counter-clockwise from outside. Corner `x + 2 y + 4 z` is at
/// (x, y, z).
const FACES: [[usize; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];
/// Marks an edge of the grid without a vertex.
const NO_VERTEX: u32 = u32::MAX;

/// Cuts of all polygons into triangles, in the order of the cases. Each digit belongs to a polygon,
/// or a part of one, with more than three corners. It is the index of the corner that makes a
/// triangle with the first and the last corner. The digits of the parts on both sides of that
/// triangle follow.
///
/// The cuts were read off the meshes that MuJoCo 3.3.7 makes of 22 bolts, bowls, gears, nuts and
/// tori. These meshes contain 179 of the 214 polygons with more than three corners. The others are
/// cut into fans around their last corner.
const CUTS: &str = "21112121212221111412221111121221311111111211242322122221112322121112215432543212232242\
    21211321112131111112212311311254321113211112131232215432111111111131211111321113212214\
    32111111411111312432211111311232111431122111111111231312324111111112232111221324112221\
    11111432213111143112313121111114211113225111111111123111131312323211111112311123242324\
    1141212111111111232232211113131122321115111511121111121111211122113111121111211112";

/// An edge of a cell: its lower corner and its axis.
type CellEdge = (usize, usize);

/// Samples of a function at the points of a grid.
pub(super) struct SampledField {
    /// Numbers of points along x, y and z, at least 2.
    counts: [usize; 3],
    /// Values; x changes first.
    values: Vec<f32>,
}

impl SampledField {
    /// Samples a function of the indices of grid points.
    pub(super) fn new(counts: [usize; 3], function: impl Fn([usize; 3]) -> f32) -> Self {
        let [nx, ny, nz] = counts;
        let points =
            (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
        let values = points.map(function).collect();
        Self { counts, values }
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.counts;
        (k * ny + j) * nx + i
    }

    /// Returns the vertices, in units of the grid, and the triangles of the surface. Their normals
    /// point out of the region with negative values.
    pub(super) fn zero_surface(&self) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        let (vertices, of_edge) = self.vertices();
        let cases = triangles_of_cases();
        let [nx, ny, nz] = self.counts;
        let mut faces = vec![];
        for (k, j) in (0..nz - 1).flat_map(|k| (0..ny - 1).map(move |j| (k, j))) {
            for i in 0..nx - 1 {
                let corner = |c: usize| self.index([i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)]);
                let case = (0..8).filter(|c| self.values[corner(*c)] < 0.0);
                let case: usize = case.map(|c| 1 << c).sum();
                let vertex = |(c, axis): CellEdge| of_edge[axis][corner(c)];
                faces.extend(cases[case].iter().map(|triangle| triangle.map(vertex)));
            }
        }
        (vertices, faces)
    }

    /// Returns a vertex on each edge of the grid where the sign changes, and for each axis the
    /// vertex on the edge that starts at a point.
    fn vertices(&self) -> (Vec<[f32; 3]>, [Vec<u32>; 3]) {
        let mut vertices = vec![];
        let mut of_edge = [0, 1, 2].map(|_| vec![NO_VERTEX; self.values.len()]);
        let [nx, ny, nz] = self.counts;
        for (k, j) in (0..nz).flat_map(|k| (0..ny).map(move |j| (k, j))) {
            for i in 0..nx {
                let start = [i, j, k];
                for axis in 0..3 {
                    let mut end = start;
                    end[axis] += 1;
                    if end[axis] == self.counts[axis] {
                        continue;
                    }
                    let (from, to) = (self.index(start), self.index(end));
                    let (a, b) = (self.values[from], self.values[to]);
                    if (a < 0.0) == (b < 0.0) {
                        continue;
                    }
                    let mut vertex = start.map(|x| x as f32);
                    vertex[axis] += a / (a - b);
                    of_edge[axis][from] = vertices.len() as u32;
                    vertices.push(vertex);
                }
            }
        }
        (vertices, of_edge)
    }
}

/// Returns the triangles within a cell for each set of corners that are inside.
fn triangles_of_cases() -> Vec<Vec<[CellEdge; 3]>> {
    let mut cuts = CUTS.bytes().map(|digit| usize::from(digit - b'0'));
    let triangles = (0..256).map(|case| {
        let mut triangles = vec![];
        for polygon in polygons(case) {
            cut(&polygon, &mut cuts, &mut triangles);
        }
        triangles
    });
    triangles.collect()
}

/// Cuts a polygon into triangles.
fn cut(
    polygon: &[CellEdge],
    cuts: &mut impl Iterator<Item = usize>,
    triangles: &mut Vec<[CellEdge; 3]>,
) {
    let [first, between @ .., last] = polygon else {
        return;
    };
    let corner = match between.len() {
        0 => return,
        1 => 1,
        _ => cuts.next().unwrap_or(1),
    };
    triangles.push([*first, polygon[corner], *last]);
    cut(&polygon[..=corner], cuts, triangles);
    cut(&polygon[corner..], cuts, triangles);
}

/// Returns the polygons within a cell whose corners with a bit in `case` are inside.
fn polygons(case: usize) -> Vec<Vec<CellEdge>> {
    let is_inside = |corner: usize| case >> corner & 1 == 1;
    // The surface meets each face in segments. A segment runs from an edge on which the outline of
    // the face enters the inside to the next edge on which it leaves.
    let mut segments: Vec<(CellEdge, CellEdge)> = vec![];
    for face in FACES {
        let edge = |i: usize| (face[i % 4], face[(i + 1) % 4]);
        let enters = |i: usize| !is_inside(edge(i).0) && is_inside(edge(i).1);
        let leaves = |i: usize| is_inside(edge(i).0) && !is_inside(edge(i).1);
        for start in (0..4).filter(|i| enters(*i)) {
            let end = (start + 1..start + 4).find(|i| leaves(*i));
            segments.extend(end.map(|end| (cell_edge(edge(start)), cell_edge(edge(end)))));
        }
    }
    segments.sort_unstable();
    let mut polygons = vec![];
    while let Some(first) = segments.first().copied() {
        let mut polygon = vec![];
        let mut at = first.0;
        while let Ok(next) = segments.binary_search_by_key(&at, |s| s.0) {
            polygon.push(at);
            at = segments.remove(next).1;
        }
        polygons.push(polygon);
    }
    polygons
}

/// Returns the edge between two neighbouring corners.
fn cell_edge((a, b): (usize, usize)) -> CellEdge {
    (a.min(b), (a ^ b).trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn surfaces_of_random_fields_are_closed_and_face_outwards() {
        let counts = [7, 6, 5];
        let is_border = |i: usize, axis: usize| i == 0 || i + 1 == counts[axis];
        let mut state = 1_u64;
        for _ in 0..200 {
            let mut values = vec![];
            for _ in 0..counts.iter().product() {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                values.push((state >> 40) as f32 / (1 << 23) as f32 - 1.0);
            }
            let field = SampledField::new(counts, |p| {
                if (0..3).any(|a| is_border(p[a], a)) {
                    1.0
                } else {
                    values[(p[2] * counts[1] + p[1]) * counts[0] + p[0]]
                }
            });
            let (vertices, faces) = field.zero_surface();
            let mut edges = BTreeMap::new();
            for face in &faces {
                for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                    *edges.entry((face[a], face[b])).or_insert(0) += 1;
                }
            }
            assert!(
                edges
                    .iter()
                    .all(|((a, b), n)| edges.get(&(*b, *a)) == Some(n))
            );
            let volume: f32 = faces
                .iter()
                .map(|f| {
                    let [a, b, c] = f.map(|v| nalgebra::Vector3::from(vertices[v as usize]));
                    a.dot(&b.cross(&c)) / 6.0
                })
                .sum();
            assert!(volume > 0.0, "{volume}");
        }
    }

    #[test]
    fn cuts_fit_the_polygons() {
        let polygons: Vec<_> = (0..256).flat_map(polygons).collect();
        let triangles: usize = triangles_of_cases().iter().map(Vec::len).sum();
        assert_eq!(
            triangles,
            polygons.iter().map(|p| p.len() - 2).sum::<usize>()
        );
        let large = polygons.iter().filter(|p| p.len() > 3).count();
        assert_eq!(large, 214);
    }

    #[test]
    fn volume_of_a_ball_converges() {
        let counts = [61; 3];
        let field = SampledField::new(counts, |p| {
            let square = |i: usize| (i as f32 - 30.0).powi(2);
            (square(p[0]) + square(p[1]) + square(p[2])).sqrt() - 25.0
        });
        let (vertices, faces) = field.zero_surface();
        let volume: f64 = faces
            .iter()
            .map(|f| {
                let corner = |v: u32| nalgebra::Vector3::from(vertices[v as usize]).cast::<f64>();
                let [a, b, c] = f.map(corner);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum();
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 25.0_f64.powi(3);
        assert!((volume / exact - 1.0).abs() < 1e-3, "{volume} {exact}");
    }
}
