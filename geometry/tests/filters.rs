//! Collision filters of a scene: rules, errors and scale.

use nalgebra::Isometry3;
use std::time::Instant;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, CollisionFilterDeclaration, FilterId, FrameId, GeometryFrame, GeometryId,
    GeometryInstance, GeometrySet, ProximityProperties, Role, SceneGraph, SourceId, Sphere,
};

struct Scene {
    graph: SceneGraph,
    source: SourceId,
    frames: Vec<FrameId>,
    balls: Vec<GeometryId>,
    fixed: Vec<GeometryId>,
}

fn ball(name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1).unwrap(), name)
        .unwrap()
        .with_proximity(ProximityProperties::new())
}

/// A scene of balls, each on its own frame, and two anchored balls.
fn scene(balls: usize) -> Scene {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let mut scene = Scene {
        source,
        frames: vec![],
        balls: vec![],
        fixed: vec![],
        graph,
    };
    for i in 0..balls {
        let frame = GeometryFrame::new(format!("f{i}"));
        let frame = scene.graph.register_frame(source, frame).unwrap();
        scene.frames.push(frame);
        let id = scene.graph.register_geometry(source, frame, ball("ball"));
        scene.balls.push(id.unwrap());
    }
    for name in ["floor", "wall"] {
        let id = scene.graph.register_anchored_geometry(source, ball(name));
        scene.fixed.push(id.unwrap());
    }
    scene
}

impl Scene {
    fn candidates(&self) -> Vec<(GeometryId, GeometryId)> {
        self.graph.model_inspector().collision_candidates()
    }
    fn is_filtered(&self, a: GeometryId, b: GeometryId) -> bool {
        self.graph
            .model_inspector()
            .collision_filtered(a, b)
            .unwrap()
    }
}

fn declare() -> CollisionFilterDeclaration {
    CollisionFilterDeclaration::new()
}

#[test]
fn pairs_that_are_never_tested_cannot_be_allowed() {
    let mut s = scene(2);
    let twin = s
        .graph
        .register_geometry(s.source, s.frames[0], ball("twin"));
    let twin = twin.unwrap();
    let all = GeometrySet::from((vec![s.fixed[0], s.fixed[1], twin], s.frames.clone()));
    let allow = declare()
        .allow_within(all.clone())
        .allow_between(all.clone(), all);
    s.graph.apply_collision_filter(&allow).unwrap();
    assert!(s.is_filtered(s.fixed[0], s.fixed[1]), "both are anchored");
    assert!(
        s.is_filtered(s.balls[0], twin),
        "both are on the same frame"
    );
    assert!(s.is_filtered(twin, twin), "a geometry with itself");
    // The pairs of 3 moving balls, except the pair on one frame, and each of the 3 with each of
    // the 2 anchored balls.
    assert_eq!(s.candidates().len(), 2 + 6);
}

#[test]
fn transient_declarations_match_the_table_in_drakes_documentation() {
    // The example in Drake's documentation, with candidate pairs numbered from 1 to 6.
    let mut s = scene(4);
    s.graph.remove_geometry(s.source, s.fixed[0]).unwrap();
    s.graph.remove_geometry(s.source, s.fixed[1]).unwrap();
    let p = s.candidates();
    assert_eq!(p.len(), 6);
    let pair = |i: usize| (GeometrySet::from(p[i - 1].0), GeometrySet::from(p[i - 1].1));
    let exclude = |d: CollisionFilterDeclaration, i| d.exclude_between(pair(i).0, pair(i).1);
    let allow = |d: CollisionFilterDeclaration, i| d.allow_between(pair(i).0, pair(i).1);
    let pick = |numbers: &[usize]| numbers.iter().map(|i| p[i - 1]).collect::<Vec<_>>();
    let mut filters = s.graph.collision_filter_manager();
    filters.apply(&exclude(declare(), 1)).unwrap();
    filters.apply(&exclude(declare(), 6)).unwrap();
    let rest = [3, 4, 5].into_iter().fold(declare(), exclude);
    filters.apply(&rest).unwrap();
    let first = filters
        .apply_transient(&allow(allow(declare(), 4), 5))
        .unwrap();
    assert_eq!(s.candidates(), pick(&[2, 4, 5]));
    let mut filters = s.graph.collision_filter_manager();
    let second = filters
        .apply_transient(&allow(allow(declare(), 3), 4))
        .unwrap();
    assert_eq!(s.candidates(), pick(&[2, 3, 4, 5]));
    assert!(s.graph.collision_filter_manager().remove_declaration(first));
    assert_eq!(s.candidates(), pick(&[2, 3, 4]));
    let mut filters = s.graph.collision_filter_manager();
    assert!(filters.has_transient_history() && filters.is_active(second));
    filters.flatten();
    assert!(!filters.has_transient_history() && !filters.is_active(second));
    assert!(!filters.remove_declaration(second));
    assert_eq!(s.candidates(), pick(&[2, 3, 4]));
}

