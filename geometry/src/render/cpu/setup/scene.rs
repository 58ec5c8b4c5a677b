//! Everything visible in one image.
//!
//! Threads that draw an image first prepare it together, a chunk of its visuals each; who is done
//! last lays it out, the others wait for that.

use super::chunk::{DrawItem, PreparedChunk};
use super::frustum::{Frustum, PoseInCamera};
use super::primitive::Primitive;
use super::shadows::Shadows;
use super::storage::{SceneStorage, Workers};
use super::tile_lists::TileLists;
use crate::properties::RenderLabel;
use crate::render::cpu::pixels::{Pixels, Rect};
use crate::render::cpu::raster::{
    ClusterVertices, TILE_HEIGHT, TILE_WIDTH, Tile, TransparencyLayers,
};
use crate::render::cpu::store::{DrawPlan, MOST_ITEMS, Visual, VisualChunk, VisualForm, Visuals};
use crate::render::{ClippingRange, RenderView};
use nalgebra::Isometry3;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What an image shows.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ImageKind {
    /// With or without shadows.
    Color {
        shadows: bool,
    },
    Depth,
    Label,
}

/// What one image shows.
pub(crate) struct Scene<'a> {
    visuals: &'a Visuals,
    pub(crate) plan: &'a DrawPlan,
    view: &'a RenderView<'a>,
    x_cw: Isometry3<f64>,
    frustum: Frustum,
    kind: ImageKind,
    columns: usize,
    rows: usize,
    /// One for each chunk of the visuals.
    chunks: Vec<OnceLock<PreparedChunk>>,
    /// Storage of chunks.
    spare: Mutex<Vec<PreparedChunk>>,
    /// Chunks that somebody has taken, and how many are not done.
    taken: AtomicUsize,
    left: AtomicUsize,
    /// A thread has panicked.
    failed: AtomicBool,
    layout: OnceLock<TileLists>,
    /// Storage of the layout.
    empty: Mutex<TileLists>,
    pub(crate) workers: Workers,
}

thread_local! {
    /// This thread prepares an image.
    static PREPARING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as preparing; if it panics, nobody waits for it.
struct PreparationMark<'a> {
    failed: &'a AtomicBool,
    /// What the mark was before.
    outer: bool,
}

impl<'a> PreparationMark<'a> {
    fn new(failed: &'a AtomicBool) -> Self {
        let outer = PREPARING.replace(true);
        Self { failed, outer }
    }
}

impl Drop for PreparationMark<'_> {
    fn drop(&mut self) {
        PREPARING.set(self.outer);
        if std::thread::panicking() {
            self.failed.store(true, Ordering::Release);
        }
    }
}

