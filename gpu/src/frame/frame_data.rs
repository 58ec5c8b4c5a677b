//! Data of one pass over some views, in the form that shaders read; see `shaders/common.wgsl`.

use crate::device::mesh_data::GpuMesh;
use crate::frame::visuals::{Visual, VisualForm};
use crate::shader_source::{DIRECTIONAL, POINT, SPOT};
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use std::sync::Arc;
use tarragon_geometry::render::appearance::Lights;
use tarragon_geometry::render::projection::{
    ImageBounds, PixelRect, Pixels, PoseInCamera, box_corners, shape_bounds,
};
use tarragon_geometry::render::{ClippingRange, LightParameter, LightType, RenderView};

/// Number of words of a tile, an instance and a light.
pub(crate) const TILE: usize = 24;
pub(crate) const INSTANCE: usize = 32;
pub(crate) const LIGHT: usize = 16;

/// Data common to all views of a pass.
pub(crate) struct PassScene<'a> {
    pub(crate) visuals: &'a [Arc<Visual>],
    pub(crate) pixels: Pixels,
    pub(crate) clipping: ClippingRange,
    pub(crate) lights: &'a [LightParameter],
    /// True if there is an environment: all materials are physically based.
    pub(crate) environment: bool,
    /// True if visuals with the label `DO_NOT_RENDER` are not drawn.
    pub(crate) skip_unlabelled: bool,
}

/// A draw call: some instances of one mesh, or of shapes.
pub(crate) struct Draw {
    /// `None` for shapes.
    pub(crate) mesh: Option<Arc<GpuMesh>>,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// Content of one tile.
#[derive(Default)]
pub(crate) struct TileData {
    /// All words of an instance but the number of its tile.
    pub(crate) instances: Vec<u32>,
    pub(crate) draws: Vec<Draw>,
    pub(crate) lights: Vec<u32>,
    r_wc: Matrix3<f64>,
}

fn floats(words: &mut Vec<u32>, values: &[f32]) {
    words.extend(values.iter().map(|x| x.to_bits()));
}

/// Prepares views in parallel.
pub(crate) fn prepare(scene: &PassScene<'_>, views: &[RenderView<'_>]) -> Vec<TileData> {
    if views.len() < 16 {
        return views.iter().map(|view| scene.tile(view)).collect();
    }
    views.par_iter().map(|view| scene.tile(view)).collect()
}

impl PassScene<'_> {
    fn tile(&self, view: &RenderView<'_>) -> TileData {
        let mut tile = TileData {
            r_wc: view.x_wc.rotation.to_rotation_matrix().into_inner(),
            ..TileData::default()
        };
        for light in Lights::new(self.lights, &view.x_wc, self.environment).as_slice() {
            let kind = match light.light_type {
                LightType::Point => POINT,
                LightType::Spot => SPOT,
                LightType::Directional => DIRECTIONAL,
            };
            let ([r, g, b], [ax, ay, az]) = (light.color, light.attenuation);
            let (p, t) = (light.position, light.towards);
            floats(&mut tile.lights, &[r, g, b, kind as f32]);
            floats(&mut tile.lights, &[p.x, p.y, p.z, light.cos_cone]);
            floats(&mut tile.lights, &[t.x, t.y, t.z, 0.0]);
            floats(&mut tile.lights, &[ax, ay, az, 0.0]);
        }
        let x_cw = view.x_wc.inverse();
        for visual in self.visuals {
            if self.skip_unlabelled && visual.is_hidden() {
                continue;
            }
            let Some(x_wg) = view.x_wg(visual.id) else {
                continue;
            };
            // Relative to the camera in f64, before anything is rounded.
            let pose = PoseInCamera::new(&(x_cw * x_wg));
            if let Some(rect) = self.rect(visual, &pose) {
                self.push(&mut tile, visual, &pose, &rect);
            }
        }
        tile
    }
    /// Returns the pixels that a visual may cover; `None` if it is culled.
    fn rect(&self, visual: &Visual, pose: &PoseInCamera) -> Option<PixelRect> {
        let (near, far) = (self.clipping.near(), self.clipping.far());
        let bounds = match &visual.form {
            VisualForm::Shape { shape, .. } => shape_bounds(&self.pixels, pose, shape),
            VisualForm::Mesh { mesh, .. } => {
                let [low, high] = mesh.data.bounds.map(|p| p.coords);
                let corners = box_corners(pose, &low, &high);
                Some(ImageBounds::of_points(&self.pixels, corners))
            }
        };
        match bounds {
            Some(bounds) => bounds.rect(&self.pixels, near, far),
            None => Some(self.pixels.all()),
        }
    }
    fn push(&self, tile: &mut TileData, visual: &Visual, pose: &PoseInCamera, rect: &PixelRect) {
        let number = (tile.instances.len() / INSTANCE) as u32;
        let (kind, size, color, mesh) = match &visual.form {
            VisualForm::Shape {
                kind, size, color, ..
            } => (*kind, *size, *color, None),
            VisualForm::Mesh { mesh, .. } if mesh.data.triangles == 0 => return,
            VisualForm::Mesh { mesh, color, .. } => (0, Vector3::zeros(), *color, Some(mesh)),
        };
        let o: Vector3<f32> = (-(pose.r.transpose() * pose.p)).cast();
        let words = &mut tile.instances;
        for k in 0..3 {
            let row = pose.r.row(k);
            floats(
                words,
                &[row[0], row[1], row[2], pose.p[k]].map(|x| x as f32),
            );
        }
        floats(words, &[o.x, o.y, o.z, 0.0]);
        floats(words, &[size.x, size.y, size.z, 0.0].map(|x| x as f32));
        floats(words, &color);
        words.extend([rect.x0, rect.y0, rect.x1, rect.y1].map(i32::cast_unsigned));
        let physical = self.environment || mesh.is_some_and(|m| m.data.has_model);
        let label = i32::from(visual.label).cast_unsigned();
        words.extend([0, kind, label, u32::from(physical)]);
        let same = |draw: &Draw| match (&draw.mesh, mesh) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        match tile.draws.last_mut().filter(|draw| same(draw)) {
            Some(draw) => draw.count += 1,
            None => tile.draws.push(Draw {
                mesh: mesh.cloned(),
                first: number,
                count: 1,
            }),
        }
    }
}

