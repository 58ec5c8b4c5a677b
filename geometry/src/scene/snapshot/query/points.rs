//! Distances to points.

use super::{QueryObject, SignedDistanceToPoint};
use crate::accel::bvh::Box32;
use crate::error::{Error, Result};
use crate::proximity;
use crate::scene::model::ProximityForm;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

impl<T: Scalar> QueryObject<T> {
    /// Returns the signed distances, with gradients, from all geometries with the proximity role to
    /// the point `p_WQ` (m), if they are at most `threshold` (m), by id; infinity selects all
    /// geometries. Filters have no effect. A negative threshold selects the geometries that contain
    /// the point at this depth or deeper.
    ///
    /// The surface of deformable geometry is its current boundary; the winding of the triangles
    /// decides which side is inside, as for the true surface of a mesh. Its frame G is the world.
    ///
    /// # Errors
    /// Returns an error if the point is not finite, if the threshold is NaN, if a shape to be
    /// tested is not supported, or if the configuration of deformable geometry has derivatives.
    pub fn compute_signed_distance_to_point(
        &self,
        p_wq: &Vector3<T>,
        threshold: f64,
    ) -> Result<Vec<SignedDistanceToPoint<T>>> {
        check("compute_signed_distance_to_point", "p_WQ", p_wq, threshold)?;
        let mut results = (self.kernels.distances_to_points)(self, &[*p_wq], threshold)?;
        Ok(results.pop().unwrap_or_default())
    }

    /// Same as [`QueryObject::compute_signed_distance_to_point`], for many points, with one list
    /// per point; in parallel if [`QueryObject::with_parallel`] says so.
    ///
    /// # Errors
    /// Returns the error of [`QueryObject::compute_signed_distance_to_point`] for the first point
    /// that fails.
    pub fn compute_signed_distance_to_points(
        &self,
        points_w: &[Vector3<T>],
        threshold: f64,
    ) -> Result<Vec<Vec<SignedDistanceToPoint<T>>>> {
        for (i, p_wq) in points_w.iter().enumerate() {
            let query = "compute_signed_distance_to_points";
            check(query, &format!("point {i}"), p_wq, threshold)?;
        }
        (self.kernels.distances_to_points)(self, points_w, threshold)
    }

    pub(super) fn find_distances_to_points(
        &self,
        points_w: &[Vector3<T>],
        threshold: f64,
    ) -> Result<Vec<Vec<SignedDistanceToPoint<T>>>> {
        self.collect(points_w, |p_wq| {
            let mut results = vec![];
            self.distances_to_point(p_wq, threshold, &mut results)?;
            Ok(Some(results))
        })
    }

    fn distances_to_point(
        &self,
        p_wq: &Vector3<T>,
        threshold: f64,
        results: &mut Vec<SignedDistanceToPoint<T>>,
    ) -> Result<()> {
        let deformables = self.kinematics.deformables();
        let mut test = |number: usize| {
            let geometry = &self.state.geometries[number];
            let x_wg = self.kinematics.x_wg(number);
            let found = match (&geometry.form, deformables.get(number)) {
                (_, Some(deformable)) => deformable
                    .constant_shape("distance to a point")
                    .and_then(|shape| proximity::distance_to_surface(shape.surface()?, p_wq)),
                (ProximityForm::Pieces(pieces), None) => {
                    proximity::distance_to_pieces(pieces, x_wg, p_wq)
                }
                (_, None) => proximity::distance_to_point(&geometry.shape, x_wg, p_wq),
            };
            let found = found.map_err(|e| e.at(format!("geometry '{}'", geometry.name)))?;
            if found.distance.re() <= threshold {
                results.push(SignedDistanceToPoint {
                    id_g: geometry.id,
                    p_gn: found.p_gn,
                    distance: found.distance,
                    grad_w: found.grad_w,
                });
            }
            Ok(())
        };
        let geometries = self.state.geometries.iter().enumerate();
        let mut near = geometries.filter(|(_, g)| g.is_tested());
        if threshold == f64::INFINITY {
            return near.try_for_each(|(number, _)| test(number));
        }
        let p = p_wq.map(|x| x.re());
        let around = Box32::around(&p, &Vector3::repeat(threshold.max(0.0)));
        let tree = self.kinematics.tree(&self.state);
        let mut numbers = vec![];
        tree.for_each_near(self.state.static_tree(), &around, |n| numbers.push(n));
        for deformable in deformables.geometries() {
            let is_near = || deformable.shape().bounds().meets(&around);
            if self.state.geometries[deformable.number].is_tested() && is_near() {
                numbers.push(deformable.number);
            }
        }
        numbers.sort_unstable();
        numbers.into_iter().try_for_each(test)
    }
}

fn check<T: Scalar>(query: &str, name: &str, p: &Vector3<T>, threshold: f64) -> Result<()> {
    let wrong = |what: String| Err(Error::invalid(format!("{query}: {what}")));
    if !p.iter().all(|x| x.re().is_finite()) {
        let p = p.map(|x| x.re());
        let [x, y, z] = [p.x, p.y, p.z];
        return wrong(format!(
            "{name} must have finite coordinates (m), got [{x:?}, {y:?}, {z:?}]"
        ));
    }
    if threshold.is_nan() {
        return wrong("threshold must be a distance (m) or infinity, got NaN".into());
    }
    Ok(())
}
