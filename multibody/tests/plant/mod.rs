//! Behaviour of plants: topology, kinematics, ports. One property per test.

mod finite;
mod free_bodies;
mod instances;
mod messages;
mod settings;

use nalgebra::{Isometry3, Point3, Vector3};
use proptest::prelude::*;
use std::f64::consts::FRAC_PI_2;
use tarragon_documents::PackageMap;
use tarragon_formats::*;
use tarragon_framework::prelude::*;
use tarragon_framework::{AutoDiff, ErrorKind, math};
use tarragon_geometry::{ProximityProperties, SceneGraph, Sphere};
use tarragon_multibody::*;

fn plant() -> MultibodyPlantBuilder {
    MultibodyPlantBuilder::new(0.001).unwrap()
}

fn add_body(plant: &mut MultibodyPlantBuilder, name: &str) -> BodyIndex {
    let instance = ModelInstanceIndex::DEFAULT;
    let inertia = SpatialInertia::zero();
    plant.add_rigid_body(name, instance, inertia).unwrap()
}

/// A free base, then a revolute, a prismatic and a weld joint with offsets on both sides.
fn mixed() -> MultibodyPlant {
    let mut p = plant();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| add_body(&mut p, name));
    let x = |s: f64| {
        let r = math::rpy(0.3 * s, -0.2, 0.5 * s);
        math::pose(r, Vector3::new(0.1, 0.2 * s, -0.3))
    };
    let revolute = Joint::revolute("ab", a, b, Vector3::new(1.0, 2.0, -0.5)).unwrap();
    let prismatic = Joint::prismatic("bc", b, c, Vector3::new(0.2, -1.0, 0.5)).unwrap();
    let weld = Joint::weld("cd", c, d, x(0.7));
    for (i, joint) in [revolute, prismatic, weld].into_iter().enumerate() {
        let s = i as f64 + 1.0;
        let joint = joint.with_pose_on_parent(x(s)).with_pose_on_child(x(-s));
        p.add_joint(joint).unwrap();
    }
    p.build().unwrap()
}

fn poses(p: &MultibodyPlant, q: &[f64]) -> Vec<Isometry3<f64>> {
    let mut out = vec![];
    p.calc_body_poses(q, &mut out).unwrap();
    out
}

#[test]
fn state_order_is_depth_first_and_free_bodies_come_last() {
    let mut p = plant();
    let [single, base, left, right, tip, hinged] =
        ["single", "base", "left", "right", "tip", "hinged"].map(|n| add_body(&mut p, n));
    for (name, parent, child) in [
        ("to_left", base, left),
        ("to_right", base, right),
        ("to_tip", left, tip),
        ("hinge", BodyIndex::WORLD, hinged),
    ] {
        let joint = Joint::revolute(name, parent, child, Vector3::z()).unwrap();
        p.add_joint(joint).unwrap();
    }
    let p = p.build().unwrap();
    let names: Vec<&str> = p.position_names().iter().map(|n| &**n).collect();
    let of = |b: &str| ["qw", "qx", "qy", "qz", "x", "y", "z"].map(|s| format!("{b}_{s}"));
    let mut expected = vec!["hinge".to_string()];
    expected.extend(of("base"));
    expected.extend(["to_left", "to_tip", "to_right"].map(String::from));
    expected.extend(of("single"));
    assert_eq!(names, expected);
    assert_eq!((p.num_positions(), p.num_velocities()), (18, 16));
    assert!(p.is_floating_base(single) && p.is_floating_base(base));
    assert!(!p.is_floating_base(hinged) && !p.is_floating_base(BodyIndex::WORLD));
}

