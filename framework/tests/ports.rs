//! Ports: feedthrough, names, loops, and messages about wiring mistakes.

use tarragon_framework::primitives::Gain;
use tarragon_framework::{AutoDiff, Error, prelude::*};

/// Adds `y = k u`; the value of `k` identifies the system.
fn gain(b: &mut DiagramBuilder, name: &str, k: f64) -> Block<Gain> {
    b.add(name, Gain::new(1, k))
}

fn mistake(b: DiagramBuilder) -> String {
    b.build().err().unwrap().to_string()
}

/// System with outputs that feed through in every possible way.
struct Ways;
#[derive(Clone, Copy)]
struct WaysPorts<T> {
    a: InputPort<Vec<T>>,
    b: InputPort<Vec<T>>,
    declared: OutputPort<Vec<T>>,
    all_inputs: OutputPort<Vec<T>>,
    all_sources: OutputPort<Vec<T>>,
    via_entry: OutputPort<Vec<T>>,
    via_output: OutputPort<Vec<T>>,
    none: OutputPort<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for Ways {
    type Ports = WaysPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let (a, b) = (d.vector_input("a", 1), d.vector_input("b", 1));
        fn calc<T: Scalar>(_: &Ways, _: &LeafContext<'_, T>, _: &mut [T]) -> Result<(), Error> {
            Ok(())
        }
        let entry = d.cache_entry("entry", T::zero(), b, |_, _, _| Ok(()));
        let declared = d.vector_output("declared", 1, a, calc);
        WaysPorts {
            a,
            b,
            declared,
            all_inputs: d.vector_output("all_inputs", 1, Dep::AllInputs, calc),
            all_sources: d.vector_output("all_sources", 1, Dep::AllSources, calc),
            via_entry: d.vector_output("via_entry", 1, entry, calc),
            via_output: d.vector_output("via_output", 1, declared, calc),
            none: d.vector_output("none", 1, (Dep::Time, Dep::X, Dep::AllParameters), calc),
        }
    }
}

#[test]
fn feedthrough_of_a_system_is_what_its_outputs_declare() {
    let mut b = DiagramBuilder::new();
    let ways = b.add("ways", Ways);
    let d = b.build().unwrap();
    let of = |u, y| d.has_direct_feedthrough(u, y).unwrap();
    for (y, expected) in [
        (ways.declared, [true, false]),
        (ways.all_inputs, [true, true]),
        (ways.all_sources, [true, true]),
        (ways.via_entry, [false, true]),
        (ways.via_output, [true, false]),
        (ways.none, [false, false]),
    ] {
        assert_eq!([of(ways.a, y), of(ways.b, y)], expected, "{y:?}");
    }
    let found = d.direct_feedthroughs("ways").unwrap();
    let expected = [
        ("a", "declared"),
        ("a", "all_inputs"),
        ("a", "all_sources"),
        ("a", "via_output"),
        ("b", "all_inputs"),
        ("b", "all_sources"),
        ("b", "via_entry"),
    ];
    assert_eq!(found, expected.map(|(u, y)| (u.to_owned(), y.to_owned())));
}

/// System that gives its two elements the listed names.
struct Named(Vec<&'static str>);
#[derive(Clone, Copy)]
struct NamedPorts<T> {
    u: InputPort<Vec<T>>,
    y: OutputPort<Vec<T>>,
    xc: ContinuousState<Vec<T>>,
    xd: DiscreteState<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for Named {
    type Ports = NamedPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let zeros = [T::zero(); 2];
        let ports = NamedPorts {
            u: d.vector_input("u", 2),
            y: d.vector_output("y", 2, Dep::Nothing, |_, _, _| Ok(())),
            xc: d.continuous_state((2, 0, 0), &zeros, Dep::Nothing, |_, _, _| Ok(())),
            xd: d.discrete_state(&zeros),
        };
        d.name_elements(&ports.u, &self.0);
        d.name_elements(&ports.y, &self.0);
        d.name_elements(&ports.xc, &self.0);
        d.name_elements(&ports.xd, &self.0);
        ports
    }
}

#[test]
fn elements_of_ports_and_state_have_names() {
    let mut b = DiagramBuilder::new();
    let named = b.add("named", Named(vec!["left", "right"]));
    let plain = gain(&mut b, "plain", 1.0);
    let d = b.build().unwrap();
    let expected = ["left", "right"];
    assert_eq!(d.element_names(&named.u).unwrap(), expected);
    assert_eq!(d.element_names(&named.y).unwrap(), expected);
    assert_eq!(d.element_names(&named.xc).unwrap(), expected);
    assert_eq!(d.element_names(&named.xd).unwrap(), expected);
    assert!(d.element_names(&plain.u).unwrap().is_empty());
    let dual = d.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&named).unwrap();
    assert_eq!(dual.element_names(&ports.xd).unwrap(), expected);
}

