//! The skybox of a model behind the images of cameras.

use tarragon::sensors::{CubeMap, EnvironmentMap};

/// Returns an environment that shows a skybox and lights nothing, as in MuJoCo.
pub(crate) fn behind(skybox: CubeMap) -> EnvironmentMap {
    EnvironmentMap {
        lights: false,
        texture: skybox.into(),
        ..EnvironmentMap::default()
    }
}
