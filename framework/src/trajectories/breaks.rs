//! Breaks (times between segments), and checks of the arguments that accompany them.

use crate::counted::counted;
use crate::{Error, Result};

/// Returns an error of the trajectory called `who`.
pub(super) fn fail<V>(who: &str, message: impl std::fmt::Display) -> Result<V> {
    Err(Error::invalid(format!("{who}: {message}")))
}

/// Checks that there are at least `minimum` breaks (s), finite and increasing.
pub(super) fn check_breaks(who: &str, breaks: &[f64], minimum: usize) -> Result<()> {
    let n = breaks.len();
    if n < minimum {
        return fail(
            who,
            format!("there must be at least {minimum} breaks, got {n}"),
        );
    }
    if let Some(i) = breaks
        .windows(2)
        .position(|w| !(w[0] < w[1] && w[1].is_finite() && w[0].is_finite()))
    {
        return fail(
            who,
            format!(
                "the breaks must be finite and increasing, got break {i} at {2:?} s and break {0} at {1:?} s",
                i + 1,
                breaks[i + 1],
                breaks[i]
            ),
        );
    }
    Ok(())
}

/// Checks that there are as many `found` items as `expected`; `what` begins with their noun
/// in the plural.
pub(super) fn check_count(who: &str, what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let what = match (expected, what.split_once("s ")) {
        (1, Some((noun, rest))) => format!("{noun} {rest}"),
        (1, None) => what.trim_end_matches('s').into(),
        _ => what.to_string(),
    };
    fail(who, format!("there must be {expected} {what}, got {found}"))
}

/// Checks that a vector consists of `rows` finite numbers.
pub(super) fn check_vector(who: &str, what: &str, vector: &[f64], rows: usize) -> Result<()> {
    if vector.len() != rows {
        let found = vector.len();
        return fail(
            who,
            format!(
                "{what} must have {elements}, got {found}",
                elements = counted(rows, "element")
            ),
        );
    }
    if vector.iter().any(|x| !x.is_finite()) {
        return fail(who, format!("{what} must be finite, got {vector:?}"));
    }
    Ok(())
}

/// Checks that there are `count` vectors, all finite and as long as the first.
pub(super) fn check_samples(
    who: &str,
    what: &str,
    samples: &[Vec<f64>],
    count: usize,
) -> Result<()> {
    check_count(who, what, samples.len(), count)?;
    let rows = samples.first().map_or(0, Vec::len);
    for (i, sample) in samples.iter().enumerate() {
        check_vector(who, &format!("{what}[{i}]"), sample, rows)?;
    }
    Ok(())
}

/// Returns the index of the segment that contains `time` (s). A break belongs to the segment that
/// starts there, the last break to the last segment.
pub(super) fn segment_at(breaks: &[f64], time: f64) -> usize {
    breaks[1..breaks.len() - 1].partition_point(|b| *b <= time)
}
