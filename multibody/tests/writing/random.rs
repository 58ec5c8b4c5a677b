//! Random plants, written in every format and read back.

use super::compare::Model;
use super::{FORMATS, RoundTrip, round_trip};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, IllustrationProperties,
    PerceptionProperties, ProximityProperties, Rgba, SceneGraph, Shape, Sphere,
};
use tarragon_multibody::*;

/// Numbers from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    /// From -1 to 1.
    fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
    fn positive(&mut self) -> f64 {
        self.signed().abs() + 0.01
    }
    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.signed())
    }
    fn rotation(&mut self) -> UnitQuaternion<f64> {
        match self.below(5) {
            0 => UnitQuaternion::identity(),
            // A pitch of 90 degrees, where roll and yaw are not determined, or nearly so.
            1 => {
                let off = [0.0, 1e-13, 1e-9, 1e-5][self.below(4)];
                let (roll, yaw) = (3.0 * self.signed(), 3.0 * self.signed());
                tarragon_framework::math::rpy(roll, std::f64::consts::FRAC_PI_2 - off, yaw)
            }
            _ => tarragon_framework::math::rotation_exp(&(self.vector() * 3.0)),
        }
    }
    fn pose(&mut self) -> Isometry3<f64> {
        match self.chance(30) {
            true => Isometry3::identity(),
            false => Isometry3::from_parts(Translation3::from(self.vector()), self.rotation()),
        }
    }
    fn inertia(&mut self) -> SpatialInertia {
        if self.chance(10) {
            return SpatialInertia::zero();
        }
        // Moments of a body made of mass on three axes, so that they are possible.
        let [x, y, z] = [0; 3].map(|_| match self.chance(10) {
            true => 0.0,
            false => self.positive(),
        });
        let moments = Vector3::new(y + z, x + z, x + y);
        let r = self.rotation().to_rotation_matrix();
        let turned = r * Matrix3::from_diagonal(&moments) * r.inverse();
        let central = (turned + turned.transpose()) * 0.5;
        let scale = [1.0, 1e-6, 1e3][self.below(3)];
        let mass = self.positive() * scale;
        SpatialInertia::from_central(mass, self.vector(), central * scale)
            .unwrap_or(SpatialInertia::zero())
    }
    fn limits(&mut self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let one = |numbers: &mut Self| match numbers.below(4) {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            1 => (-1.5, f64::INFINITY),
            2 => {
                let x = numbers.positive();
                (-x, x)
            }
            _ => (-numbers.positive(), numbers.positive()),
        };
        (0..n).map(|_| one(self)).unzip()
    }
}

fn kind(numbers: &mut Numbers) -> JointKind {
    let axis = nalgebra::Unit::new_normalize(match numbers.chance(50) {
        true => Vector3::ith(numbers.below(3), 1.0),
        false => numbers.vector() + Vector3::repeat(1e-3),
    });
    match numbers.below(13) {
        0 | 1 => JointKind::Weld {
            x_fm: numbers.pose(),
        },
        2..=4 => JointKind::Revolute { axis },
        5 | 6 => JointKind::Prismatic { axis },
        7 => JointKind::Screw {
            axis,
            pitch: numbers.signed(),
        },
        8 => {
            let r = numbers.rotation();
            let path = PiecewiseConstantCurvatureTrajectory::new(
                &[0.0, 0.7, 1.9],
                &[0.0, numbers.signed()],
                &(r * Vector3::x()),
                &(r * Vector3::z()),
                &Vector3::zeros(),
                numbers.chance(50),
            );
            JointKind::Curvilinear {
                path: path.unwrap().into(),
            }
        }
        9 => JointKind::Universal,
        10 => JointKind::BallRpy,
        11 => JointKind::Planar,
        _ => JointKind::QuaternionFloating,
    }
}

fn shape(numbers: &mut Numbers) -> Shape {
    let [a, b, c] = [0; 3].map(|_| numbers.positive());
    match numbers.below(6) {
        0 => BoxShape::new(a, b, c).unwrap().into(),
        1 => Sphere::new(a).unwrap().into(),
        2 => Cylinder::new(a, b).unwrap().into(),
        3 => Capsule::new(a, b).unwrap().into(),
        4 => Ellipsoid::new(a, b, c).unwrap().into(),
        _ => HalfSpace.into(),
    }
}

