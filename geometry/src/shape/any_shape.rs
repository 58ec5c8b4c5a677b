//! The enum of all shapes.

use super::height_field::HeightField;
use super::mesh_shapes::{Convex, Mesh};
use super::primitives::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, MeshcatCone, Sphere};

/// Shape of a geometry.
///
/// ```
/// use tarragon_geometry::{Shape, Sphere};
/// let ball: Shape = Sphere::new(0.1)?.into();
/// assert!(matches!(ball, Shape::Sphere(s) if s.radius() == 0.1));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Rectangular box.
    Box(BoxShape),
    /// Cylinder with spherical caps.
    Capsule(Capsule),
    /// Convex hull of a mesh from a file or from memory.
    Convex(Convex),
    /// Right circular cylinder.
    Cylinder(Cylinder),
    /// Ellipsoid.
    Ellipsoid(Ellipsoid),
    /// Half space z <= 0.
    HalfSpace(HalfSpace),
    /// Heights on a grid, with a base.
    HeightField(HeightField),
    /// Mesh from a file or from memory.
    Mesh(Mesh),
    /// Cone; only Meshcat shows it.
    MeshcatCone(MeshcatCone),
    /// Sphere.
    Sphere(Sphere),
}

impl Shape {
    /// Returns the name of the type, as Drake spells it if it has one: `Box`, `HalfSpace`, ...
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Box(_) => "Box",
            Self::Capsule(_) => "Capsule",
            Self::Convex(_) => "Convex",
            Self::Cylinder(_) => "Cylinder",
            Self::Ellipsoid(_) => "Ellipsoid",
            Self::HalfSpace(_) => "HalfSpace",
            Self::HeightField(_) => "HeightField",
            Self::Mesh(_) => "Mesh",
            Self::MeshcatCone(_) => "MeshcatCone",
            Self::Sphere(_) => "Sphere",
        }
    }
}

macro_rules! into_shape {
    ($($variant:ident($t:ident)),*) => {$(
        impl From<$t> for Shape {
            fn from(shape: $t) -> Self {
                Shape::$variant(shape)
            }
        }
    )*};
}
into_shape!(
    Box(BoxShape),
    Capsule(Capsule),
    Convex(Convex),
    Cylinder(Cylinder),
    Ellipsoid(Ellipsoid),
    HalfSpace(HalfSpace),
    HeightField(HeightField),
    Mesh(Mesh),
    MeshcatCone(MeshcatCone),
    Sphere(Sphere)
);