#[test]
fn a_wrong_number_of_names_does_not_build() {
    let mut b = DiagramBuilder::new();
    b.add("named", Named(vec!["left"]));
    assert_eq!(
        mistake(b),
        "system 'named': 2 elements were given 1 name: [\"left\"]"
    );
}

#[test]
fn elements_of_other_systems_cannot_be_named() {
    struct Thief(InputPort<Vec<f64>>);
    impl LeafSystem<f64> for Thief {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            d.name_elements(&self.0, &["mine"]);
        }
    }
    let mut b = DiagramBuilder::new();
    let victim = gain(&mut b, "victim", 1.0);
    b.add_f64("thief", Thief(victim.u));
    assert_eq!(
        mistake(b),
        "system 'thief': the elements to name belong to another system; name your own"
    );
    let mut b = DiagramBuilder::new();
    gain(&mut b, "one", 1.0);
    let error = b.build().unwrap().element_names(&victim.u).unwrap_err();
    assert_eq!(error.to_string().matches("diagram #").count(), 2, "{error}");
}

#[test]
fn a_loop_is_reported_port_by_port_with_reasons() {
    for (output, steps) in [
        (
            "declared",
            ["ways.a -> ways.declared (declared to depend on a)"; 2],
        ),
        (
            "all_inputs",
            ["ways.a -> ways.all_inputs (declared to depend on all inputs)"; 2],
        ),
        (
            "all_sources",
            ["ways.a -> ways.all_sources (declared to depend on all sources)"; 2],
        ),
        (
            "via_output",
            [
                "ways.a -> ways.declared (declared to depend on a)",
                " -> ways.via_output (declared to read declared)",
            ],
        ),
        (
            "via_entry",
            [
                "ways.b -> ways.entry (declared to depend on b)",
                " -> ways.via_entry (declared to read entry)",
            ],
        ),
    ] {
        let mut b = DiagramBuilder::new();
        b.add("ways", Ways);
        gain(&mut b, "gain", 1.0);
        b.connect_named(("ways", output), ("gain", "u")).unwrap();
        let input = if output == "via_entry" { "b" } else { "a" };
        b.connect_named(("gain", "y"), ("ways", input)).unwrap();
        let message = mistake(b);
        assert!(message.starts_with("algebraic loop: "), "{message}");
        let gain = "gain.u -> gain.y (declared to depend on u)";
        for step in steps.into_iter().chain([gain]) {
            assert!(message.contains(step), "{message}\n{step}");
        }
    }
}

#[test]
fn a_system_that_feeds_itself_is_a_loop() {
    let mut b = DiagramBuilder::new();
    let one = gain(&mut b, "one", 1.0);
    b.connect(one.y, one.u);
    let message = mistake(b);
    assert!(
        message.starts_with("algebraic loop: one.y -> one.u -> one.y (declared to depend on u)"),
        "{message}"
    );
}

#[test]
fn names_of_ports_are_unique_among_their_kind() {
    struct Twice(&'static str);
    impl LeafSystem<f64> for Twice {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            let nothing = Dep::Nothing;
            match self.0 {
                "input" => {
                    d.vector_input("x", 1);
                    d.input::<String>("x");
                }
                "output" => {
                    d.vector_output("x", 1, nothing, |_, _, _| Ok(()));
                    d.output("x", 0, nothing, |_, _, _| Ok(()));
                }
                "entry" => {
                    d.cache_entry("x", 0, nothing, |_, _, _| Ok(()));
                    d.cache_entry("x", 0, nothing, |_, _, _| Ok(()));
                }
                _ => {
                    d.vector_input("x", 1);
                    d.vector_output("x", 1, nothing, |_, _, _| Ok(()));
                    d.cache_entry("x", 0, nothing, |_, _, _| Ok(()));
                }
            }
        }
    }
    for (case, expected) in [
        ("input", "system 'twice': input port 'x' is declared twice"),
        (
            "output",
            "system 'twice': output port 'x' is declared twice",
        ),
        ("entry", "system 'twice': 'x' is declared twice"),
    ] {
        let mut b = DiagramBuilder::new();
        b.add_f64("twice", Twice(case));
        assert_eq!(mistake(b), expected);
    }
    let mut b = DiagramBuilder::new();
    b.add_f64("one_of_each", Twice("one of each"));
    assert!(b.build().is_ok());
}

