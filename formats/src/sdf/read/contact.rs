//! `drake:proximity_properties` and the friction of `<surface>`.

use super::builder::SdfBuilder;
use super::element::Element;
use crate::reading::convex_pieces::{CONVEX_PIECES, set_convex_pieces};
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{CoulombFriction, HydroelasticType, ProximityProperties};

/// Name without `drake:` of each element, group and name of its property, and whether it may be 0.
const NUMBERS: [(&str, &str, &str, bool); 6] = [
    (
        "mesh_resolution_hint",
        "hydroelastic",
        "resolution_hint",
        true,
    ),
    (
        "hydroelastic_modulus",
        "hydroelastic",
        "hydroelastic_modulus",
        true,
    ),
    ("hydroelastic_margin", "hydroelastic", "margin", true),
    (
        "hunt_crossley_dissipation",
        "material",
        "hunt_crossley_dissipation",
        true,
    ),
    ("relaxation_time", "material", "relaxation_time", true),
    (
        "point_contact_stiffness",
        "material",
        "point_contact_stiffness",
        false,
    ),
];
const KNOWN: [&str; 10] = [
    "mesh_resolution_hint",
    "hydroelastic_modulus",
    "hydroelastic_margin",
    "hunt_crossley_dissipation",
    "relaxation_time",
    "point_contact_stiffness",
    "mu_static",
    "mu_dynamic",
    "rigid_hydroelastic",
    "compliant_hydroelastic",
];

impl SdfBuilder<'_, '_> {
    /// Reads the properties of a `<collision>`; friction coefficients have defaults, as in Drake.
    pub(super) fn proximity_properties(&self, collision: &Element) -> Parsed<ProximityProperties> {
        let report = self.report;
        let mut properties = ProximityProperties::new();
        let mut friction = None;
        if let Some(element) = collision.child("drake:proximity_properties") {
            report.check_drake_children(element, &KNOWN);
            let kind = self.hydroelastic_type(element)?;
            for (tag, group, name, zero) in NUMBERS {
                let tag = format!("drake:{tag}");
                let Some(value) = report.optional_number(element, &tag)? else {
                    continue;
                };
                if value < 0.0 || (value == 0.0 && !zero) {
                    let least = if zero { "at least 0" } else { "more than 0" };
                    let message = format!("<{tag}> must be {least}, got {value:?}");
                    return Err(report.error(element, message));
                }
                if name == "hydroelastic_modulus" && kind == Some(HydroelasticType::Rigid) {
                    report.warning(element, format!("<{tag}> of a rigid geometry is ignored"));
                    continue;
                }
                properties.set_untyped(group, name, value);
            }
            if let Some(value) = report.optional_number(element, CONVEX_PIECES)? {
                set_convex_pieces(&mut properties, value).map_err(|e| report.error(element, e))?;
            }
            if let Some(kind) = kind {
                properties.set_untyped("hydroelastic", "compliance_type", kind);
            }
            let of = |tag| report.optional_number(element, tag);
            let (fixed, moving) = (of("drake:mu_static")?, of("drake:mu_dynamic")?);
            // If only one coefficient is given, it is used for both.
            if let Some(one) = fixed.or(moving) {
                let mu = CoulombFriction::new(one, moving.unwrap_or(one));
                friction = Some(mu.map_err(|e| report.error(element, e))?);
            }
        }
        let friction = match (friction, self.surface_friction(collision)) {
            (Some(friction), None) => friction,
            (Some(friction), Some((ode, ..))) => {
                let message = format!(
                    "collision '{}' has friction in <drake:proximity_properties>; that in <surface> is \
                     ignored",
                    collision.name()
                );
                report.warning(ode, message);
                friction
            }
            (None, Some((ode, fixed, moving))) => {
                let mu = CoulombFriction::new(fixed, moving.min(fixed));
                let mu = mu.map_err(|e| report.error(ode, format!("<mu> and <mu2>: {e}")))?;
                if moving > fixed {
                    let message = format!(
                        "<mu2> must be at most <mu>, got {moving:?} and {fixed:?}: friction is the \
                         same in all directions; {fixed:?} is used for static and dynamic friction"
                    );
                    report.warning_grouped(ode, message);
                }
                mu
            }
            (None, None) => CoulombFriction::DEFAULT,
        };
        Ok(properties.with_friction(friction))
    }

    /// Reads `<surface><friction><ode>`: as in Drake, `mu` is used for static and `mu2` for dynamic
    /// friction. In SDFormat, they are coefficients in two directions of sliding.
    fn surface_friction<'e>(&self, collision: &'e Element) -> Option<(&'e Element, f64, f64)> {
        let ode = collision.descendant(&["surface", "friction", "ode"])?;
        let mu = |tag: &str| ode.number(tag).unwrap_or(1.0);
        Some((ode, mu("mu"), mu("mu2")))
    }

    fn hydroelastic_type(&self, element: &Element) -> Parsed<Option<HydroelasticType>> {
        let rigid = element.child("drake:rigid_hydroelastic");
        let compliant = element.child("drake:compliant_hydroelastic");
        match (rigid, compliant) {
            (Some(second), Some(_)) => {
                let message = "a geometry must be either rigid or compliant, got both";
                Err(self.report.error(second, message))
            }
            (Some(_), None) => Ok(Some(HydroelasticType::Rigid)),
            (None, Some(_)) => Ok(Some(HydroelasticType::Compliant)),
            (None, None) => Ok(None),
        }
    }
}
