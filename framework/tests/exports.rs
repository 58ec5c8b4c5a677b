//! Ports that sub-diagrams export, and ports that form one input of a diagram.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tarragon_framework::primitives::{Adder, ConstantVectorSource, Gain, ZeroOrderHold};
use tarragon_framework::{Error, prelude::*};

/// Adds `y = k u`; the value of `k` identifies the system.
fn gain(b: &mut DiagramBuilder, name: &str, k: f64) -> Block<Gain> {
    b.add(name, Gain::new(1, k))
}

/// Adds gains 2 and 3 that share the exported input `u`; their outputs are exported as `two` and
/// `three`.
fn twins(b: &mut DiagramBuilder) -> Result<[Block<Gain>; 2], Error> {
    let both = [gain(b, "two", 2.0), gain(b, "three", 3.0)];
    b.export_input("u", both[0].u);
    b.export_input("u", both[1].u);
    b.export_output("two", both[0].y);
    b.export_output("three", both[1].y);
    Ok(both)
}

fn values<const N: usize>(ctx: &Context<f64>, ports: [OutputPort<Vec<f64>>; N]) -> [f64; N] {
    ports.map(|y| ctx.eval(y).unwrap()[0])
}

fn mistake(b: DiagramBuilder) -> String {
    b.build().err().unwrap().to_string()
}

/// System with one input per way to declare it, and an output that reads none of them.
struct Inputs;
#[derive(Clone, Copy)]
struct InputsPorts<T> {
    any_size: InputPort<Vec<T>>,
    three: InputPort<Vec<T>>,
    text: InputPort<String>,
}
impl<T: Scalar> LeafSystem<T> for Inputs {
    type Ports = InputsPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        InputsPorts {
            any_size: d.input("any_size"),
            three: d.vector_input("three", 3),
            text: d.input("text"),
        }
    }
}

#[test]
fn an_exported_input_is_fixed_from_any_of_its_ports() {
    for handle in 0..2 {
        let mut b = DiagramBuilder::new();
        let both = b.subdiagram("twins", twins).unwrap();
        let mut ctx = b.build().unwrap().default_context();
        ctx.fix(both[handle].u, vec![10.0]).unwrap();
        assert_eq!(values(&ctx, [both[0].y, both[1].y]), [20.0, 30.0]);
        ctx.fixed_mut(both[1 - handle].u).unwrap()[0] = 1.0;
        assert_eq!(values(&ctx, [both[0].y, both[1].y]), [2.0, 3.0]);
    }
}

#[test]
fn an_exported_input_is_connected_from_outside_by_handle_and_by_name() {
    for by_name in [false, true] {
        let mut b = DiagramBuilder::new();
        let both = b.subdiagram("twins", twins).unwrap();
        let five = b.add("five", ConstantVectorSource::new([5.0]));
        if by_name {
            b.connect_named(("five", "y0"), ("twins", "u")).unwrap();
        } else {
            b.connect(five.y, both[0].u);
        }
        let ctx = b.build().unwrap().default_context();
        assert_eq!(values(&ctx, [both[0].y, both[1].y]), [10.0, 15.0]);
    }
}

#[test]
fn exports_of_exports_are_one_input() {
    // The inner input (two, three) is exported again together with `four`, in both orders and by
    // each of the inner handles. All must end up as one input, whichever port is fixed.
    for (inner_first, handle) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        for fixed in 0..3 {
            let mut b = DiagramBuilder::new();
            let outer = |b: &mut DiagramBuilder| {
                let [two, three] = b.subdiagram("twins", twins)?;
                let four = gain(b, "four", 4.0);
                let mut ports = [four.u, [two.u, three.u][handle]];
                if inner_first {
                    ports.reverse();
                }
                let first = b.export_input("v", ports[0]);
                let second = b.export_input("v", ports[1]);
                assert_eq!(format!("{first:?}"), format!("{second:?}"));
                Ok::<_, Error>([two, three, four])
            };
            let blocks = b.subdiagram("outer", outer).unwrap();
            let mut ctx = b.build().unwrap().default_context();
            ctx.fix(blocks[fixed].u, vec![1.0]).unwrap();
            assert_eq!(
                values(&ctx, [blocks[0].y, blocks[1].y, blocks[2].y]),
                [2.0, 3.0, 4.0],
                "{inner_first} {handle} {fixed}"
            );
        }
    }
}

#[test]
fn ports_exported_in_a_circle_are_one_input() {
    let mut b = DiagramBuilder::new();
    let [two, three] = b.subdiagram("twins", twins).unwrap();
    b.export_input("again", three.u);
    b.export_input("again", two.u);
    b.export_input("again", two.u);
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(three.u, vec![1.0]).unwrap();
    assert_eq!(values(&ctx, [two.y, three.y]), [2.0, 3.0]);
}