#[test]
fn bad_timings_do_not_build() {
    struct Ticker(f64, f64);
    impl LeafSystem<f64> for Ticker {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            let (period, offset) = (self.0, self.1);
            d.publish_on(Trigger::Periodic { period, offset }, |_, _| {
                Ok(EventStatus::Succeeded)
            });
        }
    }
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for (period, offset) in [
        (nan, 0.0),
        (0.0, 0.0),
        (-0.1, 0.0),
        (inf, 0.0),
        (0.1, nan),
        (0.1, -0.1),
        (0.1, inf),
    ] {
        let mut b = DiagramBuilder::new();
        b.add_f64("ticker", Ticker(period, offset));
        let message = mistake(b);
        let expected = format!(
            "system 'ticker': periodic event: the period must be positive and the offset at least 0, \
             both finite, got period {period:?} s and offset {offset:?} s"
        );
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn advancing_to_the_past_is_an_error() {
    let mut b = DiagramBuilder::new();
    gain(&mut b, "one", 1.0);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.advance_to(1.0).unwrap();
    for boundary in [f64::NAN, 0.5, f64::NEG_INFINITY] {
        let message = sim.advance_to(boundary).unwrap_err().to_string();
        let expected = format!(
            "Simulator: the boundary must be at least the current time, 1.0 s, got {boundary:?} s"
        );
        assert_eq!(message, expected);
    }
    assert_eq!(sim.context().time(), 1.0);
}

#[test]
fn handles_and_contexts_of_other_diagrams_are_errors_that_name_both() {
    let mut b = DiagramBuilder::new();
    let stranger = gain(&mut b, "stranger", 1.0);
    let foreign = b.build().unwrap();
    let mut b = DiagramBuilder::new();
    let own = b.add("named", Named(vec!["left", "right"]));
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    let mut other = foreign.default_context();
    let errors = [
        Simulator::new(&d, other.clone()).err().unwrap(),
        d.ports(&stranger).err().unwrap(),
        ctx.fix(stranger.u, vec![1.0]).unwrap_err(),
        ctx.fixed_mut(stranger.u).unwrap_err(),
        ctx.eval(stranger.y).unwrap_err(),
        ctx.serial(stranger.y).unwrap_err(),
        ctx.param(stranger.k).unwrap_err(),
        ctx.param_mut(stranger.k).unwrap_err(),
        other.xc(own.xc).unwrap_err(),
        other.xc_mut(own.xc).unwrap_err(),
        other.xd(own.xd).unwrap_err(),
        other.xd_mut(own.xd).unwrap_err(),
        ctx.disable_caching(stranger.y).unwrap_err(),
        ctx.leaf(&stranger).err().unwrap(),
        ctx.fix_inputs_from(&other).unwrap_err(),
        ctx.set_time_state_and_parameters_from(&other).unwrap_err(),
    ];
    for error in errors {
        let message = error.to_string();
        assert_eq!(message.matches("diagram #").count(), 2, "{message}");
    }
}

/// System with items of every kind whose type depends on the scalar.
struct Typed;
#[derive(Clone, Copy)]
struct TypedPorts<T> {
    u: InputPort<Vec<T>>,
    y: OutputPort<Vec<T>>,
    p: Param<T>,
    xa: AbstractState<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for Typed {
    type Ports = TypedPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", 1);
        TypedPorts {
            u,
            y: d.vector_output("y", 1, u, move |_, ctx, y| {
                y.copy_from_slice(ctx.eval(u)?);
                Ok(())
            }),
            p: d.param(T::zero()),
            xa: d.abstract_state(vec![T::zero()]),
        }
    }
}

#[test]
fn handles_of_another_scalar_are_errors() {
    let mut b = DiagramBuilder::new();
    let typed = b.add("typed", Typed);
    let d = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = d.ports(&typed).unwrap();
    let mut ctx = d.default_context();
    let error = ctx.fix(typed.u, vec![1.0]).unwrap_err().to_string();
    assert!(
        error.starts_with("input port 'typed.u': the value must be of type "),
        "{error}"
    );
    ctx.fix(ports.u, vec![AutoDiff::constant(1.0)]).unwrap();
    let errors = [
        ctx.eval(typed.y).unwrap_err(),
        ctx.param(typed.p).unwrap_err(),
        ctx.param_mut(typed.p).unwrap_err(),
        ctx.xa(typed.xa).unwrap_err(),
        ctx.xa_mut(typed.xa).unwrap_err(),
    ];
    for error in errors {
        let message = error.to_string();
        assert!(
            message.contains("of system 'typed' was used as"),
            "{message}"
        );
        assert!(message.contains("see `Diagram::ports`"), "{message}");
    }
    assert_eq!(ctx.eval(ports.y).unwrap()[0].re, 1.0);
}

#[test]
fn copied_contexts_lose_derivatives_everywhere() {
    let mut b = DiagramBuilder::new();
    let typed = b.add("typed", Typed);
    let d = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = d.ports(&typed).unwrap();
    let x = AutoDiff::variable(2.0, 0);
    let mut from = d.default_context();
    from.set_time(x);
    from.fix(ports.u, vec![x]).unwrap();
    *from.param_mut(ports.p).unwrap() = x;
    from.xa_mut(ports.xa).unwrap()[0] = x;
    let mut to = d.default_context();
    to.set_time_state_and_parameters_from(&from).unwrap();
    to.fix_inputs_from(&from).unwrap();
    let expected = AutoDiff::constant(2.0);
    let param = *to.param(ports.p).unwrap();
    let (xa, y) = (to.xa(ports.xa).unwrap()[0], to.eval(ports.y).unwrap()[0]);
    for found in [to.time(), param, xa, y] {
        assert!(found.is_same_as(expected), "{found:?}");
    }
}

#[test]
fn a_dependency_on_a_handle_of_another_system_does_not_build() {
    struct Thief(InputPort<Vec<f64>>);
    impl LeafSystem<f64> for Thief {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            d.vector_output("y", 1, self.0, |_, _, _| Ok(()));
        }
    }
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    b.add_f64("thief", Thief(gain.u));
    let error = b.build().err().unwrap().to_string();
    assert!(
        error.starts_with("system 'thief': 'y' depends on a handle of system 0 of diagram #"),
        "{error}"
    );
}

