//! The geometry of a scene: sources, frames, geometries, roles, filters and renderers.
//!
//! A `GeometryState` lives in the context as one parameter (`Arc<GeometryState>`, copied on write).
//! The mutators here are the only implementation; the model and a context use the same ones.
//! Frames and geometries are numbered in order of registration, which is also the order of their
//! ids, and every array of poses is indexed by those numbers.

use super::broadphase::{LocalBound, StaticTree};
use super::filter::{CollisionFilter, CollisionFilterDeclaration, GeometrySet};
use super::inspector::SceneGraphInspector;
use super::instance::{GeometryFrame, GeometryInstance};
use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{IllustrationProperties, PerceptionProperties, ProximityProperties, Role};
use crate::render::{RenderEngine, accepts_renderer};
use crate::shapes::Shape;
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Number of the world frame.
pub(crate) const WORLD: usize = 0;

#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) id: SourceId,
    pub(crate) name: String,
    /// Numbers of its frames.
    pub(crate) frames: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) id: FrameId,
    pub(crate) name: String,
    /// `None` for the world.
    pub(crate) source: Option<SourceId>,
    pub(crate) parent: usize,
    pub(crate) frame_group: i32,
    /// Numbers of the geometries on it.
    pub(crate) geometries: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) id: GeometryId,
    pub(crate) source: SourceId,
    pub(crate) name: String,
    pub(crate) frame: usize,
    pub(crate) x_fg: Isometry3<f64>,
    pub(crate) shape: Shape,
    pub(crate) proximity: Option<ProximityProperties>,
    pub(crate) illustration: Option<IllustrationProperties>,
    pub(crate) perception: Option<PerceptionProperties>,
    /// Extent in the geometry's frame; known once it has the proximity role.
    pub(crate) bound: Option<LocalBound>,
}

impl Geometry {
    pub(crate) fn is_anchored(&self) -> bool {
        self.frame == WORLD
    }
    pub(crate) fn has_role(&self, role: Role) -> bool {
        match role {
            Role::Unassigned => {
                self.proximity.is_none() && self.illustration.is_none() && self.perception.is_none()
            }
            Role::Proximity => self.proximity.is_some(),
            Role::Illustration => self.illustration.is_some(),
            Role::Perception => self.perception.is_some(),
        }
    }
}

/// A render engine, shared by all contexts: engines hold no poses.
pub(crate) type Renderer = Arc<RwLock<Box<dyn RenderEngine>>>;

/// The geometry of a scene, without poses of frames.
///
/// ```
/// use nalgebra::Isometry3;
/// use std::sync::Arc;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{GeometryInstance, GeometryState, SceneGraph, Sphere};
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let mut ctx = b.build()?.default_context();
/// // Only the scene of this context gets the ball.
/// let state: &mut GeometryState = Arc::make_mut(ctx.param_mut(scene.geometry)?);
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball");
/// state.register_anchored_geometry(source, ball)?;
/// assert_eq!(ctx.eval(scene.query)?.inspector().num_geometries(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GeometryState {
    pub(crate) sources: Vec<Source>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) geometries: Vec<Geometry>,
    frame_numbers: BTreeMap<FrameId, usize>,
    geometry_numbers: BTreeMap<GeometryId, usize>,
    pub(crate) filter: CollisionFilter,
    pub(crate) renderers: BTreeMap<String, Renderer>,
    /// Tree of the anchored geometries, built by the first query that needs it.
    static_tree: OnceLock<Arc<StaticTree>>,
}

impl Default for GeometryState {
    fn default() -> Self {
        let world = Frame {
            id: FrameId::new(),
            name: "world".into(),
            source: None,
            parent: WORLD,
            frame_group: 0,
            geometries: vec![],
        };
        Self {
            sources: vec![],
            frame_numbers: BTreeMap::from([(world.id, WORLD)]),
            frames: vec![world],
            geometries: vec![],
            geometry_numbers: BTreeMap::new(),
            filter: CollisionFilter::default(),
            renderers: BTreeMap::new(),
            static_tree: OnceLock::new(),
        }
    }
}

