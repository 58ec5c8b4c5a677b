//! Contact surfaces, coloured by pressure.

use crate::Result;
use crate::meshcat::{Meshcat, SurfaceStyle};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use tarragon_framework::Scalar;
use tarragon_geometry::{ContactSurface, GeometryId};

/// Surfaces below a path, by pair of geometries.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    shown: BTreeMap<(GeometryId, GeometryId), String>,
    /// Number of deletions by the visualizer before these surfaces were sent.
    deletions: u64,
}

impl Surfaces {
    /// Shows surfaces and deletes those of pairs that have none now. `path` returns the path of a
    /// new pair.
    pub(super) fn show<'s, T: Scalar>(
        &mut self,
        meshcat: &Meshcat,
        surfaces: impl Iterator<Item = &'s ContactSurface<T>>,
        path: impl Fn((GeometryId, GeometryId)) -> Result<String>,
        deletions: u64,
    ) -> Result<()> {
        if self.deletions != deletions {
            self.shown.clear();
            self.deletions = deletions;
        }
        let mut gone = std::mem::take(&mut self.shown);
        for surface in surfaces {
            let pair = (surface.id_m(), surface.id_n());
            let path = match gone.remove(&pair) {
                Some(path) => path,
                None => path(pair)?,
            };
            let (vertices, faces, colors) = picture(surface);
            let style = SurfaceStyle::default();
            meshcat.set_triangle_color_mesh(&path, &vertices, &faces, &colors, &style)?;
            self.shown.insert(pair, path);
        }
        for path in gone.values() {
            meshcat.delete(path);
        }
        Ok(())
    }
}

/// Vertices, triangles and colours of vertices.
type Picture = (Vec<Vector3<f64>>, Vec<[u32; 3]>, Vec<[f64; 3]>);

/// Returns a surface to show. Polygons become fans.
fn picture<T: Scalar>(surface: &ContactSurface<T>) -> Picture {
    let vertices = surface.vertices().iter().map(|p| p.map(|x| x.re()));
    let mut faces = vec![];
    if let Some(mesh) = surface.tri_mesh_w() {
        faces.extend(mesh.triangles().iter().map(|t| t.vertices()));
    }
    if let Some(mesh) = surface.poly_mesh_w() {
        for f in 0..mesh.num_faces() {
            let corners = mesh.element(f).vertices();
            let fan = corners[1..].windows(2).map(|w| [corners[0], w[0], w[1]]);
            faces.extend(fan);
        }
    }
    let pressures = surface.vertex_pressures().iter().map(|p| p.re());
    let most = pressures.clone().fold(f64::MIN_POSITIVE, f64::max);
    let colors = pressures.map(|p| heat((p / most).clamp(0.0, 1.0)));
    (vertices.collect(), faces, colors.collect())
}

/// Returns the colour of a pressure relative to the largest: black, red, yellow, white.
fn heat(x: f64) -> [f64; 3] {
    [3.0 * x, 3.0 * x - 1.0, 3.0 * x - 2.0].map(|channel| channel.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_rise_with_the_pressure() {
        assert_eq!(heat(0.0), [0.0; 3]);
        assert_eq!(heat(1.0), [1.0; 3]);
        let sums = (0..=10).map(|i| heat(f64::from(i) / 10.0).iter().sum::<f64>());
        assert!(sums.collect::<Vec<_>>().is_sorted());
    }
}
