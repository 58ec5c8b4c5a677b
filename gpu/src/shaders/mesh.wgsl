// Triangles of meshes. Corners are snapped to 1/256 pixel, as the CPU engine does, so that both
// cover the same pixels, wherever the image is in the atlas. A triangle that the near plane cuts,
// or that is far outside the image, is intersected with the ray of every pixel instead.

struct MeshVertex {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) index: u32,
    @location(1) @interpolate(flat) triangle: u32,
    // 1 if the fragment must test whether the ray hits the triangle.
    @location(2) @interpolate(flat) test: u32,
}

// Words of a triangle: corners, gradients of the weights, normals, plane normal, material.
const CORNERS: u32 = 0u;
const WEIGHTS: u32 = 9u;
const NORMALS: u32 = 15u;
const PLANE: u32 = 24u;
const MATERIAL: u32 = 27u;

fn word3(k: u32) -> vec3<f32> {
    return vec3<f32>(words[k], words[k + 1u], words[k + 2u]);
}

fn corner_in_camera(i: Instance, triangle: u32, k: u32) -> vec3<f32> {
    let p = word3(triangle * TRIANGLE + CORNERS + 3u * k);
    return vec3<f32>(
        i.rows[0].x * p.x + i.rows[0].y * p.y + i.rows[0].z * p.z + i.rows[0].w,
        i.rows[1].x * p.x + i.rows[1].y * p.y + i.rows[1].z * p.z + i.rows[1].w,
        i.rows[2].x * p.x + i.rows[2].y * p.y + i.rows[2].z * p.z + i.rows[2].w,
    );
}

fn project(tile: Tile, p: vec3<f32>) -> vec2<f32> {
    return p.xy * (1.0 / p.z) * tile.focal + tile.center;
}

fn is_outside(p: vec2<f32>) -> bool {
    return !(abs(p.x) <= globals.guard.x && abs(p.y) <= globals.guard.y);
}

@vertex
fn mesh_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) index: u32,
) -> MeshVertex {
    let instance = instances[index];
    let tile = tiles[instance.tile];
    let triangle = vertex / 3u;
    let k = vertex % 3u;
    let a = corner_in_camera(instance, triangle, 0u);
    let b = corner_in_camera(instance, triangle, 1u);
    let c = corner_in_camera(instance, triangle, 2u);
    var out: MeshVertex;
    out.index = index;
    out.triangle = triangle;
    out.test = 0u;
    let nearest = min(min(a.z, b.z), c.z);
    let farthest = max(max(a.z, b.z), c.z);
    if (farthest < tile.near) {
        // Behind the near plane: no area.
        out.position = vec4<f32>(-2.0, -2.0, 0.5, 1.0);
        return out;
    }
    let pa = project(tile, a);
    let pb = project(tile, b);
    let pc = project(tile, c);
    if (nearest < tile.near || is_outside(pa) || is_outside(pb) || is_outside(pc)) {
        // A triangle that contains the whole image.
        out.test = 1u;
        let corner = vec2<f32>(select(0.0, 2.0, k == 1u), select(0.0, 2.0, k == 2u));
        out.position = clip(tile, corner * tile.size);
        return out;
    }
    let p = select(select(pc, pb, k == 1u), pa, k == 0u);
    let snapped = round(p * 256.0) * 0.00390625;
    // Pixel centres are whole numbers here, and half numbers in the atlas.
    out.position = clip(tile, snapped + 0.5);
    return out;
}

fn smooth_normal(first: u32, weights: vec2<f32>) -> vec3<f32> {
    let n0 = word3(first + NORMALS);
    let n1 = word3(first + NORMALS + 3u);
    let n2 = word3(first + NORMALS + 6u);
    return unit(n0 + n1 * weights.x + n2 * weights.y);
}

// A point of a mesh at which textures are sampled.
struct MeshPoint {
    triangle: u32,
    // Weights of the second and the third corner.
    weights: vec2<f32>,
    // Size of a screen pixel at the point (m).
    pixel: f32,
    // Area of the parallelogram of the weights' gradients (1/m^2).
    area: f32,
}

// Colour and opacity of the texture with this index plus 1.
fn sampled_at(texture: u32, at: MeshPoint) -> vec4<f32> {
    let t = 3u * (texture - 1u);
    let u_row = bitcast<vec3<f32>>(textures[t + 1u].xyz);
    let v_row = bitcast<vec3<f32>>(textures[t + 2u].xyz);
    let of_set = select(materials.uvs, materials.second_uvs, textures[t + 1u].w == 1u);
    var uv = vec2<f32>(0.0);
    var per_metre = 0.0;
    if (of_set > 0u) {
        let k = of_set + 6u * at.triangle;
        let du = vec2<f32>(words[k + 2u], words[k + 3u]);
        let dv = vec2<f32>(words[k + 4u], words[k + 5u]);
        uv = vec2<f32>(words[k], words[k + 1u]) + du * at.weights.x + dv * at.weights.y;
        per_metre = sqrt(abs(du.x * dv.y - du.y * dv.x) * at.area);
    }
    let stretch = sqrt(abs(u_row.x * v_row.y - u_row.y * v_row.x));
    let moved = vec2<f32>(
        u_row.x * uv.x + u_row.y * uv.y + u_row.z,
        v_row.x * uv.x + v_row.y * uv.y + v_row.z,
    );
    // As in the CPU engine, coordinates that are no numbers count as 0.
    let finite = select(vec2<f32>(0.0), moved, abs(moved) < vec2<f32>(HUGE));
    return sampled(textures[t], finite, at.pixel * per_metre * stretch);
}

