//! Limits on signals.

use super::check;
use crate::prelude::*;
use crate::{Error, ErrorKind, IntoValue, Result};

/// Limiter of every element of its input, by fixed limits or by limits from ports (Drake's
/// `Saturation`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector of `size` |
/// | input | `u1` | vector of `size`: largest values; only with limits from ports |
/// | input | `u2` | vector of `size`: smallest values; only with limits from ports |
/// | output | `y0` | vector of `size`, direct feedthrough |
///
/// One of the two limit ports may stay unconnected. At a limit the derivative is that of the input;
/// beyond it, that of the limit.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Saturation;
///
/// let mut b = DiagramBuilder::new();
/// let limit = b.add("limit", Saturation::new([-1.0, -1.0], [1.0, 2.0])?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(limit.u, [-3.0, 1.5])?;
/// assert_eq!(ctx.eval(limit.y)?, &[-1.0, 1.5]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Saturation {
    size: usize,
    /// Smallest and largest values; `None` if they come from ports.
    limits: Option<(Vec<f64>, Vec<f64>)>,
}

impl Saturation {
    /// Creates a limiter to the range from `min` to `max`, element by element.
    ///
    /// # Errors
    /// Returns an error if the lengths differ, or if a smallest value is above the largest or NaN.
    pub fn new(min: impl IntoValue<Vec<f64>>, max: impl IntoValue<Vec<f64>>) -> Result<Self> {
        let (min, max) = (min.into_value(), max.into_value());
        check::length("Saturation", "the largest value", max.len(), min.len())?;
        for (i, (min, max)) in min.iter().zip(&max).enumerate() {
            check_order(min, max, i).or_else(|e| check::fail("Saturation", e))?;
        }
        let size = min.len();
        let limits = Some((min, max));
        Ok(Self { size, limits })
    }

    /// Creates a limiter of vectors of `size` elements whose limits come from two more input ports.
    pub fn with_limit_ports(size: usize) -> Self {
        Self { size, limits: None }
    }
}

/// Checks `min <= max`, which is false for NaN.
fn check_order<T: PartialOrd + std::fmt::Display>(
    min: &T,
    max: &T,
    i: usize,
) -> Result<(), String> {
    if min <= max {
        return Ok(());
    }
    Err(format!(
        "element {i}: the smallest value must not be above the largest, got {min} and {max}"
    ))
}

/// Ports of [`Saturation`].
#[derive(Clone, Copy, Debug)]
pub struct SaturationPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Largest values, if they come from a port.
    pub max: Option<InputPort<Vec<T>>>,
    /// Smallest values, if they come from a port.
    pub min: Option<InputPort<Vec<T>>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for Saturation {
    type Ports = SaturationPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.size;
        let u = d.vector_input("u0", size);
        let mut limit = |name| {
            let from_port = self.limits.is_none();
            from_port.then(|| d.vector_input(name, size))
        };
        let (max, min) = (limit("u1"), limit("u2"));
        let y = d.vector_output("y0", size, Dep::AllInputs, move |s, ctx, y| {
            let optional = |port: Option<InputPort<Vec<T>>>| {
                port.map_or(Ok(None), |port| ctx.eval_optional(port))
            };
            let (from_max, from_min) = (optional(max)?, optional(min)?);
            if s.limits.is_none() && from_max.is_none() && from_min.is_none() {
                return Err(Error::new(
                    ErrorKind::Unconnected,
                    "neither 'u1' (largest values) nor 'u2' (smallest values) is connected",
                ));
            }
            let (fixed_min, fixed_max) = s
                .limits
                .as_ref()
                .map_or((None, None), |(min, max)| (Some(min), Some(max)));
            let at = |port: Option<&Vec<T>>, fixed: Option<&Vec<f64>>, i: usize, other: f64| {
                port.map_or_else(|| T::from(fixed.map_or(other, |f| f[i])), |port| port[i])
            };
            for (i, (y, u)) in y.iter_mut().zip(ctx.eval(u)?).enumerate() {
                let min = at(from_min, fixed_min, i, f64::NEG_INFINITY);
                let max = at(from_max, fixed_max, i, f64::INFINITY);
                check_order(&min.re(), &max.re(), i).map_err(Error::invalid)?;
                *y = if u.re() < min.re() {
                    min
                } else if u.re() > max.re() {
                    max
                } else {
                    *u
                };
            }
            Ok(())
        });
        SaturationPorts { u, max, min, y }
    }
}
