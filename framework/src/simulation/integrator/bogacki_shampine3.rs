//! Bogacki-Shampine 3(2).

use super::ErrorControl;
use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// The 3(2) pair of Bogacki and Shampine, *A 3(2) pair of Runge-Kutta formulas* (1989), in local
    /// extrapolation: Drake's `BogackiShampine3Integrator`.
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
