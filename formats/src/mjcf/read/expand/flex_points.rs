//! The vertices of a `<flexcomp>`, in the order of MuJoCo 3.3.

use nalgebra::Vector3;
use std::f64::consts::TAU;

/// Numbers of grid points along the axes, and their distances (m).
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) count: [usize; 3],
    pub(super) spacing: [f64; 3],
}

impl Grid {
    /// Returns a point of the grid, whose centre is the origin.
    fn point(&self, index: [usize; 3]) -> Vector3<f64> {
        let along = |i: usize| {
            let middle = (self.count[i] - 1) as f64 / 2.0;
            self.spacing[i] * (index[i] as f64 - middle)
        };
        Vector3::new(along(0), along(1), along(2))
    }

    /// Returns all points; the last index runs fastest.
    pub(super) fn points(&self) -> Vec<Vector3<f64>> {
        let [nx, ny, nz] = self.count;
        let x = (0..nx).flat_map(|x| (0..ny).map(move |y| (x, y)));
        let all = x.flat_map(|(x, y)| (0..nz).map(move |z| [x, y, z]));
        all.map(|index| self.point(index)).collect()
    }

    /// Returns the index of a point within [`Self::points`].
    pub(super) fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.count[1] + y) * self.count[2] + z
    }

    /// Returns the grid points on the surface of a box, moved by `place`: the centre of a solid,
    /// bottom and top, the sides along x, and those along y. What is not solid has no top.
    pub(super) fn surface(
        &self,
        is_solid: bool,
        place: impl Fn(Vector3<f64>) -> Vector3<f64>,
    ) -> Vec<Vector3<f64>> {
        let [nx, ny, nz] = self.count;
        let mut indices = vec![];
        for z in ends(nz).take(if is_solid { 2 } else { 1 }) {
            indices.extend((0..nx).flat_map(|x| (0..ny).map(move |y| [x, y, z])));
        }
        let inside = |n: usize| 1..n.saturating_sub(1);
        let sides = || 1..if is_solid { nz.saturating_sub(1) } else { nz };
        for y in ends(ny) {
            indices.extend((0..nx).flat_map(|x| sides().map(move |z| [x, y, z])));
        }
        for x in ends(nx) {
            indices.extend(inside(ny).flat_map(|y| sides().map(move |z| [x, y, z])));
        }
        let center = is_solid.then(Vector3::zeros);
        let points = indices.into_iter().map(|index| place(self.point(index)));
        center.into_iter().chain(points).collect()
    }

    /// Returns half of the size of the box.
    fn half(&self) -> Vector3<f64> {
        self.point(self.count.map(|n| n - 1))
    }

    /// Returns the points of a box whose surface is that of an ellipsoid.
    pub(super) fn ellipsoid(&self, is_solid: bool) -> Vec<Vector3<f64>> {
        let half = self.half();
        self.surface(is_solid, |p| {
            let unit = p.component_div(&half);
            (unit / unit.norm()).component_mul(&half)
        })
    }

    /// Returns the points of a box whose surface is that of a cylinder along z.
    pub(super) fn cylinder(&self, is_solid: bool) -> Vec<Vector3<f64>> {
        let half = self.half();
        self.surface(is_solid, |p| {
            let unit = p.component_div(&half);
            let flat = rounded(unit.x, unit.y);
            Vector3::new(flat[0] * half.x, flat[1] * half.y, p.z)
        })
    }

    /// Returns the points of a flat disc. MuJoCo scales points that have their size already.
    pub(super) fn disc(&self) -> Vec<Vector3<f64>> {
        let half = self.half();
        let points = self.points().into_iter();
        let place = |p: Vector3<f64>| {
            let flat = rounded(p.x, p.y);
            Vector3::new(flat[0] * half.x, flat[1] * half.y, p.z)
        };
        points.map(place).collect()
    }

    /// Returns the points of a circle, whose edges have the length of the spacing.
    pub(super) fn circle(&self) -> Vec<Vector3<f64>> {
        let n = self.count[0].saturating_sub(1);
        let step = TAU / n as f64;
        let radius = self.spacing[0] / (2.0 * (step / 2.0).sin());
        let angles = (0..n).map(|i| step * i as f64);
        angles
            .map(|a| Vector3::new(radius * a.cos(), radius * a.sin(), 0.0))
            .collect()
    }
}

/// Moves a point of a square to the circle of the same half size.
fn rounded(x: f64, y: f64) -> [f64; 2] {
    let norm = x.hypot(y);
    if norm > 0.0 {
        [x, y].map(|v| v * x.abs().max(y.abs()) / norm)
    } else {
        [0.0; 2]
    }
}

/// Returns the first and the last index.
fn ends(n: usize) -> impl Iterator<Item = usize> {
    let last = n.saturating_sub(1);
    [0, last].into_iter().take(if last == 0 { 1 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(count: [usize; 3], spacing: [f64; 3]) -> Grid {
        Grid { count, spacing }
    }

    /// Numbers recorded from MuJoCo 3.3.7.
    #[test]
    fn points_are_those_of_mujoco() {
        let g = grid([3, 3, 4], [0.1; 3]);
        let points = g.surface(false, |p| p);
        assert_eq!(points.len(), 33);
        assert_eq!(points[11], Vector3::new(-0.1, -0.1, 0.15000000000000002));
        let near = |p: &Vector3<f64>, x: [f64; 3]| {
            assert!((p - Vector3::from(x)).amax() < 1e-5, "{p} is not {x:?}");
        };
        let solid = grid([3, 4, 3], [0.1; 3]).ellipsoid(true);
        assert_eq!(solid.len(), 35);
        near(&solid[0], [0.0; 3]);
        near(&solid[1], [-0.05774, -0.0866, -0.05774]);
        near(&solid[34], [0.09487, 0.04743, 0.0]);
        let cylinder = grid([4, 4, 3], [0.1, 0.2, 0.3]).cylinder(true);
        assert_eq!(cylinder.len(), 45);
        near(&cylinder[6], [-0.03536, -0.07071, -0.3]);
        near(&cylinder[44], [0.1423, 0.09487, 0.0]);
        let circle = grid([5, 1, 1], [0.1, 0.2, 0.3]).circle();
        assert_eq!(circle.len(), 4);
        near(&circle[1], [0.0, 0.07071, 0.0]);
        let disc = grid([4, 4, 1], [0.1, 0.2, 0.3]).disc();
        near(&disc[0], [-0.02012, -0.0805, 0.0]);
        near(&disc[1], [-0.01872, -0.02496, 0.0]);
    }
}
