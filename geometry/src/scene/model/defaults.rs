//! The configuration of a scene, and the properties that it fills in.

use super::state::GeometryState;
use crate::error::Result;
use crate::properties::{ProximityProperties, Role};
use crate::scene::config::SceneGraphConfig;
use std::sync::{Arc, OnceLock};

impl GeometryState {
    /// Returns the configuration. A context has the configuration that the model had when the scene
    /// was added to the diagram.
    pub fn config(&self) -> &SceneGraphConfig {
        &self.config
    }

    pub(crate) fn set_config(&mut self, config: SceneGraphConfig) -> Result<()> {
        let defaults = config.default_proximity_properties;
        defaults.validate()?;
        let mut forms = vec![];
        for (number, geometry) in self.geometries.iter().enumerate() {
            if let Some(properties) = geometry
                .proximity
                .as_ref()
                .filter(|_| geometry.bound.is_some())
            {
                let form = defaults.hydroelastic_form(&geometry.shape, properties);
                forms.push((number, form.map_err(|e| e.at(self.place(geometry)))?));
            }
        }
        let geometries = Arc::make_mut(&mut self.geometries);
        for (number, form) in forms {
            geometries[number].hydroelastic = form;
        }
        self.config = config;
        Ok(())
    }

    /// Returns the geometry of new contexts: this one with defaults filled in.
    pub(crate) fn for_contexts(&self) -> Self {
        let mut state = self.clone();
        state.fills_in_defaults = true;
        state.contact_partners = OnceLock::new();
        let defaults = &self.config.default_proximity_properties;
        // Geometries of one type often share their properties, and keep sharing them here.
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

    /// Returns the properties as this scene stores them: with defaults filled in if it belongs to a
    /// context.
    pub(crate) fn filled_in(&self, mut properties: ProximityProperties) -> ProximityProperties {
        if self.fills_in_defaults {
            let defaults = &self.config.default_proximity_properties;
            defaults.fill_in(&mut properties);
        }
        properties
    }
}