#[test]
fn topology_errors_name_the_bodies() {
    let mut p = plant();
    let [a, b, c] = ["a", "b", "c"].map(|name| add_body(&mut p, name));
    let weld = |name: &str, parent, child| Joint::weld(name, parent, child, Isometry3::identity());
    p.add_joint(weld("ab", a, b)).unwrap();
    assert!(p.add_joint(weld("aa", a, a)).is_err());
    let e = p.add_joint(weld("again", b, a)).unwrap_err().to_string();
    assert!(e.contains("joint 'ab' connects them already"), "{e}");
    assert!(
        p.add_joint(weld("ab", a, c))
            .unwrap_err()
            .to_string()
            .contains("exists already")
    );
    p.add_joint(weld("cb", c, b)).unwrap();
    let e = p.add_joint(weld("ca", c, a)).unwrap_err().to_string();
    let name = |body: &str| format!("'DefaultModelInstance::{body}'");
    assert!(e.starts_with("joint 'ca' closes a loop: "), "{e}");
    let way = ["c", "b", "a", "c"].map(name).join(" -> ");
    assert!(e.contains(&way), "{e}");
    // A body with two parents is not a loop.
    let p = p.build().unwrap();
    assert_eq!((p.num_positions(), p.num_joints()), (7, 3));
}

/// The expected names and numbers are recorded from Drake 1.51.1.
#[test]
fn joints_towards_the_world_are_reversed() {
    let mut p = plant();
    let [a, b] = ["b0", "b1"].map(|name| add_body(&mut p, name));
    for (name, parent, child) in [("j1", a, BodyIndex::WORLD), ("j2", b, a)] {
        p.add_joint(Joint::revolute(name, parent, child, Vector3::z()).unwrap())
            .unwrap();
    }
    let p = p.build().unwrap();
    let names: Vec<&str> = p.frames().map(|(_, f)| f.name()).collect();
    let internal = ["j1_world_F", "j1_b0_M", "j2_b0_F", "j2_b1_M"];
    assert_eq!(names, [&["world", "b0", "b1"][..], &internal].concat());
    let mut poses = vec![];
    p.calc_body_poses(&[0.3, 0.5], &mut poses).unwrap();
    let yaw = |body: BodyIndex| -> f64 { math::rpy_of(&poses[body.index()].rotation).z };
    assert!((yaw(a) + 0.3).abs() < 1e-15 && (yaw(b) + 0.8).abs() < 1e-15);
    assert_eq!(p.inboard_joint(b), Some(p.joint_by_name("j2").unwrap()));
    // Joints with more degrees of freedom are not reversed.
    let mut p = plant();
    let a = add_body(&mut p, "a");
    p.add_joint(Joint::universal("u", a, BodyIndex::WORLD))
        .unwrap();
    let e = p.build().unwrap_err().to_string();
    assert!(e.contains("swap parent and child"), "{e}");
}

#[test]
fn names_are_found_with_and_without_a_scope() {
    let mut p = plant();
    let inertia = SpatialInertia::zero();
    for model in ["left", "right"] {
        let instance = p.add_model_instance(model).unwrap();
        p.add_rigid_body("hand", instance, inertia).unwrap();
    }
    let hand = p.body_by_name("right::hand").unwrap();
    assert_eq!(p.body(hand).unwrap().name(), "hand");
    assert_eq!(p.body_by_name("world").unwrap(), BodyIndex::WORLD);
    let e = p.body_by_name("hand").unwrap_err().to_string();
    assert!(e.contains("'left::hand', 'right::hand'"), "{e}");
    let e = p.body_by_name("right::hnad").unwrap_err().to_string();
    assert!(e.contains("there are: 'right::hand'"), "{e}");
    assert!(p.add_model_instance("left").is_err());
    assert!(
        p.joint_by_name("x")
            .unwrap_err()
            .to_string()
            .contains("there is no joint named 'x'")
    );
}

#[test]
fn a_hinge_turns_about_its_axis_and_a_slide_moves_along_it() {
    let mut p = plant();
    let [a, b] = ["a", "b"].map(|name| add_body(&mut p, name));
    let hinge = Joint::revolute("hinge", BodyIndex::WORLD, a, Vector3::z() * 3.0).unwrap();
    let hinge = hinge.with_pose_on_parent(Isometry3::translation(1.0, 0.0, 0.0));
    p.add_joint(hinge.with_pose_on_child(Isometry3::translation(-2.0, 0.0, 0.0)))
        .unwrap();
    p.add_joint(Joint::prismatic("slide", a, b, Vector3::x()).unwrap())
        .unwrap();
    let p = p.build().unwrap();
    let x = poses(&p, &[FRAC_PI_2, 0.5]);
    let [at_a, at_b] = [x[a.index()], x[b.index()]].map(|x| x.translation.vector);
    assert!(
        (at_a - Vector3::new(1.0, 2.0, 0.0)).norm() < 1e-15,
        "{at_a}"
    );
    assert!(
        (at_b - Vector3::new(1.0, 2.5, 0.0)).norm() < 1e-15,
        "{at_b}"
    );
}

