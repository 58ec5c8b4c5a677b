//! Objects of the scene.

use super::Meshcat;
use super::object::{self, Object, ObjectEncoder, Paint, SurfaceStyle};
use crate::Result;
use nalgebra::{DMatrix, Vector3};
use std::sync::Arc;
use tarragon_geometry::mesh::{RenderMesh, TriangleSurfaceMesh};
use tarragon_geometry::{Rgba, Shape};
use tarragon_sensors::PointCloud;

/// Objects. Each replaces the earlier object at its path.
impl Meshcat {
    fn encoder(&self) -> ObjectEncoder<'_> {
        ObjectEncoder {
            uuids: &self.0.shared.uuids,
            assets: &self.0.shared.assets,
        }
    }

    /// Shows a shape in a colour; meshes with colours of their own keep them. A half space is shown
    /// as a large slab (Drake shows nothing).
    ///
    /// ```
    /// use tarragon_geometry::{BoxShape, Rgba};
    /// use tarragon_visualization::{Meshcat, MeshcatParams};
    /// # let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
    /// let crate_ = BoxShape::new(0.4, 0.3, 0.2)?;
    /// meshcat.set_object("table/crate", &crate_.into(), Rgba::new(0.6, 0.4, 0.2, 1.0)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file of a mesh cannot be read.
    pub fn set_object(&self, path: &str, shape: &Shape, rgba: Rgba) -> Result<()> {
        self.put(path, self.encode_shape(shape, rgba)?);
        Ok(())
    }
    pub(crate) fn encode_shape<'p>(
        &self,
        shape: &Shape,
        paint: impl Into<Paint<'p>>,
    ) -> Result<Object> {
        object::shape(&self.encoder(), shape, paint)
    }
    pub(crate) fn encode_surface_mesh(
        &self,
        mesh: &TriangleSurfaceMesh,
        style: &SurfaceStyle,
    ) -> Result<Object> {
        object::surface_mesh(&self.encoder(), mesh, style)
    }
    pub(crate) fn encode_driven_mesh(
        &self,
        mesh: &Arc<RenderMesh>,
        vertices: &[Vector3<f64>],
        paint: Paint<'_>,
    ) -> Result<Object> {
        object::driven_mesh(&self.encoder(), mesh, vertices, paint)
    }
    /// Shows a point cloud in its own colours or, if it has none, in `rgba`. `point_size` is in
    /// metres; Drake's default is 0.001. Points that are not finite are left out.
    ///
    /// # Errors
    /// Returns an error if the cloud has no positions, or the size is not positive and finite.
    pub fn set_point_cloud(
        &self,
        path: &str,
        cloud: &PointCloud,
        point_size: f64,
        rgba: Rgba,
    ) -> Result<()> {
        let cloud = object::point_cloud(&self.encoder(), cloud, point_size, rgba)?;
        self.put(path, cloud);
        Ok(())
    }
    /// Shows a triangle surface mesh.
    ///
    /// # Errors
    /// Returns an error if the mesh is too large for one message.
    pub fn set_surface_mesh(
        &self,
        path: &str,
        mesh: &TriangleSurfaceMesh,
        style: &SurfaceStyle,
    ) -> Result<()> {
        self.put(path, self.encode_surface_mesh(mesh, style)?);
        Ok(())
    }
    /// Shows triangles: `faces` are indices into `vertices` (m), counter-clockwise as seen from the
    /// front.
    ///
    /// # Errors
    /// Returns an error if an index is out of range.
    pub fn set_triangle_mesh(
        &self,
        path: &str,
        vertices: &[Vector3<f64>],
        faces: &[[u32; 3]],
        style: &SurfaceStyle,
    ) -> Result<()> {
        let mesh = object::triangle_mesh(&self.encoder(), vertices, faces, style)?;
        self.put(path, mesh);
        Ok(())
    }
    /// Shows triangles with a colour for every vertex: red, green and blue from 0 to 1.
    ///
    /// # Errors
    /// Returns an error if an index is out of range, or there are not as many colours as vertices.
    pub fn set_triangle_color_mesh(
        &self,
        path: &str,
        vertices: &[Vector3<f64>],
        faces: &[[u32; 3]],
        colors: &[[f64; 3]],
        style: &SurfaceStyle,
    ) -> Result<()> {
        let mesh = self.encode_triangle_color_mesh(vertices, faces, colors, style)?;
        self.put(path, mesh);
        Ok(())
    }
    pub(crate) fn encode_triangle_color_mesh(
        &self,
        vertices: &[Vector3<f64>],
        faces: &[[u32; 3]],
        colors: &[[f64; 3]],
        style: &SurfaceStyle,
    ) -> Result<Object> {
        object::triangle_color_mesh(&self.encoder(), vertices, faces, colors, style)
    }
    /// Shows a line through `vertices` (m). Most browsers draw it 1 pixel wide whatever
    /// `line_width` is.
    ///
    /// # Errors
    /// Returns an error if the width is not positive and finite.
    pub fn set_line(
        &self,
        path: &str,
        vertices: &[Vector3<f64>],
        line_width: f64,
        rgba: Rgba,
    ) -> Result<()> {
        let line = object::line(&self.encoder(), vertices, line_width, rgba)?;
        self.put(path, line);
        Ok(())
    }
    /// Shows lines from each point of `start` to the point of `end` with the same index (m).
    ///
    /// # Errors
    /// Returns an error if there are not as many starts as ends, or the width is not positive and
    /// finite.
    pub fn set_line_segments(
        &self,
        path: &str,
        start: &[Vector3<f64>],
        end: &[Vector3<f64>],
        line_width: f64,
        rgba: Rgba,
    ) -> Result<()> {
        let lines = object::line_segments(&self.encoder(), start, end, line_width, rgba)?;
        self.put(path, lines);
        Ok(())
    }
    /// Shows the surface through the points (x\[i, j\], y\[i, j\], z\[i, j\]) (m), like
    /// matplotlib's `plot_surface`; in blue, (0.1, 0.1, 0.9), unless the style has a colour.
    ///
    /// ```
    /// use nalgebra::DMatrix;
    /// use tarragon_visualization::{Meshcat, MeshcatParams, SurfaceStyle};
    /// # let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
    /// let x = DMatrix::from_fn(15, 11, |i, _| i as f64 / 14.0);
    /// let y = DMatrix::from_fn(15, 11, |_, j| j as f64 / 10.0);
    /// let z = x.zip_map(&y, |x: f64, y: f64| 0.2 * (6.0 * x).sin() * y);
    /// meshcat.plot_surface("wave", &x, &y, &z, &SurfaceStyle::default())?;
    /// # Ok::<(), tarragon_visualization::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the matrices differ in shape or are too small for a surface.
    pub fn plot_surface(
        &self,
        path: &str,
        x: &DMatrix<f64>,
        y: &DMatrix<f64>,
        z: &DMatrix<f64>,
        style: &SurfaceStyle,
    ) -> Result<()> {
        self.put(path, object::plot_surface(&self.encoder(), x, y, z, style)?);
        Ok(())
    }
}
