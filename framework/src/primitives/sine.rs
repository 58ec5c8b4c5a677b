//! Sine waves.

use super::check;
use crate::prelude::*;
use crate::{IntoValue, Result};

/// Sine wave `y = a sin(w x + p)` and its first two derivatives with respect to x, element by
/// element (Drake's `Sine`). The argument x is the time or an input.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector of `size`: x; only [`with_input`](Sine::with_input) |
/// | output | `y0` | vector of `size`: the wave |
/// | output | `y1` | vector of `size`: first derivative |
/// | output | `y2` | vector of `size`: second derivative |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Sine;
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1).with_amplitude(2.0).with_frequency(3.0));
/// let waves = b.add("waves", Sine::per_element([2.0, 1.0], [3.0, 0.0], [0.0, 0.5])?);
/// let mut ctx = b.build()?.default_context();
/// ctx.set_time(0.1);
/// assert!((ctx.eval(wave.y)?[0] - 2.0 * 0.3_f64.sin()).abs() < 1e-15);
/// assert!((ctx.eval(wave.ydot)?[0] - 6.0 * 0.3_f64.cos()).abs() < 1e-14);
/// assert_eq!(ctx.eval(waves.y)?, &[ctx.eval(wave.y)?[0], 0.5_f64.sin()]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sine {
    waves: Vec<Wave>,
    from_input: bool,
}

/// Parameters of one element's wave.
#[derive(Clone, Copy, Debug)]
struct Wave {
    amplitude: f64,
    frequency: f64,
    phase: f64,
}

impl Sine {
    /// Creates `size` waves of amplitude 1, angular frequency 1 rad/s and phase 0.
    pub fn new(size: usize) -> Self {
        let wave = Wave {
            amplitude: 1.0,
            frequency: 1.0,
            phase: 0.0,
        };
        Self {
            waves: vec![wave; size],
            from_input: false,
        }
    }

    /// Sets the amplitude of every element.
    #[must_use]
    pub fn with_amplitude(self, amplitude: f64) -> Self {
        self.with(|wave| wave.amplitude = amplitude)
    }

    /// Sets the angular frequency (rad/s) of every element.
    #[must_use]
    pub fn with_frequency(self, frequency: f64) -> Self {
        self.with(|wave| wave.frequency = frequency)
    }

    /// Sets the phase (rad) of every element.
    #[must_use]
    pub fn with_phase(self, phase: f64) -> Self {
        self.with(|wave| wave.phase = phase)
    }

    fn with(mut self, set: impl FnMut(&mut Wave)) -> Self {
        self.waves.iter_mut().for_each(set);
        self
    }

    /// Creates one wave per element from their amplitudes, angular frequencies (rad/s) and phases
    /// (rad).
    ///
    /// # Errors
    /// Returns an error if the lengths differ.
    pub fn per_element(
        amplitudes: impl IntoValue<Vec<f64>>,
        frequencies: impl IntoValue<Vec<f64>>,
        phases: impl IntoValue<Vec<f64>>,
    ) -> Result<Self> {
        let (amplitudes, frequencies, phases) = (
            amplitudes.into_value(),
            frequencies.into_value(),
            phases.into_value(),
        );
        let size = amplitudes.len();
        for (what, length) in [("frequencies", frequencies.len()), ("phases", phases.len())] {
            if length != size {
                return check::fail(
                    "Sine",
                    format!("{what} must have one element per amplitude, {size}, got {length}"),
                );
            }
        }
        let waves = amplitudes.into_iter().zip(frequencies).zip(phases);
        let waves = waves.map(|((amplitude, frequency), phase)| Wave {
            amplitude,
            frequency,
            phase,
        });
        Ok(Self {
            waves: waves.collect(),
            from_input: false,
        })
    }

    /// Makes the input the argument of the waves instead of the time (Drake's `is_time_based =
    /// false`); frequencies are then in radians per unit of the input.
    #[must_use]
    pub fn with_input(mut self) -> Self {
        self.from_input = true;
        self
    }
}

/// Ports of [`Sine`].
#[derive(Clone, Copy, Debug)]
pub struct SinePorts<T> {
    /// The argument, if it is not the time.
    pub u: Option<InputPort<Vec<T>>>,
    /// The wave.
    pub y: OutputPort<Vec<T>>,
    /// First derivative with respect to the time or the input.
    pub ydot: OutputPort<Vec<T>>,
    /// Second derivative with respect to the time or the input.
    pub yddot: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for Sine {
    type Ports = SinePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.waves.len();
        let u = self.from_input.then(|| d.vector_input("u0", size));
        let dep = u.map_or(Dep::Time, Dep::from);
        let mut output = |name: &str, derivative: i32| {
            d.vector_output(name, size, dep, move |s, ctx, y| {
                let x = u.map(|u| ctx.eval(u)).transpose()?;
                for (i, (y, wave)) in y.iter_mut().zip(&s.waves).enumerate() {
                    let x = x.map_or_else(|| ctx.time(), |x| x[i]);
                    let w = wave.frequency;
                    let shift = wave.phase + f64::from(derivative) * std::f64::consts::FRAC_PI_2;
                    let angle = x * T::from(w) + T::from(shift);
                    *y = angle.sin() * T::from(wave.amplitude * w.powi(derivative));
                }
                Ok(())
            })
        };
        SinePorts {
            y: output("y0", 0),
            ydot: output("y1", 1),
            yddot: output("y2", 2),
            u,
        }
    }
}
