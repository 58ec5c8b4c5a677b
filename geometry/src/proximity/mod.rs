//! Exact distance queries between two shapes: the narrow phase.
//!
//! # Signed distance
//! For convex A and B, separated or overlapping,
//!
//! ```text
//! phi(A, B) = max over unit n of  g(n),    g(n) = min_{b in B} n.b - max_{a in A} n.a
//! ```
//!
//! This is the largest separating margin. When A and B are separated, it is the distance of their
//! closest points. When they overlap, it is minus the length of the shortest translation that
//! separates them (the global minimum, also in deep overlap).
//!
//! # Method
//! A sphere is treated as a point and a capsule as a segment, each with a margin; a mesh is
//! replaced by its convex hull; every other shape is used as it is. Each pair of points, segments,
//! boxes and half spaces has a file of its own, which decides on plain values which features are
//! active; `features` turns them into value, normal and witnesses in `T`. `convex` solves
//! cylinders, ellipsoids and hulls: it finds the region of the optimum by GJK or EPA and the
//! optimum itself by Newton's method on the active features. No search is ever differentiated:
//! derivatives come from the features. Every kernel works with the pose of one body in the other,
//! so results do not depend on how far a pair is from the origin.
//!
//! Values are accurate to rounding (about 1e-16 of the larger extent). The error of witnesses and
//! derivatives is the rounding error times the rate at which the surfaces turn (1e-12 of the extent
//! for needles of aspect ratio 1e4).
//!
//! `docs/proximity_accuracy.md` holds measurements. There are two limits. For thin cylinders,
//! ellipsoids and hulls that are less than 1e-6 of their extents apart, the wrong one of two
//! neighbouring features may be taken; the relative error of the distance is then up to a tenth.
//! Where cores nearly touch at a vertex or an edge, the normal is the direction of a short
//! difference vector, and its error is 1e-16 of the extents divided by the length of that vector.
//!
//! # Ties
//! For valid shapes at finite poses, a query never fails and never returns NaN. Where the normal or
//! the witnesses are not unique, one is chosen, and the derivatives are one element of the
//! generalised gradient:
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
//! | several directions equally deep (coaxial, concentric shapes) | the first found, reproducibly |
//! | flat hulls cut by another shape | both sides of a flat hull are boundary |
//! | several features of a true surface equally near | the first found, reproducibly |
//!
//! Two bodies are compared in a canonical order of shape type, dimensions and pose. Exchanging the
//! arguments therefore exchanges the results bit for bit, unless the two bodies agree in all of
//! these.
//!
//! # Convex pieces of meshes
//! A mesh whose properties ask for it
//! ([`with_convex_decomposition`](crate::ProximityProperties::with_convex_decomposition)) is the
//! union of the pieces of its [convex decomposition](crate::mesh::convex_decomposition) in all
//! proximity queries: pairs, points and rays. The distance of a union is the least distance of its
//! pieces, so overlapping bodies get the depth in the piece that they overlap most: a translation
//! by it along the normal leaves that piece, but may not leave the others. `PenetrationAsPointPair`
//! has one entry for a pair of geometries, whatever the number of pieces; for a point, the same
//! holds. The distance is continuous, and exact where the pieces are. Its derivatives are those of
//! the pair of pieces that decides. A ray hits the boundary of the union, not the cuts between
//! pieces.
//!
//! # True surfaces of meshes
//! The distance to a point always refers to the true surface of a mesh. In pairs, a mesh is its
//! convex hull, as in Drake, unless its properties ask for its true surface (`with_true_surface`);
//! [`signed_distance_true_surface`] handles those pairs. A surface that is closed (every edge has
//! equally many triangles on both sides) and encloses a positive volume is the boundary of a
//! *solid*; every other surface is a *sheet*, which has no inside.
//!
//! A [`HeightField`](crate::HeightField) always takes part as the solid between its heights and its
//! base, whatever the properties. Its triangles are computed from the grid when a search reaches
//! their cells.
//!
//! * **Separated**: the least distance of all triangles to the other body, exact.
//! * **Half space**: the lowest vertex, exact.
//! * **Margins**: a sphere is its centre and a capsule its axis; the radius is subtracted at the
//!   end. For a sphere the result is therefore the distance of its centre to the surface minus the
//!   radius, exact at any depth.
//! * **A convex body that overlaps a solid**: minus the larger of two depths: that of the body's
//!   deepest point below the surface of the mesh, and that of the mesh's deepest vertex below the
//!   surface of the body. The second is exact. The first is found by branch and bound and is too
//!   small by at most one thousandth of itself (or 1e-9 of the size of the body), unless that takes
//!   more than 20,000 parts of the body. If a body sinks into a height field by less than half the
//!   width of a cell, the search is shorter: the depth is mostly within 1 % of the exact one. If
//!   the body lies on several hills, the search may miss the deepest point; contact manifolds of
//!   boxes and upright cylinders have a point on each hill. The depth is exact up to rounding where
//!   the deepest point is the support point of the body along the normal of the face nearest to it.
//!   That holds wherever a body sinks into a flat side by less than the thickness of the mesh.
//! * **Two meshes that overlap**: for each mesh, the depth of the deepest point of its edges below
//!   the surface of the other, if that is a solid; the result is minus the larger depth, as
//!   accurate as above.
//! * **Sheets** that cut the other body: minus the largest penetration of one of their triangles
//!   into the body or into a triangle of it (the length of the shortest translation that separates
//!   the two).
//!
//! All of these are 0 where the bodies touch, and continuous. A depth is the depth of a point, not
//! the length of the shortest translation that separates the bodies, which for non-convex bodies
//! may be anything. Where a body sinks into a flat side, both are equal; where edges cross, the
//! depth is smaller. The normal is that of the surface at the point nearest to the deepest one.
//!
//! Derivatives are exact where one feature of each body decides. Where several features of the
//! surface are equally near to the deepest point (in deep overlap, and where edges cross), they are
//! the derivatives of the depth of that point, held fixed in its body, below one of these features.

mod answer;
mod convex;
mod core_distance;
mod dispatch;
mod distance_to_point;
mod features;
mod manifold;
mod pairs;
mod pieces;
mod rounding;
mod shape_core;
mod shape_distance;
mod surface;

pub use self::answer::PairDistance;
pub(crate) use self::answer::{PairAnswer, WitnessPair};
pub(crate) use self::distance_to_point::distance_to_surface;
pub use self::distance_to_point::{PointDistance, distance_to_point};
#[cfg(test)]
pub(crate) use self::manifold::contact_manifold;
pub(crate) use self::manifold::contacts;
pub(crate) use self::pieces::{Body, ConvexPieces, closest_of, distance_to_pieces, max_pieces};
pub use self::shape_distance::{is_supported, signed_distance, signed_distance_within};
pub(crate) use self::surface::has_true_surface;
pub use self::surface::signed_distance_true_surface;

#[cfg(test)]
mod tests;
