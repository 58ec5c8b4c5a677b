//! Second-order Runge-Kutta.

use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// The explicit trapezoidal rule (Heun's second-order method), without error estimate: Drake's
    /// `RungeKutta2Integrator`.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::{integrator::RungeKutta2, primitives::{Gain, Integrator}};
    /// # let mut b = DiagramBuilder::new();
    /// # let (x, k) = (b.add("x", Integrator::new(1)), b.add("k", Gain::new(1, -1.0)));
    /// # b.connect(x.y, k.u);
    /// # b.connect(k.y, x.u);
    /// # let diagram = b.build()?;
    /// # let mut ctx = diagram.default_context();
    /// ctx.xc_mut(x.x)?[0] = 1.0; // xdot = -x
    /// let mut sim = Simulator::new(&diagram, ctx)?;
    /// sim.set_integrator(RungeKutta2::new());
    /// sim.set_fixed_step(0.5)?;
    /// sim.advance_to(1.0)?;
    /// assert_eq!(sim.context().xc(x.x)?, [(1.0_f64 - 0.5 + 0.125).powi(2)]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    RungeKutta2,
    "runge_kutta2",
    2,
    None,
    Tableau {
        a: [[0.0; 2], [1.0, 0.0]],
        b: [0.5, 0.5],
        c: [0.0, 1.0],
        e: None,
    }
);
