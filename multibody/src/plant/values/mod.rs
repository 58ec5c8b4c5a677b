//! Parameters of elements and materials of contacts, which a context may change.

pub(super) mod combined_material;
pub(super) mod contact_materials;
pub(super) mod model_parameters;
