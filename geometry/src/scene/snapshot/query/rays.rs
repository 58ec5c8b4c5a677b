//! Ray queries, from which range sensors are built.

use super::QueryObject;
use super::query_object::check_distance;
use crate::accel::bvh::RayBox;
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::Role;
use crate::ray::{
    Crossing, Ray, first_crossing, first_crossing_of_pieces, first_crossing_of_triangles,
};
use crate::scene::model::ProximityForm;
use crate::values::value_of;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// The geometries that rays can hit, and the length of the rays.
///
/// ```
/// use tarragon_geometry::{RayOptions, Role};
/// let lidar = RayOptions { max_distance: 40.0, role: Role::Perception, ..RayOptions::default() };
/// assert_eq!(RayOptions::default().role, Role::Proximity);
/// assert_eq!((lidar.max_distance, RayOptions::default().max_distance), (40.0, f64::INFINITY));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RayOptions {
    /// Length of the rays (m), inclusive; infinite by default.
    pub max_distance: f64,
    /// Role of the geometries that can be hit; [`Role::Proximity`] by default.
    pub role: Role,
    /// Geometries that rays pass through, such as the housing of the sensor; none by default.
    pub excluded: Vec<GeometryId>,
}

impl Default for RayOptions {
    fn default() -> Self {
        Self {
            max_distance: f64::INFINITY,
            role: Role::Proximity,
            excluded: vec![],
        }
    }
}

/// First hit of a ray.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// # let mut scene = SceneGraph::new();
/// # let source = scene.register_source("toys")?;
/// # let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(1.0)?, "ball")?;
/// # let ball = ball.with_proximity(ProximityProperties::new());
/// # let ball = scene.register_anchored_geometry(source, ball)?;
/// # let mut b = DiagramBuilder::new();
/// # let scene = b.add("scene_graph", scene);
/// # let ctx = b.build()?.default_context();
/// let query = ctx.eval(scene.query)?; // a ball of radius 1 at the origin
/// let above = Vector3::z() * 3.0;
/// let rays = [Ray::new(above, -Vector3::z()), Ray::new(above, Vector3::z())];
/// let hits: Vec<Option<RayHit<f64>>> = query.cast_rays(&rays, &RayOptions::default())?;
/// let hit = hits[0].unwrap();
/// assert_eq!((hit.id_g, hit.distance, hit.nhat_w), (ball, 2.0, Vector3::z()));
/// assert_eq!(hits[1], None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit<T: Scalar> {
    /// The geometry.
    pub id_g: GeometryId,
    /// Distance from the origin of the ray (m).
    pub distance: T,
    /// The point that the ray hits, in the world (m).
    pub p_wc: Vector3<T>,
    /// Unit normal of the surface at that point, out of the geometry, in the world.
    pub nhat_w: Vector3<T>,
}

impl<T: Scalar> QueryObject<T> {
    /// Returns the first hit of each ray, in the order of the rays; in parallel if
    /// [`QueryObject::with_parallel`] says so. Collision filters have no effect.
    ///
    /// A ray that starts inside a geometry hits its surface where it leaves; the normal points out
    /// of the geometry, and so along the ray. A `Mesh` is hit at its triangles, from both sides,
    /// with the normal given by their winding; a `Convex` is hit at its hull, and a `Mesh` with
    /// [convex pieces](crate::ProximityProperties::with_convex_decomposition), in the proximity
    /// role, at the boundary of their union. Among geometries at the same distance, the one with
    /// the smallest id is reported. Cones are for visualizers only and are not hit. Deformable
    /// geometry is hit, from both sides, at the current triangles of its boundary or, in the
    /// perception role, of the surface embedded in it.
    ///
    /// # Errors
    /// Returns an error if a ray is not finite or has no direction, if `max_distance` is negative
    /// or NaN, if the role is [`Role::Unassigned`], if an excluded geometry is unknown, if a mesh
    /// cannot be read, or if the configuration of deformable geometry has derivatives.
    pub fn cast_rays(
        &self,
        rays: &[Ray<T>],
        options: &RayOptions,
    ) -> Result<Vec<Option<RayHit<T>>>> {
        check_distance("cast_rays", "max_distance", options.max_distance)?;
        let mut excluded = vec![];
        for id in &options.excluded {
            excluded.push(self.state.geometry_number(*id)?);
        }
        excluded.sort_unstable();
        let rays = rays.iter().enumerate();
        let rays = rays.map(|(i, ray)| ray.normalized(|| format!("cast_rays: ray {i}")));
        let rays: Vec<Ray<T>> = rays.collect::<Result<_>>()?;
        let limit = options.max_distance;
        let hits = match options.role {
            Role::Unassigned => {
                return Err(Error::invalid(
                    "cast_rays: the role must be Proximity, Illustration or Perception, got \
                     Unassigned",
                ));
            }
            Role::Proximity => {
                let (tree, statics) = (self.kinematics.tree(&self.state), self.state.static_tree());
                self.collect(&rays, |ray| {
                    let mut nearest = NearestHit::new(self, ray, options.role, &excluded);
                    tree.for_each_along(statics, &nearest.as_box(), limit, |number, limit| {
                        nearest.look_at(number, limit)
                    });
                    nearest.look_at_deformables(limit);
                    nearest.hit(ray).map(Some)
                })?
            }
            role => {
                let tree = self.kinematics.seen(&self.state, role)?;
                self.collect(&rays, |ray| {
                    let mut nearest = NearestHit::new(self, ray, options.role, &excluded);
                    tree.for_each_along(&nearest.as_box(), limit, |number, limit| {
                        nearest.look_at(number, limit)
                    });
                    nearest.look_at_deformables(limit);
                    nearest.hit(ray).map(Some)
                })?
            }
        };
        Ok(hits)
    }
}

