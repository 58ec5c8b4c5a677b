//! How geometries take part in hydroelastic contact, and which pairs have a contact surface.

use super::contact_surface::{ContactSurface, HydroelasticContactRepresentation};
use super::elements::{CompliantMesh, RigidMesh};
use super::follow::{self, WalkSpace};
use super::hydroelastic_mesh::{HydroelasticMesh, MeshRequest};
use super::lift::Lift;
use super::plane::{SharedVertices, intersect_compliant_plane, intersect_rigid_plane};
use super::raw_surface::RawSurface;
use super::shared_meshes::SharedMeshes;
use super::tri_tet;
use crate::error::Result;
use crate::ids::GeometryId;
use crate::properties::{GeometryProperties, HydroelasticType};
use crate::shape::Shape;
use crate::values::values_of_pose;
use nalgebra::{Isometry3, Vector3};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use tarragon_framework::Scalar;

static RIGID_MESHES: SharedMeshes<RigidMesh> = SharedMeshes::new();
static COMPLIANT_MESHES: SharedMeshes<CompliantMesh> = SharedMeshes::new();

/// How a geometry takes part in hydroelastic contact.
#[derive(Clone, Default)]
pub(crate) enum HydroelasticForm {
    /// It does not.
    #[default]
    Undefined,
    /// It is compliant, but too small for a gradient of pressure, and touches nothing.
    Vanished,
    Rigid(Arc<RigidMesh>),
    RigidHalfSpace,
    /// A compliant mesh with its modulus (Pa) and margin (m).
    Compliant(Arc<CompliantMesh>, f64, f64),
    /// A compliant half space, given the rise of pressure (Pa/m) and the margin (m).
    CompliantHalfSpace(f64, f64),
}

impl fmt::Debug for HydroelasticForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl HydroelasticForm {
    /// Makes the form of a shape from its properties.
    ///
    /// # Errors
    /// Returns an error if a property is missing, has a wrong type or value, or if the mesh cannot
    /// be made.
    pub(crate) fn of(shape: &Shape, properties: &GeometryProperties) -> Result<Self> {
        let group = "hydroelastic";
        let kind = properties.get_or(group, "compliance_type", HydroelasticType::Undefined)?;
        let modulus = || {
            properties
                .get::<f64>(group, "hydroelastic_modulus")
                .copied()
        };
        let margin = properties.get_or(group, "margin", 0.0)?;
        Ok(match (shape, kind) {
            (_, HydroelasticType::Undefined) => Self::Undefined,
            (Shape::HalfSpace(_), HydroelasticType::Rigid) => Self::RigidHalfSpace,
            (Shape::HalfSpace(_), HydroelasticType::Compliant) => {
                let thickness = *properties.get::<f64>(group, "slab_thickness")?;
                Self::CompliantHalfSpace(modulus()? / thickness, margin)
            }
            (_, HydroelasticType::Rigid) => {
                let request = MeshRequest::new(shape, properties)?;
                let mesh = RIGID_MESHES.get(request.key(shape), || {
                    Ok(match request.make(shape)? {
                        Some(HydroelasticMesh::Surface(surface)) => Some(RigidMesh::new(surface)),
                        _ => None,
                    })
                });
                mesh?.map_or(Self::Vanished, Self::Rigid)
            }
            (_, HydroelasticType::Compliant) => {
                let modulus = modulus()?;
                let request = MeshRequest::new(shape, properties)?;
                let mesh = COMPLIANT_MESHES.get(request.key(shape), || {
                    Ok(match request.make(shape)? {
                        Some(HydroelasticMesh::Volume(field)) => Some(CompliantMesh::new(field)),
                        _ => None,
                    })
                });
                mesh?.map_or(Self::Vanished, |mesh| {
                    Self::Compliant(mesh, modulus, margin)
                })
            }
        })
    }

    /// Returns the compliant mesh with its modulus (Pa), if there is one.
    pub(crate) fn compliant(&self) -> Option<(&Arc<CompliantMesh>, f64)> {
        match self {
            Self::Compliant(mesh, modulus, _) => Some((mesh, *modulus)),
            _ => None,
        }
    }

    /// Returns the mesh, if there is one.
    pub(crate) fn mesh(&self) -> Option<HydroelasticMesh> {
        match self {
            Self::Rigid(mesh) => Some(HydroelasticMesh::Surface(mesh.surface.clone())),
            Self::Compliant(mesh, ..) => Some(HydroelasticMesh::Volume(mesh.field.clone())),
            _ => None,
        }
    }

    /// Returns how far contact begins outside the shape's bound (m), given how far a point of its
    /// frame is outside. A mesh of equal volume or with a margin extends beyond the shape.
    pub(crate) fn margin(&self, outside: impl Fn(&Vector3<f64>) -> f64) -> f64 {
        match self {
            Self::Compliant(mesh, _, margin) => margin.max(mesh.greatest(outside)),
            Self::Rigid(mesh) => mesh.greatest(outside),
            Self::CompliantHalfSpace(_, margin) => *margin,
            Self::Undefined | Self::Vanished | Self::RigidHalfSpace => 0.0,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Vanished | Self::Compliant(..) => "compliant",
            Self::Rigid(_) => "rigid",
            Self::RigidHalfSpace => "rigid half space",
            Self::CompliantHalfSpace(..) => "compliant half space",
        }
    }
}

/// Why a pair of geometries has no contact surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoSurface(&'static str);

impl NoSurface {
    /// Returns what the pair must be, and the cure.
    pub(crate) fn reason(self) -> &'static str {
        self.0
    }
}

