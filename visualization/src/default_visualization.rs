//! The usual visualizers of a simulation, added by one call.

use crate::contact_results_to_lcm::{ContactResultsToLcmSystem, add_publisher, contact_results_of};
use crate::contact_visualizer::{ContactVisualizer, ContactVisualizerParams};
use crate::drake_visualizer::{DrakeVisualizer, DrakeVisualizerParams};
use crate::meshcat::{Meshcat, start_meshcat};
use crate::meshcat_visualizer::{
    MeshcatVisualizer, MeshcatVisualizerParams, check_period, light_grey,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use tarragon_documents::yaml::read_yaml;
use tarragon_framework::FileLocation;
use tarragon_framework::prelude::*;
use tarragon_geometry::{Rgba, Role, SceneGraph};
use tarragon_lcm::types::LcmtContactResultsForViz;
use tarragon_lcm::{Lcm, LcmBuses, LcmPublisherSystem};
use tarragon_multibody::{ContactResults, MultibodyPlant};

/// Configuration of the visualizers (Drake's `VisualizationConfig`, with the same YAML names and
/// defaults).
///
/// `publish_inertia` has no effect yet; it is reserved for inertia ellipsoids.
///
/// ```
/// use tarragon_visualization::VisualizationConfig;
/// let config = VisualizationConfig::from_yaml("
/// publish_period: 0.0625
/// publish_contacts: false
/// default_proximity_color: {rgba: [0, 0, 1, 1]}
/// ")?;
/// assert_eq!(config.default_proximity_color.b(), 1.0);
/// assert_eq!(VisualizationConfig::from_yaml(&config.to_yaml()?)?, config);
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VisualizationConfig {
    /// Name of the bus on which LCM messages are published, if buses are given.
    pub lcm_bus: String,
    /// Simulated time between publishes (s).
    pub publish_period: f64,
    /// Whether geometry with the illustration role is shown, below `illustration`.
    pub publish_illustration: bool,
    /// Colour of illustration geometry without a colour of its own.
    #[serde(with = "rgba")]
    pub default_illustration_color: Rgba,
    /// Whether geometry with the proximity role is sent, below `proximity`. It is hidden at first.
    pub publish_proximity: bool,
    /// Colour of proximity geometry without a colour of its own.
    #[serde(with = "rgba")]
    pub default_proximity_color: Rgba,
    /// Initial value of the alpha slider of proximity geometry, from 0 to 1.
    pub initial_proximity_alpha: f64,
    /// Whether contacts are shown, below `contact_forces`.
    pub publish_contacts: bool,
    /// Whether inertias are shown. Has no effect yet.
    pub publish_inertia: bool,
    /// Whether a server is started if none is given.
    pub enable_meshcat_creation: bool,
    /// Whether the scene is cleared when a simulation is initialized.
    pub delete_on_initialization_event: bool,
    /// Whether illustration and proximity geometry each have a slider for their opacity.
    pub enable_alpha_sliders: bool,
}

impl Default for VisualizationConfig {
    fn default() -> Self {
        Self {
            lcm_bus: "default".into(),
            publish_period: 1.0 / 64.0,
            publish_illustration: true,
            default_illustration_color: light_grey(),
            publish_proximity: true,
            default_proximity_color: Rgba::new(0.8, 0.0, 0.0, 1.0).expect("channels lie in [0, 1]"),
            initial_proximity_alpha: 0.5,
            publish_contacts: true,
            publish_inertia: true,
            enable_meshcat_creation: true,
            delete_on_initialization_event: true,
            enable_alpha_sliders: false,
        }
    }
}

impl VisualizationConfig {
    /// Reads a configuration from YAML.
    ///
    /// # Errors
    /// Returns an error if the text is not YAML, or has an unknown field, a value of the wrong type
    /// (with line and column), or a value out of range.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let config: Self = read_yaml(text).map_err(|e| {
            let location = FileLocation {
                file: "VisualizationConfig".into(),
                line: e.line,
                column: e.column,
            };
            Error::parse(location, e.message)
        })?;
        config.check()?;
        Ok(config)
    }
    /// Writes the configuration as YAML that Drake can read too.
    ///
    /// # Errors
    /// Returns an error if a value is out of range.
    pub fn to_yaml(&self) -> Result<String> {
        self.check()?;
        let options = serde_saphyr::ser_options! { compact_list_indent: true, yaml_12: false };
        serde_saphyr::to_string_with_options(self, options)
            .map_err(|e| Error::invalid("VisualizationConfig: cannot be written").with_cause(e))
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("VisualizationConfig: {what}")));
        check_period(self.publish_period).or_else(wrong)?;
        let alpha = self.initial_proximity_alpha;
        if !(0.0..=1.0).contains(&alpha) {
            return wrong(format!(
                "initial_proximity_alpha must be from 0 to 1, got {alpha:?}"
            ));
        }
        Ok(())
    }

    /// Returns the parameters of the visualizer of illustration geometry.
    fn illustration(&self) -> MeshcatVisualizerParams {
        MeshcatVisualizerParams {
            publish_period: self.publish_period,
            role: Role::Illustration,
            default_color: self.default_illustration_color,
            prefix: "illustration".into(),
            delete_on_initialization_event: self.delete_on_initialization_event,
            enable_alpha_slider: self.enable_alpha_sliders,
            ..MeshcatVisualizerParams::default()
        }
    }
    /// Returns the parameters of the visualizer of proximity geometry.
    fn proximity(&self) -> MeshcatVisualizerParams {
        MeshcatVisualizerParams {
            role: Role::Proximity,
            default_color: self.default_proximity_color,
            prefix: "proximity".into(),
            initial_alpha_slider_value: self.initial_proximity_alpha,
            visible_by_default: false,
            show_hydroelastic: true,
            ..self.illustration()
        }
    }
    /// Returns the parameters of the LCM visualizer. As in Drake, only the proximity role has
    /// channels of its own.
    fn drake(&self, role: Role, default_color: Rgba) -> DrakeVisualizerParams {
        DrakeVisualizerParams {
            publish_period: self.publish_period,
            role,
            default_color,
            show_hydroelastic: role == Role::Proximity,
            use_role_channel_suffix: role == Role::Proximity,
        }
    }
    fn contact(&self) -> ContactVisualizerParams {
        ContactVisualizerParams {
            publish_period: self.publish_period,
            delete_on_initialization_event: self.delete_on_initialization_event,
            ..ContactVisualizerParams::default()
        }
    }
}

