//! Masses, damping, motors, stiffness and contact materials in a context: closed forms, central
//! differences, plants built with the same values, and errors.

mod errors;

use super::discrete::{ALL, G, material};
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::autodiff::try_jacobian;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    CoulombFriction, GeometryId, HalfSpace, ProximityProperties, RoleAssign, SceneGraph, Sphere,
};
use tarragon_multibody::*;

/// Numbers of a [`Slider`], in the order of [`Slider::set`].
const NUM_PARAMETERS: usize = 10;
/// Mass (kg), coefficients of static and dynamic friction, stiffness (N/m), dissipation (s/m) and
/// relaxation time (s) of the block; damping (N s/m), rotor inertia (kg) and gear ratio of the
/// carriage, and stiffness of its spring (N/m).
const SLIDER: [f64; NUM_PARAMETERS] = [1.0, 0.5, 0.4, 1e5, 10.0, 0.01, 0.7, 0.02, 3.0, 40.0];
/// Other values.
const OTHER: [f64; NUM_PARAMETERS] = [1.7, 0.9, 0.3, 6e4, 4.0, 0.02, 0.2, 0.05, -2.0, 90.0];

/// A block, round below, that a carriage of no mass moves along x and that slides along z in it
/// down to the ground.
struct Slider {
    diagram: Diagram<f64>,
    plant: Block<MultibodyPlant>,
    scene: Block<SceneGraph>,
    block: BodyIndex,
    rail: JointIndex,
    motor: JointActuatorIndex,
    ground: GeometryId,
    ball: GeometryId,
}

/// Contact properties of the block, given all numbers.
fn block_material(p: &[f64]) -> ProximityProperties {
    material(0.5, p[4])
        .with_friction(CoulombFriction::new(p[1], p[2]).unwrap())
        .with_point_stiffness(p[3])
        .and_then(|m| m.with_relaxation_time(p[5]))
        .unwrap()
}

impl Slider {
    /// The ground has the friction and the compliance of [`SLIDER`].
    fn new(time_step: f64, approximation: DiscreteContactApproximation, p: &[f64]) -> Self {
        let (mut plant, mut scene) = (
            MultibodyPlantBuilder::new(time_step).unwrap(),
            SceneGraph::new(),
        );
        plant.set_contact_model(ContactModel::Point);
        plant.set_discrete_contact_approximation(approximation);
        plant.set_use_sampled_output_ports(false).unwrap();
        plant
            .register_as_source_for_scene_graph(&mut scene)
            .unwrap();
        let model = ModelInstanceIndex::DEFAULT;
        let i = Matrix3::identity() * p[0];
        let inertia = SpatialInertia::from_central(p[0], Vector3::zeros(), i).unwrap();
        let carriage = plant
            .add_rigid_body("carriage", model, SpatialInertia::zero())
            .unwrap();
        let block = plant.add_rigid_body("block", model, inertia).unwrap();
        let rail = Joint::prismatic("rail", BodyIndex::WORLD, carriage, Vector3::x())
            .unwrap()
            .with_damping(p[6])
            .unwrap();
        let rail = plant.add_joint(rail).unwrap();
        let guide = Joint::prismatic("guide", carriage, block, Vector3::z()).unwrap();
        plant.add_joint(guide).unwrap();
        let motor = plant
            .add_joint_actuator("motor", rail, f64::INFINITY)
            .unwrap();
        plant.set_default_rotor(motor, p[7], p[8]).unwrap();
        plant
            .add_force_element(ForceElement::PrismaticSpring {
                joint: rail,
                nominal_position: 0.3,
                stiffness: p[9],
            })
            .unwrap();
        let own = block_material(p);
        let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
        let ground = plant
            .register_collision_geometry(
                &mut scene,
                world,
                x,
                HalfSpace,
                "ground",
                material(0.5, 10.0),
            )
            .unwrap();
        let sphere = Sphere::new(0.1).unwrap();
        let ball = plant
            .register_collision_geometry(&mut scene, block, x, sphere, "ball", own)
            .unwrap();
        let mut b = DiagramBuilder::new();
        let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
        Self {
            diagram: b.build().unwrap(),
            plant,
            scene,
            block,
            rail,
            motor,
            ground,
            ball,
        }
    }

