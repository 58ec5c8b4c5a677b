//! Prerequisites of computations (Drake's dependency tickets), alone and in lists.

use super::handles::{
    AbstractState, CacheEntry, ContinuousState, DiscreteState, InputPort, OutputPort, Param, Place,
};

/// A prerequisite of a computation, for lists ([`Dependencies`]) that are written or put together.
/// Handles of the system's own inputs, parameters, state, cache entries and outputs convert into
/// it.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// y = u t.
/// struct Ramp;
/// impl<T: Scalar> LeafSystem<T> for Ramp {
///     type Ports = (InputPort<T>, OutputPort<T>);
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let u = d.input("u");
///         let y = d.output("y", T::zero(), (Dep::Time, u), move |_, ctx, y| {
///             *y = *ctx.eval(u)? * ctx.time();
///             Ok(())
///         });
///         (u, y)
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let (u, y) = *b.add("ramp", Ramp).ports();
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(u, 3.0)?;
/// assert_eq!(*ctx.eval(y)?, 0.0);
/// ctx.set_time(2.0); // makes values that declared `Dep::Time` stale
/// assert_eq!(*ctx.eval(y)?, 6.0);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dep {
    /// Nothing at all: the value is constant.
    Nothing,
    /// Time.
    Time,
    /// The accuracy setting of the context.
    Accuracy,
    /// Generalized positions q of the continuous state.
    Q,
    /// Generalized velocities v of the continuous state.
    V,
    /// Miscellaneous continuous state z.
    Z,
    /// All continuous state.
    Xc,
    /// All discrete state.
    Xd,
    /// All abstract state.
    Xa,
    /// All state.
    X,
    /// All parameters.
    AllParameters,
    /// All input ports.
    AllInputs,
    /// Configuration: q, z, parameters, discrete and abstract state.
    Configuration,
    /// Kinematics: configuration and v.
    Kinematics,
    /// Everything except other computations: the safe choice, and the default in Drake.
    AllSources,
    #[doc(hidden)]
    ContinuousState(Place),
    #[doc(hidden)]
    DiscreteGroup(Place),
    #[doc(hidden)]
    AbstractEntry(Place),
    #[doc(hidden)]
    Parameter(Place),
    #[doc(hidden)]
    Input(Place),
    #[doc(hidden)]
    Entry(Place),
}

impl Dep {
    /// Returns the place that the original handle points to.
    pub(crate) fn place(self) -> Option<Place> {
        match self {
            Self::ContinuousState(place)
            | Self::DiscreteGroup(place)
            | Self::AbstractEntry(place)
            | Self::Parameter(place)
            | Self::Input(place)
            | Self::Entry(place) => Some(place),
            _ => None,
        }
    }
}

macro_rules! handle_is_a_dependency {
    ($($handle:ident => $dep:ident),*) => {$(
        impl<V> From<$handle<V>> for Dep {
            fn from(handle: $handle<V>) -> Self {
                Dep::$dep(handle.place)
            }
        }
        impl<V> Dependencies for $handle<V> {
            fn append_to(&self, list: &mut Vec<Dep>) {
                list.push((*self).into());
            }
        }
    )*};
}
handle_is_a_dependency!(
    InputPort => Input,
    OutputPort => Entry,
    CacheEntry => Entry,
    Param => Parameter,
    ContinuousState => ContinuousState,
    DiscreteState => DiscreteGroup,
    AbstractState => AbstractEntry
);

/// Prerequisites of a computation, given by name: a [`Dep`], a handle of the system's own input,
/// parameter, state, cache entry or output, or a tuple, array, slice, vector or option of these.
///
/// [`Dep::AllSources`] stands for everything, as in Drake where nothing is said, and
/// [`Dep::Nothing`] or a list without elements for nothing.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// y = k (u0 + u1), plus the time if asked for.
/// struct Sum {
///     with_time: bool,
/// }
/// impl<T: Scalar> LeafSystem<T> for Sum {
///     type Ports = ([InputPort<T>; 2], OutputPort<T>);
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let (u, k) = ([d.input("u0"), d.input("u1")], d.param(T::from(2.0)));
///         let time = self.with_time.then_some(Dep::Time);
///         let y = d.output("y", T::zero(), (u, k, time), move |sum, ctx, y| {
///             *y = *ctx.param(k) * (*ctx.eval(u[0])? + *ctx.eval(u[1])?);
///             if sum.with_time {
///                 *y += ctx.time();
///             }
///             Ok(())
///         });
///         (u, y)
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let ([u0, u1], y) = *b.add("sum", Sum { with_time: true }).ports();
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(u0, 3.0)?;
/// ctx.fix(u1, 4.0)?;
/// ctx.set_time(0.5);
/// assert_eq!(*ctx.eval(y)?, 14.5);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait Dependencies {
    /// Appends the prerequisites to a list.
    fn append_to(&self, list: &mut Vec<Dep>);
}

impl Dependencies for Dep {
    fn append_to(&self, list: &mut Vec<Dep>) {
        list.push(*self);
    }
}

impl<D: Dependencies + ?Sized> Dependencies for &D {
    fn append_to(&self, list: &mut Vec<Dep>) {
        (**self).append_to(list);
    }
}

impl<D: Dependencies> Dependencies for [D] {
    fn append_to(&self, list: &mut Vec<Dep>) {
        for each in self {
            each.append_to(list);
        }
    }
}

impl<D: Dependencies, const N: usize> Dependencies for [D; N] {
    fn append_to(&self, list: &mut Vec<Dep>) {
        self[..].append_to(list);
    }
}

impl<D: Dependencies> Dependencies for Vec<D> {
    fn append_to(&self, list: &mut Vec<Dep>) {
        self[..].append_to(list);
    }
}

impl<D: Dependencies> Dependencies for Option<D> {
    fn append_to(&self, list: &mut Vec<Dep>) {
        self.as_slice().append_to(list);
    }
}

macro_rules! tuples_are_dependencies {
    ($($(($name:ident $index:tt))+;)*) => {$(
        impl<$($name: Dependencies),+> Dependencies for ($($name,)+) {
            fn append_to(&self, list: &mut Vec<Dep>) {
                $(self.$index.append_to(list);)+
            }
        }
    )*};
}
tuples_are_dependencies!(
    (A 0) (B 1);
    (A 0) (B 1) (C 2);
    (A 0) (B 1) (C 2) (D 3);
    (A 0) (B 1) (C 2) (D 3) (E 4);
    (A 0) (B 1) (C 2) (D 3) (E 4) (F 5);
    (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6);
    (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7);
);
