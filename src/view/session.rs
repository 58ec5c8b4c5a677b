//! The models on the page, and the sliders that move them.

use super::ViewArgs;
use super::distance::Distance;
use crate::{model, page, sweep};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use tarragon::framework::Diagram;
use tarragon::framework::warnings::collect;
use tarragon::multibody::{
    MultibodyPlant, MultibodyPlantBuilder, PositionSource, add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;
use tarragon::sensors::CubeMap;
use tarragon::visualization::{
    JointSliders, JointSlidersParams, JointSlidersPorts, Meshcat, VisualizationConfig,
    VisualizationConnections, apply_visualization_config,
};

/// Loaded models.
pub(super) struct Loaded {
    plant: MultibodyPlant,
    scene_graph: SceneGraph,
    skybox: Option<CubeMap>,
}

/// Loads the models. The files that xacro files were made from are added to `files`, also after an
/// error.
pub(super) fn load(
    args: &ViewArgs,
    files: &mut BTreeSet<PathBuf>,
) -> Result<Loaded, Box<dyn Error>> {
    // Nothing moves by itself, but deformable bodies need a time step.
    let mut plant = MultibodyPlantBuilder::new(0.001)?;
    plant.set_position_source(PositionSource::InputPort);
    let mut scene_graph = SceneGraph::new();
    let mut skybox = None;
    let extras = model::Extras {
        files: Some(files),
        ..model::Extras::skybox(&mut skybox)
    };
    let models = &args.models;
    let plant = args.options.load(models, plant, &mut scene_graph, extras)?;
    page::show_models_without_visuals(&plant, &mut scene_graph)?;
    Ok(Loaded {
        plant,
        scene_graph,
        skybox,
    })
}

/// Sets the positions for a time (s).
type Swing = Box<dyn Fn(f64, &mut [f64])>;

/// Models shown on the page.
pub(super) struct Session {
    meshcat: Meshcat,
    /// Owns the sliders.
    _diagram: Diagram<f64>,
    ctx: Context<f64>,
    query: OutputPort<QueryObject<f64>>,
    sliders: Block<JointSliders>,
    swing: Option<Swing>,
    defaults: Vec<f64>,
    distance: Distance,
    files: BTreeSet<PathBuf>,
    /// Slider positions shown last.
    shown: Option<Vec<f64>>,
    is_recorded: bool,
}

impl Session {
    /// Shows models on the page, keeping `positions` of sliders with the same names.
    pub(super) fn start(
        loaded: Loaded,
        meshcat: &Meshcat,
        args: &ViewArgs,
        positions: &BTreeMap<String, f64>,
    ) -> Result<Self, Box<dyn Error>> {
        let Loaded {
            plant,
            scene_graph,
            skybox,
        } = loaded;
        page::show_sky(meshcat, skybox.as_ref())?;
        let swing = args.sweep.map(|period| sweep::swing(&plant, period));
        let swing = swing.transpose()?;
        let swing = swing.map(|s| Box::new(s) as Swing);
        let defaults = plant.default_positions();
        let files = super::watch::files_of(&args.models, &scene_graph);
        let params = JointSlidersParams::default();
        let sliders = JointSliders::new(meshcat.clone(), &plant, params)?;
        let q: Vec<f64> = sliders
            .slider_names()
            .zip(&defaults)
            .map(|(name, q)| *positions.get(name).unwrap_or(q))
            .collect();
        sliders.set_positions(&q)?;
        let mut b = DiagramBuilder::new();
        let (plant, scene_graph) = add_multibody_plant_scene_graph(&mut b, plant, scene_graph)?;
        let sliders = b.add("sliders", sliders);
        let port = plant.position()?;
        b.connect(sliders.positions, port);
        let config = VisualizationConfig {
            publish_period: super::PERIOD,
            // Pages keep their objects while the models are reloaded.
            delete_on_initialization_event: false,
            ..Default::default()
        };
        let on_server = VisualizationConnections {
            meshcat: Some(meshcat.clone()),
            ..Default::default()
        };
        apply_visualization_config(&config, &mut b, on_server)?;
        for path in ["illustration", "proximity", "contact_forces"] {
            meshcat.delete(path);
        }
        let query = scene_graph.query;
        let diagram = b.build()?;
        Ok(Self {
            meshcat: meshcat.clone(),
            ctx: diagram.default_context(),
            _diagram: diagram,
            query,
            sliders,
            swing,
            defaults,
            distance: Distance::new(meshcat.clone(), args.distance),
            files,
            shown: None,
            is_recorded: args.record.is_some(),
        })
    }

    /// Slider positions by name.
    pub(super) fn positions(&self) -> BTreeMap<String, f64> {
        let names = self.sliders.system().slider_names();
        names
            .filter_map(|name| Some((name.to_owned(), self.meshcat.slider_value(name).ok()?)))
            .collect()
    }
    /// Files of the models, without those that xacro files were made from.
    pub(super) fn files(&self) -> &BTreeSet<PathBuf> {
        &self.files
    }

    /// Moves the camera so that it sees all models.
    pub(super) fn fit_camera(&mut self) -> Result<(), Box<dyn Error>> {
        page::fit_camera(&self.meshcat, self.ctx.eval(self.query)?, 1.8)
    }

    /// Shows the models at the slider positions, at a time since the start (s). Returns the text to
    /// display about them.
    pub(super) fn show(&mut self, time: f64, args: &ViewArgs) -> Result<String, Box<dyn Error>> {
        if let Some(swing) = &self.swing {
            let mut q = self.defaults.clone();
            swing(time, &mut q);
            self.sliders.system().set_positions(&q)?;
        }
        let q: Vec<f64> = self.positions().into_values().collect();
        // A recording needs every frame.
        if self.shown.as_ref() != Some(&q) || self.is_recorded {
            self.ctx.set_time(time);
            JointSlidersPorts::refresh(&self.sliders, &mut self.ctx)?;
            let (published, warnings) = collect(|| self.ctx.force_publish());
            published?;
            args.options.report(&warnings)?;
            let query = self.ctx.eval(self.query)?;
            self.distance.show(query)?;
            self.shown = Some(q);
        }
        Ok(self.distance.text().to_owned())
    }
}