    /// Sets all parameters in a context.
    fn set<T: Scalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &mut Context<T>,
        p: &[T],
    ) -> Result<()> {
        ports.set_mass(context, self.block, p[0])?;
        let own = ContactMaterialOverride {
            static_friction: Some(p[1]),
            dynamic_friction: Some(p[2]),
            stiffness: Some(p[3]),
            dissipation: Some(p[4]),
            relaxation_time: Some(p[5]),
        };
        ports.set_contact_material(context, self.ball, own)?;
        ports.set_damping_vector(context, self.rail, &[p[6]])?;
        ports.set_rotor_inertia(context, self.motor, p[7])?;
        ports.set_gear_ratio(context, self.motor, p[8])?;
        ports.set_spring_stiffness(context, 0, p[9])
    }

    /// Sets the state: the block is 0.3 mm deep in the ground and moves along x and down.
    fn start<T: Scalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &mut Context<T>,
        slip: f64,
    ) -> Result<()> {
        let number = |x: &[f64]| x.iter().map(|x| T::from(*x)).collect::<Vec<T>>();
        ports.set_positions(context, number(&[0.1, 0.0997]))?;
        ports.set_velocities(context, number(&[slip, -0.02]))
    }
}

/// Returns all that a plant computes from a context: accelerations, reactions and contact forces.
fn results<T: Scalar>(ports: &MultibodyPlantPorts<T>, context: &Context<T>) -> Result<Vec<T>> {
    let mut all = context.eval(ports.generalized_acceleration()?)?.clone();
    for force in context.eval(ports.reaction_forces()?)? {
        all.extend(force.rotational.iter().chain(force.translational.iter()));
    }
    for contact in context.eval(ports.contact_results()?)?.point_pairs() {
        all.extend(contact.contact_force.iter());
    }
    Ok(all)
}

/// Checks a Jacobian against differences of fourth order, relative to the largest element of each
/// column; the step relative to the parameter is 1e-3, so the error of the formula is about 1e-10.
fn check_jacobian<F, G>(name: &str, dual: F, real: G, p: &[f64])
where
    F: FnMut(&[AutoDiff]) -> Result<Vec<AutoDiff>>,
    G: Fn(&[f64]) -> Vec<f64>,
{
    let (_, found) = try_jacobian(dual, p).unwrap();
    for j in 0..p.len() {
        let h = 1e-3 * p[j].abs().max(1e-3);
        let at = |steps: f64| {
            let mut p = p.to_vec();
            p[j] += steps * h;
            real(&p)
        };
        let (a, b, c, d) = (at(2.0), at(1.0), at(-1.0), at(-2.0));
        let scale = found.column(j).amax();
        for i in 0..a.len() {
            let difference = (8.0 * (b[i] - c[i]) - (a[i] - d[i])) / (12.0 * h);
            let error = (found[(i, j)] - difference).abs();
            // Rounding of the results, and of the solver of the step, grows by 1/h.
            let rounding = 1e-12 * a[i].abs().max(1.0) / h;
            assert!(
                error <= 1e-6 * scale + rounding,
                "{name}, result {i}, parameter {j}: {} and {difference}",
                found[(i, j)]
            );
        }
    }
}

