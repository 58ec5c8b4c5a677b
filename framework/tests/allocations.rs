//! Steps do not allocate memory once all work space exists.
//!
//! Allocations are counted inside of `IntegrationScheme::step` and of whole calls of
//! `Simulator::advance_to`, per thread.

use crate::counting_allocator::ALLOCATIONS;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_framework::integrator::{
    BogackiShampine3, ErrorControl, ExplicitEuler, ImplicitEuler, IntegrationScheme, Ode, Radau1,
    Radau3, RungeKutta2, RungeKutta3, RungeKutta5, SemiExplicitEuler, VelocityImplicitEuler,
};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{
    Adder, Gain, Integrator as Integral, RandomSource, Sine, ZeroOrderHold,
};
use tarragon_framework::random::RandomDistribution;
use tarragon_framework::{Result, SimulatorConfig, WitnessDirection};

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Integrator whose allocations are counted.
struct Watched<I> {
    integrator: I,
    allocations: Arc<AtomicU64>,
}
impl<I: IntegrationScheme<f64>> IntegrationScheme<f64> for Watched<I> {
    fn name(&self) -> &'static str {
        self.integrator.name()
    }
    fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
        let before = allocations();
        let result = self.integrator.step(ode, dt);
        self.allocations
            .fetch_add(allocations() - before, Ordering::Relaxed);
        result
    }
    fn error_control(&self) -> Option<ErrorControl> {
        self.integrator.error_control()
    }
    fn error_estimate(&self) -> &[f64] {
        self.integrator.error_estimate()
    }
}

/// `q'' = -q + u`.
struct Spring;
#[derive(Clone, Copy)]
struct SpringPorts<T> {
    u: InputPort<Vec<T>>,
    q: OutputPort<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for Spring {
    type Ports = SpringPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", 1);
        let x0 = [T::one(), T::zero()];
        d.continuous_state((1, 1, 0), &x0, (Dep::Xc, u), move |_, ctx, dx| {
            let x = ctx.xc();
            dx[0] = x[1];
            dx[1] = ctx.eval(u)?[0] - x[0];
            Ok(())
        });
        let q = d.vector_output("q", 1, Dep::Q, |_, ctx, q| {
            q[0] = ctx.q()[0];
            Ok(())
        });
        SpringPorts { u, q }
    }
}

/// A wave plus the integral of the position, fed back to a spring: seven systems, with position,
/// velocity and miscellaneous state.
fn simulator() -> Simulator<f64> {
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1).with_amplitude(0.3).with_frequency(2.0));
    let springs = [0, 1].map(|i| b.add(&format!("spring{i}"), Spring));
    let integral = b.add("integral", Integral::new(1));
    let feedback = b.add("feedback", Gain::new(1, -0.5));
    let sum = b.add("sum", Adder::new(2, 1));
    b.connect(springs[0].q, integral.u);
    b.connect(integral.y, feedback.u);
    b.connect(wave.y, sum.u[0]);
    b.connect(feedback.y, sum.u[1]);
    b.connect(sum.sum, springs[0].u);
    b.connect(springs[0].q, springs[1].u);
    let d = b.build().unwrap();
    Simulator::new(&d, d.default_context()).unwrap()
}

/// Returns the allocations of an integrator, and those of the simulator around it per step, after a
/// warm-up.
fn measure(integrator: impl IntegrationScheme<f64> + 'static, accuracy: Option<f64>) -> (u64, f64) {
    let mut sim = simulator();
    let count = Arc::new(AtomicU64::new(0));
    let watched = Watched {
        integrator,
        allocations: count.clone(),
    };
    sim.set_integrator(watched);
    sim.set_fixed_step(1.0 / 128.0).unwrap();
    if let Some(accuracy) = accuracy {
        sim.set_error_control(accuracy).unwrap();
    }
    sim.advance_to(1.0).unwrap();
    assert!(
        count.swap(0, Ordering::Relaxed) > 0,
        "work space is allocated once"
    );
    let (start, steps) = (allocations(), sim.statistics().steps);
    sim.advance_to(9.0).unwrap();
    let all = allocations() - start;
    let steps = sim.statistics().steps - steps;
    assert!(steps >= 1024, "{steps}");
    let inside = count.load(Ordering::Relaxed);
    (inside, (all - inside) as f64 / steps as f64)
}

/// Asserts that the integrator, the choice of steps and the simulator do not allocate.
fn assert_free(name: &str, (inside, around): (u64, f64)) {
    assert_eq!(inside, 0, "{name}");
    assert_eq!(around, 0.0, "{name}");
}

