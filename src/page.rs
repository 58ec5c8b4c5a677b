//! The page that commands show models on.

use crate::files;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use tarragon::multibody::{ModelInstanceIndex, MultibodyModel};
use tarragon::prelude::*;
use tarragon::sensors::CubeMap;

/// Direction from the models to the camera, as in `tarragon render`.
const DIRECTION: [f64; 3] = [1.0, -0.8, 0.5];

/// Moves the camera so that it sees everything, at a distance relative to the size.
pub(crate) fn fit_camera(
    meshcat: &Meshcat,
    query: &QueryObject<f64>,
    distance: f64,
) -> Result<(), Box<dyn Error>> {
    let mut bounds = None;
    for role in [Role::Illustration, Role::Proximity] {
        if bounds.is_none() {
            bounds = query.compute_scene_aabb(role)?;
        }
    }
    // With nothing to see, the page's default view is as good as any.
    if let Some(bounds) = bounds {
        let size = bounds.half_width().norm().max(0.05);
        let target = bounds.center();
        let direction = Vector3::from(DIRECTION).normalize();
        meshcat.set_camera_pose(&(target + direction * (distance * size)), target)?;
    }
    Ok(())
}

/// Shows the mean colours of the upper and the lower face of a skybox as the background, which has
/// only two colours. Without a skybox, the page keeps its own.
pub(crate) fn show_sky(meshcat: &Meshcat, skybox: Option<&CubeMap>) -> Result<()> {
    let Some(skybox) = skybox else {
        return Ok(());
    };
    let [_, _, up, down, ..] = skybox.mean_colors()?;
    for (property, color) in [("top_color", up), ("bottom_color", down)] {
        let [r, g, b, _] = color.rgba();
        meshcat.set_property("/Background", property, [r, g, b]);
    }
    Ok(())
}

/// Gives the collision geometry of models without visuals the illustration role, so that their page
/// is not empty, and says so. Collision geometry of the world is shown only if nothing else is.
pub(crate) fn show_models_without_visuals(
    plant: &MultibodyModel,
    scene: &mut SceneGraph,
) -> Result<(), Box<dyn Error>> {
    let inspector = scene.model_inspector();
    let is_visible = inspector.num_geometries_with_role(Role::Illustration) > 0;
    let mut models: BTreeMap<ModelInstanceIndex, Vec<GeometryId>> = BTreeMap::new();
    let mut visible = BTreeSet::new();
    for id in inspector.geometry_ids() {
        let Some(body) = plant.body_from_frame_id(inspector.frame_id(id)?) else {
            continue;
        };
        let model = plant.body(body)?.model_instance();
        if inspector.illustration_properties(id)?.is_some() {
            visible.insert(model);
        } else if inspector.proximity_properties(id)?.is_some() {
            models.entry(model).or_default().push(id);
        }
    }
    visible.extend(is_visible.then_some(ModelInstanceIndex::WORLD));
    models.retain(|model, _| !visible.contains(model));
    let mut names = vec![];
    for (model, ids) in models {
        names.push(format!("'{}'", plant.model_instance_name(model)?));
        for id in ids {
            let inspector = scene.model_inspector();
            let source = inspector.source_id(id)?;
            let properties = inspector.proximity_properties(id)?;
            let color = Rgba::new(0.8, 0.0, 0.0, 1.0)?;
            let color = match properties {
                Some(properties) => properties.get_or("phong", "diffuse", color)?,
                None => color,
            };
            scene.assign_role(source, id, IllustrationProperties::phong(color))?;
        }
    }
    match &*names {
        [] => {}
        [name] => eprintln!("note: model {name} has no visuals; its collision shapes are shown"),
        _ => eprintln!(
            "note: models {} have no visuals; their collision shapes are shown",
            names.join(", ")
        ),
    }
    Ok(())
}

/// Writes the page as it is now; a file that cannot be written completely is removed.
pub(crate) fn save(meshcat: &Meshcat, file: &Path) -> Result<(), Box<dyn Error>> {
    let page = meshcat.static_html()?;
    let problem = |e: std::io::Error| files::cannot_write(file, &e);
    let mut temporary = files::temporary_beside(file).map_err(problem)?;
    temporary.write_all(page.as_bytes()).map_err(problem)?;
    temporary.persist(file).map_err(|e| problem(e.error))?;
    eprintln!(
        "wrote {} ({} kB)",
        file.display(),
        page.len().div_ceil(1000)
    );
    Ok(())
}
