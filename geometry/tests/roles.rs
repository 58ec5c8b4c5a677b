//! Roles, names, shapes and versions, in the model and in contexts.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, CollisionFilterDeclaration, Error, FrameId, FramePoseVector, GeometryFrame,
    GeometryId, GeometryInstance, GeometrySet, GeometryVersion, HalfSpace, IllustrationProperties,
    Mesh, PerceptionProperties, ProximityProperties, Role, RoleAssign, SceneGraph, SourceId,
    Sphere,
};

fn plain(name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1).unwrap(), name).unwrap()
}
fn ball(name: &str) -> GeometryInstance {
    plain(name).with_proximity(ProximityProperties::new())
}

struct Scene {
    graph: SceneGraph,
    source: SourceId,
    other: SourceId,
    frame: FrameId,
}

fn scene() -> Scene {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let other = graph.register_source("other").unwrap();
    let frame = graph
        .register_frame(source, GeometryFrame::new("train"))
        .unwrap();
    Scene {
        graph,
        source,
        other,
        frame,
    }
}

fn text<V>(result: Result<V, Error>) -> String {
    result.err().expect("the call must fail").to_string()
}

#[test]
fn names_are_canonical() {
    let mut s = scene();
    let id = s
        .graph
        .register_geometry(s.source, s.frame, ball(" \t my ball\t "))
        .unwrap();
    assert_eq!(s.graph.model_inspector().name(id).unwrap(), "my ball");
    // As in SDFormat, only spaces and tabs are trimmed.
    assert_eq!(plain("\n a").name(), "\n a");
    let mut instance = plain("a");
    instance.set_name(" b ").unwrap();
    assert!(text(instance.set_name("\t")).contains("must not be empty"));
    assert_eq!(instance.name(), "b");
    s.graph.rename_geometry(id, " red ball ").unwrap();
    assert_eq!(s.graph.model_inspector().name(id).unwrap(), "red ball");
    assert!(text(s.graph.rename_geometry(id, " ")).contains("the new name must not be empty"));
    let named = s.graph.register_source("").unwrap();
    let inspector = s.graph.model_inspector();
    assert_eq!(
        inspector.source_name(named).unwrap(),
        format!("Source_{named}")
    );
}

#[test]
fn names_are_unique_per_frame_and_role() {
    let mut s = scene();
    let first = s
        .graph
        .register_geometry(s.source, s.frame, ball("a"))
        .unwrap();
    let second = s
        .graph
        .register_geometry(s.source, s.frame, plain("a"))
        .unwrap();
    s.graph
        .assign_role(s.source, second, IllustrationProperties::new())
        .unwrap();
    let e = text(
        s.graph
            .assign_role(s.source, second, ProximityProperties::new()),
    );
    assert!(
        e.contains("geometry 'a' on frame 'train'") && e.contains("Proximity"),
        "{e}"
    );
    let third = s
        .graph
        .register_geometry(s.source, s.frame, ball("b"))
        .unwrap();
    assert!(text(s.graph.rename_geometry(third, "a")).contains("same name"));
    s.graph.rename_geometry(third, "b").unwrap();
    // A name is free again after the geometry is renamed, loses the role or is removed.
    s.graph.rename_geometry(first, "c").unwrap();
    s.graph.rename_geometry(third, "a").unwrap();
    s.graph
        .remove_role(s.source, third, Role::Proximity)
        .unwrap();
    s.graph.rename_geometry(first, "a").unwrap();
    s.graph.remove_geometry(s.source, first).unwrap();
    s.graph
        .assign_role(s.source, third, ProximityProperties::new())
        .unwrap();
    let inspector = s.graph.model_inspector();
    let by_name = |role| inspector.geometry_id_by_name(s.frame, role, " a");
    assert_eq!(by_name(Role::Proximity).unwrap(), third);
    assert_eq!(by_name(Role::Illustration).unwrap(), second);
    let e = text(by_name(Role::Perception));
    assert!(
        e.contains("no geometry 'a' with the role Perception"),
        "{e}"
    );
    for _ in 0..2 {
        s.graph
            .register_geometry(s.source, s.frame, plain("twin"))
            .unwrap();
    }
    let inspector = s.graph.model_inspector();
    let e = text(inspector.geometry_id_by_name(s.frame, Role::Unassigned, "twin"));
    assert!(e.contains("several"), "{e}");
}

