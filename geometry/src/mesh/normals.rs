//! Vertex normals of meshes without any.
