//! Identifiers of sources, frames and geometries.
//!
//! Identifiers are unique within the process and increase, so that sorting by identifier gives the
//! order of registration and no result depends on hashing.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Creates an identifier that is unique within this process.
            #[allow(clippy::new_without_default, reason = "every call returns a different value")]
            pub fn new() -> Self {
                Self(NEXT.fetch_add(1, Ordering::Relaxed))
            }
            /// Returns the number behind the identifier, for logs.
            pub fn value(self) -> u64 {
                self.0
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )*};
}
ids!(
    /// Identifier of a source: whatever registers frames and geometries, such as a plant, a scene
    /// loader or an obstacle generator.
    ///
    /// ```
    /// use tarragon_geometry::{SceneGraph, SourceId};
    /// let mut scene = SceneGraph::new();
    /// let toys: SourceId = scene.register_source("toys")?;
    /// assert_eq!(scene.model_inspector().source_name(toys)?, "toys");
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    SourceId,
    /// Identifier of a frame that geometries are attached to.
    ///
    /// ```
    /// use tarragon_geometry::{FrameId, GeometryFrame, SceneGraph};
    /// let mut scene = SceneGraph::new();
    /// let toys = scene.register_source("toys")?;
    /// let train: FrameId = scene.register_frame(toys, GeometryFrame::new("train"))?;
    /// assert_eq!(scene.model_inspector().frame_name(train)?, "train");
    /// assert!(train > scene.world_frame_id()); // in order of registration
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    FrameId,
    /// Identifier of a geometry.
    ///
    /// ```
    /// use tarragon_geometry::GeometryId;
    /// let (a, b) = (GeometryId::new(), GeometryId::new());
    /// assert!(a < b && a.value() < b.value());
    /// ```
    GeometryId,
    /// Identifier of a transient collision filter declaration; see
    /// [`CollisionFilterManager`](super::CollisionFilterManager).
    ///
    /// ```
    /// use tarragon_geometry::{CollisionFilterDeclaration, FilterId, SceneGraph};
    /// let mut scene = SceneGraph::new();
    /// let mut filters = scene.collision_filter_manager();
    /// let id: FilterId = filters.apply_transient(&CollisionFilterDeclaration::new())?;
    /// assert!(filters.is_active(id) && filters.remove_declaration(id) && !filters.is_active(id));
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    FilterId
);