// Unit normal according to the normal map, on the front of the surface like n.
fn mapped_normal(material: Material, at: MeshPoint, n: vec3<f32>) -> vec3<f32> {
    let k = materials.tangents + 12u * at.triangle;
    let t0 = word3(k);
    let t1 = word3(k + 4u);
    let t2 = word3(k + 8u);
    let tangent = t0 + (t1 - t0) * at.weights.x + (t2 - t0) * at.weights.y;
    // The sign is the same for all corners.
    let bitangent = cross(n, tangent) * words[k + 3u];
    let texel = sampled_at(material.normal, at).xyz * 2.0 - 1.0;
    let bent = (tangent * texel.x + bitangent * texel.y) * material.normal_scale + n * texel.z;
    let norm = sqrt(dot(bent, bent));
    // Also where there is no tangent, or the scale is too large for a number.
    return select(n, bent / max(norm, 1.0e-6), norm > 1.0e-6 && norm < HUGE);
}

@fragment
fn mesh_fragment(in: MeshVertex) -> Fragment {
    let instance = instances[in.index];
    let tile = tiles[instance.tile];
    let pixel = floor(in.position.xy) - tile.origin;
    let ray = pixel_ray(tile, pixel);
    let o = instance.camera.xyz;
    let d = from_camera(instance, ray);
    let first = in.triangle * TRIANGLE;
    let corner = word3(first + CORNERS);
    let plane = word3(first + PLANE);
    let a = corner_in_camera(instance, in.triangle, 0u).z;
    let b = corner_in_camera(instance, in.triangle, 1u).z;
    let c = corner_in_camera(instance, in.triangle, 2u).z;
    let slope = dot(plane, d);
    var z = dot(plane, corner - o) / select(slope, 1.0e-30, abs(slope) < 1.0e-30);
    let gv = word3(first + WEIGHTS);
    let gw = word3(first + WEIGHTS + 3u);
    if (in.test == 1u) {
        let q = o + d * z - corner;
        let v = dot(q, gv);
        let w = dot(q, gw);
        if (abs(slope) < 1.0e-30 || !(v >= 0.0 && w >= 0.0 && v + w <= 1.0 && z >= tile.near)) {
            discard;
        }
    } else {
        // Snapping can put a pixel slightly outside the triangle.
        z = clamp(z, min(min(a, b), c), max(max(a, b), c));
    }
    let inside = pixel.x >= 0.0 && pixel.y >= 0.0 && pixel.x < tile.size.x && pixel.y < tile.size.y;
    if (!inside || !(z <= tile.far)) {
        discard;
    }
    var out: Fragment;
    out.depth = far_depth(tile, z);
    out.z = z;
    out.label = instance.label;
    out.color = vec4<f32>(0.0, 0.0, 0.0, 1.0);
    if (globals.shade == 0u) {
        return out;
    }
    let q = o + d * z - corner;
    let v = clamp(dot(q, gv), 0.0, 1.0);
    let w = clamp(dot(q, gw), 0.0, 1.0 - v);
    let number = u32(words[first + MATERIAL]);
    let material = materials.all[number];
    // Triangles without a material in the file have the colour of the visual.
    var color = select(material.color, instance.color, number == 0u);
    var at: MeshPoint;
    at.triangle = in.triangle;
    at.weights = vec2<f32>(v, w);
    at.pixel = z / tile.focal.x;
    at.area = length(cross(gv, gw));
    if (material.texture > 0u) {
        let sample = sampled_at(material.texture, at);
        let rgb = select(sample.xyz, to_linear(sample.xyz), instance.physical == 1u);
        color = vec4<f32>(color.xyz * rgb, color.w * sample.w);
    }
    if (material.opacity > 0u) {
        color.w *= sampled_at(material.opacity, at).x;
    }
    if (materials.colors > 0u) {
        let k = materials.colors + 12u * in.triangle;
        let c0 = vec4<f32>(words[k], words[k + 1u], words[k + 2u], words[k + 3u]);
        let c1 = vec4<f32>(words[k + 4u], words[k + 5u], words[k + 6u], words[k + 7u]);
        let c2 = vec4<f32>(words[k + 8u], words[k + 9u], words[k + 10u], words[k + 11u]);
        color *= c0 + (c1 - c0) * v + (c2 - c0) * w;
    }
    if (globals.cut_masks == 1u && color.w < material.cutoff) {
        discard;
    }
    var n_g = smooth_normal(first, vec2<f32>(v, w));
    if (material.normal > 0u && materials.tangents > 0u) {
        n_g = mapped_normal(material, at, n_g);
    }
    var s: Surface;
    // The back of a surface is lit like its front.
    s.n = to_camera(instance, select(n_g, -n_g, dot(cross(gv, gw), d) > 0.0));
    s.color = color.xyz;
    s.metallic = material.metallic;
    s.roughness = material.roughness;
    if (material.metallic_roughness > 0u) {
        let factors = sampled_at(material.metallic_roughness, at);
        s.roughness *= factors.y;
        s.metallic *= factors.z;
    }
    s.occlusion = 1.0;
    if (material.occlusion > 0u) {
        let sample = sampled_at(material.occlusion, at).x;
        s.occlusion = 1.0 + material.emissive.w * (sample - 1.0);
    }
    s.emissive = material.emissive.xyz;
    if (material.emission > 0u) {
        s.emissive *= to_linear(sampled_at(material.emission, at).xyz);
    }
    if (material.unlit == 1u) {
        // An unlit surface receives no light and emits its colour.
        s.occlusion = 0.0;
        s.emissive = color.xyz;
    }
    out.color = shaded(tile, instance.physical, s, ray * z, ray);
    return out;
}
