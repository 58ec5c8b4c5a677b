//! `pydrake.geometry`: scenes, shapes, queries, render engines, Meshcat.
//!
//! Deformable geometry has names that Python does not:
//! [`register_deformable_geometry`](crate::geometry::GeometryState::register_deformable_geometry),
//! [`GeometryConfigurationVector`](crate::geometry::GeometryConfigurationVector),
//! [`reference_mesh`](crate::geometry::SceneGraphInspector::reference_mesh) and its neighbours, and
//! [`CollisionFilterScope`](crate::geometry::CollisionFilterScope). Cameras and engines are in
//! [`render`](crate::geometry::render), the parameters of Drake's engines in
//! [`sensors`](crate::sensors), visualizers in [`visualization`](crate::visualization).
//! `RefineVolumeMesh` is [`refine_volume_mesh`](crate::geometry::mesh::refine_volume_mesh), and
//! [`format_vtk`](crate::geometry::mesh::format_vtk) of its result is
//! `RefineVolumeMeshIntoVtkFileContents`.
//!
#![doc = include_str!("geometry.md")]
