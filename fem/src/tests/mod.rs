//! Tests of the whole room.

mod derivatives;
mod impulses;
mod meshes;
mod recorded;
mod statics;
mod steps;
mod systems;
