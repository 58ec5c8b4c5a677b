//! Signed distance of two bodies, at least one of which is a union of convex pieces.

use super::convex_pieces::{Bounds, ConvexPieces};
use crate::error::Result;
use crate::proximity::PairAnswer;
use crate::proximity::dispatch::closest;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::proximity::shape_core::{core, extent, margin, precedes};
use crate::proximity::surface::signed_distance_true_surface;
use crate::shape::Shape;
use crate::values::values_of_pose;
use nalgebra::{Isometry3, Vector3};
use smallvec::SmallVec;
use tarragon_framework::Scalar;

/// A shape, and how it takes part if it is a mesh.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// The shape; of a mesh, the hull.
    Solid(&'a Shape),
    /// The true surface of a mesh or a height field.
    TrueSurface(&'a Shape),
    /// The convex pieces of a mesh.
    Pieces(&'a Shape, &'a ConvexPieces),
}

impl<'a> Body<'a> {
    /// Returns the body of a shape without properties.
    #[inline]
    pub(crate) fn of(shape: &'a Shape) -> Self {
        match shape {
            Shape::HeightField(_) => Self::TrueSurface(shape),
            _ => Self::Solid(shape),
        }
    }
    fn shape(&self) -> &'a Shape {
        match *self {
            Self::Solid(shape) | Self::TrueSurface(shape) | Self::Pieces(shape, _) => shape,
        }
    }
    fn is_true_surface(&self) -> bool {
        matches!(self, Self::TrueSurface(_))
    }
}

/// Returns the signed distance of two bodies, or `None` beyond `max_distance`.
#[inline]
pub(crate) fn closest_of<T: Scalar, A: PairAnswer<T>>(
    a: Body<'_>,
    x_wa: &Isometry3<T>,
    b: Body<'_>,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    match (a, b) {
        (Body::Solid(a), Body::Solid(b)) => closest(a, x_wa, b, x_wb, max_distance),
        _ => general(a, x_wa, b, x_wb, max_distance),
    }
}

/// Not inlined: the pairs above should not pay for it.
#[inline(never)]
fn general<T: Scalar, A: PairAnswer<T>>(
    a: Body<'_>,
    x_wa: &Isometry3<T>,
    b: Body<'_>,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    match (a, b) {
        (Body::Pieces(..), Body::Solid(Shape::HalfSpace(_)))
        | (Body::Solid(Shape::HalfSpace(_)), Body::Pieces(..)) => {
            // The lowest vertex of the pieces is also the lowest vertex of the hull.
            closest(a.shape(), x_wa, b.shape(), x_wb, max_distance)
        }
        (Body::Pieces(shape_a, pieces_a), Body::Pieces(shape_b, pieces_b)) => {
            let key = |shape| core(shape).map(|core| core.key());
            if precedes(&key(shape_a)?, x_wa, &key(shape_b)?, x_wb) {
                least(pieces_a, x_wa, &parts(pieces_b), x_wb, max_distance)
            } else {
                let found: Option<A> = least(pieces_b, x_wb, &parts(pieces_a), x_wa, max_distance)?;
                Ok(found.map(A::swapped))
            }
        }
        (Body::Pieces(_, pieces), other) => {
            let whole = [whole(other, &relative(x_wa, x_wb))?];
            least(pieces, x_wa, &whole, x_wb, max_distance)
        }
        (other, Body::Pieces(_, pieces)) => {
            let whole = [whole(other, &relative(x_wb, x_wa))?];
            let found: Option<A> = least(pieces, x_wb, &whole, x_wa, max_distance)?;
            Ok(found.map(A::swapped))
        }
        _ => whole_pair(a, x_wa, b, x_wb, max_distance),
    }
}

/// Returns the distance of two bodies of one part each.
fn whole_pair<T: Scalar, A: PairAnswer<T>>(
    a: Body<'_>,
    x_wa: &Isometry3<T>,
    b: Body<'_>,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    let (a_true, b_true) = (a.is_true_surface(), b.is_true_surface());
    if !a_true && !b_true {
        return closest(a.shape(), x_wa, b.shape(), x_wb, max_distance);
    }
    let (a, b) = (a.shape(), b.shape());
    let found = signed_distance_true_surface(a, a_true, x_wa, b, b_true, x_wb, max_distance)?;
    Ok(found.map(|found| A::in_world(found, x_wa, x_wb)))
}

