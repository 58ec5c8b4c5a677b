//! Systems that were added to a diagram, over any scalar.

use super::{Declare, LeafSystem};
use crate::systems::handles::PlanId;
use crate::systems::plan::Leaf;
use crate::{AutoDiff, Scalar};
use std::any::{Any, type_name};
use std::ops::Deref;
use std::sync::Arc;

/// System that was added to a diagram: its `f64` ports (by dereferencing: `block.y`), the system
/// itself, and the key to its ports over other scalars ([`crate::Diagram::ports`]).
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::PassThrough};
/// let mut b = DiagramBuilder::new();
/// let wire = b.add("wire", PassThrough::new(2));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(wire.u, [1.0, 2.0])?; // a port, by dereferencing
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

/// Ports of a system, of the type that its [`LeafSystem`] implementation names.
pub(crate) type ErasedPorts = Arc<dyn Any + Send + Sync>;

/// Result of a declaration.
pub(crate) struct Declared<T: Scalar> {
    pub(crate) leaf: Leaf<T>,
    pub(crate) ports: ErasedPorts,
}

impl<T: Scalar> Declared<T> {
    /// Declares a system.
    fn of<S: LeafSystem<T>>(system: &Arc<S>, plan: PlanId, index: usize, path: &str) -> Self {
        let (leaf, ports) = Declare::run(system, plan, index, path);
        let ports = Arc::new(ports);
        Self { leaf, ports }
    }
}

/// Type-erased system that can be declared over any diagram scalar.
pub(crate) trait AnySystem: Send + Sync {
    fn declare_f64(&self, path: &str) -> Option<Declared<f64>>;
    fn declare_autodiff(&self, path: &str) -> Option<Declared<AutoDiff>>;
    /// Returns the system itself.
    fn system(&self) -> Arc<dyn Any + Send + Sync>;
    /// Returns the type of the system, for messages.
    fn type_name(&self) -> &'static str;
}

/// System that supports every scalar, with its place.
pub(crate) struct EveryScalar<S>(pub(crate) Arc<S>, pub(crate) PlanId, pub(crate) usize);

impl<S: LeafSystem<f64> + LeafSystem<AutoDiff>> AnySystem for EveryScalar<S> {
    fn declare_f64(&self, path: &str) -> Option<Declared<f64>> {
        Some(Declared::of(&self.0, self.1, self.2, path))
    }
    fn declare_autodiff(&self, path: &str) -> Option<Declared<AutoDiff>> {
        Some(Declared::of(&self.0, self.1, self.2, path))
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
    fn declare_f64(&self, path: &str) -> Option<Declared<f64>> {
        Some(Declared::of(&self.0, self.1, self.2, path))
    }
    fn declare_autodiff(&self, _: &str) -> Option<Declared<AutoDiff>> {
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
/// b.add("wave", Sine::new(1));
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
    fn declare(system: &dyn AnySystem, path: &str) -> Option<Declared<Self>>;
    /// Declares a [`PrecompiledSystem`].
    fn declare_precompiled<S: PrecompiledSystem>(
        system: &S,
        d: &mut Declare<S, Self>,
    ) -> S::Ports<Self>;
}

/// A system that is declared by functions of each scalar instead of generic ones. They are compiled
/// in the crate of the system, with all that its ports compute, and not again in every crate that
/// adds it to a diagram. For large systems, this saves most of the time that users' crates compile.
///
/// ```
/// use tarragon_framework::{AutoDiff, DiagramScalar, PrecompiledSystem, prelude::*};
///
/// struct Planet;
///
/// impl Planet {
///     fn declare_ports<T: Scalar>(&self, d: &mut Declare<Self, T>) -> OutputPort<Vec<T>> {
///         d.vector_output("pull", 1, Dep::Nothing, |_, _, y| {
///             y[0] = T::from(9.81);
///             Ok(())
///         })
///     }
/// }
///
/// impl PrecompiledSystem for Planet {
///     type Ports<T: Scalar> = OutputPort<Vec<T>>;
///     fn declare_f64(&self, d: &mut Declare<Self, f64>) -> OutputPort<Vec<f64>> {
///         self.declare_ports(d)
///     }
///     fn declare_autodiff(&self, d: &mut Declare<Self, AutoDiff>) -> OutputPort<Vec<AutoDiff>> {
///         self.declare_ports(d)
///     }
/// }
///
/// impl<T: DiagramScalar> LeafSystem<T> for Planet {
///     type Ports = OutputPort<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         T::declare_precompiled(self, d)
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let planet = b.add("planet", Planet);
/// assert_eq!(b.build()?.default_context().eval(*planet)?, &[9.81]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait PrecompiledSystem: Sized {
    /// Ports over a scalar: [`LeafSystem::Ports`].
    type Ports<T: Scalar>;
    /// [`LeafSystem::declare`] over `f64`.
    fn declare_f64(&self, d: &mut Declare<Self, f64>) -> Self::Ports<f64>;
    /// [`LeafSystem::declare`] over [`AutoDiff`].
    fn declare_autodiff(&self, d: &mut Declare<Self, AutoDiff>) -> Self::Ports<AutoDiff>;
}

impl DiagramScalar for f64 {
    const NAME: &'static str = "f64";
    #[allow(private_interfaces, reason = "sealed")]
    fn declare(system: &dyn AnySystem, path: &str) -> Option<Declared<Self>> {
        system.declare_f64(path)
    }
    fn declare_precompiled<S: PrecompiledSystem>(
        system: &S,
        d: &mut Declare<S, Self>,
    ) -> S::Ports<Self> {
        system.declare_f64(d)
    }
}

impl DiagramScalar for AutoDiff {
    const NAME: &'static str = "AutoDiff";
    #[allow(private_interfaces, reason = "sealed")]
    fn declare(system: &dyn AnySystem, path: &str) -> Option<Declared<Self>> {
        system.declare_autodiff(path)
    }
    fn declare_precompiled<S: PrecompiledSystem>(
        system: &S,
        d: &mut Declare<S, Self>,
    ) -> S::Ports<Self> {
        system.declare_autodiff(d)
    }
}
