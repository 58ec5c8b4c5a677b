//! Assignment and removal of roles.

use super::state::{GeometryState, Participation, RegisteredGeometry, WORLD};
use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{
    IllustrationProperties, PerceptionProperties, ProximityProperties, Role, RoleAssign,
};
use std::sync::Arc;

mod sealed {
    /// Seals [`RoleProperties`](super::RoleProperties), which keeps the set of roles closed.
    pub trait Sealed {}
    impl Sealed for crate::properties::ProximityProperties {}
    impl Sealed for crate::properties::IllustrationProperties {}
    impl Sealed for crate::properties::PerceptionProperties {}
}

/// Properties that define a role.
///
/// ```
/// use tarragon_geometry::{PerceptionProperties, ProximityProperties, Role, RoleProperties};
/// assert_eq!(ProximityProperties::ROLE, Role::Proximity);
/// assert_eq!(PerceptionProperties::ROLE, Role::Perception);
/// ```
pub trait RoleProperties: sealed::Sealed {
    /// The role that the properties define.
    const ROLE: Role;
    /// Stores the properties in a geometry. Its name must be free, and it may already have the
    /// role.
    #[doc(hidden)]
    fn put(self, state: &mut GeometryState, number: usize) -> Result<()>;
}

impl RoleProperties for ProximityProperties {
    const ROLE: Role = Role::Proximity;
    fn put(self, state: &mut GeometryState, number: usize) -> Result<()> {
        let properties = state.filled_in(self);
        let geometry = &state.geometries[number];
        let found = state.participation(geometry, &geometry.shape, &properties)?;
        let geometry = &mut Arc::make_mut(&mut state.geometries)[number];
        geometry.set_participation(found);
        geometry.proximity = Some(properties);
        Ok(())
    }
}

impl RoleProperties for IllustrationProperties {
    const ROLE: Role = Role::Illustration;
    fn put(self, state: &mut GeometryState, number: usize) -> Result<()> {
        Arc::make_mut(&mut state.geometries)[number].illustration = Some(self);
        Ok(())
    }
}

impl RoleProperties for PerceptionProperties {
    const ROLE: Role = Role::Perception;
    fn put(self, state: &mut GeometryState, number: usize) -> Result<()> {
        let mut geometry = state.geometries[number].clone();
        let place = |state: &GeometryState, e: Error| e.at(state.place(&state.geometries[number]));
        geometry
            .drive_perception(&self)
            .map_err(|e| place(state, e))?;
        let visual = GeometryId::new();
        let registered = state.renderers.register(visual, geometry.drawn(), &self);
        registered.map_err(|e| place(state, e))?;
        state.set_visual(number, Some(visual));
        let stored = &mut Arc::make_mut(&mut state.geometries)[number];
        stored.deformable = geometry.deformable;
        stored.perception = Some(self);
        Ok(())
    }
}

impl GeometryState {
    /// Gives a geometry of `source` a role that it does not have yet.
    ///
    /// # Errors
    /// Returns an error in the cases of [`GeometryState::assign_role_with`].
    pub fn assign_role(
        &mut self,
        source: SourceId,
        geometry: GeometryId,
        properties: impl RoleProperties,
    ) -> Result<()> {
        self.assign_role_with(source, geometry, properties, RoleAssign::New)
    }

    /// Gives a geometry of `source` a role, or replaces all properties of a role that it already
    /// has.
    ///
    /// # Errors
    /// Returns an error if the source or the geometry is unknown, or if the geometry belongs to
    /// another source. With [`RoleAssign::New`], returns an error if the geometry already has the
    /// role, or if another geometry on the frame has the same name and that role; with
    /// [`RoleAssign::Replace`], if it does not have the role. Also returns an error if a required
    /// property is wrong or missing, or if a mesh file cannot be used. In all these cases nothing
    /// is changed.
    pub fn assign_role_with<P: RoleProperties>(
        &mut self,
        source: SourceId,
        geometry: GeometryId,
        properties: P,
        assign: RoleAssign,
    ) -> Result<()> {
        let number = self.owned_geometry(source, geometry)?;
        let geometry = &self.geometries[number];
        match (assign, geometry.has_role(P::ROLE)) {
            (RoleAssign::New, true) => {
                return Err(Error::exists(format!(
                    "{} already has the role {:?}; replace its properties with `RoleAssign::Replace`",
                    self.place(geometry),
                    P::ROLE
                )));
            }
            (RoleAssign::Replace, false) => {
                return Err(Error::state(format!(
                    "{} does not have the role {:?}, so its properties cannot be replaced; assign it \
                     with `RoleAssign::New`",
                    self.place(geometry),
                    P::ROLE
                )));
            }
            (RoleAssign::New, false) => self.check_name(geometry, P::ROLE)?,
            (RoleAssign::Replace, true) => {}
        }
        let (frame, name) = (geometry.frame, geometry.name.clone());
        let was_shown = self.is_shown(geometry);
        properties.put(self, number)?;
        self.take_name(frame, P::ROLE, &name);
        let is_shown = self.is_shown(&self.geometries[number]);
        self.note_change(P::ROLE, was_shown || is_shown);
        Ok(())
    }

    /// Removes a role from a geometry of `source`. Returns false if it did not have the role. A
    /// geometry that loses the proximity role is removed from all collision filters permanently.
    ///
    /// # Errors
    /// Returns an error if the source or the geometry is unknown, or if the geometry belongs to
    /// another source.
    pub fn remove_role(
        &mut self,
        source: SourceId,
        geometry: GeometryId,
        role: Role,
    ) -> Result<bool> {
        let number = self.owned_geometry(source, geometry)?;
        Ok(self.drop_role(number, role))
    }

