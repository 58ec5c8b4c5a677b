// Data of a frame and of a mesh. The layouts equal those of `frame_data.rs` and `mesh_data.rs`.

struct Globals {
    // Distance from the image's origin (pixels) within which corners of triangles are snapped.
    guard: vec2<f32>,
    // Factor from pixels to the viewport, a power of two: products with it are exact.
    to_viewport: f32,
    lights: u32,
    // 1 if colours are wanted.
    shade: u32,
    // 1 if there is an environment that lights surfaces.
    environment: u32,
    // Background: the clear colour, or one of `BACKGROUND_PICTURE` and `BACKGROUND_CUBE`.
    background: u32,
    // 1 if fragments that an alpha mask cuts out are skipped.
    cut_masks: u32,
    // Exposure, the coefficients b and c of the tone curve, and 1 if colours are tone mapped.
    curve: vec4<f32>,
    // Clear colour.
    clear: vec4<f32>,
}

// Camera of an image, and the place of the image in the atlas.
struct Tile {
    // Focal lengths (pixels), then the principal point where pixel centres are whole numbers.
    focal: vec2<f32>,
    center: vec2<f32>,
    // First pixel in the atlas, and size (pixels).
    origin: vec2<f32>,
    size: vec2<f32>,
    // Clipping planes (m), index of the first light.
    near: f32,
    far: f32,
    first_light: u32,
    pad: u32,
    // Rows of R_WC.
    world: array<vec4<f32>, 3>,
}

struct Instance {
    // Rows of X_CG: rotation, then position (m).
    rows: array<vec4<f32>, 3>,
    // Position of the camera in G (m); kind of the shape.
    camera: vec4<f32>,
    // Dimensions of the shape (m).
    size: vec4<f32>,
    // Colour and opacity.
    color: vec4<f32>,
    // Pixels to draw: first column and row, column and row after the last.
    rect: vec4<i32>,
    tile: u32,
    kind: u32,
    label: i32,
    // 1 if the reflection is physically based.
    physical: u32,
}

struct Light {
    // Colour times intensity; kind.
    color: vec4<f32>,
    // Position in the camera frame (m); cosine of the cone angle.
    position: vec4<f32>,
    // Unit vector towards the light, in the camera frame.
    towards: vec4<f32>,
    attenuation: vec4<f32>,
}

@group(0) @binding(0) var<uniform> globals: Globals;
@group(0) @binding(1) var<storage, read> tiles: array<Tile>;
@group(0) @binding(2) var<storage, read> instances: array<Instance>;
@group(0) @binding(3) var<storage, read> lights: array<Light>;
// Environment: spherical harmonics, the split-sum table, faces of a cube, levels, and pixels.
@group(0) @binding(4) var<storage, read> sky: array<u32>;

// Mesh. Textures are given by their index plus 1, 0 for none.
struct Material {
    // Colour and opacity.
    color: vec4<f32>,
    // Emitted light, weight of the occlusion.
    emissive: vec4<f32>,
    metallic: f32,
    roughness: f32,
    // Least opacity of a mask; negative without one.
    cutoff: f32,
    normal_scale: f32,
    texture: u32,
    opacity: u32,
    normal: u32,
    metallic_roughness: u32,
    occlusion: u32,
    emission: u32,
    // 1 if the colour is shown as it is.
    unlit: u32,
    pad: u32,
}

struct Materials {
    // First words of texture coordinates, colours, coordinates of the second set, and tangents; 0
    // for none.
    uvs: u32,
    colors: u32,
    second_uvs: u32,
    tangents: u32,
    all: array<Material>,
}

// Triangles of `TRIANGLE` words each, then texture coordinates, colours and tangents.
@group(1) @binding(0) var<storage, read> words: array<f32>;
@group(1) @binding(1) var<storage, read> materials: Materials;
// Textures of three elements each: first level, number of levels, wrapping modes in u and v; then
// the rows that transform coordinates, the first one with the set of coordinates. After them the
// levels: width, height, first texel, 0.
@group(1) @binding(2) var<storage, read> textures: array<vec4<u32>>;
// Pixels as four half floats.
@group(1) @binding(3) var<storage, read> texels: array<vec2<u32>>;

struct Fragment {
    @builtin(frag_depth) depth: f32,
    @location(0) color: vec4<f32>,
    @location(1) z: f32,
    @location(2) label: i32,
}

const TINY: f32 = 1.1754944e-38;
const HUGE: f32 = 3.0e38;

// Position in the atlas as clip coordinates. The origin of the atlas is in the middle of the
// viewport, so that nothing near it is clipped.
fn clip(tile: Tile, pixel: vec2<f32>) -> vec4<f32> {
    let at = (tile.origin + pixel) * globals.to_viewport;
    return vec4<f32>(at.x, -at.y, 0.5, 1.0);
}

// Ray of a pixel in the camera frame, with z = 1.
fn pixel_ray(tile: Tile, pixel: vec2<f32>) -> vec3<f32> {
    return vec3<f32>((pixel - tile.center) / tile.focal, 1.0);
}

fn to_camera(i: Instance, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(i.rows[0].xyz, v), dot(i.rows[1].xyz, v), dot(i.rows[2].xyz, v));
}

fn from_camera(i: Instance, v: vec3<f32>) -> vec3<f32> {
    return i.rows[0].xyz * v.x + i.rows[1].xyz * v.y + i.rows[2].xyz * v.z;
}

// Normalizes a vector; the zero vector stays zero.
fn unit(v: vec3<f32>) -> vec3<f32> {
    return v / sqrt(max(dot(v, v), TINY));
}

fn far_depth(tile: Tile, z: f32) -> f32 {
    return tile.near / z;
}
