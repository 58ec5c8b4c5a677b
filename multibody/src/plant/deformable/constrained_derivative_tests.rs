//! Derivatives of steps of deformable bodies that are fixed to rigid bodies or touch something,
//! against differences.

use crate::discrete::DiscreteContactApproximation;
use crate::model::{BodyIndex, DeformableBodyIndex, Joint, ModelInstanceIndex};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::{
    ContactMaterialOverride, MultibodyPlant, MultibodyPlantPorts, add_multibody_plant_scene_graph,
};
use crate::spatial::SpatialInertia;
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_fem::{DeformableBodyConfig, ForceDensityField, MaterialModel};
use tarragon_framework::prelude::{Block, Context, Diagram, DiagramBuilder, Simulator};
use tarragon_framework::{AutoDiff, DiagramScalar, math};
use tarragon_geometry::{
    BoxShape, CoulombFriction, GeometryId, GeometryInstance, ProximityProperties, SceneGraph,
    Sphere,
};

const TIME_STEP: f64 = 0.01;
/// Direction of the dual numbers.
const DIRECTION: usize = 3;

/// A wind that grows with the height.
#[derive(Debug)]
struct Wind;

impl ForceDensityField for Wind {
    fn evaluate_at(&self, p_wq: &Vector3<f64>) -> Vector3<f64> {
        Vector3::new(2e3 * p_wq.z * p_wq.z, 0.0, 500.0 * p_wq.x)
    }
    fn gradient_at(&self, p: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::new(0.0, 0.0, 4e3 * p.z, 0.0, 0.0, 0.0, 500.0, 0.0, 0.0)
    }
}

fn soft_material() -> tarragon_geometry::Result<ProximityProperties> {
    let friction = CoulombFriction::new(0.4, 0.3)?;
    ProximityProperties::new()
        .with_friction(friction)
        .with_dissipation(0.1)
}

/// The partner of a soft ball, which it touches or is fixed to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Partner {
    /// A rigid arm that turns about its origin.
    Arm,
    /// A tilted rigid plate that slides.
    Plate,
    /// Another soft ball.
    Ball,
}

/// A soft ball in the wind, and its partner.
struct Scene {
    plant: Block<MultibodyPlant>,
    diagram: Diagram<f64>,
    balls: Vec<DeformableBodyIndex>,
}

impl Scene {
    fn new(
        material_model: MaterialModel,
        partner: Partner,
        approximation: DiscreteContactApproximation,
    ) -> crate::Result<Self> {
        let (mut plant, mut scene) = (MultibodyPlantBuilder::new(TIME_STEP)?, SceneGraph::new());
        plant.register_as_source_for_scene_graph(&mut scene)?;
        plant.set_discrete_contact_approximation(approximation);
        let center = Vector3::new(0.1, 0.0, 0.0);
        let inertia = SpatialInertia::from_central(0.5, center, Matrix3::identity() * 2e-3)?;
        let name = "partner";
        let config = DeformableBodyConfig {
            youngs_modulus: 1e5,
            stiffness_damping_coefficient: 0.01,
            mass_damping_coefficient: 1.0,
            material_model,
            relative_tolerance: 1e-11,
            ..Default::default()
        };
        let mut balls = vec![];
        let heights = if partner == Partner::Ball {
            &[0.0, 0.19][..]
        } else {
            &[0.0]
        };
        for (i, height) in heights.iter().enumerate() {
            let at = Isometry3::translation(0.3, 0.003 * i as f64, *height);
            let ball = GeometryInstance::new(at, Sphere::new(0.1)?, &format!("ball{i}"))?;
            let ball = ball.with_proximity(soft_material()?);
            let ball = plant.register_deformable_body(&mut scene, ball, &config, 0.1)?;
            plant.add_external_force(ball, Wind)?;
            balls.push(ball);
        }
        match partner {
            Partner::Ball => {}
            Partner::Arm => {
                let arm = plant.add_rigid_body(name, ModelInstanceIndex::DEFAULT, inertia)?;
                let joint = Joint::revolute("shoulder", BodyIndex::WORLD, arm, Vector3::y())?;
                plant.add_joint(joint.with_damping(0.2)?)?;
                let at = Isometry3::translation(0.3, 0.0, 0.0);
                let shape = BoxShape::new(0.1, 0.2, 0.2)?.into();
                let x_bg = Isometry3::translation(0.2, 0.0, 0.0);
                plant.add_fixed_constraint(balls[0], arm, &at, &shape, &x_bg)?;
            }
            Partner::Plate => {
                let plate = plant.add_rigid_body(name, ModelInstanceIndex::DEFAULT, inertia)?;
                let axis = Vector3::new(0.2, 0.1, 1.0);
                let joint = Joint::prismatic("slide", BodyIndex::WORLD, plate, axis)?;
                plant.add_joint(joint.with_damping(0.2)?)?;
                let material = soft_material()?
                    .with_compliant_hydroelastic(1e7)
                    .and_then(|p| p.with_resolution_hint(1.0))?;
                let tilt = math::rpy(0.1, -0.05, 0.3);
                let x_bg = math::pose(tilt, Vector3::new(0.3, 0.0, -0.19));
                let shape = BoxShape::new(0.8, 0.9, 0.2)?;
                plant.register_collision_geometry(
                    &mut scene, plate, x_bg, shape, "plate", material,
                )?;
            }
        }
        let mut b = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
        Ok(Self {
            plant,
            diagram: b.build()?,
            balls,
        })
    }

