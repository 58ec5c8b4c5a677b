//! Positions, velocities and elements of individual model instances.

use super::*;

/// Three model instances. The joints are added in another order than that of the state, joints in
/// two instances have the same name, some bodies are free, and one joint belongs to another
/// instance than its child.
fn three_models() -> (MultibodyPlant, [ModelInstanceIndex; 3]) {
    three_models_at(0.001, PositionSource::State)
}

fn three_models_at(
    time_step: f64,
    source: PositionSource,
) -> (MultibodyPlant, [ModelInstanceIndex; 3]) {
    let mut p = MultibodyPlantBuilder::new(time_step).unwrap();
    let models = ["arm", "tool", "toys"].map(|name| p.add_model_instance(name).unwrap());
    let mut add = |name: &str, model: usize| {
        let inertia = SpatialInertia::zero();
        p.add_rigid_body(name, models[model], inertia).unwrap()
    };
    let [upper, lower] = ["upper", "lower"].map(|name| add(name, 0));
    let [grip, finger] = ["grip", "finger"].map(|name| add(name, 1));
    let [_ball, box_, lid] = ["ball", "box", "lid"].map(|name| add(name, 2));
    let y = Vector3::y();
    let elbow = Joint::revolute("elbow", upper, lower, y).unwrap();
    let elbow = p.add_joint(elbow).unwrap();
    let slide = Joint::prismatic("elbow", grip, finger, y).unwrap();
    let slide = p.add_joint(slide).unwrap();
    p.add_joint(Joint::universal("wrist", lower, grip)).unwrap();
    p.add_joint(Joint::ball_rpy("shoulder", BodyIndex::WORLD, upper))
        .unwrap();
    let hinge = Joint::revolute("hinge", box_, lid, y).unwrap();
    p.add_joint(hinge.with_model_instance(models[1])).unwrap();
    p.add_joint_actuator("motor", slide, 1.0).unwrap();
    p.add_joint_actuator("motor", elbow, 2.0).unwrap();
    p.set_position_source(source);
    let p = p.build().unwrap();
    (p, models)
}

fn all_instances(p: &MultibodyPlant) -> Vec<ModelInstanceIndex> {
    let name = |name: &String| p.model_instance_by_name(name).unwrap();
    p.model_instance_names().iter().map(name).collect()
}

/// Orders and counts of Drake 1.51.1: joints by index, positions in the order of the state.
#[test]
fn elements_of_an_instance_are_in_the_order_of_drake() {
    let (p, [arm, tool, toys]) = three_models();
    let joints = |m| -> Vec<String> {
        let indices = p.joint_indices_in(m).unwrap();
        let name = |j: &JointIndex| p.joint(*j).unwrap().name().to_string();
        indices.iter().map(name).collect()
    };
    assert_eq!(joints(arm), ["elbow", "shoulder"]);
    assert_eq!(joints(tool), ["elbow", "wrist", "hinge"]);
    assert_eq!(joints(toys), ["box", "ball"]);
    let bodies = |m| -> Vec<usize> {
        let indices = p.body_indices_in(m).unwrap();
        indices.iter().map(|b| b.index()).collect()
    };
    assert_eq!(
        [arm, tool, toys].map(bodies),
        [vec![1, 2], vec![3, 4], vec![5, 6, 7]]
    );
    assert_eq!(bodies(ModelInstanceIndex::WORLD), [0]);
    let motors = |m| -> Vec<usize> {
        let indices = p.joint_actuator_indices_in(m).unwrap();
        indices.iter().map(|a| a.index()).collect()
    };
    assert_eq!([arm, tool, toys].map(motors), [vec![1], vec![0], vec![]]);
    let numbers = |m| {
        let nq = p.num_positions_in(m).unwrap();
        let nv = p.num_velocities_in(m).unwrap();
        (nq, nv, p.num_actuators_in(m).unwrap())
    };
    assert_eq!(
        [arm, tool, toys].map(numbers),
        [(4, 4, 1), (4, 4, 1), (14, 12, 0)]
    );
    assert_eq!(numbers(ModelInstanceIndex::DEFAULT), (0, 0, 0));
    // The state: shoulder, elbow, wrist, the other elbow, base of the box, hinge, ball.
    let q: Vec<f64> = (0..22).map(f64::from).collect();
    assert_eq!(p.positions_from_array(arm, &q).unwrap(), q[..4]);
    let of_tool = [&q[4..7], &q[14..15]].concat();
    assert_eq!(p.positions_from_array(tool, &q).unwrap(), of_tool);
    let of_toys = [&q[7..14], &q[15..]].concat();
    assert_eq!(p.positions_from_array(toys, &q).unwrap(), of_toys);
}

