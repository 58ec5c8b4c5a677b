//! The rasterizer: draws inverse depths and ids of the nearest surfaces into tiles.
//!
//! `kernels` draws shapes, or `exact_shape` near the camera; `mesh_view`, `small_triangles` and
//! `triangle` draw clusters of meshes. Translucent surfaces are collected in `transparency_layers`.

mod exact_shape;
mod kernels;
mod mesh_view;
mod small_triangles;
mod target;
mod tile;
mod transparency_layers;
mod triangle;
mod vertices;

pub(super) use exact_shape::ExactShape;
pub(super) use kernels::{
    CapsuleKernel, CuboidKernel, CylinderKernel, EllipsoidKernel, LinearBlocks, PlaneKernel,
};
pub(super) use mesh_view::MeshView;
pub(super) use target::GUARD;
pub(super) use tile::{TILE_HEIGHT, TILE_WIDTH, Tile};
pub(super) use transparency_layers::{Fragment, TransparencyLayers};
pub(super) use vertices::ClusterVertices;
