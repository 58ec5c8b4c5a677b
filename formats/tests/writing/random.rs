//! Random plants, written in every format and read back.

use super::compare::Model;
use super::numbers::{Numbers, kind, proximity, shape, visual};
use super::{FORMATS, RoundTrip, round_trip};
use proptest::prelude::*;
use tarragon_formats::*;
use tarragon_geometry::{BoxShape, CoulombFriction, GeometryId, ProximityProperties, SceneGraph};
use tarragon_multibody::*;

/// A plant of up to eight bodies with everything that a plant may have; `None` if a joint with
/// several degrees of freedom is the wrong way round.
fn random_model(seed: u64) -> Option<Model> {
    let numbers = &mut Numbers(seed);
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let names = ["robot", "a < \"b\" & 'c'", "nested::robot", " robot\t"];
    let first = plant.add_model_instance(names[numbers.below(4)]).unwrap();
    let second = numbers
        .chance(20)
        .then(|| plant.add_model_instance("second").unwrap());
    let count = 1 + numbers.below(8);
    let mut bodies = vec![BodyIndex::WORLD];
    for i in 0..count {
        let instance = second.filter(|_| numbers.chance(30)).unwrap_or(first);
        let name = match numbers.below(12) {
            0 => format!("link {i} \u{e9}<&>"),
            1 => format!("a::link{i}"),
            2 => format!("__link{i}__"),
            _ => format!("link{i}"),
        };
        let inertia = numbers.inertia();
        let body = plant.add_rigid_body(&name, instance, inertia).unwrap();
        if numbers.chance(10) {
            let fraction = 2.0 * numbers.signed();
            plant.set_gravity_compensation(body, fraction).unwrap();
        }
        bodies.push(body);
    }
    let mut single = vec![];
    for i in 1..bodies.len() {
        if numbers.chance(15) {
            if numbers.chance(50) {
                let pose = numbers.pose();
                plant.set_default_free_body_pose(bodies[i], pose).unwrap();
            }
            continue;
        }
        let kind = kind(numbers);
        let mut ends = (bodies[numbers.below(i)], bodies[i]);
        if kind.num_velocities() <= 1 && numbers.chance(15) {
            std::mem::swap(&mut ends.0, &mut ends.1);
        }
        // Some joints have the name of a body.
        let name = if numbers.chance(10) {
            format!("link{i}")
        } else {
            format!("joint{i}")
        };
        let (nq, nv) = (kind.num_positions(), kind.num_velocities());
        let mut joint = Joint::new(name, ends.0, ends.1, kind);
        if numbers.chance(70) {
            joint = joint.with_pose_on_parent(numbers.pose());
        }
        if numbers.chance(40) {
            joint = joint.with_pose_on_child(numbers.pose());
        }
        if numbers.chance(50) && nq == 1 {
            let (lower, upper) = numbers.limits(nq);
            joint = joint.with_position_limits(lower, upper).unwrap();
            let (lower, upper) = numbers.limits(nv);
            joint = joint.with_velocity_limits(lower, upper).unwrap();
            let (lower, upper) = numbers.limits(nv);
            joint = joint.with_acceleration_limits(lower, upper).unwrap();
        }
        if numbers.chance(50) {
            let same = numbers.positive();
            let varies = numbers.chance(30);
            let damping = (0..nv).map(|_| if varies { numbers.positive() } else { same });
            joint = joint.with_dampings(damping.collect()).unwrap();
        }
        if numbers.chance(20) && nv > 0 {
            joint = joint.with_dry_friction(numbers.positive()).unwrap();
        }
        if numbers.chance(20) && nv > 0 {
            joint = joint.with_armature(numbers.positive()).unwrap();
        }
        if numbers.chance(10) && nq == 1 {
            joint = joint
                .with_default_positions(vec![numbers.signed()])
                .unwrap();
        }
        let index = plant.add_joint(joint).unwrap();
        if nq == 1 {
            single.push(index);
        }
    }
    for (i, joint) in single.iter().enumerate() {
        if numbers.chance(50) {
            let name = if numbers.chance(50) {
                plant.joint(*joint).unwrap().name().to_string()
            } else {
                format!("motor{i}")
            };
            let limit = [f64::INFINITY, 3.5][numbers.below(2)];
            let motor = plant.add_joint_actuator(&name, *joint, limit).unwrap();
            plant
                .set_default_rotor(motor, numbers.positive(), numbers.signed())
                .unwrap();
            if numbers.chance(30) {
                let gains = PdControllerGains { p: 10.0, d: 0.5 };
                plant.set_controller_gains(motor, gains).unwrap();
            } else if numbers.chance(40) {
                set_control(numbers, &mut plant, motor, &single);
            }
        }
        let kind = plant.joint(*joint).unwrap().kind().clone();
        let (nominal, stiffness) = (numbers.signed(), numbers.positive());
        let spring = match kind {
            JointKind::Revolute { .. } if numbers.chance(20) => ForceElement::RevoluteSpring {
                joint: *joint,
                nominal_angle: nominal,
                stiffness,
            },
            JointKind::Prismatic { .. } if numbers.chance(20) => ForceElement::PrismaticSpring {
                joint: *joint,
                nominal_position: nominal,
                stiffness,
            },
            _ => continue,
        };
        plant.add_force_element(spring).unwrap();
    }
    add_constraints(numbers, &mut plant, &bodies, &single);
    let mut collision_ids = vec![];
    for (i, body) in bodies.iter().enumerate() {
        for k in 0..numbers.below(3) {
            let (pose, what) = (numbers.pose(), shape(numbers));
            let properties = proximity(numbers);
            let name = format!("collision{i}_{k}");
            let id = plant
                .register_collision_geometry(&mut scene, *body, pose, what, &name, properties)
                .unwrap();
            collision_ids.push(id);
            let (pose, what) = (numbers.pose(), shape(numbers));
            let properties = visual(numbers);
            let name = format!("visual{i}_{k}");
            plant
                .register_visual_geometry(&mut scene, *body, pose, what, &name, properties)
                .unwrap();
        }
    }
    if numbers.chance(20) {
        add_masks(numbers, &mut plant, &collision_ids);
    }
    let plant = plant.build_with_scene(&mut scene).ok()?;
    Some(Model { plant, scene })
}