#[test]
fn permanent_declarations_are_refused_while_transient_ones_exist() {
    let mut s = scene(3);
    let mut filters = s.graph.collision_filter_manager();
    let empty = filters.apply_transient(&declare()).unwrap();
    let e = filters
        .apply(&declare().exclude_within(s.balls.clone()))
        .unwrap_err();
    assert!(e.to_string().contains("transient declarations"), "{e}");
    assert!(!filters.is_active(FilterId::new()) && !filters.remove_declaration(FilterId::new()));
    assert_eq!(s.candidates().len(), 9);
    // Geometry can still be registered and removed.
    let late = s
        .graph
        .register_geometry(s.source, s.frames[0], ball("late"));
    s.graph.remove_geometry(s.source, late.unwrap()).unwrap();
    let mut filters = s.graph.collision_filter_manager();
    assert!(filters.remove_declaration(empty) && !filters.has_transient_history());
    filters
        .apply(&declare().exclude_within(s.balls.clone()))
        .unwrap();
    assert_eq!(s.candidates().len(), 6);
}

#[test]
fn unknown_members_are_errors_and_change_nothing() {
    let mut s = scene(2);
    let mut filters = s.graph.collision_filter_manager();
    let good = declare().exclude_within(s.balls.clone());
    let strangers = [GeometrySet::from(GeometryId::new()), FrameId::new().into()];
    for stranger in strangers {
        let bad = good.clone().exclude_between(stranger.clone(), s.balls[0]);
        let e = filters.apply(&bad).unwrap_err().to_string();
        assert!(e.contains("there is no"), "{e}");
        assert!(filters.apply_transient(&bad).is_err());
        assert!(!filters.has_transient_history());
    }
    assert_eq!(s.candidates().len(), 5);
}

#[test]
fn sets_are_resolved_when_a_declaration_is_applied() {
    let mut s = scene(2);
    let silent =
        GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1).unwrap(), "silent").unwrap();
    let silent = s
        .graph
        .register_geometry(s.source, s.frames[1], silent)
        .unwrap();
    let exclude = declare().exclude_within(s.frames.clone());
    s.graph.apply_collision_filter(&exclude).unwrap();
    assert!(s.is_filtered(s.balls[0], s.balls[1]));
    // Geometry that is registered or gets its role later is not affected.
    let late = s
        .graph
        .register_geometry(s.source, s.frames[1], ball("late"))
        .unwrap();
    s.graph
        .assign_role(s.source, silent, ProximityProperties::new())
        .unwrap();
    assert!(!s.is_filtered(s.balls[0], late) && !s.is_filtered(s.balls[0], silent));
    // Losing the role ends the exclusion; changing the shape or the properties keeps it.
    s.graph
        .change_shape(
            s.source,
            s.balls[1],
            BoxShape::new(1.0, 1.0, 1.0).unwrap(),
            None,
        )
        .unwrap();
    assert!(s.is_filtered(s.balls[0], s.balls[1]));
    s.graph
        .remove_role(s.source, s.balls[0], Role::Proximity)
        .unwrap();
    let e = s
        .graph
        .model_inspector()
        .collision_filtered(s.balls[0], late)
        .unwrap_err();
    assert!(e.to_string().contains("no proximity role"), "{e}");
    s.graph
        .assign_role(s.source, s.balls[0], ProximityProperties::new())
        .unwrap();
    assert!(!s.is_filtered(s.balls[0], s.balls[1]));
}

