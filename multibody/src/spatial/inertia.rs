//! Mass, centre of mass and rotational inertia.

use crate::error::{Error, Result};
use nalgebra::{Isometry3, Matrix3, SymmetricEigen, Vector3};
use std::f64::consts::PI;

/// Tolerance of the validity tests relative to the largest moment, as generous as Drake's
/// `CouldBePhysicallyValid`: inertias in files are often rounded to a few digits.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// Density (kg/m^3) of the sphere whose inertia replaces a physically impossible one.
const PLAUSIBLE_DENSITY: f64 = 1000.0;

/// Mass properties of a body B about its origin Bo, expressed in B (Drake's `M_BBo_B`).
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use tarragon_multibody::SpatialInertia;
/// let i_bbcm = Matrix3::from_diagonal(&Vector3::repeat(0.01));
/// let m = SpatialInertia::from_central(2.0, Vector3::new(0.0, 0.0, 0.5), i_bbcm)?;
/// assert_eq!(m.rotational_inertia()[(0, 0)], 0.01 + 2.0 * 0.25); // about Bo: parallel axes
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialInertia {
    mass: f64,
    p_bobcm_b: Vector3<f64>,
    i_bbo_b: Matrix3<f64>,
}

impl SpatialInertia {
    /// Returns zero mass and zero inertia.
    pub fn zero() -> Self {
        Self {
            mass: 0.0,
            p_bobcm_b: Vector3::zeros(),
            i_bbo_b: Matrix3::zeros(),
        }
    }

    /// Creates mass properties from the mass (kg), the centre of mass `p_BoBcm_B` (m) and the
    /// rotational inertia about the centre of mass `I_BBcm_B` (kg m^2).
    ///
    /// # Errors
    /// Returns an error if a number is not finite, the mass is negative, or no body can have such
    /// an inertia (negative or triangle-violating principal moments); the message holds the
    /// numbers.
    pub fn from_central(
        mass: f64,
        p_bobcm_b: Vector3<f64>,
        i_bbcm_b: Matrix3<f64>,
    ) -> Result<Self> {
        if !(mass >= 0.0 && mass.is_finite()) {
            return Err(Error::invalid(format!(
                "the mass must be finite and at least 0, got {mass:?} kg"
            )));
        }
        if p_bobcm_b.iter().any(|x| !x.is_finite()) {
            return Err(Error::invalid(format!(
                "the centre of mass must be finite, got {:?} m",
                p_bobcm_b.as_slice()
            )));
        }
        check_rotational(&i_bbcm_b)?;
        let p = p_bobcm_b;
        let shift = Matrix3::from_diagonal_element(p.norm_squared()) - p * p.transpose();
        Ok(Self {
            mass,
            p_bobcm_b,
            i_bbo_b: i_bbcm_b + shift * mass,
        })
    }

    /// Returns the inertia of a solid sphere of water of `mass` (kg), or of 1 kg if the mass is not
    /// positive and finite. The parsers use it in place of an impossible inertia, as Drake's do.
    ///
    /// # Errors
    /// Returns an error if the centre of mass is not finite.
    pub fn plausible(mass: f64, p_bobcm_b: Vector3<f64>) -> Result<Self> {
        let mass = if mass > 0.0 && mass.is_finite() {
            mass
        } else {
            1.0
        };
        let radius = (mass / PLAUSIBLE_DENSITY * 3.0 / (4.0 * PI)).cbrt();
        let moment = 0.4 * mass * radius * radius;
        Self::from_central(mass, p_bobcm_b, Matrix3::from_diagonal_element(moment))
    }