/// Makes the input of an actuator a control.
fn set_control(
    numbers: &mut Numbers,
    plant: &mut MultibodyPlantBuilder,
    motor: JointActuatorIndex,
    joints: &[JointIndex],
) {
    let [kp, kv, ramp] = [0; 3].map(|_| numbers.positive());
    let (gain, bias) = match numbers.below(4) {
        0 => ([1.0, 0.0, 0.0], [0.0; 3]),
        1 => ([kp, 0.0, 0.0], [0.0, -kp, -kv]),
        2 => ([kv, 0.0, 0.0], [0.0, 0.0, -kv]),
        _ => ([kp, -ramp, 0.0], [ramp, -kv, -kp]),
    };
    let gear = [1.0, -2.5, 0.1][numbers.below(3)];
    let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
    let is_limited = numbers.chance(50);
    let effort = numbers.positive();
    let control = AffineControl {
        gear,
        gain,
        bias,
        // Readers limit the effort of a motor by its control too.
        control_range: if is_limited && bias != [0.0; 3] {
            [-numbers.positive(), numbers.positive()]
        } else {
            unlimited
        },
        effort_range: if is_limited {
            [-effort, effort]
        } else {
            unlimited
        },
    };
    let joint = plant.actuators()[motor.index()].joint();
    plant.set_default_rotor(motor, 0.0, gear).unwrap();
    plant.set_affine_control(motor, control).unwrap();
    if let Some(other) = joints.iter().find(|j| Some(**j) != joint)
        && numbers.chance(30)
    {
        plant
            .couple_actuator(motor, &[(*other, numbers.signed())])
            .unwrap();
    }
}

