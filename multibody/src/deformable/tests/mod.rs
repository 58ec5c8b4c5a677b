//! Tests of the whole room.

mod derivatives;
mod impulses;
mod meshes;
mod recorded;
mod steps;
mod systems;
