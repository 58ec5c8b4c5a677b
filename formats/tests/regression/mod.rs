//! Defects that real robots and public reports showed, one small case each. Every test names the
//! source of the right value.

mod context_parameters;
mod keyframes_and_options;
mod misspelt_names;
mod misspelt_names_of_mjcf;
mod mjcf_assets;
mod mjcf_collisions;
mod mjcf_distance_plugins;
mod mjcf_keyframes;
mod mjcf_names;
mod mjcf_reading;
mod mjcf_values;
mod model_paths;
mod not_finite;
mod open_loops;
mod quaternions;
mod silent_mistakes;
mod soft_contact;
mod warnings_are_seen;
mod yaml_messages;

use crate::support::loaded::{Built, load_with};

/// Loads an MJCF text by default.
fn load_mjcf(text: &str) -> Built {
    load_with(|p| p.add_models_from_string(text, "xml")).ok()
}