impl GeometryState {
    /// Looks at the scene.
    pub fn inspector(&self) -> SceneGraphInspector<'_> {
        SceneGraphInspector::new(self)
    }

    pub(crate) fn frame_number(&self, id: FrameId) -> Result<usize> {
        let found = self.frame_numbers.get(&id).copied();
        found.ok_or_else(|| Error::invalid(format!("there is no frame {id} in this scene")))
    }
    pub(crate) fn geometry_number(&self, id: GeometryId) -> Result<usize> {
        let found = self.geometry_numbers.get(&id).copied();
        found.ok_or_else(|| Error::invalid(format!("there is no geometry {id} in this scene")))
    }
    fn source_mut(&mut self, id: SourceId) -> Result<&mut Source> {
        let found = self.sources.iter_mut().find(|s| s.id == id);
        found.ok_or_else(|| Error::invalid(format!("there is no source {id} in this scene")))
    }

    /// See [`SceneGraph::register_source`](super::SceneGraph::register_source).
    pub(crate) fn register_source(&mut self, name: &str) -> Result<SourceId> {
        if self.sources.iter().any(|s| s.name == name) {
            return Err(Error::invalid(format!(
                "source '{name}' is registered already; source names are unique within a scene"
            )));
        }
        let id = SourceId::new();
        self.sources.push(Source {
            id,
            name: name.into(),
            frames: vec![],
        });
        Ok(id)
    }

    /// Adds a frame whose poses are given relative to the world.
    ///
    /// # Errors
    /// If the source is unknown, the frame is registered already, or its name is taken within the
    /// source.
    pub fn register_frame(&mut self, source: SourceId, frame: GeometryFrame) -> Result<FrameId> {
        self.register_frame_on(source, self.frames[WORLD].id, frame)
    }

    /// Adds a frame whose poses are given relative to a `parent` of the same source or the world.
    ///
    /// # Errors
    /// As [`GeometryState::register_frame`], and if the parent belongs to another source.
    pub fn register_frame_on(
        &mut self,
        source: SourceId,
        parent: FrameId,
        frame: GeometryFrame,
    ) -> Result<FrameId> {
        let parent = self.frame_number(parent)?;
        let number = self.frames.len();
        if parent != WORLD && self.frames[parent].source != Some(source) {
            let name = &self.frames[parent].name;
            return Err(Error::invalid(format!(
                "frame '{}': its parent '{name}' belongs to another source",
                frame.name
            )));
        }
        if self.frame_numbers.contains_key(&frame.id) {
            let name = frame.name;
            return Err(Error::invalid(format!(
                "frame '{name}' is registered already"
            )));
        }
        let taken = |f: &Frame| f.source == Some(source) && f.name == frame.name;
        if self.frames.iter().any(taken) {
            return Err(Error::invalid(format!(
                "frame '{}': the source has a frame of that name already",
                frame.name
            )));
        }
        self.source_mut(source)?.frames.push(number);
        self.frame_numbers.insert(frame.id, number);
        self.frames.push(Frame {
            id: frame.id,
            name: frame.name,
            source: Some(source),
            parent,
            frame_group: frame.frame_group,
            geometries: vec![],
        });
        Ok(frame.id)
    }

    /// Adds a geometry to a frame of the same source, with the roles that the instance has.
    ///
    /// # Errors
    /// If the source or the frame is unknown, the frame belongs to another source, the name is
    /// empty or taken on that frame within a role, or a mesh file can not be used. Nothing is
    /// registered then.
    pub fn register_geometry(
        &mut self,
        source: SourceId,
        frame: FrameId,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        let frame = self.frame_number(frame)?;
        if frame != WORLD && self.frames[frame].source != Some(source) {
            return Err(Error::invalid(format!(
                "geometry '{}': frame '{}' belongs to another source",
                instance.name, self.frames[frame].name
            )));
        }
        self.add_geometry(source, frame, instance)
    }

    /// Adds a geometry that is fixed in the world.
    ///
    /// # Errors
    /// As [`GeometryState::register_geometry`].
    pub fn register_anchored_geometry(
        &mut self,
        source: SourceId,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.add_geometry(source, WORLD, instance)
    }

    fn add_geometry(
        &mut self,
        source: SourceId,
        frame: usize,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.source_mut(source)?;
        if instance.name.is_empty() {
            return Err(Error::invalid(format!(
                "a geometry on frame '{}' has an empty name",
                self.frames[frame].name
            )));
        }
        let (id, number) = (GeometryId::new(), self.geometries.len());
        self.geometries.push(Geometry {
            id,
            source,
            name: instance.name,
            frame,
            x_fg: instance.x_pg,
            shape: instance.shape,
            proximity: None,
            illustration: None,
            perception: None,
            bound: None,
        });
        self.frames[frame].geometries.push(number);
        self.geometry_numbers.insert(id, number);
        let roles = [
            instance.proximity.map(|p| p.assign(self, number)),
            instance.illustration.map(|p| p.assign(self, number)),
            instance.perception.map(|p| p.assign(self, number)),
        ];
        let result: Result<()> = roles.into_iter().flatten().collect();
        if let Err(error) = result {
            // Take the half registered geometry back: it is the last one everywhere.
            for renderer in self.renderers.values() {
                write(renderer).remove_visual(id);
            }
            self.geometries.pop();
            self.frames[frame].geometries.pop();
            self.geometry_numbers.remove(&id);
            return Err(error);
        }
        self.static_tree = OnceLock::new();
        Ok(id)
    }

    /// Gives a geometry of `source` a role.
    ///
    /// # Errors
    /// If source or geometry is unknown, the geometry belongs to another source, has the role
    /// already or shares its name with another geometry of that role on the frame, or if a mesh file
    /// can not be used.
    pub fn assign_role(
        &mut self,
        source: SourceId,
        geometry: GeometryId,
        properties: impl RoleProperties,
    ) -> Result<()> {
        let number = self.geometry_number(geometry)?;
        if self.geometries[number].source != source {
            return Err(Error::invalid(format!(
                "geometry '{}' belongs to another source",
                self.geometries[number].name
            )));
        }
        properties.assign(self, number)?;
        self.static_tree = OnceLock::new();
        Ok(())
    }

    /// Gives the perception role to the proximity geometry of frames of `source` that have nothing to
    /// see: a body whose visuals are missing then shows its collision geometry. Returns how many
    /// geometries got the role.
    ///
    /// # Errors
    /// If the source is unknown, or a renderer can not take a geometry.
    pub fn show_proximity_where_unseen(
        &mut self,
        source: SourceId,
        properties: &PerceptionProperties,
    ) -> Result<usize> {
        let frames = self.source_mut(source)?.frames.clone();
        let mut shown = 0;
        for frame in frames.into_iter().chain([WORLD]) {
            let own = self.frames[frame].geometries.iter().copied();
            let own: Vec<usize> = own
                .filter(|g| self.geometries[*g].source == source)
                .collect();
            if own.iter().any(|g| self.geometries[*g].perception.is_some()) {
                continue;
            }
            for number in own {
                if self.geometries[number].proximity.is_some() {
                    properties.clone().assign(self, number)?;
                    shown += 1;
                }
            }
        }
        Ok(shown)
    }

    fn check_new_role(&self, number: usize, role: Role) -> Result<()> {
        let geometry = &self.geometries[number];
        let frame = &self.frames[geometry.frame];
        if geometry.has_role(role) {
            return Err(Error::invalid(format!(
                "geometry '{}' on frame '{}' has the role {role:?} already",
                geometry.name, frame.name
            )));
        }
        let taken = |&&other: &&usize| {
            let g = &self.geometries[other];
            other != number && g.name == geometry.name && g.has_role(role)
        };
        if frame.geometries.iter().find(taken).is_some() {
            return Err(Error::invalid(format!(
                "geometry '{}' on frame '{}': another geometry there has the same name and the role \
                 {role:?}; names are unique per frame and role",
                geometry.name, frame.name
            )));
        }
        Ok(())
    }

    /// Adds statements about which pairs are tested.
    ///
    /// # Errors
    /// If a frame or geometry is unknown; nothing is changed then.
    pub fn apply_collision_filter(
        &mut self,
        declaration: &CollisionFilterDeclaration,
    ) -> Result<()> {
        let mut filter = std::mem::take(&mut self.filter);
        let result = filter.apply(declaration, |set| self.members(set));
        self.filter = filter;
        result
    }

    /// Numbers of the geometries with the proximity role in a set, sorted.
    fn members(&self, set: &GeometrySet) -> Result<Vec<usize>> {
        let mut members = vec![];
        for frame in &set.frames {
            members.extend(&self.frames[self.frame_number(*frame)?].geometries);
        }
        for geometry in &set.geometries {
            members.push(self.geometry_number(*geometry)?);
        }
        members.retain(|g| self.geometries[*g].proximity.is_some());
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    /// True if the pair is tested: not both anchored, not on one frame, not excluded.
    pub(crate) fn is_candidate(&self, a: usize, b: usize) -> bool {
        let (ga, gb) = (&self.geometries[a], &self.geometries[b]);
        ga.frame != gb.frame && !self.filter.is_excluded(a, b)
    }

    /// Adds a render engine and registers all perception geometry with it.
    ///
    /// # Errors
    /// If the name is taken, or the engine can not take a geometry.
    pub fn add_renderer(&mut self, name: &str, engine: impl RenderEngine + 'static) -> Result<()> {
        if self.renderers.contains_key(name) {
            return Err(Error::invalid(format!(
                "a renderer '{name}' exists already"
            )));
        }
        let mut engine: Box<dyn RenderEngine> = Box::new(engine);
        for geometry in &self.geometries {
            if let Some(properties) = &geometry.perception {
                self.register_visual(name, &mut *engine, geometry, properties)?;
            }
        }
        self.renderers
            .insert(name.into(), Arc::new(RwLock::new(engine)));
        Ok(())
    }

    fn register_visual(
        &self,
        name: &str,
        engine: &mut dyn RenderEngine,
        geometry: &Geometry,
        properties: &PerceptionProperties,
    ) -> Result<()> {
        if accepts_renderer(properties, name)? {
            let registered = engine.register_visual(geometry.id, &geometry.shape, properties);
            registered.map_err(|e| {
                let frame = &self.frames[geometry.frame].name;
                e.at(&format!("geometry '{}' on frame '{frame}'", geometry.name))
            })?;
        }
        Ok(())
    }

    pub(crate) fn renderer(&self, name: &str) -> Result<&Renderer> {
        self.renderers.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.renderers.keys().map(|n| &**n).collect();
            Error::invalid(format!(
                "there is no renderer '{name}'; renderers of this scene: [{}]. Add it with \
                 `SceneGraph::add_renderer`",
                known.join(", ")
            ))
        })
    }

    pub(crate) fn static_tree(&self) -> &StaticTree {
        self.static_tree
            .get_or_init(|| Arc::new(StaticTree::new(&self.geometries)))
    }
}

