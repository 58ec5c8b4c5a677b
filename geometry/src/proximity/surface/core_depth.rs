//! The deepest point of a convex body below the surface of a solid.
//!
//! Climbs find local maxima of the depth. If moving the whole body by the greatest depth found
//! takes it out of the solid, no point is deeper. Otherwise, branch and bound looks for a deeper
//! point. On a height field that search is short, because bounds from the columns below its cells
//! show where to climb.

use super::below_planes::{BelowPlanes, LimitingPlane};
use super::columns::column;
use super::depth::{MOST_CELLS, SMALLEST, TOLERANCE, enough, search};
use super::near_triangles::common_point;
use super::point::DepthProbe;
use super::solution::{DecidingFeature, SurfaceSolution};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::proximity::convex::{
    ActiveFeatures, ConvexCore, LocalFeature, NearPoint, RelativePose, middle_of_support,
    near_point,
};
use crate::proximity::rounding::NEGLIGIBLE;
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use smallvec::SmallVec;

/// Maximum number of cells that are examined for a body on a height field. Of 540 boxes, cylinders
/// and ellipsoids on random hills, 526 get a depth within 1 % of the result of [`MOST_CELLS`], in a
/// tenth of the time or less; more cells improve few of the others.
const MOST_CELLS_OF_FIELDS: usize = 16;
/// Maximum number of facets of a height field whose columns are examined one by one.
const MOST_COLUMNS: usize = 10_000;
/// Number of columns from which a climb starts, and how far it reaches, as a multiple of half of
/// the width of a column.
const CLIMBS: usize = 8;
const CLIMB_REACH: f64 = 4.0;
/// Maximum number of steps of a climb.
const STEPS: usize = 16;
/// Maximum number of directions along which a body is moved out of a solid as a whole.
const MOST_WAYS: usize = 8;

/// The deepest known point of a core.
pub(super) struct DeepestOfCore<'a> {
    mesh: &'a IndexedSurface,
    core: &'a ConvexCore<'a>,
    x_mb: Isometry3<f64>,
    p: Vector3<f64>,
    probe: DepthProbe,
    pub(super) depth: f64,
    /// Lower bound of the depth, known from elsewhere; shallower points are ignored.
    floor: f64,
    /// Directions along which the core may leave the solid soonest.
    ways: Vec<Vector3<f64>>,
    /// Planes below the core, which touch it at deep points.
    planes: Vec<LimitingPlane>,
}

impl<'a> DeepestOfCore<'a> {
    pub(super) fn new(
        mesh: &'a IndexedSurface,
        core: &'a ConvexCore<'a>,
        x_mb: &Isometry3<f64>,
        p: Vector3<f64>,
    ) -> Self {
        let probe = mesh.probe(&p);
        let mut this = Self {
            mesh,
            core,
            x_mb: *x_mb,
            p,
            probe,
            depth: probe.depth,
            floor: 0.0,
            ways: Vec::new(),
            planes: Vec::new(),
        };
        this.climb(p, probe, 1.0);
        this.ways.push(this.probe.n);
        this
    }

    /// Makes the search ignore points that are not deeper than `depth`. A motion of that length
    /// along `way` may take the core out of the solid.
    pub(super) fn raise(&mut self, depth: f64, way: Vector3<f64>) {
        self.floor = self.floor.max(depth);
        self.ways.insert(0, way);
    }

    /// Returns the point of the core that is lowest along `n`.
    fn lowest(&self, n: &Vector3<f64>) -> Vector3<f64> {
        let n_b = self.x_mb.rotation.inverse_transform_vector(&-n);
        (self.x_mb * Point3::from(self.core.support(&n_b))).coords
    }

    /// Returns the plane below the core, with a normal along `n`, that touches it.
    fn supporting(&self, n: &Vector3<f64>) -> Option<LimitingPlane> {
        let n = n.try_normalize(1e-6)?;
        let base = n.dot(&self.lowest(&n));
        Some(LimitingPlane { n, base })
    }

    fn take(&mut self, p: Vector3<f64>, probe: DepthProbe) -> bool {
        let deeper = probe.depth > self.depth;
        if deeper {
            (self.p, self.probe, self.depth) = (p, probe, probe.depth);
        }
        deeper
    }

