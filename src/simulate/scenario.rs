//! A whole experiment as YAML, with the keys of Drake's `hardware_sim`.

use super::driver::Driver;
use crate::files::folder_of;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use tarragon::documents::yaml::{Placed, place_of, read_yaml};
use tarragon::formats::directives::ModelDirective;
use tarragon::framework::SimulatorConfig;
use tarragon::geometry::{DefaultProximityProperties, SceneGraphConfig};
use tarragon::lcm::LcmParams;
use tarragon::multibody::MultibodyPlantConfig;
use tarragon::prelude::*;
use tarragon::visualization::VisualizationConfig;

/// An experiment. Missing keys have the defaults of Drake's `hardware_sim`.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Scenario {
    /// Seed of all random values.
    pub(super) random_seed: u64,
    /// Simulated time (s), possibly infinite.
    pub(super) simulation_duration: f64,
    pub(super) simulator_config: SimulatorKeys,
    pub(super) plant_config: MultibodyPlantConfig,
    pub(super) scene_graph_config: SceneGraphKeys,
    pub(super) directives: Vec<Placed<ModelDirective>>,
    /// Buses by name; without this key, nothing is sent.
    pub(super) lcm_buses: Option<BTreeMap<String, LcmParams>>,
    /// Drivers by model instance.
    pub(super) model_drivers: BTreeMap<String, Placed<Driver>>,
    pub(super) cameras: BTreeMap<String, Placed<CameraConfig>>,
    pub(super) visualization: VisualizationConfig,
    /// Positions by model instance and joint (rad or m).
    pub(super) initial_position: BTreeMap<String, BTreeMap<String, Placed<Vec<f64>>>>,
    /// File of the scenario, for messages and relative paths.
    #[serde(skip)]
    pub(super) file: PathBuf,
    /// Text of the file, and the key of the scenario in it if it holds several.
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    name: Option<String>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            random_seed: 0,
            simulation_duration: f64::INFINITY,
            simulator_config: SimulatorKeys::default(),
            plant_config: MultibodyPlantConfig::default(),
            scene_graph_config: SceneGraphKeys::default(),
            directives: vec![],
            lcm_buses: None,
            model_drivers: BTreeMap::new(),
            cameras: BTreeMap::new(),
            visualization: VisualizationConfig::default(),
            initial_position: BTreeMap::new(),
            file: PathBuf::new(),
            text: String::new(),
            name: None,
        }
    }
}

/// Keys of [`SimulatorConfig`], with the defaults of `hardware_sim`.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SimulatorKeys {
    integration_scheme: String,
    max_step_size: f64,
    min_step_size: f64,
    initial_step_size: Option<f64>,
    accuracy: f64,
    use_error_control: bool,
    pub(super) target_realtime_rate: f64,
    publish_every_time_step: bool,
    pub(super) start_time: Option<f64>,
    throw_on_minimum_step_size_violation: bool,
}

impl Default for SimulatorKeys {
    fn default() -> Self {
        let config = SimulatorConfig::default();
        Self {
            integration_scheme: config.integration_scheme,
            max_step_size: 1e-3,
            min_step_size: config.min_step_size,
            initial_step_size: config.initial_step_size,
            accuracy: 1e-2,
            use_error_control: config.use_error_control,
            target_realtime_rate: 1.0,
            publish_every_time_step: config.publish_every_time_step,
            start_time: None,
            throw_on_minimum_step_size_violation: config.throw_on_minimum_step_size_violation,
        }
    }
}

impl SimulatorKeys {
    /// Configuration of a simulator that runs as fast as possible: the session keeps the pace.
    pub(super) fn config(&self) -> SimulatorConfig {
        SimulatorConfig {
            integration_scheme: self.integration_scheme.clone(),
            max_step_size: self.max_step_size,
            min_step_size: self.min_step_size,
            initial_step_size: self.initial_step_size,
            accuracy: self.accuracy,
            use_error_control: self.use_error_control,
            target_realtime_rate: 0.0,
            publish_every_time_step: self.publish_every_time_step,
            start_time: self.start_time,
            throw_on_minimum_step_size_violation: self.throw_on_minimum_step_size_violation,
            ..SimulatorConfig::default()
        }
    }
}

/// Keys of [`SceneGraphConfig`].
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SceneGraphKeys {
    default_proximity_properties: ProximityKeys,
}

