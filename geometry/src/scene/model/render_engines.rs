//! Render engines by name, and the visuals registered with them.

use crate::deformable::DeformableForm;
use crate::error::{ErrorKind, Result};
use crate::ids::GeometryId;
use crate::mesh::RenderMesh;
use crate::properties::{PerceptionProperties, Role};
use crate::render::{RenderEngine, accepts_renderer};
use crate::shape::Shape;
use crate::skin::SkinForm;
use std::collections::BTreeMap;
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// Shape or meshes of a geometry, for engines.
#[derive(Clone, Copy)]
pub(super) enum DrawnForm<'a> {
    Shape(&'a Shape),
    Deformable(&'a DeformableForm),
    Skin(&'a SkinForm),
}

impl DrawnForm<'_> {
    /// Registers a visual with an engine. Returns false if the engine declines it.
    pub(super) fn register(
        self,
        engine: &mut dyn RenderEngine,
        visual: GeometryId,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        match self {
            Self::Shape(shape) => engine.register_visual(visual, shape, properties),
            Self::Deformable(form) => {
                let driven = form.driven(Role::Perception).iter();
                let meshes: Vec<&RenderMesh> = driven.map(|driven| &*driven.mesh).collect();
                engine.register_deformable_visual(visual, &meshes, properties)
            }
            Self::Skin(form) => {
                let meshes = [&*form.mesh];
                match engine.register_deformable_visual(visual, &meshes, properties) {
                    // The geometry below a skin is drawn without it.
                    Err(e) if e.kind() == ErrorKind::Unsupported => {
                        warn(format!("a skin is left out of images: {e}"));
                        Ok(false)
                    }
                    result => result,
                }
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct NamedEngine {
    pub(super) engine: Arc<dyn RenderEngine>,
    pub(super) type_name: &'static str,
}

impl NamedEngine {
    /// Returns the engine; copies it first if another context shares it.
    fn engine_mut(&mut self) -> &mut dyn RenderEngine {
        dyn_clone::arc_make_mut(&mut self.engine)
    }
}

/// Render engines by name.
#[derive(Clone, Default)]
pub(super) struct RenderEngines {
    pub(super) entries: BTreeMap<String, NamedEngine>,
}

impl RenderEngines {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|name| &**name)
    }

    /// Returns true if an engine has the visual.
    pub(super) fn show(&self, visual: GeometryId) -> bool {
        let mut entries = self.entries.values();
        entries.any(|entry| entry.engine.has_visual(visual))
    }

    /// Registers a visual with all engines that accept it. If one of them fails, the visual is
    /// registered with none.
    pub(super) fn register(
        &mut self,
        visual: GeometryId,
        drawn: DrawnForm<'_>,
        properties: &PerceptionProperties,
    ) -> Result<()> {
        let register = |(name, entry): (&String, &mut NamedEngine)| {
            if accepts_renderer(properties, name)? {
                drawn.register(entry.engine_mut(), visual, properties)?;
            }
            Ok(())
        };
        let result = self.entries.iter_mut().try_for_each(register);
        if result.is_err() {
            self.remove(visual);
        }
        result
    }

    /// Removes a visual from the engines that have it.
    pub(super) fn remove(&mut self, visual: GeometryId) {
        for entry in self.entries.values_mut() {
            if entry.engine.has_visual(visual) {
                entry.engine_mut().remove_visual(visual);
            }
        }
    }
}
