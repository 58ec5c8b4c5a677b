//! Logs: recording times and file formats.

use std::f64::consts::PI;
use std::io;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{
    Gain, Sine, VectorLog, VectorLogSink, log_vector_output, log_vector_output_on,
};

/// Builds a sine recorded on each list of triggers.
fn record(triggers: &[&[Trigger]]) -> (Simulator<f64>, Vec<Block<VectorLogSink>>) {
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(2));
    let mut log = |(i, triggers): (usize, &&[Trigger])| {
        let sink = VectorLogSink::with_triggers(2, triggers.to_vec()).unwrap();
        let sink = b.add(&format!("log{i}"), sink);
        b.connect(wave.y, sink.u);
        sink
    };
    let sinks = triggers.iter().enumerate().map(&mut log).collect();
    let diagram = b.build().unwrap();
    let sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    (sim, sinks)
}

fn times(sim: &Simulator<f64>, sink: &Block<VectorLogSink>) -> Vec<f64> {
    let log = sink.find_log(sim.context()).unwrap();
    for (t, x) in log.samples() {
        assert_eq!(x, [t.sin(), t.sin()]);
    }
    log.sample_times().to_vec()
}

#[test]
fn every_trigger_records_at_its_times() {
    let periodic = |period, offset| Trigger::Periodic { period, offset };
    let (mut sim, sinks) = record(&[
        &[Trigger::PerStep],
        &[periodic(0.5, 0.0)],
        &[periodic(0.5, 0.2)],
        &[Trigger::Forced],
        &[Trigger::Initialization],
        &[periodic(0.5, 0.0), periodic(1.0, 0.0)],
    ]);
    sim.advance_to(1.0).unwrap();
    let of = |sim: &Simulator<f64>| sinks.iter().map(|s| times(sim, s)).collect::<Vec<_>>();
    let found = of(&sim);
    // Without continuous state the steps end at events.
    assert_eq!(found[0], [0.0, 0.2, 0.5, 0.7, 1.0]);
    assert_eq!(found[1], [0.0, 0.5, 1.0]);
    assert_eq!(found[2], [0.2, 0.7]);
    assert_eq!(found[3], [0.0; 0]);
    assert_eq!(found[4], [0.0]);
    assert_eq!(
        found[5],
        [0.0, 0.0, 0.5, 1.0, 1.0],
        "one sample per trigger"
    );
    sim.context().force_publish().unwrap();
    assert_eq!(of(&sim)[3], [1.0]);
    assert_eq!(of(&sim)[0], found[0], "this sink has no such trigger");
}

#[test]
fn the_usual_sinks_record_forced_publishes_too() {
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(2));
    let steps = b.add("steps by hand", VectorLogSink::per_step(2));
    let timed = b.add("timed by hand", VectorLogSink::periodic(2, 0.5));
    b.connect(wave.y, steps.u);
    b.connect(wave.y, timed.u);
    let steps = [steps, log_vector_output(&mut b, "steps", wave.y)];
    let every = Trigger::every(0.5);
    let timed = [timed, log_vector_output_on(&mut b, "timed", wave.y, every)];
    let forced = log_vector_output_on(&mut b, "forced", wave.y, Trigger::Forced);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.75).unwrap();
    sim.context().force_publish().unwrap();
    for steps in steps {
        assert_eq!(times(&sim, &steps), [0.0, 0.5, 0.75, 0.75]);
    }
    for timed in timed {
        assert_eq!(times(&sim, &timed), [0.0, 0.5, 0.75]);
    }
    assert_eq!(times(&sim, &forced), [0.75], "one sample, not two");
}

/// Source of an angle and a rate, and of a vector without a fixed size.
struct Joint;
impl<T: Scalar> LeafSystem<T> for Joint {
    type Ports = (OutputPort<Vec<T>>, OutputPort<Vec<T>>);
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let state = d.vector_output("state", 2, Dep::Nothing, |_, _, y| {
            y.copy_from_slice(&[T::one(), T::from(2.0)]);
            Ok(())
        });
        d.name_elements(&state, &["angle, left", "rate"]);
        (
            state,
            d.output("any", vec![], Dep::Nothing, |_, _, _| Ok(())),
        )
    }
}

#[test]
fn a_log_takes_size_and_names_from_the_port() {
    let mut b = DiagramBuilder::new();
    let joint = b.subdiagram("arm", |b| {
        Ok::<_, tarragon_framework::Error>(b.add("joint", Joint))
    });
    let joint = joint.unwrap();
    let gain = b.add("gain", Gain::new(2, 1.0));
    b.connect(joint.0, gain.u);
    let named = log_vector_output(&mut b, "named", joint.0);
    let unnamed = log_vector_output(&mut b, "unnamed", gain.y);
    let diagram = b.build().unwrap();
    assert_eq!(
        diagram.element_names(&named.u).unwrap(),
        ["angle, left", "rate"]
    );
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.initialize().unwrap();
    let log = named.find_log(sim.context()).unwrap();
    assert_eq!(log.element_names(), ["angle, left", "rate"]);
    assert_eq!(
        log.to_csv("state"),
        "time,\"angle, left\",rate\n0.0,1.0,2.0\n"
    );
    let log = unnamed.find_log(sim.context()).unwrap();
    assert_eq!(log.to_csv("state"), "time,state[0],state[1]\n0.0,1.0,2.0\n");
    // The names survive conversion to another scalar.
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let log = dual
        .ports(&named)
        .unwrap()
        .find_log(&dual.default_context());
    assert_eq!(log.unwrap().to_csv("x"), "time,\"angle, left\",rate\n");
}

