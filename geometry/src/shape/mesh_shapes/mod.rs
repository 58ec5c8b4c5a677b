//! Shapes read from mesh files.

use crate::accel::{IndexedSurface, Polytope, TriangleBvh};
use crate::error::{Error, Result};
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::mesh::{
    self, ConvexHull, MeshSource, PolygonSurfaceMesh, TriangleSurfaceMesh, VolumeMesh,
    convert_volume_to_surface_mesh,
};
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tarragon_framework::warnings::{collect, warn};

/// Value computed from the file on first use. Failures are not stored, because the file may be
/// repaired in the meantime.
struct OnDemand<V>(Mutex<Option<Arc<V>>>);

impl<V> Default for OnDemand<V> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<V> OnDemand<V> {
    fn get(&self, compute: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        let stored = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*stored() {
            return Ok(value.clone());
        }
        // Computed without the lock: if two threads do so at once, the first result is kept.
        let value = Arc::new(compute()?);
        Ok(stored().get_or_insert(value).clone())
    }
}

/// Mesh source with a scale per axis, and the values computed from them.
struct ScaledMesh {
    source: MeshSource,
    scale3: Vector3<f64>,
    hull: OnDemand<PolygonSurfaceMesh>,
    surface: OnDemand<TriangleSurfaceMesh>,
    volume: OnDemand<VolumeMesh>,
    /// Convex pieces, by their permitted number.
    pieces: Mutex<BTreeMap<usize, Arc<[Convex]>>>,
    /// Convex hull for the narrow phase. It is lock-free because every query reads it.
    polytope: OnceLock<Polytope>,
    /// Surface itself for the narrow phase, also lock-free.
    indexed_surface: OnceLock<IndexedSurface>,
    /// Surface for ray casts, also lock-free.
    triangle_bvh: OnceLock<TriangleBvh>,
}

impl ScaledMesh {
    fn new(kind: &str, source: MeshSource, scale3: Vector3<f64>) -> Result<Arc<Self>> {
        if scale3.iter().any(|s| !s.is_finite() || s.abs() < 1e-8) {
            return Err(Error::invalid(format!(
                "{kind}: scale of {} must have three finite factors of magnitude at least 1e-8, \
                 got {:?}",
                source.description(),
                scale3.as_slice()
            )));
        }
        Ok(Arc::new(Self {
            source,
            scale3,
            hull: OnDemand::default(),
            surface: OnDemand::default(),
            volume: OnDemand::default(),
            pieces: Mutex::default(),
            polytope: OnceLock::new(),
            indexed_surface: OnceLock::new(),
            triangle_bvh: OnceLock::new(),
        }))
    }

    fn scale(&self, kind: &str) -> Result<f64> {
        let s = self.scale3;
        if s.x == s.y && s.y == s.z {
            return Ok(s.x);
        }
        Err(Error::invalid(format!(
            "{kind}: scale of {} must be uniform, got {:?}; use scale3()",
            self.source.description(),
            s.as_slice()
        )))
    }

    fn is_volume(&self) -> bool {
        self.source.extension() == ".vtk"
    }

    /// Prefixes an error with the name of the file.
    fn named(&self, error: Error) -> Error {
        error.at(self.source.description())
    }

    fn volume(&self) -> Result<Arc<VolumeMesh>> {
        self.volume.get(|| {
            let mesh = mesh::read_volume(&self.source)?;
            let scaled = |p: &Vector3<f64>| p.component_mul(&self.scale3);
            let vertices = mesh.vertices().iter().map(scaled).collect();
            let mirrors = self.scale3.product() < 0.0;
            let elements = mesh.tetrahedra().iter().map(|t| {
                let [a, b, c, d] = t.vertices();
                if mirrors { [a, c, b, d] } else { [a, b, c, d] }
            });
            VolumeMesh::new(elements, vertices)
        })
    }

    fn surface(&self) -> Result<Arc<TriangleSurfaceMesh>> {
        self.surface.get(|| {
            if self.is_volume() {
                let volume = self.volume()?;
                return convert_volume_to_surface_mesh(&volume).map_err(|e| self.named(e));
            }
            // Nearly all warnings of a reader concern appearance; code that displays the mesh
            // repeats them.
            let (mesh, warnings) = collect(|| mesh::read_source(&self.source));
            warnings.iter().for_each(|w| tracing::debug!("{w}"));
            let mesh = mesh?.scaled(&self.scale3);
            mesh::surface_of(mesh).map_err(|e| self.named(e))
        })
    }

    fn hull_of_vertices(&self) -> Result<ConvexHull> {
        let hull = if self.is_volume() {
            mesh::convex_hull(self.volume()?.vertices())
        } else {
            mesh::convex_hull(self.surface()?.vertices())
        };
        hull.map_err(|e| self.named(e))
    }

