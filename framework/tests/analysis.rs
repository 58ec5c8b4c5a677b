//! Linearization against closed forms.

use nalgebra::{DMatrix, dmatrix};
use tarragon_framework::analysis::{
    check_equilibrium, first_order_taylor_approximation, is_equilibrium, linearize,
};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{
    Gain, Integrator, RandomSource, VectorLogSink, VectorSystem, ZeroOrderHold,
};
use tarragon_framework::random::RandomDistribution;

/// theta'' = u - g/l sin(theta) - b theta', with b a parameter.
struct Pendulum;
#[derive(Clone, Copy)]
struct PendulumPorts<T> {
    torque: InputPort<Vec<T>>,
    angle: OutputPort<Vec<T>>,
    damping: Param<T>,
    x: ContinuousState<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for Pendulum {
    type Ports = PendulumPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let torque = d.vector_input("torque", 1);
        let damping = d.param(T::from(0.1));
        let x = d.continuous_state(
            (1, 1, 0),
            &[T::zero(), T::zero()],
            (Dep::Xc, torque, damping),
            move |_, ctx, xdot| {
                let x = ctx.xc();
                xdot[0] = x[1];
                xdot[1] =
                    ctx.eval(torque)?[0] - x[0].sin() * T::from(9.81) - *ctx.param(damping) * x[1];
                Ok(())
            },
        );
        let angle = d.vector_output("angle", 1, Dep::Q, |_, ctx, y| {
            y[0] = ctx.q()[0];
            Ok(())
        });
        PendulumPorts {
            torque,
            angle,
            damping,
            x,
        }
    }
}

#[test]
fn a_pendulum_is_linearized_at_rest_and_in_motion() {
    let mut b = DiagramBuilder::new();
    let pendulum = b.add("pendulum", Pendulum);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(pendulum.torque, vec![0.0]).unwrap();
    *ctx.param_mut(pendulum.damping).unwrap() = 0.7;
    ctx.xc_mut(pendulum.x).unwrap()[0] = std::f64::consts::PI;
    let (u, y) = (Some(pendulum.torque), Some(pendulum.angle));
    let line = linearize(&diagram, &ctx, u, y, 1e-12).unwrap();
    assert!((line.a - dmatrix![0.0, 1.0; 9.81, -0.7]).norm() < 1e-14);
    assert_eq!(line.b, dmatrix![0.0; 1.0]);
    assert_eq!((line.c, line.d), (dmatrix![1.0, 0.0], dmatrix![0.0]));
    assert_eq!(line.y0[0], std::f64::consts::PI);
    assert_eq!(line.time_period, 0.0);

    ctx.xc_mut(pendulum.x).unwrap().copy_from_slice(&[0.5, 2.0]);
    let message = linearize(&diagram, &ctx, u, y, 1e-6)
        .unwrap_err()
        .to_string();
    let rate = -9.81 * 0.5_f64.sin() - 0.7 * 2.0;
    assert_eq!(
        message,
        format!(
            "linearize: the context is not an equilibrium: element 1 of the continuous state of 'pendulum' \
             changes by {rate:e} per s, more than the tolerance 1e-6; set state and inputs to an \
             equilibrium, or raise the tolerance"
        )
    );
    let line = first_order_taylor_approximation(&diagram, &ctx, u, None).unwrap();
    assert_eq!(line.f0[0], 2.0);
    assert!((line.f0[1] + 9.81 * 0.5_f64.sin() + 1.4).abs() < 1e-14);
    assert!((line.a[(1, 0)] + 9.81 * 0.5_f64.cos()).abs() < 1e-14);
    assert_eq!(line.c.shape(), (0, 2));
}

