//! Typed indices of the bodies, joints, frames, model instances and actuators of a plant.

use std::fmt;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Creates the index of the element at a position in the plant's list. Functions of
            /// the plant return errors for elements that do not exist.
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
            /// Returns the position in the plant's list of such elements.
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
    /// Index of a rigid body of a plant; [`BodyIndex::WORLD`] is the world.
    ///
    /// ```
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let inertia = SpatialInertia::zero();
    /// let link = plant.add_rigid_body("link", ModelInstanceIndex::DEFAULT, inertia)?;
    /// assert_eq!((BodyIndex::WORLD.index(), link.index()), (0, 1));
    /// assert_eq!(plant.body_by_name("link")?, link);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    BodyIndex,
    /// Index of a joint of a plant.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let inertia = SpatialInertia::zero();
    /// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, inertia)?;
    /// let hinge: JointIndex =
    ///     plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
    /// assert_eq!(plant.joint(hinge)?.name(), "hinge");
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    JointIndex,
    /// Index of a frame of a plant; [`FrameIndex::WORLD`] is the world frame.
    ///
    /// ```
    /// use tarragon_multibody::{BodyIndex, FrameIndex, MultibodyPlantBuilder};
    /// let plant = MultibodyPlantBuilder::new(0.001)?;
    /// assert_eq!(plant.frame(FrameIndex::WORLD)?.body(), BodyIndex::WORLD);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    FrameIndex,
    /// Index of a model instance of a plant.
    ///
    /// ```
    /// use tarragon_multibody::{ModelInstanceIndex, MultibodyPlantBuilder};
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let arm: ModelInstanceIndex = plant.add_model_instance("arm")?;
    /// assert!(arm > ModelInstanceIndex::DEFAULT);
    /// assert_eq!(plant.model_instance_name(arm)?, "arm");
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ModelInstanceIndex,
    /// Index of a deformable body of a plant.
    DeformableBodyIndex,
    /// Index of a joint actuator of a plant.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let inertia = SpatialInertia::zero();
    /// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, inertia)?;
    /// let hinge = Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?;
    /// let hinge = plant.add_joint(hinge)?;
    /// let motor: JointActuatorIndex = plant.add_joint_actuator("motor", hinge, 50.0)?;
    /// assert_eq!(plant.actuators()[motor.index()].name(), "motor");
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
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
    /// The instance of elements that are added without one.
    pub const DEFAULT: Self = Self::new(1);
}
