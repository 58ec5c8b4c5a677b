//! The parts of queries that need much code, compiled once.

use super::QueryObject;
use crate::deformable::DeformableContact;
use crate::error::Result;
use crate::hydro::{ContactSurface, HydroelasticContactRepresentation};
use crate::ids::GeometryId;
use crate::properties::Role;
use crate::proximity::PairDistance;
use crate::render::RenderEngine;
use crate::scene::snapshot::broadphase::DynamicTree;
use crate::scene::snapshot::query::{
    PenetrationAsPointPair, PenetrationManifold, SignedDistancePair, SignedDistanceToPoint,
};
use nalgebra::{DVector, Vector3};
use std::collections::BTreeMap;
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Numbers of two geometries.
pub(crate) type PairNumbers = (usize, usize);

type Engines = BTreeMap<String, Arc<dyn RenderEngine>>;

type OfScene<T, A> = fn(&QueryObject<T>) -> A;
type OfPair<T, A> = fn(&QueryObject<T>, PairNumbers, f64) -> Result<Option<A>>;
type Within<T, A> = fn(&QueryObject<T>, f64) -> Result<Vec<A>>;
type OfGeometryWithin<T, A> = fn(&QueryObject<T>, usize, f64) -> Result<Vec<A>>;
type OfPoints<T, A> = fn(&QueryObject<T>, &[Vector3<T>], f64) -> Result<Vec<Vec<A>>>;
type SurfaceOfPair<T> = fn(
    &QueryObject<T>,
    PairNumbers,
    HydroelasticContactRepresentation,
) -> Option<ContactSurface<T>>;
type DrivenMeshes<T> = fn(&QueryObject<T>, GeometryId, Role) -> Result<Vec<DVector<T>>>;
type SkinVertices<T> = fn(&QueryObject<T>, usize) -> Option<Vec<Vector3<f64>>>;

/// Methods of a snapshot that need much code and that several crates use.
///
/// A snapshot has them from the ports of its scene, which are compiled in this crate for each
/// scalar. If they were called by name, each of these crates would compile them again, with the
/// kernels of all pairs of shapes.
pub(crate) struct Kernels<T: Scalar> {
    pub(crate) tree: fn(&QueryObject<T>) -> &DynamicTree,
    pub(crate) distance: OfPair<T, PairDistance<T>>,
    pub(crate) real_distance: OfPair<T, PairDistance<f64>>,
    pub(crate) signed_distance: OfPair<T, SignedDistancePair<T>>,
    pub(crate) manifold: OfPair<T, PenetrationManifold<T>>,
    pub(crate) contact_surface: SurfaceOfPair<T>,
    pub(crate) penetrations: OfScene<T, Result<Vec<PenetrationAsPointPair<T>>>>,
    pub(crate) signed_distances: Within<T, SignedDistancePair<T>>,
    pub(crate) signed_distances_of: OfGeometryWithin<T, SignedDistancePair<T>>,
    pub(crate) distances_to_points: OfPoints<T, SignedDistanceToPoint<T>>,
    pub(crate) deformable_contact: OfScene<T, Result<DeformableContact>>,
    pub(crate) differentiable_contact: OfScene<T, Result<DeformableContact<T>>>,
    pub(crate) deformed_engines: OfScene<T, Result<Engines>>,
    pub(crate) driven_meshes: DrivenMeshes<T>,
    pub(crate) skin_vertices: SkinVertices<T>,
}

impl<T: Scalar> Kernels<T> {
    pub(crate) const COMPILED: &'static Self = &Self {
        tree: QueryObject::find_tree,
        distance: QueryObject::find_distance,
        real_distance: QueryObject::find_real_distance,
        signed_distance: QueryObject::find_signed_distance,
        manifold: QueryObject::find_manifold,
        contact_surface: QueryObject::find_contact_surface,
        penetrations: QueryObject::find_penetrations,
        signed_distances: QueryObject::find_signed_distances,
        signed_distances_of: QueryObject::find_signed_distances_of,
        distances_to_points: QueryObject::find_distances_to_points,
        deformable_contact: QueryObject::find_deformable_contact,
        differentiable_contact: QueryObject::find_differentiable_contact,
        deformed_engines: QueryObject::deform_engines,
        driven_meshes: QueryObject::find_driven_meshes,
        skin_vertices: QueryObject::find_skin_vertices,
    };
}
