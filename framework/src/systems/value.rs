//! Values of any type; numbers and vectors of numbers are stored without a box.

use crate::{AutoDiff, Scalar};
use std::any::{Any, TypeId};

/// Anything that can travel through a port or live in a context (Drake's `AbstractValue`).
/// Implemented for every `Clone + Send + Sync + 'static` type; never implemented by hand.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::ConstantValueSource};
///
/// #[derive(Clone, Debug, PartialEq)]
/// enum Gait {
///     Walk,
///     Trot,
/// }
///
/// let mut b = DiagramBuilder::new();
/// let source = b.add("source", ConstantValueSource::new(Gait::Walk));
/// let mut ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(source.y)?, &Gait::Walk);
/// *ctx.param_mut(source.value)? = Gait::Trot;
/// assert_eq!(ctx.eval(source.y)?, &Gait::Trot);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait Value: Any + Send + Sync {
    #[doc(hidden)]
    fn clone_box(&self) -> Box<dyn Value>;
    #[doc(hidden)]
    fn assign(&mut self, from: &dyn Value);
}

impl<V: Any + Clone + Send + Sync> Value for V {
    fn clone_box(&self) -> Box<dyn Value> {
        Box::new(self.clone())
    }
    fn assign(&mut self, from: &dyn Value) {
        let from: &dyn Any = from;
        self.clone_from(from.downcast_ref().expect(AGREE));
    }
}

/// Calls `$of_rows::<T, N>(row, ...)` for blocks of N rows that cover all `$n`. N is as large as
/// the registers can hold sums, because the additions of one sum wait for each other.
macro_rules! in_blocks_of_rows {
    ($n:expr, $of_rows:ident::<$t:ident $(, $more:ident)?>, $($arguments:expr),*) => {{
        let (n, mut row) = ($n, 0);
        while row + 12 <= n {
            $of_rows::<$t, 12 $(, $more)?>(row, $($arguments),*);
            row += 12;
        }
        match (n - row) / 2 {
            5 => $of_rows::<$t, 10 $(, $more)?>(row, $($arguments),*),
            4 => $of_rows::<$t, 8 $(, $more)?>(row, $($arguments),*),
            3 => $of_rows::<$t, 6 $(, $more)?>(row, $($arguments),*),
            2 => $of_rows::<$t, 4 $(, $more)?>(row, $($arguments),*),
            1 => $of_rows::<$t, 2 $(, $more)?>(row, $($arguments),*),
            _ => {}
        }
        if (n - row) % 2 == 1 {
            $of_rows::<$t, 1 $(, $more)?>(n - 1, $($arguments),*);
        }
    }};
}
pub(crate) use in_blocks_of_rows;

/// Copies `from` to `to`, which must be equally long. Most vectors are short, and a call of
/// `memcpy` costs more than copying a few numbers.
///
/// # Panics
/// Panics if the lengths differ.
#[inline(always)]
pub(crate) fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    match (to, from) {
        ([a], [x]) => *a = *x,
        ([a, b], [x, y]) => (*a, *b) = (*x, *y),
        (to, from) if from.len() < 24 && to.len() == from.len() => {
            in_blocks_of_rows!(from.len(), copy_rows::<T>, to, from);
        }
        (to, from) => to.copy_from_slice(from),
    }
}

#[inline(always)]
fn copy_rows<T: Copy, const N: usize>(row: usize, to: &mut [T], from: &[T]) {
    to[row..row + N].copy_from_slice(&from[row..row + N]);
}

/// Returns true if two numbers are equal with all their derivatives; false if the derivatives of
/// the scalar are unknown here.
#[inline]
pub(crate) fn is_same<T: Scalar>(a: T, b: T) -> bool {
    // The type comparisons are constants: only one arm remains.
    let (x, y): (&dyn Any, &dyn Any) = (&a, &b);
    if let (Some(x), Some(y)) = (x.downcast_ref::<f64>(), y.downcast_ref::<f64>()) {
        return x == y;
    }
    match (x.downcast_ref::<AutoDiff>(), y.downcast_ref::<AutoDiff>()) {
        (Some(x), Some(y)) => x.is_same_as(*y),
        _ => false,
    }
}

/// Value of some type. Vectors and numbers are stored without a box, because nearly all values are
/// of these types: reading one costs no virtual call.
pub(crate) enum Stored<T> {
    Number(T),
    Vector(Vec<T>),
    Other(Box<dyn Value>),
}

/// Message for a type mismatch. Handles are typed and join only values of equal types, which
/// `build` and `fix` check.
const AGREE: &str = "handles are typed, so value and handle agree";

