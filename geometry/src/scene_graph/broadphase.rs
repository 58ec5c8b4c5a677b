//! Pairs that may be near each other, from bounding boxes.
//!
//! Anchored geometry is in one static tree per scene, moving geometry in a tree per snapshot that is
//! refitted when the snapshot's storage is reused. Trees are `parry3d`'s BVH. Half spaces have no
//! box; they are paired with everything.

use super::state::{Geometry, GeometryState};
use crate::error::Result;
use crate::mesh::PolygonSurfaceMesh;
use crate::shapes::Shape;
use nalgebra::{Isometry3, Vector3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace};
use tarragon_framework::Scalar;

/// Extent of a shape in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LocalBound {
    Unbounded,
    /// All points within `radius` of the segment of `half_length` along z.
    Round {
        radius: f64,
        half_length: f64,
    },
    Box {
        center: Vector3<f64>,
        half: Vector3<f64>,
    },
}

impl LocalBound {
    /// Reads the file of a mesh.
    pub(crate) fn of(shape: &Shape) -> Result<Self> {
        let centered = |half| Self::Box {
            center: Vector3::zeros(),
            half,
        };
        Ok(match shape {
            Shape::HalfSpace(_) => Self::Unbounded,
            Shape::Sphere(s) => Self::Round {
                radius: s.radius(),
                half_length: 0.0,
            },
            Shape::Capsule(c) => Self::Round {
                radius: c.radius(),
                half_length: c.length() / 2.0,
            },
            Shape::Box(b) => centered(b.half_size()),
            Shape::Cylinder(c) => centered(Vector3::new(c.radius(), c.radius(), c.length() / 2.0)),
            Shape::Ellipsoid(e) => centered(e.semi_axes()),
            Shape::MeshcatCone(c) => Self::Box {
                center: Vector3::new(0.0, 0.0, c.height() / 2.0),
                half: Vector3::new(c.a(), c.b(), c.height() / 2.0),
            },
            Shape::Mesh(m) => Self::of_hull(&*m.convex_hull()?),
            Shape::Convex(c) => Self::of_hull(&*c.convex_hull()?),
        })
    }

    /// Around a mesh: its hull has the same box, and queries need the hull anyway.
    fn of_hull(hull: &PolygonSurfaceMesh) -> Self {
        let (center, size) = hull.calc_bounding_box();
        Self::Box {
            center,
            half: size / 2.0,
        }
    }

    /// World box of a shape at `X_WG`, or `None` if it has none.
    pub(crate) fn aabb<T: Scalar>(&self, x_wg: &Isometry3<T>) -> Option<Aabb> {
        let p = x_wg.translation.vector.map(|x| x.re());
        let (center, half) = match self {
            Self::Unbounded => return None,
            Self::Round {
                radius,
                half_length,
            } => {
                let mut half = Vector3::repeat(*radius);
                if *half_length > 0.0 {
                    half += rotation(x_wg).column(2).abs() * *half_length;
                }
                (p, half)
            }
            Self::Box { center, half } => {
                let r = rotation(x_wg);
                (p + r * center, r.abs() * half)
            }
        };
        let corner = |c: Vector3<f64>| Vector::new(c.x, c.y, c.z);
        Some(Aabb {
            mins: corner(center - half),
            maxs: corner(center + half),
        })
    }
}

fn rotation<T: Scalar>(x: &Isometry3<T>) -> nalgebra::Matrix3<f64> {
    x.rotation.to_rotation_matrix().into_inner().map(|x| x.re())
}

/// Boxes of some geometries in a tree whose leaves are numbered densely, as the tree wants it.
#[derive(Default)]
struct Tree {
    bvh: Bvh,
    /// Leaf to geometry number; increasing.
    geometries: Vec<u32>,
    /// Geometries without a box.
    unbounded: Vec<u32>,
    /// Boxes by leaf.
    boxes: Vec<Aabb>,
}

impl Tree {
    fn new(members: impl Iterator<Item = (u32, Option<Aabb>)>) -> Self {
        let mut tree = Self::default();
        for (geometry, aabb) in members {
            match aabb {
                Some(aabb) => {
                    tree.geometries.push(geometry);
                    tree.boxes.push(aabb);
                }
                None => tree.unbounded.push(geometry),
            }
        }
        tree.bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &tree.boxes);
        tree
    }
}

