//! Identifiers of sources, frames and geometries.
//!
//! Unique within the process and increasing, so that "sorted by id" is registration order and a
//! result order never depends on hashing.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// An identifier that no other call has returned or will return in this process.
            #[allow(clippy::new_without_default, reason = "every call gives another value")]
            pub fn new() -> Self {
                Self(NEXT.fetch_add(1, Ordering::Relaxed))
            }
            /// The number behind the identifier, for logs.
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
    /// Who registered a frame or a geometry: a plant, a scene loader, an obstacle generator.
    SourceId,
    /// A frame that geometry is attached to.
    FrameId,
    /// One geometry.
    GeometryId
);
