//! Properties that every answer must have.

use crate::scenes::Scene;
use crate::truth::{margin, turned, vector};
use nalgebra::{Isometry3, Point3, Vector3};
use tarragon::framework::{Block, Diagram, DiagramScalar, Scalar, math};
use tarragon::geometry::proximity::distance_to_point;
use tarragon::geometry::{
    FrameId, GeometryId, PenetrationAsPointPair, Ray, RayOptions, SignedDistancePair, SourceId,
};
use tarragon::prelude::*;

/// A violated promise.
pub(crate) struct Finding {
    pub(crate) kind: String,
    pub(crate) what: String,
}

/// Returns a finding unless the condition holds.
macro_rules! promise {
    ($holds:expr, $kind:expr, $($what:tt)+) => {
        // Comparisons with NaN are false, so NaN fails.
        if $holds {
        } else {
            return Err(Finding { kind: $kind.into(), what: format!($($what)+) });
        }
    };
}

/// Tolerance of normals, witnesses and margins, relative to the extents and the distance from the
/// origin.
const TOLERANCE: f64 = 1e-12;
/// Factor on the tolerance for the amount by which the margin of a computed normal may fall short
/// of the distance. More is allowed if the cores nearly touch: the direction of the short
/// difference between their points is then rounded, which over the length of a core makes a large
/// error in the margin. The distance, which is the length of that difference, stays exact.
const LEANING: f64 = 1e4;
/// Allowed difference between values in `AutoDiff` and in `f64`, in the same units.
const SAME: f64 = 1e-14;

impl<E: std::error::Error> From<E> for Finding {
    fn from(error: E) -> Self {
        Self {
            kind: "error".into(),
            what: error.to_string(),
        }
    }
}

/// The answers in one scalar type.
struct Answers<T: Scalar> {
    distances: Vec<SignedDistancePair<T>>,
    penetrations: Vec<PenetrationAsPointPair<T>>,
    points: Vec<(T, Vector3<T>, Vector3<T>)>,
    query: QueryObject<T>,
}

/// Runs all queries; returns the number of pairs and the findings.
pub(crate) fn check(scene: &Scene) -> Result<(usize, Vec<Finding>), Finding> {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("soak")?;
    let (mut ids, mut frames) = (vec![], vec![]);
    for (i, item) in scene.items.iter().enumerate() {
        let name = format!("g{i}");
        let instance = |x: Isometry3<f64>| {
            let instance = GeometryInstance::new(x, item.solid.shape.clone(), &name);
            instance.map(|instance| instance.with_proximity(ProximityProperties::new()))
        };
        if item.anchored {
            ids.push(graph.register_anchored_geometry(source, instance(item.x_wg())?)?);
        } else {
            let frame = graph.register_frame(source, GeometryFrame::new(&name))?;
            frames.push((frame, i));
            ids.push(graph.register_geometry(source, frame, instance(Isometry3::identity())?)?);
        }
    }
    let mut b = DiagramBuilder::new();
    let block = b.add("scene_graph", graph);
    let diagram = b.build()?;

    let fixed = |_: usize, x: &Isometry3<f64>| *x;
    let plain = answers(scene, &diagram, &block, source, &frames, fixed)?;
    // The first moving geometry carries the derivatives.
    let moving = |i: usize, x: &Isometry3<f64>| {
        if i != frames[0].1 {
            return x.cast::<AutoDiff>();
        }
        let turn = Vector3::from_fn(|i, _| AutoDiff::variable(0.0, 3 + i));
        let p = Vector3::from_fn(|i, _| AutoDiff::variable(x.translation.vector[i], i));
        math::pose(math::rotation_exp(&turn) * x.rotation.cast(), p)
    };
    let dual = answers(
        scene,
        &diagram.to_scalar()?,
        &block,
        source,
        &frames,
        moving,
    )?;
    let checks = [
        check_pairs(scene, &ids, &plain),
        check_consistency(scene, &plain),
        check_limits(scene, &plain),
        check_points(scene, &plain),
        check_rays(scene, &ids, &plain, &dual),
        check_dual(scene, &ids, &plain, &dual),
    ];
    let findings = checks.into_iter().filter_map(Result::err).collect();
    Ok((plain.distances.len(), findings))
}

