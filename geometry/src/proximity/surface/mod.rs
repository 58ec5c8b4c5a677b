//! The true surface of a mesh: its distance to points and, where a program asks for it, to other
//! bodies. The docs of the parent module define the distance of pairs that overlap.
//!
//! The nearest point of a surface is on a face, an edge or a vertex, each of which has a closed
//! form ([`point`]). The sign of the distance to a point depends on the side of the surface that
//! the point is on, as defined by the winding of the triangles. The normal of the face, or the
//! angle-weighted normal of the edge or vertex, determines that side ([`topology`]); on the
//! surface, that normal is the gradient. The surface need not be closed (nor does Drake require
//! it): beyond the boundary of an open surface, the faces at that boundary are continued. Where the
//! normal is inconclusive (more than two faces at an edge, cones that meet in a vertex) and the
//! surface is closed, the winding number decides. Vertices at equal positions are merged; triangles
//! of zero area are ignored.
//!
//! Pairs that are apart are searched with bounding boxes ([`near_triangles`], [`mesh_pair`]), pairs
//! that overlap by climbs ([`core_depth`]) and by branch and bound ([`depth`]). Searches run on
//! plain values and end with the features that decide the distance ([`pair`]), which are evaluated
//! in `T`.

mod below_planes;
mod columns;
mod contact_points;
mod core_depth;
mod core_pair;
mod depth;
mod mesh_pair;
mod near_triangles;
mod pair;
mod peaks;
mod point;
mod property;
mod solution;

pub(in crate::proximity) use self::contact_points::{SurfaceContact, contacts_of_corners};
pub use self::pair::signed_distance_true_surface;
pub(in crate::proximity) use self::pair::surface_of;
pub(in crate::proximity) use self::peaks::contacts_of_peaks;
pub(crate) use self::property::has_true_surface;

#[cfg(test)]
mod tests;
