//! Chunks of an image's visuals, transformed to the camera frame, culled and bounded.

use super::frustum::Frustum;
use super::primitive::Primitive;
use crate::render::cpu::raster::GUARD;
use crate::render::cpu::store::{ClusteredMesh, MOST_ITEMS};
use crate::render::projection::{ImageBounds, PixelRect, PoseInCamera, box_corners, shape_bounds};
use crate::shape::Shape;
use nalgebra::Matrix3;
use std::ops::Range;
use std::sync::OnceLock;

/// A shape or a cluster of triangles, drawn as a whole.
#[derive(Clone, Copy)]
pub(crate) struct DrawItem {
    pub(crate) rect: PixelRect,
    pub(crate) w_max: f32,
    pub(crate) id: i32,
    /// Number of its visual.
    pub(crate) visual: u32,
    /// Index of the cluster, for a mesh.
    pub(crate) cluster: u32,
    /// True if it may cross the near plane or reach beyond the guard band.
    pub(crate) clip: bool,
}

/// Draw items of a chunk of the visuals, or of some clusters of a mesh. The storage is reused.
pub(crate) struct PreparedChunk {
    /// Poses of the chunk's visuals, in order; `None` for a visual without a pose or not in this
    /// kind of image.
    pub(crate) objects: Vec<Option<PoseInCamera>>,
    /// Primitives of the chunk's visuals, each created by the first thread that draws it. Hidden
    /// visuals need none.
    pub(crate) primitives: Vec<OnceLock<Option<Primitive>>>,
    pub(crate) items: Vec<DrawItem>,
    pub(crate) translucent: Vec<DrawItem>,
}

impl Default for PreparedChunk {
    fn default() -> Self {
        Self {
            objects: Vec::new(),
            primitives: Vec::new(),
            items: Vec::with_capacity(MOST_ITEMS),
            translucent: Vec::new(),
        }
    }
}

impl PreparedChunk {
    /// Clears the chunk and prepares it for the given number of visuals.
    pub(crate) fn start(&mut self, visuals: usize) {
        self.objects.clear();
        self.primitives.clear();
        self.primitives.resize_with(visuals, OnceLock::new);
        self.items.clear();
        self.translucent.clear();
    }
    /// Adds a shape, unless it is culled.
    pub(crate) fn push_shape(
        &mut self,
        frustum: &Frustum,
        o: &PoseInCamera,
        shape: &Shape,
        alpha: f32,
        visual: usize,
        id: i32,
    ) {
        let (pixels, near) = (&frustum.pixels, frustum.near);
        let bounds = shape_bounds(pixels, o, shape);
        let rect = match &bounds {
            Some(b) => b.rect(pixels, near, frustum.far),
            None => Some(pixels.all()),
        };
        let Some(rect) = rect else { return };
        let translucent = frustum.by_triangle && alpha < 1.0;
        let list = if translucent {
            &mut self.translucent
        } else {
            &mut self.items
        };
        list.push(DrawItem {
            rect,
            w_max: bounds.map_or(f32::INFINITY, |b| b.w_max(near)),
            id,
            visual: visual as u32,
            cluster: 0,
            clip: translucent || bounds.is_none_or(|b| b.z_min() <= near * (1.0 + 1e-6)),
        });
    }
    /// Adds those of a mesh's clusters that are not culled.
    pub(crate) fn push_clusters(
        &mut self,
        frustum: &Frustum,
        o: &PoseInCamera,
        mesh: &ClusteredMesh,
        clusters: Range<usize>,
        visual: usize,
        id: i32,
    ) {
        let Frustum {
            pixels,
            near,
            far,
            by_triangle,
        } = frustum;
        let [low, high] = mesh.bounds;
        let bounds = ImageBounds::of_points(pixels, box_corners(o, &low.coords, &high.coords));
        if bounds.rect(pixels, *near, *far).is_none() {
            return;
        }
        for (k, cluster) in clusters.clone().zip(&mesh.clusters[clusters]) {
            let center = o.r * cluster.center + o.p;
            // Single precision moves vertices by a few units in the last place.
            let radius = cluster.radius + 1e-6 * (center.amax() + cluster.radius);
            let sigma = Matrix3::from_diagonal_element(radius * radius);
            let bounds = ImageBounds::of_quadric(pixels, &center, &sigma);
            if let Some(rect) = bounds.rect(pixels, *near, *far) {
                let first = if *by_triangle { cluster.first } else { 0 };
                let translucent = *by_triangle && cluster.translucent;
                let list = if translucent {
                    &mut self.translucent
                } else {
                    &mut self.items
                };
                list.push(DrawItem {
                    rect,
                    w_max: bounds.w_max(*near),
                    id: id.saturating_add(first as i32),
                    visual: visual as u32,
                    cluster: k as u32,
                    clip: bounds.z_min() < *near || bounds.reach() > GUARD - 1.0,
                });
            }
        }
    }
}
