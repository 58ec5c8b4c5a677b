//! The geometry of a scene: sources, frames, geometries, roles, filters and renderers.
//!
//! A `GeometryState` lives in the context as one parameter (`Arc<GeometryState>`, copied on write).
//! The mutators of the model and of a context are the same methods:
//! [`registration`](super::registration) of sources, frames and geometries,
//! [`roles`](super::roles), [`renderers`](super::renderers), [`defaults`](super::defaults) and
//! [`filter`](super::filter). Frames and geometries are numbered in order of registration, which
//! for geometries is also the order of their ids, and every array of poses is indexed by those
//! numbers.
//!
//! The parts have reference counts of their own, so that changing the filters of a context does not
//! copy the geometry.

use super::contact_partner::ContactPartner;
use super::filter_table::FilterTable;
use super::form::ProximityForm;
use super::render_engines::RenderEngines;
use super::version::GeometryVersion;
use crate::deformable::DeformableForm;
use crate::error::{Error, Result};
use crate::hydro::HydroelasticForm;
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{IllustrationProperties, PerceptionProperties, ProximityProperties, Role};
use crate::scene::bounds::{LocalBound, StaticTree};
use crate::scene::config::SceneGraphConfig;
use crate::shape::Shape;
use crate::skin::SkinForm;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

/// Number of the world frame.
pub(crate) const WORLD: usize = 0;

#[derive(Clone, Debug)]
pub(crate) struct RegisteredSource {
    pub(crate) id: SourceId,
    pub(crate) name: String,
    /// Numbers of the frames of this source.
    pub(crate) frames: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct RegisteredFrame {
    pub(crate) id: FrameId,
    pub(crate) name: Arc<str>,
    /// Source of the frame; the scene itself is the source of the world frame.
    pub(crate) source: SourceId,
    pub(crate) parent: usize,
    pub(crate) frame_group: i32,
    /// Numbers of the geometries on the frame, increasing.
    pub(crate) geometries: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct RegisteredGeometry {
    pub(crate) id: GeometryId,
    pub(crate) source: SourceId,
    pub(crate) name: Arc<str>,
    pub(crate) frame: usize,
    pub(crate) x_fg: Isometry3<f64>,
    pub(crate) shape: Shape,
    pub(crate) proximity: Option<ProximityProperties>,
    pub(crate) illustration: Option<IllustrationProperties>,
    pub(crate) perception: Option<PerceptionProperties>,
    /// Meshes of deformable geometry.
    pub(crate) deformable: Option<Arc<DeformableForm>>,
    /// Mesh and bones of a skin.
    pub(crate) skin: Option<Arc<SkinForm>>,
    /// Extent in the geometry's frame; known once it has the proximity role. Deformable geometry
    /// has none, so that queries of rigid geometry do not find it.
    pub(crate) bound: Option<LocalBound>,
    /// How it takes part in proximity queries.
    pub(crate) form: ProximityForm,
    /// How it takes part in hydroelastic contact in contexts, where defaults are filled in.
    pub(crate) hydroelastic: HydroelasticForm,
    /// Key of the geometry in the render engines, while it has the perception role.
    pub(super) visual: Option<GeometryId>,
}

/// Extent and forms of a geometry with the proximity role.
#[derive(Default)]
pub(super) struct Participation {
    pub(super) bound: Option<LocalBound>,
    pub(super) form: ProximityForm,
    pub(super) hydroelastic: HydroelasticForm,
}

impl RegisteredGeometry {
    pub(super) fn set_participation(&mut self, found: Participation) {
        self.bound = found.bound;
        self.form = found.form;
        self.hydroelastic = found.hydroelastic;
    }
    pub(crate) fn is_anchored(&self) -> bool {
        self.frame == WORLD && !self.is_driven()
    }
    /// Returns true if its vertices move on their own, so that it has no pose.
    pub(crate) fn is_driven(&self) -> bool {
        self.deformable.is_some() || self.skin.is_some()
    }
    /// Returns what moves its vertices, for messages.
    pub(in crate::scene) fn driven_kind(&self) -> &'static str {
        if self.skin.is_some() {
            "a skin"
        } else {
            "deformable geometry"
        }
    }
    /// Returns the key of the geometry in the render engines, while it has the perception role.
    pub(in crate::scene) fn visual(&self) -> Option<GeometryId> {
        self.visual
    }
    /// Returns true if some proximity query may test it with others.
    pub(in crate::scene) fn is_tested(&self) -> bool {
        self.bound.is_some() || self.proximity.is_some() && self.deformable.is_some()
    }
    pub(crate) fn has_role(&self, role: Role) -> bool {
        match role {
            Role::Unassigned => {
                self.proximity.is_none() && self.illustration.is_none() && self.perception.is_none()
            }
            Role::Proximity => self.proximity.is_some(),
            Role::Illustration => self.illustration.is_some(),
            Role::Perception => self.perception.is_some(),
        }
    }
}

/// Roles that can be assigned.
pub(super) const ROLES: [Role; 3] = [Role::Proximity, Role::Illustration, Role::Perception];

/// Names in use, which must be unique.
#[derive(Clone, Debug, Default)]
pub(super) struct NamesInUse {
    /// NamesInUse of frames, per source.
    pub(super) frames: HashSet<(SourceId, Arc<str>)>,
    /// Names of geometries, per frame and role.
    pub(super) geometries: HashSet<(usize, Role, Arc<str>)>,
}

/// The geometry of a scene, without poses of frames.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{GeometryInstance, GeometryState, SceneGraph, Sphere};
/// let mut scene = SceneGraph::new();
/// let source = scene.register_source("toys")?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let mut ctx = b.build()?.default_context();
/// // Only the scene of this context gets the ball.
/// let state: &mut GeometryState = scene.geometry_mut(&mut ctx)?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// state.register_anchored_geometry(source, ball)?;
/// assert_eq!(ctx.eval(scene.query)?.inspector().num_geometries(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GeometryState {
    /// The source of the world frame.
    pub(super) internal_source: SourceId,
    /// All sources, sorted by id.
    pub(crate) sources: Arc<Vec<RegisteredSource>>,
    pub(crate) frames: Arc<Vec<RegisteredFrame>>,
    pub(crate) geometries: Arc<Vec<RegisteredGeometry>>,
    /// Ids of the geometries by number, for fast search.
    pub(super) geometry_ids: Arc<Vec<GeometryId>>,
    pub(super) frame_numbers: Arc<BTreeMap<FrameId, usize>>,
    pub(super) names: Arc<NamesInUse>,
    pub(super) filter: Arc<FilterTable>,
    pub(super) renderers: RenderEngines,
    /// Ids of the geometries whose visuals engines know by another id.
    pub(super) visual_owners: Arc<BTreeMap<GeometryId, GeometryId>>,
    pub(super) version: GeometryVersion,
    pub(super) config: SceneGraphConfig,
    /// True in contexts.
    pub(super) fills_in_defaults: bool,
    /// Tree of the anchored geometries, built by the first query that needs it.
    pub(super) static_tree: OnceLock<Arc<StaticTree>>,
    /// Rigid partners of deformable geometry, found by the first query that needs them.
    pub(super) contact_partners: OnceLock<Arc<[ContactPartner]>>,
}

