//! Queries while everything moves: earlier queries never change an answer.

use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, Capsule, CollisionFilterDeclaration, Cylinder, Ellipsoid, FrameId, FramePoseVector,
    GeometryFrame, GeometryId, GeometryInstance, GeometryState, HalfSpace, HeightField,
    IllustrationProperties, PenetrationAsPointPair, ProximityProperties, QueryObject, Ray,
    RayOptions, Role, SceneGraph, SceneGraphPorts, Shape, SourceId, Sphere, cast_ray, proximity,
};

struct Scene {
    diagram: Diagram<f64>,
    ports: SceneGraphPorts<f64>,
    source: SourceId,
    frames: Vec<FrameId>,
    ids: Vec<GeometryId>,
}

fn shape(kind: usize) -> Shape {
    match kind % 5 {
        0 => Sphere::new(0.3).unwrap().into(),
        1 => BoxShape::new(0.3, 0.5, 0.7).unwrap().into(),
        2 => Capsule::new(0.2, 0.6).unwrap().into(),
        3 => Cylinder::new(0.3, 0.4).unwrap().into(),
        _ => Ellipsoid::new(0.2, 0.3, 0.4).unwrap().into(),
    }
}

fn place(r: [f64; 3], p: [f64; 3]) -> Isometry3<f64> {
    math::pose(math::rotation_exp(&Vector3::from(r)), Vector3::from(p))
}

/// A scene of moving shapes (some off the origin of their frame), anchored shapes, a floor and a
/// moving wall.
fn scene(n: usize) -> Scene {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let (mut frames, mut ids) = (vec![], vec![]);
    for i in 0..n {
        let frame = GeometryFrame::new(format!("f{i}"));
        let frame = graph.register_frame(source, frame).unwrap();
        let x_fg = if i % 3 == 0 {
            place([0.1, 0.2, 0.3], [0.2, 0.0, 0.1])
        } else {
            Isometry3::identity()
        };
        let mut g = GeometryInstance::new(x_fg, shape(i), "g")
            .unwrap()
            .with_proximity(ProximityProperties::new());
        if i % 2 == 0 {
            g = g.with_illustration(IllustrationProperties::new());
        }
        ids.push(graph.register_geometry(source, frame, g).unwrap());
        frames.push(frame);
    }
    for (i, p) in [[1.0, 0.5, 0.2], [-1.0, 0.0, 0.4], [0.0, -1.5, 0.1]]
        .into_iter()
        .enumerate()
    {
        let g = GeometryInstance::new(
            place([0.5, 0.1, 0.0], p),
            shape(i + 1),
            &format!("anchored{i}"),
        )
        .unwrap()
        .with_proximity(ProximityProperties::new());
        ids.push(graph.register_anchored_geometry(source, g).unwrap());
    }
    let heights = (0..72)
        .map(|i| 0.4 * f64::from(i * i % 11) / 10.0)
        .collect();
    let hills = HeightField::new(8, 9, heights, [5.0, 4.0], 0.2).unwrap();
    let hills = GeometryInstance::new(place([0.1, -0.2, 0.6], [0.0, 0.0, -1.2]), hills, "hills")
        .unwrap()
        .with_proximity(ProximityProperties::new());
    ids.push(graph.register_anchored_geometry(source, hills).unwrap());
    let floor = GeometryInstance::new(place([0.0; 3], [0.0, 0.0, -1.5]), HalfSpace, "floor")
        .unwrap()
        .with_proximity(ProximityProperties::new());
    ids.push(graph.register_anchored_geometry(source, floor).unwrap());
    let frame = graph
        .register_frame(source, GeometryFrame::new("wall"))
        .unwrap();
    let wall = GeometryInstance::new(place([0.0, 1.5, 0.0], [-2.0, 0.0, 0.0]), HalfSpace, "wall")
        .unwrap()
        .with_proximity(ProximityProperties::new());
    let wall = graph.register_geometry(source, frame, wall).unwrap();
    frames.push(frame);
    // The distance of two half spaces is undefined, so this pair is filtered.
    let planes = vec![wall, ids[ids.len() - 1]];
    ids.push(wall);
    let filter = CollisionFilterDeclaration::new().exclude_within(planes);
    graph.apply_collision_filter(&filter).unwrap();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene", graph);
    let (diagram, ports) = (b.build().unwrap(), graph.ports().clone());
    Scene {
        diagram,
        ports,
        source,
        frames,
        ids,
    }
}

