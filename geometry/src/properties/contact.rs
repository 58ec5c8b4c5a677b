//! Types of contact property values.

use crate::error::{Error, Result};

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