fn answers<T: DiagramScalar>(
    scene: &Scene,
    diagram: &Diagram<T>,
    block: &Block<SceneGraph>,
    source: SourceId,
    frames: &[(FrameId, usize)],
    pose: impl Fn(usize, &Isometry3<f64>) -> Isometry3<T>,
) -> Result<Answers<T>, Finding> {
    let ports = diagram.ports(block)?;
    let mut ctx = diagram.default_context();
    let poses = frames
        .iter()
        .map(|(frame, i)| (*frame, pose(*i, &scene.items[*i].x_wg())));
    ctx.fix(
        ports.source_pose_port(source)?,
        poses.collect::<FramePoseVector<T>>(),
    )?;
    let query = ctx.eval(ports.query)?.clone();
    let points =
        query.compute_signed_distance_to_point(&scene.point.map(T::from), f64::INFINITY)?;
    Ok(Answers {
        distances: query.compute_signed_distance_pairwise_closest_points(f64::INFINITY)?,
        penetrations: query.compute_point_pair_penetration()?,
        points: points
            .into_iter()
            .map(|d| (d.distance, d.grad_w, d.p_gn))
            .collect(),
        query,
    })
}

/// The length scale of a geometry's errors: its extent and its distance from the origin.
fn size(scene: &Scene, i: usize) -> f64 {
    let (item, origin) = (&scene.items[i], [0.0; 3]);
    let mut size = item.x_wg().translation.vector.amax();
    for axis in 0..3 {
        let mut d = origin;
        d[axis] = 1.0;
        let width = item.solid.local_support(&d) + item.solid.local_support(&d.map(|c: f64| -c));
        size += width.abs();
    }
    size
}

fn is_finite(numbers: &[&Vector3<f64>]) -> bool {
    numbers.iter().all(|v| v.iter().all(|x| x.is_finite()))
}

/// Checks unit normals, witnesses on their surfaces, and distances certified by their normals.
fn check_pairs(scene: &Scene, ids: &[GeometryId], found: &Answers<f64>) -> Result<(), Finding> {
    let number = |id: GeometryId| ids.partition_point(|other| *other < id);
    for d in &found.distances {
        let (i, j) = (number(d.id_a), number(d.id_b));
        let (a, b) = (&scene.items[i], &scene.items[j]);
        let (x_a, x_b) = (a.x_wg(), b.x_wg());
        let case = format!("g{i} and g{j}: {d:?}");
        let mut types = [a.solid.shape.type_name(), b.solid.shape.type_name()];
        types.sort_unstable();
        let of = |what: &str| format!("{what} {}-{}", types[0], types[1]);
        let vectors = [&d.nhat_ba_w, &d.p_aca, &d.p_bcb];
        promise!(
            is_finite(&vectors) && d.distance.is_finite(),
            of("not finite"),
            "{case}"
        );
        let length = d.nhat_ba_w.norm();
        promise!(
            (length - 1.0).abs() < 1e-13,
            of("normal"),
            "length {length}: {case}"
        );
        let tolerance = TOLERANCE * (size(scene, i) + size(scene, j));
        let p_a = x_a * Point3::from(d.p_aca);
        let p_b = x_b * Point3::from(d.p_bcb);
        let off = (p_a - p_b - d.nhat_ba_w * d.distance).norm();
        promise!(
            off <= tolerance,
            of("witnesses"),
            "off by {off:e} m: {case}"
        );
        // A half space is bounded only along its normal, which the found normal must therefore
        // equal.
        let mut n: [f64; 3] = vector(&-d.nhat_ba_w);
        for (item, x, sign) in [(a, &x_a, 1.0), (b, &x_b, -1.0)] {
            if matches!(item.solid.shape, Shape::HalfSpace(_)) {
                let exact: [f64; 3] = turned(x, &[0.0, 0.0, sign], false);
                let off = (0..3).map(|k| (exact[k] - n[k]).abs()).fold(0.0, f64::max);
                promise!(
                    off < 1e-13,
                    of("half space normal"),
                    "off by {off:e}: {case}"
                );
                n = exact;
            }
        }
        let bound = margin((&a.solid, &x_a), (&b.solid, &x_b), &n);
        let gap = d.distance - bound;
        let radius = |item: &Shape| match item {
            Shape::Capsule(s) => s.radius(),
            Shape::Sphere(s) => s.radius(),
            _ => 0.0,
        };
        // Separation of the cores, without the radii swept around them.
        let cores = d.distance + radius(&a.solid.shape) + radius(&b.solid.shape);
        let size = tolerance / TOLERANCE;
        let leaning = LEANING * tolerance
            + 100.0 * f64::EPSILON * size * size / cores.abs().max(f64::MIN_POSITIVE);
        promise!(
            -tolerance <= gap && gap <= leaning,
            of("margin"),
            "off by {gap:e} m: {case}"
        );
        let alone = found
            .query
            .compute_signed_distance_pair_closest_points(d.id_b, d.id_a)?;
        let same =
            (alone.distance, alone.nhat_ba_w, alone.p_aca) == (d.distance, d.nhat_ba_w, d.p_aca);
        promise!(same, of("single pair differs"), "{alone:?}: {case}");
    }
    Ok(())
}

