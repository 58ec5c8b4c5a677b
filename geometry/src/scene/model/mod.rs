//! Everything that is registered in a scene, and the methods that change it.

mod contact_partner;
mod defaults;
mod deformable;
mod drawn_geometry;
mod filter;
mod filter_table;
mod form;
mod geometry_set;
mod inspector;
mod inspector_deformable;
mod registration;
mod render_engines;
mod renderers;
mod roles;
mod skins;
mod state;
mod version;

pub use self::filter::{CollisionFilterDeclaration, CollisionFilterManager, CollisionFilterScope};
pub(super) use self::form::ProximityForm;
pub use self::geometry_set::GeometrySet;
pub use self::inspector::SceneGraphInspector;
pub use self::registration::RegistrationMark;
pub use self::roles::RoleProperties;
pub use self::state::GeometryState;
pub(super) use self::state::{RegisteredGeometry, RegisteredSource, WORLD};
pub use self::version::GeometryVersion;
