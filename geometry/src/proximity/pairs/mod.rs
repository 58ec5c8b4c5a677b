//! Pairs of points, segments, boxes and half spaces: each has a kernel that decides which features
//! are active.

mod box_box;
mod capsule_box;
mod capsule_capsule;
mod half_space;
mod separated_boxes;
mod separating_axis;
mod sphere_box;
mod sphere_capsule;
mod sphere_sphere;

pub(super) use self::box_box::box_box_features;
pub(super) use self::capsule_box::capsule_box_features;
pub(super) use self::capsule_capsule::capsule_capsule_features;
pub(super) use self::half_space::half_space_features;
pub(super) use self::sphere_box::sphere_box_features;
pub(super) use self::sphere_capsule::sphere_capsule_features;
pub(super) use self::sphere_sphere::sphere_sphere_distance;
