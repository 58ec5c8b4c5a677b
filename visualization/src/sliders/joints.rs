//! Sliders for the positions of a plant.

use super::group::{Group, RunOptions, Spec, follow};
use crate::meshcat::Meshcat;
use crate::{Error, Result};
use std::collections::BTreeMap;
use tarragon_framework::counted;
use tarragon_framework::prelude::*;
use tarragon_multibody::MultibodyPlant;

/// Half the range of a slider whose joint has no limits.
const RANGE: f64 = 10.0;
const STEP: f64 = 0.01;

/// A number for the slider of each position: the default, one number for all, one for each in the
/// order of q, or numbers by name. Names are those of sliders, such as `shoulder/arm`, or of
/// positions, such as `shoulder`.
///
/// ```
/// use tarragon_visualization::SliderValues;
/// assert_eq!(SliderValues::from(0.1), SliderValues::All(0.1));
/// assert_eq!(SliderValues::from(vec![0.1, 0.2]), SliderValues::Each(vec![0.1, 0.2]));
/// let named = SliderValues::from_iter([("shoulder/arm", 0.5)]);
/// assert!(matches!(named, SliderValues::Named(_)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SliderValues {
    /// The default for all sliders.
    #[default]
    Default,
    /// The same number for all sliders.
    All(f64),
    /// One number for each position, in the order of q.
    Each(Vec<f64>),
    /// Numbers by name; sliders that are not named have their default.
    Named(BTreeMap<String, f64>),
}

impl From<f64> for SliderValues {
    fn from(value: f64) -> Self {
        Self::All(value)
    }
}
impl From<Vec<f64>> for SliderValues {
    fn from(values: Vec<f64>) -> Self {
        Self::Each(values)
    }
}
impl<N: Into<String>> FromIterator<(N, f64)> for SliderValues {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(values: I) -> Self {
        let values = values.into_iter();
        Self::Named(values.map(|(name, value)| (name.into(), value)).collect())
    }
}

/// Parameters of [`JointSliders`].
///
/// ```
/// use tarragon_visualization::JointSlidersParams;
/// let params = JointSlidersParams { step: 0.05.into(), ..Default::default() };
/// assert_eq!(params.initial_value, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointSlidersParams {
    /// Initial values of the sliders; `None` means the default positions of the plant.
    pub initial_value: Option<Vec<f64>>,
    /// Lower ends of the ranges, -10 by default (rad or m). A higher lower limit of the joint takes
    /// precedence.
    pub lower_limit: SliderValues,
    /// Upper ends of the ranges, 10 by default (rad or m). A lower upper limit of the joint takes
    /// precedence.
    pub upper_limit: SliderValues,
    /// Step sizes, 0.01 by default (rad or m).
    pub step: SliderValues,
    /// Keys that decrement the sliders, in the order of q, see [`Meshcat::add_button`]; empty, or
    /// one for each position.
    pub decrement_keycodes: Vec<String>,
    /// Keys that increment the sliders, likewise.
    pub increment_keycodes: Vec<String>,
}

/// Sliders for the positions of a plant (Drake's `JointSliders`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `positions` | vector of the plant's positions q |
///
/// There is one slider per position, named after the position and the model instance:
/// `shoulder/arm`, `base_x/arm`. By default, the range is the part of the joint's range within -10
/// to 10 (rad, m). If the joint's range lies outside, it is the part within 20 of the end that is
/// nearer to zero.
///
/// The sliders are removed when the system is dropped, that is, with its diagram.
///
/// The output is the values of the sliders when it is computed. A context keeps it until its time
/// changes or [`refresh`](JointSlidersPorts::refresh) is called.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_formats::Parser;
/// use tarragon_multibody::MultibodyPlantBuilder;
/// use tarragon_visualization::{JointSliders, Meshcat, MeshcatParams};
/// let mut plant = MultibodyPlantBuilder::new(0.0)?;
/// let arm = r#"<robot name="arm"><link name="world"/><link name="upper"/>
///     <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/>
///     <limit lower="-2" upper="1"/></joint></robot>"#;
/// Parser::new(&mut plant).add_models_from_string(arm, "urdf")?;
/// let plant = plant.build()?;
///
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// let mut b = DiagramBuilder::new();
/// let sliders = JointSliders::new(meshcat.clone(), &plant, Default::default())?;
/// let sliders = b.add("sliders", sliders);
/// let mut ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(sliders.positions)?, &[0.0]);
/// meshcat.set_slider_value("shoulder/arm", 5.0)?;
/// sliders.refresh(&mut ctx)?;
/// assert_eq!(ctx.eval(sliders.positions)?, &[1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JointSliders {
    group: Group,
}

