//! A tree of the geometries that have a role other than proximity.

use crate::accel::bvh::{Bvh, RayBox};
use crate::error::Result;
use crate::properties::Role;
use crate::scene::bounds::LocalBound;
use crate::scene::model::{GeometryState, RegisteredGeometry};
use crate::shape::Shape;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// Bounds of the shapes with a role, by geometry number.
pub(crate) struct RoleBounds(Vec<(u32, LocalBound)>);

impl RoleBounds {
    /// Computes the bounds, which reads the meshes. Cones and skins are left out,
    /// because no query finds them, and deformable geometry, which has no bounds of its own.
    pub(crate) fn new(state: &GeometryState, role: Role) -> Result<Self> {
        let has_role = |(_, g): &(usize, &RegisteredGeometry)| {
            let is_found = !matches!(g.shape, Shape::MeshcatCone(_)) && !g.is_driven();
            g.has_role(role) && is_found
        };
        let geometries = state.geometries.iter().enumerate().filter(has_role);
        let bounds = geometries.map(|(number, g)| {
            // Geometry that is only displayed needs no hull.
            let bound = match &g.shape {
                Shape::Mesh(mesh) => mesh.surface().map(|surface| {
                    let (center, size) = surface.calc_bounding_box();
                    let half = size / 2.0;
                    LocalBound::Box { center, half }
                }),
                shape => LocalBound::of(shape),
            };
            let bound = bound.map_err(|e| e.at(format!("geometry '{}'", g.name)))?;
            Ok((number as u32, bound))
        });
        Ok(Self(bounds.collect::<Result<_>>()?))
    }
}

/// Tree of all geometries with a role, at one time.
pub(crate) struct RoleTree {
    bvh: Bvh,
    /// Geometry number of each item.
    geometries: Vec<u32>,
    unbounded: Vec<u32>,
}

impl RoleTree {
    pub(crate) fn new<'a, T: Scalar>(
        bounds: &RoleBounds,
        pose: impl Fn(usize) -> &'a Isometry3<T>,
    ) -> Self {
        let (mut geometries, mut unbounded, mut boxes) = (vec![], vec![], vec![]);
        for (geometry, bound) in &bounds.0 {
            match bound.box_in_world(pose(*geometry as usize)) {
                Some(b) => {
                    geometries.push(*geometry);
                    boxes.push(b);
                }
                None => unbounded.push(*geometry),
            }
        }
        Self {
            bvh: Bvh::new(&boxes),
            geometries,
            unbounded,
        }
    }

    /// Same as [`super::DynamicTree::for_each_along`], for this tree.
    pub(crate) fn for_each_along(
        &self,
        ray: &RayBox,
        mut limit: f64,
        mut f: impl FnMut(usize, f64) -> f64,
    ) {
        self.bvh.for_each_along(ray, limit, |k, within| {
            limit = f(self.geometries[k as usize] as usize, within);
            limit
        });
        for geometry in &self.unbounded {
            limit = f(*geometry as usize, limit);
        }
    }
}