#[test]
fn frame_names_groups_and_sources_are_checked() {
    let mut s = scene();
    let frame = GeometryFrame::new("coach").with_frame_group(3).unwrap();
    let id = s.graph.register_frame(s.source, frame.clone()).unwrap();
    assert!(text(s.graph.register_frame(s.source, frame)).contains("already registered"));
    let negative = text(GeometryFrame::new("n").with_frame_group(-1));
    assert!(
        negative.contains("'n': the frame group must not be negative, got -1"),
        "{negative}"
    );
    let child = GeometryFrame::new("child");
    let e = text(s.graph.register_frame_on(s.other, id, child));
    assert!(e.contains("'coach' belongs to another source"), "{e}");
    assert!(
        text(s.graph.rename_frame(id, "train")).contains("'toys' already has a frame of that name")
    );
    s.graph.rename_frame(id, "coach").unwrap();
    s.graph.rename_frame(id, "wagon").unwrap();
    s.graph
        .register_frame(s.source, GeometryFrame::new("coach"))
        .unwrap();
    s.graph
        .register_frame(s.other, GeometryFrame::new("coach"))
        .unwrap();
    assert_eq!(s.graph.model_inspector().frame_name(id).unwrap(), "wagon");
    assert!(s.graph.rename_frame(FrameId::new(), "x").is_err());
}

#[test]
fn roles_are_assigned_once_or_replaced_explicitly() {
    let mut s = scene();
    let id = s
        .graph
        .register_geometry(s.source, s.frame, plain("a"))
        .unwrap();
    let stiff = |k: f64| {
        let p = ProximityProperties::new();
        p.with_point_stiffness(k).unwrap()
    };
    let replace = RoleAssign::Replace;
    let e = text(s.graph.assign_role_with(s.source, id, stiff(1.0), replace));
    assert!(e.contains("does not have the role Proximity"), "{e}");
    s.graph.assign_role(s.source, id, stiff(1.0)).unwrap();
    assert!(text(s.graph.assign_role(s.source, id, stiff(2.0))).contains("already"));
    s.graph
        .assign_role_with(s.source, id, stiff(2.0), replace)
        .unwrap();
    s.graph
        .assign_role(s.source, id, IllustrationProperties::new())
        .unwrap();
    s.graph
        .assign_role(s.source, id, PerceptionProperties::new())
        .unwrap();
    s.graph
        .assign_role_with(s.source, id, IllustrationProperties::new(), replace)
        .unwrap();
    s.graph
        .assign_role_with(s.source, id, PerceptionProperties::new(), replace)
        .unwrap();
    let inspector = s.graph.model_inspector();
    let p = inspector.proximity_properties(id).unwrap().unwrap();
    assert_eq!(
        p.get::<f64>("material", "point_contact_stiffness").unwrap(),
        &2.0
    );
    for result in [
        s.graph.assign_role_with(s.other, id, stiff(3.0), replace),
        s.graph.remove_role(s.other, id, Role::Proximity).map(drop),
        s.graph.remove_geometry(s.other, id),
        s.graph.change_shape(s.other, id, HalfSpace, None),
    ] {
        let e = text(result);
        assert!(
            e.contains("belongs to source 'toys', not to 'other'"),
            "{e}"
        );
    }
    let all = [Role::Proximity, Role::Illustration, Role::Perception];
    assert!(!s.graph.remove_role(s.source, id, Role::Unassigned).unwrap());
    for role in all {
        assert!(s.graph.remove_role(s.source, id, role).unwrap());
        assert!(!s.graph.remove_role(s.source, id, role).unwrap());
    }
    let inspector = s.graph.model_inspector();
    assert_eq!(inspector.num_geometries_with_role(Role::Unassigned), 1);
    assert!(
        all.iter()
            .all(|r| inspector.properties(id, *r).unwrap().is_none())
    );
}