#[test]
fn free_bodies_have_joints_once_the_plant_is_built() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    let instance = ModelInstanceIndex::DEFAULT;
    assert_eq!(p.body_indices_in(instance).unwrap(), [a]);
    assert_eq!(p.joint_indices_in(instance).unwrap(), []);
    let p = p.build().unwrap();
    assert_eq!(p.joint_indices_in(instance).unwrap().len(), 1);
    assert_eq!(p.num_positions_in(instance).unwrap(), 7);
    // An index from a plant with more instances.
    let (_, [.., foreign]) = three_models();
    assert!(p.num_positions_in(foreign).is_err());
    assert!(p.body_indices_in(foreign).is_err());
    assert!(p.joint_indices_in(foreign).is_err());
    assert!(p.num_actuators_in(foreign).is_err());
    assert!(p.positions_from_array(foreign, &[0.0; 7]).is_err());
}

#[test]
fn instances_partition_the_state() {
    let (p, _) = three_models();
    let all = all_instances(&p);
    let q: Vec<f64> = (0..p.num_positions()).map(|k| k as f64).collect();
    let v: Vec<f64> = (0..p.num_velocities()).map(|k| k as f64).collect();
    let mut found: Vec<f64> = vec![];
    let mut found_v: Vec<f64> = vec![];
    for m in &all {
        found.extend(p.positions_from_array(*m, &q).unwrap());
        found_v.extend(p.velocities_from_array(*m, &v).unwrap());
    }
    found.sort_by(f64::total_cmp);
    found_v.sort_by(f64::total_cmp);
    assert_eq!((found, found_v), (q, v));
}

fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-3.0..3.0, n)
}

proptest! {
    #[test]
    fn reading_returns_the_written_values(
        old in numbers(22),
        new in numbers(22),
        old_v in numbers(20),
        new_v in numbers(20),
        which in 0..3_usize,
    ) {
        let (p, models) = three_models();
        let m = models[which];
        let others = all_instances(&p).into_iter().filter(|o| *o != m);
        let own = p.positions_from_array(m, &new).unwrap();
        let own_v = p.velocities_from_array(m, &new_v).unwrap();
        let (mut q, mut v) = (old.clone(), old_v.clone());
        p.set_positions_in_array(m, &own, &mut q).unwrap();
        p.set_velocities_in_array(m, &own_v, &mut v).unwrap();
        prop_assert_eq!(p.positions_from_array(m, &q).unwrap(), own);
        prop_assert_eq!(p.velocities_from_array(m, &v).unwrap(), own_v);
        for other in others {
            prop_assert_eq!(
                p.positions_from_array(other, &q).unwrap(),
                p.positions_from_array(other, &old).unwrap()
            );
            prop_assert_eq!(
                p.velocities_from_array(other, &v).unwrap(),
                p.velocities_from_array(other, &old_v).unwrap()
            );
        }
    }
}