#[test]
fn weld_frames_respects_the_offsets_of_frames() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    let x_af = Isometry3::translation(0.0, 0.0, 0.25);
    p.add_frame(FixedOffsetFrame::new("tool", a, x_af)).unwrap();
    let tool = p.frame_by_name("tool").unwrap();
    let x_pc = Isometry3::translation(0.0, 0.0, 1.0);
    let weld = p.weld_frames(FrameIndex::WORLD, tool, x_pc).unwrap();
    assert_eq!(p.joint(weld).unwrap().name(), "world_welds_to_tool");
    let p = p.build().unwrap();
    assert_eq!(p.num_positions(), 0);
    assert_eq!(poses(&p, &[])[a.index()].translation.vector.z, 0.75);
}

#[test]
fn quaternions_are_normalised_and_zero_is_an_error() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    let p = p.build().unwrap();
    let x = poses(&p, &[0.0, 0.0, 0.0, 5.0, 1.0, 2.0, 3.0])[a.index()];
    assert_eq!(x.rotation.k, 1.0);
    let mut out = vec![];
    let e = p
        .calc_body_poses(&[0.0; 7], &mut out)
        .unwrap_err()
        .to_string();
    assert!(e.contains("'DefaultModelInstance::a'"), "{e}");
    let e = p
        .calc_body_poses(&[0.0; 3], &mut out)
        .unwrap_err()
        .to_string();
    assert_eq!(
        e,
        "the number of positions must be 7, got 3; they belong to a_qw, a_qx, a_qy, a_qz, a_x, a_y, \
         a_z; a body without a joint is free: weld it to the world before the plant is built if it \
         must not move"
    );
}

