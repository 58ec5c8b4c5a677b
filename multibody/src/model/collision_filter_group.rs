//! Named sets of bodies whose geometries are not tested against each other.

use super::index::{BodyIndex, DeformableBodyIndex};

/// A named set of bodies as a model file declares it. Group names are resolved once all models of a
/// load are added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollisionFilterGroupSpec {
    /// Scoped name.
    pub name: String,
    /// Bodies listed directly.
    pub members: Vec<BodyIndex>,
    /// Deformable bodies listed directly.
    pub deformables: Vec<DeformableBodyIndex>,
    /// Scoped names of groups whose members are members of this one.
    pub member_groups: Vec<String>,
    /// Scoped names of the groups that are not tested against this one.
    pub ignored: Vec<String>,
}

/// A named set of bodies from a model file, with group names resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollisionFilterGroup {
    /// Scoped name.
    pub name: String,
    /// Rigid bodies.
    pub members: Vec<BodyIndex>,
    /// Deformable bodies.
    pub deformables: Vec<DeformableBodyIndex>,
    /// Scoped names of the groups that are not tested against this one.
    pub ignored: Vec<String>,
}
