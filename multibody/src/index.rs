//! Typed indices: which body, joint, frame, model instance or actuator of one plant.

use std::fmt;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            pub(crate) const fn new(index: usize) -> Self {
                Self(index as u32)
            }
            /// Position in the plant's list.
            pub const fn index(self) -> usize {
                self.0 as usize
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
indices!(
    /// A rigid body of a plant; [`BodyIndex::WORLD`] is the world.
    BodyIndex,
    /// A joint of a plant.
    JointIndex,
    /// A frame of a plant; [`FrameIndex::WORLD`] is the world's.
    FrameIndex,
    /// A model instance of a plant.
    ModelInstanceIndex,
    /// A joint actuator of a plant.
    JointActuatorIndex
);

impl BodyIndex {
    /// The world body.
    pub const WORLD: Self = Self::new(0);
}

impl FrameIndex {
    /// The world frame W.
    pub const WORLD: Self = Self::new(0);
}

impl ModelInstanceIndex {
    /// The instance that holds the world body.
    pub const WORLD: Self = Self::new(0);
    /// The instance of what was added without one.
    pub const DEFAULT: Self = Self::new(1);
}
