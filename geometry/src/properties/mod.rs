//! Typed properties of geometry in named groups, one set per role.

pub(crate) mod checks;
mod contact;
mod property_sets;
mod render_label;
mod role;
mod typed;

pub use self::contact::{CoulombFriction, HydroelasticTessellation, HydroelasticType};
pub use self::property_sets::{
    GeometryProperties, IllustrationProperties, PerceptionProperties, PropertyValue,
    ProximityProperties,
};
pub use self::render_label::RenderLabel;
pub use self::role::{Role, RoleAssign};
