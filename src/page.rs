//! The page that commands show models on.

use crate::sweep;
use nalgebra::Vector3;
use std::error::Error;
use std::io::Write;
use std::path::Path;
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

/// Writes the page as it is now; a file that cannot be written completely is removed.
pub(crate) fn save(meshcat: &Meshcat, file: &Path) -> Result<(), Box<dyn Error>> {
    let page = meshcat.static_html()?;
    let problem = |e: std::io::Error| format!("cannot write '{}': {e}", file.display());
    let mut temporary = sweep::temporary_beside(file).map_err(problem)?;
    temporary.write_all(page.as_bytes()).map_err(problem)?;
    temporary.persist(file).map_err(|e| problem(e.error))?;
    eprintln!(
        "wrote {} ({} kB)",
        file.display(),
        page.len().div_ceil(1000)
    );
    Ok(())
}
