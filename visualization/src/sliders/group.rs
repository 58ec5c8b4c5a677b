//! A group of sliders, one for each element of a vector.

use crate::meshcat::{Meshcat, lock, nearest_allowed};
use crate::{Error, Result};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Interval at which a waiting loop polls the sliders.
const POLL_PERIOD: Duration = Duration::from_millis(10);

/// Description of a slider that is not added yet.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) step: f64,
    pub(crate) value: f64,
    /// Key codes that decrement and increment the value.
    pub(crate) keycodes: [String; 2],
    /// Whether the slider is added; an element without a slider keeps its value.
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
    /// Values of elements that have no slider.
    values: Vec<f64>,
}

impl Group {
    /// Adds the sliders. Adds none if one of them cannot be added.
    pub(crate) fn new(meshcat: Meshcat, specs: Vec<Spec>) -> Result<Self> {
        let mut values = Vec::with_capacity(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            let added = add(&meshcat, spec).inspect_err(|_| {
                for spec in specs[..i].iter().filter(|s| s.is_shown) {
                    // Someone else may have removed it already.
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

    /// Passes the current values to `take`, in order.
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

    /// Moves the sliders to the nearest values they can take, and keeps these values for after a
    /// deletion.
    pub(crate) fn set(&self, what: &str, values: &[f64]) -> Result<()> {
        if values.len() != self.len() || values.iter().any(|v| !v.is_finite()) {
            return Err(Error::invalid(format!(
                "{what}: values must be {} finite numbers, got {values:?}",
                self.len()
            )));
        }
        let mut state = lock(&self.state);
        for ((spec, value), kept) in self.specs.iter().zip(values).zip(&mut state.values) {
            *kept = if spec.is_shown {
                nearest_allowed([spec.min, spec.max], spec.step, *value)
            } else {
                value.clamp(spec.min, spec.max)
            };
        }
        if state.is_deleted {
            return Ok(());
        }
        for (spec, value) in self.specs.iter().zip(values).filter(|(s, _)| s.is_shown) {
            // If someone else removed the slider, the kept value applies.
            let _ = self.meshcat.set_slider_value(&spec.name, *value);
        }
        Ok(())
    }

    /// Removes the sliders. The values are then the initial ones, or those set last by `set`.
    pub(crate) fn delete(&self) {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.is_deleted, true) {
            for name in self.names() {
                // Someone else may have removed it already.
                let _ = self.meshcat.delete_slider(name, false);
            }
        }
    }
}

impl Drop for Group {
    /// Removes the sliders, as Drake does: they would have no effect.
    fn drop(&mut self) {
        self.delete();
    }
}

/// Adds one slider and returns its value.
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

/// Conditions that end a loop that follows sliders.
///
/// ```
/// use tarragon_visualization::RunOptions;
/// let options = RunOptions { timeout: Some(2.5), ..Default::default() };
/// assert_eq!(options.stop_button_keycode, "Escape");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Real time after which the loop ends (s); `None` means that only the button ends it.
    pub timeout: Option<f64>,
    /// Key that clicks the button, see [`Meshcat::add_button`]; none if empty.
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

/// Calls `publish` at once and whenever the values of the sliders have changed, until someone
/// clicks the button or the timeout expires.
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
                    "'{button}': the timeout must be 0 s or more, got {t:?} s"
                )));
            }
        },
    };
    let meshcat = group.meshcat();
    meshcat.add_button(button, &options.stop_button_keycode)?;
    tracing::info!(
        "click '{button}' in Meshcat to continue: {}",
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
        // A button that someone removed cannot be clicked.
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
