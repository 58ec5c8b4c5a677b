//! Random numbers determined by a seed.

use rand_core::{Infallible, SeedableRng, TryRng};
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Distribution of a random number (Drake's `RandomDistribution`).
///
/// ```
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
/// let mut generator = RandomGenerator::new(1);
/// let waits = (0..10_000).map(|_| generator.sample(RandomDistribution::Exponential));
/// assert!((waits.sum::<f64>() / 10_000.0 - 1.0).abs() < 0.05);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RandomDistribution {
    /// Uniform in `[0, 1)`.
    Uniform,
    /// Gaussian with mean 0 and standard deviation 1.
    Gaussian,
    /// Exponential with mean 1.
    Exponential,
}

/// Random number generator: PCG64 (O'Neill: PCG: A Family of Simple Fast Space-Efficient
/// Statistically Good Algorithms for Random Number Generation, 2014), of period 2^128.
///
/// The same seed gives the same numbers on every machine. They differ from Drake's, which depend on
/// the C++ library. It implements the generator trait of the `rand` crates, so all their
/// distributions work with it.
///
/// ```
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
/// let mut a = RandomGenerator::new(7);
/// let mut b = a.clone();
/// assert_eq!(a.sample(RandomDistribution::Gaussian), b.sample(RandomDistribution::Gaussian));
/// // One generator per task, independent of the order and the threads in which they run.
/// assert_ne!(RandomGenerator::stream(7, 0), RandomGenerator::stream(7, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomGenerator(Pcg64);

impl RandomGenerator {
    /// Creates a generator that starts with `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// Creates generator number `index` of a family: a different sequence for each task, all from
    /// one seed.
    pub fn stream(seed: u64, index: u64) -> Self {
        Self::new(Self::new(seed).next().wrapping_add(index))
    }

    pub(crate) fn next(&mut self) -> u64 {
        let Ok(x) = self.0.try_next_u64();
        x
    }

    /// Returns the next number of the uniform distribution from `lower` to `upper`.
    ///
    /// ```
    /// use tarragon_framework::random::RandomGenerator;
    /// let mut random = RandomGenerator::new(1);
    /// let angles: Vec<f64> = (0..1000).map(|_| random.uniform(-2.0, 3.0)).collect();
    /// assert!(angles.iter().all(|angle| (-2.0..3.0).contains(angle)));
    /// assert!((angles.iter().sum::<f64>() / 1000.0 - 0.5).abs() < 0.2);
    /// ```
    pub fn uniform(&mut self, lower: f64, upper: f64) -> f64 {
        lower + (upper - lower) * self.sample(RandomDistribution::Uniform)
    }

    /// Returns the next sample of a distribution.
    pub fn sample(&mut self, distribution: RandomDistribution) -> f64 {
        match distribution {
            RandomDistribution::Uniform => StandardUniform.sample(self),
            RandomDistribution::Gaussian => StandardNormal.sample(self),
            RandomDistribution::Exponential => Exp1.sample(self),
        }
    }
}

impl TryRng for RandomGenerator {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(out)
    }
}
