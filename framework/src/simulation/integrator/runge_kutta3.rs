//! Third-order Runge-Kutta.

use super::ErrorControl;
use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// Kutta's third-order method, with the error estimated by the embedded midpoint rule: Drake's
    /// `RungeKutta3Integrator` (Hairer, Nørsett, Wanner, table II.1.1).
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::{integrator::RungeKutta3, primitives::{Integrator, Sine}};
    /// # let mut b = DiagramBuilder::new();
    /// # let wave = b.add("wave", Sine::new(1));
    /// # let integral = b.add("integral", Integrator::new(1));
    /// # b.connect(wave.y, integral.u);
    /// # let diagram = b.build()?;
    /// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    /// sim.set_integrator(RungeKutta3::new());
    /// sim.set_error_control(1e-6)?;
    /// sim.advance_to(3.0)?; // the integral of a sine
    /// assert!((sim.context().eval(integral.y)?[0] - (1.0 - 3.0_f64.cos())).abs() < 1e-5);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    RungeKutta3,
    "runge_kutta3",
    3,
    Some(ErrorControl {
        order: 3,
        loosest_accuracy: 1e-1,
        first_step: 0.1,
    }),
    Tableau {
        a: [[0.0; 3], [0.5, 0.0, 0.0], [-1.0, 2.0, 0.0]],
        b: [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
        c: [0.0, 0.5, 1.0],
        e: Some([1.0 / 6.0, -1.0 / 3.0, 1.0 / 6.0]),
    }
);
