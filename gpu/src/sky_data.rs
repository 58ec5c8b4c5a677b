//! The environment as one buffer; see `shaders/environment.wgsl`.

use crate::shader_source::Background;
use tarragon_geometry::render::EnvironmentMap;
use tarragon_geometry::render::appearance::{
    CubeSky, Environment, EnvironmentLight, Sky, SplitSum,
};
use tarragon_geometry::{Error, Result};

/// Number of words before the pixels, without those of levels: harmonics, split sum, the size and
/// place of six faces, and the number of levels.
const HEADER: usize = 27 + 2 * SplitSum::SIDE * SplitSum::SIDE + 18 + 1;

/// An environment as words.
pub(crate) struct SkyData {
    pub(crate) words: Vec<u32>,
    /// True if it lights surfaces.
    pub(crate) lights: bool,
    pub(crate) background: Background,
}

/// Reads an environment map; `None` without one.
pub(crate) fn read(map: Option<&EnvironmentMap>) -> Result<Option<SkyData>> {
    let environment = Environment::read(map).map_err(|e| e.at("RenderEngineGpu"))?;
    environment.map(|environment| of(&environment)).transpose()
}

fn of(environment: &Environment) -> Result<SkyData> {
    let light = environment.light();
    let (picture, cube, background) = match environment.sky() {
        None => (light, None, Background::Clear),
        Some(Sky::Equirectangular(picture)) => (Some(picture), None, Background::Picture),
        Some(Sky::Cube(cube)) => (light, Some(cube), Background::Cube),
    };
    Ok(SkyData {
        words: words(picture, cube)?,
        lights: light.is_some(),
        background,
    })
}

fn words(picture: Option<&EnvironmentLight>, cube: Option<&CubeSky>) -> Result<Vec<u32>> {
    let levels = picture.map_or(&[][..], |picture| &picture.levels);
    let mut words: Vec<u32> = Vec::new();
    if let Some(picture) = picture {
        let floats = picture.harmonics.iter().flatten();
        let split = picture.split_sum.table().iter().flatten();
        words.extend(floats.chain(split).map(|x| x.to_bits()));
    }
    words.resize(HEADER - 19, 0);
    let mut next = HEADER + 3 * levels.len();
    let mut first = |count: usize| {
        let start = u32::try_from(next).map_err(|_| {
            Error::unsupported("RenderEngineGpu: environment_map must have fewer than 2^32 values")
        })?;
        next += count;
        Ok::<u32, Error>(start)
    };
    let mut pictures = Vec::new();
    for picture in cube.iter().flat_map(|cube| &cube.pictures) {
        let start = first(picture.pixels.len())?;
        pictures.push([picture.width as u32, picture.height as u32, start]);
    }
    let faces = cube.iter().flat_map(|cube| &cube.faces);
    words.extend(faces.flat_map(|picture| pictures[*picture]));
    words.resize(HEADER - 1, 0);
    words.push(levels.len() as u32);
    for level in levels {
        let start = first(3 * level.pixels.len())?;
        words.extend([level.width as u32, level.height as u32, start]);
    }
    for picture in cube.iter().flat_map(|cube| &cube.pictures) {
        let pixels = picture.pixels.iter();
        words.extend(pixels.map(|&[r, g, b]| u32::from_le_bytes([r, g, b, 255])));
    }
    for level in levels {
        words.extend(level.pixels.iter().flatten().map(|x| x.to_bits()));
    }
    Ok(words)
}
