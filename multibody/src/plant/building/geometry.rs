//! Registration of a plant's geometry with a scene.

use crate::error::{Error, Result};
use crate::model::{BodyIndex, ModelInstanceIndex, VisualProperties};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::geometry_registration::GeometryRegistration;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::Isometry3;
use tarragon_geometry::{
    FrameId, GeometryFrame, GeometryId, GeometryInstance, ProximityProperties, RenderLabel,
    SceneGraph, Shape, SourceId,
};

impl MultibodyPlantBuilder {
    /// Registers the plant as a geometry source of a scene, named `plant`, or `plant_2` and so on
    /// if other plants share the scene. Does nothing if it is registered with this scene already.
    ///
    /// ```
    /// use tarragon_framework::ErrorKind;
    /// use tarragon_geometry::SceneGraph;
    /// use tarragon_multibody::MultibodyPlantBuilder;
    /// let (mut scene, mut other) = (SceneGraph::new(), SceneGraph::new());
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let source = plant.register_as_source_for_scene_graph(&mut scene)?;
    /// assert_eq!(scene.model_inspector().source_name(source)?, "plant");
    /// assert_eq!(plant.register_as_source_for_scene_graph(&mut scene)?, source);
    /// let error = plant.register_as_source_for_scene_graph(&mut other).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidState);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the plant is registered with another scene.
    pub fn register_as_source_for_scene_graph(
        &mut self,
        scene_graph: &mut SceneGraph,
    ) -> Result<SourceId> {
        if let Some(registration) = &self.model.registration {
            registration.check_scene(scene_graph)?;
            return Ok(registration.source);
        }
        let inspector = scene_graph.model_inspector();
        let name = if !inspector.has_source_named("plant") {
            "plant".into()
        } else {
            (2..)
                .map(|n| format!("plant_{n}"))
                .find(|name| !inspector.has_source_named(name))
                .unwrap_or_default()
        };
        let source = scene_graph.register_source(&name)?;
        self.model.registration = Some(GeometryRegistration {
            source,
            world: scene_graph.world_frame_id(),
            frames: vec![Some(scene_graph.world_frame_id())],
            num_complete: 1,
            collisions: vec![],
            visuals: vec![],
            filtered: false,
        });
        Ok(source)
    }

    /// Adds a collision geometry at `X_BG` on a body. In the scene it is named `{model}::{name}`,
    /// or `name` on bodies of the world's and the default model instance.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with this scene, the body is unknown, or
    /// the scene rejects the geometry (a name taken on the body, an unusable mesh file).
    pub fn register_collision_geometry(
        &mut self,
        scene_graph: &mut SceneGraph,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: impl Into<Shape>,
        name: &str,
        properties: ProximityProperties,
    ) -> Result<GeometryId> {
        let instance = self
            .instance(body, x_bg, shape.into(), name)?
            .with_proximity(properties);
        let id = self.register(scene_graph, body, instance)?;
        push(
            &mut self.model.registration,
            |r| &mut r.collisions,
            body,
            id,
        );
        Ok(id)
    }

    /// Adds a visual geometry at `X_BG` on a body, named as by
    /// [`Self::register_collision_geometry`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::register_collision_geometry`].
    pub fn register_visual_geometry(
        &mut self,
        scene_graph: &mut SceneGraph,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: impl Into<Shape>,
        name: &str,
        properties: VisualProperties,
    ) -> Result<GeometryId> {
        let mut instance = self.instance(body, x_bg, shape.into(), name)?;
        if let Some(illustration) = properties.illustration {
            instance = instance.with_illustration(illustration);
        }
        if let Some(mut perception) = properties.perception {
            if !perception.has("label", "id") {
                perception = perception.with_label(body_label(body));
            }
            instance = instance.with_perception(perception);
        }
        let id = self.register(scene_graph, body, instance)?;
        push(&mut self.model.registration, |r| &mut r.visuals, body, id);
        Ok(id)
    }

    fn register(
        &mut self,
        scene_graph: &mut SceneGraph,
        body: BodyIndex,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.registered()?.check_scene(scene_graph)?;
        let frame = self.ensure_frame(scene_graph, body)?;
        let source = self.registered()?.source;
        scene_graph.register_geometry(source, frame, instance)
    }

    /// Returns the scene's frame of a body, registering it if there is none yet.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with this scene, or the body is unknown.
    pub fn ensure_frame(
        &mut self,
        scene_graph: &mut SceneGraph,
        body: BodyIndex,
    ) -> Result<FrameId> {
        self.model.ensure_frame(scene_graph, body)
    }

    /// Registers frames for all bodies that have none.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with this scene.
    pub fn ensure_frames(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        self.model.ensure_frames(scene_graph)
    }
}

impl MultibodyModel {
    /// Returns the plant's source id; `None` until it is registered.
    pub fn source_id(&self) -> Option<SourceId> {
        self.registration.as_ref().map(|r| r.source)
    }

    /// Returns the scene's frame of a body: the world frame for the world. For other bodies it is
    /// `None` until the body has geometry or is parsed into the scene.
    pub fn body_frame_id(&self, body: BodyIndex) -> Option<FrameId> {
        let frames = &self.registration.as_ref()?.frames;
        frames.get(body.index()).copied().flatten()
    }

