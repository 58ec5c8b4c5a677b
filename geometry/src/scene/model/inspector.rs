//! Read-only view of the contents of a scene.

use super::geometry_set::GeometrySet;
use super::state::{GeometryState, RegisteredFrame, RegisteredGeometry, WORLD};
use super::version::GeometryVersion;
use crate::error::{Error, Result};
use crate::hydro::HydroelasticMesh;
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{
    GeometryProperties, IllustrationProperties, PerceptionProperties, ProximityProperties, Role,
};
use crate::scene::instance::{GeometryInstance, canonical};
use crate::shape::{Convex, Shape};
use nalgebra::Isometry3;

/// Read-only view of a scene (Drake's `SceneGraphInspector`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryInstance, SceneGraph, SceneGraphInspector, Sphere};
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// let ball = scene.register_anchored_geometry(toys, ball)?;
/// let inspector: SceneGraphInspector<'_> = scene.model_inspector();
/// assert_eq!((inspector.name(ball)?, inspector.shape(ball)?.type_name()), ("ball", "Sphere"));
/// assert_eq!(inspector.frame_id(ball)?, inspector.world_frame_id());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct SceneGraphInspector<'a> {
    pub(super) state: &'a GeometryState,
}

impl<'a> SceneGraphInspector<'a> {
    pub(crate) fn new(state: &'a GeometryState) -> Self {
        Self { state }
    }

