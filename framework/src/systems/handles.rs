//! Typed handles: how ports, state, parameters and cache entries are named in code.
//!
//! A handle is `Copy`, carries the type of its value and the id of the diagram it was declared in.
//! Using it with a context of another diagram is an error that names both, never a wrong read.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

/// Identity of a diagram's structure. A diagram converted to another scalar keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PlanId(u32);

impl PlanId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "diagram #{}", self.0)
    }
}

/// Where a handle points: diagram, system, index among the system's things of that kind.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub(crate) plan: PlanId,
    pub(crate) system: u32,
    pub(crate) index: u32,
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        pub struct $name<V> {
            pub(crate) place: Place,
            marker: PhantomData<fn() -> V>,
        }
        impl<V> $name<V> {
            pub(crate) fn new(plan: PlanId, system: usize, index: usize) -> Self {
                Self::at(Place { plan, system: system as u32, index: index as u32 })
            }
            pub(crate) fn at(place: Place) -> Self {
                Self { place, marker: PhantomData }
            }
        }
        impl<V> Clone for $name<V> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<V> Copy for $name<V> {}
        impl<V> fmt::Debug for $name<V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Place { plan, system, index } = self.place;
                write!(f, concat!(stringify!($name), "({} system {} index {})"), plan, system, index)
            }
        }
    )*};
}
handles!(
    /// Input port carrying a `V`.
    InputPort,
    /// Output port carrying a `V`.
    OutputPort,
    /// Private cached computation of a `V`.
    CacheEntry,
    /// Parameter of type `V`.
    Param,
    /// Abstract state of type `V`.
    AbstractState,
    /// The continuous state of a system; `V` is `Vec<T>`.
    ContinuousState,
    /// One group of discrete state; `V` is `Vec<T>`.
    DiscreteState
);