    /// Returns the body whose frame in the scene is `frame`.
    pub fn body_from_frame_id(&self, frame: FrameId) -> Option<BodyIndex> {
        let frames = &self.registration.as_ref()?.frames;
        let found = frames.iter().position(|f| *f == Some(frame));
        found.map(BodyIndex::new)
    }

    /// Returns the body whose pixels have a label; `None` for the background and other reserved
    /// labels. Geometry with a label of its own in the model is not known here.
    ///
    /// ```
    /// use tarragon_geometry::RenderLabel;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.0)?;
    /// let cup = plant.add_rigid_body("cup", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
    /// assert_eq!(plant.body_from_label(RenderLabel::new(1)?), Some(cup));
    /// assert_eq!(plant.body_from_label(RenderLabel::EMPTY), None);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn body_from_label(&self, label: RenderLabel) -> Option<BodyIndex> {
        let index = usize::try_from(label.value()).ok()?;
        let exists = index < self.bodies.len() && !label.is_reserved();
        exists.then(|| BodyIndex::new(index))
    }

    /// Returns the collision geometry of a body, in order of registration.
    pub fn collision_geometries(&self, body: BodyIndex) -> &[GeometryId] {
        let lists = self.registration.as_ref().map(|r| &r.collisions);
        lists.and_then(|l| l.get(body.index())).map_or(&[], |l| l)
    }

    /// Returns true if a rigid body has collision geometry.
    pub(crate) fn has_collision_geometries(&self) -> bool {
        let lists = self.registration.as_ref().map(|r| &r.collisions);
        lists.is_some_and(|lists| lists.iter().any(|list| !list.is_empty()))
    }

    /// Returns the visual geometry of a body, in order of registration.
    pub fn visual_geometries(&self, body: BodyIndex) -> &[GeometryId] {
        let lists = self.registration.as_ref().map(|r| &r.visuals);
        lists.and_then(|l| l.get(body.index())).map_or(&[], |l| l)
    }

    fn instance(
        &self,
        body: BodyIndex,
        x_bg: Isometry3<f64>,
        shape: Shape,
        name: &str,
    ) -> Result<GeometryInstance> {
        let instance = self.body(body)?.model_instance;
        let name = match instance {
            ModelInstanceIndex::WORLD | ModelInstanceIndex::DEFAULT => name.into(),
            model => format!("{}::{name}", self.model_instances[model.index()]),
        };
        GeometryInstance::new(x_bg, shape, &name)
    }

    pub(in crate::plant) fn registered(&self) -> Result<&GeometryRegistration> {
        self.registration.as_ref().ok_or_else(|| {
            Error::state(
                "the plant must be registered with a scene; call \
                 `register_as_source_for_scene_graph` on its builder first",
            )
        })
    }

    fn ensure_frame(&mut self, scene_graph: &mut SceneGraph, body: BodyIndex) -> Result<FrameId> {
        if let Some(frame) = self.body_frame_id(body) {
            return Ok(frame);
        }
        let source = self.registered()?.source;
        let group = self.body(body)?.model_instance.index() as i32;
        let frame = GeometryFrame::new(self.scoped_body_name(body)).with_frame_group(group)?;
        let id = scene_graph.register_frame(source, frame)?;
        if let Some(registration) = &mut self.registration {
            let frames = &mut registration.frames;
            frames.resize(frames.len().max(body.index() + 1), None);
            frames[body.index()] = Some(id);
        }
        Ok(id)
    }

    pub(super) fn ensure_frames(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        let registration = self.registered()?;
        registration.check_scene(scene_graph)?;
        let start = registration.num_complete;
        for body in start..self.bodies.len() {
            self.ensure_frame(scene_graph, BodyIndex::new(body))?;
        }
        if let Some(registration) = &mut self.registration {
            registration.num_complete = self.bodies.len();
        }
        Ok(())
    }
}

impl MultibodyPlant {
    /// Completes the plant's registration with a scene: frames of bodies without geometry, and the
    /// collision filters.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with this scene.
    pub fn join_scene(&mut self, scene_graph: &mut SceneGraph) -> Result<()> {
        self.model.ensure_frames(scene_graph)?;
        self.apply_collision_filters(scene_graph)
    }
}

/// Returns the label of a body's pixels: its index, as in Drake.
fn body_label(body: BodyIndex) -> RenderLabel {
    let value = i16::try_from(body.index()).ok();
    value
        .and_then(|v| RenderLabel::new(v).ok())
        .unwrap_or(RenderLabel::DONT_CARE)
}

/// Records a geometry of a body.
fn push(
    registration: &mut Option<GeometryRegistration>,
    list: impl Fn(&mut GeometryRegistration) -> &mut Vec<Vec<GeometryId>>,
    body: BodyIndex,
    id: GeometryId,
) {
    if let Some(registration) = registration {
        let lists = list(registration);
        lists.resize(lists.len().max(body.index() + 1), vec![]);
        lists[body.index()].push(id);
    }
}
