//! Named sets of bodies whose geometries are not tested against each other.

use super::index::{BodyIndex, DeformableBodyIndex};

/// A named set of bodies as a model file declares it. Group names are resolved once all models of a
/// load are added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CollisionFilterGroupSpec {
    /// Scoped name.
    pub(crate) name: String,
    /// Bodies listed directly.
    pub(crate) members: Vec<BodyIndex>,
    /// Deformable bodies listed directly.
    pub(crate) deformables: Vec<DeformableBodyIndex>,
    /// Scoped names of groups whose members are members of this one.
    pub(crate) member_groups: Vec<String>,
    /// Scoped names of the groups that are not tested against this one.
    pub(crate) ignored: Vec<String>,
}

/// A named set of bodies from a model file, with group names resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CollisionFilterGroup {
    /// Scoped name.
    pub(crate) name: String,
    pub(crate) members: Vec<BodyIndex>,
    pub(crate) deformables: Vec<DeformableBodyIndex>,
    /// Scoped names of the groups that are not tested against this one.
    pub(crate) ignored: Vec<String>,
}
