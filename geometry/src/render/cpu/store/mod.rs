//! Registered visuals, prepared for drawing.

mod clusters;
mod deformable;
mod deformable_source;
mod shaded_triangle;
mod visual;
mod visuals;

pub(super) use clusters::{CLUSTER, Cluster, ClusteredMesh, VERTEX_BLOCKS};
pub(super) use shaded_triangle::{ShadedTriangle, SmoothNormals, uv_at};
pub(super) use visual::{Visual, VisualForm};
pub(super) use visuals::{DrawPlan, MOST_ITEMS, NO_ID, VisualChunk, Visuals};
