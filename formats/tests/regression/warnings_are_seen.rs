//! Warnings reach the user of a program. Nothing printed them in a new user's programs. The example
//! is a body that the parser left without mass.

use std::process::Command;
use std::sync::{Arc, Mutex};
use tarragon_documents::Severity;
use tarragon_formats::{OnWarning, Parser};
use tarragon_framework::warnings::collect;
use tarragon_multibody::MultibodyPlantBuilder;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const TYPO: &str =
    "<robot name='r'><link name='a'><inertial><mas value='1'/></inertial></link></robot>";
const TEXT: &str = "<mas> in <inertial> is ignored";

/// Loads [`TYPO`] and returns whether that succeeded, and what the parser keeps.
fn load(on_warning: OnWarning) -> (bool, Vec<Severity>, usize) {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.on_warning(on_warning);
    let loaded = parser.add_models_from_string(TYPO, "urdf").is_ok();
    let kept = parser.diagnostics().iter().map(|d| d.severity).collect();
    (loaded, kept, plant.num_bodies())
}

/// Runs a test of this binary in another process, where it loads [`TYPO`]. Returns the text of
/// standard error.
fn standard_error_with(on_warning: &str) -> String {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args([
        "--exact",
        "--nocapture",
        "regression::warnings_are_seen::program",
    ]);
    let output = program
        .env("TARRAGON_TEST_ON_WARNING", on_warning)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs in the process that [`standard_error_with`] starts; does nothing in other runs.
#[test]
fn program() {
    let modes = [OnWarning::Collect, OnWarning::Fail, OnWarning::Ignore];
    match std::env::var("TARRAGON_TEST_ON_WARNING").as_deref() {
        Ok("default") => {
            let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
            let added = Parser::new(&mut plant).add_models_from_string(TYPO, "urdf");
            added.unwrap();
        }
        Ok("others") => modes.into_iter().for_each(|mode| drop(load(mode))),
        _ => {}
    }
}

#[test]
fn warnings_are_printed_once_by_default() {
    let printed = standard_error_with("default");
    assert_eq!(printed.matches(TEXT).count(), 1, "{printed}");
    assert!(
        printed.contains("warning: <literal>.urdf:1:42: <mas>"),
        "{printed}"
    );
    assert!(printed.contains("did you mean <mass>?"), "{printed}");
    let printed = standard_error_with("others");
    assert!(!printed.contains(TEXT), "{printed}");
}

#[test]
fn warnings_are_kept_made_errors_or_dropped() {
    let (loaded, kept, bodies) = load(OnWarning::Collect);
    assert!(loaded && kept.len() == 1 && bodies == 2, "{kept:?}");
    assert!(kept.iter().all(|severity| *severity == Severity::Warning));
    assert_eq!(load(OnWarning::Print), (true, kept.clone(), 2));
    let (loaded, failed, bodies) = load(OnWarning::Fail);
    assert_eq!((loaded, failed.len(), bodies), (false, kept.len(), 1));
    assert!(failed.iter().all(|severity| *severity == Severity::Error));
    assert_eq!(load(OnWarning::Ignore), (true, vec![], 2));
}

/// A subscriber that counts the warnings with [`TEXT`].
struct Listener(Arc<Mutex<usize>>);

impl Visit for Listener {
    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        let text = format!("{value:?}");
        *self.0.lock().unwrap() += text.matches(TEXT).count();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn event(&self, event: &Event<'_>) {
        event.record(&mut Self(Arc::clone(&self.0)));
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn subscribers_and_collectors_get_warnings_once() {
    let count = Arc::default();
    let listener = Listener(Arc::clone(&count));
    tracing::subscriber::with_default(listener, || {
        load(OnWarning::Print);
        assert_eq!(*count.lock().unwrap(), 1);
        let (_, collected) = collect(|| load(OnWarning::Print));
        assert_eq!(
            collected.iter().filter(|text| text.contains(TEXT)).count(),
            1
        );
        assert_eq!(*count.lock().unwrap(), 1);
        for silent in [OnWarning::Collect, OnWarning::Fail, OnWarning::Ignore] {
            load(silent);
        }
        assert_eq!(*count.lock().unwrap(), 1);
    });
}

/// Directives that add a file twice find the same faults twice.
#[test]
fn equal_warnings_of_one_load_are_kept_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.urdf");
    std::fs::write(&file, TYPO).unwrap();
    let add = |name: &str| {
        let file = file.display();
        format!("- add_model: {{name: {name}, file: 'file://{file}'}}\n")
    };
    let text = format!("directives:\n{}{}", add("left"), add("right"));
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    let (loaded, printed) = collect(|| parser.add_models_from_string(&text, "dmd.yaml"));
    loaded.unwrap();
    let kept = parser.diagnostics().iter();
    assert_eq!(kept.filter(|d| d.message.contains(TEXT)).count(), 1);
    let printed = printed.iter().filter(|text| text.contains(TEXT));
    assert_eq!(printed.count(), 1);
}
