//! The search for pairs of geometries in contact.

use crate::error::Result;
use crate::plant::contact_model::ContactModel;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::contact_materials::ContactMaterials;
use tarragon_framework::Scalar;
use tarragon_geometry::{
    ContactSurface, GeometryId, HydroelasticContactRepresentation, PenetrationManifold,
    QueryObject, SparsePenetration,
};

/// How contact is searched for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactSearch {
    model: ContactModel,
    representation: HydroelasticContactRepresentation,
}

/// Results of a search in addition to pairs of points.
pub(super) struct FoundContacts<T: Scalar> {
    pub(super) surfaces: Vec<ContactSurface<T>>,
    /// Numbers of the points in their pairs of geometries; empty if a pair has one point.
    pub(super) point_ids: Vec<u32>,
}

impl MultibodyPlant {
    pub(super) fn contact_search(&self, materials: &ContactMaterials) -> ContactSearch {
        ContactSearch {
            model: match self.contact.model {
                // The same, but faster.
                ContactModel::HydroelasticWithFallback if !materials.any_hydroelastic() => {
                    ContactModel::Point
                }
                model => model,
            },
            representation: if self.time_step > 0.0 {
                HydroelasticContactRepresentation::Polygon
            } else {
                HydroelasticContactRepresentation::Triangle
            },
        }
    }
}

impl ContactSearch {
    /// Replaces `pairs` by the points of all pairs within their `reach` (m), none above
    /// `max_reach`. Bodies on `terrain` have several points: a body that one point at a time
    /// carries does not come to rest between two slopes.
    pub(super) fn find<T: Scalar>(
        self,
        query: &QueryObject<T>,
        terrain: &[GeometryId],
        max_reach: f64,
        reach: impl Fn(GeometryId, GeometryId) -> Option<f64> + Sync,
        pairs: &mut Vec<SparsePenetration<T>>,
    ) -> Result<FoundContacts<T>> {
        let (mut surfaces, mut point_ids) = (vec![], vec![]);
        match self.model {
            ContactModel::PointManifold => {
                pairs.clear();
                let found = query.compute_manifolds_within(max_reach, reach)?;
                add_points(found, pairs, &mut point_ids);
            }
            ContactModel::Point if terrain.is_empty() => {
                query.update_point_pairs_within(max_reach, reach, pairs)?;
            }
            ContactModel::Point => {
                let is_on_terrain = |a, b| terrain.contains(&a) || terrain.contains(&b);
                let other = |a, b| reach(a, b).filter(|_| !is_on_terrain(a, b));
                query.update_point_pairs_within(max_reach, other, pairs)?;
                point_ids.resize(pairs.len(), 0);
                let on_terrain = |a, b| reach(a, b).filter(|_| is_on_terrain(a, b));
                let found = query.compute_manifolds_within(max_reach, on_terrain)?;
                add_points(found, pairs, &mut point_ids);
            }
            ContactModel::Hydroelastic | ContactModel::HydroelasticWithFallback => {
                let fallback = self.model == ContactModel::HydroelasticWithFallback;
                let all = self.representation;
                let found = query.compute_contacts_within(all, fallback, max_reach, reach)?;
                (surfaces, *pairs) = found;
            }
        }
        Ok(FoundContacts {
            surfaces,
            point_ids,
        })
    }
}

/// Adds the points of manifolds with their numbers.
fn add_points<T: Scalar>(
    manifolds: Vec<PenetrationManifold<T>>,
    pairs: &mut Vec<SparsePenetration<T>>,
    point_ids: &mut Vec<u32>,
) {
    for (point, id) in manifolds.into_iter().flat_map(|pair| pair.points) {
        pairs.push(point.into());
        point_ids.push(id);
    }
}