/// Part of the body B.
struct Part<'a> {
    body: Body<'a>,
    /// Box in the frame of B, or in that of A if `in_a`.
    bounds: Bounds,
    in_a: bool,
}

fn parts(pieces: &ConvexPieces) -> SmallVec<[Part<'_>; 8]> {
    let parts = pieces.pieces.iter().map(|piece| Part {
        body: Body::Solid(&piece.shape),
        bounds: piece.bounds,
        in_a: false,
    });
    parts.collect()
}

/// Returns a body that is not a half space as one part, with its box in A.
fn whole<'a>(body: Body<'a>, x_ab: &Isometry3<f64>) -> Result<Part<'a>> {
    if let Shape::HeightField(field) = body.shape() {
        let (center, half) = field.calc_bounding_box();
        let r_ab = x_ab.rotation.to_rotation_matrix().into_inner();
        return Ok(Part {
            body,
            bounds: Bounds {
                center: r_ab * center + x_ab.translation.vector,
                half: r_ab.abs() * half,
            },
            in_a: true,
        });
    }
    let (core, radius) = (core(body.shape())?, margin(body.shape()));
    let end = |axis: usize, sign: f64| {
        let d = Vector3::ith(axis, sign);
        let p = core.support(&(x_ab.rotation.inverse() * d));
        (x_ab * nalgebra::Point3::from(p))[axis] + sign * radius
    };
    let low = Vector3::from_fn(|axis, _| end(axis, -1.0));
    let high = Vector3::from_fn(|axis, _| end(axis, 1.0));
    Ok(Part {
        body,
        bounds: Bounds::around(&[low, high]),
        in_a: true,
    })
}

/// Returns the pose of B in A, without derivatives.
fn relative<T: Scalar>(x_wa: &Isometry3<T>, x_wb: &Isometry3<T>) -> Isometry3<f64> {
    values_of_pose(x_wa).inv_mul(&values_of_pose(x_wb))
}

/// Returns the least distance between a piece of A and a part of B. Among equal ones, that of the
/// pair whose boxes are nearest counts, then that of the first pair.
fn least<T: Scalar, A: PairAnswer<T>>(
    a: &ConvexPieces,
    x_wa: &Isometry3<T>,
    b: &[Part<'_>],
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    let x_ab = relative(x_wa, x_wb);
    let r_ab = x_ab.rotation.to_rotation_matrix().into_inner();
    let mut size = x_ab.translation.vector.amax();
    for shape in a
        .pieces
        .iter()
        .map(|p| &p.shape)
        .chain(b.iter().map(|p| p.body.shape()))
    {
        size = size.max(extent(shape));
    }
    let rounding = NEGLIGIBLE * size;
    let mut order: SmallVec<[(f64, u16, u16); 64]> = SmallVec::new();
    for (j, part) in b.iter().enumerate() {
        let mut bounds = part.bounds;
        if !part.in_a {
            bounds.center = r_ab * bounds.center + x_ab.translation.vector;
            bounds.half = r_ab.abs() * bounds.half;
        }
        for (i, piece) in a.pieces.iter().enumerate() {
            let bound = piece.bounds.distance(&bounds) - rounding;
            // A bound that is NaN is not beyond, so the kernel refuses the positions.
            let is_beyond = bound > max_distance;
            if !is_beyond {
                order.push((bound, i as u16, j as u16));
            }
        }
    }
    order.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
    let mut best: Option<A> = None;
    let mut limit = max_distance;
    for (bound, i, j) in order {
        if bound > limit {
            break;
        }
        let (piece, part) = (&a.pieces[usize::from(i)], &b[usize::from(j)]);
        let piece = Body::Solid(&piece.shape);
        let found: Option<A> = whole_pair(piece, x_wa, part.body, x_wb, limit)?;
        if let Some(found) = found {
            let distance = found.distance().re();
            if best.is_none() || distance < limit {
                (best, limit) = (Some(found), distance);
            }
        }
    }
    Ok(best)
}