#[test]
fn exports_go_up_level_by_level_and_connect_by_name() {
    let mut b = DiagramBuilder::new();
    let outer = |b: &mut DiagramBuilder| {
        let [two, three] = b.subdiagram("twins", twins)?;
        b.export_input("v", two.u);
        b.export_output("y", three.y);
        Ok::<_, Error>(())
    };
    b.subdiagram("outer", outer).unwrap();
    b.add("five", ConstantVectorSource::new([5.0]));
    let last = gain(&mut b, "last", 1.0);
    b.connect_named(("outer", "y"), ("last", "u")).unwrap();
    let error = b.connect_named(("outer", "z"), ("last", "u")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "'outer' has no output port 'z'; its output ports are: y"
    );
    let error = b.connect_named(("inner", "y"), ("last", "u")).unwrap_err();
    assert!(
        error.to_string().starts_with("there is no system 'inner'"),
        "{error}"
    );
    b.connect_named(("five", "y0"), ("outer", "v")).unwrap();
    let d = b.build().unwrap();
    let ctx = d.default_context();
    let y = d.output_port::<Vec<f64>>("outer", "y").unwrap();
    assert_eq!(values(&ctx, [y, last.y]), [15.0, 15.0]);
    let paths: Vec<String> = d.exports().map(|s| s.path).collect();
    assert_eq!(paths, ["outer", "outer::twins"]);
    let twins = d.exports().find(|s| s.path == "outer::twins").unwrap();
    assert_eq!(twins.input_ports, ["u"]);
    assert_eq!(twins.output_ports, ["three", "two"]);
}

#[test]
fn an_output_is_exported_once_per_name() {
    let mut b = DiagramBuilder::new();
    let [two, three] = b.subdiagram("twins", twins).unwrap();
    b.export_output("y", two.y);
    b.export_output("z", two.y);
    b.export_output("y", three.y);
    assert_eq!(
        mistake(b),
        "output port '.y' is exported twice; names of outputs must be unique"
    );
}

#[test]
fn an_export_has_a_name() {
    let mut b = DiagramBuilder::new();
    let one = gain(&mut b, "one", 1.0);
    b.export_input("", one.u);
    assert!(mistake(b).contains("exported without a name"));
}

#[test]
fn ports_that_differ_are_not_exported_under_one_name() {
    let mut b = DiagramBuilder::new();
    let (one, inputs) = (gain(&mut b, "one", 1.0), b.add("inputs", Inputs));
    b.export_input("u", one.u);
    b.export_input("u", inputs.text);
    let message = mistake(b);
    assert!(
        message.starts_with(
            "cannot export inputs 'one.u' and 'inputs.text' under one name: one takes alloc::vec::Vec"
        ),
        "{message}"
    );

    let mut b = DiagramBuilder::new();
    let (one, inputs) = (gain(&mut b, "one", 1.0), b.add("inputs", Inputs));
    b.export_input("u", one.u);
    b.export_input("u", inputs.three);
    assert_eq!(
        mistake(b),
        "cannot export inputs 'one.u' and 'inputs.three' under one name: one takes 1 element, the \
         other 3"
    );
}

