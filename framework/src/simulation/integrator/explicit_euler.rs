//! Explicit Euler.

use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// Explicit Euler, first order, without error estimate.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::{integrator::ExplicitEuler, primitives::{Gain, Integrator}};
    /// # let mut b = DiagramBuilder::new();
    /// # let (x, k) = (b.add("x", Integrator::new(1)), b.add("k", Gain::new(1, -1.0)));
    /// # b.connect(x.y, k.u);
    /// # b.connect(k.y, x.u);
    /// # let diagram = b.build()?;
    /// # let mut ctx = diagram.default_context();
    /// ctx.xc_mut(x.x)?[0] = 1.0; // xdot = -x
    /// let mut sim = Simulator::new(&diagram, ctx)?;
    /// sim.set_integrator(ExplicitEuler::new());
    /// sim.set_fixed_step(0.25)?;
    /// sim.advance_to(1.0)?;
    /// assert_eq!(sim.context().xc(x.x)?, [0.75_f64.powi(4)]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ExplicitEuler,
    "explicit_euler",
    1,
    None,
    Tableau {
        a: [[0.0]],
        b: [1.0],
        c: [0.0],
        e: None,
    }
);
