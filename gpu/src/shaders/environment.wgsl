// Light from all directions of the world. `sky` holds 27 harmonics, `SPLIT_SIDE`^2 pairs of the
// split sum, 3 values for each face of a cube (width, height and the index of the first pixel), the
// number of levels, 3 values for each level (width, height and the index of the first value), then
// the pixels: bytes of screen colours for faces, 3 floats of linear light for levels.

const SPLIT_FIRST: u32 = 27u;
const FACES_FIRST: u32 = SPLIT_FIRST + 2u * SPLIT_SIDE * SPLIT_SIDE;
const LEVELS_FIRST: u32 = FACES_FIRST + 18u;

fn sky_float(k: u32) -> f32 {
    return bitcast<f32>(sky[k]);
}

fn to_world(tile: Tile, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot(tile.world[0].xyz, v),
        dot(tile.world[1].xyz, v),
        dot(tile.world[2].xyz, v),
    );
}

fn harmonic(k: u32) -> vec3<f32> {
    return vec3<f32>(sky_float(3u * k), sky_float(3u * k + 1u), sky_float(3u * k + 2u));
}

// Irradiance divided by pi, of surfaces with this unit normal in the world.
fn irradiance(n: vec3<f32>) -> vec3<f32> {
    var sum = 0.282095 * harmonic(0u);
    sum += 0.488603 * (n.y * harmonic(1u) + n.z * harmonic(2u) + n.x * harmonic(3u));
    sum += 1.092548 * (n.x * n.y * harmonic(4u) + n.y * n.z * harmonic(5u));
    sum += 0.315392 * (3.0 * n.z * n.z - 1.0) * harmonic(6u);
    sum += 1.092548 * n.x * n.z * harmonic(7u);
    sum += 0.546274 * (n.x * n.x - n.y * n.y) * harmonic(8u);
    return max(sum, vec3<f32>(0.0));
}

fn split_at(x: u32, y: u32) -> vec2<f32> {
    let k = SPLIT_FIRST + 2u * (y * SPLIT_SIDE + x);
    return vec2<f32>(sky_float(k), sky_float(k + 1u));
}

// Scale and bias of the reflectance at normal incidence.
fn reflectance(nv: f32, roughness: f32) -> vec2<f32> {
    let side = f32(SPLIT_SIDE);
    let at = clamp(vec2<f32>(nv, roughness) * side - 0.5, vec2<f32>(0.0), vec2<f32>(side - 1.0));
    let i = min(vec2<u32>(at), vec2<u32>(SPLIT_SIDE - 2u));
    let f = at - vec2<f32>(i);
    let top = mix(split_at(i.x, i.y), split_at(i.x + 1u, i.y), f.x);
    let bottom = mix(split_at(i.x, i.y + 1u), split_at(i.x + 1u, i.y + 1u), f.x);
    return mix(top, bottom, f.y);
}

// Angle of (y, x), as `atan2`, whose result at x = 0 drivers do not agree on.
fn angle(y: f32, x: f32) -> f32 {
    let high = max(abs(x), abs(y));
    if (high < 1.0e-30) {
        return 0.0;
    }
    var a = atan(min(abs(x), abs(y)) / high);
    a = select(a, 0.5 * PI - a, abs(y) > abs(x));
    a = select(a, PI - a, x < 0.0);
    return select(a, -a, y < 0.0);
}

// Position of a direction in the picture, both coordinates from 0 to 1.
fn sky_place(d: vec3<f32>) -> vec2<f32> {
    return vec2<f32>(
        0.5 - angle(d.y, d.x) / (2.0 * PI),
        angle(sqrt(d.x * d.x + d.y * d.y), d.z) / PI,
    );
}

fn sky_pixel(first: u32, width: i32, column: i32, row: i32) -> vec3<f32> {
    let wrapped = ((column % width) + width) % width;
    let k = first + 3u * u32(row * width + wrapped);
    return vec3<f32>(sky_float(k), sky_float(k + 1u), sky_float(k + 2u));
}

fn sky_bilinear(level: u32, at: vec2<f32>) -> vec3<f32> {
    let entry = LEVELS_FIRST + 1u + 3u * level;
    let width = i32(sky[entry]);
    let height = i32(sky[entry + 1u]);
    let first = sky[entry + 2u];
    let x = at.x * f32(width) - 0.5;
    let y = clamp(at.y * f32(height) - 0.5, 0.0, f32(height - 1));
    let x0 = floor(x);
    let y0 = floor(y);
    let row = i32(y0);
    let below = min(row + 1, height - 1);
    let column = i32(x0);
    let top = mix(
        sky_pixel(first, width, column, row),
        sky_pixel(first, width, column + 1, row),
        x - x0,
    );
    let bottom = mix(
        sky_pixel(first, width, column, below),
        sky_pixel(first, width, column + 1, below),
        x - x0,
    );
    return mix(top, bottom, y - y0);
}

// Light around a direction, averaged over the part of the sky that a surface mirrors.
fn reflected(d: vec3<f32>, roughness: f32) -> vec3<f32> {
    let width = f32(sky[LEVELS_FIRST + 1u]);
    let last = sky[LEVELS_FIRST] - 1u;
    let level = log2(max(width * roughness * roughness * 0.25, 1.0));
    let lower = min(u32(level), last);
    let at = sky_place(d);
    let a = sky_bilinear(lower, at);
    let b = sky_bilinear(min(lower + 1u, last), at);
    return a + (b - a) * min(level - f32(lower), 1.0);
}

fn cube_pixel(first: u32, width: u32, at: vec2<u32>) -> vec3<f32> {
    return unpack4x8unorm(sky[first + at.y * width + at.x]).xyz;
}

// Screen colour of a cube's image in a direction in the world.
fn cube_color(d_w: vec3<f32>) -> vec3<f32> {
    // The axes of the cube are the axes x, z, -y of the world.
    let d = vec3<f32>(d_w.x, d_w.z, -d_w.y);
    let a = abs(d);
    var face = select(4u, 5u, d.z < 0.0);
    var size = a.z;
    // To the right and down in the image.
    var at = vec2<f32>(select(d.x, -d.x, d.z < 0.0), -d.y);
    if (a.x >= a.y && a.x >= a.z) {
        face = select(0u, 1u, d.x < 0.0);
        size = a.x;
        at = vec2<f32>(select(-d.z, d.z, d.x < 0.0), -d.y);
    } else if (a.y >= a.z) {
        face = select(2u, 3u, d.y < 0.0);
        size = a.y;
        at = vec2<f32>(d.x, select(d.z, -d.z, d.y < 0.0));
    }
    let entry = FACES_FIRST + 3u * face;
    let width = sky[entry];
    let first = sky[entry + 2u];
    let last = vec2<u32>(width, sky[entry + 1u]) - 1u;
    let place = (0.5 + 0.5 * at / max(size, 1.0e-30)) * vec2<f32>(last + 1u) - 0.5;
    let clamped = clamp(place, vec2<f32>(0.0), vec2<f32>(last));
    let low = min(vec2<u32>(clamped), last);
    let high = min(low + 1u, last);
    let f = clamped - vec2<f32>(low);
    let top = mix(
        cube_pixel(first, width, low),
        cube_pixel(first, width, vec2<u32>(high.x, low.y)),
        f.x,
    );
    let bottom = mix(
        cube_pixel(first, width, vec2<u32>(low.x, high.y)),
        cube_pixel(first, width, high),
        f.x,
    );
    return mix(top, bottom, f.y);
}
