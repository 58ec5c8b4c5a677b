//! Tests of the whole room.

mod meshes;
mod recorded;
mod steps;
mod timing;
