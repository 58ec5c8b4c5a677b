//! Scalars, poses, systems, diagrams, contexts and the simulator of tarragon.
//!
//! A [`LeafSystem`] declares ports, state, parameters and events; a [`DiagramBuilder`] wires
//! systems into a [`Diagram`]; a [`Context`] holds the values; a [`Simulator`] advances them.
//! Everything is generic over the [`Scalar`], so the same diagram runs in `f64` and in dual numbers
//! ([`AutoDiff`]). This crate does no I/O and knows no geometry.
//!
//! A value that was read cannot outlive a change of the context:
//!
//! ```compile_fail,E0502
//! # use tarragon_framework::{prelude::*, primitives::Gain};
//! # let mut b = DiagramBuilder::new();
//! # let g = b.add("g", Gain::new(1, 2.0));
//! # let mut ctx = b.build().unwrap().default_context();
//! # ctx.fix(g.u, 1.0).unwrap();
//! let y = ctx.eval(g.y).unwrap();
//! ctx.set_time(1.0); // would make `y` stale
//! println!("{y:?}");
//! ```
//!
//! Ports of different types do not connect:
//!
//! ```compile_fail,E0308
//! # use tarragon_framework::prelude::*;
//! fn wire(b: &mut DiagramBuilder, from: OutputPort<String>, to: InputPort<Vec<f64>>) {
//!     b.connect(from, to);
//! }
//! ```
//!
//! A context belongs to one thread at a time:
//!
//! ```compile_fail,E0277
//! fn sync<X: Sync>() {}
//! sync::<tarragon_framework::Context<f64>>();
//! ```

pub mod analysis;
pub mod autodiff;
mod counted;
mod disjoint_sets;
mod error;
mod git_lfs;
pub mod math;
pub mod primitives;
pub mod random;
mod scalar;
mod scratch;
pub mod simd;
mod simulation;
mod systems;
mod timestamp;
pub mod trajectories;
pub mod warnings;

pub use autodiff::dual::AutoDiff;
pub use counted::counted;
pub use disjoint_sets::DisjointSets;
pub use error::{Error, ErrorKind, FileLocation, Result};
pub use git_lfs::git_lfs_pointer;
pub use scalar::Scalar;
pub use scratch::Scratch;
pub use simulation::config::SimulatorConfig;
pub use simulation::integrator;
pub use simulation::pace::InterruptHandle;
pub use simulation::simulator::{
    InitializeOptions, Simulator, SimulatorStatistics, SimulatorStatus,
};
pub use systems::context::Context;
pub use systems::declare::{Block, Declare, DiagramScalar, LeafSystem, PrecompiledSystem};
pub use systems::dependency::{Dep, Dependencies};
pub use systems::diagram::{Diagram, DiagramBuilder, SystemInfo};
pub use systems::elements::VectorHandle;
pub use systems::event::{
    DiscreteUpdate, EventStatus, ParameterUpdate, StateUpdate, TimedEvent, Trigger,
    WitnessDirection, WitnessFunction,
};
pub use systems::files::FileNames;
pub use systems::handles::{
    AbstractState, CacheEntry, ContinuousState, DiscreteState, InputPort, OutputPort, Param,
};
pub use systems::into_value::IntoValue;
pub use systems::plan::LeafContext;
pub use systems::storage::{CacheMode, CacheStatistics};
pub use systems::value::Value;
pub use timestamp::{to_microseconds, to_milliseconds};

/// Common imports for code that writes or wires systems.
pub mod prelude {
    pub use crate::{
        AbstractState, AutoDiff, Block, CacheEntry, Context, ContinuousState, Declare, Dep,
        Diagram, DiagramBuilder, DiscreteState, EventStatus, InputPort, LeafContext, LeafSystem,
        OutputPort, Param, Scalar, Simulator, SimulatorStatus, Trigger,
    };
}

