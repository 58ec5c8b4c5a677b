//! Render engines of a scene.
//!
//! An engine is a value of the scene, copied on write like the rest of it: contexts share one
//! engine until one of them changes what it shows. Nothing here takes a lock, so neither drawing
//! nor registering can wait for another thread, and a change in one context shows in no other.
//!
//! Engines know visuals, each under a key of its own: the id of the geometry for its first look,
//! another id whenever its properties or shape change. The new look is registered before the old
//! one is removed, so that an engine that refuses it leaves the scene as it was.

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
    /// If the name is taken, or the engine refuses a geometry.
    pub fn add_renderer<E: RenderEngine + 'static>(
        &mut self,
        name: &str,
        mut engine: E,
    ) -> Result<()> {
        if self.has_renderer(name) {
            return Err(Error::invalid(format!(
                "a renderer '{name}' exists already; names of renderers are unique within a scene"
            )));
        }
        let mut shows = false;
        for geometry in self.geometries.iter() {
            let at = |e: Error| e.at(&self.place(geometry));
            if let (Some(visual), Some(properties)) = (geometry.visual, &geometry.perception)
                && accepts_renderer(properties, name).map_err(at)?
            {
                let accepted = engine.register_visual(visual, &geometry.shape, properties);
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
    /// If there is none of that name.
    pub fn remove_renderer(&mut self, name: &str) -> Result<()> {
        let engine = self.render_engine_by_name(name)?;
        let shows = |g: &RegisteredGeometry| g.visual.is_some_and(|v| engine.has_visual(v));
        if self.geometries.iter().any(shows) {
            self.version.change(Role::Perception);
        }
        self.renderers.entries.remove(name);
        Ok(())
    }

    /// True if there is a renderer of that name.
    pub fn has_renderer(&self, name: &str) -> bool {
        self.renderers.entries.contains_key(name)
    }

    /// Number of renderers.
    pub fn renderer_count(&self) -> usize {
        self.renderers.entries.len()
    }

    /// Type of a renderer, for messages (`tarragon_geometry::render::cpu::RenderEngineCpu`); `None`
    /// if there is no renderer of that name.
    pub fn renderer_type_name(&self, name: &str) -> Option<&'static str> {
        Some(self.renderers.entries.get(name)?.type_name)
    }

    /// A render engine of the scene as it is now. A clone of the `Arc` stays as it is when the
    /// scene changes; the scene then goes on with a copy.
    ///
    /// # Errors
    /// If there is no renderer of that name; the message lists the existing ones.
    pub fn render_engine_by_name(&self, name: &str) -> Result<&Arc<dyn RenderEngine>> {
        let entries = &self.renderers.entries;
        let found = entries.get(name).map(|entry| &entry.engine);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.renderers.names().collect();
            Error::invalid(format!(
                "there is no renderer '{name}'; renderers of this scene: [{}]. Add it with \
                 `add_renderer`",
                known.join(", ")
            ))
        })
    }

    /// Number of the geometry that has the visual of this key in this scene.
    pub(crate) fn visual_owner(&self, key: GeometryId) -> Option<usize> {
        let id = self.visual_owners.get(&key).copied().unwrap_or(key);
        let number = self.geometry_ids.binary_search(&id).ok()?;
        (self.geometries[number].visual == Some(key)).then_some(number)
    }

    /// True if a render engine has the geometry.
    pub(super) fn is_shown(&self, geometry: &RegisteredGeometry) -> bool {
        geometry.visual.is_some_and(|v| self.renderers.show(v))
    }

    /// Replaces the visual of a geometry by one that the engines have already, or by none. The
    /// engines forget the old one.
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
