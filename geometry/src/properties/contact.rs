//! Types of contact property values.

use super::checks::HYDROELASTIC;
use crate::error::{Error, Result};
use std::str::FromStr;

/// Static and dynamic coefficient of friction (Drake's `CoulombFriction`); the proximity property
/// `("material", "coulomb_friction")`.
///
/// ```
/// use tarragon_geometry::CoulombFriction;
/// let rubber = CoulombFriction::new(1.0, 0.8)?;
/// assert_eq!((rubber.static_friction(), rubber.dynamic_friction()), (1.0, 0.8));
/// assert!(CoulombFriction::new(0.8, 1.0).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoulombFriction {
    static_friction: f64,
    dynamic_friction: f64,
}

impl CoulombFriction {
    /// Default for geometry in a model file that gives no coefficients, as in Drake.
    pub const DEFAULT: Self = Self {
        static_friction: 1.0,
        dynamic_friction: 1.0,
    };

    /// Creates the pair from both coefficients.
    ///
    /// # Errors
    /// Returns an error if a coefficient is negative or not finite, or if the dynamic one is larger
    /// than the static one.
    pub fn new(static_friction: f64, dynamic_friction: f64) -> Result<Self> {
        let valid = dynamic_friction >= 0.0
            && static_friction >= dynamic_friction
            && static_friction.is_finite();
        if !valid {
            return Err(Error::invalid(format!(
                "friction coefficients must be finite and at least 0, the dynamic one not above \
                 the static one, got static friction {static_friction:?} and dynamic friction {dynamic_friction:?}"
            )));
        }
        Ok(Self {
            static_friction,
            dynamic_friction,
        })
    }
    /// Returns the static coefficient.
    pub fn static_friction(&self) -> f64 {
        self.static_friction
    }
    /// Returns the dynamic coefficient.
    pub fn dynamic_friction(&self) -> f64 {
        self.dynamic_friction
    }
}

/// Part that a geometry takes in hydroelastic contact (Drake's `HydroelasticType`); the proximity
/// property `("hydroelastic", "compliance_type")`.
///
/// ```
/// use tarragon_geometry::{HydroelasticType, ProximityProperties};
/// let p = ProximityProperties::new().with_compliant_hydroelastic(1e6)?;
/// let found = p.get::<HydroelasticType>("hydroelastic", "compliance_type")?;
/// assert_eq!(*found, HydroelasticType::Compliant);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HydroelasticType {
    /// Takes no part in hydroelastic contact.
    #[default]
    Undefined,
    /// Is infinitely stiff.
    Rigid,
    /// Has a finite modulus.
    Compliant,
}

/// Size of the polyhedra that stand for spheres, ellipsoids, cylinders and capsules in hydroelastic
/// contact; the proximity property `("hydroelastic", "tessellation")`. Drake has only the default.
///
/// ```
/// use tarragon_geometry::{HydroelasticTessellation, ProximityProperties};
/// let p = ProximityProperties::new().with_equal_volume_tessellation();
/// let found = p.get::<HydroelasticTessellation>("hydroelastic", "tessellation")?;
/// assert_eq!(*found, "equal_volume".parse()?);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HydroelasticTessellation {
    /// Vertices lie on the shape, so that the polyhedron is smaller.
    #[default]
    Inscribed,
    /// The polyhedron has the volume of the shape, so that the error of contact forces is smaller.
    EqualVolume,
}

impl FromStr for HydroelasticTessellation {
    type Err = Error;
    /// Parses a tessellation.
    ///
    /// # Errors
    /// Returns an error if the word is not `inscribed` or `equal_volume`.
    fn from_str(word: &str) -> Result<Self> {
        match word {
            "inscribed" => Ok(Self::Inscribed),
            "equal_volume" => Ok(Self::EqualVolume),
            _ => Err(Error::invalid(format!(
                "property ('{HYDROELASTIC}', 'tessellation') must be 'inscribed' or 'equal_volume', \
                 got '{word}'"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_tessellation_is_an_error_that_names_the_property() {
        let inscribed: HydroelasticTessellation = "inscribed".parse().unwrap();
        assert_eq!(inscribed, HydroelasticTessellation::default());
        let error = "exact".parse::<HydroelasticTessellation>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "property ('hydroelastic', 'tessellation') must be 'inscribed' or 'equal_volume', got \
             'exact'"
        );
    }
}
