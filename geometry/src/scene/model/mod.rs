//! Everything that is registered in a scene, and the methods that change it.

mod defaults;
mod filter;
mod filter_table;
mod geometry_set;
mod inspector;
mod registration;
mod render_engines;
mod renderers;
mod roles;
mod state;
mod version;

pub use filter::{CollisionFilterDeclaration, CollisionFilterManager};
pub use geometry_set::GeometrySet;
pub use inspector::SceneGraphInspector;
pub use registration::RegistrationMark;
pub use roles::RoleProperties;
pub use state::GeometryState;
pub(super) use state::{Geometry, Source, WORLD};
pub use version::GeometryVersion;
