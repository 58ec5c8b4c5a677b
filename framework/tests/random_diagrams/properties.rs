//! The guarantees as property tests.

use super::diagrams::*;
use super::*;

/// `PROPTEST_CASES` overrides the number of cases, for builds with a sanitizer.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let overridden = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if overridden { default.cases } else { cases },
        failure_persistence: None,
        ..default
    }
}

/// Reads a number that is not in any context, without declaring it.
struct Liar(Arc<AtomicU64>);
impl LeafSystem<f64> for Liar {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.vector_output("y", 1, Dep::Nothing, |s, _, y| {
            y[0] = s.0.load(Ordering::Relaxed) as f64;
            Ok(())
        })
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn values_do_not_depend_on_what_is_cached(
        specs in prop::collection::vec(spec(), 1..40),
        changes in prop::collection::vec(change(), 0..60),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        for change in changes {
            apply(&built, &mut ctx, change);
        }
        // Cloned before the context itself has computed anything.
        let mut uncached = ctx.clone();
        uncached.set_cache_mode(CacheMode::Off);
        let (fresh, cold) = (built.copy(&ctx), ctx.clone());
        let found = built.outputs(&ctx);
        prop_assert_eq!(&found, &built.outputs(&uncached), "without caching");
        prop_assert_eq!(&found, &built.outputs(&fresh), "copied");
        let mut backwards: Vec<Found> = (0..specs.len()).rev().map(|i| built.output(&cold, i)).collect();
        backwards.reverse();
        prop_assert_eq!(&found, &backwards, "computed in another order");
        let mut verified = ctx.clone();
        verified.set_cache_mode(CacheMode::Verify);
        prop_assert_eq!(&found, &built.outputs(&verified), "computed for verification");
        prop_assert_eq!(&found, &built.outputs(&verified), "verified");
    }

    #[test]
    fn verification_finds_nothing_while_values_change(
        specs in prop::collection::vec(spec(), 1..20),
        changes in prop::collection::vec(change(), 0..40),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        ctx.set_cache_mode(CacheMode::Verify);
        for change in changes {
            apply(&built, &mut ctx, change);
            for found in built.outputs(&ctx) {
                let complaint = found.is_err_and(|e| e.contains("is cached as"));
                prop_assert!(!complaint);
            }
        }
    }

    #[test]
    fn verification_finds_reads_outside_of_the_context(
        specs in prop::collection::vec(spec(), 1..10),
        behind in 0..30_usize,
        disabled in 0..30_usize,
    ) {
        let number = Arc::new(AtomicU64::new(1));
        let mut b = DiagramBuilder::new();
        for (i, spec) in specs.iter().enumerate() {
            b.add(&format!("other{i}"), System { kind: spec.kind, timing: TIMINGS[spec.timing] });
        }
        let mut last = *b.add_f64("liar", Liar(number.clone())).ports();
        let mut ports = vec![];
        for i in 0..behind {
            let gain = b.add(&format!("gain{i}"), Gain::new(1, 1.0));
            b.connect(last, gain.u);
            last = gain.y;
            ports.push(last);
        }
        let mut ctx = b.build().unwrap().default_context();
        if let Some(port) = ports.get(disabled) {
            ctx.disable_caching(*port).unwrap();
        }
        ctx.set_cache_mode(CacheMode::Verify);
        prop_assert_eq!(ctx.eval(last).unwrap()[0], 1.0);
        prop_assert_eq!(ctx.eval(last).unwrap()[0], 1.0, "nothing has changed");
        number.store(2, Ordering::Relaxed);
        let message = ctx.eval(last).unwrap_err().to_string();
        let expected = "'liar.y' is cached as [1.0] but now computes to [2.0]";
        prop_assert!(message.contains(expected), "{}", message);
    }

