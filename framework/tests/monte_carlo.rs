//! Monte Carlo simulations: equal on any number of threads, with the distribution of the closed
//! form.

use nalgebra::dmatrix;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tarragon_framework::analysis::{
    MonteCarloConfig, RandomSimulationResult, monte_carlo, monte_carlo_simulation,
    random_simulation,
};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{AffineSystemPorts, LinearSystem, RandomSource};
use tarragon_framework::random::{RandomDistribution, RandomGenerator};
use tarragon_framework::{Error, Result};

const STEP: f64 = 0.1;
const DECAY: f64 = 0.9;
const NOISE: f64 = 0.5;

/// Ornstein-Uhlenbeck process at multiples of its step: x+ = DECAY x + NOISE w, with w Gaussian.
struct Process {
    diagram: Diagram<f64>,
    filter: AffineSystemPorts<f64>,
}

impl Process {
    fn new() -> Self {
        let mut b = DiagramBuilder::new();
        let noise = RandomSource::new(1, STEP, RandomDistribution::Gaussian).unwrap();
        let noise = b.add("noise", noise);
        let (a, c) = (dmatrix![DECAY], dmatrix![1.0]);
        let filter = LinearSystem::new(a, dmatrix![NOISE], c, dmatrix![0.0])
            .and_then(|s| s.with_period(STEP))
            .unwrap();
        let filter = b.add("filter", filter);
        b.connect(noise.y, filter.u);
        Self {
            diagram: b.build().unwrap(),
            filter: *filter.ports(),
        }
    }

    /// Returns a simulator. The noise draws its seed afterwards.
    fn simulator(&self) -> Result<Simulator<f64>> {
        Simulator::new(&self.diagram, self.diagram.default_context())
    }

    fn run(&self, end: f64, samples: usize, threads: usize) -> Vec<RandomSimulationResult<f64>> {
        let config = MonteCarloConfig {
            num_threads: threads,
        };
        let output = |ctx: &Context<f64>| Ok(ctx.eval(self.filter.y)?[0]);
        let make = |_: &mut RandomGenerator| self.simulator();
        monte_carlo_simulation(make, output, end, samples, 5, &config).unwrap()
    }
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let process = Process::new();
    let alone = process.run(2.0, 40, 1);
    let bits = |results: &[RandomSimulationResult<f64>]| -> Vec<u64> {
        results.iter().map(|r| r.output.to_bits()).collect()
    };
    for threads in [2, 3, 8, 0, 1000] {
        let results = process.run(2.0, 40, threads);
        assert_eq!(bits(&results), bits(&alone), "{threads} threads");
        assert_eq!(results, alone);
    }
    assert_eq!(
        bits(&process.run(2.0, 7, 3)),
        bits(&alone)[..7],
        "fewer samples"
    );
}

#[test]
fn one_sample_can_be_reproduced_alone() {
    let process = Process::new();
    let results = process.run(2.0, 20, 4);
    let output = |ctx: &Context<f64>| Ok(ctx.eval(process.filter.y)?[0]);
    for (i, result) in results.iter().enumerate() {
        assert_eq!(
            result.generator_snapshot,
            RandomGenerator::stream(5, i as u64)
        );
        let mut random = result.generator_snapshot.clone();
        let make = |_: &mut RandomGenerator| process.simulator();
        let again = random_simulation(make, output, 2.0, &mut random).unwrap();
        assert_eq!(again.to_bits(), result.output.to_bits());
        assert_ne!(
            random, result.generator_snapshot,
            "the caller's generator moves on"
        );
    }
}

#[test]
fn a_random_walk_has_the_mean_and_the_variance_of_its_closed_form() {
    // After n steps from zero: mean 0, variance NOISE^2 (1 - DECAY^2n) / (1 - DECAY^2), Gaussian.
    // To leading order, the estimates from N samples have the standard deviations sqrt(variance /
    // N) and variance sqrt(2 / N). Each estimate stays within four of them for all but 1 of 16,000
    // seeds.
    const SAMPLES: usize = 10_000;
    let process = Process::new();
    for steps in [1, 10, 30] {
        let results = process.run(f64::from(steps) * STEP, SAMPLES, 0);
        let n = SAMPLES as f64;
        let mean = results.iter().map(|r| r.output).sum::<f64>() / n;
        let squares = results.iter().map(|r| (r.output - mean).powi(2));
        let variance = squares.sum::<f64>() / (n - 1.0);
        let expected = NOISE.powi(2) * (1.0 - DECAY.powi(2 * steps)) / (1.0 - DECAY.powi(2));
        assert!(
            mean.abs() < 4.0 * (expected / n).sqrt(),
            "mean {mean} after {steps} steps"
        );
        let off = (variance / expected - 1.0).abs();
        assert!(
            off < 4.0 * (2.0 / n).sqrt(),
            "variance {variance}, not {expected}"
        );
    }
}