#[test]
fn roles_can_be_removed_from_whole_frames() {
    let mut s = scene();
    for name in ["a", "b"] {
        s.graph
            .register_geometry(s.source, s.frame, ball(name))
            .unwrap();
        s.graph
            .register_anchored_geometry(s.source, ball(name))
            .unwrap();
    }
    s.graph
        .register_geometry(s.source, s.frame, plain("c"))
        .unwrap();
    s.graph
        .register_anchored_geometry(s.other, ball("d"))
        .unwrap();
    let world = s.graph.world_frame_id();
    let e = text(
        s.graph
            .remove_role_on_frame(s.other, s.frame, Role::Proximity),
    );
    assert!(
        e.contains("frame 'train' belongs to source 'toys', not to 'other'"),
        "{e}"
    );
    let mut taken = |source, frame| s.graph.remove_role_on_frame(source, frame, Role::Proximity);
    assert_eq!(taken(s.source, s.frame).unwrap(), 2);
    assert_eq!(taken(s.source, s.frame).unwrap(), 0);
    assert_eq!(
        taken(s.source, world).unwrap(),
        2,
        "the geometry of the other source keeps its role"
    );
    assert_eq!(taken(s.other, world).unwrap(), 1);
}

#[test]
fn only_the_version_of_a_changed_role_changes() {
    let mut s = scene();
    let all = [Role::Proximity, Role::Illustration, Role::Perception];
    let mut last = s.graph.model_inspector().geometry_version().clone();
    let mut check = |graph: &SceneGraph, expected: &[Role], what: &str| {
        let now = graph.model_inspector().geometry_version().clone();
        let changed = |role: &Role| !now.is_same_as(&last, *role).unwrap();
        let changed: Vec<Role> = all.into_iter().filter(changed).collect();
        assert_eq!(changed, expected, "{what}");
        last = now;
    };
    let id = s
        .graph
        .register_geometry(s.source, s.frame, plain("a"))
        .unwrap();
    check(&s.graph, &[], "registered without a role");
    s.graph
        .assign_role(s.source, id, ProximityProperties::new())
        .unwrap();
    check(&s.graph, &[Role::Proximity], "proximity");
    s.graph
        .assign_role(s.source, id, IllustrationProperties::new())
        .unwrap();
    check(&s.graph, &[Role::Illustration], "illustration");
    s.graph
        .assign_role(s.source, id, PerceptionProperties::new())
        .unwrap();
    check(&s.graph, &[], "perception without a render engine");
    let illustration = IllustrationProperties::new();
    s.graph
        .assign_role_with(s.source, id, illustration, RoleAssign::Replace)
        .unwrap();
    check(&s.graph, &[Role::Illustration], "replaced");
    s.graph.change_shape(s.source, id, HalfSpace, None).unwrap();
    check(&s.graph, &[Role::Proximity, Role::Illustration], "shape");
    s.graph.rename_geometry(id, "b").unwrap();
    s.graph.rename_frame(s.frame, "b").unwrap();
    let filter = CollisionFilterDeclaration::new().exclude_within(id);
    s.graph.apply_collision_filter(&filter).unwrap();
    check(&s.graph, &[], "names and filters");
    assert!(
        s.graph
            .assign_role(s.source, id, ProximityProperties::new())
            .is_err()
    );
    assert!(
        s.graph
            .change_shape(s.source, id, Mesh::new("no.obj"), None)
            .is_err()
    );
    check(&s.graph, &[], "failures");
    s.graph
        .remove_role(s.source, id, Role::Illustration)
        .unwrap();
    check(&s.graph, &[Role::Illustration], "role removed");
    s.graph.remove_geometry(s.source, id).unwrap();
    check(&s.graph, &[Role::Proximity], "geometry removed");

    let version = GeometryVersion::default();
    assert!(
        version
            .is_same_as(&version.clone(), Role::Perception)
            .unwrap()
    );
    assert!(
        !version
            .is_same_as(&GeometryVersion::default(), Role::Perception)
            .unwrap()
    );
    assert!(version.is_same_as(&version, Role::Unassigned).is_err());
}

