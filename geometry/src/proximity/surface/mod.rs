//! The true surface of a mesh: distance to points, and to other bodies where a program asks for it.
//! What pairs mean where they overlap is in the docs of the module above.
//!
//! The nearest point of a surface is on a face, an edge or a vertex, each of which has a closed
//! form ([`point`]). The sign of the distance to a point is that of the side of the surface on
//! which the point is, as the winding of the triangles has it, told by the normal of the face or by
//! the angle-weighted normal of the edge or vertex ([`topology`]). On the surface that normal is
//! the gradient. This needs no closed surface (neither does Drake's): beyond the boundary of an
//! open one the faces there are continued. Where that normal says nothing (more than two faces at
//! an edge, cones that meet in a vertex) and the surface is closed, the winding number decides.
//! Vertices at equal positions are one; triangles without area are left out.
//!
//! Pairs that are apart are searched through boxes ([`core_pair`], [`mesh_pair`]), pairs that
//! overlap by branch and bound ([`depth`]). Searches run on values and end with what decides
//! ([`pair`]), which is evaluated in `T`.

mod core_pair;
mod depth;
mod mesh_pair;
mod pair;
mod point;
mod property;
mod solution;

pub use self::pair::signed_distance_true_surface;
pub use self::property::add_true_surface;
pub(crate) use self::property::has_true_surface;

#[cfg(test)]
mod tests;
