//! Arrows for point forces. Each pair has one arrow at its own path, hidden while the pair is
//! apart.

use crate::Result;
use crate::meshcat::{FrameGate, Meshcat, NodeHandle, Object, PropertyValue, Scene};
use nalgebra::{Isometry3, Unit, Vector3};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use tarragon_framework::math;
use tarragon_geometry::{Cylinder, GeometryId, MeshcatCone, Rgba};

/// A force at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointForce {
    /// The two geometries in contact.
    pub(crate) pair: (GeometryId, GeometryId),
    /// Point of application in the world frame (m).
    pub(crate) p_w: Vector3<f64>,
    /// Force in the world frame (N).
    pub(crate) f_w: Vector3<f64>,
}

/// Appearance of the arrows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrowStyle {
    /// Radius of the shaft (m); the heads are twice as wide and twice as long.
    pub(crate) radius: f64,
    /// Force per length of half an arrow (N/m). An arrow is centred at its point.
    pub(crate) newtons_per_meter: f64,
    /// Smallest force that is shown (N).
    pub(crate) threshold: f64,
    pub(crate) rgba: Rgba,
}

/// The nodes of one arrow.
#[derive(Debug)]
struct Arrow {
    root: NodeHandle,
    shaft: NodeHandle,
    head: NodeHandle,
    tail: NodeHandle,
    is_visible: bool,
    /// Whether no frame of a recording contains the arrow yet.
    is_new: bool,
    /// Whether the pair is in contact now.
    is_used: bool,
    /// Pose of the arrow in the world, and half its length (m).
    pose: Isometry3<f64>,
    length: f64,
}

/// All arrows below a path.
#[derive(Debug, Default)]
pub(crate) struct Arrows {
    arrows: BTreeMap<(GeometryId, GeometryId), Arrow>,
    /// Number of deletions by the visualizer before these arrows were sent.
    deletions: u64,
    gate: FrameGate,
}

impl Arrows {
    /// Shows the arrows of `forces` and hides all others. `path` returns the path of a new pair.
    pub(crate) fn show(
        &mut self,
        meshcat: &Meshcat,
        style: &ArrowStyle,
        forces: impl Iterator<Item = PointForce>,
        path: impl Fn((GeometryId, GeometryId)) -> Result<String>,
        time: f64,
        deletions: u64,
    ) -> Result<()> {
        if self.deletions != deletions {
            self.arrows.clear();
            self.deletions = deletions;
        }
        for arrow in self.arrows.values_mut() {
            arrow.is_used = false;
        }
        for force in forces {
            let size = force.f_w.norm();
            // Also false for NaN.
            if !(size >= style.threshold && size > 0.0 && size.is_finite()) {
                continue;
            }
            let arrow = match self.arrows.entry(force.pair) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Arrow::new(meshcat, style, &path(force.pair)?)?),
            };
            let direction = Unit::new_unchecked(force.f_w / size);
            let turn = math::rotation_between(&Vector3::z_axis(), &direction);
            arrow.pose = math::pose(turn, force.p_w);
            arrow.length = size / style.newtons_per_meter;
            arrow.is_used = true;
        }
        let head = 2.0 * style.radius;
        let Self { arrows, gate, .. } = self;
        let shows = meshcat.record(time, gate, |animation, frame| {
            for arrow in arrows.values_mut() {
                // Hidden arrows are recorded too: a track without a value at a frame keeps its last
                // value.
                let path = arrow.root.path();
                if arrow.is_new && frame > 0 {
                    animation.set_property(0, path, "visible", false)?;
                }
                arrow.is_new = false;
                animation.set_property(frame, path, "visible", arrow.is_used)?;
                if arrow.is_used {
                    animation.set_transform(frame, path, &arrow.pose)?;
                    let (path, scale) = (arrow.shaft.path(), arrow.scale());
                    animation.set_property(frame, path, "scale", scale)?;
                    for (node, pose) in arrow.heads(head) {
                        animation.set_transform(frame, node.path(), &pose)?;
                    }
                }
            }
            Ok(())
        })?;
        if shows {
            meshcat.change(|scene| {
                for arrow in self.arrows.values_mut() {
                    arrow.send(scene, head);
                }
            });
        }
        Ok(())
    }
}

impl Arrow {
    fn new(meshcat: &Meshcat, style: &ArrowStyle, path: &str) -> Result<Self> {
        let width = 2.0 * style.radius;
        let shaft = Cylinder::new(style.radius, 2.0)?;
        let cone = MeshcatCone::new(width, width, width)?;
        let cone = || meshcat.encode_shape(&cone.into(), style.rgba);
        let objects = [
            meshcat.encode_shape(&shaft.into(), style.rgba)?,
            cone()?,
            cone()?,
        ];
        Ok(meshcat.change(|scene| {
            let mut part = |name: &str| NodeHandle::new(scene, &format!("{path}{name}"));
            let root = part("");
            let [shaft, head, tail] = ["/cylinder", "/head", "/tail"].map(&mut part);
            for (node, object) in [&shaft, &head, &tail].into_iter().zip(objects) {
                let object: Object = object;
                node.set_object(scene, object);
            }
            root.set_property(scene, "visible", false);
            Self {
                root,
                shaft,
                head,
                tail,
                is_visible: false,
                is_new: true,
                is_used: false,
                pose: Isometry3::identity(),
                length: 0.0,
            }
        }))
    }

    /// Returns the scale of the shaft, which is 2 m long before scaling.
    fn scale(&self) -> PropertyValue {
        [1.0, 1.0, self.length].into()
    }
    /// Returns the poses of the cones at both ends: `head` at -z and `tail` at +z. A cone has its
    /// tip at its origin.
    fn heads(&self, height: f64) -> [(&NodeHandle, Isometry3<f64>); 2] {
        let end = self.length + height;
        let over = math::rotation_x(std::f64::consts::PI);
        [
            (&self.head, Isometry3::translation(0.0, 0.0, -end)),
            (&self.tail, math::pose(over, Vector3::new(0.0, 0.0, end))),
        ]
    }

    fn send(&mut self, scene: &mut Scene, head: f64) {
        if self.is_used {
            let [(_, at_head), (_, at_tail)] = self.heads(head);
            self.root.set_pose(scene, &self.pose);
            self.head.set_pose(scene, &at_head);
            self.tail.set_pose(scene, &at_tail);
            self.shaft.set_property(scene, "scale", self.scale());
        }
        if self.is_used != self.is_visible {
            self.root.set_property(scene, "visible", self.is_used);
            self.is_visible = self.is_used;
        }
    }
}
