//! Contacts in a scene, and their reports.

pub(super) mod ended_contacts;
pub(super) mod hydroelastic;
pub(super) mod results;
pub(super) mod scene_contacts;
mod search;
pub(super) mod surfaces;
