//! Fifth-order Runge-Kutta.

use super::ErrorControl;
use super::explicit::{Tableau, explicit_integrator};

/// Weights of the result, where the last stage is evaluated.
const WEIGHTS: [f64; 7] = [
    35.0 / 384.0,
    0.0,
    500.0 / 1113.0,
    125.0 / 192.0,
    -2187.0 / 6784.0,
    11.0 / 84.0,
    0.0,
];

explicit_integrator!(
    /// The 5(4) pair of Dormand and Prince, *A family of embedded Runge-Kutta formulae* (1980),
    /// table 2, in local extrapolation: Drake's `RungeKutta5Integrator`.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::{integrator::RungeKutta5, primitives::{Integrator, Sine}};
    /// # let mut b = DiagramBuilder::new();
    /// # let wave = b.add("wave", Sine::new(1));
    /// # let integral = b.add("integral", Integrator::new(1));
    /// # b.connect(wave.y, integral.u);
    /// # let diagram = b.build()?;
    /// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    /// sim.set_integrator(RungeKutta5::new());
    /// sim.set_max_step(0.5)?;
    /// sim.set_error_control(1e-10)?;
    /// sim.advance_to(3.0)?; // the integral of a sine
    /// assert!((sim.context().eval(integral.y)?[0] - (1.0 - 3.0_f64.cos())).abs() < 1e-9);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    RungeKutta5,
    "runge_kutta5",
    7,
    Some(ErrorControl {
        order: 5,
        loosest_accuracy: 1e-3,
        first_step: 0.1,
    }),
    Tableau {
        a: [
            [0.0; 7],
            [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0, 0.0],
            [
                19372.0 / 6561.0,
                -25360.0 / 2187.0,
                64448.0 / 6561.0,
                -212.0 / 729.0,
                0.0,
                0.0,
                0.0,
            ],
            [
                9017.0 / 3168.0,
                -355.0 / 33.0,
                46732.0 / 5247.0,
                49.0 / 176.0,
                -5103.0 / 18656.0,
                0.0,
                0.0,
            ],
            WEIGHTS,
        ],
        b: WEIGHTS,
        c: [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
        e: Some([
            71.0 / 57600.0,
            0.0,
            -71.0 / 16695.0,
            71.0 / 1920.0,
            -17253.0 / 339200.0,
            22.0 / 525.0,
            -1.0 / 40.0,
        ]),
    }
);
