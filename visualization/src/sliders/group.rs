//! Sliders that stand for the elements of a vector.

use crate::meshcat::{Meshcat, lock};
use crate::{Error, Result};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often somebody who waits looks at the sliders.
const POLL_PERIOD: Duration = Duration::from_millis(10);

/// A slider of a group, before it is added.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) step: f64,
    pub(crate) value: f64,
    /// Decrements, increments.
    pub(crate) keycodes: [String; 2],
    /// Elements without a slider keep their value.
    pub(crate) is_shown: bool,
}

/// Sliders of one server, one per element.
#[derive(Debug)]
pub(crate) struct Group {
    meshcat: Meshcat,
    specs: Vec<Spec>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    is_deleted: bool,
    /// Values of elements without a slider.
    values: Vec<f64>,
}

impl Group {
    /// Adds the sliders: all, or none if one can not be added.
    pub(crate) fn new(meshcat: Meshcat, specs: Vec<Spec>) -> Result<Self> {
        let mut values = Vec::with_capacity(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            let added = add(&meshcat, spec).inspect_err(|_| {
                for spec in specs[..i].iter().filter(|s| s.is_shown) {
                    // Somebody else may have removed it already.
                    let _ = meshcat.delete_slider(&spec.name, false);
                }
            });
            values.push(added?);
        }
        let is_deleted = false;
        Ok(Self {
            meshcat,
            specs,
            state: Mutex::new(State { is_deleted, values }),
        })
    }

    pub(crate) fn meshcat(&self) -> &Meshcat {
        &self.meshcat
    }
    pub(crate) fn len(&self) -> usize {
        self.specs.len()
    }
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let shown = self.specs.iter().filter(|s| s.is_shown);
        shown.map(|s| &*s.name)
    }

    /// Hands out the values as they are now, one after the other.
    pub(crate) fn read(&self, mut take: impl FnMut(usize, f64)) {
        let state = lock(&self.state);
        self.meshcat.change(|scene| {
            for (i, (spec, value)) in self.specs.iter().zip(&state.values).enumerate() {
                let slider = (spec.is_shown && !state.is_deleted)
                    .then(|| scene.controls.slider_value(&spec.name));
                take(i, slider.flatten().unwrap_or(*value));
            }
        });
    }
    pub(crate) fn values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        self.read(|i, value| values[i] = value);
        values
    }

    /// Moves the sliders to the nearest values that they can have, and remembers these for when
    /// they are deleted.
    pub(crate) fn set(&self, what: &str, values: &[f64]) -> Result<()> {
        if values.len() != self.len() || values.iter().any(|v| !v.is_finite()) {
            return Err(Error::invalid(format!(
                "{what}: the values are {values:?}, expected {} finite numbers",
                self.len()
            )));
        }
        let mut state = lock(&self.state);
        for ((spec, value), kept) in self.specs.iter().zip(values).zip(&mut state.values) {
            *kept = value.clamp(spec.min, spec.max);
        }
        if state.is_deleted {
            return Ok(());
        }
        for (spec, value) in self.specs.iter().zip(values).filter(|(s, _)| s.is_shown) {
            // A slider that somebody removed has its kept value.
            let _ = self.meshcat.set_slider_value(&spec.name, *value);
        }
        Ok(())
    }

    /// Removes the sliders; the values are now those of the start, or those that were set last.
    pub(crate) fn delete(&self) {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.is_deleted, true) {
            for name in self.names() {
                // Somebody else may have removed it already.
                let _ = self.meshcat.delete_slider(name, false);
            }
        }
    }
}

impl Drop for Group {
    /// Sliders that move nothing any more go, as Drake's do.
    fn drop(&mut self) {
        self.delete();
    }
}

/// Adds one slider; its value.
fn add(meshcat: &Meshcat, spec: &Spec) -> Result<f64> {
    if !spec.is_shown {
        return Ok(spec.value.clamp(spec.min, spec.max));
    }
    let [decrement, increment] = &spec.keycodes;
    let (min, max) = (spec.min, spec.max);
    meshcat.add_slider_with_keycodes(
        &spec.name, min, max, spec.step, spec.value, decrement, increment,
    )
}

/// When to stop a loop that follows sliders.
///
/// ```
/// use tarragon_visualization::RunOptions;
/// let options = RunOptions { timeout: Some(2.5), ..Default::default() };
/// assert_eq!(options.stop_button_keycode, "Escape");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Real time after which it ends (s); without one it ends with the button alone.
    pub timeout: Option<f64>,
    /// The key that clicks the button, see [`Meshcat::add_button`]; none if empty.
    pub stop_button_keycode: String,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            timeout: None,
            stop_button_keycode: "Escape".into(),
        }
    }
}

/// Calls `publish` at once and whenever the values of the sliders have changed, until somebody
/// clicks a button of that name or the time is over.
pub(crate) fn follow(
    group: &Group,
    button: &str,
    options: &RunOptions,
    mut publish: impl FnMut(&[f64]) -> Result<()>,
) -> Result<()> {
    let timeout = match options.timeout {
        None => None,
        Some(t) => match Duration::try_from_secs_f64(t) {
            Ok(t) => Instant::now().checked_add(t),
            Err(_) => {
                return Err(Error::invalid(format!(
                    "'{button}': the timeout is {t} s, expected 0 or more"
                )));
            }
        },
    };
    let meshcat = group.meshcat();
    meshcat.add_button(button, &options.stop_button_keycode)?;
    tracing::info!(
        "click '{button}' in Meshcat to go on: {}",
        meshcat.web_url()
    );
    let mut last: Option<Vec<f64>> = None;
    let ended = loop {
        let values = group.values();
        if last.as_ref() != Some(&values) {
            if let Err(e) = publish(&values) {
                break Err(e);
            }
            last = Some(values);
        }
        // A button that somebody removed can not be clicked any more.
        if meshcat
            .button_clicks(button)
            .map_or(true, |clicks| clicks > 0)
        {
            break Ok(());
        }
        let now = Instant::now();
        if timeout.is_some_and(|end| now >= end) {
            break Ok(());
        }
        let left = timeout.map_or(POLL_PERIOD, |end| end.saturating_duration_since(now));
        std::thread::sleep(left.min(POLL_PERIOD));
    };
    let _ = meshcat.delete_button(button, false);
    ended
}
