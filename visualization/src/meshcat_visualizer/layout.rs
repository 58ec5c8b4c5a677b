//! Paths of a scene's geometry in Meshcat's tree.
//!
//! As in Drake, a geometry is at `{prefix}/{frame}/{geometry}`, or at `{prefix}/{geometry}` if it
//! is fixed in the world; `::` in names becomes `/`. Frames have poses in the world. Deformable
//! geometry is at `{prefix}/deformable_geometries/{geometry}`, and its vertices are in the world.
//!
//! The layout differs from Drake in two cases where Drake's picture would be wrong. Paths that
//! would be equal get a suffix ` (2)`, ` (3)`, ... And if a path is below another path that is not
//! the path of its own frame, such as a model `table` below a geometry `table`, its pose is
//! relative to that other path.

use super::params::MeshcatVisualizerParams;
use crate::Result;
use crate::driven_meshes::{DrivenMesh, driven_meshes};
use crate::meshcat::full_path;
use foldhash::fast::RandomState;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use tarragon_geometry::{FrameId, GeometryId, GeometryProperties, Rgba, SceneGraphInspector};

/// A path with a pose: `x_fn`, in the frame.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) frame: FrameId,
    pub(super) x_fn: Isometry3<f64>,
    /// Index of the nearest place above, which this place's pose is relative to.
    pub(super) above: Option<usize>,
    pub(super) geometry: Option<(GeometryId, Rgba)>,
    /// The surface to show, if the geometry is deformable or a skin.
    pub(super) driven: Option<PaintedMesh>,
}

/// A surface with its image file, if it has one, and the colour by which that is multiplied.
pub(super) type PaintedMesh = (DrivenMesh, Option<(PathBuf, Rgba)>);

/// Name of the folder of all deformable geometry and skins.
const DEFORMABLE: &str = "deformable_geometries";

/// Returns all places of a scene: frames in order of registration, then geometries.
pub(super) fn places(
    inspector: &SceneGraphInspector<'_>,
    params: &MeshcatVisualizerParams,
) -> Result<Vec<Place>> {
    let world = inspector.world_frame_id();
    let mut shown: Vec<(FrameId, GeometryId, Rgba)> = Vec::new();
    for id in inspector.geometry_ids_with_role(params.role) {
        if inspector.is_driven(id)? {
            continue;
        }
        if let Some(color) = color_if_shown(inspector, id, params)? {
            shown.push((inspector.frame_id(id)?, id, color));
        }
    }

    let root = full_path(&params.prefix);
    let mut paths = Paths::default();
    paths.taken.insert(root.clone(), None);
    let mut places = Vec::with_capacity(2 * shown.len());
    let mut place_of: BTreeMap<FrameId, Option<usize>> =
        shown.iter().map(|(f, ..)| (*f, None)).collect();
    for frame in inspector.frame_ids().filter(|f| *f != world) {
        if let Some(place) = place_of.get_mut(&frame) {
            *place = Some(places.len());
            places.push(Place {
                path: paths.add(&root, inspector.frame_name(frame)?, places.len()),
                frame,
                x_fn: Isometry3::identity(),
                above: None,
                geometry: None,
                driven: None,
            });
        }
    }
    for (frame, id, color) in shown {
        let parent = place_of.get(&frame).copied().flatten();
        let parent = parent.map_or(&*root, |i| &places[i].path);
        places.push(Place {
            path: paths.add(parent, inspector.name(id)?, places.len()),
            frame,
            x_fn: *inspector.pose_in_frame(id)?,
            above: None,
            geometry: Some((id, color)),
            driven: None,
        });
    }
    let folder = format!("{root}/{DEFORMABLE}");
    for driven in driven_meshes(inspector, params.role)? {
        let id = driven.geometry;
        if let Some(color) = color_if_shown(inspector, id, params)? {
            places.push(Place {
                path: paths.add(&folder, inspector.name(id)?, places.len()),
                frame: world,
                x_fn: Isometry3::identity(),
                above: None,
                geometry: Some((id, color)),
                driven: Some((driven, diffuse_map(inspector, id, params)?)),
            });
        }
    }
    for place in &mut places {
        place.above = paths.above(&place.path, &root);
    }
    Ok(places)
}

/// Returns the colour of a geometry; `None` if it is not for this visualizer.
fn color_if_shown(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    params: &MeshcatVisualizerParams,
) -> Result<Option<Rgba>> {
    let properties = inspector.properties(id, params.role)?;
    let Some(properties) = properties.filter(|own| accepts(own, params)) else {
        return Ok(None);
    };
    let color = properties.get_or("phong", "diffuse", params.default_color)?;
    Ok(Some(color))
}

/// Returns the image file of a geometry, if it has one, and the colour by which it is multiplied.
pub(super) fn diffuse_map(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    params: &MeshcatVisualizerParams,
) -> Result<Option<(PathBuf, Rgba)>> {
    let Some(properties) = inspector.properties(id, params.role)? else {
        return Ok(None);
    };
    let Some(map) = properties.try_get::<String>("phong", "diffuse_map")? else {
        return Ok(None);
    };
    let tint = properties.get_or("phong", "diffuse", Rgba::WHITE)?;
    Ok(Some((map.into(), tint)))
}

/// Returns whether a geometry is for this visualizer.
fn accepts(properties: &GeometryProperties, params: &MeshcatVisualizerParams) -> bool {
    let (group, name) = ("meshcat", "accepting");
    if !properties.has(group, name) {
        return params.include_unspecified_accepting;
    }
    let text = properties.get::<String>(group, name).map(String::as_str);
    let text = text.or_else(|_| properties.get::<&'static str>(group, name).copied());
    text.is_ok_and(|prefix| prefix == params.prefix)
}

/// The paths so far, each with the index of its place.
#[derive(Default)]
struct Paths {
    taken: HashMap<String, Option<usize>, RandomState>,
}

impl Paths {
    /// Adds a path below `parent` and returns it, made unique.
    fn add(&mut self, parent: &str, name: &str, place: usize) -> String {
        let mut wanted = String::with_capacity(parent.len() + 1 + name.len());
        wanted.push_str(parent);
        let parts = name.split("::").flat_map(|part| part.split('/'));
        for part in parts.filter(|part| !part.is_empty()) {
            wanted.push('/');
            wanted.push_str(part);
        }
        let mut path = wanted.clone();
        let mut k = 2;
        while self.taken.contains_key(&path) {
            path = format!("{wanted} ({k})");
            k += 1;
        }
        self.taken.insert(path.clone(), Some(place));
        path
    }
    /// Returns the nearest place above a path.
    fn above(&self, path: &str, root: &str) -> Option<usize> {
        let mut path = path;
        while let Some((parent, _)) = path.rsplit_once('/') {
            if parent.len() <= root.len() {
                break;
            }
            if let Some(place) = self.taken.get(parent) {
                return *place;
            }
            path = parent;
        }
        None
    }
}
