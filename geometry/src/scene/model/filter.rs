//! Collision filters: the pairs of geometry that proximity queries test.
//!
//! A pair is a candidate unless both geometries are anchored, both are on the same frame, or a
//! declaration excludes the pair. `FilterTable` stores the declarations.

use super::filter_table::ResolvedStatement;
use super::geometry_set::GeometrySet;
use super::state::GeometryState;
use crate::error::{Error, Result};
use crate::ids::FilterId;
use crate::properties::Role;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum FilterStatement {
    ExcludeWithin(GeometrySet),
    ExcludeBetween(GeometrySet, GeometrySet),
    AllowWithin(GeometrySet),
    AllowBetween(GeometrySet, GeometrySet),
}

/// Geometries that a [`CollisionFilterDeclaration`] is about (Drake's `CollisionFilterScope`).
///
/// ```
/// use tarragon_geometry::CollisionFilterScope;
/// assert_eq!(CollisionFilterScope::default(), CollisionFilterScope::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionFilterScope {
    /// All geometries in the sets.
    #[default]
    All,
    /// All geometries in the sets but the deformable ones, whose pairs stay as they are.
    OmitDeformable,
}

/// A sequence of statements about pairs; later statements override earlier ones (Drake's
/// `CollisionFilterDeclaration`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let robot = scene.register_source("robot")?;
/// let frames = ["upper", "lower"].map(GeometryFrame::new);
/// for frame in &frames {
///     scene.register_frame(robot, frame.clone())?;
///     let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
///     let ball = ball.with_proximity(ProximityProperties::new());
///     scene.register_geometry(robot, frame.id(), ball)?;
/// }
/// assert_eq!(scene.model_inspector().collision_candidates().len(), 1);
/// let neighbours = vec![frames[0].id(), frames[1].id()];
/// scene.apply_collision_filter(&CollisionFilterDeclaration::new().exclude_within(neighbours))?;
/// assert!(scene.model_inspector().collision_candidates().is_empty());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CollisionFilterDeclaration {
    scope: CollisionFilterScope,
    pub(crate) statements: Vec<FilterStatement>,
}

impl CollisionFilterDeclaration {
    /// Creates a declaration without statements.
    pub fn new() -> Self {
        Self::default()
    }
    /// Creates a declaration without statements about the geometries in a scope.
    pub fn with_scope(scope: CollisionFilterScope) -> Self {
        Self {
            scope,
            ..Self::default()
        }
    }
    /// Returns the scope.
    pub fn scope(&self) -> CollisionFilterScope {
        self.scope
    }
    /// Excludes all pairs of members of `set`.
    #[must_use]
    pub fn exclude_within(mut self, set: impl Into<GeometrySet>) -> Self {
        self.statements
            .push(FilterStatement::ExcludeWithin(set.into()));
        self
    }
    /// Excludes all pairs of a member of `a` and a member of `b`.
    #[must_use]
    pub fn exclude_between(mut self, a: impl Into<GeometrySet>, b: impl Into<GeometrySet>) -> Self {
        self.statements
            .push(FilterStatement::ExcludeBetween(a.into(), b.into()));
        self
    }
    /// Allows all pairs of members of `set` again. Pairs on one frame and anchored pairs are never
    /// tested.
    #[must_use]
    pub fn allow_within(mut self, set: impl Into<GeometrySet>) -> Self {
        self.statements
            .push(FilterStatement::AllowWithin(set.into()));
        self
    }
    /// Allows all pairs of a member of `a` and a member of `b` again.
    #[must_use]
    pub fn allow_between(mut self, a: impl Into<GeometrySet>, b: impl Into<GeometrySet>) -> Self {
        self.statements
            .push(FilterStatement::AllowBetween(a.into(), b.into()));
        self
    }
}

impl CollisionFilterDeclaration {
    /// Returns the statements, with their sets as numbers of geometries that have the proximity
    /// role.
    ///
    /// # Errors
    /// Returns an error if a frame or geometry is unknown.
    fn resolve(&self, state: &GeometryState) -> Result<Vec<ResolvedStatement>> {
        let omits = self.scope == CollisionFilterScope::OmitDeformable;
        let members = |set: &GeometrySet| -> Result<Vec<usize>> {
            let mut members = state.members(set, Some(Role::Proximity))?;
            members.retain(|g| !omits || state.geometries[*g].deformable.is_none());
            Ok(members)
        };
        let statement = |statement: &FilterStatement| {
            let (exclude, a, b) = match statement {
                FilterStatement::ExcludeWithin(s) => (true, s, s),
                FilterStatement::AllowWithin(s) => (false, s, s),
                FilterStatement::ExcludeBetween(a, b) => (true, a, b),
                FilterStatement::AllowBetween(a, b) => (false, a, b),
            };
            let first = members(a)?;
            if std::ptr::eq(a, b) {
                return Ok(ResolvedStatement::new(exclude, &first, &first));
            }
            Ok(ResolvedStatement::new(exclude, &first, &members(b)?))
        };
        self.statements.iter().map(statement).collect()
    }
}