    /// Removes a role from all geometries on a frame of `source` that have it; on the world frame,
    /// only from the geometries of `source`. Returns the number of geometries that had it.
    ///
    /// # Errors
    /// Returns an error if the source or the frame is unknown, or if the frame belongs to another
    /// source.
    pub fn remove_role_on_frame(
        &mut self,
        source: SourceId,
        frame: FrameId,
        role: Role,
    ) -> Result<usize> {
        self.source_number(source)?;
        let number = self.frame_number(frame)?;
        let frame = &self.frames[number];
        if number != WORLD && frame.source != source {
            return Err(Error::invalid(format!(
                "frame '{}' belongs to source '{}', not to '{}'",
                frame.name,
                self.source_name(frame.source)?,
                self.source_name(source)?
            )));
        }
        let on_frame = frame.geometries.iter().copied();
        let own: Vec<usize> = on_frame
            .filter(|g| self.geometries[*g].source == source)
            .collect();
        Ok(own.into_iter().filter(|g| self.drop_role(*g, role)).count())
    }

    fn drop_role(&mut self, number: usize, role: Role) -> bool {
        let geometry = &self.geometries[number];
        if role == Role::Unassigned || !geometry.has_role(role) {
            return false;
        }
        let (frame, name) = (geometry.frame, geometry.name.clone());
        let was_shown = self.is_shown(geometry);
        self.note_change(role, was_shown);
        self.free_name(frame, role, &name);
        if role == Role::Perception {
            self.set_visual(number, None);
        }
        if role == Role::Proximity && !self.filter.is_empty() {
            Arc::make_mut(&mut self.filter).clear(number);
        }
        let geometry = &mut Arc::make_mut(&mut self.geometries)[number];
        match role {
            Role::Proximity => {
                geometry.proximity = None;
                geometry.set_participation(Participation::default());
            }
            Role::Illustration => geometry.illustration = None,
            Role::Perception => geometry.perception = None,
            Role::Unassigned => {}
        }
        true
    }

    /// Gives the perception role to the proximity geometry of those frames of `source` that have no
    /// perception geometry, so that a body without visuals shows its collision geometry. Returns
    /// the number of geometries that got the role.
    ///
    /// # Errors
    /// Returns an error if the source is unknown, if a visual of another source already has the
    /// name of a geometry, or if a renderer rejects a geometry. In that case nothing is changed.
    pub fn show_proximity_where_unseen(
        &mut self,
        source: SourceId,
        properties: &PerceptionProperties,
    ) -> Result<usize> {
        let frames = &self.sources[self.source_number(source)?].frames;
        let mut numbers = vec![];
        for frame in frames.iter().copied().chain([WORLD]) {
            let own = self.frames[frame].geometries.iter().copied();
            let own: Vec<usize> = own
                .filter(|g| self.geometries[*g].source == source)
                .collect();
            if own.iter().any(|g| self.geometries[*g].perception.is_some()) {
                continue;
            }
            for number in own {
                let geometry = &self.geometries[number];
                if geometry.proximity.is_some() {
                    self.check_name(geometry, Role::Perception)?;
                    numbers.push(number);
                }
            }
        }
        let mut visuals = vec![];
        for number in &numbers {
            let visual = GeometryId::new();
            let mut geometry = self.geometries[*number].clone();
            let driven = geometry.drive_perception(properties);
            let register = |()| {
                let drawn = geometry.drawn();
                self.renderers.register(visual, drawn, properties)
            };
            if let Err(e) = driven.and_then(register) {
                let shown = visuals.into_iter();
                shown.for_each(|(v, _)| self.renderers.remove(v));
                return Err(e.at(self.place(&self.geometries[*number])));
            }
            visuals.push((visual, geometry.deformable));
        }
        for (number, (visual, deformable)) in numbers.iter().copied().zip(visuals) {
            self.set_visual(number, Some(visual));
            let geometry = &mut Arc::make_mut(&mut self.geometries)[number];
            geometry.deformable = deformable;
            geometry.perception = Some(properties.clone());
            let (frame, name) = (geometry.frame, geometry.name.clone());
            let is_shown = self.is_shown(&self.geometries[number]);
            self.take_name(frame, Role::Perception, &name);
            self.note_change(Role::Perception, is_shown);
        }
        Ok(numbers.len())
    }

    /// Checks that no other geometry on the frame has the geometry's name and the role.
    pub(super) fn check_name(&self, geometry: &RegisteredGeometry, role: Role) -> Result<()> {
        let key = (geometry.frame, role, geometry.name.clone());
        if self.names.geometries.contains(&key) {
            return Err(Error::exists(format!(
                "{}: another geometry on this frame has the same name and the role {role:?}; names \
                 must be unique per frame and role",
                self.place(geometry)
            )));
        }
        Ok(())
    }
    pub(super) fn take_name(&mut self, frame: usize, role: Role, name: &Arc<str>) {
        let names = &mut Arc::make_mut(&mut self.names).geometries;
        names.insert((frame, role, name.clone()));
    }
    pub(super) fn free_name(&mut self, frame: usize, role: Role, name: &Arc<str>) {
        let names = &mut Arc::make_mut(&mut self.names).geometries;
        names.remove(&(frame, role, name.clone()));
    }
}
