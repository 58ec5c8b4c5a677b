//! Analysis of whole diagrams.

mod equilibrium;
mod linearize;
mod monte_carlo;

pub use equilibrium::{check_equilibrium, is_equilibrium};
pub use linearize::{FirstOrderApproximation, first_order_taylor_approximation, linearize};
pub use monte_carlo::{
    MonteCarloConfig, RandomSimulationResult, monte_carlo, monte_carlo_simulation,
    random_simulation,
};

use crate::Error;
use crate::error::ErrorKind;

/// Wraps an error with the place where it mattered, in addition to the one where it happened.
fn located(place: String, error: Error) -> Error {
    let source = Box::new(error);
    ErrorKind::Located { place, source }.into()
}
