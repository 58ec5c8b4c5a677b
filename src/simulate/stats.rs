//! The line of `--stats json`.

use super::log::{energy_of, num_contacts};
use super::session::Playback;
use serde::Serialize;
use std::time::Duration;
use tarragon::prelude::*;

/// Steps, times and energies of a simulation.
#[derive(Serialize)]
struct Stats {
    steps: u64,
    wall_s: f64,
    /// Of stepping alone, without loading, log and browser.
    us_per_step: f64,
    load_s: f64,
    contacts_at_end: usize,
    energy_start: f64,
    energy_end: f64,
    /// Whether the energy and the state at the end are finite, and the simulation did not fail
    /// numerically.
    finite: bool,
}

impl Playback<'_> {
    /// Returns the energy of the rigid bodies (J).
    pub(super) fn energy(&self) -> f64 {
        let energy = || energy_of(self.plant().system(), &self.state()?);
        energy().unwrap_or(f64::NAN)
    }

    fn state(&self) -> Result<Vec<f64>> {
        let (plant, context) = (self.plant(), self.context());
        let mut state = plant.positions(context)?;
        state.extend(plant.velocities(context)?);
        Ok(state)
    }

    /// Returns the line about a simulation, as JSON.
    pub(super) fn stats(&self, load: Duration, energy_start: f64, diverged: bool) -> String {
        let state = self.state().unwrap_or_default();
        let contacts = self.context().eval(self.contacts());
        let (steps, stepping) = self.stepping();
        let energy_end = self.energy();
        let stats = Stats {
            steps,
            wall_s: self.wall_time().as_secs_f64(),
            us_per_step: stepping.as_secs_f64() * 1e6 / steps.max(1) as f64,
            load_s: load.as_secs_f64(),
            contacts_at_end: contacts.map_or(0, num_contacts),
            energy_start,
            energy_end,
            finite: !diverged && energy_end.is_finite() && state.iter().all(|x| x.is_finite()),
        };
        // Numbers and flags cannot fail; those that are not finite become null.
        serde_json::to_string(&stats).unwrap_or_default()
    }
}