impl JointSliders {
    /// Adds sliders for all positions of a plant.
    ///
    /// # Errors
    /// Returns an error if a list has the wrong length or names an
    /// unknown position, a range is empty, a step is not positive, or a control with the name of a
    /// slider exists. No slider is added then.
    pub fn new(
        meshcat: Meshcat,
        plant: &MultibodyPlant,
        params: JointSlidersParams,
    ) -> Result<Self> {
        let specs = specs(plant, &params)?;
        Ok(Self {
            group: Group::new(meshcat, specs)?,
        })
    }
    /// Returns the names of the sliders, in the order of q.
    pub fn slider_names(&self) -> impl Iterator<Item = &str> {
        self.group.names()
    }
    /// Moves the sliders to the nearest values they can take. These values are also the output
    /// after [`delete`](Self::delete).
    ///
    /// # Errors
    /// Returns an error if `q` is not as many finite numbers as there are positions.
    pub fn set_positions(&self, q: &[f64]) -> Result<()> {
        self.group.set("JointSliders", q)
    }
    /// Removes the sliders. The output is then the initial value, or the values set last by
    /// [`set_positions`](Self::set_positions).
    pub fn delete(&self) {
        self.group.delete();
    }

    /// Publishes a diagram with the plant at the positions of the sliders, at once and whenever a
    /// slider has moved. Ends when someone clicks the button `Stop JointSliders` on a page or the
    /// timeout expires (Drake's `Run`). Returns the last positions.
    ///
    /// The positions become the state of the plant, or the value of its `position` port. That port
    /// may also be connected to these sliders.
    ///
    /// # Errors
    /// Returns an error if the sliders or the plant belong to another diagram, the number of
    /// positions of the plant differs from that of the sliders, the timeout is negative, or
    /// publishing fails.
    pub fn run(
        sliders: &Block<Self>,
        plant: &Block<MultibodyPlant>,
        diagram: &Diagram<f64>,
        options: &RunOptions,
    ) -> Result<Vec<f64>> {
        let group = &sliders.system().group;
        let nq = plant.system().num_positions();
        if nq != group.len() {
            return Err(Error::invalid(format!(
                "JointSliders::run: the plant must have {positions}, one per slider, got {nq}; \
                 pass the plant that the sliders were made for",
                positions = counted(group.len(), "position")
            )));
        }
        let mut ctx = diagram.default_context();
        let mut last = Vec::new();
        follow(group, "Stop JointSliders", options, |q| {
            sliders.refresh(&mut ctx)?;
            if let Ok(state) = plant.discrete_state() {
                ctx.xd_mut(state)?[..nq].copy_from_slice(q);
            } else if let Ok(state) = plant.continuous_state() {
                ctx.xc_mut(state)?[..nq].copy_from_slice(q);
            } else if let Ok(port) = plant.position()
                && let Err(e) = ctx.fix(port, q.to_vec())
                && ctx.eval(plant.body_poses).is_err()
            {
                // A connected port cannot be fixed, and need not be.
                return Err(e);
            }
            ctx.force_publish()?;
            last = q.to_vec();
            Ok(())
        })?;
        Ok(last)
    }
}

fn specs(plant: &MultibodyPlant, params: &JointSlidersParams) -> Result<Vec<Spec>> {
    let nq = plant.num_positions();
    let mut owners = vec![String::new(); nq];
    for (index, joint) in plant.joints() {
        let start = plant.position_start(index)?;
        let model = plant.model_instance_name(joint.model_instance())?;
        for owner in owners.iter_mut().skip(start).take(joint.num_positions()) {
            *owner = model.into();
        }
    }
    let positions = plant.position_names();
    let names: Vec<String> = positions
        .iter()
        .zip(&owners)
        .map(|(position, model)| format!("{position}/{model}"))
        .collect();
    let lookup = Lookup {
        sliders: &names,
        positions,
    };
    let lower = lookup.values("lower_limit", &params.lower_limit)?;
    let upper = lookup.values("upper_limit", &params.upper_limit)?;
    let step = lookup.values("step", &params.step)?;
    let initial = match &params.initial_value {
        Some(q) => q.clone(),
        None => plant.default_positions(),
    };
    let keycodes = [&params.decrement_keycodes, &params.increment_keycodes];
    lookup.check("initial_value", initial.len())?;
    for (name, codes) in ["decrement_keycodes", "increment_keycodes"]
        .iter()
        .zip(keycodes)
    {
        if !codes.is_empty() {
            lookup.check(name, codes.len())?;
        }
    }
    let (joint_lower, joint_upper) = (plant.position_lower_limits(), plant.position_upper_limits());
    let mut specs = Vec::with_capacity(nq);
    for (i, name) in names.iter().enumerate() {
        let code = |codes: &Vec<String>| codes.get(i).cloned().unwrap_or_default();
        let (min, max) = range(joint_lower[i], joint_upper[i], lower[i], upper[i]);
        specs.push(Spec {
            name: name.clone(),
            min,
            max,
            step: step[i].unwrap_or(STEP),
            value: initial[i],
            keycodes: keycodes.map(code),
            is_shown: true,
        });
    }
    Ok(specs)
}