    /// The state as one list: joints, then positions and velocities of the vertices.
    fn state<T: DiagramScalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &Context<T>,
    ) -> crate::Result<Vec<T>> {
        let mut all = ports.positions(context)?;
        all.extend(ports.velocities(context)?);
        for ball in &self.balls {
            for list in [
                ports.deformable_positions(context, *ball)?,
                ports.deformable_velocities(context, *ball)?,
            ] {
                all.extend(list.iter().flat_map(|x| x.iter().copied()));
            }
        }
        Ok(all)
    }

    fn set_state<T: DiagramScalar>(
        &self,
        diagram: &Diagram<T>,
        context: &mut Context<T>,
        x: &[T],
    ) -> crate::Result<()> {
        let ports = diagram.ports(&self.plant)?;
        let plant = self.plant.system();
        let (joints, vertices) = x.split_at(2 * plant.num_positions());
        let (q, v) = joints.split_at(joints.len() / 2);
        ports.set_positions(context, q)?;
        ports.set_velocities(context, v)?;
        let vectors = |list: &[T]| -> Vec<Vector3<T>> {
            list.chunks_exact(3)
                .map(Vector3::from_column_slice)
                .collect()
        };
        let own = vertices.chunks_exact(vertices.len() / self.balls.len());
        for (ball, own) in self.balls.iter().zip(own) {
            let (q, v) = own.split_at(own.len() / 2);
            ports.set_deformable_positions(context, *ball, &vectors(q))?;
            ports.set_deformable_velocities(context, *ball, &vectors(v))?;
        }
        Ok(())
    }

    /// The state after a step from a state.
    fn step<T: DiagramScalar>(&self, diagram: &Diagram<T>, x: &[T]) -> crate::Result<Vec<T>> {
        let mut context = diagram.default_context();
        self.set_state(diagram, &mut context, x)?;
        let mut sim = Simulator::new(diagram, context)?;
        sim.advance_to(TIME_STEP)?;
        self.state(&diagram.ports(&self.plant)?, sim.context())
    }

    /// Largest difference between the derivative of a step along a direction and central
    /// differences, relative to the largest derivative, and the largest difference of the values.
    fn errors(&self, x: &[f64], direction: &[f64]) -> crate::Result<[f64; 2]> {
        let dual = self.diagram.to_scalar::<AutoDiff>()?;
        let along =
            |(x, d): (&f64, &f64)| AutoDiff::constant(*x) + AutoDiff::variable(0.0, DIRECTION) * *d;
        let found = self.step(
            &dual,
            &x.iter().zip(direction).map(along).collect::<Vec<_>>(),
        )?;
        let h = 1e-5;
        let at = |h: f64| {
            let moved: Vec<f64> = x.iter().zip(direction).map(|(x, d)| x + h * d).collect();
            self.step(&self.diagram, &moved)
        };
        let (below, value, above) = (at(-h)?, at(0.0)?, at(h)?);
        let (mut error, mut largest, mut apart) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (k, found) in found.iter().enumerate() {
            let wanted = (above[k] - below[k]) / (2.0 * h);
            largest = largest.max(wanted.abs());
            error = error.max((found.eps[DIRECTION] - wanted).abs());
            apart = apart.max((found.re - value[k]).abs());
        }
        Ok([error / largest, apart])
    }
}

/// A smooth pattern of numbers.
fn pattern(n: usize, size: f64, phase: f64) -> Vec<f64> {
    (0..n)
        .map(|i| size * (1.7 * i as f64 + phase).sin())
        .collect()
}

/// Returns whether the balls touch anything in a step from a state.
fn is_in_contact(scene: &Scene, x: &[f64]) -> bool {
    let mut context = scene.diagram.default_context();
    scene.set_state(&scene.diagram, &mut context, x).unwrap();
    let mut sim = Simulator::new(&scene.diagram, context).unwrap();
    sim.advance_to(TIME_STEP).unwrap();
    let ports = scene.diagram.ports(&scene.plant).unwrap();
    let port = ports.contact_results().unwrap();
    let results = sim.context().eval(port).unwrap();
    !results.deformable_contacts().is_empty()
}

