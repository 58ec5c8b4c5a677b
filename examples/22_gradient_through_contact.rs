//! A throw, optimized through its bounces, by derivatives of discrete steps with contact.
//!
//! ```text
//! cargo run --release --example 22_gradient_through_contact
//! ```
//!
//! A ball bounces on the ground and on a wall, and must be at a target 0.9 s after the throw. The
//! 9000 steps of its flight are differentiated with respect to the throw by dual numbers. Prints
//! the derivatives next to central differences, and the miss of every iteration of Gauss-Newton.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use nalgebra::DVector;
use tarragon::framework::DiagramScalar;
use tarragon::prelude::*;

/// Time of flight (s), start and target in the plane x, z (m).
const FLIGHT: f64 = 0.9;
const START: [f64; 2] = [0.0, 1.0];
const TARGET: [f64; 2] = [0.7, 1.4];

const BALL: &str = "
<robot name='ball' xmlns:drake='https://drake.mit.edu'><link name='ball'><inertial><mass value='0.5'/>
<inertia ixx='.002' ixy='0' ixz='0' iyy='.002' iyz='0' izz='.002'/></inertial>
<collision><geometry><sphere radius='.1'/></geometry>
<drake:proximity_properties><drake:point_contact_stiffness value='8000'/>
<drake:hunt_crossley_dissipation value='0'/></drake:proximity_properties>
</collision></link></robot>";

struct Throw {
    plant: Block<MultibodyPlant>,
    /// Diagrams of the same systems, in numbers and in dual numbers.
    real: Diagram<f64>,
    dual: Diagram<AutoDiff>,
}

impl Throw {
    fn new() -> Result<Self> {
        // A step notices the ground up to one step late, which puts small teeth into the result.
        // Derivatives follow the teeth; the short step makes them flat.
        let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-4)?, SceneGraph::new());
        plant.set_contact_model(ContactModel::Point);
        // Abstract state, where sampled ports would keep results, cannot be differentiated.
        plant.set_use_sampled_output_ports(false)?;
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        parser.add_models_from_string(BALL, "urdf")?;
        // A contact of some 20 ms, so soft that many steps see it, and almost elastic.
        let soft = ProximityProperties::new().with_point_stiffness(8e3)?;
        let soft = soft.with_dissipation(0.0)?;
        let wall = Isometry3::translation(1.6, 0.0, 1.0);
        let slab = BoxShape::new(0.2, 2.0, 4.0)?;
        for (name, pose, shape) in [
            ("ground", Isometry3::identity(), Shape::from(HalfSpace)),
            ("wall", wall, slab.into()),
        ] {
            let (world, soft) = (BodyIndex::WORLD, soft.clone());
            plant.register_collision_geometry(&mut scene, world, pose, shape, name, soft)?;
        }
        let mut b = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
        let real = b.build()?;
        let dual = real.to_scalar::<AutoDiff>()?;
        Ok(Self { plant, real, dual })
    }

    /// Returns by how much (m) a ball thrown with a velocity in the plane x, z (m/s) misses.
    fn miss<T: DiagramScalar>(&self, diagram: &Diagram<T>, throw: &[T]) -> Result<Vec<T>> {
        let plant = diagram.ports(&self.plant)?;
        let mut ctx = diagram.default_context();
        let [zero, one, x, z] = [0.0, 1.0, START[0], START[1]].map(T::from);
        let (q, v) = ([x, zero, z], [throw[0], zero, throw[1]]);
        let (turn, spin) = ([one, zero, zero, zero], [zero; 3]);
        plant.set_positions(&mut ctx, [&turn[..], &q].concat())?;
        plant.set_velocities(&mut ctx, [spin, v].concat())?;
        let mut sim = Simulator::new(diagram, ctx)?;
        sim.advance_to(FLIGHT)?;
        let q = plant.positions(sim.context())?;
        Ok(vec![q[4] - T::from(TARGET[0]), q[6] - T::from(TARGET[1])])
    }
}

fn main() -> Result<()> {
    let scene = Throw::new()?;
    let mut throw = DVector::from_vec(vec![3.0, -4.0]);

    let real = |throw: &DVector<f64>| scene.miss(&scene.real, throw.as_slice()).map(DVector::from);
    let with_derivatives =
        |throw: &DVector<f64>| try_jacobian(|v| scene.miss(&scene.dual, v), throw.as_slice());

    let (_, jacobian) = with_derivatives(&throw)?;
    let h = 1e-6;
    for (name, k) in [("x", 0), ("z", 1)] {
        let mut step = DVector::zeros(2);
        step[k] = h;
        let difference = (real(&(&throw + &step))? - real(&(&throw - &step))?) / (2.0 * h);
        let (dual, difference) = (jacobian.column(k), difference.as_slice());
        println!("derivatives by v{name}: {:.4?}", dual.as_slice());
        println!("   by differences: {difference:.4?}");
        let error = (dual - DVector::from_column_slice(difference)).norm();
        assert!(error < 1e-3, "they differ by {error}");
    }

    println!("iteration | throw x, z (m/s) | miss (mm)");
    for iteration in 0..20 {
        let (miss, jacobian) = with_derivatives(&throw)?;
        let [x, z, distance] = [throw[0], throw[1], miss.norm()];
        println!("{iteration:9} | {x:7.4} {z:8.4} | {:9.3}", 1e3 * distance);
        if distance < 1e-3 {
            return Ok(());
        }
        // Shorter steps until one gets closer.
        let mut step = jacobian
            .lu()
            .solve(&miss)
            .ok_or("the Jacobian is singular")?;
        while real(&(&throw - &step))?.norm() >= distance {
            step *= 0.5;
            if step.norm() < 1e-6 {
                return Err("no step gets closer".into());
            }
        }
        throw -= step;
    }
    Err("the ball still misses".into())
}