    /// Warns about vertices of no face that are corners of the convex hull: they are left over in
    /// the file, and the hull is larger than what is seen.
    fn warn_of_strays(&self) -> Result<()> {
        if self.is_volume() {
            return Ok(());
        }
        let surface = self.surface()?;
        let vertices = surface.vertices();
        let mut used = vec![false; vertices.len()];
        for v in surface.triangles().iter().flat_map(|t| t.vertices()) {
            used[v as usize] = true;
        }
        if !used.contains(&false) {
            return Ok(());
        }
        let key = |p: &Vector3<f64>| [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
        let hull = self.convex_hull()?;
        let mut corners: BTreeSet<_> = hull.vertices().iter().map(key).collect();
        for (p, _) in vertices.iter().zip(&used).filter(|(_, used)| **used) {
            corners.remove(&key(p));
        }
        let strays =
            (0..vertices.len()).filter(|v| !used[*v] && corners.contains(&key(&vertices[*v])));
        let strays: Vec<usize> = strays.collect();
        let Some(first) = strays.first() else {
            return Ok(());
        };
        let lines = mesh::lines_of_vertices(&self.source, &strays);
        let at = lines
            .first()
            .map_or(String::new(), |line| format!(":{line}"));
        let list: Vec<String> = lines.iter().take(8).map(ToString::to_string).collect();
        let name = self.source.description();
        warn(match strays.len() {
            1 => format!(
                "{name}{at}: vertex {} is part of no face, and enlarges the convex hull; remove it",
                first + 1
            ),
            n => format!(
                "{name}{at}: {n} vertices are part of no face, and enlarge the convex hull{}; remove \
                 them",
                if list.is_empty() {
                    String::new()
                } else {
                    format!(
                        " (lines {}{})",
                        list.join(", "),
                        if lines.len() > list.len() {
                            ", ..."
                        } else {
                            ""
                        }
                    )
                }
            ),
        });
        Ok(())
    }

    fn convex_hull(&self) -> Result<Arc<PolygonSurfaceMesh>> {
        self.hull.get(|| {
            let mesh = PolygonSurfaceMesh::from_hull(self.hull_of_vertices()?);
            mesh.map_err(|e| self.named(e))
        })
    }

    fn convex_pieces(&self, max_pieces: usize) -> Result<Arc<[Convex]>> {
        let stored = || self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pieces) = stored().get(&max_pieces) {
            return Ok(pieces.clone());
        }
        // Computed without the lock, as in `OnDemand`.
        let surface = self.surface()?;
        let hulls = mesh::convex_decomposition(&surface, max_pieces).map_err(|e| self.named(e))?;
        let (name, count) = (self.source.description(), hulls.len());
        let pieces = (1..).zip(hulls).map(|(i, hull)| {
            let name = format!("convex piece {i} of {count} of {name}");
            Convex::from_hull(name, hull)
        });
        let pieces: Arc<[Convex]> = pieces.collect();
        Ok(stored().entry(max_pieces).or_insert(pieces).clone())
    }

    fn polytope(&self) -> Result<&Polytope> {
        if let Some(polytope) = self.polytope.get() {
            return Ok(polytope);
        }
        let hull = self.hull_of_vertices()?;
        Ok(self
            .polytope
            .get_or_init(|| Polytope::new(hull.vertices, &hull.faces)))
    }

    fn indexed_surface(&self) -> Result<&IndexedSurface> {
        if let Some(surface) = self.indexed_surface.get() {
            return Ok(surface);
        }
        let mesh = self.surface()?;
        let surface = IndexedSurface::new(&mesh).map_err(|e| self.named(e))?;
        Ok(self.indexed_surface.get_or_init(|| surface))
    }

    fn triangle_bvh(&self) -> Result<&TriangleBvh> {
        if let Some(triangles) = self.triangle_bvh.get() {
            return Ok(triangles);
        }
        let surface = self.surface()?;
        Ok(self.triangle_bvh.get_or_init(|| TriangleBvh::new(&surface)))
    }
}

