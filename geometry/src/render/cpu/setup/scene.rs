//! The scene of one image.
//!
//! The threads that draw an image first prepare it together, a chunk of its visuals at a time.
//! Poses come from user code, which may draw images itself. So no thread waits for another here,
//! except in rayon, which works on other tasks meanwhile.

use super::chunk::{DrawItem, PreparedChunk};
use super::frustum::Frustum;
use super::primitive::Primitive;
use super::shadows::Shadows;
use super::storage::{SceneStorage, Workers};
use super::tile_lists::TileLists;
use crate::properties::RenderLabel;
use crate::render::cpu::raster::{
    ClusterVertices, TILE_HEIGHT, TILE_WIDTH, Tile, TransparencyLayers,
};
use crate::render::cpu::store::{DrawPlan, MOST_ITEMS, Visual, VisualChunk, VisualForm, Visuals};
use crate::render::projection::{PixelRect, Pixels, PoseInCamera};
use crate::render::{ClippingRange, RenderView};
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Kind of an image.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ImageKind {
    /// Colours, with or without shadows.
    Color {
        shadows: bool,
    },
    Depth,
    Label,
}

/// Scene of one image, prepared and drawn by several threads.
pub(crate) struct Scene<'a> {
    visuals: &'a Visuals,
    pub(crate) plan: &'a DrawPlan,
    view: &'a RenderView<'a>,
    x_cw: Isometry3<f64>,
    frustum: Frustum,
    kind: ImageKind,
    columns: usize,
    rows: usize,
    /// Prepared chunks of the visuals.
    chunks: Vec<OnceLock<PreparedChunk>>,
    /// Recycled storage for chunks.
    spare: Mutex<Vec<PreparedChunk>>,
    layout: OnceLock<TileLists>,
    /// Recycled storage for the tile lists.
    empty: Mutex<TileLists>,
    pub(crate) workers: Workers,
}

impl<'a> Scene<'a> {
    /// Creates an unprepared scene; see [`Scene::prepare`]. [`Scene::store`] returns the storage.
    pub(crate) fn new(
        storage: &mut SceneStorage,
        pixels: Pixels,
        clipping: &ClippingRange,
        view: &'a RenderView<'a>,
        visuals: &'a Visuals,
        kind: ImageKind,
    ) -> Self {
        let plan = visuals.plan();
        let mut chunks = std::mem::take(&mut storage.chunks);
        chunks.resize_with(plan.chunks(), OnceLock::new);
        Self {
            visuals,
            plan,
            view,
            x_cw: view.x_wc.inverse(),
            frustum: Frustum {
                pixels,
                near: clipping.near(),
                far: clipping.far(),
                by_triangle: matches!(kind, ImageKind::Color { .. }),
            },
            kind,
            columns: pixels.width.div_ceil(TILE_WIDTH),
            rows: pixels.height.div_ceil(TILE_HEIGHT),
            chunks,
            spare: Mutex::new(std::mem::take(&mut storage.spare)),
            layout: OnceLock::new(),
            empty: Mutex::new(std::mem::take(&mut storage.layout)),
            workers: std::mem::take(&mut storage.workers),
        }
    }

    /// Returns the storage for the next image.
    pub(crate) fn store(mut self, storage: &mut SceneStorage) {
        let spare = self.spare.into_inner();
        storage.spare = spare.unwrap_or_else(PoisonError::into_inner);
        // In reverse order, so that chunks popped from the end get the same storage again.
        let used = self.chunks.drain(..).rev().filter_map(OnceLock::into_inner);
        storage.spare.extend(used);
        storage.chunks = self.chunks;
        storage.layout = self.layout.into_inner().unwrap_or_default();
        storage.workers = self.workers;
    }

