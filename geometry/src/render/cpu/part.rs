//! Visuals of one image, moved into the camera frame, culled and bounded: some of them at a time.

use super::clusters::ClusteredMesh;
use super::exact::Exact;
use super::kernels::{CapsuleKernel, Cuboid, CylinderKernel, Plane, Roots};
use super::pixels::{Bounds, Pixels, Rect};
use super::raster::{GUARD, MeshView};
use super::visual::Form;
use super::visuals::MOST_ITEMS;
use crate::shape::Shape;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::ops::Range;
use std::sync::OnceLock;

/// Where a visual is.
pub(super) struct Object {
    /// `R_CG` and the position of G in C (m).
    pub(super) r: Matrix3<f64>,
    pub(super) p: Vector3<f64>,
}

impl Object {
    pub(super) fn new(x_cg: &Isometry3<f64>) -> Self {
        Self {
            r: x_cg.rotation.to_rotation_matrix().into_inner(),
            p: x_cg.translation.vector,
        }
    }
}

/// What draws an object.
pub(super) enum Surface {
    Plane(Plane),
    Cuboid(Cuboid),
    Ellipsoid(Roots),
    Cylinder(CylinderKernel),
    Capsule(CapsuleKernel),
    Exact(Exact),
    Mesh(MeshView),
}

/// Something that is drawn as a whole.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) rect: Rect,
    pub(super) w_max: f32,
    pub(super) id: i32,
    /// The number of its visual.
    pub(super) visual: u32,
    /// The cluster of a mesh.
    pub(super) cluster: u32,
    /// It may reach over the near plane or very far out of the image.
    pub(super) clip: bool,
}

/// What some of the visuals, or some clusters of a mesh, come to; kept to be used again.
pub(super) struct Part {
    /// The visuals', by their place; `None` for what has no pose or is not asked for.
    pub(super) objects: Vec<Option<Object>>,
    /// Likewise, each made by whichever thread draws it first: what is hidden needs none.
    pub(super) surfaces: Vec<OnceLock<Option<Surface>>>,
    pub(super) items: Vec<Item>,
    pub(super) veils: Vec<Item>,
}

impl Default for Part {
    fn default() -> Self {
        Self {
            objects: Vec::new(),
            surfaces: Vec::new(),
            items: Vec::with_capacity(MOST_ITEMS),
            veils: Vec::new(),
        }
    }
}

/// How things are bounded in an image.
#[derive(Clone, Copy)]
pub(super) struct Frustum {
    pub(super) pixels: Pixels,
    pub(super) near: f64,
    pub(super) far: f64,
    /// True if every triangle has its own id, and what is seen through is drawn as such.
    pub(super) by_triangle: bool,
}

