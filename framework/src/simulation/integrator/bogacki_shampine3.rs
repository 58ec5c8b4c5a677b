//! Bogacki-Shampine 3(2).

use super::ErrorControl;
use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// The 3(2) pair of Bogacki and Shampine, *A 3(2) pair of Runge-Kutta formulas* (1989), in
    /// local extrapolation: Drake's `BogackiShampine3Integrator`.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::{integrator::BogackiShampine3, primitives::{Integrator, Sine}};
    /// # let mut b = DiagramBuilder::new();
    /// # let wave = b.add("wave", Sine::new(1));
    /// # let integral = b.add("integral", Integrator::new(1));
    /// # b.connect(wave.y, integral.u);
    /// # let diagram = b.build()?;
    /// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    /// sim.set_integrator(BogackiShampine3::new());
    /// sim.set_error_control(1e-6)?;
    /// sim.advance_to(3.0)?; // the integral of a sine
    /// assert!((sim.context().eval(integral.y)?[0] - (1.0 - 3.0_f64.cos())).abs() < 1e-5);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    BogackiShampine3,
    "bogacki_shampine3",
    4,
    Some(ErrorControl {
        order: 3,
        loosest_accuracy: 1e-1,
        first_step: 0.1,
    }),
    Tableau {
        a: [
            [0.0; 4],
            [1.0 / 2.0, 0.0, 0.0, 0.0],
            [0.0, 3.0 / 4.0, 0.0, 0.0],
            [2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0, 0.0],
        ],
        b: [2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0, 0.0],
        c: [0.0, 1.0 / 2.0, 3.0 / 4.0, 1.0],
        e: Some([-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0]),
    }
);
