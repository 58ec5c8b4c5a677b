//! Helpers of the tests of the parsers.

pub(crate) mod edits;
pub(crate) mod loaded;
pub(crate) mod mujoco;