impl Scene {
    fn pose(&self, ctx: &mut Context<f64>, poses: &[Isometry3<f64>]) {
        let poses = self.frames.iter().copied().zip(poses.iter().copied());
        let port = self.ports.source_pose_port(self.source).unwrap();
        ctx.fix(port, FramePoseVector::from_iter(poses)).unwrap();
    }
}

/// The results of all queries on a snapshot, as text that shows every bit.
fn answers(query: &QueryObject<f64>, rays: &[Ray]) -> Vec<String> {
    let inspector = query.inspector();
    let mut all = vec![
        format!("{:?}", query.compute_point_pair_penetration().unwrap()),
        format!("{:?}", query.find_collision_candidates()),
        format!("{:?}", query.has_collisions().unwrap()),
    ];
    for distance in [-0.1, 0.0, 0.2, 1.0, f64::INFINITY] {
        let pairs = query
            .compute_signed_distance_pairwise_closest_points(distance)
            .unwrap();
        all.push(format!("{pairs:?}"));
        for id in inspector.geometry_ids_with_role(Role::Proximity) {
            let own = query
                .compute_signed_distance_geometry_closest_points(id, distance)
                .unwrap();
            let of_all = pairs.iter().filter(|p| p.id_a == id || p.id_b == id);
            assert_eq!(
                format!("{own:?}"),
                format!("{:?}", of_all.collect::<Vec<_>>())
            );
        }
        let points: Vec<Vector3<f64>> = rays.iter().map(|r| r.origin_w).collect();
        let near = query
            .compute_signed_distance_to_points(&points, distance)
            .unwrap();
        for (p, near) in points.iter().zip(&near) {
            let one = query.compute_signed_distance_to_point(p, distance).unwrap();
            assert_eq!(format!("{near:?}"), format!("{one:?}"));
        }
        all.push(format!("{near:?}"));
    }
    for role in [Role::Proximity, Role::Illustration] {
        let options = RayOptions {
            role,
            max_distance: 6.0,
            ..RayOptions::default()
        };
        all.push(format!("{:?}", query.cast_rays(rays, &options).unwrap()));
    }
    all
}

/// Checks pairs within a reach of their own against the distances of all pairs.
fn check_reaches(query: &QueryObject<f64>, all: &[(GeometryId, GeometryId, f64)]) {
    let reach = |a: GeometryId, b: GeometryId| {
        let reaches = [None, Some(-0.1), Some(0.0), Some(0.2), Some(0.5)];
        reaches[(a.value() + b.value()) as usize % 5]
    };
    let near = all
        .iter()
        .filter(|(a, b, d)| reach(*a, *b).is_some_and(|r| *d < r));
    let near: Vec<_> = near.copied().collect();
    let mut found = vec![];
    query
        .update_point_pairs_within(0.5, reach, &mut found)
        .unwrap();
    let points = found.iter().map(|pair| &pair.real);
    let numbers: Vec<_> = points.clone().map(|p| (p.id_a, p.id_b, -p.depth)).collect();
    assert_eq!(numbers, near);
    for p in points {
        let along = p.p_wca - p.p_wcb + p.nhat_ba_w * p.depth;
        assert!(along.norm() < 1e-7, "{p:?}");
    }
    let manifolds = query.compute_manifolds_within(0.5, reach).unwrap();
    let pair = |p: &PenetrationAsPointPair<f64>| (p.id_a, p.id_b);
    let ids: Vec<_> = manifolds.iter().map(|m| pair(&m.points[0].0)).collect();
    assert_eq!(
        ids,
        near.iter().map(|(a, b, _)| (*a, *b)).collect::<Vec<_>>()
    );
    for (point, _) in manifolds.iter().flat_map(|m| &m.points) {
        let (a, b) = pair(point);
        assert!(reach(a, b).is_some_and(|r| -point.depth < r), "{point:?}");
    }
}