fn add_constraints(
    numbers: &mut Numbers,
    plant: &mut MultibodyPlantBuilder,
    bodies: &[BodyIndex],
    single: &[JointIndex],
) {
    let (a, b) = (
        bodies[numbers.below(bodies.len() - 1)],
        bodies[bodies.len() - 1],
    );
    let frame = FixedOffsetFrame::new("extra frame", b, numbers.pose());
    let frame = plant.add_frame(frame).unwrap();
    let (p_ap, p_bq) = (numbers.vector(), numbers.vector());
    if numbers.chance(20) {
        let p_bq = numbers.chance(70).then_some(p_bq);
        plant
            .add_ball_constraint(BallConstraint {
                body_a: a,
                p_ap,
                body_b: b,
                p_bq,
            })
            .unwrap();
    }
    if numbers.chance(20) {
        let weld = WeldConstraint {
            body_a: a,
            x_ap: numbers.pose(),
            body_b: b,
            x_bq: numbers.pose(),
        };
        plant.add_weld_constraint(weld).unwrap();
    }
    if numbers.chance(20) {
        let rod = DistanceConstraint {
            body_a: a,
            p_ap,
            body_b: b,
            p_bq,
            distance: 1.0,
            stiffness: 2.0,
            damping: 0.1,
        };
        plant.add_distance_constraint(rod).unwrap();
    }
    if numbers.chance(20) {
        let damper = ForceElement::LinearSpringDamper {
            body_a: a,
            p_ap,
            body_b: b,
            p_bq,
            free_length: 0.5,
            stiffness: 3.0,
            damping: 0.2,
        };
        plant.add_force_element(damper).unwrap();
    }
    if numbers.chance(20) {
        super::tendons::add_spatial_tendon(numbers, plant, bodies, single);
    }
    if numbers.chance(30) {
        let bushing = ForceElement::LinearBushingRollPitchYaw {
            frame_a: plant.body(a).unwrap().body_frame(),
            frame_c: frame,
            torque_stiffness: p_ap.abs(),
            torque_damping: p_bq.abs(),
            force_stiffness: p_bq.abs(),
            force_damping: p_ap.abs(),
        };
        plant.add_force_element(bushing).unwrap();
    }
    if let [joint0, .., joint1] = *single {
        if numbers.chance(30) {
            let (gear_ratio, offset) = (numbers.signed(), numbers.signed());
            let coupler = CouplerConstraint {
                joint0,
                joint1,
                gear_ratio,
                offset,
            };
            plant.add_coupler_constraint(coupler).unwrap();
        }
        if numbers.chance(20) {
            let tendon = TendonConstraint {
                joints: vec![joint0, joint1],
                coefficients: vec![numbers.signed(), numbers.signed()],
                offset: numbers.signed(),
                lower: f64::NEG_INFINITY,
                upper: numbers.positive(),
                stiffness: [f64::INFINITY, 10.0][numbers.below(2)],
                damping: 0.3,
            };
            plant.add_tendon_constraint(tendon).unwrap();
        }
    }
    if let [joint0, .., joint1] = *single
        && numbers.chance(20)
    {
        let spring = ForceElement::TendonSpring {
            joints: vec![(joint0, numbers.signed()), (joint1, numbers.signed())],
            free_lengths: [-0.5, 0.5],
            stiffness: 2.0,
            damping: 0.1,
        };
        plant.add_force_element(spring).unwrap();
    }
    if numbers.chance(20) {
        plant.exclude_collisions_between(a, b).unwrap();
    }
    for constraint in 0..plant.constraints().len() {
        if numbers.chance(10) {
            let set = plant.set_default_constraint_active(constraint, false);
            set.unwrap();
        }
    }
    if numbers.chance(20) {
        add_keyframe(numbers, plant, single);
    }
    if numbers.chance(30) {
        add_sensors(numbers, plant, [a, b], single);
    }
}

fn add_sensors(
    numbers: &mut Numbers,
    plant: &mut MultibodyPlantBuilder,
    [a, b]: [BodyIndex; 2],
    single: &[JointIndex],
) {
    let site = FixedOffsetFrame::new("spot", a, numbers.pose());
    plant.add_site(site).unwrap();
    let site = SensorSubject::Site(plant.sites().len() - 1);
    let joint = single.last().copied().map(SensorSubject::Joint);
    let motor = plant.actuators().last().map(JointActuator::name);
    let motor = motor.map(|name| plant.joint_actuator_by_name(name).unwrap());
    let motor = motor.map(SensorSubject::Actuator);
    for (i, (kind, subject)) in [
        ("gyro", Some(site)),
        ("jointvel", joint),
        ("actuatorpos", motor),
        ("subtreelinvel", Some(SensorSubject::Body(b))),
        ("framexaxis", Some(SensorSubject::CenterOfMass(b))),
        ("framelinacc", Some(site)),
        ("e_kinetic", Some(SensorSubject::Plant)),
        // MJCF has none of this kind.
        ("odometer", Some(SensorSubject::Plant)),
    ]
    .into_iter()
    .enumerate()
    {
        if numbers.chance(50) {
            continue;
        }
        let Some(subject) = subject else {
            continue;
        };
        let mut sensor = ModelSensor::new(format!("sensor{i}"), kind, subject);
        if kind.starts_with("frame") && numbers.chance(50) {
            sensor.reference = Some(SensorSubject::Body(a));
        }
        if numbers.chance(30) {
            (sensor.noise, sensor.cutoff) = (numbers.positive(), numbers.positive());
        }
        plant.add_model_sensor(sensor).unwrap();
    }
}

fn add_keyframe(numbers: &mut Numbers, plant: &mut MultibodyPlantBuilder, single: &[JointIndex]) {
    let names = plant.actuators().iter().map(JointActuator::name);
    let motors = names.map(|name| plant.joint_actuator_by_name(name).unwrap());
    let controls = motors.map(|motor| (motor, numbers.signed())).collect();
    let key = Keyframe {
        name: "home".into(),
        positions: single
            .iter()
            .map(|joint| (*joint, vec![numbers.signed()]))
            .collect(),
        controls,
        ..Keyframe::default()
    };
    plant.add_keyframe(key).unwrap();
}

