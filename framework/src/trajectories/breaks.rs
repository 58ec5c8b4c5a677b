//! Times between which something differs, and checks of what is given with them.

use crate::{Error, Result};

/// An error of the trajectory called `who`.
pub(super) fn fail<V>(who: &str, message: impl std::fmt::Display) -> Result<V> {
    Err(Error::invalid(format!("{who}: {message}")))
}

/// There are at least `minimum` breaks (s), finite and increasing.
pub(super) fn check_breaks(who: &str, breaks: &[f64], minimum: usize) -> Result<()> {
    let n = breaks.len();
    if n < minimum {
        return fail(
            who,
            format!("{n} breaks, at least {minimum} are expected here"),
        );
    }
    if let Some(i) = breaks
        .windows(2)
        .position(|w| !(w[0] < w[1] && w[1].is_finite() && w[0].is_finite()))
    {
        return fail(
            who,
            format!(
                "break {} at {} s does not come after break {i} at {} s; finite, increasing times are expected",
                i + 1,
                breaks[i + 1],
                breaks[i]
            ),
        );
    }
    Ok(())
}

/// As many `found` things as `expected` ones.
pub(super) fn check_count(who: &str, what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    fail(who, format!("{found} {what}, {expected} are expected"))
}

/// `rows` finite numbers.
pub(super) fn check_vector(who: &str, what: &str, vector: &[f64], rows: usize) -> Result<()> {
    if vector.len() != rows {
        let found = vector.len();
        return fail(
            who,
            format!("{what} has {found} elements, {rows} are expected"),
        );
    }
    if vector.iter().any(|x| !x.is_finite()) {
        return fail(
            who,
            format!("{what} is {vector:?}, finite numbers are expected"),
        );
    }
    Ok(())
}

/// One vector per break, all of them of the length of the first and finite.
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

/// Index of the segment that `time` (s) lies in; a break belongs to the segment that it begins, the
/// last break to the last segment.
pub(super) fn segment_at(breaks: &[f64], time: f64) -> usize {
    breaks[1..breaks.len() - 1].partition_point(|b| *b <= time)
}
