//! Options of model files for whole simulations.

use super::mjcf_semantics::MjcfSemantics;

/// Settings of model files for whole simulations, and how the files were read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelOptions {
    /// Time step (s) of the first file that has one. MJCF files have MuJoCo's 0.002 s unless
    /// `<option>` gives another; SDFormat worlds have the `<max_step_size>` of their default
    /// `<physics>`. `None` without such a file. It has no effect by itself; see
    /// [`Parser::use_model_time_step`](crate::parser::Parser::use_model_time_step).
    pub time_step: Option<f64>,
    /// Reading of MJCF files, if any was read.
    pub mjcf_semantics: Option<MjcfSemantics>,
}
