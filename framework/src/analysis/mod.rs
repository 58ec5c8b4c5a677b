//! Questions about whole diagrams.

mod equilibrium;
mod linearize;
mod monte_carlo;

pub use equilibrium::{check_equilibrium, is_equilibrium};
pub use linearize::{FirstOrderApproximation, first_order_taylor_approximation, linearize};
pub use monte_carlo::{
    MonteCarloConfig, RandomSimulationResult, monte_carlo, monte_carlo_simulation,
    random_simulation,
};
