//! Contact surfaces, coloured by pressure.

use crate::Result;
use crate::meshcat::{FrameGate, Meshcat, NodeHandle, Object, SurfaceStyle};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use tarragon_framework::Scalar;
use tarragon_framework::warnings::warn;
use tarragon_geometry::{ContactSurface, GeometryId};

type Pair = (GeometryId, GeometryId);

/// Surfaces below a path, by pair of geometries.
///
/// An animation cannot replace objects, so a recording has a mesh of its own for every frame, which
/// is visible in that frame only.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    shown: BTreeMap<Pair, String>,
    /// Mesh of each pair in the last recorded frame.
    recorded: BTreeMap<Pair, String>,
    /// Size of all recorded meshes (bytes).
    recorded_bytes: usize,
    /// Whether a recording contains surfaces.
    has_recorded: bool,
    /// Number of deletions by the visualizer before these surfaces were sent.
    deletions: u64,
    gate: FrameGate,
}

/// Time and limit of recorded surfaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordingLimit {
    pub(super) time: f64,
    /// Most bytes of meshes.
    pub(super) bytes: usize,
}

impl Surfaces {
    /// Shows surfaces and deletes those of pairs that have none now. `path` returns the path of a
    /// new pair.
    pub(super) fn show<'s, T: Scalar>(
        &mut self,
        meshcat: &Meshcat,
        surfaces: impl Iterator<Item = &'s ContactSurface<T>>,
        path: impl Fn(Pair) -> Result<String>,
        limit: RecordingLimit,
        deletions: u64,
    ) -> Result<()> {
        if self.deletions != deletions {
            *self = Self {
                deletions,
                ..Self::default()
            };
        }
        let mut gone = std::mem::take(&mut self.shown);
        let mut objects = vec![];
        for surface in surfaces {
            let pair = (surface.id_m(), surface.id_n());
            let path = match gone.remove(&pair) {
                Some(path) => path,
                None => path(pair)?,
            };
            let (vertices, faces, colors) = picture(surface);
            let style = SurfaceStyle::default();
            let object = meshcat.encode_triangle_color_mesh(&vertices, &faces, &colors, &style)?;
            objects.push((pair, object));
            self.shown.insert(pair, path);
        }
        if meshcat.is_recording() {
            self.record(meshcat, &objects, limit)?;
        } else if self.has_recorded {
            self.end_playback(meshcat);
        }
        meshcat.change(|scene| {
            for (pair, object) in objects {
                scene.set_object(&self.shown[&pair], object);
            }
            for path in gone.values() {
                scene.delete(path);
            }
        });
        Ok(())
    }

    /// Adds the surfaces to a recording, and hides the meshes of the last recorded frame. Surfaces
    /// of a nearer time stay in their frame.
    fn record(
        &mut self,
        meshcat: &Meshcat,
        objects: &[(Pair, Object)],
        limit: RecordingLimit,
    ) -> Result<()> {
        let size: usize = objects.iter().map(|(_, object)| object.encoded.len()).sum();
        let had_room = self.recorded_bytes <= limit.bytes;
        let recorded_bytes = self.recorded_bytes.saturating_add(size);
        let has_room = recorded_bytes <= limit.bytes;
        let objects = if has_room { objects } else { &[] };
        let Self {
            shown,
            recorded,
            gate,
            ..
        } = self;
        let mut is_recorded = false;
        meshcat.record(limit.time, gate, |animation, frame| {
            is_recorded = true;
            let mut last = std::mem::take(recorded);
            for (pair, _) in objects {
                let live = &shown[pair];
                let path = format!("{live}_frames/{frame}");
                if frame > 0 {
                    animation.set_property(0, &path, "visible", false)?;
                }
                animation.set_property(frame, &path, "visible", true)?;
                animation.set_property(0, live, "visible", false)?;
                if last.get(pair) == Some(&path) {
                    last.remove(pair);
                }
                recorded.insert(*pair, path);
            }
            for path in last.values() {
                animation.set_property(frame, path, "visible", false)?;
            }
            Ok(())
        })?;
        if !is_recorded {
            return Ok(());
        }
        self.recorded_bytes = recorded_bytes;
        if had_room && !has_room && limit.bytes > 0 {
            warn(format!(
                "ContactVisualizer: contact surfaces after {:?} s are not recorded, because \
                 recorded_surface_bytes is {}; increase it, or record fewer frames per second",
                limit.time, limit.bytes
            ));
        }
        self.has_recorded |= !objects.is_empty();
        meshcat.change(|scene| {
            for (pair, object) in objects {
                let node = NodeHandle::new(scene, &self.recorded[pair]);
                node.set_property(scene, "visible", false);
                node.set_object(scene, object.clone());
            }
        });
        Ok(())
    }

    /// Shows the present surfaces in pages that have played a recording.
    fn end_playback(&self, meshcat: &Meshcat) {
        meshcat.change(|scene| {
            for path in self.recorded.values() {
                NodeHandle::new(scene, path).set_property(scene, "visible", false);
            }
            for path in self.shown.values() {
                NodeHandle::new(scene, path).set_property(scene, "visible", true);
            }
        });
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
