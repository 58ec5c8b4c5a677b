//! Typed handles that name ports, state, parameters and cache entries in code.
//!
//! A handle is `Copy` and carries the type of its value and the id of the diagram it was declared
//! in. Using it with a context of another diagram is an error that names both, never a wrong read.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

/// Identity of a diagram's structure. Conversion to another scalar keeps it.
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

/// Target of a handle: diagram, system, and index among the system's items of that kind.
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
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Gain};
    /// let mut b = DiagramBuilder::new();
    /// let (a, c) = (b.add("a", Gain::new(1, 2.0)), b.add("c", Gain::new(1, 3.0)));
    /// let inner: InputPort<Vec<f64>> = c.u;
    /// b.connect(a.y, inner);
    /// let mut ctx = b.build()?.default_context();
    /// ctx.fix(a.u, 1.0)?;
    /// assert!(ctx.fix(inner, 1.0).is_err(), "it is connected");
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    InputPort,
    /// Output port carrying a `V`.
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::ConstantVectorSource};
    /// let mut b = DiagramBuilder::new();
    /// let y: OutputPort<Vec<f64>> = b.add("source", ConstantVectorSource::new(7.0)).y;
    /// let diagram = b.build()?;
    /// assert_eq!(diagram.default_context().eval(y)?, &[7.0]);
    /// let other = DiagramBuilder::new().build()?;
    /// assert!(other.default_context().eval(y).is_err(), "it is of another diagram");
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    OutputPort,
    /// Private cached computation of a `V`.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    ///
    /// /// Expensive computation, done once.
    /// struct Table;
    /// impl<T: Scalar> LeafSystem<T> for Table {
    ///     type Ports = CacheEntry<Vec<usize>>;
    ///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
    ///         d.cache_entry("squares", vec![], Dep::Nothing, |_, _, squares| {
    ///             squares.extend((0..4).map(|i| i * i));
    ///             Ok(())
    ///         })
    ///     }
    /// }
    ///
    /// let mut b = DiagramBuilder::new();
    /// let table = b.add("table", Table);
    /// let ctx = b.build()?.default_context();
    /// assert_eq!(ctx.leaf(&table)?.cached(*table.ports())?, &[0, 1, 4, 9]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    CacheEntry,
    /// Parameter of type `V`.
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Gain};
    /// let mut b = DiagramBuilder::new();
    /// let k: Param<f64> = b.add("gain", Gain::new(1, 2.0)).k;
    /// let mut ctx = b.build()?.default_context();
    /// *ctx.param_mut(k)? += 1.0;
    /// assert_eq!(*ctx.param(k)?, 3.0);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    Param,
    /// Abstract state of type `V`.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use tarragon_framework::{prelude::*, primitives::ValueZeroOrderHold};
    /// let mut b = DiagramBuilder::new();
    /// let hold = ValueZeroOrderHold::new(String::from("idle"), 0.1, 0.0);
    /// let samples: AbstractState<VecDeque<String>> = b.add("hold", hold).x;
    /// let mut ctx = b.build()?.default_context();
    /// ctx.xa_mut(samples)?[0].push_str(" hands");
    /// assert_eq!(ctx.xa(samples)?[0], "idle hands");
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    AbstractState,
    /// The continuous state of a system; `V` is `Vec<T>`.
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Integrator};
    /// let mut b = DiagramBuilder::new();
    /// let x: ContinuousState<Vec<f64>> = b.add("integrator", Integrator::new(2)).x;
    /// let mut ctx = b.build()?.default_context();
    /// ctx.xc_mut(x)?[1] = 5.0;
    /// assert_eq!(ctx.xc(x)?, [0.0, 5.0]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ContinuousState,
    /// One group of discrete state; `V` is `Vec<T>`.
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::DiscreteTimeIntegrator};
    /// let mut b = DiagramBuilder::new();
    /// let x: DiscreteState<Vec<f64>> = b.add("sum", DiscreteTimeIntegrator::new(2, 0.1)?).x;
    /// let mut ctx = b.build()?.default_context();
    /// ctx.xd_mut(x)?[1] = 5.0;
    /// assert_eq!(ctx.xd(x)?, [0.0, 5.0]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    DiscreteState
);