#[test]
fn a_change_in_one_context_leaves_others_alone() {
    let mut s = scene();
    let id = s
        .graph
        .register_geometry(s.source, s.frame, ball("a"))
        .unwrap();
    let mut b = DiagramBuilder::new();
    let block = b.add("scene", s.graph.clone());
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let poses = FramePoseVector::from_iter([(s.frame, Isometry3::translation(0.0, 0.0, 1.0))]);
    ctx.fix(block.source_pose_port(s.source).unwrap(), poses)
        .unwrap();
    let distance = |ctx: &Context<f64>| {
        let query = ctx.eval(block.query).unwrap();
        let found = query
            .compute_signed_distance_to_point(&Vector3::zeros(), 10.0)
            .unwrap();
        found.iter().map(|f| f.distance).collect::<Vec<_>>()
    };
    let other = ctx.clone();
    assert_eq!(distance(&ctx), [0.9]);
    let state = block.geometry_mut(&mut ctx).unwrap();
    let cube = BoxShape::new(0.5, 0.5, 0.5).unwrap();
    let lower = Isometry3::translation(0.0, 0.0, -0.5);
    state.change_shape(s.source, id, cube, Some(lower)).unwrap();
    assert_eq!(distance(&ctx), [0.25]);
    let state = block.geometry_mut(&mut ctx).unwrap();
    state.remove_role(s.source, id, Role::Proximity).unwrap();
    assert_eq!(distance(&ctx).len(), 0);
    let state = block.geometry_mut(&mut ctx).unwrap();
    state.remove_geometry(s.source, id).unwrap();
    state
        .register_geometry(s.source, s.frame, ball("a"))
        .unwrap();
    assert_eq!(distance(&ctx), [0.9]);
    assert_eq!(distance(&other), [0.9]);
    let query = other.eval(block.query).unwrap();
    assert_eq!(query.inspector().shape(id).unwrap().type_name(), "Sphere");
    assert_eq!(
        s.graph.model_inspector().geometry_ids().collect::<Vec<_>>(),
        [id]
    );
}

