// Shapes, drawn exactly: the rectangle of each, and one intersection per pixel.

struct PrimitiveVertex {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) index: u32,
}

@vertex
fn primitive_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) index: u32,
) -> PrimitiveVertex {
    let instance = instances[index];
    let right = vertex == 1u || vertex == 2u || vertex == 4u;
    let bottom = vertex == 2u || vertex == 4u || vertex == 5u;
    let corner = vec2<i32>(
        select(instance.rect.x, instance.rect.z, right),
        select(instance.rect.y, instance.rect.w, bottom),
    );
    var out: PrimitiveVertex;
    out.position = clip(tiles[instance.tile], vec2<f32>(corner));
    out.index = index;
    return out;
}

@fragment
fn primitive_fragment(in: PrimitiveVertex) -> Fragment {
    let instance = instances[in.index];
    let tile = tiles[instance.tile];
    let pixel = floor(in.position.xy) - tile.origin;
    let ray = pixel_ray(tile, pixel);
    let o = instance.camera.xyz;
    let d = from_camera(instance, ray);
    let span = intersect(instance.kind, instance.size.xyz, o, d);
    // Where the near plane cuts the front away, the inside of the back is visible.
    let z = select(span.y, span.x, span.x >= tile.near);
    if (is_empty(span) || !(z >= tile.near) || !(z <= tile.far)) {
        discard;
    }
    var out: Fragment;
    out.depth = far_depth(tile, z);
    out.z = z;
    out.label = instance.label;
    out.color = vec4<f32>(0.0, 0.0, 0.0, 1.0);
    if (globals.shade == 1u) {
        let n_g = shape_normal(instance.kind, instance.size.xyz, o + d * z);
        let n = select(n_g, -n_g, dot(n_g, d) > 0.0);
        var s: Surface;
        s.n = to_camera(instance, n);
        s.color = instance.color.xyz;
        s.metallic = 0.0;
        s.roughness = PROMOTED_ROUGHNESS;
        s.occlusion = 1.0;
        s.emissive = vec3<f32>(0.0);
        out.color = shaded(tile, instance.physical, s, ray * z, ray);
    }
    return out;
}