/// A colour in Drake's YAML form: `{rgba: [r, g, b, a]}`.
mod rgba {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use serde_saphyr::FlowSeq;
    use tarragon_geometry::Rgba;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fields {
        rgba: FlowSeq<Vec<f64>>,
    }
    pub(super) fn serialize<S: Serializer>(color: &Rgba, s: S) -> Result<S::Ok, S::Error> {
        let rgba = FlowSeq(color.rgba().as_slice().to_vec());
        Fields { rgba }.serialize(s)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Rgba, D::Error> {
        let Fields {
            rgba: FlowSeq(channels),
        } = Fields::deserialize(d)?;
        Rgba::from_slice(&channels).map_err(de::Error::custom)
    }
}

/// Connections of visualizers (the optional arguments of Drake's `ApplyVisualizationConfig`). The
/// default is the builder's system with Drake's name for the scene, a new server, and no LCM.
///
/// ```
/// use tarragon_visualization::VisualizationConnections;
/// assert!(VisualizationConnections::default().meshcat.is_none());
/// ```
#[derive(Clone, Default)]
pub struct VisualizationConnections<'a> {
    /// The scene; `None` means the builder's system `scene_graph`.
    pub scene_graph: Option<&'a Block<SceneGraph>>,
    /// The plant whose contact forces are shown; `None` means the builder's system `plant`, if
    /// there is one.
    pub plant: Option<&'a Block<MultibodyPlant>>,
    /// The server; `None` starts one on the first free port, if the configuration allows it.
    pub meshcat: Option<Meshcat>,
    /// The buses among which the configuration selects one by `lcm_bus`.
    pub lcm_buses: Option<&'a LcmBuses>,
    /// The bus itself; takes precedence over `lcm_bus`.
    pub lcm: Option<&'a Lcm>,
}

