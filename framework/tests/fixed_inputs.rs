//! Values of unconnected inputs.

use tarragon_framework::primitives::{
    ConstantVectorSource, Gain, PassThrough, PidController, ValuePassThrough,
};
use tarragon_framework::{Error, IntoValue, prelude::*};

/// Builds a system that passes two elements, and its context.
fn pass() -> (Block<PassThrough>, Diagram<f64>) {
    let mut b = DiagramBuilder::new();
    let pass = b.add("pass", PassThrough::new(2));
    (pass, b.build().unwrap())
}

#[test]
fn a_vector_port_takes_vectors_arrays_and_slices() {
    let (pass, diagram) = pass();
    let mut ctx = diagram.default_context();
    let mut check = |fixed: &dyn Fn(&mut Context<f64>) -> Result<(), Error>| {
        ctx.fix(pass.u, [0.0, 0.0]).unwrap();
        fixed(&mut ctx).unwrap();
        assert_eq!(ctx.eval(pass.y).unwrap(), &[1.0, 2.0]);
    };
    let (array, vector) = (&[1.0, 2.0], vec![1.0, 2.0]);
    check(&|ctx| ctx.fix(pass.u, vec![1.0, 2.0]));
    check(&|ctx| ctx.fix(pass.u, &vector));
    check(&|ctx| ctx.fix(pass.u, vector.as_slice()));
    check(&|ctx| ctx.fix(pass.u, &vector[..]));
    check(&|ctx| ctx.fix(pass.u, [1.0, 2.0]));
    check(&|ctx| ctx.fix(pass.u, array));
    check(&|ctx| ctx.fix(pass.u, *array));
    check(&|ctx| ctx.fix(pass.u, nalgebra::dvector![1.0, 2.0].as_slice()));
}

#[test]
fn a_port_of_one_element_takes_a_number() {
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(gain.u, 3.0).unwrap();
    assert_eq!(ctx.eval(gain.y).unwrap(), &[6.0]);
    let x: f64 = 4.0;
    ctx.fix(gain.u, x.sqrt()).unwrap();
    assert_eq!(ctx.eval(gain.y).unwrap(), &[4.0]);
}

#[test]
fn dual_numbers_are_taken_in_every_form() {
    let (pass, diagram) = pass();
    let diagram = diagram.to_scalar::<AutoDiff>().unwrap();
    let mut ctx = diagram.default_context();
    let ports = diagram.ports(&pass).unwrap();
    let x = [1.0, 2.0].map(|x| AutoDiff::variable(x, 0));
    ctx.fix(ports.u, x).unwrap();
    assert_eq!(ctx.eval(ports.y).unwrap()[1].eps[0], 1.0);
    let (array, vector) = (&x, x.to_vec());
    ctx.fix(ports.u, array).unwrap();
    ctx.fix(ports.u, &x[..]).unwrap();
    ctx.fix(ports.u, &vector).unwrap();
    assert_eq!(ctx.eval(ports.y).unwrap(), &vector);

    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let (ports, mut ctx) = (diagram.ports(&gain).unwrap(), diagram.default_context());
    ctx.fix(ports.u, AutoDiff::variable(3.0, 1)).unwrap();
    let y = ctx.eval(ports.y).unwrap()[0];
    assert_eq!((y.re, y.eps[1]), (6.0, 2.0));
}

#[test]
fn an_abstract_port_takes_its_own_type() {
    #[derive(Clone, Debug, PartialEq)]
    struct Goal {
        name: &'static str,
    }
    let mut b = DiagramBuilder::new();
    let pull = b.add("pull", ValuePassThrough::new(Some([0.0; 3])));
    let word = b.add("word", ValuePassThrough::new(String::new()));
    let goal = b.add("goal", ValuePassThrough::new(Goal { name: "home" }));
    let number = b.add("number", ValuePassThrough::new(0.0_f64));
    let array = b.add("array", ValuePassThrough::new([0.0; 2]));
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(pull.u, None).unwrap();
    assert_eq!(ctx.eval(pull.y).unwrap(), &None);
    ctx.fix(pull.u, Some([1.0, 0.0, 0.0])).unwrap();
    ctx.fix(word.u, "salt".to_string()).unwrap();
    assert_eq!(ctx.eval(word.y).unwrap(), "salt");
    ctx.fix(goal.u, Goal { name: "table" }).unwrap();
    assert_eq!(ctx.eval(goal.y).unwrap().name, "table");
    ctx.fix(number.u, 3.0).unwrap();
    assert_eq!(ctx.eval(number.y).unwrap(), &3.0);
    ctx.fix(array.u, [1.0, 2.0]).unwrap();
    assert_eq!(ctx.eval(array.y).unwrap(), &[1.0, 2.0]);
}

#[test]
fn a_wrong_length_is_refused_in_every_form() {
    let (pass, diagram) = pass();
    let mut ctx = diagram.default_context();
    let vector = vec![1.0; 3];
    let failures = [
        ("1", ctx.fix(pass.u, 1.0)),
        ("1", ctx.fix(pass.u, [1.0])),
        ("0", ctx.fix(pass.u, [])),
        ("3", ctx.fix(pass.u, &vector)),
        ("3", ctx.fix(pass.u, &vector[..])),
        ("3", ctx.fix(pass.u, vector.clone())),
    ];
    for (found, result) in failures {
        let message = result.unwrap_err().to_string();
        let expected = "input port 'pass.u': the value must have 2 elements, got ";
        assert_eq!(message, format!("{expected}{found}"));
    }
    let number = ctx.eval_optional_input(pass.u).unwrap();
    assert_eq!(number, None, "a refused value changes nothing");
}

#[test]
fn constructors_take_vectors_in_the_same_forms() {
    let mut b = DiagramBuilder::new();
    let values = vec![7.0];
    let sources = [
        ConstantVectorSource::new(7.0),
        ConstantVectorSource::new([7.0]),
        ConstantVectorSource::new(&values),
        ConstantVectorSource::new(&values[..]),
    ];
    let y = sources.map(|source| {
        let name = b.unused_name("source");
        b.add(&name, source).y
    });
    let pid = b.add("pid", PidController::new(2.0, [0.0], vec![1.0]).unwrap());
    let mut ctx = b.build().unwrap().default_context();
    for y in y {
        assert_eq!(ctx.eval(y).unwrap(), &[7.0]);
    }
    ctx.fix(pid.estimated_state, [0.0, 0.0]).unwrap();
    ctx.fix(pid.desired_state, [1.0, 3.0]).unwrap();
    assert_eq!(ctx.eval(pid.control).unwrap(), &[5.0]);
}

#[test]
fn a_function_of_a_user_takes_the_same_forms() {
    /// Returns the number of elements.
    fn length(x: impl IntoValue<Vec<f64>>) -> usize {
        x.into_value().len()
    }
    assert_eq!(
        [length(1.0), length([1.0, 2.0]), length(&[1.0; 3][..])],
        [1, 2, 3]
    );
}
