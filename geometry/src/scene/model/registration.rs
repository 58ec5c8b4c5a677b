//! Registration of sources, frames and geometries: adding, changing, renaming and removing them.

use super::form::ProximityForm;
use super::render_engines::DrawnForm;
use super::state::Participation;
use super::state::{
    GeometryState, ROLES, RegisteredFrame, RegisteredGeometry, RegisteredSource, WORLD,
};
use crate::error::{Error, Result};
use crate::hydro::HydroelasticForm;
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{ProximityProperties, Role};
use crate::scene::bounds::LocalBound;
use crate::scene::instance::{GeometryFrame, GeometryInstance, canonical};
use crate::shape::Shape;
use crate::values::shown_pose;
use nalgebra::Isometry3;
use std::sync::{Arc, OnceLock};

/// A point in the registration history of sources, frames and geometries, for rolling back to it.
///
/// ```
/// use tarragon_geometry::{GeometryFrame, RegistrationMark, SceneGraph};
/// let mut scene = SceneGraph::new();
/// let mark: RegistrationMark = scene.registration_mark();
/// let toys = scene.register_source("toys")?;
/// scene.register_frame(toys, GeometryFrame::new("train"))?;
/// scene.take_back(mark)?;
/// assert_eq!(scene.model_inspector().num_frames(), 1);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RegistrationMark {
    world: FrameId,
    sources: usize,
    frames: usize,
    /// Id made together with the mark; later geometries have larger ids.
    geometry: GeometryId,
}

impl GeometryState {
    /// See [`SceneGraph::register_source`](crate::SceneGraph::register_source).
    pub(in crate::scene) fn register_source(&mut self, name: &str) -> Result<SourceId> {
        let id = SourceId::new();
        let name = match name {
            "" => format!("Source_{id}"),
            name => name.into(),
        };
        if self.inspector().has_source_named(&name) {
            return Err(Error::exists(format!(
                "source '{name}' is already registered; source names must be unique within a scene"
            )));
        }
        let frames = vec![];
        Arc::make_mut(&mut self.sources).push(RegisteredSource { id, name, frames });
        Ok(id)
    }

    /// Adds a frame whose poses are given relative to the world.
    ///
    /// # Errors
    /// Returns an error if the source is unknown, if the frame is already registered, or if the
    /// source has another frame of the same name.
    pub fn register_frame(&mut self, source: SourceId, frame: GeometryFrame) -> Result<FrameId> {
        self.register_frame_on(source, self.frames[WORLD].id, frame)
    }

    /// Adds a frame whose poses are given relative to a `parent`, which must be the world or belong
    /// to the same source.
    ///
    /// # Errors
    /// Returns an error in the cases of [`GeometryState::register_frame`], or if the parent belongs
    /// to another source.
    pub fn register_frame_on(
        &mut self,
        source: SourceId,
        parent: FrameId,
        frame: GeometryFrame,
    ) -> Result<FrameId> {
        let owner = self.source_number(source)?;
        let parent = self.frame_number(parent)?;
        let wrong = |what: String| Err(Error::invalid(format!("frame '{}': {what}", frame.name)));
        if parent != WORLD && self.frames[parent].source != source {
            let name = &self.frames[parent].name;
            return wrong(format!(
                "its parent '{name}' belongs to another source; the parent must belong to the same source"
            ));
        }
        if self.frame_numbers.contains_key(&frame.id) {
            return Err(Error::exists(format!(
                "frame '{}': it is already registered",
                frame.name
            )));
        }
        let name: Arc<str> = frame.name.as_str().into();
        self.check_frame_name(source, &name)?;
        let number = self.frames.len();
        Arc::make_mut(&mut self.names)
            .frames
            .insert((source, name.clone()));
        Arc::make_mut(&mut self.sources)[owner].frames.push(number);
        Arc::make_mut(&mut self.frame_numbers).insert(frame.id, number);
        Arc::make_mut(&mut self.frames).push(RegisteredFrame {
            id: frame.id,
            name,
            source,
            parent,
            frame_group: frame.frame_group,
            geometries: vec![],
        });
        Ok(frame.id)
    }

    fn check_frame_name(&self, source: SourceId, name: &Arc<str>) -> Result<()> {
        if self.names.frames.contains(&(source, name.clone())) {
            return Err(Error::exists(format!(
                "frame '{name}': the source '{}' already has a frame of that name",
                self.source_name(source)?
            )));
        }
        Ok(())
    }

