//! Noise.

use super::check;
use crate::Result;
use crate::prelude::*;
use crate::random::{RandomDistribution, RandomGenerator};
use std::sync::atomic::{AtomicU64, Ordering};

/// Source of independent random numbers, drawn anew every period (Drake's `RandomSource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `output` | vector of `size` |
///
/// Each source has a seed of its own, so two sources differ, and so do a source and its clone. The
/// seeds follow the order in which a program creates its sources; [`Self::with_fixed_seed`] gives
/// the same samples wherever it is called. [`Context::set_random_state`] and Monte Carlo
/// simulations draw a new seed unless it is fixed, as in Drake.
///
/// The generator is state, so a copy of a context continues with the same samples. They differ from
/// Drake's, which depend on the C++ library, and carry no derivatives.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::RandomSource;
/// use tarragon_framework::random::RandomDistribution;
///
/// let noise = RandomSource::new(3, 0.1, RandomDistribution::Uniform)?.with_fixed_seed(42);
/// let mut b = DiagramBuilder::new();
/// let noise = b.add("noise", noise);
/// let ctx = b.build()?.default_context();
/// assert!(ctx.eval(noise.y)?.iter().all(|x| (0.0..1.0).contains(x)));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Debug)]
pub struct RandomSource {
    distribution: RandomDistribution,
    size: usize,
    period: f64,
    own_seed: u64,
    fixed_seed: Option<u64>,
}

/// Returns a seed that no other source of this process has.
fn new_seed() -> u64 {
    // Far from the small numbers that users choose.
    static NEXT: AtomicU64 = AtomicU64::new(0x5eed << 48);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl RandomSource {
    /// Creates a source that draws `size` samples from `distribution` every `period` (s).
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(size: usize, period: f64, distribution: RandomDistribution) -> Result<Self> {
        check::positive_time("RandomSource", "period", period)?;
        Ok(Self {
            size,
            period,
            distribution,
            own_seed: new_seed(),
            fixed_seed: None,
        })
    }

    /// Fixes the seed, which then determines all samples (Drake's `set_fixed_seed`).
    #[must_use]
    pub fn with_fixed_seed(self, seed: u64) -> Self {
        Self {
            fixed_seed: Some(seed),
            ..self
        }
    }

    /// Draws the first samples from a new generator, which it returns.
    fn start<T: Scalar>(&self, seed: u64, samples: &mut [T]) -> RandomGenerator {
        let mut generator = RandomGenerator::new(seed);
        self.draw(&mut generator, samples);
        generator
    }

    fn draw<T: Scalar>(&self, generator: &mut RandomGenerator, samples: &mut [T]) {
        for x in samples {
            *x = T::from(generator.sample(self.distribution));
        }
    }
}

/// A clone has a seed of its own, unless that is fixed.
impl Clone for RandomSource {
    fn clone(&self) -> Self {
        Self {
            own_seed: new_seed(),
            ..*self
        }
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
        let mut first = vec![T::zero(); self.size];
        let state = self.start(self.fixed_seed.unwrap_or(self.own_seed), &mut first);
        let samples = d.discrete_state(&first);
        let generator = d.abstract_state(state);
        d.random_state(move |s, _, random, next| {
            let seed = s.fixed_seed.unwrap_or_else(|| random.next());
            let state = s.start(seed, next.xd_mut(samples));
            *next.xa_mut(generator) = state;
            Ok(())
        });
        d.unrestricted_update_on(Trigger::every(self.period), move |s, ctx, next| {
            let mut state = ctx.xa(generator).clone();
            s.draw(&mut state, next.xd_mut(samples));
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
