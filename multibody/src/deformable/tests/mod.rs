//! Tests of the whole room.

mod derivatives;
mod meshes;
mod recorded;
mod steps;
