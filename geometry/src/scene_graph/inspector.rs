//! Looking at what a scene holds.

use super::state::{Geometry, GeometryState, WORLD};
use crate::error::{Error, Result};
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{IllustrationProperties, PerceptionProperties, ProximityProperties, Role};
use crate::shapes::Shape;
use nalgebra::Isometry3;

/// Read-only view of a scene (Drake's `SceneGraphInspector`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryInstance, SceneGraph, SceneGraphInspector, Sphere};
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball");
/// let ball = scene.register_anchored_geometry(toys, ball)?;
/// let inspector: SceneGraphInspector<'_> = scene.model_inspector();
/// assert_eq!((inspector.name(ball)?, inspector.shape(ball)?.type_name()), ("ball", "Sphere"));
/// assert_eq!(inspector.frame_id(ball)?, inspector.world_frame_id());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct SceneGraphInspector<'a> {
    state: &'a GeometryState,
}

impl<'a> SceneGraphInspector<'a> {
    pub(crate) fn new(state: &'a GeometryState) -> Self {
        Self { state }
    }

    fn geometry(&self, id: GeometryId) -> Result<&'a Geometry> {
        Ok(&self.state.geometries[self.state.geometry_number(id)?])
    }

    /// Number of sources.
    pub fn num_sources(&self) -> usize {
        self.state.sources.len()
    }
    /// Number of frames, the world included.
    pub fn num_frames(&self) -> usize {
        self.state.frames.len()
    }
    /// Number of geometries.
    pub fn num_geometries(&self) -> usize {
        self.state.geometries.len()
    }
    /// Number of geometries with a role.
    pub fn num_geometries_with_role(&self, role: Role) -> usize {
        self.geometry_ids_with_role(role).count()
    }
    /// All geometries, in order of registration.
    pub fn geometry_ids(&self) -> impl Iterator<Item = GeometryId> + 'a {
        self.state.geometries.iter().map(|g| g.id)
    }
    /// Geometries with a role, in order of registration.
    pub fn geometry_ids_with_role(&self, role: Role) -> impl Iterator<Item = GeometryId> + 'a {
        let all = self.state.geometries.iter();
        all.filter(move |g| g.has_role(role)).map(|g| g.id)
    }
    /// All frames, the world first, then in order of registration.
    pub fn frame_ids(&self) -> impl Iterator<Item = FrameId> + 'a {
        self.state.frames.iter().map(|f| f.id)
    }
    /// The world frame.
    pub fn world_frame_id(&self) -> FrameId {
        self.state.frames[WORLD].id
    }
    /// Name of a source.
    ///
    /// # Errors
    /// If there is no such source.
    pub fn source_name(&self, id: SourceId) -> Result<&'a str> {
        let found = self.state.sources.iter().find(|s| s.id == id);
        found
            .map(|s| &*s.name)
            .ok_or_else(|| Error::invalid(format!("there is no source {id} in this scene")))
    }
    /// Name of a frame.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn frame_name(&self, id: FrameId) -> Result<&'a str> {
        Ok(&self.state.frames[self.state.frame_number(id)?].name)
    }
    /// Frame group of a frame.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn frame_group(&self, id: FrameId) -> Result<i32> {
        Ok(self.state.frames[self.state.frame_number(id)?].frame_group)
    }
    /// Parent of a frame; the world is its own parent.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn parent_frame_id(&self, id: FrameId) -> Result<FrameId> {
        let parent = self.state.frames[self.state.frame_number(id)?].parent;
        Ok(self.state.frames[parent].id)
    }
    /// Geometries on a frame with a role, in order of registration.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn geometries_on(&self, frame: FrameId, role: Role) -> Result<Vec<GeometryId>> {
        let frame = &self.state.frames[self.state.frame_number(frame)?];
        let all = frame.geometries.iter().map(|g| &self.state.geometries[*g]);
        Ok(all.filter(|g| g.has_role(role)).map(|g| g.id).collect())
    }
    /// The geometry of a name, on a frame, with a role.
    ///
    /// # Errors
    /// If there is none.
    pub fn geometry_id_by_name(
        &self,
        frame: FrameId,
        role: Role,
        name: &str,
    ) -> Result<GeometryId> {
        let ids = self.geometries_on(frame, role)?;
        let named = |id: &&GeometryId| self.geometry(**id).is_ok_and(|g| g.name == name.trim());
        ids.iter().find(named).copied().ok_or_else(|| {
            let frame = self.frame_name(frame).unwrap_or_default();
            Error::invalid(format!(
                "frame '{frame}' has no geometry '{name}' with the role {role:?}"
            ))
        })
    }
    /// Name of a geometry.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn name(&self, id: GeometryId) -> Result<&'a str> {
        Ok(&self.geometry(id)?.name)
    }
    /// Frame of a geometry.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn frame_id(&self, id: GeometryId) -> Result<FrameId> {
        Ok(self.state.frames[self.geometry(id)?.frame].id)
    }
    /// Source of a geometry.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn source_id(&self, id: GeometryId) -> Result<SourceId> {
        Ok(self.geometry(id)?.source)
    }
    /// Shape of a geometry.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn shape(&self, id: GeometryId) -> Result<&'a Shape> {
        Ok(&self.geometry(id)?.shape)
    }
    /// `X_FG`, the pose of a geometry in its frame.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn pose_in_frame(&self, id: GeometryId) -> Result<&'a Isometry3<f64>> {
        Ok(&self.geometry(id)?.x_fg)
    }
    /// Proximity properties of a geometry, if it has the role.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn proximity_properties(&self, id: GeometryId) -> Result<Option<&'a ProximityProperties>> {
        Ok(self.geometry(id)?.proximity.as_ref())
    }
    /// Illustration properties of a geometry, if it has the role.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn illustration_properties(
        &self,
        id: GeometryId,
    ) -> Result<Option<&'a IllustrationProperties>> {
        Ok(self.geometry(id)?.illustration.as_ref())
    }
    /// Perception properties of a geometry, if it has the role.
    ///
    /// # Errors
    /// If there is no such geometry.
    pub fn perception_properties(
        &self,
        id: GeometryId,
    ) -> Result<Option<&'a PerceptionProperties>> {
        Ok(self.geometry(id)?.perception.as_ref())
    }
    /// All pairs that proximity queries test, the smaller id first, sorted.
    pub fn collision_candidates(&self) -> Vec<(GeometryId, GeometryId)> {
        let all = &self.state.geometries;
        let members: Vec<usize> = (0..all.len())
            .filter(|i| all[*i].proximity.is_some())
            .collect();
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
    /// True if proximity queries never test the pair.
    ///
    /// # Errors
    /// If a geometry is unknown or has no proximity role.
    pub fn collision_filtered(&self, a: GeometryId, b: GeometryId) -> Result<bool> {
        let (i, j) = (
            self.state.geometry_number(a)?,
            self.state.geometry_number(b)?,
        );
        for number in [i, j] {
            let geometry = &self.state.geometries[number];
            if geometry.proximity.is_none() {
                let name = &geometry.name;
                return Err(Error::invalid(format!(
                    "geometry '{name}' has no proximity role"
                )));
            }
        }
        Ok(i == j || !self.state.is_candidate(i, j))
    }
    /// Names of the renderers.
    pub fn renderer_names(&self) -> impl Iterator<Item = &'a str> {
        self.state.renderers.keys().map(|n| &**n)
    }
}