/// Words of all tiles of an atlas.
pub(crate) struct AtlasData {
    pub(crate) tiles: Vec<u32>,
    pub(crate) instances: Vec<u32>,
    pub(crate) lights: Vec<u32>,
    /// Draw calls of each tile.
    pub(crate) draws: Vec<Vec<Draw>>,
    /// Number of lights of each tile.
    pub(crate) lights_per_tile: u32,
}

impl AtlasData {
    /// Joins tiles, `columns` in each row of the atlas.
    pub(crate) fn new(scene: &PassScene<'_>, tiles: Vec<TileData>, columns: usize) -> Self {
        let pixels = &scene.pixels;
        let instances = tiles.iter().map(|t| t.instances.len()).sum();
        let mut all = Self {
            tiles: Vec::with_capacity(TILE * tiles.len()),
            instances: Vec::with_capacity(instances),
            lights: Vec::new(),
            draws: Vec::with_capacity(tiles.len()),
            lights_per_tile: tiles.first().map_or(0, |t| (t.lights.len() / LIGHT) as u32),
        };
        for (k, mut tile) in tiles.into_iter().enumerate() {
            let [fx, fy] = pixels.focal;
            let [cx, cy] = pixels.center;
            let size = [pixels.width, pixels.height];
            let origin = [k % columns * size[0], k / columns * size[1]];
            floats(&mut all.tiles, &[fx, fy, cx, cy].map(|x| x as f32));
            floats(&mut all.tiles, &origin.map(|x| x as f32));
            floats(&mut all.tiles, &size.map(|x| x as f32));
            let (near, far) = (scene.clipping.near(), scene.clipping.far());
            floats(&mut all.tiles, &[near, far].map(|x| x as f32));
            all.tiles.extend([(all.lights.len() / LIGHT) as u32, 0]);
            for row in tile.r_wc.row_iter() {
                floats(
                    &mut all.tiles,
                    &[row[0], row[1], row[2], 0.0].map(|x| x as f32),
                );
            }
            let first = (all.instances.len() / INSTANCE) as u32;
            tile.draws.iter_mut().for_each(|draw| draw.first += first);
            for instance in tile.instances.chunks_exact_mut(INSTANCE) {
                instance[INSTANCE - 4] = k as u32;
            }
            all.instances.append(&mut tile.instances);
            all.lights.append(&mut tile.lights);
            all.draws.push(tile.draws);
        }
        all
    }
}
