//! Prerequisites of computations (Drake's dependency tickets).

use super::handles::{
    AbstractState, CacheEntry, DiscreteState, InputPort, OutputPort, Param, Place,
};

/// A prerequisite of a computation. Handles of the system's own inputs, parameters, state, cache
/// entries and outputs convert into it.
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
///         let reads = [Dep::Time, u.into()];
///         let y = d.output("y", T::zero(), &reads, move |_, ctx, y| {
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
    /// Everything except other computations; also the meaning of an empty list.
    AllSources,
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
            Self::DiscreteGroup(place)
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
    )*};
}
handle_is_a_dependency!(
    InputPort => Input,
    OutputPort => Entry,
    CacheEntry => Entry,
    Param => Parameter,
    DiscreteState => DiscreteGroup,
    AbstractState => AbstractEntry
);