    /// Returns the mass properties of a body with another density.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            mass: self.mass * factor,
            p_bobcm_b: self.p_bobcm_b,
            i_bbo_b: self.i_bbo_b * factor,
        }
    }

    /// Returns the mass (kg).
    pub fn mass(&self) -> f64 {
        self.mass
    }
    /// Returns the centre of mass `p_BoBcm_B` (m).
    pub fn center_of_mass(&self) -> Vector3<f64> {
        self.p_bobcm_b
    }
    /// Returns the rotational inertia about Bo, `I_BBo_B` (kg m^2).
    pub fn rotational_inertia(&self) -> Matrix3<f64> {
        self.i_bbo_b
    }
}

/// Expresses in B a rotational inertia given in frame Bi by its moments `[xx, yy, zz]` and products
/// `[xy, xz, yz]`.
pub fn rotational_inertia(
    moments: [f64; 3],
    products: [f64; 3],
    x_bbi: &Isometry3<f64>,
) -> Matrix3<f64> {
    let [xx, yy, zz] = moments;
    let [xy, xz, yz] = products;
    let i_bi = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let r = x_bbi.rotation.to_rotation_matrix();
    let i_b = r * i_bi * r.inverse();
    // Rounding leaves the product slightly asymmetric.
    (i_b + i_b.transpose()) * 0.5
}

/// Checks that a body can have this inertia about its centre of mass.
///
/// # Errors
/// Returns an error if a number is not finite, a principal moment is negative, or one is larger
/// than the sum of the others.
pub fn check_rotational(i: &Matrix3<f64>) -> Result<()> {
    let describe = || {
        format!(
            "ixx={:?}, iyy={:?}, izz={:?}, ixy={:?}, ixz={:?}, iyz={:?}",
            i[(0, 0)],
            i[(1, 1)],
            i[(2, 2)],
            i[(0, 1)],
            i[(0, 2)],
            i[(1, 2)]
        )
    };
    if i.iter().any(|x| !x.is_finite()) {
        return Err(Error::invalid(format!(
            "the rotational inertia (kg m^2) must be finite, got {}",
            describe()
        )));
    }
    let mut m = SymmetricEigen::new(*i).eigenvalues;
    m.as_mut_slice().sort_by(f64::total_cmp);
    let slack = SLACK * m.amax();
    if m[0] < -slack || m[0] + m[1] < m[2] - slack {
        return Err(Error::invalid(format!(
            "the principal moments of the rotational inertia must not be negative, and none \
             larger than the sum of the others, got {1:?} kg m^2 from {0}",
            describe(),
            m.as_slice()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_inertias_are_rejected_with_their_numbers() {
        let e = check_rotational(&Matrix3::from_diagonal(&Vector3::new(0.01, 0.01, 0.05)));
        let e = e.unwrap_err().to_string();
        assert!(e.contains("izz=0.05"), "{e}");
        assert!(check_rotational(&Matrix3::from_diagonal_element(-1.0)).is_err());
        assert!(check_rotational(&Matrix3::from_diagonal_element(f64::NAN)).is_err());
        // A thin rod is exactly on the boundary.
        assert!(check_rotational(&Matrix3::from_diagonal(&Vector3::new(0.3, 0.3, 0.0))).is_ok());
    }

    #[test]
    fn mass_must_be_finite_and_not_negative() {
        for mass in [-1.0, f64::NAN, f64::INFINITY] {
            let m = SpatialInertia::from_central(mass, Vector3::zeros(), Matrix3::identity());
            assert!(m.is_err(), "{mass}");
        }
    }

    #[test]
    fn inertia_turns_with_its_frame() {
        let x_bbi = tarragon_framework::math::pose(
            tarragon_framework::math::rotation_z(std::f64::consts::FRAC_PI_2),
            Vector3::zeros(),
        );
        let i = rotational_inertia([1.0, 2.0, 2.5], [0.1, 0.0, 0.0], &x_bbi);
        assert!((i[(0, 0)] - 2.0).abs() < 1e-15 && (i[(1, 1)] - 1.0).abs() < 1e-15);
        assert!((i[(0, 1)] + 0.1).abs() < 1e-15);
    }
}
