//! Render engines, and what they hold of the geometry of many contexts.
//!
//! Engines are shared by all clones of a scene, so that a context costs no engine. They know visuals,
//! each under an id of its own: that of the geometry for the first, another one whenever the
//! properties or the shape of a geometry change. A scene knows which visuals are its own, and the
//! poses that it gives to an engine cover only those. So a change in one context shows nowhere else.
//! A visual that no scene has any more is removed from the engines.

use super::state::{Geometry, GeometryState};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::{PerceptionProperties, Role};
use crate::render::{RenderEngine, accepts_renderer};
use crate::shapes::Shape;
use std::any::type_name;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, Weak};

/// A render engine, shared by all contexts: engines hold no poses.
pub(crate) type Renderer = Arc<RwLock<Box<dyn RenderEngine>>>;

/// The engines that have a visual. They may be gone before it.
type Engines = Vec<Weak<RwLock<Box<dyn RenderEngine>>>>;

#[derive(Clone)]
pub(super) struct RendererEntry {
    engine: Renderer,
    type_name: &'static str,
}

/// One look of one geometry. Scenes that share the look share this; with the last of them it leaves
/// the engines.
pub(super) struct Visual {
    /// Its id in the engines.
    key: GeometryId,
    engines: Mutex<Engines>,
}

impl Visual {
    fn engines(&self) -> MutexGuard<'_, Engines> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn join(&self, engine: &Renderer) {
        self.engines().push(Arc::downgrade(engine));
    }
    /// True if an engine has it.
    pub(super) fn is_shown(&self) -> bool {
        self.engines().iter().any(|e| e.strong_count() > 0)
    }
    fn is_shown_by(&self, engine: &Renderer) -> bool {
        let engines = self.engines();
        engines
            .iter()
            .any(|e| std::ptr::addr_eq(e.as_ptr(), Arc::as_ptr(engine)))
    }
}

impl Drop for Visual {
    fn drop(&mut self) {
        let engines = std::mem::take(&mut *self.engines());
        for engine in engines.iter().filter_map(Weak::upgrade) {
            write(&engine).remove_visual(self.key);
        }
    }
}

impl fmt::Debug for Visual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Visual({})", self.key)
    }
}

fn write(renderer: &Renderer) -> RwLockWriteGuard<'_, Box<dyn RenderEngine>> {
    renderer.write().unwrap_or_else(PoisonError::into_inner)
}

impl GeometryState {
    /// Adds a render engine and registers all perception geometry with it.
    ///
    /// # Errors
    /// If the name is taken, or the engine can not take a geometry.
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
        let mut accepted = vec![];
        for geometry in self.geometries.iter() {
            if let (Some(visual), Some(properties)) = (&geometry.visual, &geometry.perception)
                && self.show(
                    name,
                    &mut engine,
                    geometry,
                    &geometry.shape,
                    properties,
                    visual.key,
                )?
            {
                accepted.push(Arc::clone(visual));
            }
        }
        let engine: Renderer = Arc::new(RwLock::new(Box::new(engine)));
        if !accepted.is_empty() {
            self.version.change(Role::Perception);
        }
        for visual in accepted {
            visual.join(&engine);
        }
        let type_name = type_name::<E>();
        let entry = RendererEntry { engine, type_name };
        self.renderers.insert(name.into(), entry);
        Ok(())
    }

    /// Removes a render engine from this scene; other contexts keep it.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn remove_renderer(&mut self, name: &str) -> Result<()> {
        let engine = self.renderer(name)?;
        let shows = |g: &Geometry| g.visual.as_ref().is_some_and(|v| v.is_shown_by(engine));
        if self.geometries.iter().any(shows) {
            self.version.change(Role::Perception);
        }
        self.renderers.remove(name);
        Ok(())
    }

    /// True if there is a renderer of that name.
    pub fn has_renderer(&self, name: &str) -> bool {
        self.renderers.contains_key(name)
    }

    /// Number of renderers.
    pub fn renderer_count(&self) -> usize {
        self.renderers.len()
    }

    /// Type of a renderer, for messages (`tarragon_geometry::render::cpu::RenderEngineCpu`); `None` if
    /// there is no renderer of that name.
    pub fn renderer_type_name(&self, name: &str) -> Option<&'static str> {
        Some(self.renderers.get(name)?.type_name)
    }

    pub(crate) fn renderer(&self, name: &str) -> Result<&Renderer> {
        let found = self.renderers.get(name).map(|entry| &entry.engine);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.renderers.keys().map(|n| &**n).collect();
            Error::invalid(format!(
                "there is no renderer '{name}'; renderers of this scene: [{}]. Add it with \
                 `add_renderer`",
                known.join(", ")
            ))
        })
    }

    /// Number of the geometry that has the visual of this id in this scene.
    pub(crate) fn visual_owner(&self, key: GeometryId) -> Option<usize> {
        let id = self.visual_owners.get(&key).copied().unwrap_or(key);
        let number = self.geometry_ids.binary_search(&id).ok()?;
        let visual = self.geometries[number].visual.as_ref()?;
        (visual.key == key).then_some(number)
    }

    /// Registers a look of a geometry with the engines that accept it. It is removed from them again
    /// unless it is kept with [`Self::set_visual`].
    pub(super) fn new_visual(
        &self,
        geometry: &Geometry,
        shape: &Shape,
        properties: &PerceptionProperties,
        key: GeometryId,
    ) -> Result<Arc<Visual>> {
        let visual = Visual {
            key,
            engines: Mutex::default(),
        };
        for (name, RendererEntry { engine, .. }) in &self.renderers {
            let mut target = write(engine);
            if self.show(name, &mut **target, geometry, shape, properties, key)? {
                visual.join(engine);
            }
        }
        Ok(Arc::new(visual))
    }

    /// True if the engine has accepted it.
    fn show(
        &self,
        name: &str,
        engine: &mut dyn RenderEngine,
        geometry: &Geometry,
        shape: &Shape,
        properties: &PerceptionProperties,
        key: GeometryId,
    ) -> Result<bool> {
        let at = |e: Error| e.at(&self.place(geometry));
        if !accepts_renderer(properties, name).map_err(at)? {
            return Ok(false);
        }
        engine.register_visual(key, shape, properties).map_err(at)
    }

    pub(super) fn set_visual(&mut self, number: usize, visual: Option<Arc<Visual>>) {
        let geometry = &self.geometries[number];
        let id = geometry.id;
        let old = geometry.visual.as_ref().map(|v| v.key);
        let new = visual.as_ref().map(|v| v.key);
        for (key, add) in [(old, false), (new, true)] {
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
