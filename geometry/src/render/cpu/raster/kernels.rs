//! Kernels: surfaces as functions of the pixel, evaluated for eight pixels at a time.
//!
//! Along each ray, a body is the range of inverse depths w from `far` to `near`: half spaces bound
//! w by linear functions of the pixel, quadrics by `L +- sqrt(D)` with linear L and quadratic D.
//! The polynomials are evaluated in f64 at the first pixel of a block and continued in f32 over its
//! eight pixels, which keeps depths exact to rounding without f64 arithmetic per pixel.

use crate::render::cpu::simd::BLOCK;
use crate::render::projection::{LinearFunction, Pixels, QuadraticFunction};
use nalgebra::{Matrix3, Vector3};
use wide::f32x8;

pub(crate) fn lanes() -> f32x8 {
    f32x8::new([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
}

/// A surface as a function of the pixel: w per pixel, 0 where the ray misses.
pub(crate) trait ShapeKernel {
    /// Values shared by a row of pixels.
    type Row;
    fn row(&self, py: f64) -> Self::Row;
    /// Returns w of the eight pixels from `px` on.
    fn block(&self, row: &Self::Row, px: f64) -> f32x8;
    /// Returns an upper bound of w over the pixels of a rectangle; 0 if no ray hits.
    fn bound(&self, _corners: [f64; 4]) -> f64 {
        f64::INFINITY
    }
}

/// A linear function, prepared for evaluation in blocks of eight pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearBlocks {
    f: LinearFunction,
    step: f32x8,
}

impl LinearBlocks {
    pub(crate) fn new(f: LinearFunction) -> Self {
        let step = std::array::from_fn::<f32, BLOCK, _>(|k| (f.a * k as f64) as f32);
        Self {
            f,
            step: f32x8::new(step),
        }
    }
    #[inline(always)]
    pub(crate) fn row(&self, py: f64) -> f64 {
        self.f.b * py + self.f.c
    }
    #[inline(always)]
    pub(crate) fn block(&self, row: f64, px: f64) -> f32x8 {
        // Split into two floats, because near a horizon the value is small compared with its steps.
        let value = row + self.f.a * px;
        let high = value as f32;
        let low = (value - f64::from(high)) as f32;
        f32x8::splat(high) + (f32x8::splat(low) + self.step)
    }
}

/// A quadratic function, prepared for evaluation in blocks of eight pixels.
#[derive(Clone, Copy, Debug)]
struct QuadraticBlocks {
    f: QuadraticFunction,
    squares: f32x8,
}

impl QuadraticBlocks {
    fn new(f: QuadraticFunction) -> Self {
        let squares = lanes() * lanes() * f32x8::splat(f.xx as f32);
        Self { f, squares }
    }
    #[inline(always)]
    fn row(&self, py: f64) -> [f64; 2] {
        [
            (self.f.yy * py + self.f.y) * py + self.f.c,
            self.f.xy * py + self.f.x,
        ]
    }
    #[inline(always)]
    fn block(&self, [c, x]: [f64; 2], px: f64) -> f32x8 {
        let value = (self.f.xx * px + x) * px + c;
        let slope = 2.0 * self.f.xx * px + x;
        f32x8::splat(value as f32) + lanes() * f32x8::splat(slope as f32) + self.squares
    }
}

/// A plane, visible from both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneKernel {
    w: LinearBlocks,
    w_near: f32x8,
}

/// Minimum distance of a plane from the camera (m). Nearer planes are moved to this distance,
/// because w is not finite on a plane through the camera.
const LEAST_DISTANCE: f64 = 1e-9;

/// Returns w of the plane `n . X = h`.
fn plane(pixels: &Pixels, n: &Vector3<f64>, h: f64) -> LinearFunction {
    pixels.linear(&(n / h))
}

impl PlaneKernel {
    /// Creates the kernel of the plane `n . X = h` with unit n.
    pub(crate) fn new(pixels: &Pixels, n: &Vector3<f64>, h: f64, near: f64) -> Self {
        let h = if h.abs() < LEAST_DISTANCE {
            LEAST_DISTANCE
        } else {
            h
        };
        Self {
            w: LinearBlocks::new(plane(pixels, n, h)),
            w_near: f32x8::splat((1.0 / near) as f32),
        }
    }
}