fn write(renderer: &Renderer) -> std::sync::RwLockWriteGuard<'_, Box<dyn RenderEngine>> {
    renderer.write().unwrap_or_else(PoisonError::into_inner)
}

mod sealed {
    /// Keeps the set of roles closed.
    pub trait Sealed {}
    impl Sealed for crate::properties::ProximityProperties {}
    impl Sealed for crate::properties::IllustrationProperties {}
    impl Sealed for crate::properties::PerceptionProperties {}
}

/// Properties that stand for a role.
///
/// ```
/// use tarragon_geometry::{PerceptionProperties, ProximityProperties, Role, RoleProperties};
/// assert_eq!(ProximityProperties::ROLE, Role::Proximity);
/// assert_eq!(PerceptionProperties::ROLE, Role::Perception);
/// ```
pub trait RoleProperties: sealed::Sealed {
    /// The role.
    const ROLE: Role;
    #[doc(hidden)]
    fn assign(self, state: &mut GeometryState, number: usize) -> Result<()>;
}

impl RoleProperties for ProximityProperties {
    const ROLE: Role = Role::Proximity;
    fn assign(self, state: &mut GeometryState, number: usize) -> Result<()> {
        state.check_new_role(number, Self::ROLE)?;
        let bound = LocalBound::of(&state.geometries[number].shape).map_err(|e| {
            let geometry = &state.geometries[number];
            let frame = &state.frames[geometry.frame].name;
            e.at(&format!("geometry '{}' on frame '{frame}'", geometry.name))
        })?;
        let geometry = &mut state.geometries[number];
        // Without a bound no query finds it.
        geometry.bound = match geometry.shape {
            Shape::MeshcatCone(_) => None,
            _ => Some(bound),
        };
        geometry.proximity = Some(self);
        Ok(())
    }
}

impl RoleProperties for IllustrationProperties {
    const ROLE: Role = Role::Illustration;
    fn assign(self, state: &mut GeometryState, number: usize) -> Result<()> {
        state.check_new_role(number, Self::ROLE)?;
        state.geometries[number].illustration = Some(self);
        Ok(())
    }
}

impl RoleProperties for PerceptionProperties {
    const ROLE: Role = Role::Perception;
    fn assign(self, state: &mut GeometryState, number: usize) -> Result<()> {
        state.check_new_role(number, Self::ROLE)?;
        let geometry = &state.geometries[number];
        for (name, renderer) in &state.renderers {
            let result = state.register_visual(name, &mut **write(renderer), geometry, &self);
            if let Err(error) = result {
                for renderer in state.renderers.values() {
                    write(renderer).remove_visual(geometry.id);
                }
                return Err(error);
            }
        }
        state.geometries[number].perception = Some(self);
        Ok(())
    }
}
