//! Shapes, their bounding boxes and their mass properties.
//!
//! Every shape is defined in its own frame G, in metres, with Drake's conventions: cylinders,
//! capsules and similar shapes have their axis along +z and their centre at the origin; a half
//! space is the set z <= 0. Constructors check the dimensions, so a `Shape` is always valid.

mod aabb;
mod any_shape;
mod height_field;
mod mass_properties;
mod mesh_shapes;
mod obb;
mod primitives;
mod projected_texture;

pub use self::aabb::Aabb;
pub use self::any_shape::Shape;
pub use self::height_field::HeightField;
pub use self::mass_properties::{MassProperties, calc_mass_properties, calc_volume};
pub use self::mesh_shapes::{Convex, Mesh};
pub use self::obb::{Obb, calc_obb};
pub use self::primitives::{
    BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, MeshcatCone, Sphere,
};
pub use self::projected_texture::ProjectedTexture;
pub(crate) use self::projected_texture::{face_of, place_in};
