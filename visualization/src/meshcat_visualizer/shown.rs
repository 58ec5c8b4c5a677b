//! State of one context: objects are sent once, poses and vertices when they change.

use super::layout::{Place, diffuse_map, places};
use super::params::MeshcatVisualizerParams;
use super::projected::projected_shape;
use super::soft::Soft;
use crate::Result;
use crate::convex_pieces::pieces_to_show;
use crate::frame_poses::for_each_frame_pose;
use crate::hydroelastic::hydroelastic_surface;
use crate::meshcat::{FrameGate, Meshcat, NodeHandle, Object, Paint, Scene, SurfaceStyle};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use std::collections::BTreeSet;
use tarragon_framework::warnings::warn;
use tarragon_framework::{Scalar, math};
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{
    FrameId, GeometryId, GeometryVersion, QueryObject, Rgba, Role, SceneGraphInspector,
};

/// A node that moves.
#[derive(Debug)]
struct Moving {
    node: NodeHandle,
    frame: FrameId,
    /// Additional transforms, if the pose is not just `X_WF`.
    relative: Option<Box<Relative>>,
}

/// A pose composed of several poses.
#[derive(Debug)]
struct Relative {
    /// Pose of the node in its frame.
    x_fn: Isometry3<f64>,
    /// Frame of the node above, and the pose of that node in it.
    above: Option<(FrameId, Isometry3<f64>)>,
}

/// Everything that a context has sent.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Version of the geometry that was sent, and the visualizer's deletion count at that time.
    version: Option<(GeometryVersion, u64)>,
    root: Option<NodeHandle>,
    geometries: Vec<NodeHandle>,
    /// Moving nodes, in the order in which the scene lists their frames.
    moving: Vec<Moving>,
    /// Poses of `moving`; kept to reuse the allocation.
    poses: Vec<Isometry3<f64>>,
    /// Deformable geometry, which is also in `geometries`.
    soft: Vec<Soft>,
    alpha: f64,
    gate: FrameGate,
}

/// Returns the real part of a pose.
pub(crate) fn real_pose<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    let (q, p) = (&x.rotation.coords, &x.translation.vector);
    // Not normalised again: the quaternion is a unit quaternion, and equal poses must stay equal.
    let q = Quaternion::new(q.w.re(), q.x.re(), q.y.re(), q.z.re());
    let p = Vector3::new(p.x.re(), p.y.re(), p.z.re());
    math::pose(UnitQuaternion::new_unchecked(q), p)
}

/// Returns the surface to show in place of the shape, if there is one: with the proximity role, the
/// hydroelastic surface, if requested, or the convex pieces of a mesh.
fn surface_in_place(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    params: &MeshcatVisualizerParams,
) -> Result<Option<TriangleSurfaceMesh>> {
    if params.role != Role::Proximity {
        return Ok(None);
    }
    if !params.show_hydroelastic {
        return pieces_to_show(inspector, id);
    }
    match hydroelastic_surface(inspector, id)? {
        Some(surface) => Ok(Some(surface)),
        None => pieces_to_show(inspector, id),
    }
}

/// Encodes the shape of a geometry with its images.
fn encode_shape(
    meshcat: &Meshcat,
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
    params: &MeshcatVisualizerParams,
    color: Rgba,
) -> Result<Object> {
    if let Some(shape) = projected_shape(inspector, id, params.role)? {
        return meshcat.encode_shape(&shape, color);
    }
    let map = diffuse_map(inspector, id, params)?;
    meshcat.encode_shape(inspector.shape(id)?, Paint::new(color, map.as_ref()))
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

    /// Sends all objects, and deletes those that no longer exist.
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
            let object = match &place.driven {
                Some((driven, map)) => {
                    let vertices = driven.vertices(query)?;
                    meshcat.encode_driven_mesh(
                        &driven.mesh,
                        &vertices,
                        Paint::new(color, map.as_ref()),
                    )
                }
                None => match surface_in_place(&inspector, id, params)? {
                    Some(surface) => {
                        let style = SurfaceStyle {
                            rgba: Some(color),
                            ..SurfaceStyle::default()
                        };
                        meshcat.encode_surface_mesh(&surface, &style)
                    }
                    None => encode_shape(meshcat, &inspector, id, params, color),
                },
            };
            // A mesh that cannot be shown must not end a simulation.
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
            self.soft.clear();
            for (place, object) in places.iter().zip(objects) {
                self.send(scene, place, object, &places, world);
            }
            // Full opacity is the default and need not be sent.
            if alpha != 1.0 || (!is_first && self.alpha != 1.0) {
                self.set_alpha(scene, alpha);
            }
            self.alpha = alpha;
        });
        self.version = Some((inspector.geometry_version().clone(), deletions));
        Ok(())
    }

    /// Returns all nodes that were sent.
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
        if let Some((_, color)) = place.geometry {
            if let Some(driven) = &place.driven {
                let soft = Soft::new(node.clone(), driven, color);
                self.soft.push(soft);
            }
            self.geometries.push(node);
        }
    }

    /// Sets the opacity of everything. Each geometry gets the property as well: Drake's page does
    /// not apply it to objects added later, which is every object for a page that connects later.
    fn set_alpha(&mut self, scene: &mut Scene, alpha: f64) {
        for node in self.root.iter().chain(&self.geometries) {
            node.set_property(scene, "modulated_opacity", alpha);
        }
        self.alpha = alpha;
    }

    /// Computes the poses of all moving nodes, and the vertices of deformable geometry.
    pub(super) fn compute<T: Scalar>(&mut self, query: &QueryObject<T>) -> Result<()> {
        let Self {
            moving,
            poses,
            soft,
            ..
        } = self;
        for soft in soft {
            soft.compute_vertices(query)?;
        }
        poses.clear();
        // Geometries follow after all frames, so some frames are out of order.
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

    /// Records the poses and vertices at a time (s): all of them, changed or not, because they are
    /// interpolated between frames. Returns whether pages see them now.
    pub(super) fn record(&mut self, meshcat: &Meshcat, time: f64) -> Result<bool> {
        let Self {
            moving,
            poses,
            soft,
            gate,
            ..
        } = self;
        meshcat.record(time, gate, |animation, frame| {
            for (moving, pose) in moving.iter().zip(&*poses) {
                animation.set_transform(frame, moving.node.path(), pose)?;
            }
            for soft in soft {
                soft.record(animation, frame);
            }
            Ok(())
        })
    }

    /// Sends the poses and vertices that have changed, and the alpha of the slider. Returns the
    /// indices of deformable geometries whose objects are missing.
    pub(super) fn send_motion(&mut self, scene: &mut Scene, alpha: Option<f64>) -> Vec<usize> {
        if let Some(alpha) = alpha
            && alpha != self.alpha
        {
            self.set_alpha(scene, alpha);
        }
        for (moving, pose) in self.moving.iter_mut().zip(&self.poses) {
            moving.node.set_pose(scene, pose);
        }
        let soft = self.soft.iter().enumerate();
        soft.filter(|(_, soft)| !soft.send_vertices(scene))
            .map(|(i, _)| i)
            .collect()
    }

    /// Sends the whole objects of some deformable geometries.
    pub(super) fn send_soft_objects(&mut self, meshcat: &Meshcat, missing: Vec<usize>) {
        for i in missing {
            let Some(soft) = self.soft.get_mut(i) else {
                continue;
            };
            // An object that cannot be encoded was reported when it was sent first.
            if let Ok(object) = soft.object(meshcat) {
                meshcat.change(|scene| soft.set_object(scene, object));
            }
        }
    }
}
