//! Integrators by name.

use super::{
    BogackiShampine3, ExplicitEuler, ImplicitEuler, IntegrationScheme, Radau1, Radau3, RungeKutta2,
    RungeKutta3, RungeKutta5, SemiExplicitEuler, VelocityImplicitEuler,
};
use crate::{Error, Result, Scalar};
use std::any::{Any, type_name};

/// Names that [`by_name`] accepts, as spelled in Drake's configuration files.
pub const SCHEMES: [&str; 10] = [
    "explicit_euler",
    "semi_explicit_euler",
    "runge_kutta2",
    "runge_kutta3",
    "runge_kutta5",
    "bogacki_shampine3",
    "implicit_euler",
    "velocity_implicit_euler",
    "radau1",
    "radau3",
];

/// Creates the integrator with this name.
///
/// ```
/// use tarragon_framework::integrator::{IntegrationScheme, by_name};
/// assert_eq!(by_name::<f64>("runge_kutta3")?.name(), "runge_kutta3");
/// assert!(by_name::<f64>("runge_kutta4").is_err());
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Returns an error that lists the names if there is no such integrator, or an error if it computes
/// in `f64` only, as implicit ones do, and T is another scalar.
pub fn by_name<T: Scalar>(name: &str) -> Result<Box<dyn IntegrationScheme<T>>> {
    Ok(match name {
        "explicit_euler" => Box::new(ExplicitEuler::new()),
        "semi_explicit_euler" => Box::new(SemiExplicitEuler::new()),
        "runge_kutta2" => Box::new(RungeKutta2::new()),
        "runge_kutta3" => Box::new(RungeKutta3::new()),
        "runge_kutta5" => Box::new(RungeKutta5::new()),
        "bogacki_shampine3" => Box::new(BogackiShampine3::new()),
        "implicit_euler" => only_f64(Box::new(ImplicitEuler::new()))?,
        "velocity_implicit_euler" => only_f64(Box::new(VelocityImplicitEuler::new()))?,
        "radau1" => only_f64(Box::new(Radau1::new()))?,
        "radau3" => only_f64(Box::new(Radau3::new()))?,
        _ => {
            return Err(Error::not_found(format!(
                "Simulator: there is no integration scheme '{name}'; the schemes are {}",
                SCHEMES.join(", ")
            )));
        }
    })
}

/// Converts an integrator of `f64` to one of T, which must be `f64`.
fn only_f64<T: Scalar>(
    integrator: Box<dyn IntegrationScheme<f64>>,
) -> Result<Box<dyn IntegrationScheme<T>>> {
    let name = integrator.name();
    let any: Box<dyn Any> = Box::new(integrator);
    any.downcast::<Box<dyn IntegrationScheme<T>>>()
        .map(|same| *same)
        .map_err(|_| {
            Error::unsupported(format!(
                "Simulator: the integration scheme '{name}' computes in f64 only, not in {}; \
                 use an explicit scheme",
                type_name::<T>()
            ))
        })
}