/// The visualizers that [`apply_visualization_config`] has added; `None` for those that the
/// configuration does not request.
#[derive(Clone)]
pub struct AppliedVisualization {
    /// The server.
    pub meshcat: Option<Meshcat>,
    /// Geometry with the illustration role in Meshcat.
    pub illustration: Option<Block<MeshcatVisualizer>>,
    /// Geometry with the proximity role in Meshcat.
    pub proximity: Option<Block<MeshcatVisualizer>>,
    /// Contacts in Meshcat.
    pub contact: Option<Block<ContactVisualizer>>,
    /// Geometry with the illustration role by LCM.
    pub drake_illustration: Option<Block<DrakeVisualizer>>,
    /// Geometry with the proximity role by LCM.
    pub drake_proximity: Option<Block<DrakeVisualizer>>,
    /// Contacts by LCM.
    pub contact_results: Option<Block<LcmPublisherSystem<LcmtContactResultsForViz>>>,
}

/// Adds the visualizers that a configuration requests, connected to the scene (Drake's
/// `ApplyVisualizationConfig`).
///
/// For Meshcat, it adds `meshcat_visualizer(illustration)`, `meshcat_visualizer(proximity)` and
/// `meshcat_contact_visualizer`. If no server is given, one is started on the first free port, if
/// the configuration allows it; otherwise nothing is added for Meshcat. Names that are taken get [a
/// numeric suffix](DiagramBuilder::unused_name).
///
/// For LCM, it adds `drake_visualizer(illustration)` on channels without a suffix,
/// `drake_visualizer(proximity)` on channels with the suffix of the role, and contacts as by
/// [`connect_contact_results_to_drake_visualizer`][connect], all on the
/// [connected](VisualizationConnections) bus. Nothing is added without a bus: unlike Drake, this
/// function never opens a socket unasked. Nothing is added either for a bus that
/// [discards](LcmBuses::MEMQ_NULL) its messages.
///
/// [connect]: crate::connect_contact_results_to_drake_visualizer
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_lcm::Lcm;
/// use tarragon_visualization::*;
/// let mut b = DiagramBuilder::new();
/// b.add("scene_graph", SceneGraph::new());
/// let lcm = Lcm::with_url("memq://")?; // "" for UDP multicast, where meldis listens
/// let config = VisualizationConfig { publish_contacts: false, ..Default::default() };
/// let on = VisualizationConnections {
///     meshcat: Some(Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?),
///     lcm: Some(&lcm),
///     ..Default::default()
/// };
/// let applied = apply_visualization_config(&config, &mut b, on)?;
/// assert!(applied.illustration.is_some() && applied.contact.is_none());
/// assert!(applied.drake_proximity.is_some() && applied.contact_results.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if a value of the configuration is out of range, there is no scene, `lcm_bus`
/// names no known bus, or the server cannot be started.
pub fn apply_visualization_config(
    config: &VisualizationConfig,
    builder: &mut DiagramBuilder,
    connections: VisualizationConnections<'_>,
) -> Result<AppliedVisualization> {
    config.check()?;
    let lcm = bus(config, &connections)?;
    let scene_graph = match connections.scene_graph {
        Some(scene_graph) => scene_graph.clone(),
        None => builder.system_named("scene_graph").map_err(|e| {
            Error::invalid(format!(
                "VisualizationConfig: {e}; add the scene first, or pass it in VisualizationConnections"
            ))
        })?,
    };
    let plant = match connections.plant {
        Some(plant) => Some(plant.clone()),
        None => builder.system_named("plant").ok(),
    };
    let contacts = contact_results_of(plant.as_ref());
    let mut applied = AppliedVisualization {
        meshcat: connections.meshcat,
        illustration: None,
        proximity: None,
        contact: None,
        drake_illustration: None,
        drake_proximity: None,
        contact_results: None,
    };
    if applied.meshcat.is_none() && config.enable_meshcat_creation {
        applied.meshcat = Some(start_meshcat()?);
    }
    if let Some(lcm) = lcm {
        let scene = (&scene_graph, contacts);
        apply_lcm(config, builder, scene, &lcm, &mut applied)?;
    }
    if let Some(meshcat) = applied.meshcat.clone() {
        let scene = (&scene_graph, contacts);
        apply_meshcat(config, builder, scene, &meshcat, &mut applied)?;
    }
    Ok(applied)
}

