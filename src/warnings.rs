//! Prints warnings of the libraries on standard error.

use std::fmt;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, SubscriberBuilder};
use tracing_subscriber::registry::LookupSpan;

/// Formats an event as `warning: ` or `error: ` and the message.
struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        ctx: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let severity = match *event.metadata().level() {
            Level::ERROR => "error",
            _ => "warning",
        };
        write!(writer, "{severity}: ")?;
        ctx.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Prints all further warnings of the libraries, from any thread.
pub(crate) fn print() {
    let subscriber = SubscriberBuilder::default()
        .event_format(Line)
        .with_max_level(Level::WARN)
        .with_writer(std::io::stderr)
        .finish();
    // Cannot fail: this program installs no other subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