/// Keys of [`DefaultProximityProperties`]; null leaves a property without a default.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProximityKeys {
    compliance_type: String,
    hydroelastic_modulus: Option<f64>,
    resolution_hint: Option<f64>,
    slab_thickness: Option<f64>,
    margin: Option<f64>,
    dynamic_friction: Option<f64>,
    static_friction: Option<f64>,
    hunt_crossley_dissipation: Option<f64>,
    relaxation_time: Option<f64>,
    point_stiffness: Option<f64>,
}

impl Default for ProximityKeys {
    fn default() -> Self {
        let own = DefaultProximityProperties::default();
        Self {
            compliance_type: "undefined".into(),
            hydroelastic_modulus: own.hydroelastic_modulus,
            resolution_hint: own.resolution_hint,
            slab_thickness: own.slab_thickness,
            margin: own.margin,
            dynamic_friction: own.dynamic_friction,
            static_friction: own.static_friction,
            hunt_crossley_dissipation: own.hunt_crossley_dissipation,
            relaxation_time: own.relaxation_time,
            point_stiffness: own.point_stiffness,
        }
    }
}

impl SceneGraphKeys {
    pub(super) fn config(&self) -> Result<SceneGraphConfig> {
        let keys = &self.default_proximity_properties;
        Ok(SceneGraphConfig {
            default_proximity_properties: DefaultProximityProperties {
                compliance_type: keys.compliance_type.parse()?,
                hydroelastic_modulus: keys.hydroelastic_modulus,
                resolution_hint: keys.resolution_hint,
                slab_thickness: keys.slab_thickness,
                margin: keys.margin,
                dynamic_friction: keys.dynamic_friction,
                static_friction: keys.static_friction,
                hunt_crossley_dissipation: keys.hunt_crossley_dissipation,
                relaxation_time: keys.relaxation_time,
                point_stiffness: keys.point_stiffness,
            },
        })
    }
}

/// Keys that messages of the library write in other words.
const KEYS_IN_WORDS: [(&str, &str); 3] = [
    ("the largest step must", "max_step_size"),
    ("the smallest step must", "min_step_size"),
    ("the first step must", "initial_step_size"),
];

impl Scenario {
    /// Returns whether a file holds a scenario, not a model.
    pub(super) fn is_in(file: &Path) -> bool {
        let name = file.file_name().and_then(|n| n.to_str()).unwrap_or("");
        let name = name.to_lowercase();
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        is_yaml && !name.ends_with(".dmd.yaml") && !name.ends_with(".dmd.yml")
    }

    /// Scenario for a model file, in which contact is at points.
    pub(super) fn of_model() -> Self {
        let mut scenario = Self::default();
        scenario.plant_config.contact_model = "point_manifold".into();
        scenario
    }

    /// Reads the scenario of a file, or the one with a name in a file that maps names to scenarios.
    pub(super) fn load(file: &Path, name: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let place = file.display();
        let text = std::fs::read_to_string(file).map_err(|e| format!("{place}: {e}"))?;
        let scenario = match name {
            None => read(file, &text).map_err(|error| match read_named(file, &text) {
                Ok(scenarios) if !scenarios.is_empty() => format!(
                    "{place}: the file holds scenarios by name; choose one with --scenario-name: \
                     {}",
                    quoted(&scenarios)
                )
                .into(),
                _ => error,
            })?,
            Some(name) => {
                let explained = |error: Box<dyn Error>| {
                    if is_one_scenario(file, &text) {
                        format!(
                    "{place}: with --scenario-name, the file must hold scenarios by name, got \
                     one scenario; leave out --scenario-name"
                )
                .into()
                    } else {
                        error
                    }
                };
                let mut scenarios = read_named(file, &text).map_err(explained)?;
                let names = quoted(&scenarios);
                scenarios.remove(name).ok_or_else(|| {
                    format!(
                        "{place}: --scenario-name must be the name of a scenario in the file, \
                         {names}, got '{name}'"
                    )
                })?
            }
        };
        let scenario = Self {
            file: file.to_owned(),
            name: name.map(str::to_owned),
            text,
            ..scenario
        };
        scenario.check()?;
        Ok(scenario)
    }