    /// Prepares the scene on all threads and builds the tile lists.
    pub(crate) fn prepare(&self) {
        let taken = AtomicUsize::new(0);
        let prepare = || {
            loop {
                let k = taken.fetch_add(1, Ordering::Relaxed);
                let Some(part) = self.chunks.get(k) else {
                    break;
                };
                part.get_or_init(|| self.prepare_chunk(k));
            }
        };
        match rayon::current_num_threads().min(self.chunks.len()) {
            0 | 1 => prepare(),
            threads => {
                let threads = (0..threads).into_par_iter().with_max_len(1);
                threads.for_each(|_| prepare());
            }
        }
        self.layout.get_or_init(|| self.lay_out());
    }

    fn prepare_chunk(&self, k: usize) -> PreparedChunk {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let part = spare().pop();
        let mut part = part.unwrap_or_default();
        match self.plan.chunk(k, self.visuals) {
            VisualChunk::Visuals(numbers) => {
                part.start(numbers.len());
                for number in numbers {
                    let object = self.place(number);
                    if let (Some(o), VisualForm::Shape { shape, alpha, .. }) =
                        (&object, &self.visual(number).form)
                    {
                        let id = self.first_id(number);
                        part.push_shape(&self.frustum, o, shape, *alpha, number, id);
                    }
                    part.objects.push(object);
                }
            }
            VisualChunk::Clusters(number, clusters) => {
                part.start(0);
                if let (Some(o), VisualForm::Mesh(mesh)) =
                    (self.place(number), &self.visual(number).form)
                {
                    let id = self.first_id(number);
                    part.push_clusters(&self.frustum, &o, mesh, clusters, number, id);
                }
            }
        }
        part
    }

    /// Returns the pose of a visual; `None` if the image does not show it.
    fn place(&self, number: usize) -> Option<PoseInCamera> {
        let (id, visual) = self.visuals.at(number);
        if self.kind == ImageKind::Label && visual.label == RenderLabel::DO_NOT_RENDER {
            return None;
        }
        Some(PoseInCamera::new(&(self.x_cw * self.view.x_wg(id)?)))
    }

    fn first_id(&self, number: usize) -> i32 {
        if self.frustum.by_triangle {
            self.plan.parts(number).start
        } else {
            number as i32
        }
    }

    fn lay_out(&self) -> TileLists {
        let empty = || self.empty.lock().unwrap_or_else(PoisonError::into_inner);
        let mut layout = std::mem::take(&mut *empty());
        layout.start(self.columns, self.rows);
        for (k, part) in self.chunks.iter().filter_map(OnceLock::get).enumerate() {
            for (number, item) in (k * MOST_ITEMS..).zip(&part.items) {
                layout.add(number as u32, item, self.columns);
            }
            layout.translucent.extend(&part.translucent);
        }
        layout.sort(self.columns, self.rows, |number| self.item(number));
        if self.kind == (ImageKind::Color { shadows: true }) {
            let objects = (0..self.len()).filter_map(|number| {
                let object = self.object(number)?;
                Some((number, &self.visual(number).form, object))
            });
            layout.shadows = Some(Shadows::new(objects));
        }
        layout
    }

