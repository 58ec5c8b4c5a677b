//! Caches that are off, verified or frozen, entries whose values are not kept, and statistics.

use super::*;

/// Builds `a -> d -> e -> s` with caching disabled for the middle ones.
fn disabled() -> (Context<f64>, [Block<System>; 4]) {
    let mut b = DiagramBuilder::new();
    let (a, d) = (source(&mut b, "a"), plus(&mut b, "d"));
    let (e, s) = (plus(&mut b, "e"), plus(&mut b, "s"));
    wire(&mut b, &[&a, &d, &e, &s]);
    let mut ctx = b.build().unwrap().default_context();
    ctx.disable_caching(d.y).unwrap();
    ctx.disable_caching(e.y).unwrap();
    (ctx, [a, d, e, s])
}

#[test]
fn changes_pass_through_values_that_are_not_kept() {
    let (mut ctx, [a, d, e, s]) = disabled();
    assert_eq!(value(&ctx, &s), 0.0);
    set(&mut ctx, &a, 1.0);
    assert_eq!(value(&ctx, &s), 1.0);
    set(&mut ctx, &d, 10.0);
    assert_eq!(value(&ctx, &s), 11.0);
    set(&mut ctx, &e, 100.0);
    assert_eq!(value(&ctx, &s), 111.0);
}

#[test]
fn values_that_are_not_kept_are_computed_for_each_reader() {
    let (mut ctx, [a, d, e, s]) = disabled();
    value(&ctx, &s);
    value(&ctx, &s);
    assert_eq!([&a, &d, &e, &s].map(calls), [1, 1, 1, 1], "`s` is kept");
    value(&ctx, &e);
    value(&ctx, &e);
    assert_eq!([&a, &d, &e, &s].map(calls), [1, 3, 3, 1]);
    ctx.enable_caching(e.y).unwrap();
    ctx.enable_caching(d.y).unwrap();
    let before = calls(&e);
    value(&ctx, &e);
    value(&ctx, &e);
    assert_eq!(calls(&e), before + 1, "kept again");
}

#[test]
fn changes_pass_through_failures_that_are_not_kept() {
    let mut b = DiagramBuilder::new();
    let (a, r, s) = (source(&mut b, "a"), root(&mut b, "r"), swallow(&mut b, "s"));
    wire(&mut b, &[&a, &r, &s]);
    let mut ctx = b.build().unwrap().default_context();
    ctx.disable_caching(r.y).unwrap();
    for (a_is, expected) in [(-2.0, -1.0), (4.0, 4.0), (-3.0, -1.0), (1.0, 1.0)] {
        set(&mut ctx, &a, a_is);
        assert_eq!(value(&ctx, &s), expected);
    }
}

#[test]
fn changes_with_an_uncached_value_cost_only_what_they_invalidate() {
    let n = 2000;
    let (d, g) = gains(n);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.disable_caching(g[n / 2].y).unwrap();
    ctx.eval(g[n - 1].y).unwrap();
    for g in &g {
        *ctx.param_mut(g.k).unwrap() = 1.0;
    }
    // Each change reaches its own value and the next one; the first change and the one in the
    // middle reach all values.
    let found = ctx.cache_statistics().notifications;
    assert!(found < 5 * n as u64, "{found}");
    assert_eq!(ctx.eval(g[n - 1].y).unwrap()[0], 1.0);
}

#[test]
fn verification_reports_the_cached_and_the_recomputed_value() {
    let outside = Arc::new(AtomicU64::new(3));
    let number = outside.clone();
    let mut b = DiagramBuilder::new();
    let a = add(&mut b, "a", move |_, _, _| {
        Ok(number.load(Ordering::Relaxed) as f64)
    });
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_cache_mode(CacheMode::Verify);
    assert_eq!(value(&ctx, &a), 3.0);
    outside.store(4, Ordering::Relaxed);
    assert_eq!(
        ctx.eval(a.y).unwrap_err().to_string(),
        "'a.y' is cached as [3.0] but now computes to [4.0]: it reads something that it does not \
         declare, or that is not in the context"
    );
    outside.store(3, Ordering::Relaxed);
    assert_eq!(value(&ctx, &a), 3.0, "the cached value is still there");
}

