//! Functions that check and add properties that belong together.

use super::{
    CoulombFriction, GeometryProperties, HydroelasticType, IllustrationProperties,
    ProximityProperties,
};
use crate::error::{Error, Result};
use crate::rgba::Rgba;

pub(crate) const MATERIAL: &str = "material";
pub(crate) const HYDROELASTIC: &str = "hydroelastic";

/// Checks that a value is positive; infinity is allowed, as for a stiffness.
pub(crate) fn check_positive(name: &str, value: f64) -> Result<()> {
    check(value > 0.0, name, value, "positive")
}
/// Checks that a value is positive and finite, as for a length.
pub(crate) fn check_positive_finite(name: &str, value: f64) -> Result<()> {
    let valid = value > 0.0 && value.is_finite();
    check(valid, name, value, "positive and finite")
}
/// Checks that a value is at least 0; infinity is allowed.
pub(crate) fn check_not_negative(name: &str, value: f64) -> Result<()> {
    check(value >= 0.0, name, value, "at least 0")
}
/// Checks that a value is finite and at least 0.
pub(crate) fn check_not_negative_finite(name: &str, value: f64) -> Result<()> {
    let valid = value >= 0.0 && value.is_finite();
    check(valid, name, value, "finite and at least 0")
}
fn check(valid: bool, name: &str, value: f64, expected: &str) -> Result<()> {
    if valid {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{name} must be {expected}, got {value:?}"
    )))
}

/// Adds those of the properties of point contact that are given (Drake's `AddContactMaterial`):
/// `hunt_crossley_dissipation` (s/m), `point_contact_stiffness` (N/m) and `coulomb_friction` of the
/// group `material`.
///
/// ```
/// use tarragon_geometry::{CoulombFriction, ProximityProperties, add_contact_material};
/// let mut p = ProximityProperties::new();
/// add_contact_material(Some(0.5), None, Some(CoulombFriction::new(1.0, 0.8)?), &mut p)?;
/// assert_eq!(*p.get::<f64>("material", "hunt_crossley_dissipation")?, 0.5);
/// assert!(!p.has("material", "point_contact_stiffness"));
/// assert!(add_contact_material(Some(0.5), None, None, &mut p).is_err()); // it exists already
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the dissipation is negative, the stiffness is not positive, or a given
/// property exists already. Nothing is added in that case.
pub fn add_contact_material(
    dissipation: Option<f64>,
    point_stiffness: Option<f64>,
    friction: Option<CoulombFriction>,
    properties: &mut ProximityProperties,
) -> Result<()> {
    const DISSIPATION: &str = "hunt_crossley_dissipation";
    const STIFFNESS: &str = "point_contact_stiffness";
    let mut new = properties.clone();
    if let Some(dissipation) = dissipation {
        check_not_negative(DISSIPATION, dissipation)?;
        new.add(MATERIAL, DISSIPATION, dissipation)?;
    }
    if let Some(stiffness) = point_stiffness {
        check_positive(STIFFNESS, stiffness)?;
        new.add(MATERIAL, STIFFNESS, stiffness)?;
    }
    if let Some(friction) = friction {
        new.add(MATERIAL, "coulomb_friction", friction)?;
    }
    *properties = new;
    Ok(())
}

/// Marks a geometry as rigid for hydroelastic contact (Drake's `AddRigidHydroelasticProperties`).
/// `resolution_hint` is the edge length (m) of tessellated shapes; boxes, half spaces and meshes
/// need none.
///
/// ```
/// use tarragon_geometry::{ProximityProperties, add_rigid_hydroelastic_properties};
/// let mut p = ProximityProperties::new();
/// add_rigid_hydroelastic_properties(Some(0.01), &mut p)?;
/// assert_eq!(*p.get::<f64>("hydroelastic", "resolution_hint")?, 0.01);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the hint is not positive and finite, or one of the properties exists
/// already. Nothing is added then.
pub fn add_rigid_hydroelastic_properties(
    resolution_hint: Option<f64>,
    properties: &mut ProximityProperties,
) -> Result<()> {
    let lengths = resolution_hint.map(|hint| ("resolution_hint", hint));
    add_hydroelastic(HydroelasticType::Rigid, lengths, None, properties)
}

/// Marks a geometry as compliant for hydroelastic contact (Drake's
/// `AddCompliantHydroelasticProperties`), with the edge length of its tessellation (m) and the
/// modulus (Pa).
///
/// ```
/// use tarragon_geometry::{ProximityProperties, add_compliant_hydroelastic_properties};
/// let mut p = ProximityProperties::new();
/// add_compliant_hydroelastic_properties(0.01, 1e6, &mut p)?;
/// assert_eq!(*p.get::<f64>("hydroelastic", "hydroelastic_modulus")?, 1e6);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the hint is not positive and finite, the modulus is not positive, or one of
/// the properties exists already. Nothing is added in that case.
pub fn add_compliant_hydroelastic_properties(
    resolution_hint: f64,
    hydroelastic_modulus: f64,
    properties: &mut ProximityProperties,
) -> Result<()> {
    let lengths = Some(("resolution_hint", resolution_hint));
    let modulus = Some(hydroelastic_modulus);
    add_hydroelastic(HydroelasticType::Compliant, lengths, modulus, properties)
}

/// Marks a half space as compliant for hydroelastic contact (Drake's
/// `AddCompliantHydroelasticPropertiesForHalfSpace`), with the thickness of the compliant layer (m)
/// and the modulus (Pa).
///
/// ```
/// use tarragon_geometry::*;
/// let mut p = ProximityProperties::new();
/// add_compliant_hydroelastic_properties_for_half_space(0.1, 1e6, &mut p)?;
/// assert_eq!(*p.get::<f64>("hydroelastic", "slab_thickness")?, 0.1);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the thickness is not positive and finite, the modulus is not positive, or
/// one of the properties exists already. Nothing is added in that case.
pub fn add_compliant_hydroelastic_properties_for_half_space(
    slab_thickness: f64,
    hydroelastic_modulus: f64,
    properties: &mut ProximityProperties,
) -> Result<()> {
    let lengths = Some(("slab_thickness", slab_thickness));
    let modulus = Some(hydroelastic_modulus);
    add_hydroelastic(HydroelasticType::Compliant, lengths, modulus, properties)
}

fn add_hydroelastic(
    kind: HydroelasticType,
    length: Option<(&str, f64)>,
    modulus: Option<f64>,
    properties: &mut ProximityProperties,
) -> Result<()> {
    let mut new: GeometryProperties = (**properties).clone();
    if let Some((name, length)) = length {
        check_positive_finite(name, length)?;
        new.add(HYDROELASTIC, name, length)?;
    }
    if let Some(modulus) = modulus {
        check_positive("hydroelastic_modulus", modulus)?;
        new.add(HYDROELASTIC, "hydroelastic_modulus", modulus)?;
    }
    new.add(HYDROELASTIC, "compliance_type", kind)?;
    *properties = new.into();
    Ok(())
}

/// Creates illustration properties with the colour `("phong", "diffuse")` (Drake's
/// `MakePhongIllustrationProperties`).
///
/// ```
/// use tarragon_geometry::{Rgba, make_phong_illustration_properties};
/// let p = make_phong_illustration_properties(Rgba::WHITE);
/// assert_eq!(p.get::<Rgba>("phong", "diffuse")?, &Rgba::WHITE);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn make_phong_illustration_properties(diffuse: Rgba) -> IllustrationProperties {
    IllustrationProperties::with_color(diffuse)
}
