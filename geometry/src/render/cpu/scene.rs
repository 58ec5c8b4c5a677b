//! Everything visible in one image.
//!
//! Threads that draw an image first prepare it together, a chunk of its visuals each; who is done
//! last lays it out, the others wait for that.

use super::layers::Layers;
use super::layout::Layout;
use super::part::{Frustum, Item, Object, Part, Surface};
use super::pixels::{Pixels, Rect};
use super::raster::Vertices;
use super::shadow::Shadows;
use super::storage::{SceneStorage, Workers};
use super::tile::{TILE_HEIGHT, TILE_WIDTH, Tile};
use super::visual::{Form, Visual};
use super::visuals::{Chunk, MOST_ITEMS, Plan, Visuals};
use crate::properties::RenderLabel;
use crate::render::{ClippingRange, RenderView};
use nalgebra::Isometry3;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What an image shows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// With or without shadows.
    Color {
        shadows: bool,
    },
    Depth,
    Label,
}

/// What one image shows.
pub(super) struct Scene<'a> {
    visuals: &'a Visuals,
    pub(super) plan: &'a Plan,
    view: &'a RenderView<'a>,
    x_cw: Isometry3<f64>,
    frustum: Frustum,
    kind: Kind,
    columns: usize,
    rows: usize,
    /// One for each chunk of the visuals.
    parts: Vec<OnceLock<Part>>,
    /// Storage of parts.
    spare: Mutex<Vec<Part>>,
    /// Chunks that somebody has taken, and how many are not done.
    taken: AtomicUsize,
    left: AtomicUsize,
    /// A thread has panicked.
    failed: AtomicBool,
    layout: OnceLock<Layout>,
    /// Storage of the layout.
    empty: Mutex<Layout>,
    pub(super) workers: Workers,
}

thread_local! {
    /// This thread prepares an image.
    static PREPARING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as preparing; if it panics, nobody waits for it.
struct Preparing<'a> {
    failed: &'a AtomicBool,
    /// What the mark was before.
    outer: bool,
}

impl<'a> Preparing<'a> {
    fn new(failed: &'a AtomicBool) -> Self {
        let outer = PREPARING.replace(true);
        Self { failed, outer }
    }
}

impl Drop for Preparing<'_> {
    fn drop(&mut self) {
        PREPARING.set(self.outer);
        if std::thread::panicking() {
            self.failed.store(true, Ordering::Release);
        }
    }
}

impl<'a> Scene<'a> {
    /// A scene that [`Scene::prepare`] prepares. The storage is given back by [`Scene::store`].
    pub(super) fn new(
        storage: &mut SceneStorage,
        pixels: Pixels,
        clipping: &ClippingRange,
        view: &'a RenderView<'a>,
        visuals: &'a Visuals,
        kind: Kind,
    ) -> Self {
        let plan = visuals.plan();
        // At least one, so that there is a last one.
        let chunks = plan.chunks().max(1);
        let mut parts = std::mem::take(&mut storage.parts);
        parts.resize_with(chunks, OnceLock::new);
        Self {
            visuals,
            plan,
            view,
            x_cw: view.x_wc.inverse(),
            frustum: Frustum {
                pixels,
                near: clipping.near(),
                far: clipping.far(),
                by_triangle: matches!(kind, Kind::Color { .. }),
            },
            kind,
            columns: pixels.width.div_ceil(TILE_WIDTH),
            rows: pixels.height.div_ceil(TILE_HEIGHT),
            parts,
            spare: Mutex::new(std::mem::take(&mut storage.spare)),
            taken: AtomicUsize::new(0),
            left: AtomicUsize::new(chunks),
            failed: AtomicBool::new(false),
            layout: OnceLock::new(),
            empty: Mutex::new(std::mem::take(&mut storage.layout)),
            workers: std::mem::take(&mut storage.workers),
        }
    }

    /// Gives the storage back.
    pub(super) fn store(mut self, storage: &mut SceneStorage) {
        let spare = self.spare.into_inner();
        storage.spare = spare.unwrap_or_else(PoisonError::into_inner);
        // The last one first, so that who takes them from the end gets the same ones again.
        let used = self.parts.drain(..).rev().filter_map(OnceLock::into_inner);
        storage.spare.extend(used);
        storage.parts = self.parts;
        storage.layout = self.layout.into_inner().unwrap_or_default();
        storage.workers = self.workers;
    }