/// Defines a shape that is read from a mesh source.
macro_rules! mesh_shape {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Arc<ScaledMesh>);

        impl $name {
            /// Creates a shape from the unscaled mesh of `source`: a path or an
            /// [`InMemoryMesh`](crate::InMemoryMesh). The source is read on first use,
            /// not here.
            pub fn new(source: impl Into<MeshSource>) -> Self {
                let one = Vector3::repeat(1.0);
                Self(ScaledMesh::new(stringify!($name), source.into(), one).expect("one is a scale"))
            }
            /// Creates a shape from the mesh of `source` with its coordinates multiplied by
            /// `scale3`; negative factors mirror the mesh.
            ///
            /// # Errors
            /// Returns an error if a factor is not finite or its magnitude is below 1e-8.
            pub fn with_scale(source: impl Into<MeshSource>, scale3: Vector3<f64>) -> Result<Self> {
                ScaledMesh::new(stringify!($name), source.into(), scale3).map(Self)
            }
            /// Returns the file or in-memory data that the mesh comes from.
            pub fn source(&self) -> &MeshSource {
                &self.0.source
            }
            /// Returns the extension of the source in lower case, with its dot: `.obj`.
            pub fn extension(&self) -> String {
                self.0.source.extension()
            }
            /// Returns the scale factor per axis.
            pub fn scale3(&self) -> Vector3<f64> {
                self.0.scale3
            }
            /// Returns the common scale factor of all axes.
            ///
            /// # Errors
            /// Returns an error if the factors of the axes differ.
            pub fn scale(&self) -> Result<f64> {
                self.0.scale(stringify!($name))
            }
            /// Returns the convex hull of the scaled vertices (m). It is computed on first use and
            /// shared by all clones of the shape.
            ///
            /// # Errors
            /// Returns an error if the source cannot be read or all of its vertices are on a line.
            /// Later calls try again.
            pub fn convex_hull(&self) -> Result<Arc<PolygonSurfaceMesh>> {
                self.0.convex_hull()
            }
            /// Warns about vertices of no face that enlarge the convex hull.
            ///
            /// # Errors
            /// Returns an error if the source cannot be read or has no convex hull.
            pub(crate) fn warn_of_strays(&self) -> Result<()> {
                self.0.warn_of_strays()
            }
            /// Returns the hull for proximity queries; vertices on a line are allowed.
            pub(crate) fn polytope(&self) -> Result<&Polytope> {
                self.0.polytope()
            }
        }

        impl PartialEq for $name {
            /// Compares source and scale.
            fn eq(&self, other: &Self) -> bool {
                self.source() == other.source() && self.scale3() == other.scale3()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("source", self.source())
                    .field("scale3", &self.scale3())
                    .finish()
            }
        }
    };
}
mesh_shape!(
    /// Triangle mesh of an OBJ, STL or glTF file, or tetrahedral mesh of a VTK file.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use std::path::Path;
    /// use tarragon_geometry::Mesh;
    /// let millimetres = Mesh::with_scale("gripper.stl", Vector3::repeat(1e-3))?;
    /// assert_eq!(millimetres.source().path(), Some(Path::new("gripper.stl")));
    /// assert_eq!(Mesh::new("gripper.stl").scale3(), Vector3::repeat(1.0));
    /// assert!(millimetres.surface().unwrap_err().to_string().starts_with("gripper.stl"));
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Mesh
);
mesh_shape!(
    /// Convex hull of an OBJ, STL, glTF or VTK file.
    ///
    /// ```
    /// use tarragon_geometry::{Convex, InMemoryMesh, MemoryFile};
    /// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .1 .1 .1\nf 1 2 5\nf 3 4 5\n";
    /// let shape = Convex::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "corner")));
    /// assert_eq!(shape.convex_hull()?.num_faces(), 4);
    /// assert_eq!(shape.convex_hull()?.num_vertices(), 4);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Convex
);

impl Convex {
    /// Creates a shape from a hull, in the form of an OBJ file in memory.
    fn from_hull(name: String, hull: ConvexHull) -> Self {
        let mut obj = String::new();
        for v in &hull.vertices {
            obj += &format!("v {:?} {:?} {:?}\n", v.x, v.y, v.z);
        }
        for face in &hull.faces {
            let corners = face.iter().map(|v| format!(" {}", v + 1));
            obj += &format!("f{}\n", corners.collect::<String>());
        }
        let shape = Self::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", name)));
        // The hull of these vertices is known.
        let polytope = Polytope::new(hull.vertices, &hull.faces);
        shape.0.polytope.get_or_init(|| polytope);
        shape
    }
}

impl Mesh {
    /// Returns convex pieces, at most `max_pieces`, whose union covers the scaled mesh and nearly
    /// equals it; see [`convex_decomposition`](crate::mesh::convex_decomposition). They are
    /// computed on first use, which can take seconds, and shared by all clones of the shape.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, and in the cases of
    /// [`convex_decomposition`](crate::mesh::convex_decomposition). Later calls try again.
    ///
    /// ```
    /// use tarragon_geometry::{InMemoryMesh, MemoryFile, Mesh};
    /// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    /// let corner = Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "corner")));
    /// assert_eq!(corner.convex_pieces(1)?.len(), 1);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    pub fn convex_pieces(&self, max_pieces: usize) -> Result<Arc<[Convex]>> {
        self.0.convex_pieces(max_pieces)
    }
    /// Returns the triangles of the surface for ray casts.
    pub(crate) fn triangle_bvh(&self) -> Result<&TriangleBvh> {
        self.0.triangle_bvh()
    }
    /// Returns the scaled surface of the mesh (m); for a VTK file, the boundary of its tetrahedra.
    /// It is read on first use and shared by all clones of the shape.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read. Later calls try again.
    pub fn surface(&self) -> Result<Arc<TriangleSurfaceMesh>> {
        self.0.surface()
    }
    /// Returns the scaled tetrahedra of a VTK file (m). They are read on first use and shared by
    /// all clones of the shape.
    ///
    /// # Errors
    /// Returns an error if the source has another type or cannot be read. Later calls try again.
    pub fn volume_mesh(&self) -> Result<Arc<VolumeMesh>> {
        self.0.volume()
    }
    /// Returns the surface for proximity queries.
    pub(crate) fn indexed_surface(&self) -> Result<&IndexedSurface> {
        self.0.indexed_surface()
    }
}

#[cfg(test)]
mod tests;