#[test]
fn a_reach_must_be_a_number() {
    let scene = scene(2);
    let mut ctx = scene.diagram.default_context();
    let at = |i: usize| place([0.0; 3], [0.3 * i as f64, 0.0, 0.0]);
    scene.pose(&mut ctx, &[at(0), at(1), at(2)]);
    let query = ctx.eval(scene.ports.query).unwrap();
    let error = query.compute_manifolds_within(f64::NAN, |_, _| None);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("max_reach must be a number"), "{error}");
}

/// Checks the answers against the narrow phase of all pairs, points and rays.
fn check_against_all(scene: &Scene, query: &QueryObject<f64>, rays: &[Ray]) {
    let inspector = query.inspector();
    let get = |id| {
        let shape = inspector.shape(id).unwrap();
        (shape, query.geometry_pose_in_world(id).unwrap())
    };
    let mut pairs = vec![];
    for (a, b) in inspector.collision_candidates() {
        let ((ga, xa), (gb, xb)) = (get(a), get(b));
        let d = proximity::signed_distance(ga, xa, gb, xb).unwrap();
        pairs.push((a, b, d.distance));
    }
    pairs.sort_by_key(|(a, b, _)| (*a, *b));
    let penetrations = query.compute_point_pair_penetration().unwrap();
    let found: Vec<_> = penetrations
        .iter()
        .map(|p| (p.id_a, p.id_b, -p.depth))
        .collect();
    let overlap = pairs.iter().filter(|p| p.2 < 0.0).copied();
    assert_eq!(found, overlap.collect::<Vec<_>>());
    assert_eq!(query.has_collisions().unwrap(), !found.is_empty());
    for limit in [f64::NEG_INFINITY, -0.2, 0.0, 0.3, f64::INFINITY] {
        let found = query
            .compute_signed_distance_pairwise_closest_points(limit)
            .unwrap();
        let found: Vec<_> = found.iter().map(|p| (p.id_a, p.id_b, p.distance)).collect();
        let near = pairs.iter().filter(|p| p.2 <= limit).copied();
        assert_eq!(found, near.collect::<Vec<_>>());
    }
    check_reaches(query, &pairs);
    let candidates = query.find_collision_candidates();
    assert!(
        penetrations
            .iter()
            .all(|p| candidates.contains(&(p.id_a, p.id_b)))
    );
    for ray in rays {
        let found = query
            .compute_signed_distance_to_point(&ray.origin_w, 0.4)
            .unwrap();
        let found: Vec<_> = found.iter().map(|p| (p.id_g, p.distance)).collect();
        let mut near = vec![];
        let mut ids = scene.ids.clone();
        ids.sort();
        for id in &ids {
            let (shape, x_wg) = get(*id);
            let d = proximity::distance_to_point(shape, x_wg, &ray.origin_w)
                .unwrap()
                .distance;
            if d <= 0.4 {
                near.push((*id, d));
            }
        }
        assert_eq!(found, near);
    }
    for role in [Role::Proximity, Role::Illustration] {
        let excluded = vec![scene.ids[2]];
        let options = RayOptions {
            role,
            max_distance: 5.0,
            excluded,
        };
        for (ray, found) in rays.iter().zip(query.cast_rays(rays, &options).unwrap()) {
            let mut first = None;
            for id in inspector
                .geometry_ids_with_role(role)
                .filter(|id| *id != scene.ids[2])
            {
                let (shape, x_wg) = get(id);
                if let Some(hit) = cast_ray(shape, x_wg, ray, 5.0).unwrap()
                    && first.is_none_or(|(_, d)| hit.distance < d)
                {
                    first = Some((id, hit.distance));
                }
            }
            assert_eq!(found.map(|h| (h.id_g, h.distance)), first);
        }
    }
}

