//! Contact surfaces as users meet them.

use crate::ids::GeometryId;
use crate::mesh::{
    PolygonSurfaceMesh, PolygonSurfaceMeshFieldLinear, TriangleSurfaceMesh,
    TriangleSurfaceMeshFieldLinear,
};
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// How the faces of a contact surface are represented (Drake's
/// `HydroelasticContactRepresentation`).
///
/// ```
/// use tarragon_geometry::HydroelasticContactRepresentation;
/// let faces = HydroelasticContactRepresentation::default();
/// assert_eq!(faces, HydroelasticContactRepresentation::Polygon);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HydroelasticContactRepresentation {
    /// Every polygon is divided into triangles around its centroid.
    Triangle,
    /// Convex polygons of three to eight corners, as the meshes intersect.
    #[default]
    Polygon,
}

/// Mesh and pressure of a contact surface.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SurfaceField<T: Scalar> {
    Triangle(TriangleSurfaceMeshFieldLinear<T>),
    Polygon(PolygonSurfaceMeshFieldLinear<T>),
}

/// Evaluates an expression on the mesh, of either representation.
macro_rules! mesh {
    ($surface:expr, $mesh:ident => $value:expr) => {
        match &$surface.field {
            SurfaceField::Triangle(field) => {
                let $mesh = field.mesh();
                $value
            }
            SurfaceField::Polygon(field) => {
                let $mesh = field.mesh();
                $value
            }
        }
    };
}

/// The surface between two overlapping geometries M and N in hydroelastic contact (Drake's
/// `ContactSurface`), in the world frame.
///
/// It is where the pressures of two compliant geometries are equal, or the part of the surface of a
/// rigid geometry that is within a compliant one. M is the geometry with the smaller id. Normals of
/// faces point out of N into M. The pressure (Pa) is linear on every face. It is negative outside a
/// geometry with a margin, up to where its contact begins.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let frame = scene.register_frame(source, GeometryFrame::new("block"))?;
/// let soft = ProximityProperties::new().with_compliant_hydroelastic(1e6)?;
/// let cube = BoxShape::new(0.2, 0.2, 0.2)?;
/// let block = GeometryInstance::new(Isometry3::identity(), cube, "block")?;
/// scene.register_geometry(source, frame, block.with_proximity(soft))?;
/// let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor")?;
/// let rigid = ProximityProperties::new().with_rigid_hydroelastic();
/// scene.register_anchored_geometry(source, floor.with_proximity(rigid))?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let mut ctx = b.build()?.default_context();
/// let poses = FramePoseVector::from_iter([(frame, Isometry3::translation(0.0, 0.0, 0.09))]);
/// ctx.fix(scene.source_pose_port(source)?, poses)?;
/// let query = ctx.eval(scene.query)?;
/// let surfaces = query.compute_contact_surfaces(HydroelasticContactRepresentation::Polygon)?;
/// let surface: &ContactSurface<f64> = &surfaces[0];
/// let force = |f| surface.area(f) * surface.face_pressure(f);
/// let force: f64 = (0..surface.num_faces()).map(force).sum();
/// // A tenth of the way to the centre, so a tenth of the modulus, but less above the sides.
/// assert!(force > 0.8 * 0.1 * 1e6 * 0.04 && force < 0.1 * 1e6 * 0.04);
/// assert_eq!(surface.face_normal(0).z, 1.0); // out of the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSurface<T: Scalar> {
    pub(super) ids: [GeometryId; 2],
    pub(super) field: SurfaceField<T>,
    /// Pressure at the centroids of the faces (Pa).
    pub(super) face_pressures: Vec<T>,
    /// Gradients of pressure in M and N, by face (Pa/m); `None` in rigid geometry.
    pub(super) gradients: [Option<Vec<Vector3<T>>>; 2],
}

