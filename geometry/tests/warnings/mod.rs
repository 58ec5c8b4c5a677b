//! Capture of the warnings that a part of a test logs.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Subscriber that keeps the messages of warnings.
struct Warnings(Arc<Mutex<Vec<String>>>);

/// Message text of an event.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").unwrap();
        }
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }
    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Runs a closure and returns its value and the warnings that it logged on this thread.
pub(crate) fn warnings_of<V>(run: impl FnOnce() -> V) -> (V, Vec<String>) {
    let found = Arc::default();
    let value = tracing::subscriber::with_default(Warnings(Arc::clone(&found)), run);
    let messages = std::mem::take(&mut *found.lock().unwrap());
    (value, messages)
}
