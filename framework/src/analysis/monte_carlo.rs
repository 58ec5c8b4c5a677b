//! Monte Carlo simulation with random initial conditions, parameters or noise.

use crate::random::RandomGenerator;
use crate::{Context, Error, Result, Scalar, Simulator};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Configuration of [`monte_carlo_simulation`].
///
/// ```
/// use tarragon_framework::analysis::MonteCarloConfig;
/// let two_threads = MonteCarloConfig { num_threads: 2 };
/// assert_ne!(two_threads, MonteCarloConfig::default(), "that is one per core");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonteCarloConfig {
    /// Number of simultaneous simulations; 0 for one per core. It does not affect the results.
    pub num_threads: usize,
}

/// One sample of a Monte Carlo simulation (Drake's `RandomSimulationResult`).
///
/// ```
/// use tarragon_framework::analysis::{MonteCarloConfig, monte_carlo};
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
/// let draw = |random: &mut RandomGenerator| Ok(random.sample(RandomDistribution::Gaussian));
/// let results = monte_carlo(draw, 10, 1, &MonteCarloConfig::default())?;
/// assert_eq!(results[3].generator_snapshot, RandomGenerator::stream(1, 3));
/// assert_eq!(draw(&mut results[3].generator_snapshot.clone())?, results[3].output);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RandomSimulationResult<V> {
    /// Return value of the output function.
    pub output: V,
    /// The generator before the sample: a clone of it reproduces the sample with
    /// [`random_simulation`].
    pub generator_snapshot: RandomGenerator,
}

/// Runs one simulation with random numbers (Drake's `RandomSimulation`): makes a simulator,
/// advances it to `final_time` (s) and returns the output of its context.
///
/// `make_simulator` draws the random quantities: inputs, noise generators, and possibly state and
/// parameters. Then the systems that declare so draw theirs by
/// [`Declare::random_state`](crate::Declare) and [`Declare::random_parameters`](crate::Declare).
/// Nothing else may be random. A simulation that asks to stop earlier gives its output at that
/// time.
///
/// ```
/// use tarragon_framework::analysis::random_simulation;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::FirstOrderLowPassFilter;
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
/// let mut b = DiagramBuilder::new();
/// let filter = b.add("filter", FirstOrderLowPassFilter::new(1.0)?);
/// let diagram = b.build()?;
/// let make = |random: &mut RandomGenerator| {
///     let mut ctx = diagram.default_context();
///     ctx.fix(filter.u, random.sample(RandomDistribution::Gaussian))?;
///     Simulator::new(&diagram, ctx)
/// };
/// let output = |ctx: &Context<f64>| Ok(ctx.eval(filter.y)?[0]);
/// let y = random_simulation(make, output, 1.0, &mut RandomGenerator::new(1))?;
/// assert_eq!(y, random_simulation(make, output, 1.0, &mut RandomGenerator::new(1))?);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Returns any error of `make_simulator`, the simulation or `output`.
pub fn random_simulation<T: Scalar, V>(
    make_simulator: impl FnOnce(&mut RandomGenerator) -> Result<Simulator<T>>,
    output: impl FnOnce(&Context<T>) -> Result<V>,
    final_time: f64,
    generator: &mut RandomGenerator,
) -> Result<V> {
    let mut simulator = make_simulator(generator)?;
    simulator.context_mut().draw_declared(generator)?;
    simulator.advance_to(final_time)?;
    output(simulator.context())
}

