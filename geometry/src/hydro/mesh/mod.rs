//! Tessellations of shapes that conform to their medial axes.

mod capsule;
mod cuboid;
mod cylinder;
mod ellipsoid;
mod hull;
mod tessellation;
mod volume;

pub(super) use self::capsule::capsule;
pub(super) use self::cuboid::cuboid;
pub(super) use self::cylinder::cylinder;
pub(super) use self::ellipsoid::ellipsoid;
pub(super) use self::hull::hull;
pub(super) use self::tessellation::Tessellation;
pub(super) use self::volume::pressure_of_volume;
