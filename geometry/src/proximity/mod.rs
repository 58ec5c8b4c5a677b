//! Exact distance queries between two shapes: the narrow phase.
//!
//! # Signed distance
//! For convex A and B, separated or overlapping,
//!
//! ```text
//! phi(A, B) = max over unit n of  g(n),    g(n) = min_{b in B} n.b - max_{a in A} n.a
//! ```
//!
//! the largest separating margin: the distance of the closest points when separated, minus the
//! length of the shortest translation that separates them when overlapping (the global minimum,
//! also in deep overlap).
//!
//! # How
//! A sphere is a point and a capsule a segment, each with a margin; every other shape is itself, a
//! mesh its convex hull. Pairs of points, segments, boxes and half spaces have a file each that
//! decides, on values, which features are active; `features` turns them into value, normal and
//! witnesses in `T`. Cylinders, ellipsoids and hulls are solved by `convex`, which finds the region
//! of the optimum by GJK or EPA and the optimum itself by Newton's method on the active features.
//! No search is ever differentiated: derivatives come from the features. Every kernel works with
//! the pose of the one body in the other, so results do not depend on how far from the origin a
//! pair is.
//!
//! Values are accurate to rounding (some 1e-16 of the larger extent), witnesses to rounding times
//! how strongly the surfaces turn (1e-12 of the extent for needles of aspect ratio 1e4), and so are
//! derivatives.
//!
//! How well that holds is measured in `docs/proximity_accuracy.md`. Limits: of thin cylinders,
//! ellipsoids and hulls that are apart by less than 1e-6 of their extents the wrong one of two
//! neighbouring features may be taken, and the distance is then good to a tenth of itself; where
//! cores nearly touch at a vertex or an edge, the normal is the direction of a short difference,
//! rounded by 1e-16 of the extents over its length.
//!
//! # Where there is a choice
//! A query never fails and never returns NaN for valid shapes at finite poses. Where the normal or
//! the witnesses are not unique one is chosen, and derivatives are one element of the generalised
//! gradient:
//!
//! | where | choice |
//! |---|---|
//! | centre of a sphere on the axis of a capsule | x axis of the capsule |
//! | concentric spheres | x axis of the frame of the larger one |
//! | crossing axes of two capsules | common perpendicular |
//! | overlapping axes of two capsules on one line | x axis of one of them |
//! | centre of a sphere in a box, faces equally near | face of the first axis, positive side |
//! | centre of a sphere on an edge or corner of a box | mean of the normals there |
//! | parallel faces, edges, rims | middle of the region where they face each other |
//! | boxes touching at edges or vertices | best of the separating axes |
//! | several directions equally deep (coaxial cylinders, concentric shapes) | the one that the search meets first, the same on every run |
//! | flat hulls cut by another shape | both sides of a flat hull are boundary |
//! | several features of a true surface equally near | the one that the search meets first, the same on every run |
//!
//! Two bodies are compared in a canonical order of shape type, dimensions and pose, so exchanging
//! the arguments exchanges the results bit for bit, unless the two are identical in all of these.
//!
//! # True surfaces of meshes
//! Distance to a point always sees the true surface of a mesh. In pairs a mesh is its convex hull,
//! as in Drake, unless its properties ask for its true surface ([`add_true_surface`]); then
//! [`signed_distance_true_surface`] answers. A surface that is closed (every edge has as many
//! triangles on one side as on the other) and encloses a positive volume is the boundary of a
//! *solid*; every other one is a *sheet*, without inside.
//!
//! * **Separated**: the least distance of all triangles to the other body, exact.
//! * **Half space**: the lowest vertex, exact.
//! * **Margins**: a sphere is its centre and a capsule its axis, the radius is subtracted at the
//!   end. So for a sphere the answer is the distance of its centre to the surface less the radius:
//!   exact, in any depth.
//! * **A convex body that overlaps a solid**: minus the larger of two depths: that of its deepest
//!   point below the surface of the mesh, and that of the deepest vertex of the mesh below the
//!   surface of the body. The second is exact. The first is found by branch and bound: at most one
//!   thousandth of it (or 1e-9 of the size of the body) too small, unless 20,000 parts of the body
//!   do not suffice for that. It is exact, as far as rounding goes, where the deepest point is what
//!   supports the body along the normal of the face that is nearest to it: wherever a body sinks
//!   into a flat side by less than the thickness of the mesh.
//! * **Two meshes that overlap**: minus the larger of the depths of the deepest points of the edges
//!   of each below the surface of the other, if that is a solid; as exact as above.
//! * **Sheets** that cut the other body: minus the largest penetration of one of their triangles
//!   into the body or into a triangle of it (the shortest translation that separates the two).
//!
//! All of these are 0 where the bodies touch, and continuous. Depths are those of points, not the
//! length of the shortest translation that separates the bodies, which for non-convex bodies may be
//! anything; where a body sinks into a flat side both are the same, where edges cross the depth is
//! less. The normal is that of the surface at the point nearest to the deepest one.
//!
//! Derivatives are exact where one feature of each body decides. Where several features of the
//! surface are equally near to the deepest point (in deep overlap, and where edges cross) they are
//! those of the depth of that point, held fixed in its body, below one of them.

mod answer;
mod convex;
mod core_distance;
mod dispatch;
mod distance_to_point;
mod features;
mod pairs;
mod rounding;
mod shape_core;
mod surface;

pub use self::answer::PairDistance;
pub(crate) use self::answer::{Answer, WitnessPair};
pub(crate) use self::dispatch::closest;
pub use self::dispatch::{is_supported, signed_distance, signed_distance_within};
pub use self::distance_to_point::{PointDistance, distance_to_point};
pub(crate) use self::surface::has_true_surface;
pub use self::surface::{add_true_surface, signed_distance_true_surface};

#[cfg(test)]
mod tests;