#[test]
fn defaults_can_be_set_before_and_after_building() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    let x = Isometry3::translation(1.0, 2.0, 3.0);
    p.set_default_free_body_pose(a, x).unwrap();
    let mut p = p.build().unwrap();
    assert_eq!(p.default_positions(), [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    p.set_default_free_body_pose(a, Isometry3::identity())
        .unwrap();
    assert_eq!(p.default_positions()[4..], [0.0; 3]);
    assert!(p.set_default_positions(&[0.0; 7]).is_err());
    p.set_default_positions(&[0.0, 1.0, 0.0, 0.0, 4.0, 5.0, 6.0])
        .unwrap();
    assert_eq!(p.default_positions()[4..], [4.0, 5.0, 6.0]);
    assert!(p.set_default_positions(&[1.0]).is_err());
}

#[test]
fn poses_and_geometry_follow_the_state() {
    let (mut p, mut scene) = (plant(), SceneGraph::new());
    p.register_as_source_for_scene_graph(&mut scene).unwrap();
    let a = add_body(&mut p, "a");
    let slide = Joint::prismatic("slide", BodyIndex::WORLD, a, Vector3::x()).unwrap();
    p.add_joint(slide).unwrap();
    let sphere = Sphere::new(0.1).unwrap();
    let x_bg = Isometry3::translation(0.0, 0.0, 1.0);
    let role = ProximityProperties::new();
    let id = p
        .register_collision_geometry(&mut scene, a, x_bg, sphere, "ball", role)
        .unwrap();
    let mut b = DiagramBuilder::new();
    let (p, scene) = add_multibody_plant_scene_graph(&mut b, p, scene).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    let state = p.discrete_state().unwrap();
    ctx.xd_mut(state).unwrap()[0] = 2.0;
    assert_eq!(
        ctx.eval(p.body_poses).unwrap()[a.index()]
            .translation
            .vector
            .x,
        2.0
    );
    assert_eq!(ctx.eval(p.state().unwrap()).unwrap(), &[2.0, 0.0]);
    let query = ctx.eval(scene.query).unwrap();
    let x_wg = query.geometry_pose_in_world(id).unwrap();
    assert_eq!(x_wg.translation.vector, Vector3::new(2.0, 0.0, 1.0));
}

#[test]
fn errors_have_the_kind_of_what_went_wrong() {
    let mut p = plant();
    let [a, b] = ["a", "b"].map(|name| add_body(&mut p, name));
    let kind = |error: Error| error.kind();
    assert_eq!(kind(p.body_by_name("c").unwrap_err()), ErrorKind::NotFound);
    assert_eq!(kind(plant().body(b).unwrap_err()), ErrorKind::NotFound);
    let again = p.add_rigid_body("a", ModelInstanceIndex::DEFAULT, SpatialInertia::zero());
    assert_eq!(kind(again.unwrap_err()), ErrorKind::AlreadyExists);
    p.add_joint(Joint::weld("ab", a, b, Isometry3::identity()))
        .unwrap();
    let back = p.add_joint(Joint::weld("ba", b, a, Isometry3::identity()));
    assert_eq!(kind(back.unwrap_err()), ErrorKind::AlreadyExists);
    let unknown = PackageMap::make_empty().path("p").unwrap_err();
    assert_eq!(kind(unknown), ErrorKind::NotFound);
    let error = directives::ModelDirectives::from_yaml("directives:\n- {add_modle: {name: A}}")
        .unwrap_err();
    assert_eq!(error.location().map(|l| (l.line, l.column)), Some((2, 4)));
    assert_eq!(kind(error), ErrorKind::Parse);
}

#[test]
fn unattached_bodies_are_welded_where_they_are_told() {
    let mut p = plant();
    let [a, b, c] = ["a", "b", "c"].map(|name| add_body(&mut p, name));
    let hinge = Joint::revolute("hinge", a, b, Vector3::z()).unwrap();
    p.add_joint(hinge).unwrap();
    let up = Isometry3::translation(0.0, 0.0, 1.0);
    assert_eq!(p.weld_unattached_bodies(up).unwrap(), [a, c]);
    let d = add_body(&mut p, "d");
    let side = Isometry3::translation(2.0, 0.0, 0.0);
    assert_eq!(p.weld_unattached_bodies(side).unwrap(), [d]);
    let p = p.build().unwrap();
    assert_eq!(p.num_positions(), 1);
    let found = poses(&p, &[0.0]);
    for (body, x_wb) in [(a, up), (b, up), (c, up), (d, side)] {
        assert_eq!(found[body.index()], x_wb);
    }
}

#[test]
fn a_failed_weld_of_unattached_bodies_changes_nothing() {
    let mut p = plant();
    let [a, b, c] = ["a", "b", "c"].map(|name| add_body(&mut p, name));
    let taken = Joint::weld("world_welds_to_c", a, b, Isometry3::identity());
    p.add_joint(taken).unwrap();
    let error = p.weld_unattached_bodies(Isometry3::identity()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!((p.num_joints(), c.index()), (1, 3));
}

#[test]
fn a_plant_stays_with_one_scene() {
    let (mut p, mut scene, mut other) = (plant(), SceneGraph::new(), SceneGraph::new());
    let source = p.register_as_source_for_scene_graph(&mut scene).unwrap();
    let again = p.register_as_source_for_scene_graph(&mut scene.clone());
    assert_eq!(again.unwrap(), source, "a clone is the same scene");
    let refused = [
        p.register_as_source_for_scene_graph(&mut other).map(drop),
        p.clone().build_with_scene(&mut other).map(drop),
        add_multibody_plant_scene_graph(&mut DiagramBuilder::new(), p.clone(), other.clone())
            .map(drop),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::InvalidState, "{error}");
        assert!(error.to_string().contains("another scene"), "{error}");
    }
    assert_eq!(other.model_inspector().num_sources(), 1);
}

#[test]
fn sources_of_plants_get_the_first_free_name() {
    let mut scene = SceneGraph::new();
    scene.register_source("plant_2").unwrap();
    for n in 1..=120 {
        let mut p = plant();
        let source = p.register_as_source_for_scene_graph(&mut scene).unwrap();
        let name = scene.model_inspector().source_name(source).unwrap();
        match n {
            1 => assert_eq!(name, "plant"),
            n => assert_eq!(name, format!("plant_{}", n + 1)),
        }
    }
}

#[test]
fn positions_can_come_from_a_port() {
    for time_step in [0.0, 0.01] {
        let mut p = MultibodyPlantBuilder::new(time_step).unwrap();
        let a = add_body(&mut p, "a");
        let slide = Joint::prismatic("slide", BodyIndex::WORLD, a, Vector3::y()).unwrap();
        p.add_joint(slide).unwrap();
        p.set_position_source(PositionSource::InputPort);
        let p = p.build().unwrap();
        let mut b = DiagramBuilder::new();
        let p = b.add("plant", p);
        let mut ctx = b.build().unwrap().default_context();
        assert!(p.state().is_err() && p.geometry_pose().is_err());
        ctx.fix(p.position().unwrap(), vec![3.0]).unwrap();
        assert_eq!(
            ctx.eval(p.body_poses).unwrap()[a.index()]
                .translation
                .vector
                .y,
            3.0
        );
    }
}

#[test]
fn a_continuous_plant_names_the_body_without_mass() {
    let mut p = MultibodyPlantBuilder::new(0.0).unwrap();
    let a = add_body(&mut p, "a");
    let p = p.build().unwrap();
    let mut b = DiagramBuilder::new();
    let p = b.add("plant", p);
    let diagram = b.build().unwrap();
    let ctx = diagram.default_context();
    assert_eq!(
        ctx.eval(p.body_poses).unwrap()[a.index()],
        Isometry3::identity()
    );
    let e = Simulator::new(&diagram, ctx)
        .and_then(|mut s| s.advance_to(0.1))
        .unwrap_err()
        .to_string();
    assert!(e.contains("body 'DefaultModelInstance::a'"), "{e}");
    let cure = "give the body mass and rotational inertia, or weld its base to the world";
    assert!(e.contains(cure), "{e}");
}

#[test]
fn plants_work_with_autodiff_in_a_diagram() {
    let mut b = DiagramBuilder::new();
    let p = b.add("plant", mixed());
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = diagram.ports(&p).unwrap();
    let mut ctx = diagram.default_context();
    let x = ctx.xd_mut(ports.discrete_state().unwrap()).unwrap();
    x[8] = AutoDiff::variable(0.0, 0); // the slide
    let poses = ctx.eval(ports.body_poses).unwrap();
    let v = poses[3].translation.vector.map(|x| x.eps[0]);
    assert!(
        (v.norm() - 1.0).abs() < 1e-14,
        "a slide moves at unit speed: {v}"
    );
}

/// Checks that dual numbers agree with central differences, also at angle zero, where nalgebra's
/// own constructors lose the derivative.
fn check_derivatives(q: &[f64]) -> std::result::Result<(), TestCaseError> {
    let p = mixed();
    let point = Point3::new(0.3, -0.4, 0.5);
    let h = 1e-6;
    for i in 0..q.len() {
        let dual: Vec<AutoDiff> = (0..q.len())
            .map(|j| {
                if i == j {
                    AutoDiff::variable(q[j], 0)
                } else {
                    AutoDiff::from(q[j])
                }
            })
            .collect();
        let mut out = vec![];
        p.calc_body_poses(&dual, &mut out).unwrap();
        let (mut above, mut below) = (q.to_vec(), q.to_vec());
        above[i] += h;
        below[i] -= h;
        let (above, below) = (poses(&p, &above), poses(&p, &below));
        for body in 0..out.len() {
            let exact = (out[body] * point.map(AutoDiff::from))
                .coords
                .map(|x| x.eps[0]);
            let central = (above[body] * point - below[body] * point) / (2.0 * h);
            let error = (exact - central).amax();
            prop_assert!(error < 1e-8, "position {i}, body {body}: {error:e}");
        }
    }
    Ok(())
}

#[test]
fn derivatives_are_correct_at_zero_angles() {
    check_derivatives(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn derivatives_agree_with_central_differences(
        r in [-3.0..3.0f64, -3.0..3.0, -3.0..3.0],
        rest in [-2.0..2.0f64, -2.0..2.0, -2.0..2.0, -7.0..7.0, -2.0..2.0],
    ) {
        let r = math::rpy(r[0], r[1], r[2]);
        let q = [&[r.w, r.i, r.j, r.k], &rest[..]].concat();
        check_derivatives(&q)?;
    }
}

/// Prints the time of the forward kinematics of a 7-link chain on a free base (nq = 14). The bounds
/// leave room for a loaded machine and catch only gross regressions. Drake 1.51.1 takes 1.3 us in
/// double and 22 us in AutoDiff with 14 derivatives; our AutoDiff carries 8 per pass.
#[test]
fn forward_kinematics_of_a_chain_is_fast() {
    let mut p = plant();
    let mut parent = add_body(&mut p, "base");
    for i in 0..7 {
        let link = add_body(&mut p, &format!("link{i}"));
        let axis = if i % 2 == 0 {
            Vector3::y()
        } else {
            Vector3::z()
        };
        let x_pf = math::pose(math::rotation_y(0.1), Vector3::new(0.0, 0.0, 0.3));
        let joint = Joint::revolute(format!("j{i}"), parent, link, axis).unwrap();
        p.add_joint(joint.with_pose_on_parent(x_pf)).unwrap();
        parent = link;
    }
    let p = p.build().unwrap();
    let q: Vec<f64> = (0..14).map(|i| 0.1 + 0.1 * f64::from(i)).collect();
    let duals: Vec<AutoDiff> = (0..14).map(|i| AutoDiff::variable(q[i], i % 8)).collect();
    let double = best_time(&p, &q);
    let dual = best_time(&p, &duals);
    println!("7-link chain: {double:.0} ns in f64, {dual:.0} ns in AutoDiff");
    assert!(double < 20e3 && dual < 200e3);
}

#[test]
fn ports_match_the_documented_table() {
    let ports = |time_step: f64, source, registered: bool| {
        let mut p = MultibodyPlantBuilder::new(time_step).unwrap();
        if registered {
            p.register_as_source_for_scene_graph(&mut SceneGraph::new())
                .unwrap();
        }
        p.set_position_source(source);
        let p = p.build().unwrap();
        let mut b = DiagramBuilder::new();
        b.add("plant", p);
        let info = b.build().unwrap().systems().next().unwrap();
        (info.input_ports, info.output_ports)
    };
    let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    for time_step in [0.0, 0.1] {
        let state = ports(time_step, PositionSource::State, true);
        let inputs = [
            "geometry_query",
            "actuation",
            "applied_generalized_force",
            "applied_spatial_force",
        ];
        let plain = [
            "state",
            "body_poses",
            "body_spatial_velocities",
            "geometry_pose",
            "parameters",
            "body_spatial_accelerations",
            "generalized_acceleration",
            "net_actuation",
            "reaction_forces",
            "contact_results",
        ];
        let mut outputs = names(&plain);
        for model in ["WorldModelInstance", "DefaultModelInstance"] {
            let own = [
                "state",
                "generalized_acceleration",
                "generalized_contact_forces",
                "net_actuation",
            ];
            outputs.extend(own.map(|name| format!("{model}_{name}")));
        }
        assert_eq!(state, (names(&inputs), outputs));
        let port = ports(time_step, PositionSource::InputPort, false);
        let inputs = names(&["position", "velocity"]);
        let outputs = names(&["body_poses", "body_spatial_velocities", "parameters"]);
        assert_eq!(port, (inputs, outputs));
    }
}

fn best_time<T: Scalar>(p: &MultibodyPlant, q: &[T]) -> f64 {
    let mut out = vec![];
    let runs = 1000;
    let times = (0..20).map(|_| {
        let start = std::time::Instant::now();
        for _ in 0..runs {
            p.calc_body_poses(std::hint::black_box(q), &mut out)
                .unwrap();
            std::hint::black_box(&out);
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(runs)
    });
    times.fold(f64::INFINITY, f64::min)
}
