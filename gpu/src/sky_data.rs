//! The environment as one buffer; see `shaders/environment.wgsl`.

use tarragon_geometry::render::EnvironmentMap;
use tarragon_geometry::render::appearance::EnvironmentLight;
use tarragon_geometry::{Error, Result};

/// Reads an environment map into words; `None` without one.
pub(crate) fn read(map: Option<&EnvironmentMap>) -> Result<Option<Vec<u32>>> {
    let light = EnvironmentLight::read(map).map_err(|e| e.at("RenderEngineGpu"))?;
    light.map(|light| words(&light)).transpose()
}

fn words(light: &EnvironmentLight) -> Result<Vec<u32>> {
    let floats = light.harmonics.iter().flatten();
    let split = light.split_sum.table().iter().flatten();
    let mut words: Vec<u32> = floats.chain(split).map(|x| x.to_bits()).collect();
    words.push(light.levels.len() as u32);
    let mut first = words.len() + 3 * light.levels.len();
    for level in &light.levels {
        let start = u32::try_from(first).map_err(|_| {
            Error::unsupported("RenderEngineGpu: environment_map must have fewer than 2^32 values")
        })?;
        words.extend([level.width as u32, level.height as u32, start]);
        first += 3 * level.pixels.len();
    }
    for level in &light.levels {
        words.extend(level.pixels.iter().flatten().map(|x| x.to_bits()));
    }
    Ok(words)
}
