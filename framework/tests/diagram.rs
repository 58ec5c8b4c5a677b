//! Behaviour of diagrams and contexts, one guarantee per test.

use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tarragon_framework::CacheMode;
use tarragon_framework::Error;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{ConstantVectorSource, Gain, ZeroOrderHold};

fn chain(n: usize) -> (Diagram<f64>, Vec<Block<Gain>>) {
    let mut b = DiagramBuilder::new();
    let g: Vec<_> = (0..n)
        .map(|i| b.add(&format!("g{i}"), Gain::new(1, 1.01)))
        .collect();
    for w in g.windows(2) {
        b.connect(w[0].y, w[1].u);
    }
    (b.build().unwrap(), g)
}

#[test]
fn computes_once_per_change() {
    let (d, g) = chain(3);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![2.0]).unwrap();
    assert!((ctx.eval(g[2].y).unwrap()[0] - 2.0 * 1.01_f64.powi(3)).abs() < 1e-15);
    let serial = ctx.serial(g[2].y).unwrap();
    ctx.eval(g[2].y).unwrap();
    assert_eq!(ctx.serial(g[2].y).unwrap(), serial, "cached");
    *ctx.param_mut(g[1].k).unwrap() = 3.0;
    assert!((ctx.eval(g[2].y).unwrap()[0] - 2.0 * 1.01 * 3.0 * 1.01).abs() < 1e-15);
    assert_eq!(
        ctx.serial(g[0].y).unwrap(),
        2,
        "the value upstream of the change was kept"
    );
    assert_eq!(ctx.serial(g[2].y).unwrap(), serial + 1);
    ctx.set_time(1.0);
    ctx.eval(g[2].y).unwrap();
    assert_eq!(
        ctx.serial(g[2].y).unwrap(),
        serial + 1,
        "a gain does not depend on time"
    );
}

#[test]
fn unconnected_inputs_and_frozen_values_are_errors_that_name_the_place() {
    let (d, g) = chain(2);
    let mut ctx = d.default_context();
    let message = ctx.eval(g[1].y).unwrap_err().to_string();
    assert!(
        message.starts_with("input port 'g0.u' is not connected"),
        "{message}"
    );
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.freeze_cache(true);
    assert_eq!(
        ctx.eval(g[1].y).unwrap_err().to_string(),
        "'g1.y' is out of date and the cache is frozen"
    );
    ctx.freeze_cache(false);
    assert_eq!(ctx.eval(g[1].y).unwrap(), &[1.01 * 1.01]);
}

#[test]
fn clones_are_independent() {
    let (d, g) = chain(2);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.eval(g[1].y).unwrap();
    let mut fork = ctx.clone();
    fork.fixed_mut(g[0].u).unwrap()[0] = 10.0;
    let y = g[1].y;
    let forked = std::thread::spawn(move || fork.eval(y).unwrap()[0])
        .join()
        .unwrap();
    assert!((forked - 10.201).abs() < 1e-12);
    assert!((ctx.eval(g[1].y).unwrap()[0] - 1.0201).abs() < 1e-12);
}

#[test]
fn using_handles_of_another_diagram_names_both_diagrams() {
    let (d, g) = chain(1);
    let (other, h) = chain(1);
    let mut ctx = d.default_context();
    let error = ctx.eval(h[0].y).unwrap_err().to_string();
    let names = error.matches("diagram #").count();
    assert_eq!(names, 2, "both diagrams are named: {error}");
    assert!(ctx.fix(h[0].u, vec![1.0]).is_err());
    assert!(ctx.param_mut(h[0].k).is_err());
    assert!(ctx.leaf(&h[0]).is_err());
    assert!(d.ports(&h[0]).is_err());
    assert!(Simulator::new(&other, ctx).is_err());
    let mut b = DiagramBuilder::new();
    b.add("a", Gain::new(1, 1.0));
    b.connect(g[0].y, h[0].u);
    let error = b.build().err().unwrap().to_string();
    let start = "cannot connect 'port 0 of system 0 of diagram #";
    assert!(error.starts_with(start), "{error}");
    assert_eq!(
        error.matches("diagram #").count(),
        3,
        "both ends and the builder: {error}"
    );
}