/// Fails or panics at some samples, the later ones first.
fn failing(bad: impl Fn(usize) -> bool + Sync, threads: usize, panics: bool) -> (String, usize) {
    let calls = AtomicUsize::new(0);
    let index = |random: &RandomGenerator| {
        (0..64)
            .find(|i| *random == RandomGenerator::stream(3, *i as u64))
            .unwrap()
    };
    let sample = |random: &mut RandomGenerator| {
        calls.fetch_add(1, Ordering::Relaxed);
        let i = index(random);
        std::thread::sleep(Duration::from_micros(2000 - 30 * i as u64));
        match (bad(i), panics) {
            (false, _) => Ok(i),
            (true, false) => Err(Error::custom(format!("{i} is bad"))),
            (true, true) => panic!("{i} is very bad"),
        }
    };
    let config = MonteCarloConfig {
        num_threads: threads,
    };
    let error = monte_carlo(sample, 64, 3, &config).unwrap_err().to_string();
    (error, calls.into_inner())
}

#[test]
fn the_first_failing_sample_is_named() {
    for threads in [1, 2, 8] {
        for panics in [false, true] {
            let (message, _) = failing(|i| [11, 12, 40, 63].contains(&i), threads, panics);
            let reason = if panics {
                "panicked: 11 is very bad"
            } else {
                "11 is bad"
            };
            assert_eq!(
                message,
                format!(
                    "Monte Carlo: sample 11 of 64 with seed 3 (RandomGenerator::stream(3, 11) \
                     reproduces it): {reason}"
                ),
                "{threads} threads"
            );
        }
    }
    let (message, calls) = failing(|_| true, 1, false);
    assert!(
        message.contains("sample 0 of 64") && calls == 1,
        "{calls} samples were run"
    );
}

#[test]
fn errors_of_each_part_are_passed_on() {
    let process = Process::new();
    let make = |_: &mut RandomGenerator| process.simulator();
    let output = |ctx: &Context<f64>| Ok(ctx.time());
    let config = MonteCarloConfig::default();
    let run = |end| monte_carlo_simulation(make, output, end, 3, 0, &config);
    let message = run(-1.0).unwrap_err().to_string();
    assert!(
        message.contains("sample 0 of 3") && message.contains("-1.0 s"),
        "{message}"
    );
    let bad_output = |_: &Context<f64>| Err::<f64, _>(Error::custom("no output"));
    let message = monte_carlo_simulation(make, bad_output, 1.0, 3, 0, &config).unwrap_err();
    assert!(message.to_string().ends_with("no output"), "{message}");
    let bad_make =
        |_: &mut RandomGenerator| Err::<Simulator<f64>, _>(Error::custom("no simulator"));
    let message = monte_carlo_simulation(bad_make, output, 1.0, 3, 0, &config).unwrap_err();
    assert!(message.to_string().ends_with("no simulator"), "{message}");
    assert_eq!(run(0.5).unwrap()[2].output, 0.5, "and all works as before");
}

#[test]
fn none_or_too_many_samples() {
    let process = Process::new();
    for threads in [0, 1, 4] {
        assert_eq!(process.run(1.0, 0, threads), []);
    }
    let many = monte_carlo(|_| Ok(1.0), usize::MAX, 0, &MonteCarloConfig::default());
    let message = many.unwrap_err().to_string();
    assert!(message.contains("memory"), "{message}");
}

#[test]
fn outputs_of_any_type_and_random_structures() {
    let sample = |random: &mut RandomGenerator| {
        let mut b = DiagramBuilder::new();
        let size = 1 + (3.0 * random.sample(RandomDistribution::Uniform)) as usize;
        let noise = RandomSource::new(size, 1.0, RandomDistribution::Gaussian)?.with_fixed_seed(9);
        let noise = b.add("noise", noise);
        let ctx = b.build()?.default_context();
        Ok(ctx.eval(noise.y)?.clone())
    };
    let results = monte_carlo(sample, 50, 2, &MonteCarloConfig::default()).unwrap();
    for size in 1..=3 {
        assert!(
            results.iter().any(|r| r.output.len() == size),
            "none of size {size}"
        );
    }
}

#[test]
fn declared_random_state_is_drawn_and_the_rest_is_kept() {
    /// Starts at random if its flag is set, and stays there.
    struct Start(bool);
    impl<T: Scalar> LeafSystem<T> for Start {
        type Ports = DiscreteState<Vec<T>>;
        fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
            let x = d.discrete_state(&[T::zero()]);
            if self.0 {
                d.random_state(move |_, _, random, next| {
                    next.xd_mut(x)[0] = T::from(random.sample(RandomDistribution::Uniform));
                    Ok(())
                });
            }
            x
        }
    }
    let mut b = DiagramBuilder::new();
    let (random, fixed) = (b.add("random", Start(true)), b.add("fixed", Start(false)));
    let diagram = b.build().unwrap();
    let make = |_: &mut RandomGenerator| {
        let mut ctx = diagram.default_context();
        ctx.xd_mut(*fixed.ports())?[0] = 7.0;
        Simulator::new(&diagram, ctx)
    };
    let output = |ctx: &Context<f64>| Ok((ctx.xd(*random.ports())?[0], ctx.xd(*fixed.ports())?[0]));
    let config = MonteCarloConfig::default();
    let results = monte_carlo_simulation(make, output, 1.0, 20, 3, &config).unwrap();
    let different: std::collections::BTreeSet<u64> =
        results.iter().map(|r| r.output.0.to_bits()).collect();
    assert_eq!(different.len(), 20);
    assert!(results.iter().all(|r| r.output.1 == 7.0));
}
