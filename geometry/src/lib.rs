//! Shapes, meshes, SceneGraph, proximity queries and render engines.

mod accel;
mod deformable;
mod error;
mod hydro;
mod ids;
pub mod mesh;
mod properties;
pub mod proximity;
mod ray;
pub mod render;
mod rgba;
mod scene;
mod shape;
mod skin;
mod values;

pub use self::deformable::{
    DeformableContact, DeformableContactSurface, EmbeddedPoints, VertexWeights,
};
pub use self::error::{Error, ErrorKind, Result};
pub use self::hydro::{
    ContactSurface, HydroelasticContactRepresentation, HydroelasticMesh, make_hydroelastic_mesh,
};
pub use self::ids::{FilterId, FrameId, GeometryId, SourceId};
pub use self::mesh::mesh_path::MeshPath;
pub use self::mesh::source::{FileSource, InMemoryMesh, MemoryFile, MeshSource};
pub use self::properties::{
    CoulombFriction, GeometryProperties, HydroelasticTessellation, HydroelasticType,
    IllustrationProperties, PerceptionProperties, PropertyValue, ProximityProperties, RenderLabel,
    Role, RoleAssign,
};
pub use self::ray::{Ray, SurfaceHit, cast_ray};
pub use self::rgba::Rgba;
pub use self::scene::{
    CollisionFilterDeclaration, CollisionFilterManager, CollisionFilterScope,
    DefaultProximityProperties, FramePoseVector, GeometryConfigurationVector, GeometryFrame,
    GeometryInstance, GeometrySet, GeometryState, GeometryVersion, PenetrationAsPointPair,
    PenetrationManifold, QueryObject, RayHit, RayOptions, RegistrationMark, RoleProperties,
    SceneGraph, SceneGraphConfig, SceneGraphInspector, SceneGraphPorts, SignedDistancePair,
    SignedDistanceToPoint, SparsePenetration,
};
pub use self::shape::{
    Aabb, BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, HeightField, MassProperties,
    Mesh, MeshcatCone, Obb, ProjectedTexture, Shape, Sphere, calc_mass_properties, calc_obb,
    calc_volume,
};
pub use self::skin::{Bone, Skin};