/// The length scale of rounding errors.
fn rounding(scene: &Scene) -> f64 {
    SAME * (0..scene.items.len()).map(|i| size(scene, i)).sum::<f64>()
}

/// Two geometries and a distance.
type Near = (GeometryId, GeometryId, f64);

/// Whether `some` are those of `all` below `limit`, up to rounding at the limit.
fn are_within(some: &[Near], all: &[Near], limit: f64, rounding: f64) -> bool {
    let missing = all.iter().filter(|d| !some.contains(d));
    some.iter().all(|d| all.contains(d) && d.2 <= limit)
        && missing.into_iter().all(|d| d.2 >= limit - rounding)
}

/// Checks that the queries agree with each other bit for bit, except for pairs that merely touch.
fn check_consistency(scene: &Scene, found: &Answers<f64>) -> Result<(), Finding> {
    let query = &found.query;
    let all = found.distances.iter();
    let all: Vec<Near> = all.map(|d| (d.id_a, d.id_b, d.distance)).collect();
    let deep = found.penetrations.iter();
    let deep: Vec<Near> = deep.map(|p| (p.id_a, p.id_b, -p.depth)).collect();
    let same = are_within(&deep, &all, 0.0, rounding(scene));
    promise!(same, "penetrations", "{deep:?}, distances {all:?}");
    for p in &found.penetrations {
        let finite = is_finite(&[&p.nhat_ba_w, &p.p_wca, &p.p_wcb]) && p.depth > 0.0;
        promise!(finite, "penetration not finite", "{p:?}");
    }
    let collides = query.has_collisions()?;
    promise!(collides != deep.is_empty(), "has_collisions", "{collides}");
    let candidates = query.find_collision_candidates();
    let missing = deep.iter().find(|d| !candidates.contains(&(d.0, d.1)));
    promise!(missing.is_none(), "candidates", "{missing:?} is missing");
    Ok(())
}

