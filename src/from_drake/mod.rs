//! Coming from Drake: where everything is.
//!
//! One table per module of Drake's documentation: what a class, function, method, property,
//! constant or port is called here, and how it differs. "missing" is followed by the reason. An
//! empty last column means: the same, apart from the differences on this page.
//!
//! | Drake | tables |
//! |---|---|
//! | `pydrake.geometry` | [`geometry`] |
//! | `pydrake.geometry`, an early release | [`early_geometry`] |
//! | `drake::geometry::QueryObject` (C++) | [`query_object`] |
//! | `pydrake.systems.sensors` | [`sensors`] |
//! | `pydrake.multibody.parsing` | [`parsing`] |
//! | systems, simulation, plants, visualization: a selection | [`simulation`] |
//!
//! # Names
//! Types keep their names. Functions are in snake case and lose the prefix `Get`: `GetPoseInParent`
//! is [`pose_in_parent`](crate::geometry::QueryObject::pose_in_parent). A value of an enumeration
//! loses its `k`, an associated constant is in upper case. Monogram notation is in lower case:
//! `X_PB` is `x_pb`, `p_WCa` is `p_wca`. An overload is a method of its own or takes `impl Into`.
//! Where Drake has default arguments, a parameter struct has a `Default`, an optional argument is
//! an `Option`, or a method `with_...` changes what the constructor has chosen.
//!
//! # Ports and contexts
//! Adding a system to a [`DiagramBuilder`](crate::framework::DiagramBuilder) returns a
//! [`Block`](crate::framework::Block) with typed handles of its ports, parameters and states, in
//! place of `query_object_input_port()` or `get_input_port(0)`. Systems hold structure, a
//! [`Context`](crate::framework::Context) holds values: it evaluates output ports, fixes input
//! ports and changes parameters, given their handles.
//!
//! | Drake | tarragon |
//! |---|---|
//! | `builder.AddSystem(system)` | [`DiagramBuilder::add`], with a name |
//! | `builder.Connect(output, input)` | [`DiagramBuilder::connect`] |
//! | `port.Eval(context)` | [`Context::eval`] |
//! | `port.FixValue(context, value)` | [`Context::fix`] |
//! | `system.SetX(context, value)` | [`Context::param_mut`] |
//! | `system.GetMyContextFromRoot(context)` | nothing: handles work with the whole context |
//! | `body.SetMass(context, mass)` | [`set_mass`] |
//! | `body.SetSpatialInertiaInBodyFrame(context, M)` | [`set_spatial_inertia`] |
//! | `joint.SetDampingVector(context, damping)` | [`set_damping_vector`] |
//! | `actuator.SetRotorInertia(context, inertia)` | [`set_rotor_inertia`] |
//! | `actuator.SetGearRatio(context, ratio)` | [`set_gear_ratio`] |
//! | `spring.SetStiffness(context, stiffness)` | [`set_spring_stiffness`] |
//! | `bushing.SetForceStiffnessConstants(context, k)` | [`set_bushing_constants`][bushing] |
//!
//! [`DiagramBuilder::add`]: crate::framework::DiagramBuilder::add
//! [`DiagramBuilder::connect`]: crate::framework::DiagramBuilder::connect
//! [`Context::eval`]: crate::framework::Context::eval
//! [`Context::fix`]: crate::framework::Context::fix
//! [`Context::param_mut`]: crate::framework::Context::param_mut
//! [`set_mass`]: crate::multibody::MultibodyPlantPorts::set_mass
//! [`set_spatial_inertia`]: crate::multibody::MultibodyPlantPorts::set_spatial_inertia
//! [`set_damping_vector`]: crate::multibody::MultibodyPlantPorts::set_damping_vector
//! [`set_rotor_inertia`]: crate::multibody::MultibodyPlantPorts::set_rotor_inertia
//! [`set_gear_ratio`]: crate::multibody::MultibodyPlantPorts::set_gear_ratio
//! [`set_spring_stiffness`]: crate::multibody::MultibodyPlantPorts::set_spring_stiffness
//! [bushing]: crate::multibody::MultibodyPlantPorts::set_bushing_constants
//!
//! ```
//! use tarragon::framework::primitives::Gain;
//! use tarragon::prelude::*;
//!
//! let mut builder = DiagramBuilder::new();
//! let gain = builder.add("gain", Gain::new(1, 2.0));
//! let mut context = builder.build()?.default_context();
//! context.fix(gain.u, 3.0)?;
//! *context.param_mut(gain.k)? = 10.0;
//! assert_eq!(context.eval(gain.y)?, &[30.0]);
//! # Ok::<(), tarragon::framework::Error>(())
//! ```
//!
//! Methods of Drake's `SceneGraph` that take a context are the same methods of the geometry in
//! that context, [`SceneGraphPorts::geometry_mut`](crate::geometry::SceneGraphPorts::geometry_mut).
//!
//! # Errors
//! A function that throws in Drake returns a `Result`, whose error says where, what and why; a call
//! that fails changes nothing. An index beyond the end of a mesh or an image panics, as it does for
//! slices. Optional results are an `Option`, never a null pointer or a special value.
//!
//! # Units and scalars
//! Units are SI, angles radians, as in Drake; exceptions are in the tables. Poses are nalgebra's
//! `Isometry3`, vectors its `Vector3`. Systems, queries and meshes are generic over the scalar,
//! images and files are not: `X_[AutoDiffXd]` is `X` or `X<AutoDiff>`, with
//! [`AutoDiff`](crate::framework::AutoDiff). Symbolic expressions, `X_[Expression]`, are
//! unsupported.

pub mod early_geometry;
pub mod geometry;
pub mod parsing;
pub mod query_object;
pub mod sensors;
pub mod simulation;