/// Runs many simulations with random numbers in parallel (Drake's `MonteCarloSimulation`).
///
/// Sample i gets `RandomGenerator::stream(seed, i)`, so the results, in the order of the samples,
/// are the same bits on any number of threads. See [`random_simulation`] for the functions and the
/// time (s), and [`monte_carlo`] for samples that each build a diagram of their own.
///
/// ```
/// use tarragon_framework::analysis::*;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Integrator;
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
/// let mut b = DiagramBuilder::new();
/// let sum = b.add("sum", Integrator::new(1));
/// let diagram = b.build()?;
/// let make = |random: &mut RandomGenerator| {
///     let mut ctx = diagram.default_context();
///     ctx.fix(sum.u, random.sample(RandomDistribution::Uniform))?;
///     Simulator::new(&diagram, ctx)
/// };
/// let output = |ctx: &Context<f64>| Ok(ctx.eval(sum.y)?[0]);
/// let config = MonteCarloConfig::default();
/// let results = monte_carlo_simulation(make, output, 2.0, 100, 7, &config)?;
/// assert!(results.iter().all(|r| (0.0..2.0).contains(&r.output)));
/// // One sample again, alone.
/// let mut random = results[42].generator_snapshot.clone();
/// assert_eq!(random_simulation(make, output, 2.0, &mut random)?, results[42].output);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Returns the error of the first sample that fails or panics, with its number and how to reproduce
/// it. Also returns an error if threads cannot be started, or if the results of `num_samples` do
/// not fit in memory.
pub fn monte_carlo_simulation<T: Scalar, V: Send>(
    make_simulator: impl Fn(&mut RandomGenerator) -> Result<Simulator<T>> + Sync,
    output: impl Fn(&Context<T>) -> Result<V> + Sync,
    final_time: f64,
    num_samples: usize,
    seed: u64,
    config: &MonteCarloConfig,
) -> Result<Vec<RandomSimulationResult<V>>> {
    let sample = |random: &mut RandomGenerator| {
        random_simulation(&make_simulator, &output, final_time, random)
    };
    monte_carlo(sample, num_samples, seed, config)
}

/// Runs samples of any random function in the same way as [`monte_carlo_simulation`]. `sample` may
/// also build the diagram, so that its structure can be random.
///
/// ```
/// use tarragon_framework::analysis::{MonteCarloConfig, monte_carlo};
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
/// let in_circle = |random: &mut RandomGenerator| {
///     let mut x = || random.sample(RandomDistribution::Uniform);
///     Ok(x().hypot(x()) < 1.0)
/// };
/// let results = monte_carlo(in_circle, 10_000, 1, &MonteCarloConfig::default())?;
/// let inside = results.iter().filter(|r| r.output).count();
/// assert!((4.0 * inside as f64 / 1e4 - std::f64::consts::PI).abs() < 0.1);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Same as [`monte_carlo_simulation`].
pub fn monte_carlo<V: Send>(
    sample: impl Fn(&mut RandomGenerator) -> Result<V> + Sync,
    num_samples: usize,
    seed: u64,
    config: &MonteCarloConfig,
) -> Result<Vec<RandomSimulationResult<V>>> {
    let first_failure = AtomicUsize::new(usize::MAX);
    // `None`: not needed, because an earlier sample has failed.
    let run = |i: usize| -> Option<Result<RandomSimulationResult<V>>> {
        if i > first_failure.load(Ordering::Relaxed) {
            return None;
        }
        let generator_snapshot = RandomGenerator::stream(seed, i as u64);
        let mut random = generator_snapshot.clone();
        // Nothing that a panic may leave in an inconsistent state is used again.
        let output = catch_unwind(AssertUnwindSafe(|| sample(&mut random)))
            .unwrap_or_else(|panic| Err(Error::custom(panic_message(&*panic))));
        if output.is_err() {
            first_failure.fetch_min(i, Ordering::Relaxed);
        }
        Some(output.map(|output| RandomSimulationResult {
            output,
            generator_snapshot,
        }))
    };
    let mut samples = vec![];
    samples.try_reserve_exact(num_samples).map_err(|e| {
        Error::invalid(format!(
            "Monte Carlo: no memory for {num_samples} results; use fewer samples"
        ))
        .with_cause(e)
    })?;
    let all = (0..num_samples).into_par_iter().map(run);
    let threads = config.num_threads.min(num_samples);
    if threads == 0 {
        all.collect_into_vec(&mut samples);
    } else {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| {
            Error::invalid(format!(
                "Monte Carlo: {threads} threads cannot be started; use fewer"
            ))
            .with_cause(e)
        })?;
        pool.install(|| all.collect_into_vec(&mut samples));
    }
    // In order, the first failure comes before the first sample that was not needed.
    let made = samples.into_iter().flatten().enumerate();
    made.map(|(i, sample)| {
        sample.map_err(|e| {
            let place = format!(
                "Monte Carlo: sample {i} of {num_samples} with seed {seed} \
                 (RandomGenerator::stream({seed}, {i}) reproduces it)"
            );
            e.at(place)
        })
    })
    .collect()
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(|text| &**text));
    format!("panicked: {}", text.unwrap_or("no message"))
}
