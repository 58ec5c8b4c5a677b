//! Explicit Euler.

use super::explicit::{Tableau, explicit_integrator};

explicit_integrator!(
    /// Explicit Euler, first order, without error estimate.
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