    /// Climbs from a point of the core to a local maximum of the depth, below the planes that
    /// limited the depth on the way. The core is shrunk about the start by the factor `part`, which
    /// keeps the search near the start.
    fn climb(&mut self, start: Vector3<f64>, mut probe: DepthProbe, part: f64) {
        let mut below = BelowPlanes::new(start);
        for _ in 0..STEPS {
            let plane = LimitingPlane {
                n: probe.n,
                base: probe.n.dot(&below.p) + probe.depth,
            };
            let tolerance = 0.1 * TOLERANCE * self.depth.max(0.0);
            let lowest = |n: &Vector3<f64>| start + (self.lowest(n) - start) * part;
            below.add(plane, tolerance.max(1e-12 * self.core.extent()), lowest);
            probe = self.mesh.probe(&below.p);
            self.take(below.p, probe);
            let limit =
                below.depth - (0.1 * TOLERANCE * self.depth).max(1e-12 * self.core.extent());
            if probe.depth >= limit || below.depth <= self.depth {
                if self.planes.len() < MOST_WAYS {
                    self.planes.extend(self.supporting(&below.mean));
                }
                return;
            }
        }
    }

    /// Returns true if a motion hardly longer than the greatest known depth takes the whole core
    /// out of the solid. That depth is then right, because every point of the core in the solid
    /// crosses the surface on the way. Otherwise, a point that remains in the solid becomes the
    /// start of a climb.
    fn can_leave(&mut self, bounds: &Box3, smallest: f64) -> bool {
        let mut tried = 0;
        while tried < self.ways.len() {
            let deepest = self.depth.max(self.floor);
            let motion = self.ways[tried] * enough(deepest, smallest);
            let moved = Box3 {
                lower: bounds.lower + motion,
                upper: bounds.upper + motion,
            };
            let x = Translation3::from(motion) * self.x_mb;
            let Some(stays) = common_point(self.mesh, self.core, &x, &moved) else {
                return true;
            };
            tried += 1;
            let p = stays - motion;
            let probe = self.mesh.probe(&p);
            self.take(p, probe);
            self.climb(p, probe, 1.0);
            if self.depth > deepest && self.ways.len() < MOST_WAYS {
                self.ways.push(self.probe.n);
            }
        }
        false
    }

    pub(super) fn search(mut self, bounds: &Box3) -> Self {
        let root = bounds.intersection(self.mesh.tree.bounds());
        let smallest = NEGLIGIBLE * (self.core.extent() + self.mesh.extent());
        let smallest = smallest.max(SMALLEST * self.core.extent());
        if self.can_leave(bounds, smallest) {
            return self;
        }
        let (roots, most_cells) = match self.columns(&root, smallest) {
            // Bounds from columns are good only if the columns are wide compared to the depth.
            Some(columns) => {
                let width = columns.iter().map(|(_, cell)| cell.half().xy().max());
                let width = width.fold(0.0, f64::max);
                let is_shallow = self.depth.max(self.floor) < width;
                (
                    columns,
                    if is_shallow {
                        MOST_CELLS_OF_FIELDS
                    } else {
                        MOST_CELLS
                    },
                )
            }
            None => (vec![(f64::INFINITY, root)], MOST_CELLS),
        };
        search(roots, smallest, most_cells, |cell, enough, hand_on| {
            // The cell is halved across its longest edge.
            let axis = cell.half().imax();
            let middle = cell.center()[axis];
            let (mut left, mut right) = (cell, cell);
            left.upper[axis] = middle;
            right.lower[axis] = middle;
            for half in [left, right] {
                if let Some(bound) = self.look(&half, enough) {
                    hand_on(bound, half);
                }
            }
            self.depth.max(self.floor)
        });
        self
    }

    /// Returns the columns below the cells of a height field in which the core may be deeper than
    /// the known depth, each with a bound of the depth, after climbs in the most promising ones.
    /// Returns `None` for other solids.
    fn columns(&mut self, root: &Box3, smallest: f64) -> Option<Vec<(f64, Box3)>> {
        let cells = self.mesh.facets_within(root, MOST_COLUMNS)?;
        let known = enough(self.depth.max(self.floor), smallest);
        let columns = cells.filter_map(|[first, second]| {
            let [a, b, d] = first.corners;
            let corners = [a, b, d, second.corners[2]];
            let mut cell = column(&corners, root);
            let top = corners.map(|v| v.z).into_iter().fold(f64::MIN, f64::max);
            cell.upper.z = top.min(cell.upper.z);
            if cell.half().min() < 0.0 {
                return None;
            }
            let bound = |cell: &Box3| {
                let lowest = |n: &Vector3<f64>| -cell.support(&-n);
                self.mesh.column_bound(cell, &self.planes, lowest)
            };
            if bound(&cell) <= known {
                return None;
            }
            // The core may be in a part of the column only.
            let (p, radius) = self.nearest_in(&cell)?;
            cell = cell.intersection(&Box3::around(&[p]).grown(radius));
            let bound = bound(&cell);
            (bound > known).then_some((bound, cell, p))
        });
        let mut columns: Vec<_> = columns.collect();
        columns.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (bound, cell, p) in columns.iter().take(CLIMBS) {
            if *bound <= enough(self.depth.max(self.floor), smallest) {
                break;
            }
            // The start is on the lower side of the core.
            let below = p - Vector3::z() * (p.z - cell.lower.z + cell.half().norm());
            let below_b = self.x_mb.inverse_transform_point(&below.into()).coords;
            if let NearPoint::Near { p, .. } = near_point(self.core, &below_b, f64::MAX) {
                let p = (self.x_mb * Point3::from(p)).coords;
                let probe = self.mesh.probe(&p);
                self.take(p, probe);
                let reach = CLIMB_REACH * (cell.half().x.max(cell.half().y));
                self.climb(p, probe, (reach / self.core.extent()).min(1.0));
            }
        }
        Some(
            columns
                .into_iter()
                .map(|(bound, cell, _)| (bound, cell))
                .collect(),
        )
    }

