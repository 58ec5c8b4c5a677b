//! Third-order Runge-Kutta.

use super::ErrorControl;
use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// Kutta's third-order method, error estimated by the embedded midpoint rule: Drake's
    /// `RungeKutta3Integrator` (Hairer, Nørsett, Wanner, table II.1.1).
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
