//! What one context shows: objects sent once, poses sent as they change.

use super::layout::{Place, places};
use super::params::MeshcatVisualizerParams;
use crate::Result;
use crate::frame_poses::for_each_frame_pose;
use crate::hydroelastic::surface_to_show;
use crate::meshcat::{Meshcat, NodeHandle, Object, Scene, SurfaceStyle};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use std::collections::BTreeSet;
use tarragon_framework::warnings::warn;
use tarragon_framework::{Scalar, math};
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{
    FrameId, GeometryId, GeometryVersion, QueryObject, Role, SceneGraphInspector,
};

/// A path that moves.
#[derive(Debug)]
struct Moving {
    node: NodeHandle,
    frame: FrameId,
    /// Where the pose is not `X_WF` itself.
    relative: Option<Box<Relative>>,
}

/// A pose that is the product of several.
#[derive(Debug)]
struct Relative {
    /// The path in its frame.
    x_fn: Isometry3<f64>,
    /// The path above in its frame.
    above: Option<(FrameId, Isometry3<f64>)>,
}

/// What a context has sent.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The geometry that was sent, and how often the visualizer had deleted everything before.
    version: Option<(GeometryVersion, u64)>,
    root: Option<NodeHandle>,
    geometries: Vec<NodeHandle>,
    /// In the order in which the scene lists their frames.
    moving: Vec<Moving>,
    /// Poses of `moving`; kept for its memory.
    poses: Vec<Isometry3<f64>>,
    alpha: f64,
}

/// The real part of a pose.
pub(crate) fn real_pose<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    let (q, p) = (&x.rotation.coords, &x.translation.vector);
    // Not normalised again: it is a unit quaternion, and equal poses are to stay equal.
    let q = Quaternion::new(q.w.re(), q.x.re(), q.y.re(), q.z.re());
    let p = Vector3::new(p.x.re(), p.y.re(), p.z.re());
    math::pose(UnitQuaternion::new_unchecked(q), p)
}

/// What a geometry is shown by instead of its shape, if anything.
fn hydroelastic_surface(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    path: &str,
    params: &MeshcatVisualizerParams,
) -> Result<Option<TriangleSurfaceMesh>> {
    if !params.show_hydroelastic || params.role != Role::Proximity {
        return Ok(None);
    }
    let (shape, properties) = (
        inspector.shape(id)?,
        inspector.properties(id, Role::Proximity)?,
    );
    let place = format_args!("MeshcatVisualizer: '{path}'");
    Ok(properties.and_then(|properties| surface_to_show(&place, shape, properties)))
}

impl Shown {
    pub(super) fn is_current(
        &self,
        version: &GeometryVersion,
        deletions: u64,
        params: &MeshcatVisualizerParams,
    ) -> bool {
        self.version.as_ref().is_some_and(|(sent, at)| {
            *at == deletions && sent.is_same_as(version, params.role).unwrap_or(false)
        })
    }

    /// Sends all objects, and deletes those that are gone.
    pub(super) fn send_objects<T: Scalar>(
        &mut self,
        meshcat: &Meshcat,
        query: &QueryObject<T>,
        params: &MeshcatVisualizerParams,
        root: &str,
        alpha: f64,
        deletions: u64,
    ) -> Result<()> {
        let inspector = query.inspector();
        let places = places(&inspector, params)?;
        let mut objects: Vec<Option<Object>> = Vec::with_capacity(places.len());
        for place in &places {
            let Some((id, color)) = place.geometry else {
                objects.push(None);
                continue;
            };
            let surface = hydroelastic_surface(&inspector, id, &place.path, params)?;
            let object = match surface {
                Some(surface) => {
                    let style = SurfaceStyle {
                        rgba: Some(color),
                        ..SurfaceStyle::default()
                    };
                    meshcat.encode_surface_mesh(&surface, &style)
                }
                None => meshcat.encode_shape(inspector.shape(id)?, color),
            };
            // A mesh that can not be shown is no reason to end a simulation.
            let object = object.inspect_err(|e| {
                warn(format!(
                    "MeshcatVisualizer: '{}' is not shown: {e}",
                    place.path
                ));
            });
            objects.push(object.ok());
        }
        let is_first = self.version.as_ref().is_none_or(|(_, at)| *at != deletions);
        let world = inspector.world_frame_id();
        meshcat.change(|scene| {
            let nodes = self.nodes().map(|n| n.path());
            let mut gone: BTreeSet<String> = nodes.map(String::from).collect();
            for place in &places {
                gone.remove(&place.path);
            }
            for path in gone {
                scene.delete(&path);
            }
            let root_node = NodeHandle::new(scene, root);
            if is_first {
                root_node.set_property(scene, "visible", params.visible_by_default);
            }
            self.root = Some(root_node);
            self.geometries.clear();
            self.moving.clear();
            for (place, object) in places.iter().zip(objects) {
                self.send(scene, place, object, &places, world);
            }
            // Where a slider asks for no transparency there is nothing to say.
            if alpha != 1.0 || (!is_first && self.alpha != 1.0) {
                self.set_alpha(scene, alpha);
            }
            self.alpha = alpha;
        });
        self.version = Some((inspector.geometry_version().clone(), deletions));
        Ok(())
    }

