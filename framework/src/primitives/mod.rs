//! Small systems that most diagrams need, one per file; also the reference for how to write one.

mod adder;
mod constant_vector_source;
mod gain;
mod integrator;
mod sine;
mod trajectory_source;
mod vector_log_sink;
mod zero_order_hold;

pub use adder::{Adder, AdderPorts};
pub use constant_vector_source::{ConstantVectorSource, ConstantVectorSourcePorts};
pub use gain::{Gain, GainPorts};
pub use integrator::{Integrator, IntegratorPorts};
pub use sine::{Sine, SinePorts};
pub use trajectory_source::{TrajectorySource, TrajectorySourcePorts};
pub use vector_log_sink::{VectorLog, VectorLogSink, VectorLogSinkPorts};
pub use zero_order_hold::{ZeroOrderHold, ZeroOrderHoldPorts};
