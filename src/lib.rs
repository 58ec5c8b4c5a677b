//! Robot simulation as dataflow diagrams.
//!
//! Systems are wired into a [`Diagram`](framework::Diagram); a context holds the values and a
//! simulator advances them. A [`SceneGraph`](geometry::SceneGraph) holds geometries with their
//! poses and answers distance and contact queries. A [`MultibodyPlant`](multibody::MultibodyPlant)
//! loaded from a robot description moves the geometries, and simulated cameras observe them.
//! Everything but pixels is generic over the scalar and can be differentiated with
//! [`AutoDiff`](framework::AutoDiff).
//!
//! This crate re-exports the workspace's crates:
//!
//! | module | what |
//! |---|---|
//! | [`contact_solvers`] | the convex problem of a discrete step, sparse Cholesky factorizations |
//! | [`documents`] | XML and YAML with positions, package URLs, xacro |
//! | [`fem`] | materials and finite elements of deformable bodies |
//! | [`formats`] | readers and writers of URDF, SDFormat, MJCF and model directives |
//! | [`framework`] | scalars, poses, systems, diagrams, contexts, simulator |
//! | [`geometry`] | shapes, SceneGraph, proximity queries, render engines |
//! | [`lcm`] | buses, message types, and systems that publish and subscribe |
//! | [`multibody`] | plants: kinematics, dynamics, contact |
//! | [`sensors`] | cameras and image files |
//! | [`render_server`] | a server of Drake's glTF render protocol |
//! | [`visualization`] | the Meshcat server, its page, and the systems that feed it |
//!
//! Drake's names are translated in `from_drake`, a module of documentation.
//!
//! Features, all but `gpu` on by default:
//!
//! | feature | what |
//! |---|---|
//! | `cli` | the `tarragon` command; switches on `render-server` and `visualization` |
//! | `convex-decomposition` | meshes that collide as the union of convex pieces |
//! | `gpu` | the module `gpu`: a render engine on GPUs, for batches of images |
//! | `render-server` | the module `render_server` |
//! | `visualization` | the module `visualization`; without it, no server and no page are built |
//!
//! ```
//! use tarragon::prelude::*;
//! use tarragon::framework::primitives::{ConstantVectorSource, Gain};
//!
//! let mut b = DiagramBuilder::new();
//! let two = b.add("two", ConstantVectorSource::new([2.0]));
//! let gain = b.add("gain", Gain::new(1, 3.0));
//! b.connect(two.y, gain.u);
//! let ctx = b.build()?.default_context();
//! assert_eq!(ctx.eval(gain.y)?, &[6.0]);
//! # Ok::<(), tarragon::framework::Error>(())
//! ```

// Its tables link to everything.
#[cfg(feature = "visualization")]
pub mod from_drake;

pub use tarragon_contact_solvers as contact_solvers;
pub use tarragon_documents as documents;
pub use tarragon_fem as fem;
pub use tarragon_formats as formats;
pub use tarragon_framework as framework;
pub use tarragon_geometry as geometry;
#[cfg(feature = "gpu")]
pub use tarragon_gpu as gpu;
pub use tarragon_lcm as lcm;
pub use tarragon_multibody as multibody;
#[cfg(feature = "render-server")]
pub use tarragon_render_server as render_server;
pub use tarragon_sensors as sensors;
#[cfg(feature = "visualization")]
pub use tarragon_visualization as visualization;

pub use nalgebra;
pub use tarragon_framework::{Error, ErrorKind, FileLocation, Result};

/// Imports that most programs need: `use tarragon::prelude::*;`.
pub mod prelude {
    pub use crate::{Error, ErrorKind, Result, nalgebra};
    pub use nalgebra::{Isometry3, UnitQuaternion, Vector3};
    pub use tarragon_documents::PackageMap;
    pub use tarragon_formats::{FromModel, Parser};
    pub use tarragon_framework::autodiff::{gradient, jacobian, try_gradient, try_jacobian};
    pub use tarragon_framework::math;
    pub use tarragon_framework::prelude::*;
    pub use tarragon_framework::primitives::{
        TrajectorySource, VectorLogSink, log_vector_output, log_vector_output_on,
    };
    pub use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams, look_at};
    pub use tarragon_geometry::{
        BoxShape, Capsule, Convex, CoulombFriction, Cylinder, Ellipsoid, FrameId, FramePoseVector,
        GeometryFrame, GeometryId, GeometryInstance, HalfSpace, IllustrationProperties, Mesh,
        PerceptionProperties, ProximityProperties, QueryObject, RenderLabel, Rgba, Role,
        SceneGraph, Shape, SourceId, Sphere,
    };
    pub use tarragon_multibody::{
        BodyIndex, ContactModel, FixedOffsetFrame, FrameIndex, JacobianWrt, MultibodyPlant,
        MultibodyPlantBuilder, PdControllerGains, PositionSource, add_multibody_plant_scene_graph,
    };
    pub use tarragon_sensors::{
        CameraConfig, CameraInfo, DepthRenderCamera, ImageIo, ImageWriter, RgbdSensor,
        add_camera_renderers, apply_camera_config, save_image,
    };
    #[cfg(feature = "visualization")]
    pub use tarragon_visualization::{
        JointSliders, JointSlidersParams, Meshcat, MeshcatParams, add_default_visualization,
    };
}

/// Pages whose code is tested as that of this crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/guide/systems.md")]
    struct Systems;
    #[doc = include_str!("../docs/guide/events.md")]
    struct Events;
    #[doc = include_str!("../docs/guide/diagrams.md")]
    struct Diagrams;
    #[doc = include_str!("../docs/guide/contexts_and_caching.md")]
    struct ContextsAndCaching;
    #[doc = include_str!("../docs/guide/models.md")]
    struct Models;
    #[doc = include_str!("../docs/guide/dynamics.md")]
    struct Dynamics;
    #[doc = include_str!("../docs/guide/queries.md")]
    struct Queries;
    #[doc = include_str!("../docs/guide/cameras.md")]
    struct Cameras;
    #[cfg(feature = "render-server")]
    #[doc = include_str!("../docs/guide/render_server.md")]
    struct RenderServer;
    #[doc = include_str!("../docs/guide/browser.md")]
    struct Browser;
    #[doc = include_str!("../docs/guide/lcm.md")]
    struct Lcm;
    #[doc = include_str!("../docs/guide/derivatives.md")]
    struct Derivatives;
    #[doc = include_str!("../docs/guide/performance.md")]
    struct Performance;
    #[doc = include_str!("../docs/guide/troubleshooting.md")]
    struct Troubleshooting;
}
