//! Tessellations of shapes that conform to their medial axes.

mod capsule;
mod check;
mod cuboid;
mod cylinder;
mod displacement;
mod ellipsoid;
mod hull;
mod inflate;
mod tessellate;
mod tessellation;
mod volume;

pub(super) use self::check::check_closed_and_oriented;
pub(super) use self::hull::{hull, offset_hull};
pub(super) use self::inflate::inflate;
pub(super) use self::tessellate::tessellate;
pub(super) use self::tessellation::Tessellation;
pub(crate) use self::volume::distances_from_boundary;
pub(super) use self::volume::{
    are_on_boundary, oriented, pressure_of_volume, warn_of_tetrahedra_on_boundary, without_inverted,
};
