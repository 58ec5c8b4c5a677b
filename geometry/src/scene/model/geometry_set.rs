//! Sets of geometries, by id or by frame.

use crate::ids::{FrameId, GeometryId};

/// A set of geometries, given by their ids or by the frames they are on (Drake's `GeometrySet`).
///
/// A frame represents the geometries that are on it when the set is used.
///
/// ```
/// use tarragon_geometry::{FrameId, GeometryId, GeometrySet};
/// let (hand, floor) = (FrameId::new(), GeometryId::new());
/// let set = GeometrySet::new().with_frame(hand).with_geometry(floor);
/// assert_ne!(set, GeometrySet::from(vec![hand]));
/// assert_eq!(GeometrySet::from(floor), GeometrySet::from([floor]));
/// let mut more = GeometrySet::from(hand);
/// more.extend([floor]);
/// assert_eq!(more, set);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeometrySet {
    pub(crate) frames: Vec<FrameId>,
    pub(crate) geometries: Vec<GeometryId>,
}

impl GeometrySet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds all geometries on a frame.
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

macro_rules! set_of {
    ($id:ident, $list:ident) => {
        impl Extend<$id> for GeometrySet {
            fn extend<I: IntoIterator<Item = $id>>(&mut self, ids: I) {
                self.$list.extend(ids);
            }
        }
        impl FromIterator<$id> for GeometrySet {
            fn from_iter<I: IntoIterator<Item = $id>>(ids: I) -> Self {
                let mut set = Self::new();
                set.extend(ids);
                set
            }
        }
        impl From<$id> for GeometrySet {
            fn from(id: $id) -> Self {
                Self::from_iter([id])
            }
        }
        impl From<Vec<$id>> for GeometrySet {
            fn from(ids: Vec<$id>) -> Self {
                Self::from_iter(ids)
            }
        }
        impl From<&[$id]> for GeometrySet {
            fn from(ids: &[$id]) -> Self {
                Self::from_iter(ids.iter().copied())
            }
        }
        impl<const N: usize> From<[$id; N]> for GeometrySet {
            fn from(ids: [$id; N]) -> Self {
                Self::from_iter(ids)
            }
        }
    };
}
set_of!(FrameId, frames);
set_of!(GeometryId, geometries);

impl From<(Vec<GeometryId>, Vec<FrameId>)> for GeometrySet {
    fn from((geometries, frames): (Vec<GeometryId>, Vec<FrameId>)) -> Self {
        Self { frames, geometries }
    }
}
