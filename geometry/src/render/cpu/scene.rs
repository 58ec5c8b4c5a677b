//! Everything visible in one image, culled, bounded and sorted.

use super::exact::Exact;
use super::kernels::{CapsuleKernel, Cuboid, CylinderKernel, Plane, Roots};
use super::layers::Layers;
use super::pixels::{Bounds, Pixels, Rect};
use super::raster::{GUARD, MeshView, Vertices};
use super::storage::{Storage, Workers, recycled};
use super::tile::{TILE_HEIGHT, TILE_WIDTH, Tile};
use super::visual::{Form, Visual};
use crate::ids::GeometryId;
use crate::render::{ClippingRange, RenderView};
use crate::shapes::Shape;
use nalgebra::{Matrix3, Vector3};

/// A visual with its pose in the camera frame.
pub(super) struct Object<'a> {
    pub(super) visual: &'a Visual,
    /// `R_CG` and the position of G in C (m).
    pub(super) r: Matrix3<f64>,
    pub(super) p: Vector3<f64>,
    /// Its ids are from here up to the next object's.
    pub(super) first_id: i32,
}

pub(super) enum Surface {
    Plane(Plane),
    Cuboid(Cuboid),
    Ellipsoid(Roots),
    Cylinder(CylinderKernel),
    Capsule(CapsuleKernel),
    Exact(Exact),
    Mesh(MeshView),
}

/// Something that is drawn as a whole.
pub(super) struct Item {
    rect: Rect,
    w_max: f32,
    id: i32,
    object: u32,
    surface: u32,
    /// The cluster of a mesh, and whether it needs clipping.
    cluster: u32,
    clip: bool,
}

impl Item {
    /// Tells all items of an image apart.
    fn key(&self) -> (i32, u32, u32) {
        (self.id, self.object, self.cluster)
    }
}

/// What one image shows.
pub(super) struct Scene<'a> {
    pub(super) pixels: Pixels,
    pub(super) objects: Vec<Object<'a>>,
    surfaces: Vec<Surface>,
    items: Vec<Item>,
    /// What colour images show with everything behind it.
    veils: Vec<Item>,
    near: f64,
    pub(super) far: f64,
    /// True if every triangle has its own id.
    by_triangle: bool,
    /// For tile t, `order[start[t]..start[t + 1]]` are its items from front to back.
    start: Vec<u32>,
    order: Vec<u32>,
    /// While sorting: where the next item of a tile goes.
    next: Vec<u32>,
    /// Rows of tiles, those with most to draw first.
    bands: Vec<u32>,
    pub(super) workers: Workers,
    columns: usize,
}