/// Checks the derivatives of a step of a scene along a few directions.
fn check(model: MaterialModel, partner: Partner, approximation: DiscreteContactApproximation) {
    let scene = Scene::new(model, partner, approximation).unwrap();
    let ports = scene.diagram.ports(&scene.plant).unwrap();
    let context = scene.diagram.default_context();
    let rest = scene.state(&ports, &context).unwrap();
    let joints = if partner == Partner::Ball { 0 } else { 2 };
    let noise = pattern(rest.len(), 2e-3, 0.5);
    let x: Vec<f64> = rest
        .iter()
        .zip(&noise)
        .map(|(x, noise)| x + noise)
        .collect();
    let is_in_contact = is_in_contact(&scene, &x);
    assert_eq!(is_in_contact, partner != Partner::Arm, "{partner:?}");
    let others = rest.len() - joints;
    let directions = [
        // Of the joint alone, of the balls alone, and of all.
        [pattern(joints, 1.0, 1.0), vec![0.0; others]].concat(),
        [vec![0.0; joints], pattern(others, 0.1, 1.0)].concat(),
        pattern(rest.len(), 0.1, 2.0),
    ];
    for direction in directions {
        if direction.iter().all(|d| *d == 0.0) {
            continue;
        }
        let [error, apart] = scene.errors(&x, &direction).unwrap();
        // Differences cross kinks of the matrix of damping and of the faces in contact.
        assert!(
            error < 2e-6,
            "{model:?} {partner:?} {approximation:?}: {error:e}"
        );
        assert_eq!(apart, 0.0, "{model:?} {partner:?} {approximation:?}");
    }
}

const ALL_MODELS: [MaterialModel; 4] = [
    MaterialModel::Linear,
    MaterialModel::LinearCorotated,
    MaterialModel::Corotated,
    MaterialModel::NeoHookean,
];

#[test]
fn steps_of_fixed_bodies_have_derivatives_by_the_state() {
    for model in ALL_MODELS {
        check(model, Partner::Arm, DiscreteContactApproximation::Sap);
    }
}

#[test]
fn steps_in_contact_have_derivatives_by_the_state() {
    for partner in [Partner::Plate, Partner::Ball] {
        for model in ALL_MODELS {
            check(model, partner, DiscreteContactApproximation::Sap);
        }
        for approximation in [
            DiscreteContactApproximation::Similar,
            DiscreteContactApproximation::Lagged,
        ] {
            check(MaterialModel::LinearCorotated, partner, approximation);
        }
    }
}

/// Friction that a context gives a soft ball acts, with its derivatives.
#[test]
fn steps_in_contact_have_derivatives_by_friction() {
    let model = MaterialModel::LinearCorotated;
    let scene = Scene::new(model, Partner::Plate, DiscreteContactApproximation::Sap).unwrap();
    let ports = scene.diagram.ports(&scene.plant).unwrap();
    let rest = scene
        .state(&ports, &scene.diagram.default_context())
        .unwrap();
    let mut x = rest.clone();
    // The ball slides.
    let num_vertices = (x.len() - 2) / 6;
    let velocities = x.len() - 3 * num_vertices;
    x[velocities..].iter_mut().step_by(3).for_each(|v| *v = 1.0);
    let geometry = scene
        .plant
        .deformable_body(scene.balls[0])
        .unwrap()
        .geometry_id();
    fn end<T: DiagramScalar>(
        scene: &Scene,
        diagram: &Diagram<T>,
        (geometry, mu): (GeometryId, T),
        x: &[T],
    ) -> Vec<T> {
        let mut context = diagram.default_context();
        scene.set_state(diagram, &mut context, x).unwrap();
        let ports = diagram.ports(&scene.plant).unwrap();
        let material = ContactMaterialOverride {
            static_friction: Some(mu),
            dynamic_friction: Some(mu),
            ..ContactMaterialOverride::none()
        };
        ports
            .set_contact_material(&mut context, geometry, material)
            .unwrap();
        let mut sim = Simulator::new(diagram, context).unwrap();
        sim.advance_to(TIME_STEP).unwrap();
        scene.state(&ports, sim.context()).unwrap()
    }
    let at = |mu: f64| end(&scene, &scene.diagram, (geometry, mu), &x);
    let (low, value, high) = (at(0.2 - 1e-5), at(0.2), at(0.2 + 1e-5));
    let dual = scene.diagram.to_scalar::<AutoDiff>().unwrap();
    let lifted: Vec<AutoDiff> = x.iter().map(|x| AutoDiff::constant(*x)).collect();
    let mu = AutoDiff::variable(0.2, DIRECTION);
    let found = end(&scene, &dual, (geometry, mu), &lifted);
    let wanted = high.iter().zip(&low).map(|(high, low)| (high - low) / 2e-5);
    let largest = wanted.clone().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(largest > 1e-3, "friction does not act");
    for ((found, wanted), value) in found.iter().zip(wanted).zip(&value) {
        assert_eq!(found.re, *value);
        // Rounding of the step over 2e-5.
        let error = (found.eps[DIRECTION] - wanted).abs();
        assert!(
            error < 1e-7 * largest.max(1.0),
            "{} {wanted}",
            found.eps[DIRECTION]
        );
    }
}
