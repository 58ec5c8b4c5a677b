//! Termination by Ctrl-C and by the signals that ask a program to end.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status that a shell reports for a program ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Flag that the program was asked to end. Commands check it between steps, so that temporary files
/// are finished or removed.
#[derive(Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Starts listening; call once per program.
    pub(crate) fn listen() -> Result<Self, Box<dyn Error>> {
        let stop = Self(Arc::default());
        let asked = stop.0.clone();
        ctrlc::set_handler(move || asked.store(true, Ordering::Release))?;
        Ok(stop)
    }
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
