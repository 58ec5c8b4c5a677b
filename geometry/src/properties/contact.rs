//! Values of contact properties.

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
    /// What geometry of a model file without coefficients gets, as in Drake.
    pub const DEFAULT: Self = Self {
        static_friction: 1.0,
        dynamic_friction: 1.0,
    };

    /// Both coefficients.
    ///
    /// # Errors
    /// If one is negative or not finite, or the dynamic one is the larger.
    pub fn new(static_friction: f64, dynamic_friction: f64) -> Result<Self> {
        let valid = dynamic_friction >= 0.0
            && static_friction >= dynamic_friction
            && static_friction.is_finite();
        if !valid {
            return Err(Error::invalid(format!(
                "static friction {static_friction} and dynamic friction {dynamic_friction}; finite \
                 values of at least 0, the static one not below the dynamic one, are expected"
            )));
        }
        Ok(Self {
            static_friction,
            dynamic_friction,
        })
    }
    /// Static coefficient.
    pub fn static_friction(&self) -> f64 {
        self.static_friction
    }
    /// Dynamic coefficient.
    pub fn dynamic_friction(&self) -> f64 {
        self.dynamic_friction
    }
}

/// How a geometry takes part in hydroelastic contact (Drake's `HydroelasticType`); the proximity
/// property `("hydroelastic", "compliance_type")`.
///
/// ```
/// use tarragon_geometry::{HydroelasticType, ProximityProperties};
/// let mut p = ProximityProperties::new();
/// p.set("hydroelastic", "compliance_type", HydroelasticType::Compliant);
/// let found = p.get::<HydroelasticType>("hydroelastic", "compliance_type")?;
/// assert_eq!(*found, HydroelasticType::Compliant);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HydroelasticType {
    /// Not at all.
    #[default]
    Undefined,
    /// Infinitely stiff.
    Rigid,
    /// With a finite modulus.
    Compliant,
}
