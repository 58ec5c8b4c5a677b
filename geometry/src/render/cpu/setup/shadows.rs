//! Shadows by ray casting in f64.

use crate::accel::bvh::{Box32, Bvh, RayBox};
use crate::ray::first_crossing;
use crate::render::cpu::store::{Visual, VisualForm};
use crate::render::projection::PoseInCamera;
use crate::shape::Shape;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;

/// Offset of ray origins from the surface, relative to its depth: more than the rounding error of
/// depths, less than the width of a pixel.
const LIFT: f64 = 1e-4;

/// Shadow casters of an image, in the camera frame.
pub(crate) struct Shadows {
    bvh: Bvh,
    bounded: Vec<Occluder>,
    unbounded: Vec<Occluder>,
}

struct Occluder {
    /// Number of its visual.
    number: usize,
    x_cg: Isometry3<f64>,
}

impl Shadows {
    /// Creates the shadow casters from the numbers, forms and poses of all visuals, visible or not.
    /// Translucent geometry casts no shadows, as in Drake.
    pub(crate) fn new<'a>(
        objects: impl Iterator<Item = (usize, &'a VisualForm, &'a PoseInCamera)>,
    ) -> Self {
        let (mut boxes, mut bounded, mut unbounded) = (Vec::new(), Vec::new(), Vec::new());
        for (number, form, object) in objects {
            if matches!(form, VisualForm::Shape { alpha, .. } if *alpha < 1.0) {
                continue;
            }
            let x_cg = math::pose(math::rotation_from_matrix(&object.r), object.p);
            let occluder = Occluder { number, x_cg };
            match half_size(form) {
                Some((center, half)) => {
                    let half = object.r.abs() * half;
                    boxes.push(Box32::around(&(object.r * center + object.p), &half));
                    bounded.push(occluder);
                }
                None => unbounded.push(occluder),
            }
        }
        Self {
            bvh: Bvh::new(&boxes),
            bounded,
            unbounded,
        }
    }

    /// Returns true if nothing blocks the ray from a point of a surface along the unit vector
    /// `towards` up to `distance`. The unit normal points to the visible side. All quantities are
    /// in the camera frame (m). `visuals` returns the visual with a given number, and its pose.
    pub(crate) fn is_lit<'a>(
        &self,
        visuals: &impl Fn(usize) -> (&'a Visual, Option<&'a PoseInCamera>),
        point: &Vector3<f64>,
        normal: &Vector3<f64>,
        towards: &Vector3<f64>,
        distance: f64,
    ) -> bool {
        let origin = point + normal * (LIFT * point.z);
        if self
            .unbounded
            .iter()
            .any(|o| o.hides(visuals, &origin, towards, distance))
        {
            return false;
        }
        let mut hidden = false;
        let ray = RayBox::new(&origin, towards);
        self.bvh.for_each_along(&ray, distance, |item, limit| {
            hidden |= self.bounded[item as usize].hides(visuals, &origin, towards, limit);
            // A negative limit ends the traversal.
            if hidden { -1.0 } else { limit }
        });
        !hidden
    }
}

impl Occluder {
    fn hides<'a>(
        &self,
        visuals: &impl Fn(usize) -> (&'a Visual, Option<&'a PoseInCamera>),
        origin: &Vector3<f64>,
        towards: &Vector3<f64>,
        limit: f64,
    ) -> bool {
        if limit < 0.0 {
            return false;
        }
        let (visual, object) = visuals(self.number);
        match &visual.form {
            VisualForm::Shape { shape, .. } => {
                first_crossing(shape, &self.x_cg, origin, towards, limit)
                    .is_ok_and(|crossing| crossing.is_some())
            }
            VisualForm::Mesh(_) => visual.occluder.as_ref().is_some_and(|triangles| {
                object.is_some_and(|object| {
                    let o = object.r.tr_mul(&(origin - object.p));
                    let hit = triangles.first_hit(&o, &object.r.tr_mul(towards), limit);
                    hit.is_some()
                })
            }),
        }
    }
}

/// Returns the centre and half the size of a form's bounding box (m); `None` if it is unbounded.
fn half_size(form: &VisualForm) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let centered = |half| Some((Vector3::zeros(), half));
    let along = |radius: f64, z: f64| centered(Vector3::new(radius, radius, z));
    match form {
        VisualForm::Mesh(mesh) => {
            let [low, high] = mesh.bounds.map(|p| p.coords);
            Some(((low + high) / 2.0, (high - low) / 2.0))
        }
        VisualForm::Shape { shape, .. } => match shape {
            Shape::Sphere(s) => centered(Vector3::repeat(s.radius())),
            Shape::Ellipsoid(s) => centered(s.semi_axes()),
            Shape::Box(s) => centered(s.half_size()),
            Shape::Cylinder(s) => along(s.radius(), 0.5 * s.length()),
            Shape::Capsule(s) => along(s.radius(), 0.5 * s.length() + s.radius()),
            _ => None,
        },
    }
}
