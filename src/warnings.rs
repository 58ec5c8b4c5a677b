//! Printing of warnings and errors on standard error, with one line for many similar messages.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tarragon::documents::{Diagnostic, Severity};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, SubscriberBuilder};
use tracing_subscriber::registry::LookupSpan;

/// Number of messages with one wording that are shown; more become one line.
const SHOWN: usize = 3;

/// Whether every message is printed (`--verbose`).
static VERBOSE: AtomicBool = AtomicBool::new(false);
/// Warnings of the libraries that no command collects.
static UNCOLLECTED: RepeatedWarnings = RepeatedWarnings::new();

/// Formats an event as `warning: ` or `error: ` and the message. Of many warnings with one wording,
/// only the first are printed.
struct WarningLine;

impl<S, N> FormatEvent<S, N> for WarningLine
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
        let mut text = String::new();
        ctx.format_fields(Writer::new(&mut text), event)?;
        match *event.metadata().level() {
            Level::ERROR => writeln!(writer, "error: {text}"),
            _ if UNCOLLECTED.is_shown(&text) => writeln!(writer, "warning: {text}"),
            _ => Ok(()),
        }
    }
}

/// Prints all further warnings of the libraries, from any thread; with `verbose`, one by one.
pub(crate) fn print(verbose: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
    let subscriber = SubscriberBuilder::default()
        .event_format(WarningLine)
        .with_max_level(Level::WARN)
        .with_writer(std::io::stderr)
        .finish();
    // Cannot fail: this program installs no other subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Prints the numbers of the warnings of the libraries that were not printed.
pub(crate) fn print_rest() {
    UNCOLLECTED.print_rest();
}

/// Returns true if messages that are alike are printed one by one.
pub(crate) fn are_all_printed() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// A message to print.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// Name of a file; empty if there is none.
    file: String,
    /// Line and column, from 1; 0 for the file as a whole.
    place: (u32, u32),
    severity: Severity,
    text: String,
}

impl Message {
    /// Creates a message without a place.
    pub(crate) fn new(severity: Severity, text: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            place: (0, 0),
            severity,
            text: text.into(),
        }
    }
}

impl From<&Diagnostic> for Message {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            file: diagnostic.file.clone(),
            place: (diagnostic.line, diagnostic.column),
            severity: diagnostic.severity,
            text: diagnostic.message.clone(),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, severity, text) = (&self.file, self.severity, &self.text);
        match self.place {
            _ if file.is_empty() => {}
            (0, _) => write!(f, "{file}: ")?,
            (line, column) => write!(f, "{file}:{line}:{column}: ")?,
        }
        write!(f, "{severity}: {text}")
    }
}

impl Message {
    /// Place, for a line that begins with the place of another message; empty if it is the same.
    fn place_beside(&self, other: &Self) -> String {
        match (self.file == other.file, self.place) {
            (true, (0, _)) => String::new(),
            (true, (line, _)) => format!("in line {line}"),
            (false, (0, _)) => format!("in {}", self.file),
            (false, (line, _)) => format!("in {}:{line}", self.file),
        }
    }
}

/// Returns the lines to print. More than [`SHOWN`] messages with the same wording become one line
/// at the place of the first: with their number, the first, and the names of the next ones.
pub(crate) fn lines(messages: &[Message], verbose: bool) -> Vec<String> {
    if verbose {
        return messages.iter().map(Message::to_string).collect();
    }
    let wordings: Vec<Wording> = messages.iter().map(|m| Wording::of(&m.text)).collect();
    let mut groups: BTreeMap<(Severity, &str), Vec<usize>> = BTreeMap::new();
    for (i, (message, wording)) in messages.iter().zip(&wordings).enumerate() {
        let alike = groups.entry((message.severity, &wording.words));
        alike.or_default().push(i);
    }
    let mut lines = vec![];
    for (i, (message, wording)) in messages.iter().zip(&wordings).enumerate() {
        let alike = &groups[&(message.severity, &*wording.words)];
        if alike.len() <= SHOWN {
            lines.push(message.to_string());
        } else if alike[0] == i {
            let next = alike[1..SHOWN].iter();
            let next: Vec<String> = next
                .map(|k| {
                    let place = messages[*k].place_beside(message);
                    wording.difference(&wordings[*k], &place)
                })
                .collect();
            let (count, next) = (alike.len(), next.join(" and "));
            lines.push(format!(
                "{message} ({count} alike, also {next}; --verbose lists all)"
            ));
        }
    }
    lines
}

/// Prints messages on standard error, as [`lines`] shows them.
pub(crate) fn print_messages(messages: &[Message]) {
    for line in lines(messages, are_all_printed()) {
        eprintln!("{line}");
    }
}

/// Numbers of warnings that any number of threads report one by one, by their wordings.
pub(crate) struct RepeatedWarnings {
    /// The first text of each wording, and the number of its warnings.
    counts: Mutex<BTreeMap<String, (String, usize)>>,
}

impl RepeatedWarnings {
    pub(crate) const fn new() -> Self {
        Self {
            counts: Mutex::new(BTreeMap::new()),
        }
    }