/// Work space of an intersection.
#[derive(Default)]
struct IntersectionSpace {
    surface: RawSurface,
    shared: SharedVertices,
    walk: WalkSpace,
}

thread_local! {
    /// Kept, so that intersections need no new memory.
    static SPACE: RefCell<IntersectionSpace> = RefCell::default();
}

/// A pair of which contact surfaces can be computed: S is compliant.
enum Pair<'a> {
    RigidMesh(&'a CompliantMesh, f64, &'a RigidMesh),
    CompliantMesh(&'a CompliantMesh, f64, &'a CompliantMesh, f64),
    RigidHalfSpace(&'a CompliantMesh, f64),
    CompliantHalfSpace([f64; 2], &'a RigidMesh),
    Nothing,
}

impl<'a> Pair<'a> {
    /// Returns the pair with S first, if the second of two geometries is S; `None` if it cannot be.
    fn with_s_last(r: &'a HydroelasticForm, s: &'a HydroelasticForm) -> Option<Self> {
        use HydroelasticForm::{Compliant, CompliantHalfSpace, Rigid, RigidHalfSpace, Vanished};
        Some(match (s, r) {
            (Compliant(s, modulus, _), Rigid(r)) => Self::RigidMesh(s, *modulus, r),
            (Compliant(s, modulus, _), RigidHalfSpace) => Self::RigidHalfSpace(s, *modulus),
            (CompliantHalfSpace(slope, margin), Rigid(r)) => {
                Self::CompliantHalfSpace([*slope, *margin], r)
            }
            (Compliant(s, modulus_s, _), Compliant(r, modulus_r, _))
                if s.tetrahedra.len() >= r.tetrahedra.len() =>
            {
                Self::CompliantMesh(s, *modulus_s, r, *modulus_r)
            }
            (Vanished, Rigid(_) | RigidHalfSpace | Compliant(..) | Vanished) => Self::Nothing,
            _ => return None,
        })
    }
}

impl Pair<'_> {
    /// Adds the faces between S and R at `X_SR`.
    fn intersect(&self, space: &mut IntersectionSpace, x_sr: &Isometry3<f64>) {
        let IntersectionSpace {
            surface,
            shared,
            walk,
        } = space;
        match *self {
            Self::RigidMesh(s, modulus, r) => tri_tet::intersect(surface, s, modulus, r, x_sr),
            Self::CompliantMesh(s, modulus_s, r, modulus_r) => {
                follow::intersect(surface, walk, s, modulus_s, r, modulus_r, x_sr);
            }
            Self::RigidHalfSpace(s, modulus) => {
                intersect_rigid_plane(surface, shared, s, modulus, x_sr);
            }
            Self::CompliantHalfSpace([slope, margin], r) => {
                intersect_compliant_plane(surface, shared, slope, margin, r, x_sr);
            }
            Self::Nothing => {}
        }
    }
}

/// Tells why a pair has no contact surface, if its shapes or types exclude one.
pub(crate) fn check_pair(
    a: &HydroelasticForm,
    b: &HydroelasticForm,
) -> std::result::Result<(), NoSurface> {
    use HydroelasticForm::{CompliantHalfSpace, Rigid, RigidHalfSpace, Undefined};
    let is_half_space =
        |form: &HydroelasticForm| matches!(form, RigidHalfSpace | CompliantHalfSpace(..));
    let is_rigid = |form: &HydroelasticForm| matches!(form, RigidHalfSpace | Rigid(_));
    let reason = match (a, b) {
        (Undefined, _) | (_, Undefined) => {
            "both must be rigid or compliant hydroelastic (<drake:rigid_hydroelastic/> or \
             <drake:compliant_hydroelastic/> in a model file); declare it, or use the contact model \
             'hydroelastic_with_fallback'"
        }
        _ if is_half_space(a) && is_half_space(b) => {
            "at most one may be a half space; filter the pair"
        }
        _ if is_rigid(a) && is_rigid(b) => {
            "at least one must be compliant; make one compliant, or use the contact \
             model 'hydroelastic_with_fallback'"
        }
        (CompliantHalfSpace(..), _) | (_, CompliantHalfSpace(..))
            if !is_rigid(a) && !is_rigid(b) =>
        {
            "a compliant half space needs a rigid partner; make one of them rigid, or use the \
             contact model 'hydroelastic_with_fallback'"
        }
        _ => return Ok(()),
    };
    Err(NoSurface(reason))
}

/// Computes the contact surface of two geometries, of which [`check_pair`] approves; `None` if they
/// do not touch. `ids` are in order.
pub(crate) fn contact_surface<T: Scalar>(
    ids: [GeometryId; 2],
    [a, b]: [&HydroelasticForm; 2],
    [x_wa, x_wb]: [&Isometry3<T>; 2],
    representation: HydroelasticContactRepresentation,
) -> Option<ContactSurface<T>> {
    let (pair, is_s_first) = match Pair::with_s_last(b, a) {
        Some(pair) => (pair, true),
        None => (Pair::with_s_last(a, b)?, false),
    };
    let [x_ws, x_wr] = if is_s_first {
        [x_wa, x_wb]
    } else {
        [x_wb, x_wa]
    };
    let x_sr = values_of_pose(x_ws).inverse() * values_of_pose(x_wr);
    let is_r_rigid = !matches!(pair, Pair::CompliantMesh(..));
    SPACE.with_borrow_mut(|space| {
        space.surface.clear();
        space.surface.moves = T::NDERIV > 0;
        pair.intersect(space, &x_sr);
        if space.surface.faces.is_empty() {
            return None;
        }
        let lift = Lift::new(x_ws, x_wr, is_r_rigid);
        lift.surface(&space.surface, ids, is_s_first, representation)
    })
}