/// Checks that the pairs found within a distance do not depend on the limit.
fn check_limits(scene: &Scene, found: &Answers<f64>) -> Result<(), Finding> {
    let all = found.distances.iter();
    let all: Vec<Near> = all.map(|d| (d.id_a, d.id_b, d.distance)).collect();
    let mut sorted: Vec<f64> = all.iter().map(|d| d.2).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    // Limits at zero, exactly at a distance, and between two distances.
    let between = sorted.windows(2).nth(middle).map(|w| 0.5 * (w[0] + w[1]));
    for limit in [Some(0.0), sorted.get(middle).copied(), between] {
        let Some(limit) = limit.filter(|limit| *limit >= 0.0) else {
            continue;
        };
        let near = found
            .query
            .compute_signed_distance_pairwise_closest_points(limit)?;
        let near: Vec<Near> = near.iter().map(|d| (d.id_a, d.id_b, d.distance)).collect();
        let same = are_within(&near, &all, limit, rounding(scene));
        promise!(same, "max_distance", "within {limit}: {near:?}, of {all:?}");
    }
    Ok(())
}

fn check_points(scene: &Scene, found: &Answers<f64>) -> Result<(), Finding> {
    promise!(
        found.points.len() == scene.items.len(),
        "point",
        "{} of {} geometries",
        found.points.len(),
        scene.items.len()
    );
    for (i, (item, (distance, grad_w, p_gn))) in scene.items.iter().zip(&found.points).enumerate() {
        let case = format!(
            "g{i} ({}): {distance} {grad_w:?} {p_gn:?}",
            item.solid.shape.type_name()
        );
        let of = |what: &str| format!("{what} {}", item.solid.shape.type_name());
        let finite = is_finite(&[grad_w, p_gn]) && distance.is_finite();
        promise!(finite, of("point not finite"), "{case}");
        let length = grad_w.norm();
        promise!(
            (length - 1.0).abs() < 1e-13,
            of("point gradient"),
            "length {length}: {case}"
        );
        let p_wn = item.x_wg() * Point3::from(*p_gn);
        let off = (scene.point - p_wn.coords - grad_w * *distance).norm();
        let tolerance = TOLERANCE * (size(scene, i) + scene.point.amax());
        promise!(
            off <= tolerance,
            of("point witness"),
            "off by {off:e} m: {case}"
        );
    }
    Ok(())
}

/// Rays from the scene's point towards every geometry, and one along an axis.
fn rays<T: Scalar>(scene: &Scene) -> Vec<Ray<T>> {
    let origin = scene.point;
    let targets = scene
        .items
        .iter()
        .map(|item| item.x_wg().translation.vector - origin);
    let directions = targets.filter(|d| d.norm() > 0.0).chain([Vector3::x()]);
    directions
        .map(|d| Ray::new(origin.map(T::from), d.map(T::from)))
        .collect()
}

/// Checks that hits are on the surface, along the ray, and equal in both scalars.
fn check_rays(
    scene: &Scene,
    ids: &[GeometryId],
    plain: &Answers<f64>,
    dual: &Answers<AutoDiff>,
) -> Result<(), Finding> {
    let options = RayOptions::default();
    let rays_f64 = rays::<f64>(scene);
    let hits = plain.query.cast_rays(&rays_f64, &options)?;
    let dual_hits = dual.query.cast_rays(&rays(scene), &options)?;
    let number = |id: GeometryId| ids.partition_point(|other| *other < id);
    for ((ray, hit), dual_hit) in rays_f64.iter().zip(hits).zip(dual_hits) {
        let (Some(hit), Some(dual_hit)) = (hit, dual_hit) else {
            let both = hit.is_none() && dual_hit.is_none();
            promise!(both, "ray in autodiff", "{ray:?}: {hit:?}, {dual_hit:?}");
            continue;
        };
        let i = number(hit.id_g);
        let item = &scene.items[i];
        let kind = item.solid.shape.type_name();
        let of = |what: &str| format!("{what} {kind}");
        let case = || format!("g{i}: {ray:?} {hit:?}");
        let finite = is_finite(&[&hit.p_wc, &hit.nhat_w]) && hit.distance >= 0.0;
        promise!(finite, of("ray not finite"), "{}", case());
        let length = hit.nhat_w.norm();
        promise!(
            (length - 1.0).abs() < 1e-13,
            of("ray normal"),
            "{length}: {}",
            case()
        );
        let tolerance = TOLERANCE * (size(scene, i) + scene.point.amax() + hit.distance);
        let along = ray.direction_w.normalize() * hit.distance;
        let off = (ray.origin_w + along - hit.p_wc).norm();
        promise!(
            off <= tolerance,
            of("ray point"),
            "off by {off:e} m: {}",
            case()
        );
        // The triangles of these meshes intersect each other, so there is no inside.
        if !matches!(item.solid.shape, Shape::Mesh(_)) {
            let on = distance_to_point(&item.solid.shape, &item.x_wg(), &hit.p_wc)?.distance;
            promise!(
                on.abs() <= tolerance,
                of("ray surface"),
                "off by {on:e} m: {}",
                case()
            );
        }
        let same = (dual_hit.distance.re - hit.distance).abs() <= tolerance;
        promise!(same, of("ray in autodiff"), "{dual_hit:?} {}", case());
    }
    Ok(())
}