/// Returns the range of a slider, from the limits of its joint and the requested limits.
fn range(joint_lower: f64, joint_upper: f64, lower: Option<f64>, upper: Option<f64>) -> (f64, f64) {
    // If the joint's range excludes the default range, use the end nearest to zero.
    let (default_lower, default_upper) = if joint_lower > RANGE {
        (joint_lower, joint_lower + 2.0 * RANGE)
    } else if joint_upper < -RANGE {
        (joint_upper - 2.0 * RANGE, joint_upper)
    } else {
        (-RANGE, RANGE)
    };
    (
        joint_lower.max(lower.unwrap_or(default_lower)),
        joint_upper.min(upper.unwrap_or(default_upper)),
    )
}

/// Finds positions by name.
struct Lookup<'a> {
    sliders: &'a [String],
    positions: &'a [String],
}

impl Lookup<'_> {
    fn check(&self, what: &str, found: usize) -> Result<()> {
        if found == self.sliders.len() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "JointSliders: {what} must have {elements}, one for each position, got {found}",
            elements = counted(self.sliders.len(), "element")
        )))
    }
    /// Returns the requested value of each position, or `None`.
    fn values(&self, what: &str, values: &SliderValues) -> Result<Vec<Option<f64>>> {
        let n = self.sliders.len();
        Ok(match values {
            SliderValues::Default => vec![None; n],
            SliderValues::All(value) => vec![Some(*value); n],
            SliderValues::Each(values) => {
                self.check(what, values.len())?;
                values.iter().copied().map(Some).collect()
            }
            SliderValues::Named(values) => {
                let mut found = vec![None; n];
                for (name, value) in values {
                    found[self.find(what, name)?] = Some(*value);
                }
                found
            }
        })
    }
    fn find(&self, what: &str, name: &str) -> Result<usize> {
        if let Some(i) = self.sliders.iter().position(|s| s == name) {
            return Ok(i);
        }
        let mut matches = (0..self.positions.len()).filter(|i| self.positions[*i] == name);
        match (matches.next(), matches.next()) {
            (Some(i), None) => Ok(i),
            (found, _) => Err(Error::invalid(format!(
                "JointSliders: {what}: '{name}' {}; the sliders are {}",
                if found.is_some() {
                    "is a position of several models"
                } else {
                    "is not a position"
                },
                self.sliders.join(", ")
            ))),
        }
    }
}

/// Ports of [`JointSliders`].
#[derive(Clone, Copy, Debug)]
pub struct JointSlidersPorts<T> {
    /// The plant's positions q.
    pub positions: OutputPort<Vec<T>>,
    refreshed: Param<u64>,
}

impl<T: Scalar> JointSlidersPorts<T> {
    /// Makes a context read the sliders again.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn refresh(&self, ctx: &mut Context<T>) -> Result<()> {
        *ctx.param_mut(self.refreshed)? += 1;
        Ok(())
    }
}

impl<T: Scalar> LeafSystem<T> for JointSliders {
    type Ports = JointSlidersPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let refreshed = d.param(0_u64);
        let (n, deps) = (self.group.len(), (Dep::Time, refreshed));
        let positions = d.vector_output("positions", n, deps, |sliders, _, q| {
            sliders.group.read(|i, value| q[i] = T::from(value));
            Ok(())
        });
        JointSlidersPorts {
            positions,
            refreshed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_within_the_limits_of_joints() {
        let inf = f64::INFINITY;
        assert_eq!(range(-inf, inf, None, None), (-10.0, 10.0));
        assert_eq!(range(-1.0, 2.0, None, None), (-1.0, 2.0));
        assert_eq!(range(-1.0, 2.0, Some(-5.0), Some(1.0)), (-1.0, 1.0));
        assert_eq!(range(-inf, inf, Some(-50.0), Some(50.0)), (-50.0, 50.0));
        assert_eq!(range(15.0, 20.0, None, None), (15.0, 20.0));
        assert_eq!(range(15.0, inf, None, None), (15.0, 35.0));
        assert_eq!(range(-inf, -15.0, None, None), (-35.0, -15.0));
        assert_eq!(range(-20.0, -15.0, None, None), (-20.0, -15.0));
    }
}