    /// Counts a warning; returns true if it is to be printed: if all are, or if it is among the
    /// first with its wording.
    pub(crate) fn is_shown(&self, text: &str) -> bool {
        if are_all_printed() {
            return true;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let words = Wording::of(text).words;
        let (_, count) = counts.entry(words).or_insert_with(|| (text.into(), 0));
        *count += 1;
        *count <= SHOWN
    }

    /// Prints one line for each wording with warnings that were not shown.
    pub(crate) fn print_rest(&self) {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (text, count) in counts.values().filter(|(_, count)| *count > SHOWN) {
            eprintln!("warning: {text} ({count} alike; --verbose lists all)");
        }
    }
}

/// Text of a message, split into what is the same in messages that are alike and what is not.
struct Wording {
    /// The words, with a mark in place of each name, number and path, and of each list of them.
    words: String,
    /// The names, numbers and paths.
    names: Vec<String>,
}

/// Mark of a name in a wording.
const NAME: &str = "\u{1}";

impl Wording {
    fn of(text: &str) -> Self {
        // The parsers count equal warnings.
        let text = text.split(" (and at ").next().unwrap_or(text);
        let (mut words, mut names): (Vec<String>, _) = (vec![], vec![]);
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = &rest[start..];
            let end = end_of_token(rest);
            let (token, after) = rest.split_at(end);
            rest = after;
            let inner = token.trim_matches(['(', ')', '[', ']', ',', ';', ':', '.']);
            if !is_name(inner) {
                words.push(token.into());
                continue;
            }
            names.push(inner.to_string());
            let word = token.replacen(inner, NAME, 1);
            // A list is alike whatever its length.
            match words.last_mut() {
                Some(last) if *last == format!("{NAME},") => *last = word,
                _ => words.push(word),
            }
        }
        let words = words.join(" ");
        Self { words, names }
    }

    /// Names in another message that differ from the names in this one, with its place.
    fn difference(&self, other: &Self, place: &str) -> String {
        let pairs = self.names.iter().zip(&other.names);
        let mut names: Vec<&str> = vec![];
        for (_, name) in pairs.filter(|(a, b)| a != b) {
            if !names.contains(&&**name) {
                names.push(name);
            }
        }
        names.truncate(SHOWN);
        match (names.is_empty(), place) {
            (false, "") => names.join(", "),
            (false, place) => format!("{} {place}", names.join(", ")),
            (true, "") => "another one".into(),
            (true, place) => place.into(),
        }
    }
}

/// Length of the word at the start of a text; a quotation is one word.
fn end_of_token(text: &str) -> usize {
    let end = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
    let opened = text.trim_start_matches(['(', '[']);
    let skipped = text.len() - opened.len();
    for quote in ['\'', '"'] {
        let closed = opened.strip_prefix(quote).and_then(|t| t.find(quote));
        if let Some(length) = closed {
            let quoted = skipped + length + 2;
            return quoted + end(&text[quoted..]);
        }
    }
    end(text)
}

/// Whether a word is a name, a number or a path rather than part of the wording.
fn is_name(word: &str) -> bool {
    let is_quoted = word.starts_with(['\'', '"']);
    let is_tag = word.starts_with('<');
    let is_path = word.contains(['/', '\\']) || word.contains("::") || word.contains('.');
    is_quoted || !is_tag && (is_path || word.contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(line: u32, text: &str) -> Message {
        Message::from(&Diagnostic {
            severity: Severity::Warning,
            file: "a.urdf".into(),
            line,
            column: 2,
            message: text.into(),
        })
    }

    #[test]
    fn many_alike_are_one_line_with_their_number_and_the_first_three() {
        let text = |i: u32| format!("m/p{i}.obj: there is no 'p {i}.mtl'; it is drawn in grey");
        let mut all: Vec<Message> = (1..=120).map(|i| warning(i, &text(i))).collect();
        all.insert(2, warning(3, "the tendons [t1, 't 2'] have no length"));
        let printed = lines(&all, false);
        assert_eq!(
            printed,
            [
                "a.urdf:1:2: warning: m/p1.obj: there is no 'p 1.mtl'; it is drawn in grey \
                 (120 alike, also m/p2.obj, 'p 2.mtl' in line 2 and m/p3.obj, 'p 3.mtl' in line 3; \
                 --verbose lists all)",
                "a.urdf:3:2: warning: the tendons [t1, 't 2'] have no length",
            ]
        );
        let verbose = lines(&all, true);
        assert_eq!(verbose.len(), 121);
        assert_eq!(verbose[0], format!("a.urdf:1:2: warning: {}", text(1)));
    }

    #[test]
    fn few_alike_and_others_are_printed_one_by_one() {
        let mut all: Vec<Message> = (1..=3)
            .map(|i| warning(i, &format!("link 'l{i}' has no mass")))
            .collect();
        all.push(Message::new(Severity::Error, "link 'l4' has no mass"));
        all.push(warning(5, "<a> is ignored"));
        all.extend((6..=9).map(|i| warning(i, &format!("<{i}> is ignored"))));
        assert_eq!(lines(&all, false).len(), all.len());
        assert_eq!(lines(&all, false)[3], "error: link 'l4' has no mass");
    }

    #[test]
    fn lists_of_any_length_and_counts_of_the_parser_are_alike() {
        let texts = [
            "joints 'a' are fixed",
            "joints 'a', 'b' are fixed (and at 2 more places of this file)",
            "joints 'a', 'b', 'c' are fixed",
            "joints 'it''s' are fixed",
        ];
        let all: Vec<Message> = texts.map(|t| Message::new(Severity::Warning, t)).into();
        let printed = lines(&all, false);
        assert_eq!(printed.len(), 1, "{printed:?}");
        assert!(printed[0].contains("(4 alike, also"), "{printed:?}");
    }
}
