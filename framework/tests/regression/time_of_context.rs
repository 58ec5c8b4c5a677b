//! A context with a non-finite time.
//!
//! Source of the right answer: no comparison with NaN holds, so a simulation from NaN cannot reach
//! a boundary. It said that it had.

use tarragon_framework::prelude::*;
use tarragon_framework::primitives::ConstantVectorSource;

fn simulator(time: f64) -> Simulator<f64> {
    let mut b = DiagramBuilder::new();
    b.add("constant", ConstantVectorSource::new([1.0]));
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    context.set_time(time);
    Simulator::new(&diagram, context).unwrap()
}

#[test]
fn simulations_start_at_a_finite_time() {
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let expected = format!(
            "Simulator: the time of the context must be finite, got {time:?} s; set it with \
             `Context::set_time`"
        );
        let error = simulator(time).initialize().unwrap_err().to_string();
        assert_eq!(error, expected);
        let mut sim = simulator(time);
        let error = sim.advance_to(1.0).unwrap_err().to_string();
        assert_eq!(error, expected);
        // The cure helps.
        sim.context_mut().set_time(0.5);
        sim.advance_to(1.0).unwrap();
        assert_eq!(sim.context().time(), 1.0);
    }
}

#[test]
fn simulations_go_on_from_a_finite_time_only() {
    let mut sim = simulator(0.0);
    sim.advance_to(1.0).unwrap();
    for time in [f64::NAN, f64::NEG_INFINITY] {
        sim.context_mut().set_time(time);
        let error = sim.advance_to(2.0).unwrap_err().to_string();
        assert!(
            error.contains("time of the context must be finite"),
            "{error}"
        );
    }
    sim.context_mut().set_time(1.0);
    sim.advance_to(2.0).unwrap();
    assert_eq!(sim.context().time(), 2.0);
}
