// Background of colour images with a sky or tone mapping: one rectangle per image.

struct BackgroundVertex {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) tile: u32,
}

@vertex
fn background_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) index: u32,
) -> BackgroundVertex {
    let tile = tiles[index];
    let right = vertex == 1u || vertex == 2u || vertex == 4u;
    let bottom = vertex == 2u || vertex == 4u || vertex == 5u;
    let corner = vec2<f32>(select(0.0, tile.size.x, right), select(0.0, tile.size.y, bottom));
    var out: BackgroundVertex;
    out.position = clip(tile, corner);
    out.tile = index;
    return out;
}

@fragment
fn background_fragment(in: BackgroundVertex) -> @location(0) vec4<f32> {
    let tile = tiles[in.tile];
    var color = globals.clear;
    let ray = to_world(tile, pixel_ray(tile, floor(in.position.xy) - tile.origin));
    if (globals.background == BACKGROUND_PICTURE) {
        color = vec4<f32>(to_screen(sky_bilinear(0u, sky_place(ray))), 1.0);
    } else if (globals.background == BACKGROUND_CUBE) {
        color = vec4<f32>(cube_color(ray), 1.0);
    }
    if (globals.curve.w == 1.0) {
        color = vec4<f32>(tone_mapped(color.xyz), color.w);
    }
    return clamp(color, vec4<f32>(0.0), vec4<f32>(1.0));
}
