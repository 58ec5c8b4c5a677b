//! Boxes: around the smaller box, segment or point where they are deepest.

use super::tessellation::TessellationBuilder;
use nalgebra::Vector3;

/// Tolerance (m, relative above 1) within which sizes count as equal.
const EQUAL: f64 = 1e-14;

/// Returns a box, given half of its size (m). The part nearest to a face is a pyramid, roof or
/// frustum, of which all tetrahedra have a vertex at the centre of the face.
pub(in crate::hydro) fn cuboid(half: &Vector3<f64>) -> TessellationBuilder {
    let least = half.min();
    let tolerance = EQUAL * least.max(1.0);
    let inner = half.map(|h| {
        if h - least > tolerance {
            h - least
        } else {
            0.0
        }
    });
    let corner = |i: usize, half: &Vector3<f64>| {
        Vector3::from_fn(|axis, _| {
            if i >> axis & 1 == 1 {
                half[axis]
            } else {
                -half[axis]
            }
        })
    };
    let mut mesh = TessellationBuilder::default();
    let corners: [u32; 8] = std::array::from_fn(|i| mesh.add_outside(corner(i, half)));
    // The deepest point nearest to each corner; corners may share it.
    let collapsed = |i: usize| {
        let bits = (0..3).filter(|axis| inner[*axis] > 0.0 && i >> axis & 1 == 1);
        bits.map(|axis| 1 << axis).sum::<usize>()
    };
    let mut deepest = [0; 8];
    for i in 0..8 {
        deepest[i] = if collapsed(i) == i {
            mesh.add_inside(corner(i, &inner))
        } else {
            deepest[collapsed(i)]
        };
    }
    let num_flat = inner.iter().filter(|x| **x == 0.0).count();
    let middle = (num_flat == 2).then(|| mesh.add_inside(Vector3::zeros()));
    // Diagonals rise along y and z and fall along x, as in Drake.
    let rises = |i: usize, axis: usize| (i >> axis & 1 == 0) == (axis != 0);
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in 0..2 {
            let centre = Vector3::ith(axis, if side == 1 { half[axis] } else { -half[axis] });
            let centre = mesh.add_outside(centre);
            let at = |a: usize, b: usize| side << axis | a << u | b << v;
            for (a, b, along) in [
                (at(0, 0), at(1, 0), u),
                (at(0, 1), at(1, 1), u),
                (at(0, 0), at(0, 1), v),
                (at(1, 0), at(1, 1), v),
            ] {
                // From the edge of the box to that of the deepest points.
                let (low, high) = if rises(a, along) { (a, b) } else { (b, a) };
                let ([p, q], [r, s]) = (
                    [low, high].map(|i| corners[i]),
                    [low, high].map(|i| deepest[i]),
                );
                match middle {
                    _ if r == s => mesh.add([p, q, r, centre]),
                    Some(middle) => {
                        for [x, y] in [[p, q], [p, r], [q, s]] {
                            mesh.add([x, y, middle, centre]);
                        }
                    }
                    None => {
                        mesh.add([p, q, s, centre]);
                        mesh.add([p, s, r, centre]);
                    }
                }
            }
            if num_flat == 1 && inner[axis] == 0.0 {
                // The rectangle of the deepest points, cut between the ends of no rising edge.
                let low = [u, v].map(|axis| usize::from(axis == 0));
                let corner = |a: usize, b: usize| deepest[at(low[0] ^ a, low[1] ^ b)];
                let [p, q] = [corner(0, 1), corner(1, 0)];
                mesh.add([p, q, corner(0, 0), centre]);
                mesh.add([p, q, corner(1, 1), centre]);
            }
        }
    }
    mesh
}