#[test]
fn inspectors_answer_every_query() {
    let mut s = scene();
    let pose = Isometry3::translation(1.0, 0.0, 0.0);
    let mut instance = ball("a").with_illustration(IllustrationProperties::new());
    instance.set_pose(pose);
    let a = s
        .graph
        .register_geometry(s.source, s.frame, instance)
        .unwrap();
    let b = s
        .graph
        .register_geometry(s.source, s.frame, plain("b"))
        .unwrap();
    let floor = s
        .graph
        .register_anchored_geometry(s.other, ball("floor"))
        .unwrap();
    let i = s.graph.model_inspector();
    let sources: Vec<SourceId> = i.source_ids().collect();
    assert_eq!(
        (i.num_sources(), &sources[1..]),
        (3, &[s.source, s.other][..])
    );
    assert_eq!(i.source_name(sources[0]).unwrap(), "SceneGraphInternal");
    assert!(i.source_is_registered(sources[0]) && !i.source_is_registered(SourceId::new()));
    assert_eq!(i.num_frames_for_source(s.source).unwrap(), 1);
    assert_eq!(i.num_frames_for_source(s.other).unwrap(), 0);
    let frames = |source| i.frames_for_source(source).unwrap().collect::<Vec<_>>();
    assert_eq!(frames(s.source), [s.frame]);
    assert_eq!(frames(sources[0]), [i.world_frame_id()]);
    assert!(i.frames_for_source(SourceId::new()).is_err());
    assert_eq!(
        (i.num_anchored_geometries(), i.num_dynamic_geometries()),
        (1, 2)
    );
    assert_eq!(i.num_geometries_for_frame(s.frame, None).unwrap(), 2);
    assert_eq!(
        i.num_geometries_for_frame(s.frame, Role::Proximity)
            .unwrap(),
        1
    );
    assert_eq!(i.geometries_on(s.frame, None).unwrap(), [a, b]);
    assert_eq!(i.geometries_on(s.frame, Role::Unassigned).unwrap(), [b]);
    assert_eq!(i.frame_source_name(s.frame).unwrap(), "toys");
    assert_eq!(
        i.frame_source_name(i.world_frame_id()).unwrap(),
        "SceneGraphInternal"
    );
    assert_eq!(i.frame_source_id(s.frame).unwrap(), s.source);
    assert_eq!(i.parent_frame_id(s.frame).unwrap(), i.world_frame_id());
    assert_eq!(i.owning_source_name(floor).unwrap(), "other");
    assert!(i.frame_belongs_to_source(s.frame, s.source).unwrap());
    assert!(
        !i.frame_belongs_to_source(i.world_frame_id(), s.source)
            .unwrap()
    );
    assert!(i.frame_belongs_to_source(s.frame, SourceId::new()).is_err());
    assert!(i.geometry_belongs_to_source(floor, s.other).unwrap());
    assert!(!i.geometry_belongs_to_source(a, s.other).unwrap());
    assert!(
        i.geometry_belongs_to_source(GeometryId::new(), s.other)
            .is_err()
    );
    let set = GeometrySet::from(s.frame)
        .with_geometry(floor)
        .with_geometry(a);
    assert_eq!(i.geometry_ids_in(&set, None).unwrap(), [a, b, floor]);
    assert_eq!(
        i.geometry_ids_in(&set, Role::Proximity).unwrap(),
        [a, floor]
    );
    assert!(
        i.geometry_ids_in(&GeometrySet::from(FrameId::new()), None)
            .is_err()
    );
    assert!(i.properties(a, Role::Illustration).unwrap().is_some());
    assert!(i.properties(a, Role::Unassigned).unwrap().is_none());
    assert_eq!(i.pose_in_frame(a).unwrap(), &pose);
    assert_eq!(i.collision_candidates(), [(a, floor)]);

    let mut copy = i.clone_geometry_instance(a).unwrap();
    assert_eq!(
        (copy.name(), copy.pose(), copy.shape().type_name()),
        ("a", &pose, "Sphere")
    );
    assert!(copy.proximity_properties().is_some() && copy.illustration_properties().is_some());
    assert!(copy.perception_properties().is_none());
    copy.set_name("copy").unwrap();
    copy.set_perception_properties(PerceptionProperties::new());
    let copied = s.graph.register_geometry(s.source, s.frame, copy).unwrap();
    assert!(copied > floor);
}

#[test]
fn non_finite_poses_and_unknown_sources_are_refused() {
    let mut s = scene();
    let nowhere = Isometry3::translation(f64::NAN, 0.0, 0.0);
    let mut instance = ball("a");
    instance.set_pose(nowhere);
    let e = text(s.graph.register_geometry(s.source, s.frame, instance));
    assert!(
        e.contains("geometry 'a' on frame 'train': the pose must be finite"),
        "{e}"
    );
    let id = s
        .graph
        .register_geometry(s.source, s.frame, ball("a"))
        .unwrap();
    assert!(text(s.graph.change_shape(s.source, id, HalfSpace, Some(nowhere))).contains("finite"));
    assert!(
        s.graph
            .register_anchored_geometry(SourceId::new(), ball("b"))
            .is_err()
    );
    let world = s.graph.world_frame_id();
    assert!(
        s.graph
            .register_geometry(SourceId::new(), world, ball("b"))
            .is_err()
    );
    assert_eq!(s.graph.model_inspector().num_geometries(), 1);
}