    /// Returns a point of the core and the radius of a ball around it that contains the part of the
    /// core in a cell; `None` if there is no such part.
    fn nearest_in(&self, cell: &Box3) -> Option<(Vector3<f64>, f64)> {
        let (center, radius) = (cell.center(), cell.half().norm() * (1.0 + 1e-12));
        let center_b = self.x_mb.inverse_transform_point(&center.into()).coords;
        match near_point(self.core, &center_b, radius) {
            NearPoint::Beyond => None,
            NearPoint::Inside => Some((center, radius)),
            NearPoint::Near { p, radius } => Some(((self.x_mb * Point3::from(p)).coords, radius)),
        }
    }

    /// Returns a bound of the depth of the points of the core in a cell; `None` if there are none.
    fn look(&mut self, cell: &Box3, enough: f64) -> Option<f64> {
        let (p, radius) = self.nearest_in(cell)?;
        let probe = self.mesh.probe(&p);
        if self.take(p, probe) {
            self.climb(p, probe, 1.0);
        }
        let mut deeper = None;
        let lowest = |n: &Vector3<f64>| {
            let of_cell = -cell.support(&-n);
            of_cell.max(n.dot(&self.lowest(n)))
        };
        if probe.depth + radius > enough {
            let mut planes: SmallVec<[LimitingPlane; MOST_WAYS + 1]> =
                SmallVec::from_slice(&self.planes);
            planes.extend(self.supporting(&(p - cell.center())));
            let bound = self.mesh.column_bound(cell, &planes, lowest);
            if bound <= enough {
                return Some(bound);
            }
        }
        let try_point = |q| deeper = Some(q);
        let bound = self
            .mesh
            .depth_bound(&probe, &p, radius, enough, lowest, try_point);
        if let Some(q) = deeper {
            let q_b = self.x_mb.inverse_transform_point(&Point3::from(q)).coords;
            let q = match near_point(self.core, &q_b, radius) {
                NearPoint::Beyond => return Some(bound),
                NearPoint::Inside => q,
                NearPoint::Near { p, .. } => (self.x_mb * Point3::from(p)).coords,
            };
            self.take(q, self.mesh.probe(&q));
        }
        Some(bound)
    }

    /// Returns the solution: features of the core and of the surface if the deepest point supports
    /// the core along the normal of a face; otherwise the point, fixed in the core.
    pub(super) fn solution(self) -> SurfaceSolution {
        let p_b = self
            .x_mb
            .inverse_transform_point(&Point3::from(self.p))
            .coords;
        if self.probe.on_face {
            let placed = RelativePose::new(&self.x_mb);
            let t = &self.mesh.triangle(self.probe.triangle);
            let n_b = self.x_mb.rotation.inverse_transform_vector(&-t.normal);
            let same = NEGLIGIBLE * 10.0 * (self.core.extent() + self.mesh.extent());
            let supported = t.height(&self.lowest(&t.normal)) + self.depth;
            if supported.abs() <= same {
                let active = ActiveFeatures::on_plane(
                    t.normal,
                    LocalFeature::face(t.corners[0], t.normal),
                    self.core.local(&n_b, 1e-15),
                );
                // The middle of the lowest points, if it is below this face as well.
                let middle = middle_of_support(self.core, &n_b);
                let middle = active.settled(&placed, &t.corners[0], &middle);
                let p = middle.evaluate(&placed).p_b;
                if (self.mesh.depth(&p) - self.depth).abs() <= same {
                    return SurfaceSolution::new(DecidingFeature::Features(middle));
                }
                let here = active.settled(&placed, &t.corners[0], &p_b);
                return SurfaceSolution::new(DecidingFeature::Features(here));
            }
        }
        match self.mesh.between(&self.p, &self.probe, |n| self.lowest(n)) {
            Some(between) => between.solution(&self.x_mb),
            None => SurfaceSolution::new(DecidingFeature::Point(self.probe.feature, p_b)),
        }
    }
}
