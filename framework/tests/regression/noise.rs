//! Noise of random sources, sample by sample, by the rules of Drake's `RandomSource`.

use tarragon_framework::analysis::{MonteCarloConfig, monte_carlo_simulation};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::RandomSource;
use tarragon_framework::random::{RandomDistribution, RandomGenerator};

fn source() -> RandomSource {
    RandomSource::new(1, 0.1, RandomDistribution::Uniform).unwrap()
}

/// Returns the last noise of each sample of a Monte Carlo simulation of 0.35 s.
fn samples(source: RandomSource, num_threads: usize) -> Vec<f64> {
    let mut b = DiagramBuilder::new();
    let noise = b.add_f64("noise", source);
    let diagram = b.build().unwrap();
    let make = |_: &mut RandomGenerator| Simulator::new(&diagram, diagram.default_context());
    let output = |ctx: &Context<f64>| Ok(ctx.eval(noise.y)?[0]);
    let config = MonteCarloConfig { num_threads };
    let results = monte_carlo_simulation(make, output, 0.35, 20, 3, &config).unwrap();
    results.iter().map(|result| result.output).collect()
}

/// All samples had the same noise, because the seed was fixed.
#[test]
fn samples_of_a_monte_carlo_simulation_have_noise_of_their_own() {
    let mut found = samples(source(), 1);
    // The seed of the simulation determines it, not the source.
    assert_eq!(found, samples(source(), 4));
    found.sort_by(f64::total_cmp);
    found.dedup();
    assert_eq!(found.len(), 20, "{found:?}");

    let mut fixed = samples(source().with_fixed_seed(5), 2);
    fixed.dedup();
    assert_eq!(fixed.len(), 1, "{fixed:?}");
}

/// Without a fixed seed, each instance has its own, and a context starts with it.
#[test]
fn random_sources_differ_unless_their_seed_is_fixed() {
    let first = |source: RandomSource| {
        let mut b = DiagramBuilder::new();
        let noise = b.add_f64("noise", source);
        let diagram = b.build().unwrap();
        let start = || diagram.default_context().eval(noise.y).unwrap()[0];
        assert_eq!(start(), start());
        start()
    };
    let one = source();
    assert_ne!(first(one.clone()), first(one));
    let fixed = source().with_fixed_seed(5);
    assert_eq!(first(fixed.clone()), first(fixed));
}