fn proximity(numbers: &mut Numbers) -> ProximityProperties {
    let mut p = ProximityProperties::new();
    let dynamic = numbers.positive();
    let mu = CoulombFriction::new(dynamic + numbers.positive(), dynamic);
    p = p.with_friction(mu.unwrap());
    if numbers.chance(30) {
        p = p.with_dissipation(numbers.positive()).unwrap();
    }
    if numbers.chance(30) {
        p = p.with_point_stiffness(numbers.positive() * 1e5).unwrap();
    }
    if numbers.chance(20) {
        p = p.with_relaxation_time(numbers.positive()).unwrap();
    }
    if numbers.chance(10) {
        p = p.with_slab_thickness(numbers.positive()).unwrap();
    }
    if numbers.chance(10) {
        p = p.with_true_surface();
    }
    p
}

fn visual(numbers: &mut Numbers) -> VisualProperties {
    let channels = [0; 4].map(|_| numbers.positive().min(1.0));
    let color = Rgba::from_slice(&channels).unwrap();
    let (shown, seen) = (numbers.chance(80), numbers.chance(80));
    let seen = seen.then(|| match numbers.chance(80) {
        true => PerceptionProperties::phong(color).with_accepting_renderers(["left"]),
        false => PerceptionProperties::new(),
    });
    VisualProperties {
        illustration: shown.then(|| IllustrationProperties::phong(color)),
        perception: seen,
    }
}

/// A plant of up to eight bodies with everything that a plant may have; `None` if a joint with
/// several degrees of freedom is the wrong way round.
fn random_model(seed: u64) -> Option<Model> {
    let numbers = &mut Numbers(seed);
    let mut plant = MultibodyPlant::new(0.001).unwrap();
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
        bodies.push(plant.add_rigid_body(&name, instance, inertia).unwrap());
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
        let name = match numbers.chance(10) {
            true => format!("link{i}"),
            false => format!("joint{i}"),
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
            let name = match numbers.chance(50) {
                true => plant.joint(*joint).unwrap().name().to_string(),
                false => format!("motor{i}"),
            };
            let limit = [f64::INFINITY, 3.5][numbers.below(2)];
            let motor = plant.add_joint_actuator(&name, *joint, limit).unwrap();
            plant
                .set_default_rotor(motor, numbers.positive(), numbers.signed())
                .unwrap();
            if numbers.chance(30) {
                let gains = PdControllerGains { p: 10.0, d: 0.5 };
                plant.set_controller_gains(motor, gains).unwrap();
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
    for (i, body) in bodies.iter().enumerate() {
        for k in 0..numbers.below(3) {
            let (pose, what) = (numbers.pose(), shape(numbers));
            let properties = proximity(numbers);
            let name = format!("collision{i}_{k}");
            plant
                .register_collision_geometry(&mut scene, *body, pose, what, &name, properties)
                .unwrap();
            let (pose, what) = (numbers.pose(), shape(numbers));
            let properties = visual(numbers);
            let name = format!("visual{i}_{k}");
            plant
                .register_visual_geometry(&mut scene, *body, pose, what, &name, properties)
                .unwrap();
        }
    }
    plant.finalize_with(&mut scene).ok()?;
    Some(Model { plant, scene })
}

fn add_constraints(
    numbers: &mut Numbers,
    plant: &mut MultibodyPlant,
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
    if numbers.chance(20) {
        plant.exclude_collisions_between(a, b).unwrap();
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

#[test]
fn plants_of_common_elements_need_no_diagnostic() {
    // Bodies with joints, limits, motors and shapes that every format has.
    let mut plant = MultibodyPlant::new(0.001).unwrap();
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
        let properties = ProximityProperties::new().with_friction(CoulombFriction::DEFAULT);
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
    plant.finalize_with(&mut scene).unwrap();
    let model = Model { plant, scene };
    for (format, name) in FORMATS {
        match round_trip(&model, format) {
            RoundTrip::Equal => {}
            RoundTrip::Told(why) | RoundTrip::Wrong(why) => panic!("{name}: {}", why.join("\n")),
        }
    }
}