fn poses(n: usize) -> impl Strategy<Value = Vec<Isometry3<f64>>> {
    let one = ([(); 3].map(|()| -1.0..1.0), [(); 3].map(|()| -2.0..2.0));
    proptest::collection::vec(one.prop_map(|(r, p)| place(r, p)), n)
}

fn rays() -> impl Strategy<Value = Vec<Ray>> {
    let one = ([(); 3].map(|()| -2.0..2.0), [(); 3].map(|()| -1.0..1.0));
    let ray = |(o, d): ([f64; 3], [f64; 3])| Ray::new(o.into(), Vector3::from(d).add_scalar(0.01));
    proptest::collection::vec(one.prop_map(ray), 12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A context that has moved in small steps and jumps gives the same answers as a new context,
    /// as brute force and as parallel queries. A kept snapshot repeats its answers.
    #[test]
    fn answers_depend_only_on_current_poses(
        start in poses(15), jumps in proptest::collection::vec((0..15_usize, poses(1)), 6),
        rays in rays(), keep in 0..6_usize,
    ) {
        let scene = scene(14);
        let mut ctx = scene.diagram.default_context();
        let mut now = start;
        let mut kept = None;
        for (step, (i, jump)) in jumps.into_iter().enumerate() {
            for (k, x) in now.iter_mut().enumerate() {
                let drift = 0.02 * (k as f64 + step as f64).sin();
                x.translation.vector += Vector3::new(drift, -drift, 0.5 * drift);
            }
            now[i] = jump[0];
            scene.pose(&mut ctx, &now);
            let query = ctx.eval(scene.ports.query).unwrap();
            // A new context has no history.
            let mut fresh = scene.diagram.default_context();
            scene.pose(&mut fresh, &now);
            let expected = answers(fresh.eval(scene.ports.query).unwrap(), &rays);
            prop_assert_eq!(&answers(query, &rays), &expected);
            prop_assert_eq!(&answers(&query.with_parallel(true), &rays), &expected);
            check_against_all(&scene, query, &rays);
            if step == keep {
                kept = Some((query.clone(), expected));
            }
        }
        if let Some((query, expected)) = kept {
            prop_assert_eq!(answers(&query, &rays), expected);
        }
    }
}

/// Filters and geometries change while the poses stay.
#[test]
fn scene_changes_take_effect_at_once() {
    let scene = scene(8);
    let mut ctx = scene.diagram.default_context();
    let at = |i: usize| place([0.0; 3], [0.3 * i as f64, 0.0, 0.0]);
    let poses: Vec<_> = (0..9).map(at).collect();
    scene.pose(&mut ctx, &poses);
    let before = ctx.eval(scene.ports.query).unwrap().clone();
    let num_before = before.find_collision_candidates().len();
    let state: &mut GeometryState =
        std::sync::Arc::make_mut(ctx.param_mut(scene.ports.geometry).unwrap());
    let all = CollisionFilterDeclaration::new().exclude_within(scene.ids.clone());
    state.apply_collision_filter(&all).unwrap();
    assert!(
        ctx.eval(scene.ports.query)
            .unwrap()
            .find_collision_candidates()
            .is_empty()
    );
    let state: &mut GeometryState =
        std::sync::Arc::make_mut(ctx.param_mut(scene.ports.geometry).unwrap());
    let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(5.0).unwrap(), "ball")
        .unwrap()
        .with_proximity(ProximityProperties::new());
    let ball = state
        .register_geometry(scene.source, scene.frames[0], ball)
        .unwrap();
    let found = ctx
        .eval(scene.ports.query)
        .unwrap()
        .find_collision_candidates();
    // The ball is paired with every geometry except the one on its own frame.
    assert_eq!(found.len(), scene.ids.len() - 1);
    assert!(found.iter().all(|(_, b)| *b == ball));
    assert_eq!(before.find_collision_candidates().len(), num_before);
}

