//! A sine wave.

use crate::prelude::*;

/// `y = a sin(w t + p)` with its first two time derivatives (Drake's `Sine`, time as input).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | vector of `size`: the wave |
/// | output | `y1` | vector of `size`: first derivative |
/// | output | `y2` | vector of `size`: second derivative |
#[derive(Clone, Debug)]
pub struct Sine {
    amplitude: f64,
    frequency: f64,
    phase: f64,
    size: usize,
}

impl Sine {
    /// A wave of `amplitude`, angular `frequency` (rad/s) and `phase` (rad) on every element.
    pub fn new(amplitude: f64, frequency: f64, phase: f64, size: usize) -> Self {
        Self {
            amplitude,
            frequency,
            phase,
            size,
        }
    }
}

/// Ports of [`Sine`].
#[derive(Clone, Copy, Debug)]
pub struct SinePorts<T> {
    /// The wave.
    pub y: OutputPort<Vec<T>>,
    /// First time derivative.
    pub ydot: OutputPort<Vec<T>>,
    /// Second time derivative.
    pub yddot: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for Sine {
    type Ports = SinePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let mut output = |name: &str, derivative: i32| {
            d.vector_output(name, self.size, &[Dep::Time], move |s, ctx, y| {
                let w = s.frequency;
                let shift = s.phase + f64::from(derivative) * std::f64::consts::FRAC_PI_2;
                let angle = ctx.time() * T::from(w) + T::from(shift);
                y.fill(angle.sin() * T::from(s.amplitude * w.powi(derivative)));
                Ok(())
            })
        };
        SinePorts {
            y: output("y0", 0),
            ydot: output("y1", 1),
            yddot: output("y2", 2),
        }
    }
}
