//! Ray casting: the first point where a ray crosses the surface of a shape.
//!
//! Exact for every shape: closed forms for spheres, capsules, boxes, cylinders, ellipsoids and half
//! spaces, the planes of the hull for `Convex`, the triangles for `Mesh`. Plain values decide which
//! part of the surface is hit. Derivatives follow from that part, so they are exact where the ray
//! does not graze the surface.

mod cast;
mod crossing;
mod half_line;
mod pieces;
mod polygons;
mod solids;

pub use self::cast::cast_ray;
pub(crate) use self::cast::{first_crossing, first_crossing_of_triangles};
pub(crate) use self::crossing::Crossing;
pub use self::crossing::SurfaceHit;
pub use self::half_line::Ray;
pub(crate) use self::pieces::first_crossing_of_pieces;

#[cfg(test)]
mod tests;