#[test]
fn a_port_of_any_size_adopts_the_size_of_joined_ports() {
    // Joining ports of 1 and 3 elements, each with a port that takes any number.
    let mut b = DiagramBuilder::new();
    let (one, inputs) = (gain(&mut b, "one", 1.0), b.add("inputs", Inputs));
    for u in [inputs.any_size, one.u, inputs.three] {
        b.export_input("u", u);
    }
    let message = mistake(b);
    assert!(
        message.ends_with("one takes 1 element, the other 3"),
        "{message}"
    );

    // Fixing and connecting.
    let mut b = DiagramBuilder::new();
    let (one, inputs) = (gain(&mut b, "one", 1.0), b.add("inputs", Inputs));
    b.export_input("u", inputs.any_size);
    b.export_input("u", one.u);
    let mut ctx = b.build().unwrap().default_context();
    let error = ctx.fix(inputs.any_size, vec![1.0, 2.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "input port 'inputs.any_size': the value must have 1 element, got 2"
    );

    let mut b = DiagramBuilder::new();
    let (one, inputs) = (gain(&mut b, "one", 1.0), b.add("inputs", Inputs));
    b.export_input("u", inputs.any_size);
    b.export_input("u", one.u);
    let pair = b.add("pair", ConstantVectorSource::new([1.0, 2.0]));
    b.connect(pair.y, inputs.any_size);
    assert_eq!(
        mistake(b),
        "cannot connect 'pair.y0' to 'inputs.any_size': the output has 2 elements, the input takes 1"
    );
}

#[test]
fn an_input_is_not_both_shared_and_connected() {
    let mut b = DiagramBuilder::new();
    let [_, three] = b.subdiagram("twins", twins).unwrap();
    let five = b.add("five", ConstantVectorSource::new([5.0]));
    b.connect(five.y, three.u);
    assert_eq!(
        mistake(b),
        "cannot export inputs 'twins::two.u' and 'twins::three.u' under one name: the second one is \
         connected already; connect the first instead"
    );
}

#[test]
fn an_exported_input_has_one_source() {
    let mut b = DiagramBuilder::new();
    let [two, _] = b.subdiagram("twins", twins).unwrap();
    let five = b.add("five", ConstantVectorSource::new([5.0]));
    b.connect(five.y, two.u);
    b.connect_named(("five", "y0"), ("twins", "u")).unwrap();
    assert_eq!(
        mistake(b),
        "cannot connect 'five.y0' to 'twins::two.u': the input is connected already; an input has one \
         source"
    );
}

#[test]
fn a_connected_export_cannot_be_fixed() {
    let mut b = DiagramBuilder::new();
    let both = b.subdiagram("twins", twins).unwrap();
    let five = b.add("five", ConstantVectorSource::new([5.0]));
    b.connect(five.y, both[0].u);
    let mut ctx = b.build().unwrap().default_context();
    for (block, name) in both.iter().zip(["two", "three"]) {
        let error = ctx.fix(block.u, vec![1.0]).unwrap_err().to_string();
        let expected = format!(
            "input port 'twins::{name}.u': it is connected to 'five.y0' and cannot be fixed"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn exports_of_foreign_ports_name_both_diagrams() {
    let mut other = DiagramBuilder::new();
    let stranger = gain(&mut other, "stranger", 1.0);
    let export: [fn(&mut DiagramBuilder, &Block<Gain>); 2] = [
        |b, g| {
            b.export_input("u", g.u);
        },
        |b, g| {
            b.export_output("y", g.y);
        },
    ];
    for export in export {
        let mut b = DiagramBuilder::new();
        export(&mut b, &stranger);
        let message = mistake(b);
        assert_eq!(message.matches("diagram #").count(), 2, "{message}");
    }
}

#[test]
fn names_of_subdiagrams_are_checked() {
    for name in ["", "a::b"] {
        let mut b = DiagramBuilder::new();
        b.subdiagram(name, twins).unwrap();
        let message = mistake(b);
        let expected = format!("sub-diagram '{name}': the name must not be empty");
        assert!(message.starts_with(&expected), "{message}");
    }
}

/// Adds the twins, and a hold between `three` and the output `late`.
fn held(b: &mut DiagramBuilder) -> Result<[Block<Gain>; 2], Error> {
    let both = twins(b)?;
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
    b.connect(both[1].y, hold.u);
    b.export_output("late", hold.y);
    Ok(both)
}

#[test]
fn feedthrough_of_a_subdiagram_covers_all_ports_that_share_its_inputs() {
    for connected in [false, true] {
        let mut b = DiagramBuilder::new();
        let [two, three] = b.subdiagram("held", held).unwrap();
        if connected {
            let five = b.add("five", ConstantVectorSource::new([5.0]));
            b.connect(five.y, two.u);
        }
        let d = b.build().unwrap();
        let expected = [("u", "three"), ("u", "two")];
        let expected = expected.map(|(u, y)| (u.to_owned(), y.to_owned()));
        let found = d.direct_feedthroughs("held").unwrap();
        assert_eq!(found, expected, "connected: {connected}");
        assert!(d.has_direct_feedthrough(two.u, three.y).unwrap());
        assert!(d.has_direct_feedthrough(three.u, two.y).unwrap());
    }
}

#[test]
fn feedthrough_of_a_diagram_goes_through_systems() {
    let mut b = DiagramBuilder::new();
    let (a, c) = (gain(&mut b, "a", 1.0), gain(&mut b, "c", 1.0));
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
    b.connect(a.y, c.u);
    b.connect(c.y, hold.u);
    b.export_input("u", a.u);
    b.export_output("now", c.y);
    b.export_output("later", hold.y);
    let d = b.build().unwrap();
    let pairs = d.direct_feedthroughs("").unwrap();
    assert_eq!(pairs, [("u".to_owned(), "now".to_owned())]);
    assert!(d.has_direct_feedthrough(c.u, c.y).unwrap());
    assert!(!d.has_direct_feedthrough(c.u, a.y).unwrap(), "backwards");
    let error = d.direct_feedthroughs("b").unwrap_err().to_string();
    assert!(error.starts_with("there is no system 'b'"), "{error}");
    let mut other = DiagramBuilder::new();
    let stranger = gain(&mut other, "stranger", 1.0);
    for (u, y) in [(stranger.u, a.y), (a.u, stranger.y)] {
        let error = d.has_direct_feedthrough(u, y).unwrap_err().to_string();
        assert_eq!(error.matches("diagram #").count(), 2, "{error}");
    }
}

#[test]
fn a_loop_through_a_shared_input_is_found() {
    let mut b = DiagramBuilder::new();
    let [two, three] = b.subdiagram("twins", twins).unwrap();
    let back = gain(&mut b, "back", 1.0);
    b.connect(three.y, back.u);
    b.connect(back.y, two.u);
    let message = mistake(b);
    assert!(
        message.starts_with("algebraic loop: twins::three.y -> back.u -> back.y"),
        "{message}"
    );
    assert!(
        message.contains("-> twins::three.u -> twins::three.y ("),
        "{message}"
    );
}

#[test]
fn ports_of_different_types_do_not_connect_by_name() {
    let mut b = DiagramBuilder::new();
    gain(&mut b, "one", 1.0);
    b.add("inputs", Inputs);
    b.connect_named(("one", "y"), ("inputs", "text")).unwrap();
    let message = mistake(b);
    assert!(
        message
            .starts_with("cannot connect 'one.y' to 'inputs.text': the output carries alloc::vec"),
        "{message}"
    );
}

#[test]
fn a_sum_of_shared_inputs_adds_up() {
    let mut b = DiagramBuilder::new();
    let sum = b.add("sum", Adder::new(3, 1));
    for u in &sum.u {
        b.export_input("u", *u);
    }
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(sum.u[2], vec![7.0]).unwrap();
    assert_eq!(values(&ctx, [sum.sum]), [21.0]);
}

#[test]
fn systems_are_found_by_name_while_building() {
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    assert!(b.has_system_named("gain") && !b.has_system_named("adder"));
    let found = b.system_named::<Gain>("gain").unwrap();
    let value = b.add("value", ConstantVectorSource::new([3.0]));
    b.connect(value.y, found.u);
    let inner: Block<Gain> = b
        .subdiagram("inner", |b| {
            b.add("gain", Gain::new(1, 5.0));
            b.system_named("gain")
        })
        .unwrap();
    b.connect(gain.y, inner.u);
    assert!(b.has_system_named("inner") && b.has_system_named("inner::gain"));
    let message = |e: Option<Error>| e.unwrap().to_string();
    let error = message(b.system_named::<Gain>("adder").err());
    assert!(error.contains("no system 'adder'") && error.contains("gain, inner::gain, value"));
    let error = message(b.system_named::<Adder>("gain").err());
    assert!(
        error.contains("'gain'") && error.contains("Adder") && error.contains("Gain"),
        "{error}"
    );
    let ctx = b.build().unwrap().default_context();
    assert_eq!(ctx.eval(inner.y).unwrap(), &[30.0]);
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let mut b = DiagramBuilder::new();
    for expected in ["gain", "gain (2)", "gain (3)"] {
        let name = b.unused_name("gain");
        assert_eq!(name, expected);
        b.add(&name, Gain::new(1, 1.0));
    }
    b.subdiagram("inner", |b| {
        assert_eq!(b.unused_name("gain"), "gain");
        b.add("gain", Gain::new(1, 1.0));
        assert_eq!(b.unused_name("gain"), "gain (2)");
        Ok::<(), Error>(())
    })
    .unwrap();
    assert_eq!(b.unused_name("inner"), "inner (2)");
    assert_eq!(b.build().unwrap().systems().count(), 4);
}

#[test]
fn ports_are_declared_once_per_scalar() {
    /// Counts its declarations.
    struct Counted(Arc<AtomicUsize>);
    impl<T: Scalar> LeafSystem<T> for Counted {
        type Ports = InputPort<Vec<T>>;
        fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
            self.0.fetch_add(1, Ordering::Relaxed);
            d.vector_input("u", 1)
        }
    }
    let count = Arc::new(AtomicUsize::new(0));
    let declared = |expected, when| assert_eq!(count.load(Ordering::Relaxed), expected, "{when}");
    let mut b = DiagramBuilder::new();
    let block = b.add("counted", Counted(count.clone()));
    let found = b.system_named::<Counted>("counted").unwrap();
    let diagram = b.build().unwrap();
    for _ in 0..3 {
        let ports = diagram.clone().ports(&found).unwrap();
        assert_eq!(format!("{ports:?}"), format!("{:?}", *block.ports()));
    }
    declared(1, "when it was added");
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let mut ctx = dual.default_context();
    for seed in 0..3 {
        let u: InputPort<Vec<AutoDiff>> = dual.ports(&block).unwrap();
        ctx.fix(u, vec![AutoDiff::variable(1.0, seed)]).unwrap();
    }
    declared(2, "once more when the diagram was converted");
    let back = dual.to_scalar::<f64>().unwrap();
    back.default_context()
        .fix(back.ports(&found).unwrap(), vec![1.0])
        .unwrap();
    declared(3, "once per conversion");
}
