//! What is registered: frames and geometries; and the poses that frames get.

use crate::ids::FrameId;
use crate::properties::{IllustrationProperties, PerceptionProperties, ProximityProperties};
use crate::shapes::Shape;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// A frame to register (Drake's `GeometryFrame`).
///
/// ```
/// use tarragon_geometry::{GeometryFrame, SceneGraph};
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("robot")?;
/// let hand = scene.register_frame(source, GeometryFrame::new("hand").with_frame_group(2))?;
/// assert_eq!(scene.model_inspector().frame_group(hand)?, 2);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GeometryFrame {
    pub(crate) id: FrameId,
    pub(crate) name: String,
    pub(crate) frame_group: i32,
}

impl GeometryFrame {
    /// A frame with a name that is unique within its source. The frame group is 0.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            id: FrameId::new(),
            name: name.into(),
            frame_group: 0,
        }
    }
    /// Sets the frame group, a number that the owner uses as it likes (a model instance, say).
    #[must_use]
    pub fn with_frame_group(mut self, frame_group: i32) -> Self {
        self.frame_group = frame_group;
        self
    }
    /// The frame's id.
    pub fn id(&self) -> FrameId {
        self.id
    }
}

/// A geometry to register: a shape with a pose on its frame, a name, and its roles (Drake's
/// `GeometryInstance`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryInstance, ProximityProperties, Sphere};
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")
///     .with_proximity(ProximityProperties::new());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GeometryInstance {
    pub(crate) x_pg: Isometry3<f64>,
    pub(crate) shape: Shape,
    pub(crate) name: String,
    pub(crate) proximity: Option<ProximityProperties>,
    pub(crate) illustration: Option<IllustrationProperties>,
    pub(crate) perception: Option<PerceptionProperties>,
}

impl GeometryInstance {
    /// A shape at `X_PG`, its pose in the frame P it will be registered on. White space around the
    /// name is dropped.
    pub fn new(x_pg: Isometry3<f64>, shape: impl Into<Shape>, name: &str) -> Self {
        Self {
            x_pg,
            shape: shape.into(),
            name: name.trim().into(),
            proximity: None,
            illustration: None,
            perception: None,
        }
    }
    /// Adds the proximity role.
    #[must_use]
    pub fn with_proximity(mut self, properties: ProximityProperties) -> Self {
        self.proximity = Some(properties);
        self
    }
    /// Adds the illustration role.
    #[must_use]
    pub fn with_illustration(mut self, properties: IllustrationProperties) -> Self {
        self.illustration = Some(properties);
        self
    }
    /// Adds the perception role.
    #[must_use]
    pub fn with_perception(mut self, properties: PerceptionProperties) -> Self {
        self.perception = Some(properties);
        self
    }
}

/// Poses of the frames of one source, each in its parent frame (Drake's `FramePoseVector`).
///
/// Fastest when filled in order of registration.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{FrameId, FramePoseVector};
/// let (hand, foot) = (FrameId::new(), FrameId::new());
/// let mut poses = FramePoseVector::from_iter([(hand, Isometry3::translation(0.0, 0.0, 1.0))]);
/// poses.set_value(foot, Isometry3::identity());
/// assert_eq!((poses.len(), poses.value(hand).unwrap().translation.z), (2, 1.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FramePoseVector<T: Scalar> {
    pub(crate) poses: Vec<(FrameId, Isometry3<T>)>,
}

impl<T: Scalar> Default for FramePoseVector<T> {
    fn default() -> Self {
        Self { poses: vec![] }
    }
}

impl<T: Scalar> FramePoseVector<T> {
    /// No poses.
    pub fn new() -> Self {
        Self::default()
    }
    /// No poses yet, room for `n`.
    pub fn with_capacity(n: usize) -> Self {
        Self {
            poses: Vec::with_capacity(n),
        }
    }
    /// Sets `X_PF` of a frame, replacing an earlier value.
    pub fn set_value(&mut self, id: FrameId, x_pf: Isometry3<T>) {
        match self.poses.iter_mut().find(|(f, _)| *f == id) {
            Some(entry) => entry.1 = x_pf,
            None => self.poses.push((id, x_pf)),
        }
    }
    /// Replaces everything by the given poses; the ids must differ from each other, which is not
    /// checked here but when the poses are used.
    pub fn assign(&mut self, poses: impl IntoIterator<Item = (FrameId, Isometry3<T>)>) {
        self.poses.clear();
        self.poses.extend(poses);
    }
    /// `X_PF` of a frame, if it was set.
    pub fn value(&self, id: FrameId) -> Option<&Isometry3<T>> {
        self.poses.iter().find(|(f, _)| *f == id).map(|(_, x)| x)
    }
    /// Number of poses.
    pub fn len(&self) -> usize {
        self.poses.len()
    }
    /// True without poses.
    pub fn is_empty(&self) -> bool {
        self.poses.is_empty()
    }
    /// Forgets all poses, keeps the storage.
    pub fn clear(&mut self) {
        self.poses.clear();
    }
    /// The frames that have a pose.
    pub fn ids(&self) -> impl Iterator<Item = FrameId> + '_ {
        self.poses.iter().map(|(f, _)| *f)
    }
}

impl<T: Scalar> FromIterator<(FrameId, Isometry3<T>)> for FramePoseVector<T> {
    fn from_iter<I: IntoIterator<Item = (FrameId, Isometry3<T>)>>(poses: I) -> Self {
        Self {
            poses: poses.into_iter().collect(),
        }
    }
}
