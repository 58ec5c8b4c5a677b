//! Parameters of elements and materials of contacts, which a context may change.

pub(super) mod combined_material;
pub(super) mod contact_materials;
mod effective_mass;
pub(super) mod model_parameters;