/// Checks that values equal those in `f64` and derivatives are finite. Among equally deep
/// directions each scalar may choose its own, so vectors are checked by their properties.
fn check_dual(
    scene: &Scene,
    ids: &[GeometryId],
    plain: &Answers<f64>,
    dual: &Answers<AutoDiff>,
) -> Result<(), Finding> {
    let rounding = rounding(scene) + SAME * scene.point.amax();
    let differ = |a: f64, b: &AutoDiff| (a - b.re).abs() > rounding;
    let no_number = |b: &AutoDiff| b.eps.iter().any(|e| !e.is_finite());
    let same = plain.distances.len() == dual.distances.len();
    promise!(same, "autodiff pairs", "other pairs than in f64");
    let number = |id: GeometryId| ids.partition_point(|other| *other < id);
    for (a, b) in plain.distances.iter().zip(&dual.distances) {
        let case = || format!("{a:?}, {b:?}");
        promise!(
            !differ(a.distance, &b.distance),
            "autodiff value",
            "{}",
            case()
        );
        let vectors = [&b.nhat_ba_w, &b.p_aca, &b.p_bcb];
        let finite = !vectors.iter().any(|v| v.iter().any(no_number)) && !no_number(&b.distance);
        promise!(finite, "derivative not finite", "{}", case());
        let [n, p_a, p_b] = vectors.map(|v| v.map(|c| c.re));
        let (x_a, x_b) = [b.id_a, b.id_b]
            .map(|id| scene.items[number(id)].x_wg())
            .into();
        let off = x_a * Point3::from(p_a) - x_b * Point3::from(p_b) - n * b.distance.re;
        let tolerance = rounding * (TOLERANCE / SAME);
        let kept = (n.norm() - 1.0).abs() < 1e-13 && off.norm() <= tolerance;
        promise!(
            kept,
            "autodiff witnesses",
            "off by {:e} m: {}",
            off.norm(),
            case()
        );
    }
    let all = dual.distances.iter();
    let all: Vec<Near> = all.map(|d| (d.id_a, d.id_b, d.distance.re)).collect();
    let deep = dual.penetrations.iter();
    let deep: Vec<Near> = deep.map(|p| (p.id_a, p.id_b, -p.depth.re)).collect();
    let same = are_within(&deep, &all, 0.0, rounding);
    promise!(same, "autodiff penetrations", "{deep:?}, distances {all:?}");
    for ((a, _, _), (b, grad, p)) in plain.points.iter().zip(&dual.points) {
        promise!(!differ(*a, b), "autodiff point", "{a}, {b:?}");
        let finite = !no_number(b) && !grad.iter().chain(p.iter()).any(no_number);
        promise!(
            finite,
            "point derivative not finite",
            "{b:?} {grad:?} {p:?}"
        );
    }
    Ok(())
}