#[test]
fn poses_in_the_parent_equal_the_input_poses() {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let hand = graph
        .register_frame(source, GeometryFrame::new("hand"))
        .unwrap();
    let other = GeometryState::default().inspector().world_frame_id();
    let mut b = DiagramBuilder::new();
    let block = b.add("scene", graph);
    let mut ctx = b.build().unwrap().default_context();
    let finger = {
        let state = std::sync::Arc::make_mut(ctx.param_mut(block.geometry).unwrap());
        state
            .register_frame_on(source, hand, GeometryFrame::new("finger"))
            .unwrap()
    };
    let (x_wh, x_hf) = (
        place([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]),
        place([0.0, 0.7, 0.1], [0.1; 3]),
    );
    let poses = FramePoseVector::from_iter([(hand, x_wh), (finger, x_hf)]);
    ctx.fix(block.source_pose_port(source).unwrap(), poses)
        .unwrap();
    let query = ctx.eval(block.query).unwrap();
    assert_eq!(query.pose_in_parent(finger).unwrap(), &x_hf);
    assert_eq!(query.pose_in_world(finger).unwrap(), &(x_wh * x_hf));
    assert_eq!(
        query.pose_in_parent(hand).unwrap(),
        query.pose_in_world(hand).unwrap()
    );
    assert!(
        query
            .pose_in_parent(other)
            .unwrap_err()
            .to_string()
            .contains("there is no frame")
    );
}

#[test]
fn errors_name_the_invalid_argument() {
    let scene = scene(3);
    let mut ctx = scene.diagram.default_context();
    scene.pose(&mut ctx, &[Isometry3::identity(); 4]);
    let query = ctx.eval(scene.ports.query).unwrap();
    let rays = [
        Ray::new(Vector3::zeros(), Vector3::x()),
        Ray::new(Vector3::zeros(), Vector3::zeros()),
    ];
    let cast = |rays: &[Ray], options: RayOptions| {
        query.cast_rays(rays, &options).unwrap_err().to_string()
    };
    assert!(
        cast(&rays, RayOptions::default())
            .starts_with("cast_rays: ray 1 must have a finite direction")
    );
    let unassigned = RayOptions {
        role: Role::Unassigned,
        ..RayOptions::default()
    };
    assert!(cast(&[], unassigned).contains("got Unassigned"));
    let unknown = RayOptions {
        excluded: vec![GeometryId::new()],
        ..RayOptions::default()
    };
    assert!(cast(&[], unknown).contains("there is no geometry"));
    let short = RayOptions {
        max_distance: f64::NAN,
        ..RayOptions::default()
    };
    assert!(cast(&[], short).contains("max_distance must be at least 0 m, got NaN"));
    let nan = Vector3::new(0.0, f64::NAN, 0.0);
    let message = query
        .compute_signed_distance_to_points(&[nan], 1.0)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("point 0 must have finite coordinates (m), got [0.0, NaN, 0.0]"),
        "{message}"
    );
    let message = query
        .compute_signed_distance_to_point(&Vector3::zeros(), f64::NAN)
        .unwrap_err();
    assert!(
        message
            .to_string()
            .contains("threshold must be a distance (m) or infinity, got NaN")
    );
    let pairs = query.compute_signed_distance_pairwise_closest_points(f64::NAN);
    let message = pairs.unwrap_err().to_string();
    assert!(message.contains("max_distance must be"), "{message}");
    let message = query.compute_signed_distance_geometry_closest_points(GeometryId::new(), 1.0);
    assert!(
        message
            .unwrap_err()
            .to_string()
            .contains("there is no geometry")
    );
}
