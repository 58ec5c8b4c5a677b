//! Deformable geometry: tetrahedral meshes whose vertices move on their own.
//!
//! A reference mesh is made once, at registration, and shared by all contexts. Configurations
//! list the coordinates of its vertices, in their order. Driven meshes are the surfaces that
//! follow, for viewers and renderers. Contact is found by the trees of the reference mesh, refitted
//! to the current boxes; its derivatives are those of corners between given planes.
//!
//! Source: X. Han, J. Masterjohn, A. Castro, "A convex formulation of frictional contact between
//! rigid and deformable bodies", IEEE Robotics and Automation Letters 8(10), 2023.

mod contact;
mod contact_surface;
mod current;
mod driven;
mod embedding;
mod form;
mod lifted_corners;
mod reference;
mod refine;

pub(crate) use self::contact::{PosedShape, RigidPartner, contact_of_two, contact_with_rigid};
pub use self::contact_surface::{DeformableContact, DeformableContactSurface, VertexWeights};
pub(crate) use self::current::CurrentShape;
pub(crate) use self::driven::normals;
pub use self::embedding::EmbeddedPoints;
pub(crate) use self::form::DeformableForm;
