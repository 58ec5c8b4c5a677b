//! Builder of plants: elements, geometry and settings.

pub(super) mod actuators;
pub(super) mod annotations;
pub(super) mod collision_filters;
pub(super) mod config;
pub(super) mod constraints;
pub(super) mod contact_pairs;
pub(super) mod contact_settings;
pub(super) mod declared;
pub(super) mod defaults;
pub(super) mod elements;
pub(super) mod force_elements;
pub(super) mod geometry;
pub(super) mod instances;
pub(super) mod keyframes;
pub(super) mod lookup;
pub(super) mod mark;
pub(super) mod plant_builder;
pub(super) mod settings;