fn check_slider(slider: &Slider, slip: f64, name: &str) {
    let dual = slider.diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&slider.plant).unwrap();
    let lifted = |p: &[AutoDiff]| {
        let mut context = dual.default_context();
        slider.start(&ports, &mut context, slip)?;
        slider.set(&ports, &mut context, p)?;
        results(&ports, &context)
    };
    let real = |p: &[f64]| {
        let mut context = slider.diagram.default_context();
        slider.start(&slider.plant, &mut context, slip).unwrap();
        slider.set(&slider.plant, &mut context, p).unwrap();
        results(&slider.plant, &context).unwrap()
    };
    for p in [&SLIDER, &OTHER] {
        check_jacobian(name, lifted, real, p);
    }
}

#[test]
fn derivatives_of_a_step_match_differences() {
    for approximation in ALL {
        let slider = Slider::new(1e-3, approximation, &SLIDER);
        check_slider(&slider, 0.5, &format!("{approximation:?}"));
    }
}

#[test]
fn derivatives_in_continuous_time_match_differences() {
    let slider = Slider::new(0.0, ALL[0], &SLIDER);
    // Between static and dynamic friction, and beyond.
    for slip in [2e-4, 0.5] {
        check_slider(&slider, slip, &format!("slip {slip}"));
    }
}

/// A sliding block that rests on the ground is slowed down by mu g: with the lagged approximation,
/// its weight at the start of the step decides.
#[test]
fn speed_after_a_step_falls_by_g_dt_per_unit_of_friction() {
    let dt = 1e-3;
    let p = [1.0, 0.5, 0.5, 1e5, 10.0, 0.01, 0.0, 0.0, 1.0, 0.0];
    let slider = Slider::new(dt, DiscreteContactApproximation::Lagged, &p);
    let dual = slider.diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&slider.plant).unwrap();
    let mut context = dual.default_context();
    // Two stiffnesses of 1e5 N/m in series carry the weight.
    let q = [0.0, 0.1 - G / 5e4].map(AutoDiff::from);
    ports.set_positions(&mut context, q).unwrap();
    let v = [1.0, 0.0].map(AutoDiff::from);
    ports.set_velocities(&mut context, v).unwrap();
    let mu = AutoDiff::variable(0.3, 0);
    for geometry in [slider.ground, slider.ball] {
        let own = ContactMaterialOverride {
            dynamic_friction: Some(mu),
            ..ContactMaterialOverride::default()
        };
        ports
            .set_contact_material(&mut context, geometry, own)
            .unwrap();
    }
    let mut sim = Simulator::new(&dual, context).unwrap();
    sim.advance_to(dt).unwrap();
    let v = ports.velocities(sim.context()).unwrap();
    // Regularized friction falls short of mu by half the square of 1e-4 m/s over the slip speed.
    assert!((v[0].re - (1.0 - 0.3 * G * dt)).abs() < 1e-8 * G * dt);
    assert!((v[0].eps[0] + G * dt).abs() < 1e-7 * G * dt, "{:?}", v[0]);
}

/// Values that are set equal those of a plant that is built with them, but for the rounding of the
/// unit inertia.
#[test]
fn set_values_equal_those_of_a_plant_built_with_them() {
    for (time_step, approximation) in [
        (1e-3, ALL[0]),
        (1e-3, ALL[1]),
        (1e-3, ALL[2]),
        (0.0, ALL[0]),
    ] {
        let slider = Slider::new(time_step, approximation, &SLIDER);
        let mut context = slider.diagram.default_context();
        slider.start(&slider.plant, &mut context, 0.5).unwrap();
        let before = results(&slider.plant, &context).unwrap();
        slider.set(&slider.plant, &mut context, &OTHER).unwrap();
        let set = results(&slider.plant, &context).unwrap();
        assert_ne!(set, before);
        let built = Slider::new(time_step, approximation, &OTHER);
        let mut other = built.diagram.default_context();
        built.start(&built.plant, &mut other, 0.5).unwrap();
        let expected = results(&built.plant, &other).unwrap();
        for (a, b) in set.iter().zip(&expected) {
            assert!(
                (a - b).abs() <= 1e-14 * b.abs().max(1.0),
                "{set:?} {expected:?}"
            );
        }
        // Other contexts keep the values of the model, in every bit.
        let mut fresh = slider.diagram.default_context();
        slider.start(&slider.plant, &mut fresh, 0.5).unwrap();
        assert_eq!(results(&slider.plant, &fresh).unwrap(), before);
    }
}

