//! The shaders as one WGSL module, with the constants that they share with the CPU engine.

use tarragon_geometry::render::appearance::{GAMMA, ReflectionModel, SplitSum, ToneCurve};

/// Kinds of shapes.
pub(crate) const ELLIPSOID: u32 = 0;
pub(crate) const CUBOID: u32 = 1;
pub(crate) const CYLINDER: u32 = 2;
pub(crate) const CAPSULE: u32 = 3;
pub(crate) const HALF_SPACE: u32 = 4;
/// Kinds of lights.
pub(crate) const POINT: u32 = 0;
pub(crate) const SPOT: u32 = 1;
pub(crate) const DIRECTIONAL: u32 = 2;
/// Wrapping modes.
pub(crate) const REPEAT: u32 = 0;
pub(crate) const MIRROR: u32 = 1;
pub(crate) const CLAMP: u32 = 2;
/// Number of words of a triangle.
pub(crate) const TRIANGLE: usize = 28;

/// Background of colour images, with its number in the shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Background {
    /// The clear colour.
    #[default]
    Clear = 0,
    /// The first level of the picture of longitudes and latitudes.
    Picture = 1,
    /// The six images of a cube.
    Cube = 2,
}

/// Returns the WGSL source of all shaders: what the engine compiles, and what tools can validate
/// without an adapter.
///
/// ```
/// assert!(tarragon_gpu::shader_source().contains("fn primitive_fragment"));
/// ```
pub fn shader_source() -> String {
    let mut source = String::new();
    let floats = [
        ("PI", std::f32::consts::PI),
        ("GAMMA", GAMMA),
        ("DIELECTRIC", ReflectionModel::DIELECTRIC),
        ("LEAST_ROUGHNESS", ReflectionModel::LEAST_ROUGHNESS),
        ("PROMOTED_ROUGHNESS", ReflectionModel::PROMOTED.roughness),
        ("CONTRAST", ToneCurve::CONTRAST as f32),
        ("SHOULDER", ToneCurve::SHOULDER as f32),
    ];
    for (name, value) in floats {
        source += &format!("const {name}: f32 = {value:?};\n");
    }
    let words = [
        ("ELLIPSOID", ELLIPSOID),
        ("CUBOID", CUBOID),
        ("CYLINDER", CYLINDER),
        ("CAPSULE", CAPSULE),
        ("POINT", POINT),
        ("SPOT", SPOT),
        ("DIRECTIONAL", DIRECTIONAL),
        ("REPEAT", REPEAT),
        ("MIRROR", MIRROR),
        ("TRIANGLE", TRIANGLE as u32),
        ("SPLIT_SIDE", SplitSum::SIDE as u32),
        ("BACKGROUND_PICTURE", Background::Picture as u32),
        ("BACKGROUND_CUBE", Background::Cube as u32),
    ];
    for (name, value) in words {
        source += &format!("const {name}: u32 = {value}u;\n");
    }
    for part in [
        include_str!("shaders/common.wgsl"),
        include_str!("shaders/intersect.wgsl"),
        include_str!("shaders/environment.wgsl"),
        include_str!("shaders/texture.wgsl"),
        include_str!("shaders/shade.wgsl"),
        include_str!("shaders/primitive.wgsl"),
        include_str!("shaders/mesh.wgsl"),
        include_str!("shaders/background.wgsl"),
    ] {
        source += part;
    }
    source
}
