// Reflection of light: Lambert's law without ambient light, or glTF's metallic-roughness model, and
// tone mapping. The equations are those of the CPU engine.

struct Surface {
    // Unit normal on the camera's side, in the camera frame.
    n: vec3<f32>,
    color: vec3<f32>,
    metallic: f32,
    roughness: f32,
    // Part of the light that arrives.
    occlusion: f32,
    emissive: vec3<f32>,
}

// Linear light to screen values, without an upper limit.
fn to_screen(light: vec3<f32>) -> vec3<f32> {
    let least = vec3<f32>(1.0e-8);
    let screen = pow(max(light, least), vec3<f32>(1.0 / GAMMA));
    return select(vec3<f32>(0.0), screen, light >= least);
}

fn to_linear(screen: vec3<f32>) -> vec3<f32> {
    return select(
        vec3<f32>(0.0),
        pow(max(screen, vec3<f32>(1.0e-12)), vec3<f32>(GAMMA)),
        screen > vec3<f32>(0.0),
    );
}

// Maps screen colours of any brightness to [0, 1].
fn tone_mapped(color: vec3<f32>) -> vec3<f32> {
    let light = pow(max(color, vec3<f32>(1.0e-6)), vec3<f32>(GAMMA)) * globals.curve.x;
    let top = pow(max(light, vec3<f32>(TINY)), vec3<f32>(CONTRAST));
    let bottom = pow(max(top, vec3<f32>(TINY)), vec3<f32>(SHOULDER)) * globals.curve.y
        + globals.curve.z;
    return to_screen(min(top / bottom, vec3<f32>(1.0)));
}

// Unit vector towards a light, and its strength.
fn arriving(light: Light, x: vec3<f32>) -> vec4<f32> {
    let kind = u32(light.color.w);
    if (kind == DIRECTIONAL) {
        return vec4<f32>(light.towards.xyz, 1.0);
    }
    let way = light.position.xyz - x;
    let distance = max(sqrt(dot(way, way)), 1.0e-18);
    let towards = way / distance;
    let a = light.attenuation;
    var strength = 1.0 / max(a.x + distance * (a.y + a.z * distance), TINY);
    if (kind == SPOT && dot(towards, light.towards.xyz) < light.position.w) {
        strength = 0.0;
    }
    return vec4<f32>(towards, min(strength, 1.0e18));
}

fn fifth(x: f32) -> f32 {
    let x2 = x * x;
    return x2 * x2 * x;
}

fn masked(a: f32, b: f32, a2: f32) -> f32 {
    return a * sqrt(b * b * (1.0 - a2) + a2);
}

fn physical_color(tile: Tile, s: Surface, x: vec3<f32>, d: vec3<f32>) -> vec3<f32> {
    let v = unit(-d);
    let nv = dot(s.n, v);
    let nv_lit = max(nv, 1.0e-4);
    let roughness = max(s.roughness, LEAST_ROUGHNESS);
    let diffuse = s.color * (1.0 - s.metallic);
    let f0 = vec3<f32>(DIELECTRIC) + (s.color - DIELECTRIC) * s.metallic;
    let alpha = roughness * roughness;
    let a2 = alpha * alpha;
    var sum = vec3<f32>(0.0);
    for (var k = 0u; k < globals.lights; k += 1u) {
        let light = lights[tile.first_light + k];
        let at = arriving(light, x);
        let to_light = dot(s.n, at.xyz);
        let nl = max(to_light, 0.0);
        let half_q = max(1.0 + dot(at.xyz, v), 0.0);
        let q = half_q + half_q;
        let nh = max(to_light + nv, 0.0);
        let vh = sqrt(half_q * 0.5);
        let bottom = q - nh * nh * (1.0 - a2);
        let m = masked(nl, nv_lit, a2) + masked(nv_lit, nl, a2);
        let top = a2 * q * q * (0.5 / PI);
        let lobe = top / max(bottom * bottom * m, TINY);
        let fresnel = fifth(1.0 - min(vh, 1.0));
        let f = f0 + (1.0 - f0) * fresnel;
        let scattered = (1.0 - f) * diffuse * (1.0 / PI);
        sum += (scattered + f * min(lobe, 1.0e18)) * (nl * at.w) * light.color.xyz;
    }
    if (globals.environment == 1u) {
        let mirrored = s.n * (nv_lit + nv_lit) - v;
        let n_w = to_world(tile, s.n);
        let light = reflected(to_world(tile, mirrored), roughness);
        let ab = reflectance(min(nv_lit, 1.0), roughness);
        let f = f0 * ab.x + ab.y;
        sum += (1.0 - f) * diffuse * irradiance(n_w) + f * light;
    }
    return to_screen(sum * s.occlusion + s.emissive);
}

fn matt_color(tile: Tile, s: Surface, x: vec3<f32>) -> vec3<f32> {
    var sum = vec3<f32>(0.0);
    for (var k = 0u; k < globals.lights; k += 1u) {
        let light = lights[tile.first_light + k];
        let at = arriving(light, x);
        sum += max(dot(s.n, at.xyz), 0.0) * at.w * light.color.xyz;
    }
    return sum * s.color;
}

// Colour in [0, 1] of a point x of a surface, seen along the ray d, both in the camera frame.
fn shaded(tile: Tile, physical: u32, s: Surface, x: vec3<f32>, d: vec3<f32>) -> vec4<f32> {
    var color: vec3<f32>;
    if (physical == 1u) {
        color = physical_color(tile, s, x, d);
    } else {
        color = matt_color(tile, s, x);
    }
    if (globals.curve.w == 1.0) {
        color = tone_mapped(color);
    }
    return vec4<f32>(clamp(color, vec3<f32>(0.0), vec3<f32>(1.0)), 1.0);
}