/// An arm of two links with a spring and a geared motor; the second link is a bushing away from a
/// third, free body.
fn arm(time_step: f64) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    plant.set_use_sampled_output_ports(false).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let mut parent = BodyIndex::WORLD;
    for (k, axis) in [Vector3::y(), Vector3::x()].into_iter().enumerate() {
        let body = plant
            .add_rigid_body(&format!("link{k}"), model, super::inertia(k))
            .unwrap();
        let joint = Joint::revolute(format!("joint{k}"), parent, body, axis)
            .unwrap()
            .with_pose_on_parent(Isometry3::translation(0.0, 0.1, -0.4));
        let joint = plant.add_joint(joint).unwrap();
        plant
            .add_joint_actuator(&format!("motor{k}"), joint, f64::INFINITY)
            .unwrap();
        plant
            .add_force_element(ForceElement::RevoluteSpring {
                joint,
                nominal_angle: 0.1,
                stiffness: 2.0,
            })
            .unwrap();
        parent = body;
    }
    let free = plant
        .add_rigid_body("free", model, super::inertia(3))
        .unwrap();
    let frame = |name: &str, body| FixedOffsetFrame::new(name, body, super::pose(1));
    let frame_a = plant.add_frame(frame("a", parent)).unwrap();
    let frame_c = plant.add_frame(frame("c", free)).unwrap();
    let v = Vector3::new(3.0, 4.0, 5.0);
    plant
        .add_force_element(ForceElement::LinearBushingRollPitchYaw {
            frame_a,
            frame_c,
            torque_stiffness: v,
            torque_damping: v * 0.1,
            force_stiffness: v * 2.0,
            force_damping: v * 0.3,
        })
        .unwrap();
    plant
        .add_force_element(ForceElement::LinearSpringDamper {
            body_a: BodyIndex::WORLD,
            p_ap: Vector3::new(0.5, 0.0, 0.0),
            body_b: parent,
            p_bq: Vector3::zeros(),
            free_length: 0.1,
            stiffness: 7.0,
            damping: 0.5,
        })
        .unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    (b.build().unwrap(), plant)
}

const ARM: [f64; 15] = [
    1.2, 0.12, -0.05, 0.08, 0.11, 0.12, 0.13, 0.01, 0.3, 0.4, 0.02, 20.0, 5.0, 9.0, 6.0,
];

/// Sets mass properties, damping, motors, springs and the bushing of the arm.
fn set_arm<T: Scalar>(
    plant: &MultibodyPlant,
    ports: &MultibodyPlantPorts<T>,
    context: &mut Context<T>,
    p: &[T],
) -> Result<()> {
    let joint = |name: &str| plant.joint_by_name(name);
    let link = plant.body_by_name("link1")?;
    let (com, o) = (Vector3::new(p[1], p[2], p[3]), p[7]);
    let i = Matrix3::new(p[4], o, o, o, p[5], o, o, o, p[6]);
    ports.set_spatial_inertia(context, link, p[0], com, i)?;
    ports.set_mass(context, plant.body_by_name("link0")?, p[0] * 2.0)?;
    ports.set_mass(context, plant.body_by_name("free")?, p[0] * p[0])?;
    ports.set_damping_vector(context, joint("joint0")?, &[p[8]])?;
    ports.set_damping_vector(context, joint("joint1")?, &[p[9]])?;
    let motor = plant.joint_actuator_by_name("motor1")?;
    ports.set_rotor_inertia(context, motor, p[10])?;
    ports.set_gear_ratio(context, motor, p[11])?;
    ports.set_spring_stiffness(context, 1, p[12])?;
    ports.set_spring_stiffness(context, 3, p[13])?;
    for (which, x) in [
        (BushingConstants::TorqueStiffness, p[14]),
        (BushingConstants::TorqueDamping, p[14] * 0.1),
        (BushingConstants::ForceStiffness, p[14] * 3.0),
        (BushingConstants::ForceDamping, p[14] * 0.2),
    ] {
        let all = Vector3::new(x, x * 2.0, x * 3.0);
        ports.set_bushing_constants(context, 2, which, all)?;
    }
    let v: Vec<T> = (0..8).map(|i| T::from(0.3 - 0.1 * f64::from(i))).collect();
    ports.set_velocities(context, &v)?;
    let mut q = ports.positions(context)?;
    q[0] = T::from(0.4);
    q[1] = T::from(-0.7);
    ports.set_positions(context, &q)
}

