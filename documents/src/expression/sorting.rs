//! Sorting by a comparison that may fail and need not be an order, such as that of NaN.

use super::value::PyResult;

/// Number of items up to which Python sorts by insertion alone.
const SHORT: usize = 63;

/// Sorts stably. `less` is called as by Python for up to 63 items, so that the result is Python's
/// even if `less` is no order.
///
/// # Errors
/// Returns the first error of `less`.
pub(super) fn sorted<V>(
    mut items: Vec<V>,
    less: &mut impl FnMut(&V, &V) -> PyResult<bool>,
) -> PyResult<Vec<V>> {
    if items.len() <= SHORT {
        insert_all(&mut items, less)?;
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    // The depth is logarithmic.
    let (left, right) = (sorted(items, less)?, sorted(right, less)?);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let takes_right = less(b, a)?;
        merged.extend(if takes_right {
            right.next()
        } else {
            left.next()
        });
    }
    merged.extend(left.chain(right));
    Ok(merged)
}

/// Inserts each item behind those that are sorted already, by bisection.
fn insert_all<V>(items: &mut [V], less: &mut impl FnMut(&V, &V) -> PyResult<bool>) -> PyResult<()> {
    for start in first_run(items, less)?..items.len() {
        let (mut low, mut high) = (0, start);
        while low < high {
            let middle = low + (high - low) / 2;
            if less(&items[start], &items[middle])? {
                high = middle
            } else {
                low = middle + 1
            }
        }
        items[low..=start].rotate_right(1);
    }
    Ok(())
}

/// Length of the sorted items at the start; strictly falling ones are reversed.
fn first_run<V>(
    items: &mut [V],
    less: &mut impl FnMut(&V, &V) -> PyResult<bool>,
) -> PyResult<usize> {
    if items.len() < 2 {
        return Ok(items.len());
    }
    let falls = less(&items[1], &items[0])?;
    let mut length = 2;
    while length < items.len() && less(&items[length], &items[length - 1])? == falls {
        length += 1;
    }
    if falls {
        items[..length].reverse();
    }
    Ok(length)
}
