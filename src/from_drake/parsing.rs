//! `pydrake.multibody.parsing`: models, packages and model directives.
//!
//! Formats and their support, model by model, are in the documentation of
//! [`Parser`](crate::formats::Parser). Keys in YAML are those of Drake.
//!
#![doc = include_str!("parsing.md")]
