//! Shapes defined by a few lengths.

use crate::error::{Error, Result};
use nalgebra::{Isometry3, Unit, Vector3};
use tarragon_framework::math;

/// Checks and returns one length (m) of a shape.
fn length(shape: &str, name: &str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::invalid(format!(
            "{shape}: {name} must be positive and finite, got {value:?} m"
        )))
    }
}

/// Sphere centred at the origin.
///
/// ```
/// use tarragon_geometry::Sphere;
/// assert_eq!(Sphere::new(0.5)?.radius(), 0.5);
/// assert!(Sphere::new(0.0).is_ok() && Sphere::new(-0.5).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    radius: f64,
}

impl Sphere {
    /// Creates a sphere of `radius` (m). A radius of zero makes a point, as in Drake.
    ///
    /// # Errors
    /// Returns an error if the radius is negative or not finite.
    pub fn new(radius: f64) -> Result<Self> {
        if radius == 0.0 {
            return Ok(Self { radius });
        }
        Ok(Self {
            radius: length("Sphere", "radius", radius)?,
        })
    }
    /// Returns the radius (m).
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

/// Rectangular box centred at the origin, with edges along the axes (Drake's `Box`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::BoxShape;
/// let brick = BoxShape::new(0.2, 0.1, 0.05)?;
/// assert_eq!(brick.half_size(), Vector3::new(0.1, 0.05, 0.025));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxShape {
    size: Vector3<f64>,
}

impl BoxShape {
    /// Creates a box with the full edge lengths `width` (x), `depth` (y) and `height` (z), in
    /// metres.
    ///
    /// # Errors
    /// Returns an error if an edge is not positive and finite.
    pub fn new(width: f64, depth: f64, height: f64) -> Result<Self> {
        Ok(Self {
            size: Vector3::new(
                length("Box", "width", width)?,
                length("Box", "depth", depth)?,
                length("Box", "height", height)?,
            ),
        })
    }
    /// Returns the full edge lengths (m).
    pub fn size(&self) -> Vector3<f64> {
        self.size
    }
    /// Returns half of the edge lengths (m).
    pub fn half_size(&self) -> Vector3<f64> {
        self.size * 0.5
    }
}

/// Defines a shape with a radius and a length along z; `$length_doc` says what the length measures.
macro_rules! radius_and_length {
    ($(#[$doc:meta])* $name:ident, $length_doc:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            radius: f64,
            length: f64,
        }

        impl $name {
            /// Creates the shape from `radius` and `length` (m).
            ///
            /// # Errors
            /// Returns an error if a length is not positive and finite.
            pub fn new(radius: f64, length: f64) -> Result<Self> {
                Ok(Self {
                    radius: self::length(stringify!($name), "radius", radius)?,
                    length: self::length(stringify!($name), "length", length)?,
                })
            }
            /// Returns the radius (m).
            pub fn radius(&self) -> f64 {
                self.radius
            }
            #[doc = $length_doc]
            pub fn length(&self) -> f64 {
                self.length
            }
        }
    };
}
radius_and_length!(
    /// Capsule: all points within `radius` of a segment of `length` along z that is centred at the
    /// origin.
    ///
    /// ```
    /// use tarragon_geometry::Capsule;
    /// let finger = Capsule::new(0.01, 0.05)?;
    /// assert_eq!(finger.length() + 2.0 * finger.radius(), 0.07); // from end to end
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Capsule,
    "Returns the length of the segment (m), without the caps."
);
radius_and_length!(
    /// Cylinder along z, centred at the origin.
    ///
    /// ```
    /// use tarragon_geometry::{Cylinder, Shape};
    /// let wheel = Cylinder::new(0.3, 0.1)?;
    /// assert_eq!((wheel.radius(), wheel.length()), (0.3, 0.1));
    /// assert_eq!(Shape::from(wheel).type_name(), "Cylinder");
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Cylinder,
    "Returns the height along z (m)."
);

