//! Recomputation after changes: stale values are recomputed, others are kept.

use super::*;

#[test]
fn a_value_behind_a_stale_one_that_it_did_not_read_is_kept() {
    let mut b = DiagramBuilder::new();
    let (a, s) = (source(&mut b, "a"), switch(&mut b, "s"));
    wire(&mut b, &[&a, &s]);
    let mut ctx = b.build().unwrap().default_context();
    assert_eq!(value(&ctx, &s), -1.0);
    set(&mut ctx, &a, 2.0);
    assert_eq!(value(&ctx, &s), -1.0);
    assert_eq!(calls(&s), 1, "`a` was never computed, so nobody read it");
    set(&mut ctx, &s, 1.0);
    assert_eq!(value(&ctx, &s), 2.0);
    set(&mut ctx, &a, 3.0);
    assert_eq!(value(&ctx, &s), 3.0);
}

#[test]
fn a_stale_value_in_a_chain_does_not_hide_changes_from_later_readers() {
    let mut b = DiagramBuilder::new();
    let a = source(&mut b, "a");
    let (m, n) = (plus(&mut b, "m"), plus(&mut b, "n"));
    let s = switch(&mut b, "s");
    wire(&mut b, &[&a, &m, &n, &s]);
    let mut ctx = b.build().unwrap().default_context();
    set(&mut ctx, &s, 1.0);
    assert_eq!(value(&ctx, &s), 0.0);
    set(&mut ctx, &s, 0.0);
    set(&mut ctx, &a, 1.0);
    assert_eq!(value(&ctx, &s), -1.0);
    assert_eq!(value(&ctx, &m), 1.0, "now `m` is valid and `n` is stale");
    set(&mut ctx, &a, 2.0);
    set(&mut ctx, &s, 1.0);
    assert_eq!(value(&ctx, &s), 2.0);
    assert_eq!(value(&ctx, &n), 2.0);
}

#[test]
fn a_reader_that_swallowed_a_failure_sees_the_change_that_repairs_it() {
    let mut b = DiagramBuilder::new();
    let (a, r) = (source(&mut b, "a"), root(&mut b, "r"));
    let (s, last) = (swallow(&mut b, "s"), plus(&mut b, "last"));
    wire(&mut b, &[&a, &r, &s, &last]);
    let mut ctx = b.build().unwrap().default_context();
    for (a_is, expected) in [
        (-2.0, -1.0),
        (4.0, 4.0),
        (-3.0, -1.0),
        (-4.0, -1.0),
        (1.0, 1.0),
    ] {
        set(&mut ctx, &a, a_is);
        assert_eq!(value(&ctx, &last), expected);
        assert_eq!(ctx.eval(r.y).is_err(), a_is < 0.0);
        assert_eq!(value(&ctx, &last), expected, "after `r` was computed again");
    }
}

#[test]
fn a_swallowed_failure_at_the_end_of_a_chain_of_failures_is_repaired() {
    let mut b = DiagramBuilder::new();
    let (a, r) = (source(&mut b, "a"), root(&mut b, "r"));
    wire(&mut b, &[&a, &r]);
    // Long enough to be computed in order, each system passing the failure on.
    let chain: Vec<_> = (0..50).map(|i| plus(&mut b, &format!("c{i}"))).collect();
    let s = swallow(&mut b, "s");
    let tail: Vec<_> = (0..50).map(|i| plus(&mut b, &format!("t{i}"))).collect();
    let all: Vec<_> = [&r]
        .into_iter()
        .chain(&chain)
        .chain([&s])
        .chain(&tail)
        .collect();
    wire(&mut b, &all);
    let mut ctx = b.build().unwrap().default_context();
    for (a_is, expected) in [(-2.0, -1.0), (4.0, 4.0), (-3.0, -1.0), (1.0, 1.0)] {
        set(&mut ctx, &a, a_is);
        assert_eq!(value(&ctx, &tail[49]), expected);
    }
    assert_eq!(calls(&r), 4, "each failure is computed once");
}

#[test]
fn a_reader_that_swallowed_a_missing_input_notices_its_value() {
    let mut b = DiagramBuilder::new();
    let (a, s) = (plus(&mut b, "a"), swallow(&mut b, "s"));
    wire(&mut b, &[&a, &s]);
    let mut ctx = b.build().unwrap().default_context();
    assert_eq!(value(&ctx, &s), -1.0);
    ctx.fix(a.u[0], vec![5.0]).unwrap();
    assert_eq!(value(&ctx, &s), 5.0);
}

#[test]
fn a_failure_after_a_partial_result_leaves_no_trace() {
    let mut b = DiagramBuilder::new();
    let (a, r) = (source(&mut b, "a"), root(&mut b, "r"));
    wire(&mut b, &[&a, &r]);
    let mut ctx = b.build().unwrap().default_context();
    set(&mut ctx, &a, 4.0);
    assert_eq!(value(&ctx, &r), 4.0);
    set(&mut ctx, &a, -1.0);
    let error = ctx.eval(r.y).unwrap_err().to_string();
    assert_eq!(error, "computing 'r.y': negative");
    assert!(ctx.eval(r.y).is_err(), "not the value before");
}

#[test]
fn invalidate_all_makes_everything_stale() {
    let (d, g) = gains(3);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.eval(g[2].y).unwrap();
    ctx.invalidate_all();
    ctx.eval(g[2].y).unwrap();
    assert_eq!(ctx.cache_statistics().computations, 6);
}
