//! The Python program that has MuJoCo.

use std::ffi::OsString;
use std::io::Write;

/// Returns the program; `None` if there is none, and then the test says that it is skipped.
pub(crate) fn python() -> Option<OsString> {
    let python = std::env::var_os("TARRAGON_MUJOCO");
    if python.is_none() {
        let why = "no mujoco (TARRAGON_MUJOCO names a Python that has it)";
        // The captured output of a test that passes is not shown.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
    }
    python
}