/// Code that must not compile, in addition to the examples in the documentation of the crate.
///
/// An input cannot be fixed to a value of another type:
///
/// ```compile_fail,E0277
/// # use tarragon_framework::{prelude::*, primitives::Gain};
/// # let mut b = DiagramBuilder::new();
/// # let g = b.add("g", Gain::new(1, 2.0));
/// # let mut ctx = b.build().unwrap().default_context();
/// ctx.fix(g.u, String::from("1.0")).unwrap();
/// ```
///
/// Discrete state is not a parameter:
///
/// ```compile_fail,E0308
/// # use tarragon_framework::{prelude::*, primitives::ZeroOrderHold};
/// # let mut b = DiagramBuilder::new();
/// # let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
/// # let mut ctx = b.build().unwrap().default_context();
/// ctx.param_mut(hold.x).unwrap();
/// ```
///
/// An output is not an input:
///
/// ```compile_fail,E0308
/// # use tarragon_framework::{prelude::*, primitives::Gain};
/// # let mut b = DiagramBuilder::new();
/// # let (g, h) = (b.add("g", Gain::new(1, 2.0)), b.add("h", Gain::new(1, 2.0)));
/// b.connect(g.u, h.y);
/// ```
///
/// A value that a computation reads does not outlive it:
///
/// ```compile_fail,E0521
/// # use tarragon_framework::prelude::*;
/// let mut kept: Vec<&[f64]> = vec![];
/// let calc = |ctx: &LeafContext<'_, f64>| kept.push(ctx.xc());
/// ```
///
/// A context does not change while its values are borrowed:
///
/// ```compile_fail,E0502
/// # use tarragon_framework::{prelude::*, primitives::Gain};
/// # let mut b = DiagramBuilder::new();
/// # let g = b.add("g", Gain::new(1, 2.0));
/// # let mut ctx = b.build().unwrap().default_context();
/// let leaf = ctx.leaf(&g).unwrap();
/// ctx.set_time(1.0);
/// leaf.param(g.k);
/// ```
///
/// Nor while a value is borrowed mutably:
///
/// ```compile_fail,E0502
/// # use tarragon_framework::{prelude::*, primitives::Gain};
/// # let mut b = DiagramBuilder::new();
/// # let g = b.add("g", Gain::new(1, 2.0));
/// # let mut ctx = b.build().unwrap().default_context();
/// let k = ctx.param_mut(g.k).unwrap();
/// ctx.eval(g.y).unwrap();
/// *k = 3.0;
/// ```
///
/// A publish does not change its context:
///
/// ```compile_fail,E0599
/// # use tarragon_framework::prelude::*;
/// struct Meddler;
/// impl LeafSystem<f64> for Meddler {
///     type Ports = ();
///     fn declare(&self, d: &mut Declare<Self, f64>) {
///         d.publish_on(Trigger::PerStep, |_, ctx| {
///             ctx.set_time(1.0);
///             Ok(EventStatus::Succeeded)
///         });
///     }
/// }
/// ```
///
/// Neither does a monitor:
///
/// ```compile_fail,E0596
/// # use tarragon_framework::prelude::*;
/// fn meddle(sim: &mut Simulator<f64>) {
///     sim.set_monitor(|ctx| {
///         ctx.set_time(1.0);
///         Ok(EventStatus::Succeeded)
///     });
/// }
/// ```
///
/// A computation does not write state:
///
/// ```compile_fail,E0594
/// # use tarragon_framework::prelude::*;
/// fn calc(ctx: &LeafContext<'_, f64>, x: DiscreteState<Vec<f64>>) {
///     ctx.xd(x)[0] = 1.0;
/// }
/// ```
///
/// An empty list does not say whether a computation depends on nothing or on everything:
///
/// ```compile_fail,E0283
/// # use tarragon_framework::prelude::*;
/// fn declare(d: &mut Declare<tarragon_framework::primitives::Gain, f64>) {
///     d.vector_output("y", 1, [], |_, _, _| Ok(()));
/// }
/// ```
///
/// The context of a computation stays on its thread:
///
/// ```compile_fail,E0277
/// fn send<X: Send>() {}
/// send::<tarragon_framework::LeafContext<'static, f64>>();
/// ```
///
/// A system of `f64` alone must be added with `add_f64`:
///
/// ```compile_fail,E0277
/// # use tarragon_framework::prelude::*;
/// struct Camera;
/// impl LeafSystem<f64> for Camera {
///     type Ports = ();
///     fn declare(&self, _: &mut Declare<Self, f64>) {}
/// }
/// DiagramBuilder::new().add("camera", Camera);
/// ```
///
/// A simulator and its context must have the same scalar:
///
/// ```compile_fail,E0308
/// # use tarragon_framework::prelude::*;
/// fn simulate(diagram: &Diagram<AutoDiff>, ctx: Context<f64>) {
///     let _ = Simulator::new(diagram, ctx);
/// }
/// ```
#[cfg(doctest)]
mod does_not_compile {}