impl ShapeKernel for PlaneKernel {
    type Row = f64;
    #[inline(always)]
    fn row(&self, py: f64) -> f64 {
        self.w.row(py)
    }
    #[inline(always)]
    fn block(&self, row: &f64, px: f64) -> f32x8 {
        let w = self.w.block(*row, px);
        w & w.simd_le(self.w_near)
    }
    fn bound(&self, corners: [f64; 4]) -> f64 {
        self.w.f.max_over(corners).max(0.0)
    }
}

/// Half spaces `n . X <= h`, sorted by whether they bound w from above or from below.
#[derive(Clone, Copy, Debug)]
struct HalfSpaces<const N: usize> {
    /// Upper bounds of w: from half spaces that do not contain the camera.
    upper: [LinearBlocks; N],
    uppers: usize,
    /// Lower bounds of w: from half spaces that contain the camera.
    lower: [LinearBlocks; N],
    lowers: usize,
}

/// Bounds of the half spaces in a row of pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfSpaceRows<const N: usize> {
    upper: [f64; N],
    lower: [f64; N],
}

impl<const N: usize> HalfSpaces<N> {
    fn new(pixels: &Pixels, sides: [(Vector3<f64>, f64); N]) -> Self {
        let none = [LinearBlocks::new(LinearFunction::default()); N];
        let mut all = Self {
            upper: none,
            uppers: 0,
            lower: none,
            lowers: 0,
        };
        for (n, h) in sides {
            if h < 0.0 {
                let h = h.min(-LEAST_DISTANCE);
                all.upper[all.uppers] = LinearBlocks::new(plane(pixels, &n, h));
                all.uppers += 1;
            } else {
                let h = h.max(LEAST_DISTANCE);
                all.lower[all.lowers] = LinearBlocks::new(plane(pixels, &n, h));
                all.lowers += 1;
            }
        }
        all
    }
    #[inline(always)]
    fn row(&self, py: f64) -> HalfSpaceRows<N> {
        HalfSpaceRows {
            upper: self.upper.map(|f| f.row(py)),
            lower: self.lower.map(|f| f.row(py)),
        }
    }
    /// Narrows the range of w, `far` to `near`, to the intersection with the half spaces.
    #[inline(always)]
    fn narrow(&self, rows: &HalfSpaceRows<N>, px: f64, far: &mut f32x8, near: &mut f32x8) {
        for (f, row) in self.upper[..self.uppers].iter().zip(&rows.upper) {
            *near = near.fast_min(f.block(*row, px));
        }
        for (f, row) in self.lower[..self.lowers].iter().zip(&rows.lower) {
            *far = far.fast_max(f.block(*row, px));
        }
    }
    fn bound(&self, corners: [f64; 4]) -> f64 {
        let mut bound = f64::INFINITY;
        for upper in &self.upper[..self.uppers] {
            bound = bound.min(upper.f.max_over(corners).max(0.0));
            for lower in &self.lower[..self.lowers] {
                if upper.f.minus(&lower.f).max_over(corners) < 0.0 {
                    return 0.0;
                }
            }
        }
        bound
    }
}

/// Kernel of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CuboidKernel {
    sides: HalfSpaces<6>,
    w_near: f32x8,
}

impl CuboidKernel {
    /// Creates the kernel from the box's axes and centre in the camera frame, and half its size
    /// (m).
    pub(crate) fn new(
        pixels: &Pixels,
        r: &Matrix3<f64>,
        p: &Vector3<f64>,
        half: &Vector3<f64>,
        near: f64,
    ) -> Self {
        let side = |k: usize| {
            let n: Vector3<f64> = r.column(k / 2) * if k.is_multiple_of(2) { 1.0 } else { -1.0 };
            (n, half[k / 2] + n.dot(p))
        };
        Self {
            sides: HalfSpaces::new(pixels, std::array::from_fn(side)),
            w_near: f32x8::splat((1.0 / near) as f32),
        }
    }
}

