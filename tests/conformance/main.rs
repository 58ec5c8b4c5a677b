//! Conformance: recorded numbers of Drake 1.51.1 and of high precision references against ours.
//!
//! One module per family of queries. The numbers come from the directory named by
//! `TARRAGON_REFERENCE`, else `../shared/reference`, else `tests/reference`; what is not there is
//! skipped with a line that begins with `SKIPPED`. With `TARRAGON_REPORT=FILE` every family adds its
//! counts to that JSON file.

mod kinematics;
mod proximity;
mod support;
