//! Traversal of a tree along a ray.

use super::box32::{ROUNDING, up};
use super::build::MAX_DEPTH;
use super::tree::Bvh;
use nalgebra::Vector3;
use wide::f32x4;

/// Ray prepared for tests against boxes.
#[derive(Clone, Copy)]
pub(crate) struct RayBox {
    origin: [f32; 4],
    /// Reciprocal of the direction, kept finite.
    inverse: [f32; 4],
    /// Largest absolute coordinate of the origin.
    reach: f32,
}

impl RayBox {
    /// Creates the ray `origin + t * direction`.
    pub(crate) fn new(origin: &Vector3<f64>, direction: &Vector3<f64>) -> Self {
        let narrow = |x: f64| (x as f32).clamp(-f32::MAX, f32::MAX);
        let inverse = |d: f64| {
            let d = narrow(d);
            if d.abs() > 1e-30 {
                1.0 / d
            } else {
                1e30_f32.copysign(d)
            }
        };
        Self {
            origin: [narrow(origin.x), narrow(origin.y), narrow(origin.z), 0.0],
            inverse: [
                inverse(direction.x),
                inverse(direction.y),
                inverse(direction.z),
                1.0,
            ],
            reach: up(origin.amax()),
        }
    }
}

/// Returns the larger number. Nothing here is NaN, so this is one instruction, unlike `f32::max`.
#[inline]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
#[inline]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

impl Bvh {
    /// Calls `f(item, limit)` for items whose boxes the ray enters at a parameter t in `0..=limit`,
    /// roughly in order of distance; `f` returns the new limit.
    #[inline]
    pub(crate) fn for_each_along(
        &self,
        ray: &RayBox,
        limit: f64,
        mut f: impl FnMut(u32, f64) -> f64,
    ) {
        let Some(root) = self.root() else { return };
        // Origin, corners and their differences are rounded, so boxes are padded by more than the
        // total rounding.
        let pad = f32x4::splat((ray.reach + root.reach()) * (4.0 * ROUNDING));
        let (origin, inverse) = (f32x4::new(ray.origin), f32x4::new(ray.inverse));
        let (above, below) = (origin + pad, origin - pad);
        let mut limit = limit;
        let mut limit32 = up(limit);
        let enter = |node: usize, limit: f32| {
            let b = &self.nodes[node];
            let s = (f32x4::new(b.lower) - above) * inverse;
            let t = (f32x4::new(b.upper) - below) * inverse;
            let [n0, n1, n2, _] = s.fast_min(t).to_array();
            let [f0, f1, f2, _] = s.fast_max(t).to_array();
            let near = larger(larger(n0, n1), larger(n2, 0.0));
            let far = smaller(smaller(f0, f1), smaller(f2, limit));
            (near <= far).then_some(near)
        };
        let mut stack = [(0_u32, 0.0_f32); MAX_DEPTH];
        let mut top = 0;
        let mut next = enter(0, limit32).map(|_| 0_usize);
        loop {
            let node = match next.take() {
                Some(node) => node,
                None if top == 0 => return,
                None => {
                    top -= 1;
                    let (node, near) = stack[top];
                    if near > limit32 {
                        continue;
                    }
                    node as usize
                }
            };
            let right = self.nodes[node].right();
            if right == 0 {
                limit = f(self.nodes[node].item(), limit);
                limit32 = up(limit);
                continue;
            }
            let (left, right) = (node + 1, right as usize);
            next = match (enter(left, limit32), enter(right, limit32)) {
                (Some(l), Some(r)) => {
                    let (near, far) = if l <= r {
                        (left, (right, r))
                    } else {
                        (right, (left, l))
                    };
                    stack[top] = (far.0 as u32, far.1);
                    top += 1;
                    Some(near)
                }
                (Some(_), None) => Some(left),
                (None, Some(_)) => Some(right),
                (None, None) => None,
            };
        }
    }
}