#[test]
fn wiring_mistakes_are_explained() {
    let mut b = DiagramBuilder::new();
    let (a, c) = (b.add("a", Gain::new(2, 1.0)), b.add("c", Gain::new(3, 1.0)));
    b.connect(a.y, c.u);
    let message = b.build().err().unwrap().to_string();
    assert_eq!(
        message,
        "cannot connect 'a.y' to 'c.u': the output has 2 elements, the input takes 3"
    );

    let mut b = DiagramBuilder::new();
    let (a, c) = (b.add("a", Gain::new(1, 1.0)), b.add("c", Gain::new(1, 1.0)));
    b.connect(a.y, c.u);
    b.connect(a.y, c.u);
    assert!(
        b.build()
            .err()
            .unwrap()
            .to_string()
            .contains("connected already")
    );

    let mut b = DiagramBuilder::new();
    b.add("a", Gain::new(1, 1.0));
    b.add("a", Gain::new(1, 1.0));
    assert!(
        b.build()
            .err()
            .unwrap()
            .to_string()
            .contains("'a' exists already")
    );

    let mut b = DiagramBuilder::new();
    let a = b.add("a", Gain::new(1, 1.0));
    let error = b
        .connect_named(("a", "z"), ("a", "u"))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "'a' has no output port 'z'; its output ports are: y");
    let d = b.build().unwrap();
    assert!(d.output_port::<String>("a", "y").is_err());
    assert!(d.output_port::<Vec<f64>>("a", "y").is_ok());
    let mut ctx = d.default_context();
    let error = ctx.fix(a.u, vec![1.0, 2.0]).unwrap_err().to_string();
    assert_eq!(
        error,
        "input port 'a.u': the value must have 1 element, got 2"
    );
    assert!(ctx.fixed_mut(a.u).is_err());
}

#[test]
fn algebraic_loops_do_not_build() {
    let mut b = DiagramBuilder::new();
    let (a, c) = (b.add("a", Gain::new(1, 1.0)), b.add("c", Gain::new(1, 1.0)));
    b.connect(a.y, c.u);
    b.connect_named(("c", "y"), ("a", "u")).unwrap();
    let message = b.build().err().unwrap().to_string();
    assert!(
        message.starts_with(
            "algebraic loop: a.y -> c.u -> c.y (declared to depend on u) -> a.u -> a.y (declared"
        ),
        "{message}"
    );

    let mut b = DiagramBuilder::new();
    let (a, hold) = (
        b.add("a", Gain::new(1, 1.0)),
        b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0)),
    );
    b.connect(a.y, hold.u);
    b.connect(hold.y, a.u);
    assert!(b.build().is_ok(), "a hold breaks the loop");
}

#[test]
fn subdiagrams_prefix_names() {
    let mut b = DiagramBuilder::new();
    let gain = b
        .subdiagram("robot", |b| {
            b.subdiagram("arm", |b| Ok::<_, Error>(b.add("gain", Gain::new(1, 2.0))))
        })
        .unwrap();
    let d = b.build().unwrap();
    assert_eq!(d.systems().next().unwrap().path, "robot::arm::gain");
    let error = d.default_context().eval(gain.y).unwrap_err().to_string();
    assert!(error.contains("'robot::arm::gain.u'"), "{error}");
}

#[test]
fn converts_to_autodiff() {
    let (d, g) = chain(10);
    let d = d.to_scalar::<AutoDiff>().unwrap();
    let mut ctx = d.default_context();
    ctx.fix(d.ports(&g[0]).unwrap().u, vec![AutoDiff::variable(1.0, 0)])
        .unwrap();
    let y = ctx.eval(d.ports(&g[9]).unwrap().y).unwrap()[0];
    assert!((y.eps[0] - 1.01_f64.powi(10)).abs() < 1e-14);
}

#[test]
fn contexts_convert_between_scalars() {
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
    let constant = b.add("constant", ConstantVectorSource::new([1.0, 2.0]));
    let log = b.add(
        "log",
        tarragon_framework::primitives::VectorLogSink::per_step(1),
    );
    b.connect(hold.y, log.u);
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    ctx.set_time(1.5);
    *ctx.param_mut(gain.k).unwrap() = 5.0;
    ctx.param_mut(constant.value).unwrap()[1] = 7.0;
    ctx.xd_mut(hold.x).unwrap()[0] = -3.0;
    let dual = d.to_scalar::<AutoDiff>().unwrap();
    let mut other = dual.default_context();
    other.set_time_state_and_parameters_from(&ctx).unwrap();
    assert!(other.time().is_same_as(AutoDiff::constant(1.5)));
    let ports = dual.ports(&gain).unwrap();
    assert!(
        other
            .param(ports.k)
            .unwrap()
            .is_same_as(AutoDiff::constant(5.0))
    );
    let y = dual.ports(&constant).unwrap().y;
    assert!(other.eval(y).unwrap()[1].is_same_as(AutoDiff::constant(7.0)));
    let hold = dual.ports(&hold).unwrap();
    assert_eq!(other.eval(hold.y).unwrap()[0].re, -3.0);
    // And back, dropping derivatives.
    *other.param_mut(ports.k).unwrap() = AutoDiff::variable(9.0, 0);
    ctx.set_time_state_and_parameters_from(&other).unwrap();
    assert_eq!(*ctx.param(gain.k).unwrap(), 9.0);
    let (stranger, _) = chain(1);
    let error = stranger
        .default_context()
        .set_time_state_and_parameters_from(&ctx)
        .unwrap_err();
    assert_eq!(error.to_string().matches("diagram #").count(), 2);
}