#[test]
fn a_chain_of_holds_is_a_shift_register() {
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    let holds: Vec<_> = (0..10)
        .map(|i| b.add(&format!("h{i}"), ZeroOrderHold::new(1, 0.25, 0.0)))
        .collect();
    b.connect(gain.y, holds[0].u);
    for pair in holds.windows(2) {
        b.connect(pair[0].y, pair[1].u);
    }
    let log = b.add("log", VectorLogSink::per_step(1));
    b.connect(holds[9].y, log.u);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(gain.u, vec![1.0]).unwrap();
    let line =
        first_order_taylor_approximation(&diagram, &ctx, Some(gain.u), Some(holds[9].y)).unwrap();
    let shift = DMatrix::from_fn(10, 10, |i, j| f64::from(u8::from(i == j + 1)));
    assert_eq!(line.a, shift, "ten states need two chunks of directions");
    assert_eq!((line.b[0], line.c[9], line.time_period), (2.0, 1.0, 0.25));
}

#[test]
fn unsupported_approximations_name_the_reason() {
    let mut b = DiagramBuilder::new();
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
    let sum = b.add("sum", Integrator::new(1));
    b.connect(hold.y, sum.u);
    let diagram = b.build().unwrap();
    let approximate = |d: &Diagram<f64>, ctx: &Context<f64>, u| {
        first_order_taylor_approximation(d, ctx, u, None)
            .unwrap_err()
            .to_string()
    };
    let ctx = diagram.default_context();
    assert!(approximate(&diagram, &ctx, None).contains("both continuous and discrete"));

    let mut b = DiagramBuilder::new();
    let one = b.add("one", ZeroOrderHold::new(1, 0.1, 0.0));
    let two = b.add("two", ZeroOrderHold::new(1, 0.2, 0.0));
    b.connect(one.y, two.u);
    let other = b.build().unwrap();
    assert!(approximate(&other, &other.default_context(), None).contains("got 2 different ones"));
    assert!(
        approximate(&other, &ctx, None).contains("diagram #"),
        "a context of another diagram"
    );

    let mut b = DiagramBuilder::new();
    let sum = b.add("sum", Integrator::new(1));
    let free = b.build().unwrap();
    let message = approximate(&free, &free.default_context(), Some(sum.u));
    assert!(
        message.contains("'sum.u'") && message.contains("fix"),
        "{message}"
    );
}

#[test]
fn equilibria_of_continuous_state() {
    let mut b = DiagramBuilder::new();
    b.add("stateless", Gain::new(1, 1.0));
    let pendulum = b.add("pendulum", Pendulum);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(pendulum.torque, vec![0.0]).unwrap();
    assert!(is_equilibrium(&diagram, &ctx, 0.0).unwrap(), "hanging");
    ctx.xc_mut(pendulum.x).unwrap()[0] = std::f64::consts::PI;
    // The sine of the nearest number to pi is 1.2e-16.
    assert!(is_equilibrium(&diagram, &ctx, 1e-14).unwrap(), "upright");
    ctx.xc_mut(pendulum.x).unwrap()[1] = 1e-3;
    assert!(!is_equilibrium(&diagram, &ctx, 0.999e-3).unwrap());
    assert!(is_equilibrium(&diagram, &ctx, 1e-3).unwrap());
    // At 30 degrees gravity is balanced by half of its moment.
    *ctx.param_mut(pendulum.damping).unwrap() = 0.0;
    let held = [std::f64::consts::FRAC_PI_6, 0.0];
    ctx.xc_mut(pendulum.x).unwrap().copy_from_slice(&held);
    assert!(!is_equilibrium(&diagram, &ctx, 1e-9).unwrap());
    ctx.fix(pendulum.torque, vec![9.81 / 2.0]).unwrap();
    assert!(is_equilibrium(&diagram, &ctx, 1e-14).unwrap());
    // NaN is never an equilibrium, whatever the other elements do.
    ctx.fix(pendulum.torque, vec![f64::NAN]).unwrap();
    assert!(!is_equilibrium(&diagram, &ctx, f64::INFINITY).unwrap());
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let mut ctx = dual.default_context();
    ctx.fix(
        dual.ports(&pendulum).unwrap().torque,
        vec![AutoDiff::variable(0.0, 0)],
    )
    .unwrap();
    assert!(
        is_equilibrium(&dual, &ctx, 0.0).unwrap(),
        "derivatives do not matter"
    );
}

