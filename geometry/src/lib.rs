//! Shapes, meshes, SceneGraph, proximity queries and render engines.

pub mod aabb;
mod bvh;
pub mod error;
pub mod ids;
pub mod mass_properties;
pub mod mesh;
pub mod obb;
pub mod properties;
pub mod proximity;
pub mod ray;
pub mod render;
pub mod rgba;
pub mod scene_graph;
pub mod shapes;

pub use aabb::Aabb;
pub use error::{Error, Result};
pub use ids::{FilterId, FrameId, GeometryId, SourceId};
pub use mass_properties::{MassProperties, calc_mass_properties, calc_volume};
pub use obb::{Obb, calc_obb};
pub use properties::{
    CoulombFriction, GeometryProperties, HydroelasticType, IllustrationProperties,
    PerceptionProperties, PropertyValue, ProximityProperties, Role, RoleAssign,
    add_compliant_hydroelastic_properties, add_compliant_hydroelastic_properties_for_half_space,
    add_contact_material, add_rigid_hydroelastic_properties, make_phong_illustration_properties,
};
pub use ray::Ray;
pub use render::RenderLabel;
pub use rgba::Rgba;
pub use scene_graph::{
    CollisionFilterDeclaration, CollisionFilterManager, DefaultProximityProperties,
    FramePoseVector, GeometryFrame, GeometryInstance, GeometrySet, GeometryState, GeometryVersion,
    PenetrationAsPointPair, QueryObject, RayHit, RayOptions, RegistrationMark, RoleProperties,
    SceneGraph, SceneGraphConfig, SceneGraphInspector, SceneGraphPorts, SignedDistancePair,
    SignedDistanceToPoint,
};
pub use shapes::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, FileSource, HalfSpace, InMemoryMesh,
    MemoryFile, Mesh, MeshSource, MeshcatCone, Shape, Sphere,
};