#[test]
fn caching_can_be_turned_off() {
    let (d, g) = chain(20);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    let cached = ctx.eval(g[19].y).unwrap().clone();
    let serial = ctx.serial(g[19].y).unwrap();
    ctx.set_cache_mode(CacheMode::Off);
    let (first, second) = (ctx.eval(g[19].y).unwrap(), ctx.eval(g[19].y).unwrap());
    assert_eq!(
        (first, second),
        (&cached, &cached),
        "references stay valid side by side"
    );
    assert_eq!(
        ctx.serial(g[19].y).unwrap(),
        serial + 2,
        "computed each time"
    );
    *ctx.param_mut(g[3].k).unwrap() = 0.0;
    assert_eq!(
        ctx.clone().eval(g[19].y).unwrap(),
        &[0.0],
        "a clone has caching off too"
    );
    ctx.set_cache_mode(CacheMode::On);
    assert_eq!(ctx.eval(g[19].y).unwrap(), &[0.0]);
    let (d, g) = chain(2000);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.set_cache_mode(CacheMode::Off);
    assert!(ctx.eval(g[400].y).is_ok());
    let message = ctx.eval(g[1999].y).unwrap_err().to_string();
    assert!(message.contains("use `CacheMode::On`"), "{message}");
}

struct Camera;
impl LeafSystem<f64> for Camera {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.vector_output("image", 1, Dep::Nothing, |_, _, _| Ok(()))
    }
}

#[test]
fn converting_an_f64_only_system_names_its_path() {
    let mut b = DiagramBuilder::new();
    b.subdiagram("robot", |b| Ok::<_, Error>(b.add_f64("camera", Camera)))
        .unwrap();
    let message = b
        .build()
        .unwrap()
        .to_scalar::<AutoDiff>()
        .err()
        .unwrap()
        .to_string();
    assert!(
        message.starts_with("system 'robot::camera' does not support scalar AutoDiff"),
        "{message}"
    );
}

struct Liar;
impl LeafSystem<f64> for Liar {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.vector_output("y", 1, Dep::Nothing, |_, ctx, y| {
            y[0] = ctx.time();
            Ok(())
        })
    }
}

/// Debug builds check by default; see [`undeclared_reads_are_named`].
#[test]
fn undeclared_dependencies_are_errors_where_they_are_checked() {
    let mut b = DiagramBuilder::new();
    let liar = b.add_f64("liar", Liar);
    let mut ctx = b.build().unwrap().default_context();
    ctx.check_dependencies(false);
    assert_eq!(ctx.eval(*liar).unwrap(), &[0.0]);
    ctx.set_time(1.0);
    assert_eq!(ctx.eval(*liar).unwrap(), &[0.0], "a stale value");
    ctx.check_dependencies(true);
    let mut ctx = ctx.clone();
    for _ in 0..2 {
        let error = ctx.eval(*liar).unwrap_err().to_string();
        let start = "computing 'liar.y': it reads the time without declaring it as a dependency";
        assert!(error.starts_with(start), "{error}");
        ctx.set_cache_mode(CacheMode::Off);
    }
}

#[test]
#[cfg(debug_assertions)]
fn undeclared_reads_are_named() {
    /// Reads one of its values, selected by number, and declares no dependency.
    struct Reader(usize);
    impl LeafSystem<f64> for Reader {
        type Ports = OutputPort<Vec<f64>>;
        fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
            let (u, x) = (d.vector_input("u", 1), d.discrete_state(&[0.0]));
            let parameters = [d.param(1.0), d.param(2.0)];
            let label = d.abstract_state(String::new());
            d.continuous_state((1, 0, 0), &[0.0], Dep::Nothing, |_, _, _| Ok(()));
            let entry = d.cache_entry("entry", 0.0, Dep::Nothing, |_, _, _| Ok(()));
            d.vector_output("y", 1, Dep::Nothing, move |s, ctx, y| {
                y[0] = match s.0 {
                    0 => ctx.eval(u)?[0],
                    1 => ctx.xd(x)[0],
                    2 => *ctx.param(parameters[1]),
                    3 => ctx.xa(label).len() as f64,
                    4 => ctx.q()[0],
                    _ => *ctx.cached(entry)?,
                };
                Ok(())
            })
        }
    }
    let named = [
        "input port 'u'",
        "the discrete state",
        "parameter 1",
        "the abstract state",
        "the continuous positions q",
        "reader.entry",
    ];
    for (i, what) in named.iter().enumerate() {
        let mut b = DiagramBuilder::new();
        let reader = b.add_f64("reader", Reader(i));
        let error = b
            .build()
            .unwrap()
            .default_context()
            .eval(*reader)
            .unwrap_err()
            .to_string();
        let start = format!("computing 'reader.y': it reads {what} without");
        assert!(error.starts_with(&start), "{error}");
    }
}

