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

/// Outputs whose dependencies are written in every form. They read nothing, so debug builds have
/// nothing to check.
struct Forms;
impl<T: Scalar> LeafSystem<T> for Forms {
    type Ports = FormsPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let (p, q, x) = (d.param(0.0), d.param(0.0), d.discrete_state(&[T::zero()]));
        let xc = d.continuous_state((0, 0, 1), &[T::zero()], Dep::Nothing, |_, _, _| Ok(()));
        let mut count = 0;
        let mut y = |sources: &'static str, deps: &dyn Dependencies| {
            count += 1;
            let name = format!("y{count}");
            (sources, d.output(&name, (), deps, |_, _, ()| Ok(())))
        };
        let no_handles: [Param<f64>; 0] = [];
        let outputs = vec![
            y("", &Dep::Nothing),
            y("", &Vec::<Dep>::new()),
            y("", &no_handles),
            y("", &None::<Dep>),
            y("tpqxc", &Dep::AllSources),
            y("p", &p),
            y("pq", &(p, q)),
            y("pq", &[p, q]),
            y("pq", &&[p, q][..]),
            y("pq", &vec![Dep::from(p), q.into()]),
            y("tqx", &((Dep::Time, x), Some(q))),
            y("c", &xc),
            y("tpq", &(Dep::Time, [p, p], None::<Dep>, q)),
        ];
        FormsPorts {
            p,
            q,
            x,
            xc,
            outputs,
        }
    }
}
#[derive(Clone)]
struct FormsPorts<T> {
    p: Param<f64>,
    q: Param<f64>,
    x: DiscreteState<Vec<T>>,
    xc: ContinuousState<Vec<T>>,
    /// Initials of the sources that make the output stale, and the output.
    outputs: Vec<(&'static str, OutputPort<()>)>,
}

#[test]
fn lists_of_dependencies_mean_what_they_name_in_every_form() {
    let mut b = DiagramBuilder::new();
    let forms = b.add("forms", Forms);
    let mut ctx = b.build().unwrap().default_context();
    let serials = |ctx: &Context<f64>| -> Vec<u64> {
        let of = |y| ctx.eval(y).and_then(|()| ctx.serial(y)).unwrap();
        forms.outputs.iter().map(|(_, y)| of(*y)).collect()
    };
    for source in ['t', 'p', 'q', 'x', 'c'] {
        let before = serials(&ctx);
        match source {
            't' => ctx.set_time(1.0),
            'p' => *ctx.param_mut(forms.p).unwrap() = 1.0,
            'q' => *ctx.param_mut(forms.q).unwrap() = 1.0,
            'x' => ctx.xd_mut(forms.x).unwrap()[0] = 1.0,
            _ => ctx.xc_mut(forms.xc).unwrap()[0] = 1.0,
        }
        let after = serials(&ctx);
        for (i, (sources, _)) in forms.outputs.iter().enumerate() {
            let computed = after[i] != before[i];
            assert_eq!(
                computed,
                sources.contains(source),
                "form {i}, change of {source}"
            );
        }
    }
}

#[test]
fn a_change_of_derivatives_alone_is_a_change() {
    struct Clock;
    impl<T: Scalar> LeafSystem<T> for Clock {
        type Ports = OutputPort<T>;
        fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
            d.output("time", T::zero(), Dep::Time, |_, ctx, time| {
                *time = ctx.time();
                Ok(())
            })
        }
    }
    let mut b = DiagramBuilder::new();
    let clock = b.add("clock", Clock);
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let (time, mut ctx) = (diagram.ports(&clock).unwrap(), diagram.default_context());
    let (constant, variable) = (AutoDiff::constant(1.0), AutoDiff::variable(1.0, 0));
    for (set, computations) in [(constant, 1), (variable, 2), (variable, 2), (constant, 3)] {
        ctx.set_time(set);
        assert!(ctx.eval(time).unwrap().is_same_as(set));
        assert_eq!(ctx.cache_statistics().computations, computations);
    }
}