    /// Changes the name of a frame.
    ///
    /// # Errors
    /// Returns an error if the frame is unknown, or if its source has another frame of that name.
    pub fn rename_frame(&mut self, frame: FrameId, name: &str) -> Result<()> {
        let number = self.frame_number(frame)?;
        let RegisteredFrame {
            source, name: old, ..
        } = &self.frames[number];
        let (source, old) = (*source, old.clone());
        if &*old == name {
            return Ok(());
        }
        let name: Arc<str> = name.into();
        self.check_frame_name(source, &name)?;
        let names = &mut Arc::make_mut(&mut self.names).frames;
        names.remove(&(source, old));
        names.insert((source, name.clone()));
        Arc::make_mut(&mut self.frames)[number].name = name;
        Ok(())
    }

    /// Adds a geometry to a frame of the same source, with the roles of the instance. On the world
    /// frame, the geometry is anchored.
    ///
    /// # Errors
    /// Returns an error if the source or the frame is unknown, if the frame belongs to another
    /// source, if the frame already has a geometry of that name in one of the roles, if the pose is
    /// not finite, if a required property is wrong or missing, or if a mesh file cannot be used. In
    /// that case nothing is registered.
    pub fn register_geometry(
        &mut self,
        source: SourceId,
        frame: FrameId,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.source_number(source)?;
        let frame = self.frame_number(frame)?;
        if frame != WORLD && self.frames[frame].source != source {
            return Err(Error::invalid(format!(
                "geometry '{}': frame '{}' belongs to another source",
                instance.name, self.frames[frame].name
            )));
        }
        self.add_geometry(source, frame, instance, |_| Ok(()))
    }

    /// Adds a geometry that is fixed to the world.
    ///
    /// # Errors
    /// Returns an error in the cases of [`GeometryState::register_geometry`].
    pub fn register_anchored_geometry(
        &mut self,
        source: SourceId,
        instance: GeometryInstance,
    ) -> Result<GeometryId> {
        self.source_number(source)?;
        self.add_geometry(source, WORLD, instance, |_| Ok(()))
    }

    /// Adds a geometry, to which `complete` adds data that only some have.
    pub(super) fn add_geometry(
        &mut self,
        source: SourceId,
        frame: usize,
        instance: GeometryInstance,
        complete: impl FnOnce(&mut RegisteredGeometry) -> Result<()>,
    ) -> Result<GeometryId> {
        let mut geometry = RegisteredGeometry {
            id: GeometryId::new(),
            source,
            name: instance.name.as_str().into(),
            frame,
            x_fg: instance.x_pg,
            shape: instance.shape,
            proximity: instance.proximity.map(|p| self.filled_in(p)),
            illustration: instance.illustration,
            perception: instance.perception,
            deformable: None,
            skin: None,
            bound: None,
            form: ProximityForm::default(),
            hydroelastic: HydroelasticForm::default(),
            visual: None,
        };
        self.check_pose(&geometry, &geometry.x_fg)?;
        for role in ROLES.into_iter().filter(|r| geometry.has_role(*r)) {
            self.check_name(&geometry, role)?;
        }
        complete(&mut geometry).map_err(|e| e.at(self.place(&geometry)))?;
        if let Some(properties) = &geometry.proximity {
            let found = self.participation(&geometry, &geometry.shape, properties)?;
            geometry.set_participation(found);
        }
        // Last, because this step changes the engines; nothing can fail after it.
        if let Some(properties) = &geometry.perception {
            let drawn = geometry.drawn();
            let registered = self.renderers.register(geometry.id, drawn, properties);
            registered.map_err(|e| e.at(self.place(&geometry)))?;
            geometry.visual = Some(geometry.id);
        }
        let (id, number) = (geometry.id, self.geometries.len());
        for role in ROLES.into_iter().filter(|r| geometry.has_role(*r)) {
            self.take_name(frame, role, &geometry.name);
            self.note_change(role, self.is_shown(&geometry));
        }
        Arc::make_mut(&mut self.frames)[frame]
            .geometries
            .push(number);
        Arc::make_mut(&mut self.geometry_ids).push(id);
        Arc::make_mut(&mut self.geometries).push(geometry);
        Ok(id)
    }

