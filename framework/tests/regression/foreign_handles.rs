//! A handle is used with a context of another diagram. The message once named the two diagrams by
//! numbers that appear nowhere in a program; it must use the names that the program gave.

use tarragon_framework::prelude::*;
use tarragon_framework::primitives::Gain;

#[test]
fn foreign_context_names_the_port_and_its_system() {
    let mut first = DiagramBuilder::new();
    let gain = first.add("amplifier", Gain::new(1, 2.0));
    let first = first.build().unwrap();
    let second = DiagramBuilder::new().build().unwrap();
    let mut other = second.default_context();
    let error = other.eval(gain.y).unwrap_err().to_string();
    let start = "output port 'y' of system 'amplifier' belongs to diagram #";
    assert!(error.starts_with(start), "{error}");
    let error = other.fix(gain.u, vec![1.0]).unwrap_err().to_string();
    assert!(
        error.starts_with("input port 'u' of system 'amplifier'"),
        "{error}"
    );
    let error = other.param(gain.k).unwrap_err().to_string();
    assert!(
        error.starts_with("parameter 0 of system 'amplifier'"),
        "{error}"
    );
    // Its own context accepts the handle.
    let mut own = first.default_context();
    own.fix(gain.u, vec![1.0]).unwrap();
    assert_eq!(own.eval(gain.y).unwrap(), &[2.0]);
}

#[test]
fn handle_of_a_dropped_diagram_has_no_name() {
    let mut builder = DiagramBuilder::new();
    let gain = builder.add("amplifier", Gain::new(1, 2.0));
    drop(builder.build().unwrap());
    let other = DiagramBuilder::new().build().unwrap();
    let error = other
        .default_context()
        .eval(gain.y)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("output port belongs to diagram #"),
        "{error}"
    );
}
