//! Leaf systems and their recorded declarations: ports, state, parameters, cache entries, events.

use super::declare::Declare;
use super::dependency::Dep;
use super::elements::Vectorial;
use super::event::{Handler, RandomParametersFn, RandomStateFn, TimeFn, Trigger, Witness};
use super::handles::PlanId;
use super::leaf_context::LeafContext;
use super::value::Stored;
use crate::{AutoDiff, Result, Scalar};
use std::any::{Any, TypeId, type_name};
use std::ops::Deref;
use std::sync::Arc;

/// A block of a diagram.
///
/// `T` appears in the context, not in the struct, so that one instance serves every scalar that the
/// trait is implemented for. The struct holds structure and constants; everything that changes is
/// declared here and lives in a context.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// y = u^2, element by element.
/// struct Square {
///     size: usize,
/// }
///
/// #[derive(Clone, Copy)]
/// struct SquarePorts<T> {
///     u: InputPort<Vec<T>>,
///     y: OutputPort<Vec<T>>,
/// }
///
/// impl<T: Scalar> LeafSystem<T> for Square {
///     type Ports = SquarePorts<T>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let u = d.vector_input("u", self.size);
///         let y = d.vector_output("y", self.size, &[u.into()], move |_, ctx, y| {
///             for (y, u) in y.iter_mut().zip(ctx.eval(u)?) {
///                 *y = *u * *u;
///             }
///             Ok(())
///         });
///         SquarePorts { u, y }
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let square = b.add("square", Square { size: 2 });
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(square.u, vec![2.0, 3.0])?;
/// assert_eq!(ctx.eval(square.y)?, &[4.0, 9.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait LeafSystem<T: Scalar>: Send + Sync + Sized + 'static {
    /// Typed handles of everything that other code may access.
    type Ports: Clone;
    /// Declares the structure. Closures see `&Self` and a read-only context. The declaration may
    /// depend on `self`, not on `T`.
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports;
}

pub(crate) type CalcFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &mut Stored<T>) -> Result<()> + Send + Sync>;
/// Factory of a default value.
pub(crate) type Model<T> = Box<dyn Fn() -> Stored<T> + Send + Sync>;

/// Map from velocities to position rates or back; the two lengths may differ.
pub(crate) type MapFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &[T], &mut [T]) -> Result<()> + Send + Sync>;

/// Maps between velocities v and position rates qdot, in both directions.
pub(crate) struct VelocityMap<T: Scalar> {
    pub(crate) v_to_qdot: MapFn<T>,
    pub(crate) qdot_to_v: MapFn<T>,
}

/// A declared computation: an output port, a cache entry or the time derivatives.
pub(crate) struct Entry<T: Scalar> {
    pub(crate) name: String,
    pub(crate) is_output: bool,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) size: Option<usize>,
    pub(crate) deps: Vec<Dep>,
    pub(crate) model: Model<T>,
}

/// A declared input port.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) size: Option<usize>,
}

/// A declared parameter.
pub(crate) struct Parameter<T: Scalar> {
    pub(crate) model: Model<T>,
    /// True if the value belongs to its context (a log, a counter) and is not copied to others.
    pub(crate) per_context: bool,
}

/// Continuous state, in this order: positions q, velocities v, miscellaneous z.
#[derive(Clone, Copy, Default)]
pub(crate) struct ContinuousSizes {
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) z: usize,
}

/// All declarations of a leaf, type-erased. Structure only.
pub(crate) struct Leaf<T: Scalar> {
    pub(crate) path: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) entries: Vec<Entry<T>>,
    /// Calc functions of the entries; they move to the plan.
    pub(crate) calcs: Vec<CalcFn<T>>,
    pub(crate) continuous: ContinuousSizes,
    pub(crate) xc0: Vec<T>,
    pub(crate) derivatives: Option<u32>,
    /// `None` if qdot = v.
    pub(crate) velocity_map: Option<VelocityMap<T>>,
    pub(crate) xd0: Vec<Vec<T>>,
    pub(crate) xa0: Vec<Model<T>>,
    pub(crate) parameters: Vec<Parameter<T>>,
    pub(crate) events: Vec<(Trigger, Handler<T>)>,
    pub(crate) element_names: Vec<(Vectorial, Vec<String>)>,
    /// For each declared timed event, the function that returns its next time (s).
    pub(crate) timed: Vec<TimeFn<T>>,
    pub(crate) witnesses: Vec<Witness<T>>,
    pub(crate) random_state: Option<RandomStateFn<T>>,
    pub(crate) random_parameters: Option<RandomParametersFn<T>>,
    /// First mistake in the declaration, reported by `build`.
    pub(crate) mistake: Option<String>,
}