/// Ellipsoid centred at the origin, with semi-axes a, b, c along x, y, z.
///
/// ```
/// use tarragon_geometry::Ellipsoid;
/// let egg = Ellipsoid::new(0.02, 0.02, 0.03)?;
/// assert_eq!(egg.semi_axes().max(), 0.03);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    semi_axes: Vector3<f64>,
}

impl Ellipsoid {
    /// Creates an ellipsoid with the semi-axes `a` (x), `b` (y) and `c` (z), in metres.
    ///
    /// # Errors
    /// Returns an error if a length is not positive and finite.
    pub fn new(a: f64, b: f64, c: f64) -> Result<Self> {
        Ok(Self {
            semi_axes: Vector3::new(
                length("Ellipsoid", "a", a)?,
                length("Ellipsoid", "b", b)?,
                length("Ellipsoid", "c", c)?,
            ),
        })
    }
    /// Returns the semi-axes (m).
    pub fn semi_axes(&self) -> Vector3<f64> {
        self.semi_axes
    }
}

/// Half space z <= 0. Its boundary plane is z = 0 and its outward normal is +z.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use tarragon_geometry::HalfSpace;
/// let wall = HalfSpace::make_pose(&-Vector3::x(), &Vector3::new(2.0, 0.0, 0.0))?; // all of x >= 2
/// assert!((wall.inverse() * Point3::new(5.0, 1.0, 1.0)).z < 0.0);
/// assert!((wall.inverse() * Point3::new(1.0, 1.0, 1.0)).z > 0.0);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HalfSpace;

impl HalfSpace {
    /// Returns the pose `X_FH` of a half space with outward normal `normal_f` whose boundary passes
    /// through `point_f` (m), both in frame F.
    ///
    /// # Errors
    /// Returns an error if the normal is too short to have a direction.
    pub fn make_pose(normal_f: &Vector3<f64>, point_f: &Vector3<f64>) -> Result<Isometry3<f64>> {
        let normal = Unit::try_new(*normal_f, 1e-10).ok_or_else(|| {
            Error::invalid(format!(
                "HalfSpace::make_pose: normal must be a finite vector longer than 1e-10, got \
                 {:?}",
                normal_f.as_slice()
            ))
        })?;
        let r_fh = math::rotation_between(&Vector3::z_axis(), &normal);
        let p_foho_f = normal.into_inner() * normal.dot(point_f);
        Ok(math::pose(r_fh, p_foho_f))
    }
}

/// Cone with its apex at the origin, widening towards +z: sqrt(x^2/a^2 + y^2/b^2) <= z/height for z
/// from 0 to `height`.
///
/// Only Meshcat shows it. Render engines and proximity queries ignore it, as Drake's do, whatever
/// its roles.
///
/// ```
/// use tarragon_geometry::MeshcatCone;
/// let arrow_head = MeshcatCone::new(0.1, 0.02, 0.02)?;
/// assert_eq!((arrow_head.height(), arrow_head.a(), arrow_head.b()), (0.1, 0.02, 0.02));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshcatCone {
    height: f64,
    a: f64,
    b: f64,
}

impl MeshcatCone {
    /// Creates a cone of `height` (m) whose base, at z = height, has the semi-axes `a` along x and
    /// `b` along y (m).
    ///
    /// # Errors
    /// Returns an error if a length is not positive and finite.
    pub fn new(height: f64, a: f64, b: f64) -> Result<Self> {
        Ok(Self {
            height: length("MeshcatCone", "height", height)?,
            a: length("MeshcatCone", "a", a)?,
            b: length("MeshcatCone", "b", b)?,
        })
    }
    /// Returns the height along z (m).
    pub fn height(&self) -> f64 {
        self.height
    }
    /// Returns the semi-axis of the base along x (m).
    pub fn a(&self) -> f64 {
        self.a
    }
    /// Returns the semi-axis of the base along y (m).
    pub fn b(&self) -> f64 {
        self.b
    }
}