#[test]
fn verification_distinguishes_zeros_and_accepts_equal_nans() {
    let outside = Arc::new(AtomicBool::new(false));
    let flag = outside.clone();
    let mut b = DiagramBuilder::new();
    let nan = add(&mut b, "nan", |_, _, _| Ok(f64::NAN));
    let zero = add(&mut b, "zero", move |_, _, _| {
        Ok(if flag.load(Ordering::Relaxed) {
            -0.0
        } else {
            0.0
        })
    });
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_cache_mode(CacheMode::Verify);
    for _ in 0..3 {
        assert!(value(&ctx, &nan).is_nan());
        assert_eq!(value(&ctx, &zero), 0.0);
    }
    outside.store(true, Ordering::Relaxed);
    let message = ctx.eval(zero.y).unwrap_err().to_string();
    assert!(
        message.contains("cached as [0.0] but now computes to [-0.0]"),
        "{message}"
    );
}

#[test]
fn verification_computes_each_value_once_per_evaluation() {
    let mut b = DiagramBuilder::new();
    let a = source(&mut b, "a");
    let twice = add(&mut b, "twice", |ctx, u, _| {
        Ok(ctx.eval(u[0])?[0] + ctx.eval(u[1])?[0] + ctx.eval(u[0])?[0])
    });
    b.connect(a.y, twice.u[0]);
    b.connect(a.y, twice.u[1]);
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_cache_mode(CacheMode::Verify);
    value(&ctx, &twice);
    let before = [calls(&a), calls(&twice)];
    value(&ctx, &twice);
    assert_eq!([calls(&a), calls(&twice)], before.map(|n| n + 1));
}

#[test]
fn verification_refuses_chains_that_are_too_deep() {
    let (d, g) = gains(2000);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.set_cache_mode(CacheMode::Verify);
    assert!(ctx.eval(g[400].y).is_ok());
    let message = ctx.eval(g[1999].y).unwrap_err().to_string();
    assert!(message.contains("a chain of more than 500"), "{message}");
    assert!(message.contains("use `CacheMode::On`"), "{message}");
    ctx.set_cache_mode(CacheMode::On);
    assert_eq!(ctx.eval(g[1999].y).unwrap()[0], 1.0);
}

#[test]
fn a_refused_deep_chain_cannot_be_swallowed_as_a_failure() {
    let mut b = DiagramBuilder::new();
    let a = source(&mut b, "a");
    let chain: Vec<_> = (0..600).map(|i| plus(&mut b, &format!("c{i}"))).collect();
    let (s, last) = (swallow(&mut b, "s"), plus(&mut b, "last"));
    let all: Vec<_> = [&a].into_iter().chain(&chain).chain([&s, &last]).collect();
    wire(&mut b, &all);
    let mut ctx = b.build().unwrap().default_context();
    set(&mut ctx, &a, 3.0);
    let (fresh, mut disabled) = (ctx.clone(), ctx.clone());
    for c in &chain {
        disabled.disable_caching(c.y).unwrap();
    }
    assert_eq!(value(&ctx, &last), 3.0);
    let with = |mode| {
        let mut ctx = fresh.clone();
        ctx.set_cache_mode(mode);
        ctx
    };
    for mut ctx in [with(CacheMode::Off), with(CacheMode::Verify), disabled] {
        for _ in 0..2 {
            let message = ctx.eval(last.y).unwrap_err().to_string();
            assert!(message.contains("a chain of more than 500"), "{message}");
        }
        assert_eq!(value(&ctx, &chain[300]), 3.0);
        ctx.set_cache_mode(CacheMode::On);
        for c in &chain {
            ctx.enable_caching(c.y).unwrap();
        }
        assert_eq!(value(&ctx, &last), 3.0);
    }
}