impl<T: Scalar> Stored<T> {
    pub(crate) fn new<V: Value>(value: V) -> Self {
        let mut value = Some(value);
        let any: &mut dyn Any = &mut value;
        if let Some(vector) = any.downcast_mut::<Option<Vec<T>>>() {
            return Self::Vector(vector.take().expect("it was just put there"));
        }
        if let Some(number) = any.downcast_mut::<Option<T>>() {
            return Self::Number(number.take().expect("it was just put there"));
        }
        Self::Other(Box::new(value.expect("it is of another type")))
    }

    /// Returns a typed reference.
    #[inline(always)]
    pub(crate) fn get<V: 'static>(&self) -> &V {
        self.try_get().expect(AGREE)
    }

    /// Returns a typed reference, or `None` if the handle is over another scalar.
    #[inline(always)]
    pub(crate) fn try_get<V: 'static>(&self) -> Option<&V> {
        // The type comparisons are constants: only one arm remains.
        if TypeId::of::<V>() == TypeId::of::<Vec<T>>() {
            match self {
                Self::Vector(v) => (v as &dyn Any).downcast_ref(),
                _ => None,
            }
        } else if TypeId::of::<V>() == TypeId::of::<T>() {
            match self {
                Self::Number(x) => (x as &dyn Any).downcast_ref(),
                _ => None,
            }
        } else {
            match self {
                Self::Other(v) => (&**v as &dyn Any).downcast_ref(),
                _ => None,
            }
        }
    }

    /// Returns a typed mutable reference.
    #[inline(always)]
    pub(crate) fn get_mut<V: 'static>(&mut self) -> &mut V {
        let found = if TypeId::of::<V>() == TypeId::of::<Vec<T>>() {
            match self {
                Self::Vector(v) => (v as &mut dyn Any).downcast_mut(),
                _ => None,
            }
        } else if TypeId::of::<V>() == TypeId::of::<T>() {
            match self {
                Self::Number(x) => (x as &mut dyn Any).downcast_mut(),
                _ => None,
            }
        } else {
            match self {
                Self::Other(v) => (&mut **v as &mut dyn Any).downcast_mut(),
                _ => None,
            }
        };
        found.expect(AGREE)
    }

    /// Returns the elements of a numeric value.
    pub(crate) fn numbers(&self) -> Option<&[T]> {
        match self {
            Self::Number(x) => Some(std::slice::from_ref(x)),
            Self::Vector(x) => Some(x),
            Self::Other(_) => None,
        }
    }

    /// Returns the length of a vector.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::Vector(x) => Some(x.len()),
            _ => None,
        }
    }

    pub(crate) fn type_id(&self) -> TypeId {
        match self {
            Self::Number(_) => TypeId::of::<T>(),
            Self::Vector(_) => TypeId::of::<Vec<T>>(),
            Self::Other(v) => (&**v as &dyn Any).type_id(),
        }
    }

    /// Converts to a value of type `like` over another scalar; numbers lose their derivatives.
    pub(crate) fn converted<U: Scalar>(&self, like: TypeId) -> Option<Stored<U>> {
        let number = |x: &T| U::from(x.re());
        if self.type_id() == like {
            let same_scalar = TypeId::of::<T>() == TypeId::of::<U>();
            return Some(match self {
                Self::Number(x) if same_scalar => Stored::Number(number(x)),
                Self::Vector(x) if same_scalar => Stored::Vector(x.iter().map(number).collect()),
                Self::Number(x) => Stored::new(*x),
                Self::Vector(x) => Stored::new(x.clone()),
                Self::Other(v) => {
                    // A value that is opaque over `T` may be numeric over `U`.
                    let any: &dyn Any = &**v;
                    if let Some(x) = any.downcast_ref::<U>() {
                        Stored::Number(*x)
                    } else if let Some(x) = any.downcast_ref::<Vec<U>>() {
                        Stored::Vector(x.clone())
                    } else {
                        Stored::Other((**v).clone_box())
                    }
                }
            });
        }
        match self {
            Self::Number(x) if like == TypeId::of::<U>() => Some(Stored::Number(number(x))),
            Self::Vector(x) if like == TypeId::of::<Vec<U>>() => {
                Some(Stored::Vector(x.iter().map(number).collect()))
            }
            _ => None,
        }
    }
}

impl<T: Clone> Clone for Stored<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Number(x) => Self::Number(x.clone()),
            Self::Vector(x) => Self::Vector(x.clone()),
            Self::Other(x) => Self::Other((**x).clone_box()),
        }
    }

    /// Reuses memory.
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Self::Number(to), Self::Number(from)) => to.clone_from(from),
            (Self::Vector(to), Self::Vector(from)) => to.clone_from(from),
            (Self::Other(to), Self::Other(from)) => (**to).assign(&**from),
            (to, from) => *to = from.clone(),
        }
    }
}