#[test]
fn explicit_steps_allocate_nothing() {
    assert_free("explicit_euler", measure(ExplicitEuler::new(), None));
    assert_free(
        "semi_explicit_euler",
        measure(SemiExplicitEuler::new(), None),
    );
    assert_free("runge_kutta2", measure(RungeKutta2::new(), None));
    assert_free("runge_kutta3", measure(RungeKutta3::new(), None));
    assert_free("runge_kutta5", measure(RungeKutta5::new(), None));
    assert_free("bogacki_shampine3", measure(BogackiShampine3::new(), None));
}

#[test]
fn error_controlled_steps_allocate_nothing() {
    let accuracy = Some(1e-7);
    assert_free("runge_kutta3", measure(RungeKutta3::new(), accuracy));
    assert_free("runge_kutta5", measure(RungeKutta5::new(), accuracy));
    assert_free(
        "bogacki_shampine3",
        measure(BogackiShampine3::new(), accuracy),
    );
}

#[test]
fn implicit_steps_allocate_nothing_unless_they_need_a_jacobian() {
    // The diagram is linear, so the first Jacobian serves all steps.
    assert_free("implicit_euler", measure(ImplicitEuler::new(), None));
    assert_free(
        "velocity_implicit_euler",
        measure(VelocityImplicitEuler::new(), None),
    );
    assert_free("radau1", measure(Radau1::new(), None));
    assert_free("radau3", measure(Radau3::new(), None));
    // Factorizations for other step sizes reuse the storage of the last one.
    let accuracy = Some(1e-6);
    assert_free("implicit_euler", measure(ImplicitEuler::new(), accuracy));
    assert_free("radau3", measure(Radau3::new(), accuracy));
}

#[test]
fn integrators_chosen_by_name_do_not_allocate_either() {
    let mut sim = simulator();
    sim.apply_config(&SimulatorConfig {
        max_step_size: 1.0 / 128.0,
        ..SimulatorConfig::default()
    })
    .unwrap();
    sim.advance_to(1.0).unwrap();
    let (start, steps) = (allocations(), sim.statistics().steps);
    sim.advance_to(2.0).unwrap();
    let (all, steps) = (allocations() - start, sim.statistics().steps - steps);
    // Both simulators append to the same list of events.
    assert!(all <= steps + 1, "{all} in {steps} steps");
}

/// Discrete and unrestricted updates at several periods, a chain deeper than the recursion limit, a
/// witness function and publishes.
#[test]
fn events_allocate_nothing() {
    struct Watch;
    impl LeafSystem<f64> for Watch {
        type Ports = InputPort<Vec<f64>>;
        fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
            let u = d.vector_input("u", 1);
            let count = d.discrete_state(&[0.0]);
            let crossing = d.witness_function("wave", WitnessDirection::CrossesZero, |_, ctx| {
                Ok((10.0 * ctx.time()).sin())
            });
            d.discrete_update_on(Trigger::Witness(crossing), move |_, ctx, next| {
                next.get_mut(count)[0] = ctx.xd(count)[0] + 1.0;
                Ok(EventStatus::Succeeded)
            });
            d.publish_on(Trigger::PerStep, move |_, ctx| {
                assert!(ctx.eval(u)?[0].is_finite());
                Ok(EventStatus::Succeeded)
            });
            u
        }
    }
    let mut b = DiagramBuilder::new();
    let noise = RandomSource::new(1, 0.02, RandomDistribution::Gaussian)
        .unwrap()
        .with_fixed_seed(1);
    let mut last = b.add("noise", noise).y;
    for i in 0..60 {
        let period = [0.01, 0.02, 0.03][i % 3];
        let hold = b.add(&format!("hold{i}"), ZeroOrderHold::new(1, period, 0.0));
        let gain = b.add(&format!("gain{i}"), Gain::new(1, 0.9));
        let again = b.add(&format!("again{i}"), Gain::new(1, 1.1));
        b.connect(last, hold.u);
        b.connect(hold.y, gain.u);
        b.connect(gain.y, again.u);
        last = again.y;
    }
    for i in 0..30 {
        let gain = b.add(&format!("deep{i}"), Gain::new(1, 1.0));
        b.connect(last, gain.u);
        last = gain.y;
    }
    let watch = b.add_f64("watch", Watch);
    b.connect(last, *watch.ports());
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.context_mut().set_accuracy(Some(1e-6));
    sim.advance_to(1.0).unwrap();
    let (start, steps) = (allocations(), sim.statistics().steps);
    sim.advance_to(9.0).unwrap();
    assert_eq!(allocations() - start, 0);
    assert!(sim.statistics().steps - steps > 800);
    assert!(sim.statistics().witness_triggers > 20);
}