#[test]
fn a_frozen_cache_returns_only_cached_values() {
    let mut b = DiagramBuilder::new();
    let (a, r, s) = (source(&mut b, "a"), root(&mut b, "r"), swallow(&mut b, "s"));
    wire(&mut b, &[&a, &r, &s]);
    let mut ctx = b.build().unwrap().default_context();
    set(&mut ctx, &a, 2.0);
    value(&ctx, &r);
    ctx.freeze_cache(true);
    assert_eq!(value(&ctx, &r), 2.0);
    let message = ctx.eval(s.y).unwrap_err().to_string();
    assert_eq!(message, "'s.y' is out of date and the cache is frozen");
    set(&mut ctx, &a, 3.0);
    assert!(ctx.eval(r.y).is_err(), "changes reach a frozen cache");
    assert!(ctx.clone().eval(r.y).is_err(), "a clone is frozen too");
    ctx.freeze_cache(false);
    assert_eq!(
        value(&ctx, &s),
        3.0,
        "not -1: the refusal was not swallowed"
    );
}

#[test]
fn a_frozen_cache_refuses_uncached_entries() {
    let (mut ctx, [_, d, _, s]) = disabled();
    assert_eq!(value(&ctx, &s), 0.0);
    ctx.freeze_cache(true);
    assert_eq!(value(&ctx, &s), 0.0);
    assert!(ctx.eval(d.y).is_err());
}

#[test]
fn statistics_count_changes_notifications_and_computations() {
    let of = |ctx: &Context<f64>| {
        let CacheStatistics {
            changes,
            notifications,
            computations,
            ..
        } = ctx.cache_statistics();
        [changes, notifications, computations]
    };
    let (d, g) = gains(3);
    let mut ctx = d.default_context();
    assert_eq!(of(&ctx), [0, 0, 0]);
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    assert_eq!(
        of(&ctx),
        [1, 1, 0],
        "the stale output of `g0` ends the search"
    );
    ctx.eval(g[2].y).unwrap();
    ctx.eval(g[2].y).unwrap();
    assert_eq!(of(&ctx), [1, 1, 3]);
    *ctx.param_mut(g[1].k).unwrap() = 2.0;
    assert_eq!(of(&ctx), [2, 3, 3], "`g1` and `g2` are out of date");
    *ctx.param_mut(g[1].k).unwrap() = 3.0;
    assert_eq!(of(&ctx), [3, 4, 3], "`g1` is stale and ends the search");
    ctx.set_time(1.0);
    assert_eq!(of(&ctx), [4, 4, 3], "nobody reads the time");
    ctx.set_time(1.0);
    assert_eq!(of(&ctx), [4, 4, 3], "setting the same time changes nothing");
    ctx.eval(g[2].y).unwrap();
    assert_eq!(of(&ctx), [4, 4, 5]);
}

#[test]
fn statistics_of_a_clone_start_at_zero() {
    let (d, g) = gains(3);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.eval(g[2].y).unwrap();
    let mut fork = ctx.clone();
    assert_eq!(fork.cache_statistics(), CacheStatistics::default());
    *fork.param_mut(g[2].k).unwrap() = 2.0;
    fork.eval(g[2].y).unwrap();
    assert_eq!(fork.cache_statistics().computations, 1);
    assert_eq!(ctx.cache_statistics().computations, 3);
}

#[test]
fn references_stay_valid_while_more_is_computed() {
    for mode in [CacheMode::On, CacheMode::Off, CacheMode::Verify] {
        let (d, g) = gains(100);
        let mut ctx = d.default_context();
        ctx.fix(g[0].u, vec![1.5]).unwrap();
        ctx.set_cache_mode(mode);
        let values: Vec<&Vec<f64>> = (0..300).map(|i| ctx.eval(g[i % 100].y).unwrap()).collect();
        let (last, first) = (ctx.eval(g[99].y).unwrap(), values[0]);
        assert_eq!((last, first), (&vec![1.5], &vec![1.5]), "{mode:?}");
        assert!(values.iter().all(|v| **v == [1.5]), "{mode:?}");
    }
}

#[test]
fn a_deep_chain_with_uncached_values_does_not_overflow_the_stack() {
    let n = 20_000;
    let (d, g) = gains(n);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    for i in (0..n).step_by(500) {
        ctx.disable_caching(g[i].y).unwrap();
    }
    assert_eq!(ctx.eval(g[n - 1].y).unwrap()[0], 1.0);
    *ctx.param_mut(g[7].k).unwrap() = 2.0;
    assert_eq!(ctx.eval(g[n - 1].y).unwrap()[0], 2.0);
}