/// System that was added to a diagram: its `f64` ports (by dereferencing: `block.y`), the system
/// itself, and the key to its ports over other scalars ([`crate::Diagram::ports`]).
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::PassThrough};
/// let mut b = DiagramBuilder::new();
/// let wire = b.add("wire", PassThrough::new(2));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(wire.u, vec![1.0, 2.0])?; // a port, by dereferencing
/// assert_eq!(ctx.eval(wire.ports().y)?, &[1.0, 2.0]); // the same, spelled out
/// assert_eq!(ctx.leaf(&wire)?.path(), "wire");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct Block<S: LeafSystem<f64>> {
    pub(crate) plan: PlanId,
    pub(crate) index: usize,
    pub(crate) system: Arc<S>,
    pub(crate) ports: S::Ports,
}

impl<S: LeafSystem<f64>> Block<S> {
    /// Returns the system.
    pub fn system(&self) -> &S {
        &self.system
    }
    /// Returns the ports over `f64`.
    pub fn ports(&self) -> &S::Ports {
        &self.ports
    }
}

impl<S: LeafSystem<f64>> Clone for Block<S> {
    fn clone(&self) -> Self {
        Self {
            plan: self.plan,
            index: self.index,
            system: self.system.clone(),
            ports: self.ports.clone(),
        }
    }
}

impl<S: LeafSystem<f64>> Deref for Block<S> {
    type Target = S::Ports;
    fn deref(&self) -> &S::Ports {
        &self.ports
    }
}

/// Type-erased system that can be declared over any diagram scalar.
pub(crate) trait AnySystem: Send + Sync {
    fn declare_f64(&self, path: &str) -> Option<Leaf<f64>>;
    fn declare_autodiff(&self, path: &str) -> Option<Leaf<AutoDiff>>;
    /// Returns the system itself.
    fn system(&self) -> Arc<dyn Any + Send + Sync>;
    /// Returns the type of the system, for messages.
    fn type_name(&self) -> &'static str;
}

/// System that supports every scalar, with its place.
pub(crate) struct EveryScalar<S>(pub(crate) Arc<S>, pub(crate) PlanId, pub(crate) usize);

impl<S: LeafSystem<f64> + LeafSystem<AutoDiff>> AnySystem for EveryScalar<S> {
    fn declare_f64(&self, path: &str) -> Option<Leaf<f64>> {
        Some(Declare::run(&self.0, self.1, self.2, path).0)
    }
    fn declare_autodiff(&self, path: &str) -> Option<Leaf<AutoDiff>> {
        Some(Declare::run(&self.0, self.1, self.2, path).0)
    }
    fn system(&self) -> Arc<dyn Any + Send + Sync> {
        self.0.clone()
    }
    fn type_name(&self) -> &'static str {
        type_name::<S>()
    }
}

/// System that supports only `f64`, with its place.
pub(crate) struct OnlyF64<S>(pub(crate) Arc<S>, pub(crate) PlanId, pub(crate) usize);

impl<S: LeafSystem<f64>> AnySystem for OnlyF64<S> {
    fn declare_f64(&self, path: &str) -> Option<Leaf<f64>> {
        Some(Declare::run(&self.0, self.1, self.2, path).0)
    }
    fn declare_autodiff(&self, _: &str) -> Option<Leaf<AutoDiff>> {
        None
    }
    fn system(&self) -> Arc<dyn Any + Send + Sync> {
        self.0.clone()
    }
    fn type_name(&self) -> &'static str {
        type_name::<S>()
    }
}

mod sealed {
    /// Seals the set of diagram scalars.
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for crate::AutoDiff {}
}

/// Scalar that diagrams can be converted to: `f64` or [`AutoDiff`].
///
/// ```
/// use tarragon_framework::{DiagramScalar, Result, prelude::*, primitives::Sine};
///
/// /// The number of systems, counted over any scalar.
/// fn count<T: DiagramScalar>(diagram: &Diagram<f64>) -> Result<(usize, &'static str)> {
///     Ok((diagram.to_scalar::<T>()?.systems().count(), T::NAME))
/// }
///
/// let mut b = DiagramBuilder::new();
/// b.add("wave", Sine::new(1.0, 1.0, 0.0, 1));
/// assert_eq!(count::<AutoDiff>(&b.build()?)?, (1, "AutoDiff"));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait DiagramScalar: Scalar + sealed::Sealed {
    /// Name for messages.
    const NAME: &'static str;
    #[doc(hidden)]
    #[allow(
        private_interfaces,
        reason = "sealed: nobody outside can call or implement it"
    )]
    fn declare(system: &dyn AnySystem, path: &str) -> Option<Leaf<Self>>;
}

impl DiagramScalar for f64 {
    const NAME: &'static str = "f64";
    #[allow(private_interfaces, reason = "sealed")]
    fn declare(system: &dyn AnySystem, path: &str) -> Option<Leaf<Self>> {
        system.declare_f64(path)
    }
}

impl DiagramScalar for AutoDiff {
    const NAME: &'static str = "AutoDiff";
    #[allow(private_interfaces, reason = "sealed")]
    fn declare(system: &dyn AnySystem, path: &str) -> Option<Leaf<Self>> {
        system.declare_autodiff(path)
    }
}
