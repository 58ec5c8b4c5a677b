//! Shapes, meshes, SceneGraph, proximity queries and render engines.

pub mod aabb;
mod bvh;
pub mod error;
pub mod ids;
pub mod mesh;
pub mod properties;
pub mod proximity;
pub mod ray;
pub mod render;
pub mod rgba;
pub mod scene_graph;
pub mod shapes;

pub use aabb::Aabb;
pub use error::{Error, Result};
pub use ids::{FrameId, GeometryId, SourceId};
pub use properties::{
    GeometryProperties, IllustrationProperties, PerceptionProperties, ProximityProperties, Role,
};
pub use ray::Ray;
pub use render::RenderLabel;
pub use rgba::Rgba;
pub use scene_graph::{
    CollisionFilterDeclaration, FramePoseVector, GeometryFrame, GeometryInstance, GeometrySet,
    GeometryState, PenetrationAsPointPair, QueryObject, RayHit, RayOptions, RoleProperties,
    SceneGraph, SceneGraphInspector, SceneGraphPorts, SignedDistancePair, SignedDistanceToPoint,
};
pub use shapes::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, FileSource, HalfSpace, InMemoryMesh,
    MemoryFile, Mesh, MeshSource, MeshcatCone, Shape, Sphere,
};
