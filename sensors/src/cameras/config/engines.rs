//! Creation of render engines from camera configurations.

use super::CameraConfig;
use super::renderer::{CreatedEngine, EngineParams};
use crate::{Error, Result};
use std::collections::BTreeMap;
use tarragon_geometry::SceneGraph;
use tarragon_geometry::render::EnvironmentMap;

/// Adds the render engines of cameras to a scene, one per `renderer_name`. Call it before the scene
/// is added to a diagram builder, because a scene that is a system takes no more engines.
///
/// As in Drake, if the engine exists already, from an earlier camera or in the scene, the camera
/// may leave `renderer_class` empty or name the same class. Parameters must equal those of the
/// earlier camera. Drake's `RenderEngineVtk` and `RenderEngineGl` are different classes, although
/// [`RenderEngineCpu`](tarragon_geometry::render::RenderEngineCpu) renders in place of both.
/// `RenderEngineGltfClient` is [`RenderEngineGltfClient`](crate::RenderEngineGltfClient), whose
/// images a server draws; the background is then the server's.
///
/// # Errors
/// Returns an error, and leaves the scene unchanged, if a configuration is invalid, two cameras
/// require different engines with the same name, a camera has parameters for an engine that the
/// scene had before, or an engine cannot be created.
pub fn add_camera_renderers<'a>(
    configs: impl IntoIterator<Item = &'a CameraConfig>,
    scene_graph: &mut SceneGraph,
) -> Result<()> {
    add_renderers(configs, scene_graph, None)
}

/// Same as [`add_camera_renderers`], in an environment: new engines whose parameters have no
/// environment map and the default background get `environment`, for example the skybox of a model
/// ([`Parser::skybox`](tarragon_formats::Parser::skybox)). A glTF client has none, which causes a
/// warning.
///
/// ```
/// use tarragon_geometry::SceneGraph;
/// use tarragon_geometry::render::EnvironmentMap;
/// use tarragon_formats::Parser;
/// use tarragon_multibody::MultibodyPlantBuilder;
/// use tarragon_sensors::{CameraConfig, add_camera_renderers_with_environment};
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut scene = SceneGraph::new();
/// let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
/// parser.add_models_from_string(
///     "<mujoco model='sky'><asset>
///        <texture type='skybox' builtin='flat' width='8'/>
///      </asset></mujoco>",
///     "xml",
/// )?;
/// let sky = parser.skybox()?.ok_or("no skybox")?;
/// let sky = EnvironmentMap { lights: false, texture: sky.into(), ..EnvironmentMap::default() };
/// add_camera_renderers_with_environment([&CameraConfig::default()], &mut scene, &sky)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error in the cases of [`add_camera_renderers`], or if the environment map cannot be
/// read.
pub fn add_camera_renderers_with_environment<'a>(
    configs: impl IntoIterator<Item = &'a CameraConfig>,
    scene_graph: &mut SceneGraph,
    environment: &EnvironmentMap,
) -> Result<()> {
    add_renderers(configs, scene_graph, Some(environment))
}

fn add_renderers<'a>(
    configs: impl IntoIterator<Item = &'a CameraConfig>,
    scene_graph: &mut SceneGraph,
    environment: Option<&EnvironmentMap>,
) -> Result<()> {
    let mut new: BTreeMap<&str, (&CameraConfig, EngineParams)> = BTreeMap::new();
    for config in configs {
        config.validate()?;
        if !config.is_enabled() {
            continue;
        }
        let (name, class) = (&*config.renderer_name, &config.renderer_class);
        let fail = |why: String| {
            let camera = &config.name;
            Err(Error::invalid(format!(
                "camera '{camera}': renderer '{name}' {why}"
            )))
        };
        if scene_graph.has_renderer(name) {
            if class.has_params() {
                return fail(
                    "exists in the scene already, so renderer_class must have no parameters; give \
                     its class name, an empty renderer_class or another renderer_name"
                        .into(),
                );
            }
            let engine = scene_graph.render_engine_by_name(name)?;
            if let Some(class) = class
                .class_name()
                .filter(|class| !engine.renders_for(class))
            {
                let found = scene_graph.renderer_type_name(name).unwrap_or_default();
                return fail(format!(
                    "is a {found}, which cannot replace {class}; use another renderer_name"
                ));
            }
            continue;
        }
        let params = EngineParams::new(class, config.background);
        let params = params.map_err(|e| e.at(format!("camera '{}'", config.name)))?;
        let Some((first, known)) = new.get(name) else {
            new.insert(name, (config, params));
            continue;
        };
        let first_class = first.renderer_class.class_name();
        let same = |a: &str, b: &str| a == b;
        let agrees = match (class.class_name(), first_class) {
            (None, _) => true,
            // The default class is Drake's portable engine.
            (Some(class), None) => same(class, "RenderEngineVtk") || same(class, "RenderEngineCpu"),
            (Some(class), Some(first)) => same(class, first),
        };
        if !agrees {
            return fail(format!(
                "must be a {} as for camera '{}', got renderer_class {}; use another renderer_name",
                first_class.unwrap_or("RenderEngineVtk"),
                first.name,
                class.class_name().unwrap_or_default()
            ));
        }
        if class.has_params() && params != *known {
            return fail(format!(
                "must have the same parameters as for camera '{}'; give the same ones, only the \
                 class name, or another renderer_name",
                first.name
            ));
        }
    }
    let engines = new.into_iter().map(|(name, (config, mut params))| {
        if let Some(environment) = environment {
            params.surround_with(environment, name);
        }
        let engine = params.make(name);
        let engine = engine.map_err(|e| e.at(format!("camera '{}'", config.name)))?;
        Ok((name, engine))
    });
    let engines: Vec<(&str, CreatedEngine)> = engines.collect::<Result<_>>()?;
    // Engines are added to a copy, so that a failure leaves the scene unchanged.
    let mut changed = scene_graph.clone();
    for (name, engine) in engines {
        engine
            .add_to(&mut changed, name)
            .map_err(|e| e.at(format!("renderer '{name}'")))?;
    }
    *scene_graph = changed;
    Ok(())
}