#[test]
fn a_port_that_cannot_be_logged_is_named() {
    let mut b = DiagramBuilder::new();
    let joint = b.add("joint", Joint);
    log_vector_output(&mut b, "log", joint.1);
    let message = b.build().err().unwrap().to_string();
    assert!(
        message.contains("'joint.any' cannot be logged"),
        "{message}"
    );
    let (mut one, mut other) = (DiagramBuilder::new(), DiagramBuilder::new());
    let joint = one.add("joint", Joint);
    log_vector_output(&mut other, "log", joint.0);
    let message = other.build().err().unwrap().to_string();
    assert!(message.starts_with("cannot connect"), "{message}");
}

#[test]
fn a_cleared_log_starts_again() {
    let (mut sim, sinks) = record(&[&[Trigger::every(0.5)]]);
    sim.advance_to(1.0).unwrap();
    let before = sinks[0].find_log(sim.context()).unwrap();
    sinks[0].clear_log(sim.context_mut()).unwrap();
    assert_eq!(times(&sim, &sinks[0]), [0.0; 0]);
    assert_eq!(before.num_samples(), 3, "a copy keeps its samples");
    sim.advance_to(2.0).unwrap();
    assert_eq!(times(&sim, &sinks[0]), [1.5, 2.0]);
    let (mut other, _) = record(&[&[Trigger::PerStep]]);
    let message = sinks[0].clear_log(other.context_mut()).unwrap_err();
    assert!(message.to_string().contains("diagram #"), "{message}");
}

#[test]
fn mistakes_are_named() {
    let message = VectorLogSink::with_triggers(1, []).unwrap_err().to_string();
    assert!(message.contains("VectorLogSink") && message.contains("trigger"));
    let mut b = DiagramBuilder::new();
    b.add("log", VectorLogSink::periodic(1, -0.5));
    let message = b.build().err().unwrap().to_string();
    assert!(
        message.contains("'log'") && message.contains("-0.5"),
        "{message}"
    );
    let mut b = DiagramBuilder::new();
    b.add("log", VectorLogSink::per_step(2).with_element_names(["x"]));
    let message = b.build().err().unwrap().to_string();
    assert!(
        message.contains("'log'") && message.contains("2 elements"),
        "{message}"
    );
    let mut log = VectorLog::new(2);
    let message = log.add_data(0.5, &[1.0]).unwrap_err().to_string();
    assert!(message.contains("must have 2 elements"), "{message}");
    assert_eq!(log, VectorLog::new(2), "a failure changes nothing");
}

#[test]
fn data_has_one_column_per_sample() {
    let mut log = VectorLog::new(3);
    assert_eq!(log.data().shape(), (3, 0));
    log.add_data(0.0, &[1.0, 2.0, 3.0]).unwrap();
    log.add_data(1.0, &[4.0, 5.0, 6.0]).unwrap();
    assert_eq!(log.data(), nalgebra::dmatrix![1.0, 4.0; 2.0, 5.0; 3.0, 6.0]);
    assert_eq!(log.as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!((log.size(), log.num_samples()), (3, 2));
    let mut empty = VectorLog::new(0);
    empty.add_data(2.0, &[]).unwrap();
    assert_eq!(empty.data().shape(), (0, 1));
    assert_eq!(empty.samples().collect::<Vec<_>>(), [(2.0, &[][..])]);
    assert_eq!(empty.to_csv("x"), "time\n2.0\n");
}

#[test]
fn csv_keeps_every_bit() {
    let numbers = [
        PI,
        -0.0,
        1e300,
        5e-324,
        0.1 + 0.2,
        f64::NAN,
        f64::INFINITY,
        -1.0 / 3.0,
    ];
    let mut log = VectorLog::new(numbers.len());
    log.add_data(0.1, &numbers).unwrap();
    let text = log.to_csv("x");
    let line = text.lines().nth(1).unwrap();
    let read = line
        .split(',')
        .map(|cell| cell.parse::<f64>().unwrap().to_bits());
    let written = [0.1].iter().chain(&numbers).map(|x| x.to_bits());
    assert!(read.eq(written), "{line}");
    assert!(line.len() < 150, "no row of zeros: {line}");
}

#[test]
fn csv_names_are_quoted_where_needed() {
    let log = VectorLog::<f64>::new(1);
    assert_eq!(log.to_csv("arm::q"), "time,arm::q[0]\n");
    assert_eq!(log.to_csv("a \"b\", c"), "time,\"a \"\"b\"\", c[0]\"\n");
    let mut dual = VectorLog::new(1);
    dual.add_data(AutoDiff::constant(1.0), &[AutoDiff::variable(2.0, 0)])
        .unwrap();
    assert_eq!(dual.to_csv("x"), "time,x[0]\n1.0,2.0\n");
}

/// Writer that accepts a number of bytes, then fails.
struct Full(Vec<u8>, usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > self.1 {
            return Err(io::Error::other("the disk is full"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn csv_is_written_in_pieces() {
    let mut log = VectorLog::new(2);
    for i in 0..10_000 {
        let t = f64::from(i);
        log.add_data(t, &[t.sin(), t.cos()]).unwrap();
    }
    let text = log.to_csv("wave");
    assert!(text.len() > 300_000, "several pieces");
    let mut out = Full(vec![], usize::MAX);
    log.write_csv("wave", &mut out).unwrap();
    assert!(out.0 == text.as_bytes());
    let error = log
        .write_csv("wave", &mut Full(vec![], 100_000))
        .unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
}