impl<'a> Scene<'a> {
    /// A scene that [`Scene::prepare`] prepares. The storage is given back by [`Scene::store`].
    pub(crate) fn new(
        storage: &mut SceneStorage,
        pixels: Pixels,
        clipping: &ClippingRange,
        view: &'a RenderView<'a>,
        visuals: &'a Visuals,
        kind: ImageKind,
    ) -> Self {
        let plan = visuals.plan();
        // At least one, so that there is a last one.
        let count = plan.chunks().max(1);
        let mut chunks = std::mem::take(&mut storage.chunks);
        chunks.resize_with(count, OnceLock::new);
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
            taken: AtomicUsize::new(0),
            left: AtomicUsize::new(count),
            failed: AtomicBool::new(false),
            layout: OnceLock::new(),
            empty: Mutex::new(std::mem::take(&mut storage.layout)),
            workers: std::mem::take(&mut storage.workers),
        }
    }

    /// Gives the storage back.
    pub(crate) fn store(mut self, storage: &mut SceneStorage) {
        let spare = self.spare.into_inner();
        storage.spare = spare.unwrap_or_else(PoisonError::into_inner);
        // The last one first, so that who takes them from the end gets the same ones again.
        let used = self.chunks.drain(..).rev().filter_map(OnceLock::into_inner);
        storage.spare.extend(used);
        storage.chunks = self.chunks;
        storage.layout = self.layout.into_inner().unwrap_or_default();
        storage.workers = self.workers;
    }

    /// Takes part in the preparation until it is done. False if this thread can not wait for that;
    /// then who does the last of it draws alone.
    pub(crate) fn prepare(&self) -> bool {
        let preparing = PreparationMark::new(&self.failed);
        // Poses come from the user. Where asking for them runs something in parallel, this thread
        // can get here while it is needed by another preparation or by this one: it must not wait
        // then.
        let may_wait = !preparing.outer;
        loop {
            let k = self.taken.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.chunks.get(k) else {
                break;
            };
            part.get_or_init(|| self.prepare_chunk(k));
            if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.layout.get_or_init(|| self.lay_out());
            }
        }
        drop(preparing);
        // Whoever has a chunk is at work on it: this is a matter of microseconds.
        let mut spins = 0;
        while self.layout.get().is_none() {
            if !may_wait || self.failed.load(Ordering::Acquire) {
                return false;
            }
            if spins < 200 {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        true
    }

    fn prepare_chunk(&self, k: usize) -> PreparedChunk {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let part = spare().pop();
        let mut part = part.unwrap_or_default();
        if k >= self.plan.chunks() {
            part.start(0);
            return part;
        }
        match self.plan.chunk(k, self.visuals) {
            VisualChunk::Visuals(numbers) => {
                part.start(numbers.len());
                for number in numbers {
                    let object = self.place(number);
                    if let (Some(o), VisualForm::Shape { shape, alpha, .. }) =
                        (&object, &self.visual(number).form)
                    {
                        let ids = (number, self.first_id(number));
                        part.push_shape(&self.frustum, o, (shape, *alpha), ids);
                    }
                    part.objects.push(object);
                }
            }
            VisualChunk::Clusters(number, clusters) => {
                part.start(0);
                if let (Some(o), VisualForm::Mesh(mesh)) =
                    (self.place(number), &self.visual(number).form)
                {
                    let ids = (number, self.first_id(number));
                    part.push_clusters(&self.frustum, &o, (mesh, clusters), ids);
                }
            }
        }
        part
    }

    /// Where a visual is, if the image shows it.
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
        part.expect("what is asked for is prepared")
    }
    fn item(&self, number: u32) -> &DrawItem {
        let number = number as usize;
        &self.chunk(number / MOST_ITEMS).items[number % MOST_ITEMS]
    }
    /// How the scene is drawn, once it is prepared.
    fn layout(&self) -> &TileLists {
        let layout = self.layout.get();
        layout.expect("a scene is prepared before it is drawn")
    }
    pub(crate) fn visual(&self, number: usize) -> &'a Visual {
        self.visuals.at(number).1
    }
    /// Number of visuals, seen or not.
    pub(crate) fn len(&self) -> usize {
        self.visuals.len()
    }
    /// The visual of a number in the camera frame; `None` if the image does not show it.
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
    /// Nothing beyond is seen (m).
    pub(crate) fn far(&self) -> f64 {
        self.frustum.far
    }
    /// True if something is seen through.
    pub(crate) fn has_translucent(&self) -> bool {
        !self.layout().translucent.is_empty()
    }
    /// What casts shadows, if anything does.
    pub(crate) fn shadows(&self) -> Option<&Shadows> {
        self.layout().shadows.as_ref()
    }

    /// Collects what is seen through in a tile whose opaque things are drawn.
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

    /// Draws everything in the tile of a column and a row.
    pub(crate) fn draw<const IDS: bool>(
        &self,
        tile: &mut Tile,
        vertices: &mut ClusterVertices,
        column: usize,
        row: usize,
    ) {
        let (x0, y0) = (column * TILE_WIDTH, row * TILE_HEIGHT);
        let pixels = &self.frustum.pixels;
        tile.start(Rect {
            x0: x0 as i32,
            y0: y0 as i32,
            x1: (x0 + TILE_WIDTH).min(pixels.width) as i32,
            y1: (y0 + TILE_HEIGHT).min(pixels.height) as i32,
        });
        for &number in self.layout().items_of(row * self.columns + column) {
            let item = self.item(number);
            if tile.hides(item.w_max) {
                break; // and all others are farther
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
    /// TileStrips of the image, in the order in which they are best drawn.
    pub(crate) fn strips(&self) -> &[u32] {
        &self.layout().strips
    }
    /// Number of columns of tiles.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}
