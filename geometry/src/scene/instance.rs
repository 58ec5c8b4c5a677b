//! Frames and geometries to be registered, and the poses of frames.

use crate::error::{Error, Result};
use crate::ids::FrameId;
use crate::properties::{IllustrationProperties, PerceptionProperties, ProximityProperties};
use crate::shape::Shape;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// A frame to register (Drake's `GeometryFrame`).
///
/// ```
/// use tarragon_geometry::{GeometryFrame, SceneGraph};
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("robot")?;
/// let hand = scene.register_frame(source, GeometryFrame::new("hand").with_frame_group(2)?)?;
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
    /// Creates a frame with a name that is unique within its source. The frame group is 0.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            id: FrameId::new(),
            name: name.into(),
            frame_group: 0,
        }
    }
    /// Sets the frame group, a number for any use by the owner (a model instance, for example).
    ///
    /// # Errors
    /// Returns an error if it is negative.
    pub fn with_frame_group(mut self, frame_group: i32) -> Result<Self> {
        if frame_group < 0 {
            return Err(Error::invalid(format!(
                "GeometryFrame '{}': the frame group must not be negative, got {frame_group}",
                self.name
            )));
        }
        self.frame_group = frame_group;
        Ok(self)
    }
    /// Returns the frame's id.
    pub fn id(&self) -> FrameId {
        self.id
    }
    /// Returns the frame's name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the frame group.
    pub fn frame_group(&self) -> i32 {
        self.frame_group
    }
}

/// Returns a name without leading and trailing spaces and tabs (Drake's canonical name, as SDFormat
/// reads names).
pub(crate) fn canonical(name: &str) -> &str {
    name.trim_matches([' ', '\t'])
}

/// A geometry to register: a shape with a pose on its frame, a name, and its roles (Drake's
/// `GeometryInstance`).
///
/// Its id is generated at registration. Ids therefore follow the order of registration, and one
/// instance may be registered any number of times under different names.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryInstance, ProximityProperties, Sphere};
/// let mut ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, " red ball\t")?
///     .with_proximity(ProximityProperties::new());
/// assert_eq!(ball.name(), "red ball");
/// ball.set_pose(Isometry3::translation(0.0, 0.0, 0.1));
/// ball.set_proximity_properties(ProximityProperties::new().with_point_stiffness(1e4)?);
/// assert!(ball.set_name("  ").is_err());
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
    /// Creates an instance of a shape at `X_PG`, its pose in the frame P on which it will be
    /// registered. Leading and trailing spaces and tabs of the name are dropped.
    ///
    /// # Errors
    /// Returns an error if the remaining name is empty.
    pub fn new(x_pg: Isometry3<f64>, shape: impl Into<Shape>, name: &str) -> Result<Self> {
        let shape = shape.into();
        let canonical = canonical(name);
        if canonical.is_empty() {
            return Err(Error::invalid(format!(
                "GeometryInstance: the name of a {} must not be empty, got '{name}'",
                shape.type_name()
            )));
        }
        Ok(Self {
            x_pg,
            shape,
            name: canonical.into(),
            proximity: None,
            illustration: None,
            perception: None,
        })
    }
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Changes the name; leading and trailing spaces and tabs are dropped.
    ///
    /// # Errors
    /// Returns an error if the remaining name is empty.
    pub fn set_name(&mut self, name: &str) -> Result<()> {
        let canonical = canonical(name);
        if canonical.is_empty() {
            return Err(Error::invalid(format!(
                "GeometryInstance '{}': the new name must not be empty, got '{name}'",
                self.name
            )));
        }
        self.name = canonical.into();
        Ok(())
    }
    /// Returns `X_PG`, the pose in the frame on which it will be registered.
    pub fn pose(&self) -> &Isometry3<f64> {
        &self.x_pg
    }
    /// Changes `X_PG`.
    pub fn set_pose(&mut self, x_pg: Isometry3<f64>) {
        self.x_pg = x_pg;
    }
    /// Returns the shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

macro_rules! role {
    ($properties:ident, $role:literal, $field:ident, $with:ident, $get:ident, $get_mut:ident, $set:ident) => {
        impl GeometryInstance {
            #[doc = concat!("Adds the ", $role, " role.")]
            #[must_use]
            pub fn $with(mut self, properties: $properties) -> Self {
                self.$field = Some(properties);
                self
            }
            #[doc = concat!("Returns the properties of the ", $role, " role; `None` if the instance does not have it.")]
            pub fn $get(&self) -> Option<&$properties> {
                self.$field.as_ref()
            }
            #[doc = concat!("Returns the properties of the ", $role, " role for modification.")]
            pub fn $get_mut(&mut self) -> Option<&mut $properties> {
                self.$field.as_mut()
            }
            #[doc = concat!("Adds the ", $role, " role, or replaces its properties.")]
            pub fn $set(&mut self, properties: $properties) {
                self.$field = Some(properties);
            }
        }
    };
}
role!(
    ProximityProperties,
    "proximity",
    proximity,
    with_proximity,
    proximity_properties,
    proximity_properties_mut,
    set_proximity_properties
);
role!(
    IllustrationProperties,
    "illustration",
    illustration,
    with_illustration,
    illustration_properties,
    illustration_properties_mut,
    set_illustration_properties
);
role!(
    PerceptionProperties,
    "perception",
    perception,
    with_perception,
    perception_properties,
    perception_properties_mut,
    set_perception_properties
);

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
    /// Creates a vector without poses.
    pub fn new() -> Self {
        Self::default()
    }
    /// Creates an empty vector with room for `n`.
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
    /// Replaces all poses by the given ones. The ids must differ from each other; this is checked
    /// only when the poses are used.
    pub fn assign(&mut self, poses: impl IntoIterator<Item = (FrameId, Isometry3<T>)>) {
        self.poses.clear();
        self.poses.extend(poses);
    }
    /// Returns `X_PF` of a frame, if it is set.
    pub fn value(&self, id: FrameId) -> Option<&Isometry3<T>> {
        self.poses.iter().find(|(f, _)| *f == id).map(|(_, x)| x)
    }
    /// Returns the number of poses.
    pub fn len(&self) -> usize {
        self.poses.len()
    }
    /// Returns true if there are no poses.
    pub fn is_empty(&self) -> bool {
        self.poses.is_empty()
    }
    /// Removes all poses and keeps the storage.
    pub fn clear(&mut self) {
        self.poses.clear();
    }
    /// Returns the frames that have a pose.
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
