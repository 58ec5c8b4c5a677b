//! Integrators by name.

use super::{
    BogackiShampine3, ExplicitEuler, Integrator, RungeKutta2, RungeKutta3, RungeKutta5,
    SemiExplicitEuler,
};
use crate::{Error, Result, Scalar};

/// The names that [`by_name`] knows, as Drake's configuration files spell them.
pub const SCHEMES: [&str; 6] = [
    "explicit_euler",
    "semi_explicit_euler",
    "runge_kutta2",
    "runge_kutta3",
    "runge_kutta5",
    "bogacki_shampine3",
];

/// The integrator of this name.
///
/// ```
/// use tarragon_framework::integrator::{Integrator, by_name};
/// assert_eq!(by_name::<f64>("runge_kutta3")?.name(), "runge_kutta3");
/// assert!(by_name::<f64>("runge_kutta4").is_err());
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// If there is none; the message lists the names.
pub fn by_name<T: Scalar>(name: &str) -> Result<Box<dyn Integrator<T>>> {
    Ok(match name {
        "explicit_euler" => Box::new(ExplicitEuler::new()),
        "semi_explicit_euler" => Box::new(SemiExplicitEuler::new()),
        "runge_kutta2" => Box::new(RungeKutta2::new()),
        "runge_kutta3" => Box::new(RungeKutta3::new()),
        "runge_kutta5" => Box::new(RungeKutta5::new()),
        "bogacki_shampine3" => Box::new(BogackiShampine3::new()),
        _ => {
            return Err(Error::invalid(format!(
                "Simulator: there is no integration scheme '{name}'; known are {}",
                SCHEMES.join(", ")
            )));
        }
    })
}
