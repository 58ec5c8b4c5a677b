//! Rotary encoders.

use crate::{Error, Result};
use tarragon_framework::prelude::*;

/// Rotary encoders: selected angles, shifted by calibration offsets and rounded down to whole ticks
/// (Drake's `RotaryEncoders`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector of angles (rad) |
/// | output | `y0` | vector of measured angles (rad), one per encoder; direct feedthrough |
///
/// An encoder with n ticks per revolution that measures the angle u with the calibration offset c
/// outputs `floor((u - c) / d) d` with `d = 2 pi / n`; an encoder without ticks outputs `u - c`.
/// The offsets are a parameter of the context, zero by default. Between ticks the measurement is
/// constant, so its derivative is zero.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::RotaryEncoders;
/// let mut b = DiagramBuilder::new();
/// let encoders = b.add("encoders", RotaryEncoders::with_ticks([100, 4])?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(encoders.u, vec![1.0, -1.0])?;
/// let y = ctx.eval(encoders.y)?;
/// assert!((y[0] - 15.0 * std::f64::consts::TAU / 100.0).abs() < 1e-15);
/// assert_eq!(y[1], -std::f64::consts::FRAC_PI_2);
/// ctx.param_mut(encoders.calibration_offsets)?[1] = -2.0; // now it is at +1
/// assert_eq!(ctx.eval(encoders.y)?[1], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RotaryEncoders {
    input_size: usize,
    /// Index of the input element of each encoder.
    indices: Vec<usize>,
    /// One number per encoder, or empty for encoders without ticks.
    ticks_per_revolution: Vec<u32>,
}

impl RotaryEncoders {
    /// Creates one encoder per element of the input.
    ///
    /// # Errors
    /// Returns an error if an encoder has 0 ticks.
    pub fn with_ticks(ticks_per_revolution: impl Into<Vec<u32>>) -> Result<Self> {
        let ticks = ticks_per_revolution.into();
        Self::checked(ticks.len(), (0..ticks.len()).collect(), ticks)
    }
    /// Creates encoders without rounding for the elements `input_vector_indices` of the input.
    ///
    /// # Errors
    /// Returns an error if an index is not less than the input size.
    pub fn with_indices(
        input_size: usize,
        input_vector_indices: impl Into<Vec<usize>>,
    ) -> Result<Self> {
        Self::checked(input_size, input_vector_indices.into(), vec![])
    }
    /// Creates encoders for the elements `input_vector_indices` of the input.
    ///
    /// # Errors
    /// Returns an error if an index is not less than the input size, an encoder has 0 ticks, or the
    /// lists differ in length.
    pub fn new(
        input_size: usize,
        input_vector_indices: impl Into<Vec<usize>>,
        ticks_per_revolution: impl Into<Vec<u32>>,
    ) -> Result<Self> {
        let (indices, ticks) = (input_vector_indices.into(), ticks_per_revolution.into());
        if indices.len() != ticks.len() {
            return Err(Error::invalid(format!(
                "RotaryEncoders: the numbers of indices and of ticks must be equal, got {} and {}",
                indices.len(),
                ticks.len()
            )));
        }
        Self::checked(input_size, indices, ticks)
    }

    fn checked(input_size: usize, indices: Vec<usize>, ticks: Vec<u32>) -> Result<Self> {
        if let Some(index) = indices.iter().find(|i| **i >= input_size) {
            return Err(Error::invalid(format!(
                "RotaryEncoders: indices must be less than the input size {input_size}, got {index}"
            )));
        }
        if let Some(encoder) = ticks.iter().position(|n| *n == 0) {
            return Err(Error::invalid(format!(
                "RotaryEncoders: ticks per revolution must be positive, got 0 for encoder {encoder}"
            )));
        }
        Ok(Self {
            input_size,
            indices,
            ticks_per_revolution: ticks,
        })
    }
}

/// Ports of [`RotaryEncoders`].
#[derive(Clone, Copy, Debug)]
pub struct RotaryEncodersPorts<T> {
    /// Angles (rad).
    pub u: InputPort<Vec<T>>,
    /// Measured angles (rad).
    pub y: OutputPort<Vec<T>>,
    /// Calibration offset of each encoder (rad), subtracted from its angle.
    pub calibration_offsets: Param<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for RotaryEncoders {
    type Ports = RotaryEncodersPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.indices.len();
        let u = d.vector_input("u0", self.input_size);
        let calibration_offsets = d.param(vec![T::zero(); size]);
        let y = d.vector_output(
            "y0",
            size,
            (u, calibration_offsets),
            move |encoders, ctx, y| {
                let (u, offsets) = (ctx.eval(u)?, ctx.param(calibration_offsets));
                if offsets.len() != y.len() {
                    return Err(Error::invalid(format!(
                        "there must be one calibration offset per encoder, got {} for {} encoders",
                        offsets.len(),
                        y.len()
                    )));
                }
                for (i, (y, index)) in y.iter_mut().zip(&encoders.indices).enumerate() {
                    let angle = u[*index] - offsets[i];
                    *y = match encoders.ticks_per_revolution.get(i) {
                        None => angle,
                        Some(n) => {
                            let tick = T::from(std::f64::consts::TAU / f64::from(*n));
                            (angle / tick).floor() * tick
                        }
                    };
                }
                Ok(())
            },
        );
        RotaryEncodersPorts {
            u,
            y,
            calibration_offsets,
        }
    }
}