impl Part {
    /// Empties it for so many visuals.
    pub(super) fn start(&mut self, visuals: usize) {
        self.objects.clear();
        self.surfaces.clear();
        self.surfaces.resize_with(visuals, OnceLock::new);
        self.items.clear();
        self.veils.clear();
    }
    /// Adds a body or a plane.
    pub(super) fn push_shape(
        &mut self,
        frustum: &Frustum,
        o: &Object,
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
        let veil = frustum.by_triangle && alpha < 1.0;
        let list = if veil {
            &mut self.veils
        } else {
            &mut self.items
        };
        list.push(Item {
            rect,
            w_max: bounds.map_or(f32::INFINITY, |b| b.w_max(near)),
            id,
            visual: visual as u32,
            cluster: 0,
            clip: veil || bounds.is_none_or(|b| b.z_min() <= near * (1.0 + 1e-6)),
        });
    }
    /// Adds clusters of a mesh.
    pub(super) fn push_clusters(
        &mut self,
        frustum: &Frustum,
        o: &Object,
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
        let bounds = Bounds::of_points(pixels, corners(o, &low.coords, &high.coords));
        if bounds.rect(pixels, *near, *far).is_none() {
            return;
        }
        for (k, cluster) in clusters.clone().zip(&mesh.clusters[clusters]) {
            let center = o.r * cluster.center + o.p;
            // Single precision moves vertices by a few units in their last place.
            let radius = cluster.radius + 1e-6 * (center.amax() + cluster.radius);
            let sigma = Matrix3::from_diagonal_element(radius * radius);
            let bounds = Bounds::of_quadric(pixels, &center, &sigma);
            if let Some(rect) = bounds.rect(pixels, *near, *far) {
                let first = if *by_triangle { cluster.first } else { 0 };
                let veil = *by_triangle && cluster.translucent;
                let list = if veil {
                    &mut self.veils
                } else {
                    &mut self.items
                };
                list.push(Item {
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

impl Surface {
    /// `clip` as the item says.
    pub(super) fn new(frustum: &Frustum, o: &Object, form: &Form, clip: bool) -> Option<Self> {
        let (pixels, near) = (&frustum.pixels, frustum.near);
        match form {
            Form::Mesh(_) => Some(Self::Mesh(MeshView::new(pixels, &o.r, &o.p, near))),
            // A body that is seen through shows all its surface.
            Form::Shape { shape, alpha, .. } if frustum.by_triangle && *alpha < 1.0 => {
                Exact::new(pixels, &o.r, &o.p, shape, near).map(Self::Exact)
            }
            Form::Shape { shape, .. } => surface(pixels, o, shape, near, !clip),
        }
    }
}

/// Corners of a box given in G, in the camera frame.
fn corners(
    o: &Object,
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

/// What a shape can cover; `None` for unbounded ones.
fn bounds(pixels: &Pixels, o: &Object, shape: &Shape) -> Option<Bounds> {
    let axis: Vector3<f64> = o.r.column(2).into();
    let sphere = |p: Vector3<f64>, radius: f64| {
        let sigma = Matrix3::from_diagonal_element(radius * radius);
        Bounds::of_quadric(pixels, &p, &sigma)
    };
    Some(match shape {
        Shape::Sphere(s) => sphere(o.p, s.radius()),
        Shape::Ellipsoid(s) => {
            let d = Matrix3::from_diagonal(&s.semi_axes().component_mul(&s.semi_axes()));
            Bounds::of_quadric(pixels, &o.p, &(o.r * d * o.r.transpose()))
        }
        Shape::Capsule(s) => {
            let z = axis * (0.5 * s.length());
            sphere(o.p + z, s.radius()).union(&sphere(o.p - z, s.radius()))
        }
        Shape::Cylinder(s) => {
            let z = axis * (0.5 * s.length());
            let disc = (Matrix3::identity() - axis * axis.transpose()) * s.radius().powi(2);
            let end = |p: Vector3<f64>| Bounds::of_quadric(pixels, &p, &disc);
            end(o.p + z).union(&end(o.p - z))
        }
        Shape::Box(s) => Bounds::of_points(pixels, corners(o, &-s.half_size(), &s.half_size())),
        _ => return None,
    })
}

/// The fast form of a shape, or the exact one where that does not hold.
fn surface(
    pixels: &Pixels,
    o: &Object,
    shape: &Shape,
    near: f64,
    in_front: bool,
) -> Option<Surface> {
    let ellipsoid = |axes: Vector3<f64>| {
        let b = Matrix3::from_diagonal(&axes.map(|a| 1.0 / a)) * o.r.transpose();
        let (roots, within) = Roots::new(pixels, &b, &-(b * o.p))?;
        (!within).then_some(Surface::Ellipsoid(roots))
    };
    let fast = match shape {
        Shape::HalfSpace(_) => {
            let n: Vector3<f64> = o.r.column(2).into();
            return Some(Surface::Plane(Plane::new(pixels, &n, n.dot(&o.p), near)));
        }
        Shape::Box(s) => {
            let half = s.half_size();
            return Some(Surface::Cuboid(Cuboid::new(
                pixels, &o.r, &o.p, &half, near,
            )));
        }
        _ if !in_front => None,
        Shape::Sphere(s) => ellipsoid(Vector3::repeat(s.radius())),
        Shape::Ellipsoid(s) => ellipsoid(s.semi_axes()),
        Shape::Cylinder(s) => {
            CylinderKernel::new(pixels, &o.r, &o.p, s.radius(), s.length()).map(Surface::Cylinder)
        }
        Shape::Capsule(s) => {
            CapsuleKernel::new(pixels, &o.r, &o.p, s.radius(), s.length()).map(Surface::Capsule)
        }
        _ => None,
    };
    fast.or_else(|| Exact::new(pixels, &o.r, &o.p, shape, near).map(Surface::Exact))
}