/// Changes which pairs of a scene are tested for proximity (Drake's `CollisionFilterManager`).
///
/// Declarations are applied in order; later ones override earlier ones. Those of
/// [`apply`](Self::apply) are permanent. Those of [`apply_transient`](Self::apply_transient) form a
/// history on top: each can be removed again, in any order, as if it had never been applied.
///
/// Pairs on one frame, anchored pairs and a geometry with itself are never tested; declarations
/// have no effect on them. Sets are resolved when a declaration is applied: a geometry that is
/// registered later, or gets the proximity role later, is not included. A geometry that loses the
/// role is removed from all declarations.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let mut ids = vec![];
/// for name in ["hand", "cup"] {
///     let frame = scene.register_frame(toys, GeometryFrame::new(name))?;
///     let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, name)?;
///     let ball = ball.with_proximity(ProximityProperties::new());
///     ids.push(scene.register_geometry(toys, frame, ball)?);
/// }
/// let mut filters: CollisionFilterManager<'_> = scene.collision_filter_manager();
/// let grasp = CollisionFilterDeclaration::new().exclude_within(ids.clone());
/// let grasp = filters.apply_transient(&grasp)?;
/// assert!(scene.model_inspector().collision_filtered(ids[0], ids[1])?);
/// scene.collision_filter_manager().remove_declaration(grasp);
/// assert!(!scene.model_inspector().collision_filtered(ids[0], ids[1])?);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub struct CollisionFilterManager<'a> {
    state: &'a mut GeometryState,
}

impl CollisionFilterManager<'_> {
    /// Applies a declaration permanently.
    ///
    /// # Errors
    /// Returns an error if a frame or geometry is unknown, or if there is a transient history. In
    /// that case nothing is changed.
    pub fn apply(&mut self, declaration: &CollisionFilterDeclaration) -> Result<()> {
        if self.has_transient_history() {
            return Err(Error::state(
                "collision filters cannot be changed permanently while there are transient \
                 declarations, which could hide the change; remove them, flatten the history, or \
                 use `apply_transient`",
            ));
        }
        let statements = declaration.resolve(self.state)?;
        let filter = Arc::make_mut(&mut self.state.filter);
        for statement in statements {
            filter.apply(&statement);
        }
        Ok(())
    }

    /// Applies a declaration until it is removed.
    ///
    /// # Errors
    /// Returns an error if a frame or geometry is unknown. In that case nothing is changed.
    pub fn apply_transient(
        &mut self,
        declaration: &CollisionFilterDeclaration,
    ) -> Result<FilterId> {
        let id = FilterId::new();
        let statements = declaration.resolve(self.state)?;
        Arc::make_mut(&mut self.state.filter).apply_transient(id, statements);
        Ok(id)
    }

    /// Removes a transient declaration. Returns false if it is not active.
    pub fn remove_declaration(&mut self, id: FilterId) -> bool {
        self.is_active(id) && Arc::make_mut(&mut self.state.filter).remove(id)
    }

    /// Returns true if there are transient declarations, including empty ones.
    pub fn has_transient_history(&self) -> bool {
        self.state.filter.has_transient_history()
    }

    /// Returns true if the transient declaration was applied and has not been removed.
    pub fn is_active(&self, id: FilterId) -> bool {
        self.state.filter.is_active(id)
    }

    /// Makes the current filters permanent: all transient declarations end and can no longer be
    /// removed.
    pub fn flatten(&mut self) {
        Arc::make_mut(&mut self.state.filter).flatten();
    }
}

impl GeometryState {
    /// Returns the manager that changes which pairs are tested for proximity.
    pub fn collision_filter_manager(&mut self) -> CollisionFilterManager<'_> {
        CollisionFilterManager { state: self }
    }

    /// Same as [`CollisionFilterManager::apply`].
    ///
    /// # Errors
    /// Returns an error in the cases of [`CollisionFilterManager::apply`].
    pub fn apply_collision_filter(
        &mut self,
        declaration: &CollisionFilterDeclaration,
    ) -> Result<()> {
        self.collision_filter_manager().apply(declaration)
    }

    /// Returns the numbers of the geometries in a set, sorted; with a `role`, only of those that
    /// have it.
    pub(crate) fn members(&self, set: &GeometrySet, role: Option<Role>) -> Result<Vec<usize>> {
        let mut members = vec![];
        for frame in &set.frames {
            members.extend(&self.frames[self.frame_number(*frame)?].geometries);
        }
        for geometry in &set.geometries {
            members.push(self.geometry_number(*geometry)?);
        }
        members.retain(|g| role.is_none_or(|role| self.geometries[*g].has_role(role)));
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    /// Returns true if the pair is tested: not both anchored, not on one frame unless one is
    /// deformable, not excluded.
    pub(crate) fn is_candidate(&self, a: usize, b: usize) -> bool {
        let (ga, gb) = (&self.geometries[a], &self.geometries[b]);
        let can_move = ga.frame != gb.frame || ga.deformable.is_some() || gb.deformable.is_some();
        can_move && a != b && !self.filter.is_excluded(a, b)
    }
}
