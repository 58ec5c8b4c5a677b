//! Render engines of a scene.
//!
//! An engine is a value of the scene and, like the rest of the scene, copied on write: contexts
//! share one engine until one of them changes what it shows. Nothing here takes a lock, so neither
//! drawing nor registering can block on another thread, and a change in one context does not show
//! in any other.
//!
//! Engines store visuals, each under a key of its own: the id of the geometry for its first
//! appearance, and another id whenever its properties or shape change. The new visual is registered
//! before the old one is removed, so that an engine that rejects it leaves the scene unchanged.

use super::render_engines::NamedEngine;
use super::state::{GeometryState, RegisteredGeometry};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::Role;
use crate::render::{RenderEngine, accepts_renderer};
use std::any::type_name;
use std::sync::Arc;

impl GeometryState {
    /// Adds a render engine and registers all perception geometry with it.
    ///
    /// # Errors
    /// Returns an error if the name is taken, or if the engine rejects a geometry.
    pub fn add_renderer<E: RenderEngine + 'static>(
        &mut self,
        name: &str,
        mut engine: E,
    ) -> Result<()> {
        if self.has_renderer(name) {
            return Err(Error::exists(format!(
                "renderer '{name}' already exists; renderer names must be unique within a scene"
            )));
        }
        let mut shows = false;
        for geometry in self.geometries.iter() {
            let at = |e: Error| e.at(self.place(geometry));
            if let (Some(visual), Some(properties)) = (geometry.visual, &geometry.perception)
                && accepts_renderer(properties, name).map_err(at)?
            {
                let accepted = geometry.drawn().register(&mut engine, visual, properties);
                shows |= accepted.map_err(at)?;
            }
        }
        if shows {
            self.version.change(Role::Perception);
        }
        let entry = NamedEngine {
            engine: Arc::new(engine),
            type_name: type_name::<E>(),
        };
        self.renderers.entries.insert(name.into(), entry);
        Ok(())
    }

    /// Removes a render engine from this scene; other contexts keep it.
    ///
    /// # Errors
    /// Returns an error if there is no renderer of that name.
    pub fn remove_renderer(&mut self, name: &str) -> Result<()> {
        let engine = self.render_engine_by_name(name)?;
        let shows = |g: &RegisteredGeometry| g.visual.is_some_and(|v| engine.has_visual(v));
        if self.geometries.iter().any(shows) {
            self.version.change(Role::Perception);
        }
        self.renderers.entries.remove(name);
        Ok(())
    }

    /// Returns true if there is a renderer of that name.
    pub fn has_renderer(&self, name: &str) -> bool {
        self.renderers.entries.contains_key(name)
    }

    /// Returns the number of renderers.
    pub fn renderer_count(&self) -> usize {
        self.renderers.entries.len()
    }

    /// Returns the type of a renderer, for messages
    /// (`tarragon_geometry::render::cpu::RenderEngineCpu`); `None` if there is no renderer of that
    /// name.
    pub fn renderer_type_name(&self, name: &str) -> Option<&'static str> {
        Some(self.renderers.entries.get(name)?.type_name)
    }

    /// Returns a render engine of the scene in its current state. A clone of the `Arc` does not
    /// change when the scene does: the scene then continues with a copy.
    ///
    /// # Errors
    /// Returns an error if there is no renderer of that name; the message lists the existing ones.
    pub fn render_engine_by_name(&self, name: &str) -> Result<&Arc<dyn RenderEngine>> {
        let entries = &self.renderers.entries;
        let found = entries.get(name).map(|entry| &entry.engine);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.renderers.names().collect();
            Error::not_found(format!(
                "there is no renderer '{name}'; renderers of this scene: [{}]. Add it with \
                 `add_renderer`",
                known.join(", ")
            ))
        })
    }

    /// Returns the number of the geometry in this scene whose visual has this key.
    pub(crate) fn visual_owner(&self, key: GeometryId) -> Option<usize> {
        let id = self.visual_owners.get(&key).copied().unwrap_or(key);
        let number = self.geometry_ids.binary_search(&id).ok()?;
        (self.geometries[number].visual == Some(key)).then_some(number)
    }

    /// Returns true if a render engine has the geometry.
    pub(super) fn is_shown(&self, geometry: &RegisteredGeometry) -> bool {
        geometry.visual.is_some_and(|v| self.renderers.show(v))
    }

    /// Replaces the visual of a geometry by one that is already registered with the engines, or by
    /// none, and removes the old visual from the engines.
    pub(super) fn set_visual(&mut self, number: usize, visual: Option<GeometryId>) {
        let (id, old) = (self.geometries[number].id, self.geometries[number].visual);
        if let Some(old) = old {
            self.renderers.remove(old);
        }
        for (key, add) in [(old, false), (visual, true)] {
            if let Some(key) = key.filter(|k| *k != id) {
                let owners = Arc::make_mut(&mut self.visual_owners);
                if add {
                    owners.insert(key, id);
                } else {
                    owners.remove(&key);
                }
            }
        }
        Arc::make_mut(&mut self.geometries)[number].visual = visual;
    }
}
