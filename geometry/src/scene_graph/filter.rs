//! Which pairs of geometry are tested for proximity.
//!
//! A pair is a candidate unless both are anchored, both are on the same frame, or it was excluded.
//! Exclusions are stored per geometry as a sorted list, so memory grows with what was declared, not
//! with the square of the scene.

use crate::error::Result;
use crate::ids::{FrameId, GeometryId};

/// Geometries given by id or by the frame they are on (Drake's `GeometrySet`).
///
/// ```
/// use tarragon_geometry::{FrameId, GeometryId, GeometrySet};
/// let (hand, floor) = (FrameId::new(), GeometryId::new());
/// let set = GeometrySet::new().with_frame(hand).with_geometry(floor);
/// assert_ne!(set, GeometrySet::from(vec![hand]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeometrySet {
    pub(crate) frames: Vec<FrameId>,
    pub(crate) geometries: Vec<GeometryId>,
}

impl GeometrySet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds everything on a frame.
    #[must_use]
    pub fn with_frame(mut self, frame: FrameId) -> Self {
        self.frames.push(frame);
        self
    }
    /// Adds one geometry.
    #[must_use]
    pub fn with_geometry(mut self, geometry: GeometryId) -> Self {
        self.geometries.push(geometry);
        self
    }
}

impl From<Vec<FrameId>> for GeometrySet {
    fn from(frames: Vec<FrameId>) -> Self {
        Self {
            frames,
            geometries: vec![],
        }
    }
}

impl From<Vec<GeometryId>> for GeometrySet {
    fn from(geometries: Vec<GeometryId>) -> Self {
        Self {
            frames: vec![],
            geometries,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    ExcludeWithin(GeometrySet),
    ExcludeBetween(GeometrySet, GeometrySet),
    AllowWithin(GeometrySet),
    AllowBetween(GeometrySet, GeometrySet),
}

/// A sequence of statements about pairs; later ones win (Drake's `CollisionFilterDeclaration`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let robot = scene.register_source("robot")?;
/// let frames = ["upper", "lower"].map(GeometryFrame::new);
/// for frame in &frames {
///     scene.register_frame(robot, frame.clone())?;
///     let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball");
///     scene.register_geometry(robot, frame.id(), ball.with_proximity(ProximityProperties::new()))?;
/// }
/// assert_eq!(scene.model_inspector().collision_candidates().len(), 1);
/// let neighbours = vec![frames[0].id(), frames[1].id()];
/// scene.apply_collision_filter(&CollisionFilterDeclaration::new().exclude_within(neighbours))?;
/// assert!(scene.model_inspector().collision_candidates().is_empty());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CollisionFilterDeclaration {
    pub(crate) statements: Vec<Statement>,
}

impl CollisionFilterDeclaration {
    /// No statements.
    pub fn new() -> Self {
        Self::default()
    }
    /// No pair of members of `set` is tested.
    #[must_use]
    pub fn exclude_within(mut self, set: impl Into<GeometrySet>) -> Self {
        self.statements.push(Statement::ExcludeWithin(set.into()));
        self
    }
    /// No pair of a member of `a` and a member of `b` is tested.
    #[must_use]
    pub fn exclude_between(mut self, a: impl Into<GeometrySet>, b: impl Into<GeometrySet>) -> Self {
        self.statements
            .push(Statement::ExcludeBetween(a.into(), b.into()));
        self
    }
    /// Pairs of members of `set` are tested again. Pairs on one frame and anchored pairs never are.
    #[must_use]
    pub fn allow_within(mut self, set: impl Into<GeometrySet>) -> Self {
        self.statements.push(Statement::AllowWithin(set.into()));
        self
    }
    /// Pairs of a member of `a` and a member of `b` are tested again.
    #[must_use]
    pub fn allow_between(mut self, a: impl Into<GeometrySet>, b: impl Into<GeometrySet>) -> Self {
        self.statements
            .push(Statement::AllowBetween(a.into(), b.into()));
        self
    }
}

/// Excluded pairs, as sorted lists of partners per geometry index.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollisionFilter {
    excluded: Vec<Vec<u32>>,
}

impl CollisionFilter {
    pub(crate) fn is_excluded(&self, a: usize, b: usize) -> bool {
        let partners = self.excluded.get(a);
        partners.is_some_and(|p| p.binary_search(&(b as u32)).is_ok())
    }

    /// Applies a declaration; `members` tells the geometry indices of a set.
    pub(crate) fn apply(
        &mut self,
        declaration: &CollisionFilterDeclaration,
        members: impl Fn(&GeometrySet) -> Result<Vec<usize>>,
    ) -> Result<()> {
        // All sets are resolved before anything changes, so that an unknown id changes nothing.
        let mut resolved = vec![];
        for statement in &declaration.statements {
            resolved.push(match statement {
                Statement::ExcludeWithin(s) => (true, members(s)?, None),
                Statement::AllowWithin(s) => (false, members(s)?, None),
                Statement::ExcludeBetween(a, b) => (true, members(a)?, Some(members(b)?)),
                Statement::AllowBetween(a, b) => (false, members(a)?, Some(members(b)?)),
            });
        }
        for (exclude, a, b) in resolved {
            let within = b.is_none();
            let b = b.as_ref().unwrap_or(&a);
            for (i, &first) in a.iter().enumerate() {
                for &second in if within { &b[i + 1..] } else { &b[..] } {
                    if first != second {
                        self.set(first, second, exclude);
                        self.set(second, first, exclude);
                    }
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, a: usize, b: usize, exclude: bool) {
        if self.excluded.len() <= a {
            self.excluded.resize(a + 1, vec![]);
        }
        let partners = &mut self.excluded[a];
        match (partners.binary_search(&(b as u32)), exclude) {
            (Err(at), true) => partners.insert(at, b as u32),
            (Ok(at), false) => {
                partners.remove(at);
            }
            _ => {}
        }
    }
}
