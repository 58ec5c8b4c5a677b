//! Noise.

use super::check;
use crate::Result;
use crate::prelude::*;
use crate::random::{RandomDistribution, RandomGenerator};

/// Source of independent random numbers, drawn anew every period (Drake's `RandomSource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `output` | vector of `size` |
///
/// The seed determines all samples. The generator is state, so a copy of a context continues with
/// the same samples. They differ from Drake's, which depend on the C++ library, and carry no
/// derivatives.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::RandomSource;
/// use tarragon_framework::random::RandomDistribution;
///
/// let noise = RandomSource::new(RandomDistribution::Uniform, 3, 0.1, 42)?;
/// let mut b = DiagramBuilder::new();
/// let noise = b.add("noise", noise);
/// let ctx = b.build()?.default_context();
/// assert!(ctx.eval(noise.y)?.iter().all(|x| (0.0..1.0).contains(x)));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomSource {
    distribution: RandomDistribution,
    size: usize,
    period: f64,
    seed: u64,
}

impl RandomSource {
    /// Creates a source of `size` samples every `period` (s), from a generator seeded with `seed`.
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(
        distribution: RandomDistribution,
        size: usize,
        period: f64,
        seed: u64,
    ) -> Result<Self> {
        check::positive_time("RandomSource", "period", period)?;
        Ok(Self {
            distribution,
            size,
            period,
            seed,
        })
    }
}

/// Ports of [`RandomSource`].
#[derive(Clone, Copy, Debug)]
pub struct RandomSourcePorts<T> {
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The current output samples.
    pub samples: DiscreteState<Vec<T>>,
    /// Generator of the following samples.
    pub generator: AbstractState<RandomGenerator>,
}

impl<T: Scalar> LeafSystem<T> for RandomSource {
    type Ports = RandomSourcePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let mut state = RandomGenerator::new(self.seed);
        let mut draw = || T::from(state.sample(self.distribution));
        let first: Vec<T> = (0..self.size).map(|_| draw()).collect();
        let samples = d.discrete_state(&first);
        let generator = d.abstract_state(state);
        d.unrestricted_update_on(Trigger::every(self.period), move |s, ctx, next| {
            let mut state = ctx.xa(generator).clone();
            for x in next.xd_mut(samples) {
                *x = T::from(state.sample(s.distribution));
            }
            *next.xa_mut(generator) = state;
            Ok(EventStatus::Succeeded)
        });
        let y = d.vector_output("output", self.size, samples, move |_, ctx, y| {
            y.copy_from_slice(ctx.xd(samples));
            Ok(())
        });
        RandomSourcePorts {
            y,
            samples,
            generator,
        }
    }
}
