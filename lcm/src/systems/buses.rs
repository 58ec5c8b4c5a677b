//! Buses by name.

use crate::bus::Lcm;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// The buses of a simulation by name (Drake's `LcmBuses`); clones hold the same buses.
///
/// ```
/// use tarragon_lcm::{Lcm, LcmBuses};
/// let mut buses = LcmBuses::new();
/// buses.add("default", Lcm::with_url("memq://")?)?;
/// buses.find("camera 'top'", "default")?;
/// let error = buses.find("camera 'top'", "driver").unwrap_err().to_string();
/// assert_eq!(error, "camera 'top': there is no LCM bus 'driver'; the buses are: 'default'");
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LcmBuses {
    buses: BTreeMap<String, Lcm>,
}

impl LcmBuses {
    /// The URL of a bus that discards everything (Drake's `kLcmUrlMemqNull`).
    pub const MEMQ_NULL: &str = "memq://null";

    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a bus.
    ///
    /// # Errors
    /// Returns an error if the name is already in use.
    pub fn add(&mut self, name: &str, lcm: Lcm) -> Result<()> {
        if self.buses.contains_key(name) {
            return Err(Error::exists(format!(
                "LcmBuses: there already is a bus '{name}'; choose another name"
            )));
        }
        self.buses.insert(name.into(), lcm);
        Ok(())
    }
    /// Finds a bus by name. `caller` is the place named in the error.
    ///
    /// # Errors
    /// Returns an error if there is no bus of this name.
    pub fn find(&self, caller: &str, name: &str) -> Result<&Lcm> {
        self.buses.get(name).ok_or_else(|| {
            let names: Vec<String> = self.names().map(|name| format!("'{name}'")).collect();
            let those = match names.len() {
                0 => "none".into(),
                _ => names.join(", "),
            };
            Error::not_found(format!(
                "{caller}: there is no LCM bus '{name}'; the buses are: {those}"
            ))
        })
    }
    /// Names of all buses, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.buses.keys().map(String::as_str)
    }
    /// All buses with their names, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Lcm)> {
        self.buses.iter().map(|(name, lcm)| (name.as_str(), lcm))
    }
    /// The number of buses.
    pub fn len(&self) -> usize {
        self.buses.len()
    }
    /// Whether there is no bus.
    pub fn is_empty(&self) -> bool {
        self.buses.is_empty()
    }
}
