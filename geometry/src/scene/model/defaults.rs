//! The configuration of a scene, and properties that it fills in.

use super::state::GeometryState;
use crate::error::Result;
use crate::properties::{ProximityProperties, Role};
use crate::scene::config::SceneGraphConfig;
use std::sync::Arc;

impl GeometryState {
    /// The configuration. That of a context is the one that the model had when the scene was added
    /// to the diagram.
    pub fn config(&self) -> &SceneGraphConfig {
        &self.config
    }

    pub(crate) fn set_config(&mut self, config: SceneGraphConfig) -> Result<()> {
        let defaults = config.default_proximity_properties;
        defaults.validate()?;
        for geometry in self.geometries.iter() {
            if let Some(properties) = &geometry.proximity {
                defaults
                    .check_hydroelastic(&geometry.shape, properties)
                    .map_err(|e| e.at(&self.place(geometry)))?;
            }
        }
        self.config = config;
        Ok(())
    }

    /// The geometry that contexts get: this one with defaults filled in.
    pub(crate) fn for_contexts(&self) -> Self {
        let mut state = self.clone();
        state.fills_in_defaults = true;
        let defaults = &self.config.default_proximity_properties;
        // Geometry of one kind often shares its properties; then it goes on sharing them.
        let mut last: Option<(ProximityProperties, ProximityProperties)> = None;
        let mut filled = vec![];
        for (number, geometry) in self.geometries.iter().enumerate() {
            let Some(given) = &geometry.proximity else {
                continue;
            };
            if let Some((_, result)) = last.as_ref().filter(|(g, _)| g.is_same_clone(given)) {
                filled.push((number, result.clone()));
                continue;
            }
            let mut result = given.clone();
            if defaults.fill_in(&mut result) {
                last = Some((given.clone(), result.clone()));
                filled.push((number, result));
            }
        }
        if !filled.is_empty() {
            state.version.change(Role::Proximity);
            let geometries = Arc::make_mut(&mut state.geometries);
            for (number, properties) in filled {
                geometries[number].proximity = Some(properties);
            }
        }
        state
    }

    /// Properties as this scene keeps them: in a context with the defaults.
    pub(crate) fn filled_in(&self, mut properties: ProximityProperties) -> ProximityProperties {
        if self.fills_in_defaults {
            let defaults = &self.config.default_proximity_properties;
            defaults.fill_in(&mut properties);
        }
        properties
    }
}