/// The search for the nearest hit of one ray.
struct NearestHit<'a, T: Scalar> {
    query: &'a QueryObject<T>,
    excluded: &'a [usize],
    role: Role,
    origin: Vector3<f64>,
    direction: Vector3<f64>,
    best: Option<(Crossing, usize)>,
    error: Option<Error>,
}

impl<'a, T: Scalar> NearestHit<'a, T> {
    fn new(query: &'a QueryObject<T>, ray: &Ray<T>, role: Role, excluded: &'a [usize]) -> Self {
        Self {
            query,
            excluded,
            role,
            origin: value_of(&ray.origin_w),
            direction: value_of(&ray.direction_w),
            best: None,
            error: None,
        }
    }

    fn as_box(&self) -> RayBox {
        RayBox::new(&self.origin, &self.direction)
    }

    /// Tests a geometry. Returns the new limit of the search (m).
    #[inline]
    fn look_at(&mut self, number: usize, limit: f64) -> f64 {
        if !self.excluded.is_empty() && self.excluded.binary_search(&number).is_ok() {
            return limit;
        }
        let geometry = &self.query.state.geometries[number];
        let x_wg = self.query.kinematics.x_wg(number);
        let (o, d) = (&self.origin, &self.direction);
        let found = match &geometry.form {
            ProximityForm::Pieces(pieces) if self.role == Role::Proximity => Ok(
                first_crossing_of_pieces(pieces.polytopes(), x_wg, o, d, limit),
            ),
            _ => first_crossing(&geometry.shape, x_wg, o, d, limit),
        };
        self.consider(number, found, limit)
    }

    /// Tests all deformable geometries, within a limit (m).
    fn look_at_deformables(&mut self, limit: f64) {
        let query = self.query;
        for deformable in query.kinematics.deformables().geometries() {
            let number = deformable.number;
            if !query.state.geometries[number].has_role(self.role)
                || self.excluded.binary_search(&number).is_ok()
            {
                continue;
            }
            let nearest = self.best.as_ref().map_or(limit, |(best, _)| best.distance);
            let shape = deformable.constant_shape("cast_rays");
            let found = shape.map(|shape| {
                let triangles = shape.for_rays(self.role);
                first_crossing_of_triangles(triangles, &self.origin, &self.direction, nearest)
            });
            self.consider(number, found, nearest);
        }
    }

    /// Keeps a crossing if it is the nearest. Returns the new limit of the search (m).
    #[inline]
    fn consider(&mut self, number: usize, found: Result<Option<Crossing>>, limit: f64) -> f64 {
        match found {
            Ok(Some(found)) => {
                let farther = |(best, of): &(Crossing, usize)| {
                    (best.distance, *of) > (found.distance, number)
                };
                if self.best.as_ref().is_none_or(farther) {
                    self.best = Some((found, number));
                    return found.distance;
                }
                limit
            }
            Ok(None) => limit,
            Err(e) => {
                let name = &self.query.state.geometries[number].name;
                self.error = Some(e.at(format!("geometry '{name}'")));
                limit
            }
        }
    }

    fn hit(self, ray: &Ray<T>) -> Result<Option<RayHit<T>>> {
        if let Some(error) = self.error {
            return Err(error);
        }
        Ok(self.best.map(|(crossing, number)| {
            let hit = crossing.lift(self.query.kinematics.x_wg(number), ray);
            RayHit {
                id_g: self.query.state.geometries[number].id,
                distance: hit.distance,
                p_wc: hit.p_wc,
                nhat_w: hit.nhat_w,
            }
        }))
    }
}
