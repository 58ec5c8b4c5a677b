//! A sine wave.

use crate::prelude::*;

/// `y = a sin(w t + p)` with its first two time derivatives (Drake's `Sine`, time as input).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | vector of `size`: the wave |
/// | output | `y1` | vector of `size`: first derivative |
/// | output | `y2` | vector of `size`: second derivative |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Sine;
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(2.0, 3.0, 0.0, 1));
/// let mut ctx = b.build()?.default_context();
/// ctx.set_time(0.1);
/// assert!((ctx.eval(wave.y)?[0] - 2.0 * 0.3_f64.sin()).abs() < 1e-15);
/// assert!((ctx.eval(wave.ydot)?[0] - 6.0 * 0.3_f64.cos()).abs() < 1e-14);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
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
