//! Scalars, poses, systems, diagrams, contexts and the simulator of tarragon.
//!
//! A [`LeafSystem`] declares ports, state, parameters and events; a [`DiagramBuilder`] wires systems
//! into a [`Diagram`]; a [`Context`] holds the values; a [`Simulator`] advances them. Everything is
//! generic over the [`Scalar`], so the same diagram runs in `f64` and in dual numbers
//! ([`AutoDiff`]). This crate does no I/O and knows no geometry.
//!
//! A value that was read can not outlive a change of the context:
//!
//! ```compile_fail,E0502
//! # use tarragon_framework::{prelude::*, primitives::Gain};
//! # let mut b = DiagramBuilder::new();
//! # let g = b.add("g", Gain::new(2.0, 1));
//! # let mut ctx = b.build().unwrap().default_context();
//! # ctx.fix(g.u, vec![1.0]).unwrap();
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
pub mod error;
pub mod math;
pub mod primitives;
pub mod random;
pub mod scalar;
pub mod simulation;
pub mod systems;
pub mod trajectories;

pub use autodiff::AutoDiff;
pub use error::{Error, Result};
pub use scalar::Scalar;
pub use simulation::config::SimulatorConfig;
pub use simulation::integrator;
pub use simulation::pace::InterruptHandle;
pub use simulation::simulator::{
    InitializeOptions, Simulator, SimulatorStatistics, SimulatorStatus,
};
pub use systems::cache::{CacheMode, CacheStatistics};
pub use systems::context::Context;
pub use systems::declare::Declare;
pub use systems::dependency::Dep;
pub use systems::diagram::{Diagram, DiagramBuilder};
pub use systems::elements::VectorHandle;
pub use systems::event::{
    DiscreteUpdate, EventStatus, ParameterUpdate, StateUpdate, TimedEvent, Trigger,
    WitnessDirection, WitnessFunction,
};
pub use systems::exports::SystemInfo;
pub use systems::handles::{
    AbstractState, CacheEntry, ContinuousState, DiscreteState, InputPort, OutputPort, Param,
};
pub use systems::leaf::{Block, DiagramScalar, LeafSystem};
pub use systems::leaf_context::LeafContext;
pub use systems::value::Value;

/// What a file that writes or wires systems needs.
pub mod prelude {
    pub use crate::{
        AbstractState, AutoDiff, Block, CacheEntry, Context, ContinuousState, Declare, Dep,
        Diagram, DiagramBuilder, DiscreteState, EventStatus, InputPort, LeafContext, LeafSystem,
        OutputPort, Param, Scalar, Simulator, SimulatorStatus, Trigger,
    };
}