#[test]
fn derivatives_of_an_arm_match_differences() {
    for time_step in [0.0, 1e-2] {
        let (diagram, block) = arm(time_step);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let (plant, ports) = (block.system(), dual.ports(&block).unwrap());
        let lifted = |p: &[AutoDiff]| {
            let mut context = dual.default_context();
            set_arm(plant, &ports, &mut context, p)?;
            results(&ports, &context)
        };
        let real = |p: &[f64]| {
            let mut context = diagram.default_context();
            set_arm(plant, &block, &mut context, p).unwrap();
            results(&block, &context).unwrap()
        };
        check_jacobian(&format!("time step {time_step}"), lifted, real, &ARM);
    }
}

#[test]
fn what_is_set_is_read_again() {
    let (diagram, block) = arm(1e-3);
    let (plant, mut context) = (block.system(), diagram.default_context());
    let link = plant.body_by_name("link1").unwrap();
    let joint = plant.joint_by_name("joint1").unwrap();
    let motor = plant.joint_actuator_by_name("motor1").unwrap();
    let bushing = BushingConstants::ForceDamping;
    let read = |context: &Context<f64>| {
        let constants = block.bushing_constants(context, 2, bushing);
        let mut all = constants.unwrap().as_slice().to_vec();
        all.push(block.mass(context, link).unwrap());
        all.extend(block.damping_vector(context, joint).unwrap());
        all.push(block.rotor_inertia(context, motor).unwrap());
        all.push(block.gear_ratio(context, motor).unwrap());
        all.push(block.spring_stiffness(context, 1).unwrap());
        all.push(block.spring_stiffness(context, 3).unwrap());
        all
    };
    let model = [
        3.0 * 0.3,
        4.0 * 0.3,
        5.0 * 0.3,
        1.1,
        0.0,
        0.0,
        1.0,
        2.0,
        7.0,
    ];
    assert_eq!(read(&context), model);
    set_arm(plant, &block, &mut context, &ARM).unwrap();
    let x = 6.0 * 0.2;
    let set = [x, x * 2.0, x * 3.0, 1.2, 0.4, 0.02, 20.0, 5.0, 9.0];
    assert_eq!(read(&context), set);

    let (mass, com, i) = block.spatial_inertia(&context, link).unwrap();
    assert_eq!((mass, com), (1.2, Vector3::new(0.12, -0.05, 0.08)));
    let expected = Matrix3::new(0.11, 0.01, 0.01, 0.01, 0.12, 0.01, 0.01, 0.01, 0.13);
    // The shift to Bo and back rounds numbers of size 0.1.
    assert!((i - expected).amax() < 1e-16 * 4.0, "{i}");

    // Mass 0 and back: centre of mass and unit inertia stay.
    let before = results(&block, &context).unwrap();
    block.set_mass(&mut context, link, 0.0).unwrap();
    block.set_mass(&mut context, link, 1.2).unwrap();
    assert_eq!(results(&block, &context).unwrap(), before);

    // A context over dual numbers takes the values, without derivatives.
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let mut lifted = dual.default_context();
    lifted.set_time_state_and_parameters_from(&context).unwrap();
    let ports = dual.ports(&block).unwrap();
    for (a, b) in results(&ports, &lifted).unwrap().iter().zip(&before) {
        // Both round the velocities, which accelerations divide by the step of 1e-3 s.
        assert!((a.re - b).abs() <= 1e-11 * b.abs().max(1.0), "{a:?} {b}");
        assert_eq!(a.eps, [0.0; 8]);
    }
}