/// The anchored geometries with the proximity role.
#[derive(Default)]
pub(crate) struct StaticTree(Tree);

impl StaticTree {
    pub(crate) fn new(geometries: &[Geometry]) -> Self {
        let members = geometries
            .iter()
            .enumerate()
            .filter(|(_, g)| g.is_anchored());
        Self(Tree::new(members.filter_map(|(i, g)| {
            Some((i as u32, g.bound?.aabb(&g.x_fg)))
        })))
    }
}

/// The moving geometries with the proximity role.
#[derive(Default)]
pub(crate) struct DynamicTree {
    tree: Tree,
    /// Updates since the tree was built.
    updates: u32,
}

/// A refitted tree gets worse as geometries move away from their neighbours; building anew costs as
/// much as ten updates, so that this adds a few percent.
const UPDATES_PER_BUILD: u32 = 256;

impl DynamicTree {
    /// The tree at new poses, in the storage of an `old` tree of the same geometries.
    pub(crate) fn update<T: Scalar>(
        old: Option<Self>,
        state: &GeometryState,
        x_wg: &[Isometry3<T>],
    ) -> Self {
        let moving = state.geometries.iter().zip(x_wg).enumerate();
        let moving = moving.filter(|(_, (g, _))| !g.is_anchored());
        let members = moving.filter_map(|(i, (g, x))| Some((i as u32, g.bound?.aabb(x))));
        let reusable = old.filter(|tree| tree.updates < UPDATES_PER_BUILD);
        let Some(mut this) = reusable else {
            return Self {
                tree: Tree::new(members),
                updates: 0,
            };
        };
        let Tree { bvh, boxes, .. } = &mut this.tree;
        boxes.clear();
        boxes.extend(members.filter_map(|(_, aabb)| aabb));
        for (leaf, aabb) in boxes.iter().enumerate() {
            bvh.insert_or_update_partially(*aabb, leaf as u32, 0.0);
        }
        bvh.refit_without_opt();
        this.updates += 1;
        this
    }

    /// Calls `f` with every pair `(a, b)`, a < b, of geometries whose boxes are within `margin` of
    /// each other (per axis), one of them moving. Each pair comes once, in no particular order.
    pub(crate) fn for_each_pair(
        &self,
        statics: &StaticTree,
        margin: f64,
        mut f: impl FnMut(usize, usize),
    ) {
        let (moving, fixed) = (&self.tree, &statics.0);
        let mut emit = |a: u32, b: u32| f(a.min(b) as usize, a.max(b) as usize);
        let near = |a: &BvhNode, b: &BvhNode| {
            let gap = (a.mins() - b.maxs()).max(b.mins() - a.maxs());
            gap.max_element() <= margin
        };
        // The traversals may hand out the pairs at their roots without a look at the boxes.
        let meet =
            |a: &Aabb, b: &Aabb| (a.mins - b.maxs).max(b.mins - a.maxs).max_element() <= margin;
        if margin == 0.0 {
            let mut workspace = BvhWorkspace::default();
            let mut self_pair = |a: u32, b: u32| {
                if meet(&moving.boxes[a as usize], &moving.boxes[b as usize]) {
                    emit(moving.geometries[a as usize], moving.geometries[b as usize]);
                }
            };
            moving
                .bvh
                .traverse_bvtt_single_tree::<false>(&mut workspace, &mut self_pair);
        } else {
            for (a, b) in moving.bvh.leaf_pairs(&moving.bvh, near) {
                if a < b && meet(&moving.boxes[a as usize], &moving.boxes[b as usize]) {
                    emit(moving.geometries[a as usize], moving.geometries[b as usize]);
                }
            }
        }
        for (a, b) in moving.bvh.leaf_pairs(&fixed.bvh, near) {
            if meet(&moving.boxes[a as usize], &fixed.boxes[b as usize]) {
                emit(moving.geometries[a as usize], fixed.geometries[b as usize]);
            }
        }
        for &a in &moving.geometries {
            fixed.unbounded.iter().for_each(|b| emit(a, *b));
        }
        for (i, &a) in moving.unbounded.iter().enumerate() {
            moving.geometries.iter().for_each(|b| emit(a, *b));
            moving.unbounded[i + 1..].iter().for_each(|b| emit(a, *b));
            fixed.geometries.iter().for_each(|b| emit(a, *b));
            fixed.unbounded.iter().for_each(|b| emit(a, *b));
        }
    }
}