impl Default for GeometryState {
    fn default() -> Self {
        let internal_source = SourceId::new();
        let world = RegisteredFrame {
            id: FrameId::new(),
            name: "world".into(),
            source: internal_source,
            parent: WORLD,
            frame_group: 0,
            geometries: vec![],
        };
        Self {
            internal_source,
            sources: Arc::default(),
            frame_numbers: Arc::new(BTreeMap::from([(world.id, WORLD)])),
            names: Arc::new(NamesInUse {
                frames: HashSet::from([(internal_source, world.name.clone())]),
                geometries: HashSet::new(),
            }),
            frames: Arc::new(vec![world]),
            geometries: Arc::default(),
            geometry_ids: Arc::default(),
            filter: Arc::default(),
            renderers: RenderEngines::default(),
            visual_owners: Arc::default(),
            version: GeometryVersion::default(),
            config: SceneGraphConfig::default(),
            fills_in_defaults: false,
            static_tree: OnceLock::new(),
            contact_partners: OnceLock::new(),
        }
    }
}

impl GeometryState {
    /// Name of the source that owns the world frame.
    pub(super) const INTERNAL_SOURCE: &'static str = "SceneGraphInternal";

    pub(crate) fn frame_number(&self, id: FrameId) -> Result<usize> {
        let found = self.frame_numbers.get(&id).copied();
        found.ok_or_else(|| Error::not_found(format!("there is no frame {id} in this scene")))
    }
    pub(crate) fn geometry_number(&self, id: GeometryId) -> Result<usize> {
        let found = self.geometry_ids.binary_search(&id);
        found.map_err(|_| Error::not_found(format!("there is no geometry {id} in this scene")))
    }
    pub(super) fn source_number(&self, id: SourceId) -> Result<usize> {
        let found = self.sources.binary_search_by_key(&id, |s| s.id);
        found.map_err(|_| Error::not_found(format!("there is no source {id} in this scene")))
    }
    /// Returns the name of a source, including that of the scene itself.
    pub(super) fn source_name(&self, id: SourceId) -> Result<&str> {
        if id == self.internal_source {
            return Ok(Self::INTERNAL_SOURCE);
        }
        Ok(&self.sources[self.source_number(id)?].name)
    }

    /// Returns a description of a geometry and its frame, for messages.
    pub(super) fn place(&self, geometry: &RegisteredGeometry) -> String {
        self.place_of(&geometry.name, geometry.frame)
    }
    pub(super) fn place_of(&self, name: &str, frame: usize) -> String {
        format!("geometry '{name}' on frame '{}'", self.frames[frame].name)
    }

    /// Returns the number of a geometry, which must belong to the source.
    pub(super) fn owned_geometry(&self, source: SourceId, id: GeometryId) -> Result<usize> {
        self.source_number(source)?;
        let number = self.geometry_number(id)?;
        let geometry = &self.geometries[number];
        if geometry.source != source {
            return Err(Error::invalid(format!(
                "{} belongs to source '{}', not to '{}'",
                self.place(geometry),
                self.source_name(geometry.source)?,
                self.source_name(source)?
            )));
        }
        Ok(number)
    }

    pub(in crate::scene) fn static_tree(&self) -> &StaticTree {
        self.static_tree.get_or_init(|| {
            let anchored = self.geometries.iter().enumerate().filter_map(|(i, g)| {
                let bound = g.bound.filter(|_| g.is_anchored())?;
                Some((i as u32, bound, &g.x_fg, &g.shape))
            });
            Arc::new(StaticTree::new(anchored))
        })
    }
}
