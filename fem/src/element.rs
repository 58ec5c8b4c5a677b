//! Linear tetrahedra, four at a time.

use super::lanes::{Matrix, Vector, from_fn, load_vectors, product, transpose};
use nalgebra::{Matrix3, Vector3};
use tarragon_framework::simd::{LANES, Lanes, Pack};

/// Number of 3x3 blocks in the lower triangle of an element's matrix: those of
/// [`PAIRS`].
pub(super) const NUM_PAIRS: usize = 10;

/// Vertices of an element whose blocks are stored: the diagonal, then `a < b`.
pub(super) const PAIRS: [(usize, usize); NUM_PAIRS] = [
    (0, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 2),
    (1, 3),
    (2, 3),
];

/// Pairs without the first vertex, each with its index in [`PAIRS`]. The others follow from these:
/// nothing acts between vertices that move alike, so the blocks of a row add up to 0.
pub(super) const INNER_PAIRS: [(usize, (usize, usize)); 6] = [
    (1, PAIRS[1]),
    (2, PAIRS[2]),
    (3, PAIRS[3]),
    (7, PAIRS[7]),
    (8, PAIRS[8]),
    (9, PAIRS[9]),
];

/// Four tetrahedra, each with its vertices in ascending order of index. Unused lanes repeat the
/// first element with volume 0.
#[derive(Clone, Debug)]
pub(super) struct ElementGroup {
    pub(super) vertices: [[u32; LANES]; 4],
    /// Gradients of the shape functions by the reference position.
    pub(super) gradients: [Vector; 4],
    /// Volume in the reference configuration.
    pub(super) volume: Lanes,
}

/// One element before it is grouped.
#[derive(Clone, Copy, Debug)]
pub(super) struct FemElement {
    pub(super) vertices: [u32; 4],
    pub(super) gradients: [Vector3<f64>; 4],
    pub(super) volume: f64,
}

impl FemElement {
    /// Returns the element with these vertices; `None` if its volume is not positive or a gradient
    /// is not finite.
    pub(super) fn new(vertices: [u32; 4], points: &[Vector3<f64>; 4]) -> Option<Self> {
        let [o, a, b, c] = points;
        let edges = Matrix3::from_columns(&[a - o, b - o, c - o]);
        let volume = edges.determinant() / 6.0;
        let inverse = edges.try_inverse()?;
        let rows: [Vector3<f64>; 3] = from_fn(|k| inverse.row(k).transpose());
        let gradients = [-(rows[0] + rows[1] + rows[2]), rows[0], rows[1], rows[2]];
        let finite = gradients.iter().all(|g| g.iter().all(|x| x.is_finite()));
        if !(finite && volume > 0.0 && volume.is_finite()) {
            return None;
        }
        let mut order = [0, 1, 2, 3];
        order.sort_unstable_by_key(|a: &usize| vertices[*a]);
        Some(Self {
            vertices: order.map(|a| vertices[a]),
            gradients: order.map(|a| gradients[a]),
            volume,
        })
    }
}

impl ElementGroup {
    /// Returns the group of up to four elements; `None` without elements.
    pub(super) fn new(elements: &[FemElement]) -> Option<Self> {
        let first = elements.first()?;
        let of = |k: usize| elements.get(k).unwrap_or(first);
        Some(Self {
            vertices: from_fn(|a| from_fn(|k| of(k).vertices[a])),
            gradients: from_fn(|a| from_fn(|i| Lanes(from_fn(|k| of(k).gradients[a][i])))),
            volume: Lanes(from_fn(|k| elements.get(k).map_or(0.0, |e| e.volume))),
        })
    }

    /// The elements of the group, each with its lane.
    pub(super) fn elements(&self) -> impl Iterator<Item = (usize, FemElement)> + '_ {
        let used = (0..LANES).filter(|k| self.volume.0[*k] > 0.0);
        used.map(|k| {
            let element = FemElement {
                vertices: self.vertices.map(|v| v[k]),
                gradients: from_fn(|a| Vector3::from_fn(|i, _| self.gradients[a][i].0[k])),
                volume: self.volume.0[k],
            };
            (k, element)
        })
    }

    /// Values of a field of vectors at the vertices, as packs of the same kind as this one.
    #[inline(always)]
    pub(super) fn gather<P: Pack>(&self, pack: P, field: &[f64]) -> [Vector<P>; 4] {
        let (field, _) = field.as_chunks::<3>();
        let mut all = [[pack; 3]; 4];
        for (x, vertices) in all.iter_mut().zip(&self.vertices) {
            let mut values = [[0.0; 3]; LANES];
            for (value, vertex) in values.iter_mut().zip(vertices) {
                *value = field.get(*vertex as usize).copied().unwrap_or_default();
            }
            let [a, b, c, d] = values;
            for (i, x) in x.iter_mut().enumerate() {
                *x = pack.load(Lanes([a[i], b[i], c[i], d[i]]));
            }
        }
        all
    }

    /// The shape of the elements in packs of the same kind as this one.
    #[inline(always)]
    pub(super) fn shape<P: Pack>(&self, pack: P) -> ElementShape<P> {
        ElementShape {
            gradients: load_vectors(pack, &self.gradients),
            volume: pack.load(self.volume),
        }
    }
}

/// The part of an [`ElementGroup`] that a kernel computes with.
#[derive(Clone, Copy)]
pub(super) struct ElementShape<P> {
    pub(super) gradients: [Vector<P>; 4],
    pub(super) volume: P,
}

impl<P: Pack> ElementShape<P> {
    /// Gradient of a field with these values at the vertices; that of positions is the deformation
    /// gradient.
    #[inline(always)]
    pub(super) fn gradient(&self, x: &[Vector<P>; 4]) -> Matrix<P> {
        let mut d = [x[1], x[2], x[3]];
        for edge in &mut d {
            for (edge, origin) in edge.iter_mut().zip(x[0]) {
                *edge -= origin;
            }
        }
        let g = &self.gradients;
        product(&transpose(&d), &[g[1], g[2], g[3]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_of_an_affine_field_is_its_matrix() {
        let points = [
            Vector3::new(0.1, 0.2, -0.3),
            Vector3::new(1.3, 0.1, 0.0),
            Vector3::new(0.2, 1.1, 0.1),
            Vector3::new(0.0, 0.3, 0.9),
        ];
        let m = Matrix3::new(1.0, 2.0, 3.0, -1.0, 0.5, 0.2, 0.3, 4.0, -2.0);
        let element = FemElement::new([2, 0, 3, 1], &points).unwrap();
        let group = ElementGroup::new(&[element]).unwrap();
        let mut field = vec![0.0; 12];
        for (k, vertex) in [2, 0, 3, 1].into_iter().enumerate() {
            let y = m * points[k];
            field[3 * vertex..3 * vertex + 3].copy_from_slice(y.as_slice());
        }
        let gradient = crate::lanes::lane(
            &group
                .shape(Lanes::ZERO)
                .gradient(&group.gather(Lanes::ZERO, &field)),
            3,
        );
        assert!((gradient - m).amax() < 1e-14, "{gradient}");
        assert_eq!(group.volume.0[1], 0.0);
    }
}