    pub(super) fn geometry(&self, id: GeometryId) -> Result<&'a RegisteredGeometry> {
        Ok(&self.state.geometries[self.state.geometry_number(id)?])
    }
    fn frame(&self, id: FrameId) -> Result<&'a RegisteredFrame> {
        Ok(&self.state.frames[self.state.frame_number(id)?])
    }

    /// Returns the number of sources, including the scene itself (the owner of the world frame).
    pub fn num_sources(&self) -> usize {
        self.state.sources.len() + 1
    }
    /// Returns all sources: the scene itself, then the others in order of registration.
    pub fn source_ids(&self) -> impl Iterator<Item = SourceId> + 'a {
        let registered = self.state.sources.iter().map(|s| s.id);
        std::iter::once(self.state.internal_source).chain(registered)
    }
    /// Returns true if there is such a source.
    pub fn source_is_registered(&self, id: SourceId) -> bool {
        self.state.source_name(id).is_ok()
    }
    /// Returns the name of a source; `SceneGraphInternal` for the scene itself.
    ///
    /// # Errors
    /// Returns an error if there is no such source.
    pub fn source_name(&self, id: SourceId) -> Result<&'a str> {
        self.state.source_name(id)
    }
    /// Returns true if there is a source of this name, the scene itself included.
    pub fn has_source_named(&self, name: &str) -> bool {
        let mut names = self.state.sources.iter().map(|s| &*s.name);
        name == GeometryState::INTERNAL_SOURCE || names.any(|taken| taken == name)
    }
    /// Returns the number of frames of a source.
    ///
    /// # Errors
    /// Returns an error if there is no such source.
    pub fn num_frames_for_source(&self, id: SourceId) -> Result<usize> {
        Ok(self.frames_for_source(id)?.count())
    }
    /// Returns the frames of a source, in order of registration; the world frame belongs to the
    /// scene itself.
    ///
    /// # Errors
    /// Returns an error if there is no such source.
    pub fn frames_for_source(&self, id: SourceId) -> Result<impl Iterator<Item = FrameId> + 'a> {
        let numbers: &[usize] = if id == self.state.internal_source {
            &[WORLD]
        } else {
            &self.state.sources[self.state.source_number(id)?].frames
        };
        Ok(numbers.iter().map(|n| self.state.frames[*n].id))
    }

    /// Returns the number of frames, including the world.
    pub fn num_frames(&self) -> usize {
        self.state.frames.len()
    }
    /// Returns all frames: the world, then the others in order of registration.
    pub fn frame_ids(&self) -> impl Iterator<Item = FrameId> + 'a {
        self.state.frames.iter().map(|f| f.id)
    }
    /// Returns the world frame.
    pub fn world_frame_id(&self) -> FrameId {
        self.state.frames[WORLD].id
    }
    /// Returns the name of a frame.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn frame_name(&self, id: FrameId) -> Result<&'a str> {
        Ok(&self.frame(id)?.name)
    }
    /// Returns the frame group of a frame; 0 for the world.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn frame_group(&self, id: FrameId) -> Result<i32> {
        Ok(self.frame(id)?.frame_group)
    }
    /// Returns the parent of a frame; the world is its own parent.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn parent_frame_id(&self, id: FrameId) -> Result<FrameId> {
        Ok(self.state.frames[self.frame(id)?.parent].id)
    }
    /// Returns the source of a frame.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn frame_source_id(&self, id: FrameId) -> Result<SourceId> {
        Ok(self.frame(id)?.source)
    }
    /// Returns the name of the source of a frame.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn frame_source_name(&self, id: FrameId) -> Result<&'a str> {
        self.state.source_name(self.frame(id)?.source)
    }
    /// Returns true if the frame belongs to the source.
    ///
    /// # Errors
    /// Returns an error if there is no such frame or no such source.
    pub fn frame_belongs_to_source(&self, id: FrameId, source: SourceId) -> Result<bool> {
        self.state.source_name(source)?;
        Ok(self.frame(id)?.source == source)
    }
    /// Returns the number of geometries on a frame itself; with a `role`, only of those that have
    /// it.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn num_geometries_for_frame(
        &self,
        frame: FrameId,
        role: impl Into<Option<Role>>,
    ) -> Result<usize> {
        Ok(self.geometries_on(frame, role)?.len())
    }
    /// Returns the geometries on a frame itself, in order of registration; with a `role`, only
    /// those that have it.
    ///
    /// # Errors
    /// Returns an error if there is no such frame.
    pub fn geometries_on(
        &self,
        frame: FrameId,
        role: impl Into<Option<Role>>,
    ) -> Result<Vec<GeometryId>> {
        let role = role.into();
        let all = self.frame(frame)?.geometries.iter();
        let all = all.map(|g| &self.state.geometries[*g]);
        let chosen = all.filter(|g| role.is_none_or(|role| g.has_role(role)));
        Ok(chosen.map(|g| g.id).collect())
    }
    /// Returns the geometry with the given name and role on a frame. Leading and trailing spaces
    /// and tabs of the name are dropped.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry or, for [`Role::Unassigned`], more than one.
    pub fn geometry_id_by_name(
        &self,
        frame: FrameId,
        role: Role,
        name: &str,
    ) -> Result<GeometryId> {
        let name = canonical(name);
        let on_frame = self.frame(frame)?.geometries.iter();
        let with_role = on_frame
            .map(|g| &self.state.geometries[*g])
            .filter(|g| g.has_role(role));
        let mut named = with_role.clone().filter(|g| &*g.name == name);
        match (named.next(), named.next()) {
            (Some(found), None) => Ok(found.id),
            (Some(_), Some(_)) => Err(Error::invalid(format!(
                "frame '{}' has several geometries '{name}' with the role {role:?}; names are unique \
                 only among geometries with an assigned role",
                self.frame_name(frame)?
            ))),
            (None, _) => Err(Error::not_found(format!(
                "frame '{}' has no geometry '{name}' with the role {role:?}; its geometries with that role: [{}]",
                self.frame_name(frame)?,
                with_role.map(|g| &*g.name).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Returns the number of geometries.
    pub fn num_geometries(&self) -> usize {
        self.state.geometries.len()
    }
    /// Returns the number of geometries with a role.
    pub fn num_geometries_with_role(&self, role: Role) -> usize {
        self.geometry_ids_with_role(role).count()
    }
    /// Returns the number of geometries that can move: those on frames other than the world, and
    /// the deformable ones.
    pub fn num_dynamic_geometries(&self) -> usize {
        self.num_geometries() - self.num_anchored_geometries()
    }
    /// Returns the number of geometries that are fixed to the world.
    pub fn num_anchored_geometries(&self) -> usize {
        let on_world = self.state.frames[WORLD].geometries.iter();
        let anchored = on_world.filter(|g| self.state.geometries[**g].is_anchored());
        anchored.count()
    }
    /// Returns all geometries, in order of registration.
    pub fn geometry_ids(&self) -> impl Iterator<Item = GeometryId> + 'a {
        self.state.geometries.iter().map(|g| g.id)
    }
    /// Returns the geometries with a role, in order of registration.
    pub fn geometry_ids_with_role(&self, role: Role) -> impl Iterator<Item = GeometryId> + 'a {
        let all = self.state.geometries.iter();
        all.filter(move |g| g.has_role(role)).map(|g| g.id)
    }
    /// Returns the geometries in a set, in order of registration; with a `role`, only those that
    /// have it.
    ///
    /// # Errors
    /// Returns an error if a frame or geometry of the set is unknown.
    pub fn geometry_ids_in(
        &self,
        set: &GeometrySet,
        role: impl Into<Option<Role>>,
    ) -> Result<Vec<GeometryId>> {
        let members = self.state.members(set, role.into())?;
        Ok(members
            .into_iter()
            .map(|g| self.state.geometries[g].id)
            .collect())
    }
    /// Returns the name of a geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn name(&self, id: GeometryId) -> Result<&'a str> {
        Ok(&self.geometry(id)?.name)
    }
    /// Returns the frame of a geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn frame_id(&self, id: GeometryId) -> Result<FrameId> {
        Ok(self.state.frames[self.geometry(id)?.frame].id)
    }
    /// Returns the source of a geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn source_id(&self, id: GeometryId) -> Result<SourceId> {
        Ok(self.geometry(id)?.source)
    }
    /// Returns the name of the source of a geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn owning_source_name(&self, id: GeometryId) -> Result<&'a str> {
        self.state.source_name(self.geometry(id)?.source)
    }
    /// Returns true if the geometry belongs to the source.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry or no such source.
    pub fn geometry_belongs_to_source(&self, id: GeometryId, source: SourceId) -> Result<bool> {
        self.state.source_name(source)?;
        Ok(self.geometry(id)?.source == source)
    }
    /// Returns the shape of a geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn shape(&self, id: GeometryId) -> Result<&'a Shape> {
        Ok(&self.geometry(id)?.shape)
    }
    /// Returns the convex pieces, in the frame of the geometry, as whose union a mesh takes part in
    /// proximity queries; `None` if its properties [do not ask for
    /// them](crate::ProximityProperties::with_convex_decomposition).
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn convex_pieces(&self, id: GeometryId) -> Result<Option<&'a [Convex]>> {
        Ok(self.geometry(id)?.form.pieces())
    }
    /// Returns the mesh that represents a geometry in hydroelastic contact, in the frame of the
    /// geometry. It is `None` if the geometry has no compliance type, is a half space, or is
    /// compliant but too small for a gradient of pressure. In the model, before defaults are filled
    /// in, it is also `None` if the compliance type is a default.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn maybe_get_hydroelastic_mesh(&self, id: GeometryId) -> Result<Option<HydroelasticMesh>> {
        let geometry = self.geometry(id)?;
        let has_type = |p: &ProximityProperties| p.has("hydroelastic", "compliance_type");
        Ok(if geometry.proximity.as_ref().is_some_and(has_type) {
            geometry.hydroelastic.mesh()
        } else {
            None
        })
    }
    /// Returns `X_FG`, the pose of a geometry in its frame.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn pose_in_frame(&self, id: GeometryId) -> Result<&'a Isometry3<f64>> {
        Ok(&self.geometry(id)?.x_fg)
    }
    /// Returns the properties of a geometry for a role; `None` if it does not have the role, and
    /// for [`Role::Unassigned`].
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn properties(&self, id: GeometryId, role: Role) -> Result<Option<&'a GeometryProperties>> {
        let g = self.geometry(id)?;
        Ok(match role {
            Role::Unassigned => None,
            Role::Proximity => g.proximity.as_deref(),
            Role::Illustration => g.illustration.as_deref(),
            Role::Perception => g.perception.as_deref(),
        })
    }
    /// Returns the proximity properties of a geometry; `None` if it does not have the role.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn proximity_properties(&self, id: GeometryId) -> Result<Option<&'a ProximityProperties>> {
        Ok(self.geometry(id)?.proximity.as_ref())
    }
    /// Returns the illustration properties of a geometry; `None` if it does not have the role.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn illustration_properties(
        &self,
        id: GeometryId,
    ) -> Result<Option<&'a IllustrationProperties>> {
        Ok(self.geometry(id)?.illustration.as_ref())
    }
    /// Returns the perception properties of a geometry; `None` if it does not have the role.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn perception_properties(
        &self,
        id: GeometryId,
    ) -> Result<Option<&'a PerceptionProperties>> {
        Ok(self.geometry(id)?.perception.as_ref())
    }
    /// Returns an instance with the shape, pose, name and all roles of a registered geometry.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn clone_geometry_instance(&self, id: GeometryId) -> Result<GeometryInstance> {
        let g = self.geometry(id)?;
        Ok(GeometryInstance {
            x_pg: g.x_fg,
            shape: g.shape.clone(),
            name: g.name.to_string(),
            proximity: g.proximity.clone(),
            illustration: g.illustration.clone(),
            perception: g.perception.clone(),
        })
    }

    /// Returns all pairs that proximity queries test, sorted, with the smaller id first. A
    /// `MeshcatCone` is in none of them.
    pub fn collision_candidates(&self) -> Vec<(GeometryId, GeometryId)> {
        let all = &self.state.geometries;
        let members: Vec<usize> = (0..all.len()).filter(|i| all[*i].is_tested()).collect();
        let mut pairs = vec![];
        for (i, &a) in members.iter().enumerate() {
            for &b in &members[i + 1..] {
                if self.state.is_candidate(a, b) {
                    pairs.push((all[a].id, all[b].id));
                }
            }
        }
        pairs
    }
    /// Returns true if proximity queries never test the pair.
    ///
    /// # Errors
    /// Returns an error if a geometry is unknown or does not have the proximity role.
    pub fn collision_filtered(&self, a: GeometryId, b: GeometryId) -> Result<bool> {
        let (i, j) = (
            self.state.geometry_number(a)?,
            self.state.geometry_number(b)?,
        );
        for number in [i, j] {
            let geometry = &self.state.geometries[number];
            if geometry.proximity.is_none() {
                return Err(Error::invalid(format!(
                    "{} has no proximity role, so no pair with it can be filtered",
                    self.state.place(geometry)
                )));
            }
        }
        let takes_part = |number: usize| self.state.geometries[number].is_tested();
        Ok(!(takes_part(i) && takes_part(j) && self.state.is_candidate(i, j)))
    }

    /// Returns the version of the geometry, which shows whether it may have changed.
    pub fn geometry_version(&self) -> &'a GeometryVersion {
        &self.state.version
    }
    /// Returns the names of the renderers, sorted.
    pub fn renderer_names(&self) -> impl Iterator<Item = &'a str> {
        self.state.renderers.names()
    }
}

impl GeometryState {
    /// Returns a read-only view of the scene.
    pub fn inspector(&self) -> SceneGraphInspector<'_> {
        SceneGraphInspector::new(self)
    }
}
