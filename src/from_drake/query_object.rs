//! `drake::geometry::QueryObject` in C++: queries, support of shapes and scalars, images.
//!
//! The tables of support and accuracy in Drake's documentation have one line here: every pair of
//! shapes but two half spaces, in every scalar. A mesh stands for its convex hull, or for its [true
//! surface](crate::geometry::ProximityProperties::with_true_surface) if its properties ask for it.
//!
#![doc = include_str!("query_object.md")]
