//! Chunks of an image's visuals, transformed to the camera frame, culled and bounded.

use super::frustum::{Frustum, PoseInCamera};
use super::primitive::Primitive;
use crate::render::cpu::pixels::{ImageBounds, PixelRect, Pixels};
use crate::render::cpu::raster::GUARD;
use crate::render::cpu::store::{ClusteredMesh, MOST_ITEMS};
use crate::shape::Shape;
use nalgebra::{Matrix3, Vector3};
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
        (shape, alpha): (&Shape, f32),
        (visual, id): (usize, i32),
    ) {
        let (pixels, near) = (&frustum.pixels, frustum.near);
        let bounds = bounds(pixels, o, shape);
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
        (mesh, clusters): (&ClusteredMesh, Range<usize>),
        (visual, id): (usize, i32),
    ) {
        let Frustum {
            pixels,
            near,
            far,
            by_triangle,
        } = frustum;
        let [low, high] = mesh.bounds;
        let bounds = ImageBounds::of_points(pixels, corners(o, &low.coords, &high.coords));
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

/// Returns the bounds of a shape; `None` if it is unbounded.
fn bounds(pixels: &Pixels, o: &PoseInCamera, shape: &Shape) -> Option<ImageBounds> {
    let axis: Vector3<f64> = o.r.column(2).into();
    let sphere = |p: Vector3<f64>, radius: f64| {
        let sigma = Matrix3::from_diagonal_element(radius * radius);
        ImageBounds::of_quadric(pixels, &p, &sigma)
    };
    Some(match shape {
        Shape::Sphere(s) => sphere(o.p, s.radius()),
        Shape::Ellipsoid(s) => {
            let d = Matrix3::from_diagonal(&s.semi_axes().component_mul(&s.semi_axes()));
            ImageBounds::of_quadric(pixels, &o.p, &(o.r * d * o.r.transpose()))
        }
        Shape::Capsule(s) => {
            let z = axis * (0.5 * s.length());
            sphere(o.p + z, s.radius()).union(&sphere(o.p - z, s.radius()))
        }
        Shape::Cylinder(s) => {
            let z = axis * (0.5 * s.length());
            let disc = (Matrix3::identity() - axis * axis.transpose()) * s.radius().powi(2);
            let end = |p: Vector3<f64>| ImageBounds::of_quadric(pixels, &p, &disc);
            end(o.p + z).union(&end(o.p - z))
        }
        Shape::Box(s) => {
            ImageBounds::of_points(pixels, corners(o, &-s.half_size(), &s.half_size()))
        }
        _ => return None,
    })
}

/// Returns the corners of a box given in G, in the camera frame.
fn corners(
    o: &PoseInCamera,
    low: &Vector3<f64>,
    high: &Vector3<f64>,
) -> impl Iterator<Item = Vector3<f64>> {
    (0..8).map(move |k: usize| {
        let pick = |axis: usize| {
            if k >> axis & 1 == 0 {
                low[axis]
            } else {
                high[axis]
            }
        };
        o.r * Vector3::from_fn(|axis, _| pick(axis)) + o.p
    })
}
