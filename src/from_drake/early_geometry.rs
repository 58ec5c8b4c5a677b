//! An early `pydrake.geometry`: the first scenes, and viewers that are told by pose bundles.
//!
//! Properties of results have lost their names in the documentation of that release; they are in
//! the table of [the newer one](super::geometry).
//!
#![doc = include_str!("early_geometry.md")]