/// Returns the bus to publish on, or `None` if nothing is to be published.
fn bus(config: &VisualizationConfig, given: &VisualizationConnections<'_>) -> Result<Option<Lcm>> {
    let name = &config.lcm_bus;
    let lcm = match (given.lcm, given.lcm_buses) {
        (Some(lcm), _) => lcm,
        (None, Some(buses)) => buses.find("VisualizationConfig", name)?,
        (None, None) if name == "default" => return Ok(None),
        (None, None) => {
            return Err(Error::invalid(format!(
                "VisualizationConfig: lcm_bus must be 'default' (no publishing) if no buses are given, got \
                 '{name}'; pass the buses in VisualizationConnections"
            )));
        }
    };
    Ok((lcm.url() != LcmBuses::MEMQ_NULL).then(|| lcm.clone()))
}

fn apply_lcm(
    config: &VisualizationConfig,
    builder: &mut DiagramBuilder,
    (scene_graph, contacts): (&Block<SceneGraph>, Option<OutputPort<ContactResults<f64>>>),
    lcm: &Lcm,
    applied: &mut AppliedVisualization,
) -> Result<()> {
    let query = scene_graph.query;
    let mut add = |role, color| {
        let (lcm, params) = (Some(lcm.clone()), config.drake(role, color));
        DrakeVisualizer::add_to_builder(builder, query, lcm, params).map(Some)
    };
    if config.publish_illustration {
        let color = config.default_illustration_color;
        applied.drake_illustration = add(Role::Illustration, color)?;
    }
    if config.publish_proximity {
        applied.drake_proximity = add(Role::Proximity, config.default_proximity_color)?;
    }
    if config.publish_contacts {
        let system = ContactResultsToLcmSystem::new(None);
        let period = config.publish_period;
        let publisher = add_publisher(builder, (query, contacts), system, lcm.clone(), period)?;
        applied.contact_results = Some(publisher);
    }
    Ok(())
}

fn apply_meshcat(
    config: &VisualizationConfig,
    builder: &mut DiagramBuilder,
    (scene_graph, contacts): (&Block<SceneGraph>, Option<OutputPort<ContactResults<f64>>>),
    meshcat: &Meshcat,
    applied: &mut AppliedVisualization,
) -> Result<()> {
    let query = scene_graph.query;
    let mut add = |params| {
        MeshcatVisualizer::add_to_builder(builder, query, meshcat.clone(), params).map(Some)
    };
    if config.publish_illustration {
        applied.illustration = add(config.illustration())?;
    }
    if config.publish_proximity {
        applied.proximity = add(config.proximity())?;
    }
    if config.publish_contacts {
        let contact = config.contact();
        let contact = ContactVisualizer::add_to_builder(builder, query, meshcat.clone(), contact)?;
        if let Some(contacts) = contacts {
            builder.connect(contacts, contact.contact_results);
        }
        applied.contact = Some(contact);
    }
    Ok(())
}

/// Adds the usual visualizers of the scene `scene_graph`, without LCM (Drake's
/// `AddDefaultVisualization`). Starts a server if none is given. See
/// [`apply_visualization_config`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_visualization::add_default_visualization;
/// let mut b = DiagramBuilder::new();
/// b.add("scene_graph", SceneGraph::new());
/// let shown = add_default_visualization(&mut b, None)?;
/// println!("look at {}", shown.meshcat.ok_or("there is a server")?.web_url());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if there is no scene, or the server cannot be started.
pub fn add_default_visualization(
    builder: &mut DiagramBuilder,
    meshcat: Option<Meshcat>,
) -> Result<AppliedVisualization> {
    let connections = VisualizationConnections {
        meshcat,
        ..VisualizationConnections::default()
    };
    apply_visualization_config(&VisualizationConfig::default(), builder, connections)
}