#[test]
fn wrong_lengths_change_nothing() {
    let (mut p, [arm, ..]) = three_models();
    let mut q = vec![1.0; 22];
    let e = p
        .set_positions_in_array(arm, &[0.0; 3], &mut q)
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "model instance 'arm': the number of positions must be 4, got 3"
    );
    assert!(p.set_positions_in_array(arm, &[0.0; 5], &mut q).is_err());
    assert!(
        p.set_positions_in_array(arm, &[0.0; 4], &mut q[1..])
            .is_err()
    );
    assert!(
        p.set_velocities_in_array(arm, &[0.0; 3], &mut q[..20])
            .is_err()
    );
    assert!(p.set_velocities_in_array(arm, &[0.0; 4], &mut q).is_err());
    assert_eq!(q, [1.0; 22]);
    assert!(p.positions_from_array(arm, &q[1..]).is_err());
    assert!(p.velocities_from_array(arm, &q).is_err());
    let default = p.default_positions();
    assert!(p.set_default_positions_in(arm, &[0.0; 3]).is_err());
    assert!(p.set_default_positions_in(arm, &[f64::NAN; 4]).is_err());
    assert_eq!(p.default_positions(), default);
}

#[test]
fn default_positions_of_an_instance_are_set_together() {
    let (mut p, [arm, tool, toys]) = three_models();
    let mut expected = p.default_positions();
    p.set_default_positions_in(tool, &[1.0, 2.0, 3.0, 4.0])
        .unwrap();
    expected[4..7].copy_from_slice(&[1.0, 2.0, 3.0]);
    expected[14] = 4.0;
    assert_eq!(p.default_positions(), expected);
    assert_eq!(p.default_positions_in(tool).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(p.default_positions_in(arm).unwrap(), [0.0; 4]);
    // The quaternion of a free body must not be zero.
    assert!(p.set_default_positions_in(toys, &[0.0; 14]).is_err());
    assert_eq!(p.default_positions(), expected);
}

#[test]
fn contexts_hold_positions_of_instances_in_state_and_ports() {
    for (time_step, source) in [
        (0.001, PositionSource::State),
        (0.0, PositionSource::State),
        (0.001, PositionSource::InputPort),
    ] {
        let (p, [arm, tool, _]) = three_models_at(time_step, source);
        let default = p.default_positions();
        let mut b = DiagramBuilder::new();
        let p = b.add("plant", p);
        let mut ctx = b.build().unwrap().default_context();
        let by_port = source == PositionSource::InputPort;
        assert_eq!(p.positions(&ctx).is_err(), by_port);
        assert_eq!(p.velocities(&ctx).is_err(), by_port);
        // Positions that were not set yet have their default values.
        let (q_tool, v_tool) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        p.set_positions_in(&mut ctx, tool, q_tool).unwrap();
        p.set_velocities_in(&mut ctx, tool, v_tool).unwrap();
        let mut q = default.clone();
        p.set_positions_in_array(tool, &q_tool, &mut q).unwrap();
        let mut v = vec![0.0; 20];
        p.set_velocities_in_array(tool, &v_tool, &mut v).unwrap();
        assert_eq!(p.positions(&ctx).unwrap(), q);
        assert_eq!(p.velocities(&ctx).unwrap(), v);
        assert_eq!(p.positions_in(&ctx, tool).unwrap(), q_tool);
        assert_eq!(p.velocities_in(&ctx, tool).unwrap(), v_tool);
        // A second instance leaves the first as it is, and poses follow.
        p.set_positions_in(&mut ctx, arm, [0.1, 0.2, 0.3, 0.4])
            .unwrap();
        assert_eq!(p.positions_in(&ctx, tool).unwrap(), q_tool);
        let q = p.positions(&ctx).unwrap();
        assert_eq!(ctx.eval(p.body_poses).unwrap(), &poses(&p, &q));
        // Refusals change nothing.
        let nan = f64::NAN;
        for refused in [
            p.set_positions_in(&mut ctx, arm, [0.0; 3]),
            p.set_positions_in(&mut ctx, arm, [0.0, 0.0, nan, 0.0]),
            p.set_positions(&mut ctx, [0.0; 3]),
            p.set_velocities(&mut ctx, [nan; 20]),
            p.set_velocities_in(&mut ctx, arm, [0.0; 5]),
        ] {
            assert!(refused.is_err());
        }
        assert_eq!(p.positions(&ctx).unwrap(), q);
        assert_eq!(p.velocities(&ctx).unwrap(), v);
        p.set_positions(&mut ctx, &default).unwrap();
        p.set_velocities(&mut ctx, [2.0; 20]).unwrap();
        assert_eq!(p.positions(&ctx).unwrap(), default);
        assert_eq!(p.velocities(&ctx).unwrap(), [2.0; 20]);
    }
}

#[test]
fn a_connected_port_can_be_read_but_not_set() {
    use tarragon_framework::primitives::ConstantVectorSource;
    let (p, [arm, ..]) = three_models_at(0.001, PositionSource::InputPort);
    let q = vec![0.5; 22];
    let mut b = DiagramBuilder::new();
    let p = b.add("plant", p);
    let source = b.add("source", ConstantVectorSource::new(q.clone()));
    b.connect(source.y, p.position().unwrap());
    let mut ctx = b.build().unwrap().default_context();
    assert_eq!(p.positions(&ctx).unwrap(), q);
    assert_eq!(p.positions_in(&ctx, arm).unwrap(), [0.5; 4]);
    for refused in [
        p.set_positions(&mut ctx, &q),
        p.set_positions_in(&mut ctx, arm, [0.0; 4]),
    ] {
        let e = refused.unwrap_err().to_string();
        assert!(e.contains("it is connected to 'source.y0'"), "{e}");
    }
    let e = p.velocities(&ctx).unwrap_err().to_string();
    assert_eq!(
        e,
        "MultibodyPlant: input port 'velocity' must have a value before its velocities are read, got \
         none; connect it or call `set_velocities`"
    );
}

#[test]
fn foreign_ports_and_contexts_are_refused() {
    let refuse = |source| -> [Result<()>; 2] {
        let (p, [arm, ..]) = three_models_at(0.001, source);
        let mut b = DiagramBuilder::new();
        let p = b.add("plant", p);
        let _ours = b.build().unwrap();
        let mut b = DiagramBuilder::new();
        let other = b.add("other", three_models_at(0.001, source).0);
        let mut ctx = b.build().unwrap().default_context();
        other.set_positions(&mut ctx, [1.0; 22]).unwrap();
        let refused = [
            p.positions(&ctx).map(|_| ()),
            p.set_positions_in(&mut ctx, arm, [0.0; 4]),
        ];
        assert_eq!(other.positions(&ctx).unwrap(), [1.0; 22]);
        refused
    };
    for source in [PositionSource::State, PositionSource::InputPort] {
        assert!(refuse(source).iter().all(|r| r.is_err()));
    }
}

#[test]
fn derivatives_pass_through_instances_and_contexts() {
    for source in [PositionSource::State, PositionSource::InputPort] {
        let (p, [_, tool, _]) = three_models_at(0.001, source);
        let mut b = DiagramBuilder::new();
        let p = b.add("plant", p);
        let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
        let (plant, ports) = (p.system(), diagram.ports(&p).unwrap());
        let mut ctx = diagram.default_context();
        let own = [0, 1, 2, 3].map(|k| AutoDiff::variable(0.1, k));
        ports.set_positions_in(&mut ctx, tool, own).unwrap();
        assert_eq!(ports.positions_in(&ctx, tool).unwrap(), own);
        // The slide of the tool moves its finger at unit speed.
        let finger = plant.body_by_name("finger").unwrap();
        let x = &ctx.eval(ports.body_poses).unwrap()[finger.index()];
        let v = x.translation.vector.map(|x| x.eps[2]);
        assert!((v.norm() - 1.0).abs() < 1e-14, "{v}");
    }
}