impl ShapeKernel for CuboidKernel {
    type Row = HalfSpaceRows<6>;
    #[inline(always)]
    fn row(&self, py: f64) -> Self::Row {
        self.sides.row(py)
    }
    #[inline(always)]
    fn block(&self, row: &Self::Row, px: f64) -> f32x8 {
        let (mut far, mut near) = (f32x8::ZERO, f32x8::splat(f32::INFINITY));
        self.sides.narrow(row, px, &mut far, &mut near);
        // Where the near plane cuts the front away, the inside of the back is visible.
        let w = near.simd_le(self.w_near).bitselect(near, far);
        w & near.simd_ge(far) & w.simd_le(self.w_near)
    }
    fn bound(&self, corners: [f64; 4]) -> f64 {
        self.sides.bound(corners)
    }
}

/// Kernel of the ellipsoid `|B X + o| = 1`. Rays enter and leave it at the roots in w of
/// `c w^2 + 2 h w + a = 0` with `a = |B d|^2`, `h = o . B d`, `c = |o|^2 - 1`. The roots are
/// `L +- sqrt(D)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EllipsoidKernel {
    l: LinearBlocks,
    d: QuadraticBlocks,
}

/// Roots of eight pixels: `(L, sqrt(D), D >= 0)`.
type RootBlock = (f32x8, f32x8, f32x8);

impl EllipsoidKernel {
    /// Creates the kernel from B and o; the flag is true if the camera is inside. `None` if the
    /// camera is on the surface or very close to it.
    pub(crate) fn new(pixels: &Pixels, b: &Matrix3<f64>, o: &Vector3<f64>) -> Option<(Self, bool)> {
        let c = o.norm_squared() - 1.0;
        if c.abs() < 1e-4 {
            return None;
        }
        let h = b.transpose() * o;
        // h^2 - c a = |B d|^2 - |o x B d|^2; the right side suffers less from cancellation.
        let ob = o.cross_matrix() * b;
        let d = (b.transpose() * b - ob.transpose() * ob) / (c * c);
        let roots = Self {
            l: LinearBlocks::new(pixels.linear(&(-h / c))),
            d: QuadraticBlocks::new(pixels.quadratic(&d)),
        };
        Some((roots, c < 0.0))
    }
    #[inline(always)]
    fn row(&self, py: f64) -> (f64, [f64; 2]) {
        (self.l.row(py), self.d.row(py))
    }
    #[inline(always)]
    fn block(&self, row: &(f64, [f64; 2]), px: f64) -> RootBlock {
        let d = self.d.block(row.1, px);
        let root = d.fast_max(f32x8::ZERO).sqrt();
        (self.l.block(row.0, px), root, d.simd_ge(f32x8::ZERO))
    }
}

/// Draws a sphere or an ellipsoid in front of the near plane.
impl ShapeKernel for EllipsoidKernel {
    type Row = (f64, [f64; 2]);
    #[inline(always)]
    fn row(&self, py: f64) -> Self::Row {
        Self::row(self, py)
    }
    #[inline(always)]
    fn block(&self, row: &Self::Row, px: f64) -> f32x8 {
        let (l, root, hit) = Self::block(self, row, px);
        (l + root) & hit
    }
}

/// Kernel of a cylinder in front of the near plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CylinderKernel {
    side: EllipsoidKernel,
    /// True if the camera is within the infinitely long cylinder.
    within: bool,
    caps: HalfSpaces<2>,
}

/// Returns the slab `|axis . (X - p)| <= half_length` as two half spaces.
fn slab(axis: Vector3<f64>, p: &Vector3<f64>, half_length: f64) -> [(Vector3<f64>, f64); 2] {
    let at = axis.dot(p);
    [(axis, half_length + at), (-axis, half_length - at)]
}

/// Returns B and o of a cylinder's side.
fn side(r: &Matrix3<f64>, p: &Vector3<f64>, radius: f64) -> (Matrix3<f64>, Vector3<f64>) {
    let mut b = r.transpose() / radius;
    b.row_mut(2).fill(0.0);
    (b, -(b * p))
}

