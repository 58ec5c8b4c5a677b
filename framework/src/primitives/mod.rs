//! Small systems that most diagrams need, one per file. They also serve as examples of how to write
//! a system.
//!
//! Constructors take their arguments in one order: the number of inputs, the size of vectors (or a
//! value in its place), the period (s), the offset (s), and then the rest, such as a gain, a number
//! of steps or a distribution.

mod adder;
mod affine_system;
mod check;
mod constant_value_source;
mod constant_vector_source;
mod demultiplexer;
mod discrete_derivative;
mod discrete_time_delay;
mod discrete_time_integrator;
mod first_order_low_pass_filter;
mod gain;
mod integrator;
mod linear_system;
mod matrix_gain;
mod multiplexer;
mod pass_through;
mod pid_controller;
mod port_switch;
mod random_source;
mod sampled_values;
mod saturation;
mod selector;
mod sine;
mod state_interpolator;
mod trajectory_source;
mod vector_log;
mod vector_log_sink;
mod vector_system;
mod wrap_to_system;
mod zero_order_hold;

pub use adder::{Adder, AdderPorts};
pub use affine_system::{AffineSystem, AffineSystemPorts};
pub use constant_value_source::{ConstantValueSource, ConstantValueSourcePorts};
pub use constant_vector_source::{ConstantVectorSource, ConstantVectorSourcePorts};
pub use demultiplexer::{Demultiplexer, DemultiplexerPorts};
pub use discrete_derivative::{DiscreteDerivative, DiscreteDerivativePorts, InputHistory};
pub use discrete_time_delay::{DiscreteTimeDelay, DiscreteTimeDelayPorts, ValueDiscreteTimeDelay};
pub use discrete_time_integrator::{DiscreteTimeIntegrator, DiscreteTimeIntegratorPorts};
pub use first_order_low_pass_filter::{FirstOrderLowPassFilter, FirstOrderLowPassFilterPorts};
pub use gain::{Gain, GainPorts};
pub use integrator::{Integrator, IntegratorPorts};
pub use linear_system::LinearSystem;
pub use matrix_gain::{MatrixGain, MatrixGainPorts};
pub use multiplexer::{Multiplexer, MultiplexerPorts};
pub use pass_through::{PassThrough, PassThroughPorts, ValuePassThrough};
pub use pid_controller::{PidController, PidControllerPorts};
pub use port_switch::{PortSwitch, PortSwitchPorts, ValuePortSwitch};
pub use random_source::{RandomSource, RandomSourcePorts};
pub use sampled_values::SampledValuePorts;
pub use saturation::{Saturation, SaturationPorts};
pub use selector::{Selector, SelectorPorts};
pub use sine::{Sine, SinePorts};
pub use state_interpolator::{StateInterpolatorPorts, StateInterpolatorWithDiscreteDerivative};
pub use trajectory_source::{TrajectorySource, TrajectorySourcePorts};
pub use vector_log::VectorLog;
pub use vector_log_sink::{
    VectorLogSink, VectorLogSinkPorts, log_vector_output, log_vector_output_on,
};
pub use vector_system::{VectorClosures, VectorFunctions, VectorSystem, VectorSystemPorts};
pub use wrap_to_system::{WrapToSystem, WrapToSystemPorts};
pub use zero_order_hold::{ValueZeroOrderHold, ZeroOrderHold, ZeroOrderHoldPorts};
