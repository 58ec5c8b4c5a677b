//! Material and damping of a deformable body.

use std::ops::RangeInclusive;
use tarragon_framework::{Error, Result, Scalar};

/// Constitutive model of a deformable body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MaterialModel {
    /// Stress linear in the small strain; not invariant under rotation.
    Linear,
    /// Linear in the frame of each element's rotation at the start of the step, so that a step is
    /// one linear solve.
    #[default]
    LinearCorotated,
    /// Stress linear in the stretch, with a penalty on the change of volume (Stomakhin 2012).
    Corotated,
    /// Stable neo-Hookean model (Smith 2018), whose stress is smooth for inverted elements too.
    NeoHookean,
}

/// Parameters of a deformable body, with Drake's names and defaults.
///
/// ```
/// use tarragon_fem::{DeformableBodyConfig, MaterialModel};
/// let rubber = DeformableBodyConfig {
///     youngs_modulus: 1e6,
///     material_model: MaterialModel::NeoHookean,
///     ..Default::default()
/// };
/// assert!(rubber.check("ball").is_ok());
/// let liquid = DeformableBodyConfig { poissons_ratio: 0.5, ..rubber };
/// let error = liquid.check("ball").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "ball: Poisson's ratio must be greater than -1 and less than 0.5, got 0.5"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeformableBodyConfig {
    /// Young's modulus (Pa).
    pub youngs_modulus: f64,
    /// Poisson's ratio, between -1 and 0.5.
    pub poissons_ratio: f64,
    /// Mass density in the reference configuration (kg/m³).
    pub mass_density: f64,
    /// Coefficient of the mass in the damping (1/s).
    pub mass_damping_coefficient: f64,
    /// Coefficient of the stiffness in the damping (s).
    pub stiffness_damping_coefficient: f64,
    /// Constitutive model.
    pub material_model: MaterialModel,
    /// Number of times that each element is divided into four per subdivision for the evaluation
    /// of force densities, from 0 to 4.
    pub element_subdivision_count: u32,
    /// Uses `lambda + mu` in place of `lambda` in the neo-Hookean model, so that small strains
    /// follow Young's modulus and Poisson's ratio (Smith 2018, section 3.4). Drake does not, and
    /// its neo-Hookean bodies are softer than their modulus says.
    pub reparametrize_neo_hookean: bool,
    /// Size of the unbalanced forces, relative to that at the start of a step, at which steps of
    /// the nonlinear models end, from 1e-12 to 0.1. Drake's is 1e-2, which takes up to two fifths
    /// less time. Derivatives of a step are only as accurate as the step; from 1e-8 on, so are
    /// those of its response to contact and fixed vertices, by one more factorization.
    pub relative_tolerance: f64,
}

impl Default for DeformableBodyConfig {
    fn default() -> Self {
        Self {
            youngs_modulus: 1e8,
            poissons_ratio: 0.49,
            mass_density: 1500.0,
            mass_damping_coefficient: 0.0,
            stiffness_damping_coefficient: 0.0,
            material_model: MaterialModel::default(),
            element_subdivision_count: 0,
            reparametrize_neo_hookean: false,
            relative_tolerance: 1e-6,
        }
    }
}

/// Largest number of subdivisions.
const MAX_SUBDIVISIONS: u32 = 4;
/// Relative tolerances that rounding and convergence allow.
const TOLERANCES: RangeInclusive<f64> = 1e-12..=0.1;

impl DeformableBodyConfig {
    /// Checks that all values are in their domains.
    ///
    /// # Errors
    /// Returns an error that begins with `place` and names the first value that is not.
    pub fn check(&self, place: &str) -> Result<()> {
        let positive = [
            ("Young's modulus", self.youngs_modulus, "Pa"),
            ("mass density", self.mass_density, "kg/m³"),
        ];
        for (name, value, unit) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::invalid(format!(
                    "{place}: {name} must be positive and finite, got {value:?} {unit}"
                )));
            }
        }
        let nu = self.poissons_ratio;
        if !(nu > -1.0 && nu < 0.5) {
            return Err(Error::invalid(format!(
                "{place}: Poisson's ratio must be greater than -1 and less than 0.5, got {nu:?}"
            )));
        }
        let not_negative = [
            ("mass damping", self.mass_damping_coefficient, "1/s"),
            ("stiffness damping", self.stiffness_damping_coefficient, "s"),
        ];
        for (name, value, unit) in not_negative {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::invalid(format!(
                    "{place}: {name} must be at least 0 and finite, got {value:?} {unit}"
                )));
            }
        }
        let count = self.element_subdivision_count;
        if count > MAX_SUBDIVISIONS {
            return Err(Error::invalid(format!(
                "{place}: element subdivision count must be at most {MAX_SUBDIVISIONS}, \
                 got {count}"
            )));
        }
        let tolerance = self.relative_tolerance;
        if !TOLERANCES.contains(&tolerance) {
            return Err(Error::invalid(format!(
                "{place}: relative tolerance must be from {:?} to {:?}, got {tolerance:?}",
                TOLERANCES.start(),
                TOLERANCES.end()
            )));
        }
        Ok(())
    }

    /// Lamé's parameters as the constitutive model uses them.
    pub(crate) fn lame(&self) -> Lame {
        let [lambda, mu] = self.lame_of(self.youngs_modulus, self.poissons_ratio);
        Lame { lambda, mu }
    }

    /// Lamé's parameters lambda and mu for other moduli, in place of the own ones.
    pub(super) fn lame_of<T: Scalar>(&self, youngs_modulus: T, poissons_ratio: T) -> [T; 2] {
        let (e, nu) = (youngs_modulus, poissons_ratio);
        let (one, two) = (T::one(), T::from(2.0));
        let mu = e / (two * (one + nu));
        let mut lambda = e * nu / ((one + nu) * (one - two * nu));
        if self.reparametrize_neo_hookean && self.material_model == MaterialModel::NeoHookean {
            lambda += mu;
        }
        [lambda, mu]
    }
}

/// Lamé's parameters (Pa).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lame {
    pub(crate) lambda: f64,
    pub(crate) mu: f64,
}
