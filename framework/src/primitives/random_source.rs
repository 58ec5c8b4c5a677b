//! Noise.

use super::check;
use crate::Result;
use crate::prelude::*;

/// How the samples of a [`RandomSource`] are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RandomDistribution {
    /// Uniform from 0 on and below 1.
    Uniform,
    /// Gaussian with mean 0 and standard deviation 1.
    Gaussian,
    /// Exponential with mean 1.
    Exponential,
}

/// Outputs independent random numbers, new ones every period (Drake's `RandomSource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `output` | vector of `size` |
///
/// The seed determines all samples; the generator is state, so a copy of a context continues with
/// the same samples. They differ from Drake's, which depend on the C++ library. The samples carry no
/// derivatives.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{RandomDistribution, RandomSource};
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
    /// `size` samples every `period` (s), from a generator that starts with `seed`.
    ///
    /// # Errors
    /// If the period is not positive.
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

/// The state of a random number generator: `SplitMix64` (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, OOPSLA 2014), of period 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomState(u64);

impl RandomState {
    /// A generator that starts with `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 on and below 1, a multiple of 2^-53.
    fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (0.5 / (1_u64 << 52) as f64)
    }

    /// The next sample of a distribution.
    pub fn sample(&mut self, distribution: RandomDistribution) -> f64 {
        match distribution {
            RandomDistribution::Uniform => self.uniform(),
            // Box, Muller: A note on the generation of random normal deviates, 1958.
            RandomDistribution::Gaussian => {
                let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
                radius * (std::f64::consts::TAU * self.uniform()).cos()
            }
            // By inversion of the distribution function.
            RandomDistribution::Exponential => -(1.0 - self.uniform()).ln(),
        }
    }
}

/// Ports of [`RandomSource`].
#[derive(Clone, Copy, Debug)]
pub struct RandomSourcePorts<T> {
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The samples that are put out.
    pub samples: DiscreteState<Vec<T>>,
    /// The generator of the next ones.
    pub generator: AbstractState<RandomState>,
}

impl<T: Scalar> LeafSystem<T> for RandomSource {
    type Ports = RandomSourcePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let mut state = RandomState::new(self.seed);
        let mut draw = || T::from(state.sample(self.distribution));
        let first: Vec<T> = (0..self.size).map(|_| draw()).collect();
        let samples = d.discrete_state(&first);
        let generator = d.abstract_state(state);
        d.unrestricted_update_on(Trigger::every(self.period), move |s, ctx, next| {
            let mut state = *ctx.xa(generator);
            for x in next.xd_mut(samples) {
                *x = T::from(state.sample(s.distribution));
            }
            *next.xa_mut(generator) = state;
            Ok(EventStatus::Succeeded)
        });
        let y = d.vector_output("output", self.size, &[samples.into()], move |_, ctx, y| {
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
