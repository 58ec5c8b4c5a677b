//! Shapes, meshes, SceneGraph, proximity queries and render engines.

pub mod aabb;
pub mod error;
pub mod ids;
pub mod mesh;
pub mod properties;
pub mod proximity;
pub mod render;
pub mod rgba;
pub mod scene_graph;
pub mod shapes;

pub use aabb::Aabb;
pub use error::{Error, Result};
pub use ids::{FilterId, FrameId, GeometryId, SourceId};
pub use properties::{
    CoulombFriction, GeometryProperties, HydroelasticType, IllustrationProperties,
    PerceptionProperties, PropertyValue, ProximityProperties, Role, RoleAssign,
    add_compliant_hydroelastic_properties, add_compliant_hydroelastic_properties_for_half_space,
    add_contact_material, add_rigid_hydroelastic_properties, make_phong_illustration_properties,
};
pub use render::RenderLabel;
pub use rgba::Rgba;
pub use scene_graph::{
    CollisionFilterDeclaration, CollisionFilterManager, DefaultProximityProperties,
    FramePoseVector, GeometryFrame, GeometryInstance, GeometrySet, GeometryState, GeometryVersion,
    PenetrationAsPointPair, QueryObject, RegistrationMark, RoleProperties, SceneGraph,
    SceneGraphConfig, SceneGraphInspector, SceneGraphPorts, SignedDistancePair,
    SignedDistanceToPoint,
};
pub use shapes::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, FileSource, HalfSpace, InMemoryMesh,
    MemoryFile, Mesh, MeshSource, MeshcatCone, Shape, Sphere,
};
