//! Roles of the geometry that images show.

use clap::ValueEnum;
use std::error::Error;
use tarragon::prelude::*;

/// Colour of collision geometry without one, as in Drake's viewers: opaque alone, and translucent
/// around visuals.
const PROXIMITY: [f64; 3] = [0.8, 0.0, 0.0];
const OPACITY_AROUND_VISUALS: f64 = 0.3;

/// Geometry that images show.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShownRole {
    /// Visuals that viewers show.
    Illustration,
    /// Visuals that cameras see.
    Perception,
    /// Collision geometry.
    Proximity,
    /// All visuals, and collision geometry in translucent red.
    All,
}

impl ShownRole {
    /// Name of the role of visuals.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Illustration => "illustration",
            Self::Perception => "perception",
            Self::Proximity => "proximity",
            Self::All => "any",
        }
    }

    /// Gives the shown geometry, and no other, the perception role, because render engines draw
    /// this role. The names of geometries change.
    pub(super) fn show(
        self,
        plant: &MultibodyPlant,
        scene: &mut SceneGraph,
    ) -> Result<(), Box<dyn Error>> {
        if self == Self::Perception {
            return Ok(());
        }
        let ids: Vec<_> = scene.model_inspector().geometry_ids().collect();
        for (k, id) in ids.into_iter().enumerate() {
            let source = scene.model_inspector().source_id(id)?;
            if self != Self::All {
                scene.remove_role(source, id, Role::Perception)?;
            }
            let Some(properties) = self.properties(plant, scene, id)? else {
                continue;
            };
            // Visuals and collision geometry of a body may share a name.
            let name = format!("{} ({k})", scene.model_inspector().name(id)?);
            scene.rename_geometry(id, &name)?;
            scene.assign_role(source, id, properties)?;
        }
        Ok(())
    }

    /// Returns the perception properties of a geometry that is to be shown and is not seen yet.
    fn properties(
        self,
        plant: &MultibodyPlant,
        scene: &SceneGraph,
        id: GeometryId,
    ) -> Result<Option<PerceptionProperties>, Box<dyn Error>> {
        let inspector = scene.model_inspector();
        if inspector.properties(id, Role::Perception)?.is_some() {
            return Ok(None);
        }
        let illustration = inspector.illustration_properties(id)?;
        let proximity = inspector.proximity_properties(id)?;
        let shown = match (self, illustration, proximity) {
            (Self::Illustration | Self::All, Some(properties), _) => {
                PerceptionProperties::from((**properties).clone())
            }
            (Self::Proximity | Self::All, _, Some(properties)) => {
                let [r, g, b] = PROXIMITY;
                let opacity = match self {
                    Self::All => OPACITY_AROUND_VISUALS,
                    _ => 1.0,
                };
                let color = Rgba::new(r, g, b, opacity)?;
                PerceptionProperties::phong(properties.get_or("phong", "diffuse", color)?)
            }
            _ => return Ok(None),
        };
        let body = plant.body_from_frame_id(inspector.frame_id(id)?);
        let label = body.and_then(|body| i16::try_from(body.index()).ok());
        Ok(Some(match label.map(RenderLabel::new) {
            Some(Ok(label)) => shown.with_label(label),
            _ => shown,
        }))
    }
}
