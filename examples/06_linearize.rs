//! Linearization: a cart balances a pole, with gains computed from the exact linear model.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use nalgebra::{DMatrix, Matrix1x4, Vector4, matrix};
use tarragon::framework::analysis::linearize;
use tarragon::framework::primitives::MatrixGain;
use tarragon::prelude::*;

const CART: f64 = 1.0; // kg
const POLE: f64 = 0.2; // kg, all of it at the tip
const LENGTH: f64 = 0.6; // m
const GRAVITY: f64 = 9.81; // m/s^2

/// A pole on a cart that a force pushes along x. At angle 0 the pole is upright.
struct CartPole;
#[derive(Clone, Copy)]
struct CartPolePorts<T> {
    force: InputPort<Vec<T>>,
    state: OutputPort<Vec<T>>,
    x: ContinuousState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for CartPole {
    type Ports = CartPolePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let force = d.vector_input("force", 1);
        let (sizes, x0, needs) = ((2, 2, 0), [T::zero(); 4], (Dep::Xc, force));
        let x = d.continuous_state(sizes, &x0, needs, move |_, ctx, xdot| {
            let [cart, pole, length, g] = [CART, POLE, LENGTH, GRAVITY].map(T::from);
            let (angle, v) = (ctx.q()[1], ctx.v());
            let (s, c) = (angle.sin(), angle.cos());
            let push = ctx.eval(force)?[0] + pole * s * (length * v[1] * v[1] - g * c);
            let acceleration = push / (cart + pole * s * s);
            xdot.copy_from_slice(&[
                v[0],
                v[1],
                acceleration,
                (g * s - c * acceleration) / length,
            ]);
            Ok(())
        });
        let state = d.vector_output("state", 4, Dep::Xc, |_, ctx, y| {
            y.copy_from_slice(ctx.xc()); // x, angle, their rates
            Ok(())
        });
        CartPolePorts { force, state, x }
    }
}

fn main() -> Result<()> {
    // Upright and without force nothing moves; otherwise `linearize` would report what does.
    let mut b = DiagramBuilder::new();
    let plant = b.add("cart_pole", CartPole);
    let diagram = b.build()?;
    let mut ctx = diagram.default_context();
    ctx.fix(plant.force, 0.0)?;
    let line = linearize(&diagram, &ctx, Some(plant.force), Some(plant.state), 1e-9)?;
    println!("A = {:.3}B = {:.3}", line.a, line.b);

    // The same matrices by hand. Derivatives by dual numbers are exact up to rounding.
    let (b1, b2) = (1.0 / CART, 1.0 / (CART * LENGTH));
    let (tilt, fall) = (-b1 * POLE * GRAVITY, b2 * (CART + POLE) * GRAVITY);
    let a = matrix![
        0.0, 0.0, 1.0, 0.0;
        0.0, 0.0, 0.0, 1.0;
        0.0, tilt, 0.0, 0.0;
        0.0, fall, 0.0, 0.0
    ];
    let b_column = Vector4::new(0.0, 0.0, b1, -b2);
    assert!(
        (&line.a - a).norm() < 1e-13,
        "A differs from the one by hand"
    );
    assert!(
        (&line.b - b_column).norm() < 1e-13,
        "B differs from the one by hand"
    );

    // Feedback u = -K x such that the characteristic polynomial of A - B K, s^4 + (b1 k3 - b2 k4)
    // s^3 + (b1 k1 - b2 k2 - fall) s^2 - p k3 s - p k1, p = g / (CART LENGTH), is the product of
    // (s + 2), (s + 2.5), (s + 3) and (s + 3.5), with the coefficients c3 to c0.
    let [c3, c2, c1, c0] = [11.0, 44.75, 79.75, 52.5];
    let p = GRAVITY / (CART * LENGTH);
    let (k1, k3) = (-c0 / p, -c1 / p);
    let k = Matrix1x4::new(k1, (b1 * k1 - fall - c2) / b2, k3, (b1 * k3 - c3) / b2);
    let found = (a - b_column * k).complex_eigenvalues();
    for pole in [-2.0, -2.5, -3.0, -3.5] {
        let distance = found.map(|e| (e.re - pole).hypot(e.im)).min();
        assert!(distance < 1e-9, "{pole} is not an eigenvalue");
    }
    println!("K ={k:.2}");

    // Now with the nonlinear plant, starting 17 degrees off.
    let mut b = DiagramBuilder::new();
    let plant = b.add("cart_pole", CartPole);
    let minus_k = DMatrix::from_row_slice(1, 4, (-k).as_slice());
    let gain = b.add("feedback", MatrixGain::new(minus_k)?);
    b.connect(plant.state, gain.u);
    b.connect(gain.y, plant.force);
    let diagram = b.build()?;
    let mut ctx = diagram.default_context();
    ctx.xc_mut(plant.x)?[1] = 0.3;
    let mut sim = Simulator::new(&diagram, ctx)?;
    println!("   t   cart (m)  pole (rad)");
    for t in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0] {
        sim.advance_to(t)?;
        let x = sim.context().eval(plant.state)?;
        println!("{t:4.1} {:9.4} {:9.4}", x[0], x[1]);
    }
    let end = sim.context().eval(plant.state)?;
    assert!(end.iter().all(|x| x.abs() < 1e-3), "the pole fell: {end:?}");
    Ok(())
}
