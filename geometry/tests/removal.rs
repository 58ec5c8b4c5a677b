//! Removal of geometry, rollback of registrations, and the kinds of their errors.

use nalgebra::Isometry3;
use proptest::prelude::*;
use tarragon_geometry::proximity::signed_distance;
use tarragon_geometry::{
    CollisionFilterDeclaration, ErrorKind, FrameId, GeometryFrame, GeometryId, GeometryInstance,
    GeometryState, HalfSpace, IllustrationProperties, PerceptionProperties, ProximityProperties,
    Role, RoleAssign, SceneGraph, SourceId, Sphere,
};

fn plain(name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1).unwrap(), name).unwrap()
}
fn ball(name: &str) -> GeometryInstance {
    plain(name).with_proximity(ProximityProperties::new())
}

/// Names, roles, shapes, frames and collision candidates, all by name. Equal scenes have equal
/// descriptions, however they were built.
fn description(state: &GeometryState) -> Vec<String> {
    let i = state.inspector();
    let name = |id: GeometryId| {
        let frame = i.frame_name(i.frame_id(id).unwrap()).unwrap();
        format!("{frame}/{}", i.name(id).unwrap())
    };
    let geometries = i.geometry_ids().map(|id| {
        let roles = [Role::Proximity, Role::Illustration, Role::Perception];
        let roles: Vec<bool> = roles.map(|r| i.properties(id, r).unwrap().is_some()).into();
        format!(
            "{} {roles:?} {}",
            name(id),
            i.shape(id).unwrap().type_name()
        )
    });
    let on_frames = i.frame_ids().map(|f| {
        let on: Vec<String> = i
            .geometries_on(f, None)
            .unwrap()
            .into_iter()
            .map(name)
            .collect();
        format!("{} holds {on:?}", i.frame_name(f).unwrap())
    });
    let candidates = i.collision_candidates().into_iter();
    let candidates = candidates.map(|(a, b)| format!("{} and {}", name(a), name(b)));
    geometries.chain(on_frames).chain(candidates).collect()
}

proptest! {
    /// After geometry is removed, one by one or by rollback, a scene equals one that never had it.
    #[test]
    fn removal_and_rollback_leave_no_trace(
        geometries in prop::collection::vec((0..4_usize, any::<[bool; 3]>(), any::<bool>()), 1..20),
        pairs in prop::collection::vec((0..20_usize, 0..20_usize), 0..20),
        kept in 0..20_usize,
    ) {
        let build = |only_staying: bool, mark_at: Option<usize>| {
            let mut graph = SceneGraph::new();
            let source = graph.register_source("toys").unwrap();
            let mut frames = vec![graph.world_frame_id()];
            for i in 1..4 {
                frames.push(graph.register_frame(source, GeometryFrame::new(format!("f{i}"))).unwrap());
            }
            let (mut ids, mut mark) = (vec![], None);
            for (n, (frame, roles, stays)) in geometries.iter().enumerate() {
                if mark_at == Some(n) {
                    mark = Some(graph.registration_mark());
                    graph.register_source("late").unwrap();
                    graph.register_frame(source, GeometryFrame::new("late")).unwrap();
                }
                if only_staying && !stays {
                    ids.push(None);
                    continue;
                }
                let mut instance = plain(&format!("g{n}"));
                if roles[0] { instance.set_proximity_properties(ProximityProperties::new()); }
                if roles[1] { instance.set_illustration_properties(IllustrationProperties::new()); }
                if roles[2] { instance.set_perception_properties(PerceptionProperties::new()); }
                ids.push(Some(graph.register_geometry(source, frames[*frame], instance).unwrap()));
            }
            for (a, b) in &pairs {
                if let (Some(Some(a)), Some(Some(b))) = (ids.get(*a), ids.get(*b)) {
                    let exclude = CollisionFilterDeclaration::new().exclude_between(*a, *b);
                    graph.apply_collision_filter(&exclude).unwrap();
                }
            }
            (graph, source, ids, mark)
        };
        let (expected, ..) = build(true, None);
        let (mut graph, source, ids, _) = build(false, None);
        for (id, (_, _, stays)) in ids.iter().zip(&geometries) {
            if !stays {
                graph.remove_geometry(source, id.unwrap()).unwrap();
            }
        }
        prop_assert_eq!(description(graph.model()), description(expected.model()));

        let kept = kept.min(geometries.len() - 1);
        let (mut graph, source, ids, mark) = build(false, Some(kept));
        graph.take_back(mark.unwrap()).unwrap();
        let (mut expected, expected_source, expected_ids, _) = build(false, None);
        for id in &expected_ids[kept..] {
            expected.remove_geometry(expected_source, id.unwrap()).unwrap();
        }
        prop_assert_eq!(description(graph.model()), description(expected.model()));
        prop_assert_eq!(graph.model_inspector().num_sources(), 2);
        prop_assert!(ids[kept..].iter().all(|id| graph.model_inspector().name(id.unwrap()).is_err()));
        // All names are free again.
        graph.register_source("late").unwrap();
        graph.register_frame(source, GeometryFrame::new("late")).unwrap();
        for (n, (_, _, _)) in geometries.iter().enumerate().skip(kept) {
            graph.register_anchored_geometry(source, ball(&format!("g{n}"))).unwrap();
        }
    }
}

