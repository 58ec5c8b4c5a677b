//! Second-order Runge-Kutta.

use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// The explicit trapezoidal rule (Heun's second-order method), without error estimate: Drake's
    /// `RungeKutta2Integrator`.
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
