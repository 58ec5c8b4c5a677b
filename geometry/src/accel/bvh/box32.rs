//! Conservative axis-aligned boxes in single precision.

use nalgebra::Vector3;
use wide::f32x4;

/// Relative padding that covers the rounding of a few operations on single-precision coordinates.
pub(crate) const ROUNDING: f32 = 1.0 / (1 << 22) as f32;

/// Corners of an axis-aligned box, rounded outward. The fourth lanes are free: [`super::Bvh`]
/// stores its links there, as the bits of small integers, and no comparison here depends on them.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Box32 {
    pub(crate) lower: [f32; 4],
    pub(crate) upper: [f32; 4],
}

impl Box32 {
    /// Empty box, the neutral element of [`union`](Self::union).
    pub(crate) const EMPTY: Self = Self {
        lower: [f32::INFINITY; 4],
        upper: [f32::NEG_INFINITY; 4],
    };

    /// Returns a box around all points whose coordinates are within `half` of `center`.
    #[inline]
    pub(crate) fn around(center: &Vector3<f64>, half: &Vector3<f64>) -> Self {
        let narrow = |v: Vector3<f64>| f32x4::new([v.x as f32, v.y as f32, v.z as f32, 0.0]);
        // The padding is relative to a bound on both corners, and so is the rounding of the corners
        // and of the computation in double precision.
        let pad = narrow(center.abs() + half) * ROUNDING + f32x4::splat(f32::MIN_POSITIVE);
        // Infinity minus infinity would be NaN.
        let most = f32x4::splat(f32::MAX);
        let finite = |v: f32x4| v.fast_min(most).fast_max(-most);
        Self {
            lower: (finite(narrow(center - half)) - pad).to_array(),
            upper: (finite(narrow(center + half)) + pad).to_array(),
        }
    }

    /// Returns twice the centre. It is finite even for unbounded boxes. The fourth lane is unused.
    #[inline]
    pub(super) fn twice_center(&self) -> f32x4 {
        let (l, u) = self.lanes();
        let bound = f32x4::splat(1e38);
        let finite = |v: f32x4| v.fast_min(bound).fast_max(-bound);
        finite(l) + finite(u)
    }

    #[inline]
    fn lanes(&self) -> (f32x4, f32x4) {
        (f32x4::new(self.lower), f32x4::new(self.upper))
    }

    /// Returns true if the boxes overlap or touch.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let ((l, u), (ol, ou)) = (self.lanes(), other.lanes());
        (l.simd_le(ou) & ol.simd_le(u)).to_bitmask() & 7 == 7
    }

    /// Returns true if the boxes are within `margin` of each other along every axis. The test is
    /// symmetric and, rounding included, monotonic: enlarging a box never makes it fail.
    #[inline]
    pub(crate) fn is_near(&self, other: &Self, margin: f32) -> bool {
        let ((l, u), (ol, ou)) = (self.lanes(), other.lanes());
        let margin = f32x4::splat(margin);
        ((l - ou).simd_le(margin) & (ol - u).simd_le(margin)).to_bitmask() & 7 == 7
    }

    /// Returns true if `other` is within this box.
    #[inline]
    pub(crate) fn contains(&self, other: &Self) -> bool {
        let ((l, u), (ol, ou)) = (self.lanes(), other.lanes());
        (l.simd_le(ol) & ou.simd_le(u)).to_bitmask() & 7 == 7
    }

    /// Returns the box with all faces moved outward.
    #[inline]
    #[must_use]
    pub(crate) fn grown(&self, by: f32) -> Self {
        let ((l, u), by) = (self.lanes(), f32x4::splat(by));
        Self {
            lower: (l - by).to_array(),
            upper: (u + by).to_array(),
        }
    }

    /// Returns the smallest box that contains both.
    #[inline]
    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        let ((l, u), (ol, ou)) = (self.lanes(), other.lanes());
        Self {
            lower: l.fast_min(ol).to_array(),
            upper: u.fast_max(ou).to_array(),
        }
    }

    /// Returns the edge lengths.
    #[inline]
    pub(crate) fn size(&self) -> [f32; 3] {
        std::array::from_fn(|i| self.upper[i] - self.lower[i])
    }

    /// Returns half of the surface area.
    #[inline]
    pub(crate) fn half_area(&self) -> f32 {
        let [x, y, z] = self.size();
        x * y + y * z + z * x
    }

    /// Returns the largest absolute coordinate.
    pub(crate) fn reach(&self) -> f32 {
        let ends = self.lower[..3].iter().chain(&self.upper[..3]);
        ends.fold(0.0, |m, x| m.max(x.abs()))
    }
}

/// Rounds up: returns a number that is not below `x`.
#[inline]
pub(crate) fn up(x: f64) -> f32 {
    let x = (x as f32).clamp(-f32::MAX, f32::MAX);
    x + (x.abs() * ROUNDING + f32::MIN_POSITIVE)
}

/// Links of a node, stored in the fourth lanes of its box.
impl Box32 {
    #[inline]
    pub(super) fn right(&self) -> u32 {
        self.lower[3].to_bits()
    }
    #[inline]
    pub(super) fn item(&self) -> u32 {
        self.upper[3].to_bits()
    }
    #[inline]
    pub(super) fn with_links(mut self, right: u32, item: u32) -> Self {
        self.lower[3] = f32::from_bits(right);
        self.upper[3] = f32::from_bits(item);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1e3..1e3_f64,
            -1e-40..1e-40_f64,
            -1e300..1e300_f64,
            Just(0.0)
        ]
    }

    proptest! {
        #[test]
        fn rounding_goes_outward(x in coordinate(), c in [(); 3].map(|()| coordinate()), h in 0.0..2e3_f64) {
            prop_assert!(f64::from(up(x)) >= x);
            let b = Box32::around(&c.into(), &Vector3::repeat(h));
            for (i, c) in c.into_iter().enumerate() {
                let (lower, upper) = (f64::from(b.lower[i]), f64::from(b.upper[i]));
                prop_assert!(lower < c - h && c + h < upper, "{lower} {c} {h} {upper}");
                if c.abs() < 1e30 {
                    prop_assert!(upper - lower - 2.0 * h <= 1e-6 * (c.abs() + h) + 1e-37);
                }
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_the_fourth_lanes() {
        let mut a = Box32::around(&Vector3::zeros(), &Vector3::repeat(1.0));
        let b = Box32::around(&Vector3::repeat(0.5), &Vector3::repeat(0.25));
        (a.lower[3], a.upper[3]) = (f32::NAN, -7.0);
        assert!(a.meets(&b) && b.meets(&a) && a.contains(&b) && !b.contains(&a));
        let far = Box32::around(&Vector3::new(0.0, 0.0, 3.0), &Vector3::repeat(1.0));
        assert!(!a.meets(&far) && a.grown(1.5).meets(&far) && a.is_near(&far, 1.5));
        assert!(a.union(&far).contains(&a) && a.union(&far).contains(&far));
        assert!((far.half_area() - 12.0).abs() < 1e-4);
    }
}