impl<'a> Scene<'a> {
    /// Prepares the visuals of an image; `by_triangle` if shading needs to know triangles. The storage
    /// is given back by [`Scene::store`].
    pub(super) fn new(
        storage: &mut Storage,
        pixels: Pixels,
        clipping: &ClippingRange,
        view: &RenderView<'_>,
        visuals: impl Iterator<Item = (GeometryId, &'a Visual)>,
        by_triangle: bool,
    ) -> Self {
        let columns = pixels.width.div_ceil(TILE_WIDTH);
        let mut scene = Self {
            pixels,
            objects: recycled(std::mem::take(&mut storage.objects)),
            surfaces: std::mem::take(&mut storage.surfaces),
            items: std::mem::take(&mut storage.items),
            veils: std::mem::take(&mut storage.veils),
            near: clipping.near(),
            far: clipping.far(),
            by_triangle,
            start: std::mem::take(&mut storage.start),
            order: std::mem::take(&mut storage.order),
            next: std::mem::take(&mut storage.next),
            bands: std::mem::take(&mut storage.bands),
            workers: std::mem::take(&mut storage.workers),
            columns,
        };
        scene.surfaces.clear();
        scene.items.clear();
        scene.veils.clear();
        let x_cw = view.x_wc.inverse();
        let mut next_id: i32 = 0;
        for (id, visual) in visuals {
            let Some(x_wg) = view.x_wg(id) else {
                continue;
            };
            let x_cg = x_cw * x_wg;
            scene.objects.push(Object {
                visual,
                r: x_cg.rotation.to_rotation_matrix().into_inner(),
                p: x_cg.translation.vector,
                first_id: next_id,
            });
            scene.push_items(next_id);
            let parts = if by_triangle { visual.parts() } else { 1 };
            next_id = next_id.saturating_add(i32::try_from(parts).unwrap_or(i32::MAX));
        }
        scene.sort_into_tiles();
        scene
    }

    /// Gives the storage back.
    pub(super) fn store(self, storage: &mut Storage) {
        storage.objects = recycled(self.objects);
        storage.surfaces = self.surfaces;
        storage.items = self.items;
        storage.veils = self.veils;
        storage.start = self.start;
        storage.order = self.order;
        storage.next = self.next;
        storage.bands = self.bands;
        storage.workers = self.workers;
    }

    fn push_items(&mut self, id: i32) {
        let object = self.objects.len() - 1;
        let o = &self.objects[object];
        let (pixels, near, far) = (&self.pixels, self.near, self.far);
        let (surface, bounds) = match &o.visual.form {
            Form::Shape { shape, alpha, .. } => {
                let bounds = bounds(pixels, o, shape);
                if let Some(b) = &bounds
                    && b.rect(pixels, near, far).is_none()
                {
                    return;
                }
                if self.by_triangle && *alpha < 1.0 {
                    let exact = Exact::new(pixels, &o.r, &o.p, shape, near);
                    self.push_veil(exact, bounds, id);
                    return;
                }
                let in_front = bounds.is_some_and(|b| b.z_min() > near * (1.0 + 1e-6));
                let Some(surface) = surface(pixels, o, shape, near, in_front) else {
                    return;
                };
                (surface, bounds)
            }
            Form::Mesh(mesh) => {
                let [low, high] = mesh.bounds;
                let bounds = Bounds::of_points(pixels, corners(o, &low.coords, &high.coords));
                if bounds.rect(pixels, near, far).is_none() {
                    return;
                }
                let view = MeshView::new(pixels, &o.r, &o.p, near);
                let surface = self.surfaces.len() as u32;
                for (k, cluster) in mesh.clusters.iter().enumerate() {
                    let center = o.r * cluster.center + o.p;
                    // Single precision moves vertices by a few units in their last place.
                    let radius = cluster.radius + 1e-6 * (center.amax() + cluster.radius);
                    let sigma = Matrix3::from_diagonal_element(radius * radius);
                    let bounds = Bounds::of_quadric(pixels, &center, &sigma);
                    if let Some(rect) = bounds.rect(pixels, near, far) {
                        let first = if self.by_triangle { cluster.first } else { 0 };
                        let items = if self.by_triangle && cluster.translucent {
                            &mut self.veils
                        } else {
                            &mut self.items
                        };
                        items.push(Item {
                            rect,
                            w_max: bounds.w_max(near),
                            id: id.saturating_add(first as i32),
                            object: object as u32,
                            surface,
                            cluster: k as u32,
                            clip: bounds.z_min() < near || bounds.reach() > GUARD - 1.0,
                        });
                    }
                }
                self.surfaces.push(Surface::Mesh(view));
                return;
            }
        };
        let rect = bounds.and_then(|b| b.rect(pixels, near, far));
        self.items.push(Item {
            rect: rect.unwrap_or(pixels.all()),
            w_max: bounds.map_or(f32::INFINITY, |b| b.w_max(near)),
            id,
            object: object as u32,
            surface: self.surfaces.len() as u32,
            cluster: 0,
            clip: false,
        });
        self.surfaces.push(surface);
    }

    /// A body with all its surface.
    fn push_veil(&mut self, exact: Option<Exact>, bounds: Option<Bounds>, id: i32) {
        let Some(exact) = exact else { return };
        let rect = bounds.and_then(|b| b.rect(&self.pixels, self.near, self.far));
        self.veils.push(Item {
            rect: rect.unwrap_or(self.pixels.all()),
            w_max: f32::INFINITY,
            id,
            object: self.objects.len() as u32 - 1,
            surface: self.surfaces.len() as u32,
            cluster: 0,
            clip: false,
        });
        self.surfaces.push(Surface::Exact(exact));
    }

    /// True if something is seen through.
    pub(super) fn has_veils(&self) -> bool {
        !self.veils.is_empty()
    }

    /// Collects what is seen through in a tile whose opaque things are drawn.
    pub(super) fn collect(&self, tile: &Tile, vertices: &mut Vertices, layers: &mut Layers) {
        let mut collector = layers.start(tile);
        for veil in &self.veils {
            if veil.rect.intersection(&tile.rect()).is_empty() {
                continue;
            }
            match &self.surfaces[veil.surface as usize] {
                Surface::Exact(exact) => collector.body(exact, &veil.rect, veil.id),
                Surface::Mesh(view) => {
                    if let Form::Mesh(mesh) = &self.objects[veil.object as usize].visual.form {
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

    /// Tiles of a rectangle: columns and rows.
    fn tiles(rect: &Rect) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let range =
            |low: i32, high: i32, size: usize| low as usize / size..(high as usize).div_ceil(size);
        (
            range(rect.x0, rect.x1, TILE_WIDTH),
            range(rect.y0, rect.y1, TILE_HEIGHT),
        )
    }

    /// A counting sort by tile of the items sorted from front to back.
    fn sort_into_tiles(&mut self) {
        self.items
            .sort_unstable_by(|a, b| b.w_max.total_cmp(&a.w_max).then(a.key().cmp(&b.key())));
        let rows = self.pixels.height.div_ceil(TILE_HEIGHT);
        let Self {
            start,
            order,
            next,
            bands,
            ..
        } = self;
        start.clear();
        start.resize(self.columns * rows + 1, 0);
        for item in &self.items {
            let (x, y) = Self::tiles(&item.rect);
            for row in y {
                for column in x.clone() {
                    start[row * self.columns + column + 1] += 1;
                }
            }
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let end = |row: &u32| *row as usize * self.columns;
        bands.clear();
        bands.extend(0..rows as u32);
        bands.sort_unstable_by_key(|row| {
            let count = start[end(&(row + 1))] - start[end(row)];
            (std::cmp::Reverse(count), *row)
        });
        next.clone_from(start);
        order.clear();
        order.resize(start[start.len() - 1] as usize, 0);
        for (i, item) in self.items.iter().enumerate() {
            let (x, y) = Self::tiles(&item.rect);
            for row in y {
                for column in x.clone() {
                    let at = &mut next[row * self.columns + column];
                    order[*at as usize] = i as u32;
                    *at += 1;
                }
            }
        }
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
        tile.start(Rect {
            x0: x0 as i32,
            y0: y0 as i32,
            x1: (x0 + TILE_WIDTH).min(self.pixels.width) as i32,
            y1: (y0 + TILE_HEIGHT).min(self.pixels.height) as i32,
        });
        let t = row * self.columns + column;
        for &i in &self.order[self.start[t] as usize..self.start[t + 1] as usize] {
            let item = &self.items[i as usize];
            if tile.hides(item.w_max) {
                break; // and all others are farther
            }
            let (rect, id) = (&item.rect, item.id);
            if tile.hides_within(rect, item.w_max) {
                continue;
            }
            match &self.surfaces[item.surface as usize] {
                Surface::Plane(k) => tile.draw::<_, IDS>(k, rect, id),
                Surface::Cuboid(k) => tile.draw::<_, IDS>(k, rect, id),
                Surface::Ellipsoid(k) => tile.draw::<_, IDS>(k, rect, id),
                Surface::Cylinder(k) => tile.draw::<_, IDS>(k, rect, id),
                Surface::Capsule(k) => tile.draw::<_, IDS>(k, rect, id),
                Surface::Exact(k) => tile.draw_exact(k, rect, id),
                Surface::Mesh(view) => {
                    if let Form::Mesh(mesh) = &self.objects[item.object as usize].visual.form {
                        let cluster = &mesh.clusters[item.cluster as usize];
                        let ids = (id, i32::from(self.by_triangle));
                        view.draw(tile, vertices, mesh, cluster, item.clip, ids);
                    }
                }
            }
        }
    }
    /// Rows of tiles, in the order in which they are best drawn.
    pub(super) fn bands(&self) -> &[u32] {
        &self.bands
    }
    /// Number of columns of tiles.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }
}

/// Corners of a box given in G, in the camera frame.
fn corners(
    o: &Object<'_>,
    low: &Vector3<f64>,
    high: &Vector3<f64>,
) -> impl Iterator<Item = Vector3<f64>> {
    (0..8).map(move |k: usize| {
        let pick = |axis: usize| {
            if k >> axis & 1 == 0 {
                low[axis]
            } else {
                high[axis]
            }
        };
        o.r * Vector3::from_fn(|axis, _| pick(axis)) + o.p
    })
}

/// What a shape can cover; `None` for unbounded ones.
fn bounds(pixels: &Pixels, o: &Object<'_>, shape: &Shape) -> Option<Bounds> {
    let axis: Vector3<f64> = o.r.column(2).into();
    let sphere = |p: Vector3<f64>, radius: f64| {
        let sigma = Matrix3::from_diagonal_element(radius * radius);
        Bounds::of_quadric(pixels, &p, &sigma)
    };
    Some(match shape {
        Shape::Sphere(s) => sphere(o.p, s.radius()),
        Shape::Ellipsoid(s) => {
            let d = Matrix3::from_diagonal(&s.semi_axes().component_mul(&s.semi_axes()));
            Bounds::of_quadric(pixels, &o.p, &(o.r * d * o.r.transpose()))
        }
        Shape::Capsule(s) => {
            let z = axis * (0.5 * s.length());
            sphere(o.p + z, s.radius()).union(&sphere(o.p - z, s.radius()))
        }
        Shape::Cylinder(s) => {
            let z = axis * (0.5 * s.length());
            let disc = (Matrix3::identity() - axis * axis.transpose()) * s.radius().powi(2);
            let end = |p: Vector3<f64>| Bounds::of_quadric(pixels, &p, &disc);
            end(o.p + z).union(&end(o.p - z))
        }
        Shape::Box(s) => Bounds::of_points(pixels, corners(o, &-s.half_size(), &s.half_size())),
        _ => return None,
    })
}

/// The fast form of a shape, or the exact one where that does not hold.
fn surface(
    pixels: &Pixels,
    o: &Object<'_>,
    shape: &Shape,
    near: f64,
    in_front: bool,
) -> Option<Surface> {
    let ellipsoid = |axes: Vector3<f64>| {
        let b = Matrix3::from_diagonal(&axes.map(|a| 1.0 / a)) * o.r.transpose();
        let (roots, within) = Roots::new(pixels, &b, &-(b * o.p))?;
        (!within).then_some(Surface::Ellipsoid(roots))
    };
    let fast = match shape {
        Shape::HalfSpace(_) => {
            let n: Vector3<f64> = o.r.column(2).into();
            return Some(Surface::Plane(Plane::new(pixels, &n, n.dot(&o.p), near)));
        }
        Shape::Box(s) => {
            let half = s.half_size();
            return Some(Surface::Cuboid(Cuboid::new(
                pixels, &o.r, &o.p, &half, near,
            )));
        }
        _ if !in_front => None,
        Shape::Sphere(s) => ellipsoid(Vector3::repeat(s.radius())),
        Shape::Ellipsoid(s) => ellipsoid(s.semi_axes()),
        Shape::Cylinder(s) => {
            CylinderKernel::new(pixels, &o.r, &o.p, s.radius(), s.length()).map(Surface::Cylinder)
        }
        Shape::Capsule(s) => {
            CapsuleKernel::new(pixels, &o.r, &o.p, s.radius(), s.length()).map(Surface::Capsule)
        }
        _ => None,
    };
    fast.or_else(|| Exact::new(pixels, &o.r, &o.p, shape, near).map(Surface::Exact))
}
