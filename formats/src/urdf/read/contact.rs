//! `drake:proximity_properties`.

use super::builder::UrdfBuilder;
use crate::reading::convex_pieces::{CONVEX_PIECES, set_convex_pieces};
use tarragon_documents::xml::Parsed;
use tarragon_documents::xml::XmlNode;
use tarragon_geometry::{CoulombFriction, HydroelasticType, ProximityProperties};

/// Element, group and name of each property that is a single number.
const NUMBERS: [(&str, &str, &str); 7] = [
    (
        "drake:mesh_resolution_hint",
        "hydroelastic",
        "resolution_hint",
    ),
    (
        "drake:hydroelastic_modulus",
        "hydroelastic",
        "hydroelastic_modulus",
    ),
    ("drake:hydroelastic_margin", "hydroelastic", "margin"),
    (
        "drake:hunt_crossley_dissipation",
        "material",
        "hunt_crossley_dissipation",
    ),
    ("drake:relaxation_time", "material", "relaxation_time"),
    (
        "drake:point_contact_stiffness",
        "material",
        "point_contact_stiffness",
    ),
    ("drake:slab_thickness", "hydroelastic", "slab_thickness"),
];

impl UrdfBuilder<'_, '_> {
    /// Reads the properties of a `<collision>`; friction coefficients have defaults, as in Drake.
    pub(super) fn read_proximity_properties(
        &self,
        collision: XmlNode<'_>,
    ) -> Parsed<ProximityProperties> {
        let mut properties = ProximityProperties::new();
        let mut friction = CoulombFriction::DEFAULT;
        if let Some(node) = self.reader.child(collision, "drake:proximity_properties") {
            for (tag, group, name) in NUMBERS {
                if let Some(value) = self.reader.child_value(node, tag)? {
                    if value < 0.0 {
                        let message = format!("<{tag}> must be at least 0, got {value:?}");
                        return Err(self.reader.error(node, message));
                    }
                    properties.set_untyped(group, name, value);
                }
            }
            if let Some(value) = self.reader.child_value(node, CONVEX_PIECES)? {
                let set = set_convex_pieces(&mut properties, value);
                set.map_err(|e| self.reader.error(node, e))?;
            }
            let rigid = self.reader.child(node, "drake:rigid_hydroelastic");
            let compliant = self.reader.child(node, "drake:compliant_hydroelastic");
            let kind = match (rigid, compliant) {
                (Some(second), Some(_)) => {
                    let message = "a geometry must be either rigid or compliant, got both";
                    return Err(self.reader.error(second, message));
                }
                (Some(_), None) => Some(HydroelasticType::Rigid),
                (None, Some(_)) => Some(HydroelasticType::Compliant),
                (None, None) => None,
            };
            if let Some(kind) = kind {
                properties.set_untyped("hydroelastic", "compliance_type", kind);
            }
            let mu_static = self.reader.child_value(node, "drake:mu_static")?;
            let mu_dynamic = self.reader.child_value(node, "drake:mu_dynamic")?;
            // If only one coefficient is given, it is used for both.
            if let Some(one) = mu_static.or(mu_dynamic) {
                let mu = CoulombFriction::new(one, mu_dynamic.unwrap_or(one));
                friction = mu.map_err(|e| self.reader.error(node, e))?;
            }
        }
        Ok(properties.with_friction(friction))
    }
}