struct Bomb {
    armed: AtomicBool,
}
impl LeafSystem<f64> for Bomb {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.vector_output("y", 1, Dep::Time, |s, _, y| {
            assert!(!s.armed.swap(false, Ordering::Relaxed), "boom");
            y[0] = 1.0;
            Ok(())
        })
    }
}

#[test]
fn a_context_survives_a_panicking_calc() {
    let mut b = DiagramBuilder::new();
    let bomb = b.add_f64("bomb", Bomb { armed: true.into() });
    let ctx = b.build().unwrap().default_context();
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ctx.eval(*bomb).map(|_| ())));
    assert!(panicked.is_err());
    assert_eq!(ctx.eval(*bomb).unwrap()[0], 1.0);
}

struct Failing;
impl LeafSystem<f64> for Failing {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.vector_output("y", 1, Dep::Time, |_, _, _| {
            Err(Error::custom("the valve is stuck"))
        })
    }
}

#[test]
fn deep_chains_evaluate_and_fail_without_overflowing_the_stack() {
    let n = 100_000;
    let (d, g) = chain(n);
    let mut ctx = d.default_context();
    let message = ctx.eval(g[n - 1].y).unwrap_err().to_string();
    assert!(
        message.starts_with("input port 'g0.u'"),
        "the error comes through: {message}"
    );
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    *ctx.param_mut(g[n / 2].k).unwrap() = 0.0;
    assert_eq!(ctx.eval(g[n - 1].y).unwrap()[0], 0.0);
    assert_eq!(ctx.serial(g[n - 1].y).unwrap(), 2, "computed once");
}

/// Reads its second input only if the first is positive; counts computations.
struct Switch {
    calls: AtomicUsize,
}
#[derive(Clone, Copy)]
struct SwitchPorts {
    select: InputPort<Vec<f64>>,
    value: InputPort<Vec<f64>>,
    y: OutputPort<Vec<f64>>,
}
impl LeafSystem<f64> for Switch {
    type Ports = SwitchPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let select = d.vector_input("select", 1);
        let value = d.vector_input("value", 1);
        let y = d.vector_output("y", 1, (select, value), move |s, ctx, y| {
            s.calls.fetch_add(1, Ordering::Relaxed);
            y[0] = if ctx.eval(select)?[0] > 0.0 {
                ctx.eval(value)?[0]
            } else {
                -1.0
            };
            Ok(())
        });
        SwitchPorts { select, value, y }
    }
}

#[test]
fn an_unread_input_may_fail_even_below_a_deep_chain() {
    let mut b = DiagramBuilder::new();
    let failing = b.add_f64("failing", Failing);
    let select = b.add("select", ConstantVectorSource::new([0.0]));
    let switch = b.add_f64("switch", Switch { calls: 0.into() });
    b.connect(*failing, switch.value);
    b.connect(select.y, switch.select);
    let mut last = switch.y;
    for i in 0..200 {
        let g = b.add(&format!("g{i}"), Gain::new(1, 1.0));
        b.connect(last, g.u);
        last = g.y;
    }
    let mut ctx = b.build().unwrap().default_context();
    assert_eq!(ctx.eval(last).unwrap()[0], -1.0);
    *ctx.param_mut(select.value).unwrap() = vec![1.0];
    assert_eq!(
        ctx.eval(last).unwrap_err().to_string(),
        "computing 'failing.y': the valve is stuck"
    );
    assert_eq!(
        switch.system().calls.load(Ordering::Relaxed),
        2,
        "a failure is not retried per reader"
    );
}

proptest! {
    /// Cached results equal those of a fresh context after random mutations.
    #[test]
    fn cached_equals_uncached(changes in prop::collection::vec((0..20_usize, -2.0..2.0_f64, any::<bool>()), 1..40)) {
        let (d, g) = chain(20);
        let mut ctx = d.default_context();
        ctx.fix(g[0].u, vec![1.0]).unwrap();
        for (i, k, look) in changes {
            *ctx.param_mut(g[i].k).unwrap() = k;
            if look {
                ctx.eval(g[i].y).unwrap();
            }
        }
        let cached = ctx.eval(g[19].y).unwrap()[0];
        ctx.set_cache_mode(CacheMode::Off);
        prop_assert_eq!(ctx.eval(g[19].y).unwrap()[0], cached);
        ctx.set_cache_mode(CacheMode::On);
        prop_assert_eq!(ctx.eval(g[19].y).unwrap()[0], cached);
    }
}