    fn check_pose(&self, geometry: &RegisteredGeometry, x_fg: &Isometry3<f64>) -> Result<()> {
        let mut numbers = x_fg
            .translation
            .vector
            .iter()
            .chain(x_fg.rotation.coords.iter());
        if numbers.all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{}: the pose must be finite, got {}",
            self.place(geometry),
            shown_pose(x_fg)
        )))
    }

    /// Returns what the proximity role adds to a geometry: the extent of the shape, and how it
    /// takes part in queries. A cone, which proximity queries never find, and deformable geometry
    /// have no extent.
    pub(super) fn participation(
        &self,
        geometry: &RegisteredGeometry,
        shape: &Shape,
        properties: &ProximityProperties,
    ) -> Result<Participation> {
        if geometry.skin.is_some() {
            return Err(Error::unsupported(format!(
                "{}: a skin cannot have the proximity role; give it to the geometry of the frames \
                 that the skin follows",
                self.place(geometry)
            )));
        }
        if matches!(shape, Shape::MeshcatCone(_)) || geometry.deformable.is_some() {
            return Ok(Participation::default());
        }
        let defaults = &self.config.default_proximity_properties;
        let find = || {
            Ok(Participation {
                hydroelastic: defaults.hydroelastic_form(shape, properties)?,
                bound: Some(LocalBound::of(shape)?),
                form: ProximityForm::of(shape, properties)?,
            })
        };
        let found = find().map_err(|e: Error| e.at(self.place(geometry)))?;
        // A mesh without a hull works in other ways.
        let _ = match shape {
            Shape::Mesh(mesh) => mesh.warn_of_strays(),
            Shape::Convex(mesh) => mesh.warn_of_strays(),
            _ => Ok(()),
        };
        Ok(found)
    }

    /// Records that geometry with the role was added, changed or removed; `is_shown` is true if a
    /// render engine has it or had it.
    pub(super) fn note_change(&mut self, role: Role, is_shown: bool) {
        if role == Role::Proximity {
            self.static_tree = OnceLock::new();
            self.contact_partners = OnceLock::new();
        }
        if role != Role::Perception || is_shown {
            self.version.change(role);
        }
    }

    /// Gives a geometry another shape and, if `x_fg` is given, another pose `X_FG`. Its id, roles,
    /// properties and collision filters stay.
    ///
    /// # Errors
    /// Returns an error if the source or the geometry is unknown, if the geometry belongs to
    /// another source, if it is deformable or a skin, if the pose is not finite, if the properties
    /// do not suit the shape, or if a mesh file cannot be used. In that case nothing is changed.
    pub fn change_shape(
        &mut self,
        source: SourceId,
        geometry: GeometryId,
        shape: impl Into<Shape>,
        x_fg: Option<Isometry3<f64>>,
    ) -> Result<()> {
        let shape = shape.into();
        let number = self.owned_geometry(source, geometry)?;
        let mut changed = self.geometries[number].clone();
        if changed.is_driven() {
            return Err(Error::unsupported(format!(
                "{}: the shape of {} cannot be changed; remove the geometry and register another one",
                self.place(&changed),
                changed.driven_kind()
            )));
        }
        let was_shown = self.is_shown(&changed);
        if let Some(x_fg) = x_fg {
            self.check_pose(&changed, &x_fg)?;
            changed.x_fg = x_fg;
        }
        if let Some(properties) = &changed.proximity {
            let found = self.participation(&changed, &shape, properties)?;
            changed.set_participation(found);
        }
        if let Some(properties) = &changed.perception {
            let visual = GeometryId::new();
            let registered = self
                .renderers
                .register(visual, DrawnForm::Shape(&shape), properties);
            registered.map_err(|e| e.at(self.place(&changed)))?;
            changed.visual = Some(visual);
        }
        changed.shape = shape;
        for role in ROLES.into_iter().filter(|r| changed.has_role(*r)) {
            self.note_change(role, was_shown || self.is_shown(&changed));
        }
        self.set_visual(number, changed.visual);
        Arc::make_mut(&mut self.geometries)[number] = changed;
        Ok(())
    }

    /// Changes the name of a geometry; spaces and tabs around it are dropped.
    ///
    /// # Errors
    /// Returns an error if the geometry is unknown, if the name is empty, or if another geometry on
    /// the frame has that name in one of the roles.
    pub fn rename_geometry(&mut self, geometry: GeometryId, name: &str) -> Result<()> {
        let number = self.geometry_number(geometry)?;
        let geometry = &self.geometries[number];
        let name = canonical(name);
        if name.is_empty() {
            return Err(Error::invalid(format!(
                "{}: the new name must not be empty",
                self.place(geometry)
            )));
        }
        if &*geometry.name == name {
            return Ok(());
        }
        let mut renamed = geometry.clone();
        renamed.name = name.into();
        let roles = ROLES.into_iter().filter(|r| renamed.has_role(*r));
        let roles: Vec<Role> = roles.collect();
        for role in &roles {
            self.check_name(&renamed, *role)?;
        }
        let old = geometry.name.clone();
        for role in roles {
            self.free_name(renamed.frame, role, &old);
            self.take_name(renamed.frame, role, &renamed.name);
        }
        Arc::make_mut(&mut self.geometries)[number] = renamed;
        Ok(())
    }

    /// Removes a geometry. This renumbers all later geometries, so it takes time proportional to
    /// the size of the scene. To undo many registrations, use [`GeometryState::take_back`].
    ///
    /// # Errors
    /// Returns an error if the source or the geometry is unknown, or if the geometry belongs to
    /// another source.
    pub fn remove_geometry(&mut self, source: SourceId, geometry: GeometryId) -> Result<()> {
        let number = self.owned_geometry(source, geometry)?;
        self.remove_numbers(&[number]);
        Ok(())
    }

    /// Removes geometries by number, in increasing order.
    fn remove_numbers(&mut self, removed: &[usize]) {
        let Some(&first) = removed.first() else {
            return;
        };
        let gone: Vec<RegisteredGeometry> = removed
            .iter()
            .map(|n| self.geometries[*n].clone())
            .collect();
        for (number, geometry) in removed.iter().zip(&gone) {
            for role in ROLES.into_iter().filter(|r| geometry.has_role(*r)) {
                self.free_name(geometry.frame, role, &geometry.name);
                self.note_change(role, self.is_shown(geometry));
            }
            self.set_visual(*number, None);
        }
        let frames = Arc::make_mut(&mut self.frames);
        if first + removed.len() == self.geometries.len() {
            // The last geometries of the scene are also the last on their frames.
            for geometry in &gone {
                frames[geometry.frame].geometries.pop();
            }
        } else {
            for frame in frames {
                frame.geometries.retain_mut(|number| {
                    let found = removed.binary_search(number);
                    let before = found.unwrap_or_else(|before| before);
                    *number -= before;
                    found.is_err()
                });
            }
        }
        if !self.filter.is_empty() {
            Arc::make_mut(&mut self.filter).remove_geometries(removed);
        }
        let geometries = Arc::make_mut(&mut self.geometries);
        retain_others(geometries, removed);
        retain_others(Arc::make_mut(&mut self.geometry_ids), removed);
        self.static_tree = OnceLock::new();
        self.contact_partners = OnceLock::new();
    }

    /// Returns a mark of the current registrations.
    pub fn registration_mark(&self) -> RegistrationMark {
        RegistrationMark {
            world: self.frames[WORLD].id,
            sources: self.sources.len(),
            frames: self.frames.len(),
            geometry: GeometryId::new(),
        }
    }

    /// Removes all sources, frames and geometries registered since the mark was made. The time is
    /// proportional to their number and to the size of the filters. Other changes stay: roles of
    /// older geometry, filters, renderers.
    ///
    /// # Errors
    /// Returns an error if the mark was made by another scene.
    pub fn take_back(&mut self, mark: RegistrationMark) -> Result<()> {
        if mark.world != self.frames[WORLD].id {
            return Err(Error::foreign(
                "the registration mark belongs to another scene; use a mark made by this scene",
            ));
        }
        let first = self.geometry_ids.partition_point(|id| *id < mark.geometry);
        let later: Vec<usize> = (first..self.geometries.len()).collect();
        self.remove_numbers(&later);
        if self.frames.len() > mark.frames {
            let gone = Arc::make_mut(&mut self.frames).split_off(mark.frames);
            let numbers = Arc::make_mut(&mut self.frame_numbers);
            let names = &mut Arc::make_mut(&mut self.names).frames;
            let sources = Arc::make_mut(&mut self.sources);
            for frame in gone {
                numbers.remove(&frame.id);
                names.remove(&(frame.source, frame.name));
                if let Ok(source) = sources.binary_search_by_key(&frame.source, |s| s.id) {
                    // Later frames are also the last in their source.
                    sources[source].frames.pop();
                }
            }
        }
        if self.sources.len() > mark.sources {
            Arc::make_mut(&mut self.sources).truncate(mark.sources);
        }
        Ok(())
    }
}

/// Removes the items at the given indices, which increase.
fn retain_others<V>(items: &mut Vec<V>, removed: &[usize]) {
    let mut next = removed.iter().copied().peekable();
    let mut place = 0;
    items.retain(|_| {
        let is_removed = next.next_if_eq(&place).is_some();
        place += 1;
        !is_removed
    });
}