#[test]
fn marks_belong_to_their_scene() {
    let mut graph = SceneGraph::new();
    graph.register_source("toys").unwrap();
    let stranger = SceneGraph::new().registration_mark();
    let e = graph.take_back(stranger).unwrap_err().to_string();
    assert!(e.contains("another scene"), "{e}");
    let mark = graph.registration_mark();
    graph.take_back(mark).unwrap();
    assert_eq!(graph.model_inspector().num_sources(), 2);
}

#[test]
fn errors_have_the_kind_of_what_went_wrong() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let frame = GeometryFrame::new("train");
    scene.register_frame(source, frame.clone()).unwrap();
    let id = scene
        .register_anchored_geometry(source, plain("ball"))
        .unwrap();
    let gone = |error: tarragon_geometry::Error| error.kind() == ErrorKind::NotFound;
    assert!(gone(
        scene.remove_geometry(SourceId::new(), id).unwrap_err()
    ));
    let inspector = scene.model_inspector();
    assert!(gone(inspector.name(GeometryId::new()).unwrap_err()));
    assert!(gone(inspector.frame_name(FrameId::new()).unwrap_err()));
    let named = inspector.geometry_id_by_name(frame.id(), Role::Unassigned, "ball");
    assert!(gone(named.unwrap_err()));
    assert!(gone(scene.render_engine_by_name("cpu").err().unwrap()));
    let properties = ProximityProperties::new();
    assert!(gone(properties.get::<f64>("g", "x").unwrap_err()));

    let taken = |error: tarragon_geometry::Error| error.kind() == ErrorKind::AlreadyExists;
    assert!(taken(scene.register_source("toys").unwrap_err()));
    assert!(taken(scene.register_frame(source, frame).unwrap_err()));
    let role = ProximityProperties::new;
    let replaced = scene.assign_role_with(source, id, role(), RoleAssign::Replace);
    assert_eq!(replaced.unwrap_err().kind(), ErrorKind::InvalidState);
    scene.assign_role(source, id, role()).unwrap();
    assert!(taken(scene.assign_role(source, id, role()).unwrap_err()));
    let second = scene.register_anchored_geometry(source, ball("ball"));
    assert!(taken(second.unwrap_err()));

    let foreign = SceneGraph::new().registration_mark();
    let error = scene.take_back(foreign).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignHandle);
    let (plane, x) = (HalfSpace.into(), Isometry3::<f64>::identity());
    let error = signed_distance(&plane, &x, &plane, &x).err();
    assert_eq!(error.unwrap().kind(), ErrorKind::Unsupported);
}