impl<T: Scalar> ContactSurface<T> {
    /// Returns the id of geometry M, the smaller one.
    pub fn id_m(&self) -> GeometryId {
        self.ids[0]
    }
    /// Returns the id of geometry N.
    pub fn id_n(&self) -> GeometryId {
        self.ids[1]
    }
    /// Returns the number of faces.
    pub fn num_faces(&self) -> usize {
        self.face_pressures.len()
    }
    /// Returns the number of vertices. Faces share vertices only where a half space is involved and
    /// around the centroids of polygons that were divided into triangles.
    pub fn num_vertices(&self) -> usize {
        mesh!(self, mesh => mesh.num_vertices())
    }
    /// Returns the positions of the vertices (m).
    pub fn vertices(&self) -> &[Vector3<T>] {
        mesh!(self, mesh => mesh.vertices())
    }
    /// Returns the pressures at the vertices (Pa).
    pub fn vertex_pressures(&self) -> &[T] {
        match &self.field {
            SurfaceField::Triangle(field) => field.values(),
            SurfaceField::Polygon(field) => field.values(),
        }
    }
    /// Returns the area of face `f` (m^2).
    ///
    /// # Panics
    /// Panics if there is no such face.
    pub fn area(&self, f: usize) -> T {
        mesh!(self, mesh => mesh.area(f))
    }
    /// Returns the area of all faces (m^2).
    pub fn total_area(&self) -> T {
        mesh!(self, mesh => mesh.total_area())
    }
    /// Returns the unit normal of face `f`, out of N into M.
    ///
    /// # Panics
    /// Panics if there is no such face.
    pub fn face_normal(&self, f: usize) -> Vector3<T> {
        mesh!(self, mesh => mesh.face_normal(f))
    }
    /// Returns the centroid of face `f` (m).
    ///
    /// # Panics
    /// Panics if there is no such face.
    pub fn face_centroid(&self, f: usize) -> Vector3<T> {
        mesh!(self, mesh => mesh.element_centroid(f))
    }
    /// Returns the centroid of the surface (m); zero if it has no area.
    pub fn centroid(&self) -> Vector3<T> {
        mesh!(self, mesh => mesh.centroid())
    }
    /// Returns the pressure at the centroid of face `f` (Pa), which is also the mean pressure on
    /// the face.
    ///
    /// # Panics
    /// Panics if there is no such face.
    pub fn face_pressure(&self, f: usize) -> T {
        self.face_pressures[f]
    }

    /// Returns how the faces are represented.
    pub fn representation(&self) -> HydroelasticContactRepresentation {
        match &self.field {
            SurfaceField::Triangle(_) => HydroelasticContactRepresentation::Triangle,
            SurfaceField::Polygon(_) => HydroelasticContactRepresentation::Polygon,
        }
    }
    /// Returns true if the faces are triangles around the centroids of polygons.
    pub fn is_triangle(&self) -> bool {
        self.representation() == HydroelasticContactRepresentation::Triangle
    }
    /// Returns the mesh of triangles, in the world; `None` if the faces are polygons.
    pub fn tri_mesh_w(&self) -> Option<&TriangleSurfaceMesh<T>> {
        self.tri_e_mn().map(|field| &**field.mesh())
    }
    /// Returns the pressure (Pa) on the mesh of triangles; `None` if the faces are polygons.
    pub fn tri_e_mn(&self) -> Option<&TriangleSurfaceMeshFieldLinear<T>> {
        match &self.field {
            SurfaceField::Triangle(field) => Some(field),
            SurfaceField::Polygon(_) => None,
        }
    }
    /// Returns the mesh of polygons, in the world; `None` if the faces are triangles.
    pub fn poly_mesh_w(&self) -> Option<&PolygonSurfaceMesh<T>> {
        self.poly_e_mn().map(|field| &**field.mesh())
    }
    /// Returns the pressure (Pa) on the mesh of polygons; `None` if the faces are triangles.
    pub fn poly_e_mn(&self) -> Option<&PolygonSurfaceMeshFieldLinear<T>> {
        match &self.field {
            SurfaceField::Triangle(_) => None,
            SurfaceField::Polygon(field) => Some(field),
        }
    }

    /// Returns true if M is compliant, so that its pressure has a gradient.
    pub fn has_grad_e_m(&self) -> bool {
        self.gradients[0].is_some()
    }
    /// Returns true if N is compliant, so that its pressure has a gradient.
    pub fn has_grad_e_n(&self) -> bool {
        self.gradients[1].is_some()
    }
    /// Returns the gradient of the pressure of M at face `f`, in the world (Pa/m); `None` if M is
    /// rigid.
    ///
    /// # Panics
    /// Panics if there is no such face.
    pub fn evaluate_grad_e_m_w(&self, f: usize) -> Option<Vector3<T>> {
        self.gradients[0].as_ref().map(|gradients| gradients[f])
    }
    /// Returns the gradient of the pressure of N at face `f`, in the world (Pa/m); `None` if N is
    /// rigid.
    ///
    /// # Panics
    /// Panics if there is no such face.
    pub fn evaluate_grad_e_n_w(&self, f: usize) -> Option<Vector3<T>> {
        self.gradients[1].as_ref().map(|gradients| gradients[f])
    }

    /// Returns true if the geometries are the same, and meshes and pressures identical. As for
    /// scalars, derivatives are not compared. NaN is equal to nothing.
    pub fn equal(&self, other: &Self) -> bool {
        self == other
    }
}