impl CylinderKernel {
    /// Creates the kernel from the axes and the centre in the camera frame.
    pub(crate) fn new(
        pixels: &Pixels,
        r: &Matrix3<f64>,
        p: &Vector3<f64>,
        radius: f64,
        length: f64,
    ) -> Option<Self> {
        let (b, o) = side(r, p, radius);
        let (side, within) = EllipsoidKernel::new(pixels, &b, &o)?;
        let caps = HalfSpaces::new(pixels, slab(r.column(2).into(), p, 0.5 * length));
        Some(Self { side, within, caps })
    }
}

impl ShapeKernel for CylinderKernel {
    type Row = ((f64, [f64; 2]), HalfSpaceRows<2>);
    #[inline(always)]
    fn row(&self, py: f64) -> Self::Row {
        (self.side.row(py), self.caps.row(py))
    }
    #[inline(always)]
    fn block(&self, row: &Self::Row, px: f64) -> f32x8 {
        let (l, root, hit) = EllipsoidKernel::block(&self.side, &row.0, px);
        let (mut far, mut near) = if self.within {
            (l + root, f32x8::splat(f32::INFINITY))
        } else {
            (l - root, l + root)
        };
        self.caps.narrow(&row.1, px, &mut far, &mut near);
        near & hit & near.simd_ge(far)
    }
}

/// Kernel of a capsule in front of the near plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapsuleKernel {
    /// Roots of the side, the coordinate along the axis and its range between the caps. `None` if
    /// the camera is within the infinitely long cylinder and sees only a cap.
    side: Option<(EllipsoidKernel, LinearBlocks, [f32x8; 2])>,
    caps: [EllipsoidKernel; 2],
}

impl CapsuleKernel {
    /// Creates the kernel from the axes and the centre in the camera frame.
    pub(crate) fn new(
        pixels: &Pixels,
        r: &Matrix3<f64>,
        p: &Vector3<f64>,
        radius: f64,
        length: f64,
    ) -> Option<Self> {
        let (b, o) = side(r, p, radius);
        let (roots, within) = EllipsoidKernel::new(pixels, &b, &o)?;
        let axis: Vector3<f64> = r.column(2).into();
        let cap = |z: f64| {
            let b = r.transpose() / radius;
            EllipsoidKernel::new(pixels, &b, &-(b * (p + axis * z))).map(|(roots, _)| roots)
        };
        let at = axis.dot(p);
        let ends = [at - 0.5 * length, at + 0.5 * length].map(|z| f32x8::splat(z as f32));
        let side = (roots, LinearBlocks::new(pixels.linear(&axis)), ends);
        Some(Self {
            side: (!within).then_some(side),
            caps: [cap(-0.5 * length)?, cap(0.5 * length)?],
        })
    }
}

/// Rows of a capsule's side and its caps.
pub(crate) type CapsuleRow = (Option<((f64, [f64; 2]), f64)>, [(f64, [f64; 2]); 2]);

impl ShapeKernel for CapsuleKernel {
    type Row = CapsuleRow;
    #[inline(always)]
    fn row(&self, py: f64) -> Self::Row {
        let side = self.side.as_ref();
        (
            side.map(|(roots, along, _)| (roots.row(py), along.row(py))),
            [self.caps[0].row(py), self.caps[1].row(py)],
        )
    }
    #[inline(always)]
    fn block(&self, row: &Self::Row, px: f64) -> f32x8 {
        let mut w = f32x8::ZERO;
        for (cap, row) in self.caps.iter().zip(&row.1) {
            w = w.fast_max(<EllipsoidKernel as ShapeKernel>::block(cap, row, px));
        }
        if let (Some((roots, along, ends)), Some((roots_row, along_row))) = (&self.side, &row.0) {
            let (l, root, hit) = EllipsoidKernel::block(roots, roots_row, px);
            let side = l + root;
            // The coordinate axis . d / w is compared with the ends without the division.
            let along = along.block(*along_row, px);
            let between = along.simd_ge(ends[0] * side) & along.simd_le(ends[1] * side);
            let side = side & hit & between & side.simd_gt(f32x8::ZERO);
            w = w.fast_max(side);
        }
        w
    }
}
