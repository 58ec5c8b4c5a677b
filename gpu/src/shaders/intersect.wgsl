// Intersection of rays with shapes, in the frame of the shape. A span holds the depths at which a
// ray enters and leaves a convex body; it is empty where the first exceeds the second.

const EMPTY: vec2<f32> = vec2<f32>(3.0e38, -3.0e38);
const ALL: vec2<f32> = vec2<f32>(-3.0e38, 3.0e38);

fn is_empty(span: vec2<f32>) -> bool {
    return !(span.x <= span.y);
}

fn ordered(a: f32, b: f32) -> vec2<f32> {
    return vec2<f32>(min(a, b), max(a, b));
}

// Range in which `|o + t d| <= half`.
fn slab(o: f32, d: f32, half: f32) -> vec2<f32> {
    if (abs(d) < 1.0e-30) {
        return select(EMPTY, ALL, abs(o) <= half);
    }
    return ordered((-half - o) / d, (half - o) / d);
}

// Range in which `o + t d` is within the unit sphere; `axes` selects the coordinates that count.
fn unit_sphere(o: vec3<f32>, d: vec3<f32>) -> vec2<f32> {
    let a = dot(d, d);
    let b = dot(o, d);
    if (a < 1.0e-30) {
        return select(EMPTY, ALL, dot(o, o) <= 1.0);
    }
    let c = cross(o, d);
    let discriminant = a - dot(c, c);
    if (discriminant < 0.0) {
        return EMPTY;
    }
    // |o|^2 - 1 without the cancellation of squares.
    let length = sqrt(dot(o, o));
    let outside = (length - 1.0) * (length + 1.0);
    // The root of larger magnitude first; the other from the product of both.
    let root = sqrt(discriminant);
    let q = -(b + select(-root, root, b >= 0.0));
    if (q == 0.0) {
        return vec2<f32>(0.0, 0.0);
    }
    return ordered(q / a, outside / q);
}

fn meet(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(max(a.x, b.x), min(a.y, b.y));
}

fn join(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    if (is_empty(a)) {
        return b;
    }
    if (is_empty(b)) {
        return a;
    }
    return vec2<f32>(min(a.x, b.x), max(a.y, b.y));
}

fn intersect(kind: u32, size: vec3<f32>, o: vec3<f32>, d: vec3<f32>) -> vec2<f32> {
    switch (kind) {
        case ELLIPSOID: {
            return unit_sphere(o / size, d / size);
        }
        case CUBOID: {
            return meet(
                slab(o.x, d.x, size.x),
                meet(slab(o.y, d.y, size.y), slab(o.z, d.z, size.z)),
            );
        }
        case CYLINDER, CAPSULE: {
            let radius = size.x;
            let half = size.z;
            let side = meet(
                unit_sphere(vec3<f32>(o.xy / radius, 0.0), vec3<f32>(d.xy / radius, 0.0)),
                slab(o.z, d.z, half),
            );
            if (kind == CYLINDER) {
                return side;
            }
            let up = vec3<f32>(0.0, 0.0, half);
            let caps = join(
                unit_sphere((o - up) / radius, d / radius),
                unit_sphere((o + up) / radius, d / radius),
            );
            return join(side, caps);
        }
        default: {
            // A half space: the plane z = 0, seen from both sides. The camera is never closer than
            // a nanometre.
            let height = select(o.z, select(-1.0e-9, 1.0e-9, o.z >= 0.0), abs(o.z) < 1.0e-9);
            if (abs(d.z) < 1.0e-30) {
                return EMPTY;
            }
            let t = -height / d.z;
            return vec2<f32>(t, t);
        }
    }
}

fn side_of(x: f32) -> f32 {
    return select(-1.0, 1.0, x >= 0.0);
}

// Outward unit normal at a point of the surface.
fn shape_normal(kind: u32, size: vec3<f32>, x: vec3<f32>) -> vec3<f32> {
    switch (kind) {
        case ELLIPSOID: {
            return unit(x / (size * size));
        }
        case CUBOID: {
            let to = abs(abs(x) - size);
            if (to.x <= to.y && to.x <= to.z) {
                return vec3<f32>(side_of(x.x), 0.0, 0.0);
            }
            if (to.y <= to.z) {
                return vec3<f32>(0.0, side_of(x.y), 0.0);
            }
            return vec3<f32>(0.0, 0.0, side_of(x.z));
        }
        case CYLINDER: {
            let rho = sqrt(dot(x.xy, x.xy));
            if (abs(rho - size.x) <= abs(abs(x.z) - size.z)) {
                return vec3<f32>(x.xy / max(rho, TINY), 0.0);
            }
            return vec3<f32>(0.0, 0.0, side_of(x.z));
        }
        case CAPSULE: {
            let z = x.z - clamp(x.z, -size.z, size.z);
            return vec3<f32>(x.xy, z) / size.x;
        }
        default: {
            return vec3<f32>(0.0, 0.0, 1.0);
        }
    }
}
