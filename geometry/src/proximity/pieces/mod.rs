//! Meshes that take part as the union of convex pieces, where a program asks for it.
//!
//! The distance of a union is the least distance of its pieces, negative where one of them overlaps
//! the other body. Boxes around the pieces order the search and end it early ([`pair`], [`point`]).

mod convex_pieces;
mod pair;
mod point;
mod property;

pub(crate) use self::convex_pieces::ConvexPieces;
pub(crate) use self::pair::{Body, closest_of};
pub(crate) use self::point::distance_to_pieces;
pub(crate) use self::property::max_pieces;