#[test]
fn paths_of_systems_and_sub_diagrams_are_unique() {
    let empty = |b: &mut DiagramBuilder| {
        b.subdiagram("arm", |_| Ok::<_, Error>(())).unwrap();
    };
    let system = |b: &mut DiagramBuilder| {
        b.add("arm", Gain::new(1, 2.0));
    };
    type Step<'a> = &'a dyn Fn(&mut DiagramBuilder);
    let steps: [[Step<'_>; 2]; 3] = [[&empty, &empty], [&empty, &system], [&system, &empty]];
    for [first, second] in steps {
        let mut b = DiagramBuilder::new();
        first(&mut b);
        second(&mut b);
        let error = b.build().err().unwrap().to_string();
        assert!(
            error.contains("'arm'") && error.contains("already"),
            "{error}"
        );
    }
}

/// A signal may be NaN or infinite; the reading system decides whether to accept it.
#[test]
fn fixed_values_may_be_nan() {
    let mut b = DiagramBuilder::new();
    let gain = gain(&mut b, "gain", 2.0);
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(gain.u, vec![f64::NAN]).unwrap();
    assert!(ctx.eval(gain.y).unwrap()[0].is_nan());
    ctx.fix(gain.u, vec![f64::INFINITY]).unwrap();
    assert_eq!(ctx.eval(gain.y).unwrap(), &[f64::INFINITY]);
}

#[test]
fn connected_and_fixed_inputs_can_be_read_from_outside() {
    let mut b = DiagramBuilder::new();
    let (first, second) = (gain(&mut b, "first", 2.0), gain(&mut b, "second", 3.0));
    b.connect(first.y, second.u);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    assert_eq!(ctx.eval_optional_input(first.u).unwrap(), None);
    // The system upstream has no input, which is an error of its computation.
    assert!(ctx.eval_optional_input(second.u).is_err());
    ctx.fix(first.u, vec![5.0]).unwrap();
    assert_eq!(ctx.eval_optional_input(first.u).unwrap(), Some(&vec![5.0]));
    assert_eq!(
        ctx.eval_optional_input(second.u).unwrap(),
        Some(&vec![10.0])
    );
    // Handles of another diagram, and over another scalar.
    let mut b = DiagramBuilder::new();
    let foreign = gain(&mut b, "foreign", 1.0);
    assert!(ctx.eval_optional_input(foreign.u).is_err());
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&first).unwrap();
    let mut dual_ctx = dual.default_context();
    dual_ctx.fix(ports.u, vec![AutoDiff::from(1.0)]).unwrap();
    assert!(dual_ctx.eval_optional_input(first.u).is_err());
    assert!(dual_ctx.eval_optional_input(ports.u).unwrap().is_some());
}
