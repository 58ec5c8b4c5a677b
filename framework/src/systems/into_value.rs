//! Short forms of values: numbers, arrays and slices in place of vectors.

use super::event::Trigger;
use crate::autodiff::dual::Dual;

/// Conversion of an argument into a value of type `V`.
///
/// Every type converts into itself. A vector also comes from an array, a slice, a reference to an
/// array or vector, and a number or [`Trigger`] (a vector of one element).
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Gain};
/// let mut b = DiagramBuilder::new();
/// let one = b.add("one", Gain::new(1, 2.0));
/// let two = b.add("two", Gain::new(2, 2.0));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(one.u, 3.0)?;
/// ctx.fix(two.u, [1.0, 2.0])?;
/// let q = vec![4.0, 5.0, 6.0];
/// ctx.fix(two.u, &q[1..])?;
/// assert_eq!((ctx.eval(one.y)?, ctx.eval(two.y)?), (&vec![6.0], &vec![10.0, 12.0]));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of type `{V}`",
    note = "a vector comes from a `Vec`, an array, a slice, or a number of the vector's scalar type; \
            an argument such as `.into()` or `.collect()` needs an explicit type"
)]
pub trait IntoValue<V> {
    /// Converts the argument.
    fn into_value(self) -> V;
}

impl<V> IntoValue<V> for V {
    fn into_value(self) -> V {
        self
    }
}

impl<T, const N: usize> IntoValue<Vec<T>> for [T; N] {
    fn into_value(self) -> Vec<T> {
        self.into()
    }
}

impl<T: Clone, const N: usize> IntoValue<Vec<T>> for &[T; N] {
    fn into_value(self) -> Vec<T> {
        self.to_vec()
    }
}

impl<T: Clone> IntoValue<Vec<T>> for &[T] {
    fn into_value(self) -> Vec<T> {
        self.to_vec()
    }
}

impl<T: Clone> IntoValue<Vec<T>> for &Vec<T> {
    fn into_value(self) -> Vec<T> {
        self.clone()
    }
}

impl IntoValue<Vec<Self>> for f64 {
    fn into_value(self) -> Vec<Self> {
        vec![self]
    }
}

impl<const N: usize> IntoValue<Vec<Self>> for Dual<N> {
    fn into_value(self) -> Vec<Self> {
        vec![self]
    }
}

impl IntoValue<Vec<Self>> for Trigger {
    fn into_value(self) -> Vec<Self> {
        vec![self]
    }
}