    /// Checks the values that no other code checks.
    fn check(&self) -> Result<(), Box<dyn Error>> {
        let duration = self.simulation_duration;
        if duration.is_nan() || duration < 0.0 {
            return Err(format!(
                "{}: simulation_duration must be at least 0 s, got {duration:?} s",
                self.place("simulation_duration")
            )
            .into());
        }
        let rate = self.simulator_config.target_realtime_rate;
        if !(rate >= 0.0 && rate.is_finite()) {
            let why = format!(
                "target_realtime_rate must be positive, or 0 for as fast as possible, got {rate:?}"
            );
            return Err(self.error_in("simulator_config", &why).into());
        }
        let nothing = DiagramBuilder::new().build()?;
        let mut sim = Simulator::new(&nothing, nothing.default_context())?;
        let applied = sim.apply_config(&self.simulator_config.config());
        applied.map_err(|e| self.error_in("simulator_config", &e))?;
        let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
        for (key, camera) in &self.cameras {
            let wrong = |why: &dyn Display| format!("{}: cameras: {key}: {why}", self.at(camera));
            let checked = camera.value.validate();
            checked.map_err(|why| wrong(&why))?;
            let name = &camera.value.name;
            if let Some(other) = keys.insert(name, key) {
                let why = format!(
                    "the name must differ from all other cameras', got '{name}', which camera \
                     '{other}' has too; give each its own `name`"
                );
                return Err(wrong(&why).into());
            }
        }
        Ok(())
    }

    /// Creates the message for a mistake in a section, with the place of the key that it is about.
    pub(super) fn error_in(&self, section: &str, why: &dyn Display) -> String {
        let why = why.to_string();
        if self.file.as_os_str().is_empty() {
            return why;
        }
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let mut lower = why.to_lowercase();
        for (words, key) in KEYS_IN_WORDS {
            lower = lower.replace(words, key);
        }
        let words: Vec<&str> = lower
            .split(|c| !is_letter(c))
            .filter(|w| !w.is_empty())
            .collect();
        // A message may write a key in words: "LCM URL" for `lcm_url`.
        let starts = (0..words.len()).flat_map(|i| [3, 2, 1].map(|n| words.get(i..i + n)));
        let mut keys = starts.flatten().map(|words| words.join("_"));
        let place = keys.find_map(|key| self.find(&format!("{section}.{key}")));
        let place = place.unwrap_or_else(|| self.place(section));
        let section = section.replace('.', ": ");
        format!("{place}: {section}: {why}")
    }
    /// File, line and column of a key, by its path in the scenario.
    fn place(&self, keys: &str) -> String {
        let found = self.find(keys);
        found.unwrap_or_else(|| self.file.display().to_string())
    }
    fn find(&self, keys: &str) -> Option<String> {
        let name = self.name.as_ref();
        let path = name.map_or_else(|| keys.into(), |name| format!("{name}.{keys}"));
        let (line, column) = place_of(&self.text, &path)?;
        Some(format!("{}:{line}:{column}", self.file.display()))
    }
    /// File, line and column of a value.
    pub(super) fn at<V>(&self, value: &Placed<V>) -> String {
        let (line, column) = value.place;
        format!("{}:{line}:{column}", self.file.display())
    }
    /// Directory that file names in the directives are relative to.
    pub(super) fn directory(&self) -> &Path {
        folder_of(&self.file)
    }
}

/// Reads a file that maps names to scenarios.
fn read_named(file: &Path, text: &str) -> Result<BTreeMap<String, Scenario>, Box<dyn Error>> {
    read(file, text)
}

/// Returns whether YAML is a scenario, possibly with mistakes.
fn is_one_scenario(file: &Path, text: &str) -> bool {
    let keys = read::<BTreeMap<String, IgnoredAny>>(file, text);
    keys.is_ok_and(|keys| keys.contains_key("directives")) || read::<Scenario>(file, text).is_ok()
}

/// Lists names of scenarios.
fn quoted(scenarios: &BTreeMap<String, Scenario>) -> String {
    let names: Vec<String> = scenarios.keys().map(|n| format!("'{n}'")).collect();
    names.join(" or ")
}

/// Reads YAML; errors have file, line and column.
fn read<V: DeserializeOwned>(file: &Path, text: &str) -> Result<V, Box<dyn Error>> {
    read_yaml(text).map_err(|e| {
        let (line, column, message) = (e.line, e.column, e.message);
        format!("{}:{line}:{column}: {message}", file.display()).into()
    })
}
