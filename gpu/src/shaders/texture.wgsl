// Textures: bilinear sampling of the two nearest levels. Texels are half floats, so that levels
// that the CPU averages keep their precision.

fn texel(first: u32, k: u32) -> vec4<f32> {
    let packed = texels[first + k];
    return vec4<f32>(unpack2x16float(packed.x), unpack2x16float(packed.y));
}

// The pixels on both sides of a coordinate, and the fraction of the way between them.
struct Place {
    low: u32,
    high: u32,
    rest: f32,
}

fn place(at: f32, size: u32, wrap: u32) -> Place {
    let n = f32(size);
    var out: Place;
    if (wrap == REPEAT) {
        let x = (at - floor(at)) * n - 0.5;
        let low = floor(x);
        out.low = (u32(i32(low) + i32(size))) % size;
        out.high = (out.low + 1u) % size;
        out.rest = x - low;
        return out;
    }
    var x = clamp(at, 0.0, 1.0);
    if (wrap == MIRROR) {
        x = 1.0 - abs(at - 2.0 * floor(at * 0.5) - 1.0);
    }
    x = clamp(x * n - 0.5, 0.0, n - 1.0);
    out.low = min(u32(x), size - 1u);
    out.high = min(out.low + 1u, size - 1u);
    out.rest = x - f32(out.low);
    return out;
}

fn bilinear(info: vec4<u32>, level: u32, uv: vec2<f32>) -> vec4<f32> {
    let l = textures[info.x + level];
    let x = place(uv.x, l.x, info.z);
    let y = place(uv.y, l.y, info.w);
    let top = mix(
        texel(l.z, y.low * l.x + x.low),
        texel(l.z, y.low * l.x + x.high),
        x.rest,
    );
    let bottom = mix(
        texel(l.z, y.high * l.x + x.low),
        texel(l.z, y.high * l.x + x.high),
        x.rest,
    );
    return mix(top, bottom, y.rest);
}

// Colour and opacity at (u, v), with v upwards; `footprint` is the size of a screen pixel in
// texture coordinates.
fn sampled(info: vec4<u32>, at: vec2<f32>, footprint: f32) -> vec4<f32> {
    let base = textures[info.x];
    let level = log2(max(footprint * f32(max(base.x, base.y)), 1.0));
    let last = info.y - 1u;
    let lower = min(u32(level), last);
    let uv = vec2<f32>(at.x, 1.0 - at.y);
    let a = bilinear(info, lower, uv);
    let rest = level - f32(lower);
    if (lower == last || rest < 1.0e-3) {
        return a;
    }
    return mix(a, bilinear(info, lower + 1u, uv), min(rest, 1.0));
}