#[test]
fn filters_follow_renumbered_geometry() {
    let mut s = scene(6);
    let pairs = [(4, 5), (1, 4), (0, 5)];
    for (a, b) in pairs {
        let exclude = declare().exclude_between(s.balls[a], s.balls[b]);
        s.graph.apply_collision_filter(&exclude).unwrap();
    }
    for gone in [2, 3, 0] {
        s.graph.remove_geometry(s.source, s.balls[gone]).unwrap();
    }
    let left = [s.balls[1], s.balls[4], s.balls[5]];
    assert!(s.is_filtered(left[1], left[2]) && s.is_filtered(left[0], left[1]));
    assert!(!s.is_filtered(left[0], left[2]) && !s.is_filtered(left[2], s.fixed[0]));
}

/// 1000 robots of 40 links with filters between neighbouring links, within each robot and against a
/// shelf, within the limits of time and memory for a scene of that size.
#[test]
fn forty_thousand_geometries_load_and_filter_fast() {
    const ROBOTS: usize = 1000;
    const LINKS: usize = 40;
    let start = Instant::now();
    let mut graph = SceneGraph::new();
    let shelf = graph.register_source("shelf").unwrap();
    let mut boards = vec![];
    for i in 0..50 {
        let name = format!("board{i}");
        boards.push(
            graph
                .register_anchored_geometry(shelf, ball(&name))
                .unwrap(),
        );
    }
    let mut robots = vec![];
    for r in 0..ROBOTS {
        let source = graph.register_source(&format!("robot{r}")).unwrap();
        let mut declaration = declare();
        let mut links: Vec<GeometryId> = vec![];
        for l in 0..LINKS {
            let frame = GeometryFrame::new(format!("link{l}"));
            let frame = graph.register_frame(source, frame).unwrap();
            let id = graph
                .register_geometry(source, frame, ball("collision"))
                .unwrap();
            if let Some(last) = links.last() {
                declaration = declaration.exclude_between(*last, id);
            }
            links.push(id);
        }
        declaration = declaration
            .exclude_within(links.clone())
            .exclude_between(links.clone(), boards.clone());
        graph.apply_collision_filter(&declaration).unwrap();
        robots.push(links);
    }
    let loaded = start.elapsed();
    // The limit for an optimized build on an otherwise idle machine is 2 s; tests run alongside
    // others in a slower build.
    assert!(loaded.as_secs_f64() < 10.0, "loading took {loaded:?}");
    println!("{} geometries in {loaded:?}", ROBOTS * LINKS + 50);

    let inspector = graph.model_inspector();
    let start = Instant::now();
    let mut filtered = 0_usize;
    let mut asked = 0_usize;
    for (r, robot) in robots.iter().enumerate() {
        let other = &robots[(r + 7) % ROBOTS];
        for (l, &link) in robot.iter().enumerate() {
            for with in [robot[(l + 5) % LINKS], boards[(l + r) % 50], other[l]] {
                filtered += usize::from(inspector.collision_filtered(link, with).unwrap());
                asked += 1;
            }
        }
    }
    println!("{:?} per query", start.elapsed() / asked as u32);
    assert_eq!(
        filtered,
        asked * 2 / 3,
        "all pairs but those with the other robot"
    );

    // A context, with default properties filled in, and a transient filter for a grasp in it.
    let start = Instant::now();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene", graph);
    let mut ctx = b.build().unwrap().default_context();
    println!("a context is created in {:?}", start.elapsed());
    let grasp = declare().exclude_within([robots[0][39], robots[1][39]]);
    let snapshot = ctx.param(scene.geometry).unwrap().clone();
    let start = Instant::now();
    let state = scene.geometry_mut(&mut ctx).unwrap();
    let mut filters = state.collision_filter_manager();
    let id = filters.apply_transient(&grasp).unwrap();
    println!(
        "a grasp is filtered, with a copy of the filters, in {:?}",
        start.elapsed()
    );
    assert!(filters.remove_declaration(id));
    drop(snapshot);
    if let Some(peak) = peak_memory() {
        println!("peak memory: {peak} KiB");
        assert!(peak < 1 << 20, "{peak} KiB");
    }
}

/// Peak resident memory of this process so far, in KiB, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