    /// Takes part in the preparation until it is done. False if this thread can not wait for that;
    /// then who does the last of it draws alone.
    pub(super) fn prepare(&self) -> bool {
        let preparing = Preparing::new(&self.failed);
        // Poses come from the user. Where asking for them runs something in parallel, this thread
        // can get here while it is needed by another preparation or by this one: it must not wait
        // then.
        let may_wait = !preparing.outer;
        loop {
            let k = self.taken.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.parts.get(k) else { break };
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

    fn prepare_chunk(&self, k: usize) -> Part {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let part = spare().pop();
        let mut part = part.unwrap_or_default();
        if k >= self.plan.chunks() {
            part.start(0);
            return part;
        }
        match self.plan.chunk(k, self.visuals) {
            Chunk::Visuals(numbers) => {
                part.start(numbers.len());
                for number in numbers {
                    let object = self.place(number);
                    if let (Some(o), Form::Shape { shape, alpha, .. }) =
                        (&object, &self.visual(number).form)
                    {
                        let ids = (number, self.first_id(number));
                        part.push_shape(&self.frustum, o, (shape, *alpha), ids);
                    }
                    part.objects.push(object);
                }
            }
            Chunk::Clusters(number, clusters) => {
                part.start(0);
                if let (Some(o), Form::Mesh(mesh)) = (self.place(number), &self.visual(number).form)
                {
                    let ids = (number, self.first_id(number));
                    part.push_clusters(&self.frustum, &o, (mesh, clusters), ids);
                }
            }
        }
        part
    }

    /// Where a visual is, if the image shows it.
    fn place(&self, number: usize) -> Option<Object> {
        let (id, visual) = self.visuals.at(number);
        if self.kind == Kind::Label && visual.label == RenderLabel::DO_NOT_RENDER {
            return None;
        }
        Some(Object::new(&(self.x_cw * self.view.x_wg(id)?)))
    }

    fn first_id(&self, number: usize) -> i32 {
        if self.frustum.by_triangle {
            self.plan.parts(number).start
        } else {
            number as i32
        }
    }

    fn lay_out(&self) -> Layout {
        let empty = || self.empty.lock().unwrap_or_else(PoisonError::into_inner);
        let mut layout = std::mem::take(&mut *empty());
        layout.start(self.columns, self.rows);
        for (k, part) in self.parts.iter().filter_map(OnceLock::get).enumerate() {
            for (number, item) in (k * MOST_ITEMS..).zip(&part.items) {
                layout.add(number as u32, item, self.columns);
            }
            layout.veils.extend(&part.veils);
        }
        layout.sort(self.columns, self.rows, |number| self.item(number));
        if self.kind == (Kind::Color { shadows: true }) {
            layout.shadows = Some(Shadows::new(self));
        }
        layout
    }

    fn part(&self, k: usize) -> &Part {
        let part = self.parts[k].get();
        part.expect("what is asked for is prepared")
    }
    fn item(&self, number: u32) -> &Item {
        let number = number as usize;
        &self.part(number / MOST_ITEMS).items[number % MOST_ITEMS]
    }
    /// How the scene is drawn, once it is prepared.
    fn layout(&self) -> &Layout {
        let layout = self.layout.get();
        layout.expect("a scene is prepared before it is drawn")
    }
    pub(super) fn visual(&self, number: usize) -> &'a Visual {
        self.visuals.at(number).1
    }
    /// Number of visuals, seen or not.
    pub(super) fn len(&self) -> usize {
        self.visuals.len()
    }
    /// The visual of a number in the camera frame; `None` if the image does not show it.
    pub(super) fn object(&self, number: usize) -> Option<&Object> {
        let (k, place) = Plan::place(number);
        self.part(k).objects[place].as_ref()
    }
    fn surface(&self, item: &Item) -> Option<&Surface> {
        let number = item.visual as usize;
        let (k, place) = Plan::place(number);
        let part = self.part(k);
        let surface = part.surfaces[place].get_or_init(|| {
            let object = part.objects[place].as_ref()?;
            Surface::new(&self.frustum, object, &self.visual(number).form, item.clip)
        });
        surface.as_ref()
    }
    pub(super) fn pixels(&self) -> &Pixels {
        &self.frustum.pixels
    }
    /// Nothing beyond is seen (m).
    pub(super) fn far(&self) -> f64 {
        self.frustum.far
    }
    /// True if something is seen through.
    pub(super) fn has_veils(&self) -> bool {
        !self.layout().veils.is_empty()
    }
    /// What casts shadows, if anything does.
    pub(super) fn shadows(&self) -> Option<&Shadows> {
        self.layout().shadows.as_ref()
    }

    /// Collects what is seen through in a tile whose opaque things are drawn.
    pub(super) fn collect(&self, tile: &Tile, vertices: &mut Vertices, layers: &mut Layers) {
        let mut collector = layers.start(tile);
        for veil in &self.layout().veils {
            if veil.rect.intersection(&tile.rect()).is_empty() {
                continue;
            }
            match self.surface(veil) {
                Some(Surface::Exact(exact)) => collector.body(exact, &veil.rect, veil.id),
                Some(Surface::Mesh(view)) => {
                    if let Form::Mesh(mesh) = &self.visual(veil.visual as usize).form {
                        let cluster = &mesh.clusters[veil.cluster as usize];
                        let ids = (veil.id, 1);
                        view.draw(&mut collector, vertices, mesh, cluster, veil.clip, ids);
                    }
                }
                _ => {}
            }
        }
        layers.sort();
    }

    /// Draws everything in the tile of a column and a row.
    pub(super) fn draw<const IDS: bool>(
        &self,
        tile: &mut Tile,
        vertices: &mut Vertices,
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
            match self.surface(item) {
                Some(Surface::Plane(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Surface::Cuboid(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Surface::Ellipsoid(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Surface::Cylinder(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Surface::Capsule(k)) => tile.draw::<_, IDS>(k, rect, id),
                Some(Surface::Exact(k)) => tile.draw_exact(k, rect, id),
                Some(Surface::Mesh(view)) => {
                    if let Form::Mesh(mesh) = &self.visual(item.visual as usize).form {
                        let cluster = &mesh.clusters[item.cluster as usize];
                        let ids = (id, i32::from(self.frustum.by_triangle));
                        view.draw(tile, vertices, mesh, cluster, item.clip, ids);
                    }
                }
                None => {}
            }
        }
    }
    /// Pieces of the image, in the order in which they are best drawn.
    pub(super) fn pieces(&self) -> &[u32] {
        &self.layout().pieces
    }
    /// Number of columns of tiles.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }
}