/// Sampled ports report the step that led to the present state, with the mass of that step.
#[test]
fn sampled_outputs_keep_the_parameters_of_their_step() {
    let mut plant = MultibodyPlantBuilder::new(1e-2).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let bob = plant
        .add_rigid_body("bob", model, super::inertia(1))
        .unwrap();
    let hinge = Joint::revolute("hinge", BodyIndex::WORLD, bob, Vector3::y()).unwrap();
    plant.add_joint(hinge).unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.1).unwrap();
    let before = results(&plant, sim.context()).unwrap();
    let context = sim.context_mut();
    plant.set_mass(context, bob, 20.0).unwrap();
    assert_eq!(results(&plant, sim.context()).unwrap(), before);
    sim.advance_to(0.11).unwrap();
    // After the acceleration and the moment: the force along z.
    let after = results(&plant, sim.context()).unwrap();
    assert!(after[6].abs() > 10.0 * before[6].abs(), "{after:?}");
}

/// Properties that are set back to those of the scene have them in every bit.
#[test]
fn contact_material_falls_back_to_the_scene() {
    let slider = Slider::new(1e-3, ALL[0], &SLIDER);
    let mut context = slider.diagram.default_context();
    slider.start(&slider.plant, &mut context, 0.5).unwrap();
    let before = results(&slider.plant, &context).unwrap();
    let soft = ContactMaterialOverride {
        stiffness: Some(3e4),
        ..ContactMaterialOverride::default()
    };
    let mut set = |own| {
        slider
            .plant
            .set_contact_material(&mut context, slider.ball, own)?;
        let found = slider.plant.contact_material(&context, slider.ball)?;
        assert_eq!(found, own);
        results(&slider.plant, &context)
    };
    assert_ne!(set(soft).unwrap(), before);
    assert_eq!(set(ContactMaterialOverride::default()).unwrap(), before);
    // Static friction of the scene is 0.5.
    let rough = ContactMaterialOverride {
        dynamic_friction: Some(0.6),
        ..ContactMaterialOverride::default()
    };
    let error = set(rough).unwrap_err().to_string();
    assert!(
        error.contains("static friction must be at least dynamic friction"),
        "{error}"
    );
    assert!(error.contains("got 0.5 and 0.6"), "{error}");
}

/// Contact between the same geometries has the properties that they have now.
#[test]
fn properties_replaced_in_the_scene_act_in_the_next_step() {
    let slider = Slider::new(1e-3, ALL[0], &SLIDER);
    let mut context = slider.diagram.default_context();
    slider.start(&slider.plant, &mut context, 0.5).unwrap();
    let before = results(&slider.plant, &context).unwrap();
    let mut p = SLIDER;
    p[1..6].copy_from_slice(&OTHER[1..6]);
    let source = slider.plant.source_id().unwrap();
    let state = slider.scene.geometry_mut(&mut context).unwrap();
    state
        .assign_role_with(source, slider.ball, block_material(&p), RoleAssign::Replace)
        .unwrap();
    let after = results(&slider.plant, &context).unwrap();
    assert_ne!(after, before);
    let built = Slider::new(1e-3, ALL[0], &p);
    let mut context = built.diagram.default_context();
    built.start(&built.plant, &mut context, 0.5).unwrap();
    assert_eq!(after, results(&built.plant, &context).unwrap());
}