#[test]
fn equilibria_of_discrete_state() {
    let mut b = DiagramBuilder::new();
    let slow = b.add("slow", ZeroOrderHold::new(1, 0.5, 0.0));
    let fast = b.add("fast", ZeroOrderHold::new(2, 0.1, 0.0));
    let sum = b.add("sum", Integrator::new(1));
    b.connect(slow.y, sum.u);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(slow.u, vec![0.0]).unwrap();
    ctx.fix(fast.u, vec![0.0, -0.25]).unwrap();
    let message = check_equilibrium(&diagram, &ctx, 1e-3)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains(
            "element 1 of group 0 of the discrete state of 'fast' changes by -2.5e-1 per update, more \
             than the tolerance 1e-3"
        ),
        "{message}"
    );
    assert!(is_equilibrium(&diagram, &ctx, 0.25).unwrap());
    ctx.xd_mut(fast.x).unwrap()[1] = -0.25;
    check_equilibrium(&diagram, &ctx, 0.0).unwrap();
    // The integrator moves where the hold rests.
    ctx.fix(slow.u, vec![2.0]).unwrap();
    ctx.xd_mut(slow.x).unwrap()[0] = 2.0;
    let message = check_equilibrium(&diagram, &ctx, 1e-3)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("continuous state of 'sum' changes by 2e0 per s"),
        "{message}"
    );
}

/// Continuous state that an unrestricted update resets.
struct Reset;
impl<T: Scalar> LeafSystem<T> for Reset {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, T>) {
        d.continuous_state((0, 0, 1), &[T::zero()], Dep::Nothing, |_, _, _| Ok(()));
        d.unrestricted_update_on(Trigger::every(1.0), |_, _, next| {
            next.xc_mut()[0] = T::zero();
            Ok(EventStatus::Succeeded)
        });
    }
}

#[test]
fn unsupported_equilibrium_checks_are_errors() {
    let mut b = DiagramBuilder::new();
    b.add("reset", Reset);
    let diagram = b.build().unwrap();
    let message = is_equilibrium(&diagram, &diagram.default_context(), 1.0).unwrap_err();
    assert!(
        message
            .to_string()
            .contains("'reset' has unrestricted updates"),
        "{message}"
    );

    let mut b = DiagramBuilder::new();
    b.add(
        "noise",
        RandomSource::new(1, 0.1, RandomDistribution::Uniform).unwrap(),
    );
    let noisy = b.build().unwrap();
    let message = is_equilibrium(&noisy, &noisy.default_context(), 1.0).unwrap_err();
    assert!(
        message.to_string().contains("'noise' has abstract state"),
        "{message}"
    );

    let mut b = DiagramBuilder::new();
    let broken = VectorSystem::new(0, 1, |_, _, _, _| Ok(())).with_discrete_state(
        [0.0],
        0.1,
        |_, _, _, _| Err(tarragon_framework::Error::custom("the valve is stuck")),
    );
    b.add_f64("valve", broken);
    let diagram = b.build().unwrap();
    let message = is_equilibrium(&diagram, &diagram.default_context(), 1.0).unwrap_err();
    assert_eq!(
        message.to_string(),
        "discrete update of 'valve': the valve is stuck"
    );
    let message = is_equilibrium(&diagram, &noisy.default_context(), 1.0).unwrap_err();
    assert!(message.to_string().contains("diagram #"), "{message}");
    let empty = DiagramBuilder::new().build().unwrap();
    assert!(is_equilibrium(&empty, &empty.default_context(), 0.0).unwrap());
}