    #[test]
    fn dual_numbers_compute_the_same_values(
        specs in prop::collection::vec(spec(), 1..40),
        changes in prop::collection::vec(change(), 0..20),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        for change in changes {
            apply(&built, &mut ctx, change);
        }
        let dual = built.diagram.to_scalar::<AutoDiff>().unwrap();
        let mut dual_ctx = dual.default_context();
        dual_ctx.set_time_state_and_parameters_from(&ctx).unwrap();
        dual_ctx.fix_inputs_from(&ctx).unwrap();
        for (block, expected) in built.blocks.iter().zip(built.outputs(&ctx)) {
            let y = dual_ctx.eval(dual.ports(block).unwrap().y);
            let found: Found = y
                .map(|y| y.iter().map(|y| y.re.to_bits()).collect())
                .map_err(|e| e.to_string());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn derivatives_equal_differences(
        specs in prop::collection::vec(spec(), 1..40),
        which in 0..1000_usize,
    ) {
        let built = build(&specs);
        prop_assume!(!built.fixed.is_empty());
        let (i, k, value) = built.fixed[which % built.fixed.len()];
        let dual = built.diagram.to_scalar::<AutoDiff>().unwrap();
        let mut dual_ctx = dual.default_context();
        dual_ctx.fix_inputs_from(&built.context()).unwrap();
        let seed = vec![AutoDiff::variable(value[0], 0), AutoDiff::variable(value[1], 1)];
        dual_ctx.fix(dual.ports(&built.blocks[i]).unwrap().u[k], seed).unwrap();
        for direction in 0..2 {
            let at = |h: f64| -> Vec<Option<[f64; 2]>> {
                let mut ctx = built.context();
                ctx.fixed_mut(built.blocks[i].u[k]).unwrap()[direction] += h;
                let outputs = built.blocks.iter().map(|b| ctx.eval(b.y).ok().map(|y| [y[0], y[1]]));
                outputs.collect()
            };
            let h = 1e-4;
            let [a, b, c, d] = [at(-h), at(h), at(-h / 2.0), at(h / 2.0)];
            for (j, block) in built.blocks.iter().enumerate() {
                let y = dual_ctx.eval(dual.ports(block).unwrap().y);
                prop_assert_eq!(y.is_ok(), a[j].is_some());
                let (Ok(y), Some(a), Some(b), Some(c), Some(d)) = (y, a[j], b[j], c[j], d[j]) else {
                    continue;
                };
                for e in 0..2 {
                    let (wide, narrow) = ((b[e] - a[e]) / (2.0 * h), (d[e] - c[e]) / h);
                    // The error of `narrow` is a third of the difference plus terms of higher
                    // order; rounding of numbers below 2 is divided by h.
                    let tolerance = (wide - narrow).abs() + 1e-10;
                    let error = (y[e].eps[direction] - narrow).abs();
                    prop_assert!(error <= tolerance, "{} {:e} {:e}", y[e].eps[direction], error, tolerance);
                }
            }
        }
    }

    #[test]
    fn only_values_downstream_of_a_change_are_recomputed(
        specs in prop::collection::vec(spec(), 1..40),
        changes in prop::collection::vec(change(), 0..40),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        let serials = |ctx: &Context<f64>| -> Vec<u64> {
            built.blocks.iter().map(|b| ctx.serial(b.y).unwrap()).collect()
        };
        for change in changes {
            if matches!(change, Change::Disable(..) | Change::DisableEntry(..)) {
                continue;
            }
            built.outputs(&ctx);
            let before = serials(&ctx);
            let downstream = apply(&built, &mut ctx, change).map(|first| built.downstream(first));
            built.outputs(&ctx);
            built.outputs(&ctx);
            for (i, (before, after)) in before.iter().zip(serials(&ctx)).enumerate() {
                prop_assert!(after >= *before);
                if let Some(downstream) = &downstream {
                    let most = before + u64::from(downstream[i]);
                    prop_assert!(after <= most, "system {} after {:?}", i, change);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn simulations_repeat_to_the_bit(specs in prop::collection::vec(spec(), 1..20)) {
        let built = build(&specs);
        let expected = simulate(&built, CacheMode::On);
        prop_assert_eq!(simulate(&built, CacheMode::On), expected, "again");
        prop_assert_eq!(simulate(&built, CacheMode::Off), expected, "without caching");
        let others: Vec<u64> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..2).map(|_| s.spawn(|| simulate(&built, CacheMode::On))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        prop_assert_eq!(others, [expected, expected], "on threads");
    }
}