    fn chunk(&self, k: usize) -> &PreparedChunk {
        let part = self.chunks[k].get();
        part.expect("all chunks are prepared before drawing")
    }
    fn item(&self, number: u32) -> &DrawItem {
        let number = number as usize;
        &self.chunk(number / MOST_ITEMS).items[number % MOST_ITEMS]
    }
    /// Returns the tile lists. The scene must be prepared.
    fn layout(&self) -> &TileLists {
        let layout = self.layout.get();
        layout.expect("a scene is prepared before it is drawn")
    }
    pub(crate) fn visual(&self, number: usize) -> &'a Visual {
        self.visuals.at(number).1
    }
    /// Returns the number of visuals, visible or not.
    pub(crate) fn len(&self) -> usize {
        self.visuals.len()
    }
    /// Returns the pose of a visual in the camera frame; `None` if the image does not show it.
    pub(crate) fn object(&self, number: usize) -> Option<&PoseInCamera> {
        let (k, place) = DrawPlan::place(number);
        self.chunk(k).objects[place].as_ref()
    }
    fn primitive(&self, item: &DrawItem) -> Option<&Primitive> {
        let number = item.visual as usize;
        let (k, place) = DrawPlan::place(number);
        let chunk = self.chunk(k);
        let primitive = chunk.primitives[place].get_or_init(|| {
            let object = chunk.objects[place].as_ref()?;
            Primitive::new(&self.frustum, object, &self.visual(number).form, item.clip)
        });
        primitive.as_ref()
    }
    pub(crate) fn pixels(&self) -> &Pixels {
        &self.frustum.pixels
    }
    /// Returns the distance of the far clipping plane (m).
    pub(crate) fn far(&self) -> f64 {
        self.frustum.far
    }
    /// Returns true if the image has translucent items.
    pub(crate) fn has_translucent(&self) -> bool {
        !self.layout().translucent.is_empty()
    }
    /// Returns the shadow casters; `None` if the image has no shadows.
    pub(crate) fn shadows(&self) -> Option<&Shadows> {
        self.layout().shadows.as_ref()
    }

    /// Collects the translucent layers of a tile whose opaque surfaces are drawn.
    pub(crate) fn collect(
        &self,
        tile: &Tile,
        vertices: &mut ClusterVertices,
        layers: &mut TransparencyLayers,
    ) {
        let mut collector = layers.start(tile);
        for item in &self.layout().translucent {
            if item.rect.intersection(&tile.rect()).is_empty() {
                continue;
            }
            match self.primitive(item) {
                Some(Primitive::Exact(exact)) => collector.body(exact, &item.rect, item.id),
                Some(Primitive::Mesh(view)) => {
                    if let VisualForm::Mesh(mesh) = &self.visual(item.visual as usize).form {
                        let cluster = &mesh.clusters[item.cluster as usize];
                        let ids = (item.id, 1);
                        view.draw(&mut collector, vertices, mesh, cluster, item.clip, ids);
                    }
                }
                _ => {}
            }
        }
        layers.sort();
    }

    /// Draws the opaque surfaces of the tile in a column and row.
    pub(crate) fn draw<const IDS: bool>(
        &self,
        tile: &mut Tile,
        vertices: &mut ClusterVertices,
        column: usize,
        row: usize,
    ) {
        let (x0, y0) = (column * TILE_WIDTH, row * TILE_HEIGHT);
        let pixels = &self.frustum.pixels;
        tile.start(PixelRect {
            x0: x0 as i32,
            y0: y0 as i32,
            x1: (x0 + TILE_WIDTH).min(pixels.width) as i32,
            y1: (y0 + TILE_HEIGHT).min(pixels.height) as i32,
        });
        for &number in self.layout().items_of(row * self.columns + column) {
            let item = self.item(number);
            if tile.hides(item.w_max) {
                break; // all further items are farther away
            }
            let (rect, id) = (&item.rect, item.id);
            if tile.hides_within(rect, item.w_max) {
                continue;
            }
            match self.primitive(item) {
                Some(Primitive::Plane(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Primitive::Cuboid(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Primitive::Ellipsoid(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Primitive::Cylinder(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Primitive::Capsule(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Primitive::Exact(k)) => tile.draw_exact(k, rect, id),
                Some(Primitive::Mesh(view)) => {
                    if let VisualForm::Mesh(mesh) = &self.visual(item.visual as usize).form {
                        let cluster = &mesh.clusters[item.cluster as usize];
                        let ids = (id, i32::from(self.frustum.by_triangle));
                        view.draw(tile, vertices, mesh, cluster, item.clip, ids);
                    }
                }
                None => {}
            }
        }
    }
    /// Returns the strips of the image, the most expensive ones first.
    pub(crate) fn strips(&self) -> &[u32] {
        &self.layout().strips
    }
    /// Returns the number of columns of tiles.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}