    /// All paths that were sent.
    fn nodes(&self) -> impl Iterator<Item = &NodeHandle> {
        let moving = self.moving.iter().map(|m| &m.node);
        moving.chain(&self.geometries)
    }

    fn send(
        &mut self,
        scene: &mut Scene,
        place: &Place,
        object: Option<Object>,
        places: &[Place],
        world: FrameId,
    ) {
        let mut node = NodeHandle::new(scene, &place.path);
        if let Some(object) = object {
            node.set_object(scene, object);
        }
        let above = place.above.map(|i| &places[i]);
        let frame_above = above.map_or(world, |a| a.frame);
        if frame_above == place.frame {
            let x_fa = above.map_or_else(Isometry3::identity, |a| a.x_fn);
            node.set_pose(scene, &(x_fa.inverse() * place.x_fn));
        } else {
            let is_plain = above.is_none() && place.geometry.is_none();
            let relative = (!is_plain).then(|| {
                let above = above.map(|a| (a.frame, a.x_fn));
                let x_fn = place.x_fn;
                Box::new(Relative { x_fn, above })
            });
            self.moving.push(Moving {
                node: node.clone(),
                frame: place.frame,
                relative,
            });
        }
        if place.geometry.is_some() {
            self.geometries.push(node);
        }
    }

    /// Makes everything transparent. The geometries have the property of their own, too, because
    /// Drake's page does not give it to what is added later, as everything is for a page that
    /// connects later.
    fn set_alpha(&mut self, scene: &mut Scene, alpha: f64) {
        for node in self.root.iter().chain(&self.geometries) {
            node.set_property(scene, "modulated_opacity", alpha);
        }
        self.alpha = alpha;
    }

    /// Computes the poses of what moves.
    pub(super) fn compute_poses<T: Scalar>(&mut self, query: &QueryObject<T>) -> Result<()> {
        let Self { moving, poses, .. } = self;
        poses.clear();
        // Geometries follow behind all frames, so the list may start again.
        for_each_frame_pose(
            query,
            moving,
            |m| m.frame,
            |m, x_wf| {
                let mut pose = real_pose(x_wf);
                if let Some(relative) = &m.relative {
                    pose *= relative.x_fn;
                    if let Some((frame, x_fa)) = &relative.above {
                        let x_wa = real_pose(query.pose_in_world(*frame)?) * x_fa;
                        pose = x_wa.inverse() * pose;
                    }
                }
                poses.push(pose);
                Ok(())
            },
        )
    }

    /// What moves, with its pose.
    pub(super) fn poses(&self) -> impl Iterator<Item = (&str, &Isometry3<f64>)> {
        let paths = self.moving.iter().map(|m| m.node.path());
        paths.zip(&self.poses)
    }

    /// Sends the poses that have changed, and the alpha of the slider.
    pub(super) fn send_poses(&mut self, scene: &mut Scene, alpha: Option<f64>) {
        if let Some(alpha) = alpha
            && alpha != self.alpha
        {
            self.set_alpha(scene, alpha);
        }
        for (moving, pose) in self.moving.iter_mut().zip(&self.poses) {
            moving.node.set_pose(scene, pose);
        }
    }
}