/// Gives collision geometries masks, and makes a pair of them collide in any case.
fn add_masks(numbers: &mut Numbers, plant: &mut MultibodyPlantBuilder, ids: &[GeometryId]) {
    for id in ids {
        let [contype, conaffinity] = [0; 2].map(|_| numbers.below(4) as u32);
        plant.set_collision_masks(*id, contype, conaffinity);
    }
    if let [a, .., b] = *ids {
        let mu = numbers.positive();
        let properties = ContactPairProperties {
            friction: CoulombFriction::new(mu, mu).ok(),
            solver_parameters: numbers.chance(70).then(MujocoContact::default),
            margin: numbers.chance(50).then(|| 0.1 * numbers.signed()),
            gap: numbers.chance(50).then(|| 0.1 * numbers.signed()),
        };
        plant.add_contact_pair(a, b, properties).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_plants_are_read_back_as_they_were(seed in any::<u64>()) {
        let model = random_model(seed);
        prop_assume!(model.is_some());
        let model = model.unwrap();
        for (format, name) in FORMATS {
            match round_trip(&model, format) {
                RoundTrip::Equal | RoundTrip::Told(_) => {}
                RoundTrip::Wrong(why) => prop_assert!(false, "{name}: {}", why.join("\n")),
            }
        }
    }
}

/// A plant of bodies with joints, limits, motors and shapes that every format has.
fn common_model(contact: Option<MujocoContact>) -> Model {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let model = plant.add_model_instance("chain").unwrap();
    let numbers = &mut Numbers(7);
    let mut parent = BodyIndex::WORLD;
    for i in 0..6 {
        let body = plant
            .add_rigid_body(&format!("link{i}"), model, numbers.inertia())
            .unwrap();
        let axis = numbers.vector();
        let joint = match i % 3 {
            0 => Joint::revolute(format!("joint{i}"), parent, body, axis).unwrap(),
            1 => Joint::prismatic(format!("joint{i}"), parent, body, axis).unwrap(),
            // The name that readers of MJCF make.
            _ => Joint::weld(
                format!("link{}_welds_to_link{i}", i - 1),
                parent,
                body,
                numbers.pose(),
            ),
        };
        let mut joint = joint.with_pose_on_parent(numbers.pose());
        if i % 3 < 2 {
            joint = joint.with_position_limits(vec![-1.0], vec![2.0]).unwrap();
            joint = joint.with_damping(0.25).unwrap();
        }
        let joint = plant.add_joint(joint).unwrap();
        if i % 3 < 2 {
            plant
                .add_joint_actuator(&format!("joint{i}"), joint, 12.0)
                .unwrap();
        }
        let (pose, shape) = (numbers.pose(), BoxShape::new(0.1, 0.2, 0.3).unwrap());
        let mut properties = ProximityProperties::new().with_friction(CoulombFriction::DEFAULT);
        if let Some(contact) = contact {
            properties
                .add("material", "mujoco_contact", contact)
                .unwrap();
        }
        plant
            .register_collision_geometry(
                &mut scene,
                body,
                pose,
                shape,
                &format!("box{i}"),
                properties,
            )
            .unwrap();
        parent = body;
    }
    let plant = plant.build_with_scene(&mut scene).unwrap();
    Model { plant, scene }
}

#[test]
fn plants_of_common_elements_need_no_diagnostic() {
    for (format, name) in FORMATS {
        // Contact in MJCF is MuJoCo's.
        let contact = (format == OutputFormat::Mjcf).then(MujocoContact::default);
        match round_trip(&common_model(contact), format) {
            RoundTrip::Equal => {}
            RoundTrip::Told(why) | RoundTrip::Wrong(why) => panic!("{name}: {}", why.join("\n")),
        }
    }
}

#[test]
fn positions_whose_sums_overflow_are_errors() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let model = plant.add_model_instance("far").unwrap();
    let body = plant
        .add_rigid_body("b", model, SpatialInertia::zero())
        .unwrap();
    let far = nalgebra::Isometry3::translation(1e308, 1e308, 0.0);
    plant.set_default_free_body_pose(body, far).unwrap();
    let plant = plant.build().unwrap();
    for (format, _) in FORMATS {
        let error = ModelWriter::new(&plant)
            .write(format)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("'b'") && error.contains("1e100 m, got 1e308"),
            "{error}"
        );
    }
}
