//! Typed properties of geometry in named groups, one set per role.

mod contact;
pub(crate) mod helpers;
mod property_sets;
mod render_label;
mod role;

pub use self::contact::{CoulombFriction, HydroelasticType};
pub use self::helpers::{
    add_compliant_hydroelastic_properties, add_compliant_hydroelastic_properties_for_half_space,
    add_contact_material, add_rigid_hydroelastic_properties, make_phong_illustration_properties,
};
pub use self::property_sets::{
    GeometryProperties, IllustrationProperties, PerceptionProperties, PropertyValue,
    ProximityProperties,
};
pub use self::render_label::RenderLabel;
pub use self::role::{Role, RoleAssign};
